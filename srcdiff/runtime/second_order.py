"""A gradient as one call, whose own derivative goes by the tangent.

The text of a gradient is not always accepted where it is differentiated again.  What is asked for
then is the gradient of `<u, J^T g>` by the arguments that the Jacobian J depends on; the same
number is `<J u, g>`, of which J u is a tangent, in the forward part alone.  The rule stands in
`templates/srcdiff/api/twice.py`; what it is made of generates derivatives when it is called, and
needs srcdiff itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from srcdiff.runtime.checkpoint import absent, is_nothing, tangent_of
from srcdiff.runtime.implicit import numbered, with_source
from srcdiff.runtime.service import compiler, once
from srcdiff.runtime.trees import add_tree, differentiable_part, like_tree, zeros_like


def gradients_at(f: Any, inputs: tuple[int, ...], g: Any, *args: Any) -> tuple[Any, ...]:
    """The gradients of `f` by the arguments at the positions `inputs`, None for the others."""
    found = dict(zip(inputs, compiler().gradient(f, inputs)(*args, grad_outputs=g)))
    return tuple(found.get(k) for k in range(len(args)))


def gradients_at_back(
    f: Any, inputs: tuple[int, ...], d: Any, g: Any, *args: Any
) -> tuple[Any, ...]:
    """The adjoints of the cotangent and of the arguments of `gradients_at`, of which `d` is that.

    None where an argument carries no derivative.
    """
    # That of what nothing depends on is zero.
    pairs = ((k, d[k], args[k]) for k in inputs)
    along = {k: zeros_like(x) if is_nothing(t) else like_tree(t, x) for k, t, x in pairs}
    moved, *found = back_by(f, inputs, args)(along, g, *args)
    return (differentiable_part(moved, moved), *found)


def back_by(f: Any, inputs: tuple[int, ...], args: tuple[Any, ...]) -> Any:
    """`gradients_at_back` for such arguments as a function `(u, g, *args)` with a source."""
    return _back(f, inputs, compiler().active(f, args), len(args))


@once
def _back(f: Any, inputs: tuple[int, ...], active: tuple[int, ...], count: int) -> Any:
    tangent = tangent_along(f, inputs, count)
    space = {"tangent": tangent, "gradient": compiler().gradient(tangent, active)}
    args = numbered("x", range(count))
    given = [*args, *(f"u[{k}]" for k in inputs)]
    made = ", ".join(numbered("d", range(count), active))
    body = [
        _line("d", active, "gradient", given, "g"),
        f"return tangent({', '.join(given)}), {made}",
    ]
    return with_source(f"def back(u, g, {', '.join(args)}):", body, space)


def gradients_along(
    f: Any, inputs: tuple[int, ...], t: tuple[Any, ...], g: Any, *args: Any
) -> tuple[Any, ...]:
    """The tangent of `gradients_at` along tangents `t` of the cotangent and of the arguments.

    None where `gradients_at` gives None.
    """
    return tuple(along_by(f, inputs, t)(t, g, *args))


def along_by(f: Any, inputs: tuple[int, ...], t: tuple[Any, ...]) -> Any:
    """`gradients_along` for such tangents as a function `(t, g, *args)` with a source.

    The gradient is linear in the cotangent, and the derivatives by two arguments change places.
    """
    moved = tuple(k for k, one in enumerate(absent(t)) if one is not None)
    return _along(f, inputs, moved, len(t) - 1)


@once
def _along(f: Any, inputs: tuple[int, ...], moved: tuple[int, ...], count: int) -> Any:
    args = numbered("x", range(count))
    others = {k - 1 for k in moved if k > 0}
    space = {"add_tree": add_tree, "zeros_like": zeros_like}
    lines, terms = [], []
    if 0 in moved:
        space["gradient"] = compiler().gradient(f, inputs)
        lines.append(_line("a", inputs, "gradient", args, "t[0]"))
        terms.append("a")
    if others:
        all_inputs = tuple(sorted({*inputs, *others}))
        space["by_tangent"] = compiler().gradient(tangent_along(f, all_inputs, count), inputs)
        given = [f"t[{k + 1}]" if k in others else f"zeros_like(x{k})" for k in all_inputs]
        lines.append(_line("b", inputs, "by_tangent", [*args, *given], "g"))
        terms.append("b")
    made = [_sum(terms, k) if k in inputs else "None" for k in range(count)]
    lines.append(f"return ({', '.join(made)},)")
    return with_source(f"def along({', '.join(['t', 'g', *args])}):", lines, space)


def _line(name: str, inputs: Sequence[int], f: str, given: Sequence[str], seed: str) -> str:
    """A line with the gradients by some inputs."""
    names = ", ".join(numbered(name, inputs))
    return f"{names}, = {f}({', '.join(given)}, grad_outputs={seed})"


def _sum(terms: list[str], k: int) -> str:
    """The sum of no, one or two terms."""
    if not terms:
        return f"zeros_like(x{k})"
    names = ", ".join(f"{term}{k}" for term in terms)
    return names if len(terms) == 1 else f"add_tree({names})"


def tangent_along(f: Any, inputs: tuple[int, ...], count: int) -> Any:
    """The tangent of `f` as a function of its arguments and of the directions of some of them."""
    params = *numbered("x", range(count)), *numbered("u", inputs)
    return tangent_of(f, params, numbered("u", range(count), inputs))


@once
def call_of(f: Any, count: int, keywords: tuple[str, ...]) -> Any:
    """`f` with some of its arguments, given by keyword, behind the positional ones."""
    own = numbered("x", range(count))
    given = ", ".join([*own, *(f"{k}=k_{k}" for k in keywords)])
    head = f"def {f.__name__}({', '.join([*own, *(f'k_{k}' for k in keywords)])}):"
    return with_source(head, [f"return f({given})"], {"f": f})
