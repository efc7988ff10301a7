"""From the intermediate representation to the source that a careful person would have written."""
