"""Checks for users: of rules, and of derivatives against differences."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from typing import Any

import numpy as np

from srcdiff.api.gradcheck import checked_by, gradcheck, gradgradcheck, shows
from srcdiff.api.jvp import jvp
from srcdiff.api.run import active_parameters
from srcdiff.api.vjp import vjp
from srcdiff.backends.loader import compile_text
from srcdiff.driver.structures import inner, leaves, random_like
from srcdiff.errors import GradcheckError, MissingRuleError
from srcdiff.ir.frozen import frozen
from srcdiff.primitives.registry import Rule, lookup
from srcdiff.runtime.trees import kept

__all__ = ["check_rule", "gradcheck", "gradgradcheck"]


@frozen
class Asked:
    """The options of `check_rule`, and what they are where they are not given."""

    order: int = 2
    eps: float = 1e-6


@shows(Asked())
def check_rule(function: Any, /, *args: Any, **given: Any) -> Any:
    """Check the rule of a function at some arguments, which should be no kinks of it.

    Checked are: the lines above the `yield` against the function; both modes against differences;
    one mode against the other; that arguments are left alone; shapes and dtypes; the second order.

    Args:
        function: what the rule is the rule of, or what `@srcdiff.rules.rule` made of the template.
        args: its positional arguments; those of floating point numbers are differentiated by.
        order: 1 leaves out the second order.
        eps: the step of the differences.
        given: keyword arguments, which may not be called as an option is.

    Returns:
        True.  Without `args`, a function that takes those of `function`, whatever they are called.

    Raises:
        MissingRuleError: the function has no rule.
        GradcheckError: the rule is wrong; the message says where.

    >>> import numpy as np
    >>> import srcdiff
    >>> srcdiff.testing.check_rule(np.tanh, np.array([0.3, -0.7]))
    True
    >>> srcdiff.testing.check_rule(np.ravel)(np.ones((2, 3)), order="F")
    True
    """
    template = _rule_of(function).template
    return checked_by("check_rule", _checked, function, args or None, given, Asked, template)


def _rule_of(function: Any) -> Rule:
    """The rule of a function.

    Raises:
        MissingRuleError: it has none.
    """
    found = lookup(function.functions[0] if isinstance(function, Rule) else function)
    if found is None or found.template is None:
        name = getattr(function, "__name__", repr(function))
        remedy = "Write one with @srcdiff.rules.rule."
        raise MissingRuleError(f"`{name}` has no rule", remedy=remedy)
    return found


def _checked(function: Any, asked: Asked, /, *args: Any, **kwargs: Any) -> bool:
    """Whether the rule of a function is right at some arguments."""
    found = _rule_of(function)
    if isinstance(function, Rule):
        function = function.functions[0]
    _check_notation(found, function)
    program = _program(function, len(args), kwargs)
    _check_lines(found, function, args, kwargs)
    gradcheck(program, eps=asked.eps, check_forward_ad=True, check_grad_dtypes=True)(*args)
    _check_transposed(found, program, args)
    if asked.order > 1:
        gradgradcheck(program, eps=asked.eps, atol=1e-4)(*args)
    return True


def _check_notation(rule: Rule, function: Any) -> None:
    """The parameters are those of the function, and every name of the template is used."""
    wrong = [*_misfits(rule, function), *_unread(rule)]
    if wrong:
        raise GradcheckError(f"the rule `{rule.name}`: {'; '.join(wrong)}")


def _misfits(rule: Rule, function: Any) -> list[str]:
    """Parameters that the function and its template do not share."""
    try:
        own = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return []
    if not isinstance(function, types.FunctionType):
        return []
    names = [p.name for p in rule.params]
    extra = [f"the function has no parameter `{n}`" for n in names if n not in own]
    needed = [n for n, p in own.items() if p.default is p.empty and p.kind not in _STARS]
    return extra + [f"the template has no parameter `{n}`" for n in needed if n not in names]


_STARS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _unread(rule: Rule) -> list[str]:
    """Names that the template computes and never reads."""
    assert rule.template is not None
    if rule.expression:
        return []
    tree = ast.parse(textwrap.dedent(inspect.getsource(rule.template)))
    names = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id != "_"]
    read = {n.id for n in names if isinstance(n.ctx, ast.Load)}
    stored = dict.fromkeys(n.id for n in names if isinstance(n.ctx, ast.Store))
    return [f"`{n}` is computed and never used" for n in stored if n not in read]


def _program(function: Any, count: int, kwargs: dict[str, Any]) -> Any:
    """A function that makes the call."""
    names = [f"x{k}" for k in range(count)]
    given = ", ".join([*names, *(f"{k}={k}_" for k in kwargs)])
    text = f"def program({', '.join(names)}):\n    return fn({given})\n"
    table = {"fn": function, **{f"{k}_": v for k, v in kwargs.items()}}
    return compile_text(text, table, "program", "checked_rule")


def _check_lines(rule: Rule, function: Any, args: Any, kwargs: dict[str, Any]) -> None:
    """The lines above the `yield` compute what the function does."""
    if rule.mutates is not None or not inspect.isgeneratorfunction(rule.template):
        return
    found = next(rule.template(*kept(args), **kwargs), None)
    expected = dict(leaves(function(*kept(args), **kwargs)))
    for path, value in leaves(found):
        if path not in expected or not np.allclose(value, expected[path], rtol=1e-12):
            raise GradcheckError(
                f"the lines above the `yield` of `{rule.name}` do not compute what the function "
                f"returns{''.join(f'[{k!r}]' for k in path)}"
            )


def _check_transposed(rule: Rule, program: Any, args: Any) -> None:
    """`<J v, w>` is `<v, J' w>`, and arguments are left alone."""
    rng = np.random.default_rng(0)
    before = kept(args)
    names = active_parameters(program, args, {})
    direction = tuple(random_like(rng, a) if f"x{k}" in names else None for k, a in enumerate(args))
    value, tangent = jvp(program, args, direction, unused="zeros")
    weights = random_like(rng, value)
    _, pull = vjp(program, *args, inputs=names, unused="zeros")
    back = pull(weights)
    one = inner(tangent, weights)
    two = inner(back, tuple(d for d in direction if d is not None))
    if abs(one - two) > 1e-10 * max(1.0, abs(one), abs(two)):
        raise GradcheckError(
            f"the tangent of `{rule.name}` is not the transpose of its backward lines: "
            f"{one:.12g} against {two:.12g}"
        )
    if any(not np.array_equal(a, b) for (_, a), (_, b) in zip(leaves(before), leaves(tuple(args)))):
        raise GradcheckError(f"the rule `{rule.name}` changes an argument")
