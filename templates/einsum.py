"""The rule of `np.einsum`."""

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.arrays import einsum_back, einsum_plain, einsum_subscripts, unbroadcast


@rule(np.einsum)
@samples(
    "'ij,jk->ik', A(2, 3), A(3, 4)", "'ij,jk', A(2, 3), A(3, 4)", "'ii', A(3, 3)",
    "'ii->i', A(3, 3)", "'ij->', A(2, 3)", "'...j,j->...', A(2, 3, 4), A(4)",
    "'i,j,ij->', A(2), A(3), A(2, 3)", "'ij,ij->ij', A(1, 3), A(2, 3)", "'ij->ji', A(2, 3)",
    "'bij,bjk->bik', A(2, 3, 4), A(2, 4, 5)", "'i,i', A(3), A(3)", "'ij,k->k', A(2, 3), A(4)",
    "'ij,jk->ik', C(2, 3), C(3, 4)", "'ij,jk->k', C(2, 3), A(3, 4)", "'ii', C(3, 3)",
    "'i,ij->', A(1), C(2, 3)",
)  # fmt: skip
def einsum(subscripts, *operands):
    if isarray(subscripts):
        refuse("lists of axes: write the subscripts as text, 'ij,jk->ik'")
    for k in range(len(operands)):
        if not known(subscripts) or not einsum_plain(subscripts, k):
            d[operands][k] += conj(einsum_back(conj(d[z]), k, subscripts, *operands))
        else:
            others = (*operands[:k], *operands[k + 1 :])
            g = conj(np.einsum(einsum_subscripts(subscripts, k), conj(d[z]), *others))
            d[operands][k] += unbroadcast(g, operands[k]) if stretchable(operands[k]) else g
