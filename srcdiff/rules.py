"""What a file of rules is written with: decorators, the adjoint `d`, questions to the compiler.

`templates/README.md` is the manual.

>>> from srcdiff.rules import d, elementwise, z
>>> @elementwise(abs)
... def magnitude(x):
...     d[x] += d[z] * (1.0 if x > 0.0 else -1.0)

`scalar_rule` says the same in one expression.
"""

from srcdiff.primitives.arguments import spelling
from srcdiff.primitives.notation import (
    active,
    apart,
    basic,
    conj,
    d,
    discrete,
    distinct,
    divisor,
    ignored,
    isarray,
    iscomplex,
    isscalar,
    known,
    picks_one,
    rank,
    refuse,
    reshapes,
    stretchable,
    weak_in_quantiles,
    z,
)
from srcdiff.primitives.registry import (
    Store,
    composed,
    elementwise,
    find,
    forward,
    inlined,
    linear,
    load_rules,
    lookup,
    made_of,
    members,
    nondifferentiable,
    registry,
    rule,
    samples,
    scalar_rule,
    unsupported,
)

__all__ = [
    "active", "Store", "apart", "basic", "composed", "conj", "d", "discrete", "distinct", "divisor",
    "elementwise", "find", "forward", "ignored", "inlined", "isarray", "iscomplex", "isscalar",
    "known", "linear", "load_rules", "lookup", "made_of", "members", "nondifferentiable",
    "picks_one", "rank", "refuse", "registry", "reshapes", "rule", "samples", "scalar_rule",
    "spelling", "stretchable", "unsupported", "weak_in_quantiles", "z",
]  # fmt: skip
