"""Where the source of a function stands, and its tree."""
