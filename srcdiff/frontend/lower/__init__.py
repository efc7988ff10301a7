"""From the syntax tree to the intermediate representation: expressions, statements, loops."""
