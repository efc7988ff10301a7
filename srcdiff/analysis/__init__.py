"""Facts about a function: which names share memory, what is read, written and still needed.

Takes a function and the kinds of its names; gives values and annotates nothing.  `links` are the
ways in which names come to share memory, `aliases` what follows from them; `activity` is which
names carry a derivative.
"""
