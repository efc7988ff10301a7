"""Split the paired function into a forward and a backward part, and save what is needed.

Takes the `Pair` tree of `accumulate`.  Returns the statements of the forward part (the primal, with
saves) and of the backward part, in run order.  The invariant: when the adjoint of a statement runs,
every primal name and every written array that it reads has the value that it had when the statement
ran.  What is needed and about to be overwritten is saved before, and put back on the way down; what
a loop's body computes for itself is saved at the end of the body, or computed again.  Its rooms:

`split`           the walk that splits the tree, and how a loop runs backwards
`needs`           what an adjoint reads of the primal: names, and contents of arrays and lists
`dependence`      stores that overwrite nothing that is needed, by their subscripts
`rematerialize`   what is computed again in place of being saved, by a minimum cut
`restore`         saving what is overwritten or computed in a block, and putting it back
"""
