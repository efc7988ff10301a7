"""The rule of `np.einsum`."""

import numpy as np

from srcdiff.rules import d, iscomplex, refuse, rule, samples, stretchable
from srcdiff.runtime import einsum_back, einsum_plain, einsum_subscripts, unbroadcast


@rule(np.einsum)
@samples(
    "'ij,jk->ik', A(2, 3), A(3, 4)", "'ij,jk', A(2, 3), A(3, 4)", "'ii', A(3, 3)",
    "'ii->i', A(3, 3)", "'ij->', A(2, 3)", "'...j,j->...', A(2, 3, 4), A(4)",
    "'i,j,ij->', A(2), A(3), A(2, 3)", "'ij,ij->ij', A(1, 3), A(2, 3)", "'ij->ji', A(2, 3)",
    "'bij,bjk->bik', A(2, 3, 4), A(2, 4, 5)", "'i,i', A(3), A(3)", "'ij,k->k', A(2, 3), A(4)",
)  # fmt: skip
def einsum(subscripts, *operands):
    z = np.einsum(subscripts, *operands)
    yield z
    if iscomplex(z):
        refuse("complex operands are not supported yet")
    for k in range(len(operands)):
        if not einsum_plain(subscripts, k):
            d[operands][k] += einsum_back(d[z], k, subscripts, *operands)
        elif stretchable(operands[k]):
            others = (*operands[:k], *operands[k + 1 :])
            g = np.einsum(einsum_subscripts(subscripts, k), d[z], *others)
            d[operands][k] += unbroadcast(g, operands[k])
        else:
            others = (*operands[:k], *operands[k + 1 :])
            d[operands][k] += np.einsum(einsum_subscripts(subscripts, k), d[z], *others)
