"""Facts about a function: which names share memory, what is read, written and needed.

Takes a function and the kinds of its names; gives values and annotates nothing.

manager    what is found out about a version of a function, once
links      every way in which two names come to share memory, and what is written into
points_to  which names share memory, how long, and whether a container holds what it gave
shadows    names whose memory nobody can follow; arrays whose order in memory decides
aliases    what follows from the links: classes of names, their owners and views
invariance maxima on which nothing depends, as they only keep `exp` from overflowing
activity   which names carry a derivative
liveness   which names may still be read, and which may have no value; the order of statements
subscripts which elements of arrays are touched where, and whether one access meets another
effects    what is read and bound, and what evaluating a right-hand side can do
facts      all of this for the passes behind
"""
