"""Where the source of a function stands, and its tree.

Takes a function; gives its tree, its comments and the objects that its names mean (`Source`).

parse   the tree of a function, from the text that is found
locate  the lines of a function in its file or at the prompt, and its `def` or `lambda`
"""
