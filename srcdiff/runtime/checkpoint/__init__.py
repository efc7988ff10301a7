"""Less memory for more time: calls and loops that run again in the backward part."""
