"""Kernels as text: an element function as the body of an `ElementwiseKernel`, in CUDA C++.

Takes a kernel (`ir.Kernel`); gives the statement that makes it.  The invariant: each operation is
in the dtype in which NumPy computes it, so that numbers have the type of what they stand beside,
and what is not a number (NaN) goes through `maximum`, `minimum` and `sign` as it does there.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from srcdiff import ir
from srcdiff.codegen.emit import Emitted, shown
from srcdiff.codegen.expressions import Globals
from srcdiff.codegen.naming import name as spelled
from srcdiff.kernels.elements import FLOATS, named
from srcdiff.kinds.interpreter import infer
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op

T = TypeVar("T")
WIDTH = 92
TYPES = {"float64": "double", "float32": "float", "int64": "long long", "bool": "bool"}

# How tightly an expression binds in C.
CHOICE, OR, AND, EQUAL, LESS, SUM, PRODUCT, SIGN, ATOM = range(9)
Text = tuple[str, int]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _table(pairs: Mapping[str, T]) -> Mapping[str, T]:
    """What is said of operations, by their names."""
    return {named(path): said for path, said in pairs.items()}


_BINARY = _table({
    "operator.add": ("+", SUM), "numpy.add": ("+", SUM),
    "operator.sub": ("-", SUM), "numpy.subtract": ("-", SUM),
    "operator.mul": ("*", PRODUCT), "numpy.multiply": ("*", PRODUCT),
    "operator.truediv": ("/", PRODUCT), "numpy.divide": ("/", PRODUCT),
    "operator.lt": ("<", LESS), "numpy.less": ("<", LESS),
    "operator.le": ("<=", LESS), "numpy.less_equal": ("<=", LESS),
    "operator.gt": (">", LESS), "numpy.greater": (">", LESS),
    "operator.ge": (">=", LESS), "numpy.greater_equal": (">=", LESS),
    "operator.eq": ("==", EQUAL), "numpy.equal": ("==", EQUAL),
    "operator.ne": ("!=", EQUAL), "numpy.not_equal": ("!=", EQUAL),
    "operator.xor": ("!=", EQUAL), "numpy.logical_xor": ("!=", EQUAL),
    "operator.and_": ("&&", AND), "numpy.logical_and": ("&&", AND),
    "operator.or_": ("||", OR), "numpy.logical_or": ("||", OR),
})  # fmt: skip
_UNARY = _table({
    "operator.neg": "-", "numpy.negative": "-", "operator.pos": "", "numpy.positive": "",
    "numpy.logical_not": "!",
})  # fmt: skip
_FUNCTIONS = _table({
    "numpy.arccos": "acos", "numpy.arccosh": "acosh", "numpy.arcsin": "asin",
    "numpy.arcsinh": "asinh", "numpy.arctan": "atan", "numpy.arctan2": "atan2",
    "numpy.arctanh": "atanh",
    **{f"numpy.{n}": n for n in _words(
        """cbrt ceil cos cosh exp exp2 expm1 fabs floor fmax fmin hypot isfinite isinf isnan log
        log10 log1p log2 rint sin sinh sqrt tan tanh trunc"""
    )},
})  # fmt: skip
"""The functions of C that compute the same, and are there for both widths of floats."""
_ABSOLUTE = ("operator.abs", "builtins.abs", "numpy.absolute")
_SEVERAL = _table({
    **dict.fromkeys(_ABSOLUTE, "{x} < {zero} ? -{x} : {x}"),
    "numpy.maximum": "{x} > {y} || isnan({x}) ? {x} : {y}",
    "numpy.minimum": "{x} < {y} || isnan({x}) ? {x} : {y}",
    "numpy.sign": "{x} > {zero} ? {one} : {x} < {zero} ? -{one} : {x} == {zero} ? {zero} : {x}",
    "numpy.logaddexp":
        "{x} == {y} ? {x} + {two} : fmax({x}, {y}) + log1p(exp(-fabs({x} - {y})))",
})  # fmt: skip
"""Those that read an operand several times."""
_TAKEN = _words(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const
    const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit
    export extern false float for friend goto if inline int long mutable namespace new noexcept not
    not_eq nullptr operator or or_eq private protected public register reinterpret_cast return short
    signed sizeof static static_assert static_cast struct switch template this thread_local throw
    true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor
    xor_eq i n blockDim blockIdx gridDim threadIdx warpSize assert half float16 complex pow
    """
).union(_FUNCTIONS.values())
"""Names that elements may not have: words of C++, and what stands around a body."""

_DEVICE = ir.Target(arrays="cupy")


def kernel_text(name: str, kernel: ir.Kernel, others: Mapping[str, Any]) -> Emitted:
    """The statement that makes a kernel; `others` are the global names beside it."""
    names = Globals((), None, others, _DEVICE)
    module = names.spell(np)
    body = Body(kernel)
    operands, results = map(body.parameters, (kernel.operands, kernel.results))
    lines = [
        f"{name} = {module}.ElementwiseKernel(",
        *_string(operands),
        *_string(results),
        '    """',
        *(f"    {line}" for line in body.lines()),
        '    """,',
        f'    "{name if name.isascii() else "kernel"}",',
        *(['    options=("--fmad=false",),'] if kernel.function.target.strict else []),
        ")",
    ]
    return Emitted({name: "\n".join(lines) + "\n"}, {}, names.refs)


def _string(words: Sequence[str]) -> list[str]:
    """The parameters as a string, on several lines if there are many."""
    whole = ", ".join(word.replace(" ", "\0") for word in words)
    lines = [line.replace("\0", " ") for line in textwrap.wrap(whole, WIDTH)]
    ends = [" "] * (len(lines) - 1) + [""]
    texts = [f'    "{line}{end}"' for line, end in zip(lines, ends)] or ['    ""']
    return [*texts[:-1], texts[-1] + ","]


class Body:
    """The body of a kernel: one statement a line, each name bound once."""

    def __init__(self, kernel: ir.Kernel) -> None:
        self.kernel = kernel
        self.function = spelled(kernel.function)
        self.kinds = {**kernel.kinds, **infer(self.function, kernel.kinds)}
        self.visible = shown(self.function)
        self.nested: dict[str, ir.Rhs] = {}
        self.names = _c_names([*(p.name for p in self.function.params), *self.visible])
        self.out: list[str] = []

    def parameters(self, names: Sequence[str]) -> list[str]:
        """The parameters of some names, with their dtypes."""
        return [f"{self.dtype(ir.Name(n))} {self.names[n]}" for n in names]

    def lines(self) -> list[str]:
        """The lines of the body."""
        for stmt in self.function.body:
            if type(stmt) is ir.Backward:
                self.out.append("// backward")
            elif type(stmt) is ir.Assign and stmt.target.id not in self.visible:
                self.nested[stmt.target.id] = stmt.rhs
            elif type(stmt) is ir.Assign:
                self.assign(stmt.target, stmt.rhs)
        return self.out

    def assign(self, target: ir.Name, rhs: ir.Rhs) -> None:
        """The line that binds a name."""
        dtype = self.dtype(target)
        while type(rhs) is ir.Name and rhs.id in self.nested:
            rhs = self.nested[rhs.id]
        sign, level = _BINARY.get(op_of(rhs.fn).name, ("", 0)) if type(rhs) is ir.Call else ("", 0)
        if type(rhs) is ir.Call and rhs.args[0] == target and level >= SUM:
            self.line(f"{self.names[target.id]} {sign}= {self.atom(rhs.args[1], dtype)[0]};")
            return
        text, _ = self.value(rhs, dtype)
        declared = "" if target.id in self.kernel.results else f"const {TYPES[dtype]} "
        self.line(f"{declared}{self.names[target.id]} = {text};")

    def line(self, text: str) -> None:
        """A statement, on several lines if it is long."""
        self.out += textwrap.wrap(
            text, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
        )

    def dtype(self, atom: ir.Atom) -> str:
        """The dtype of an operand."""
        if type(atom) is ir.Name:
            return ir.dtype_of(self.kinds[atom.id]) or ""
        value = getattr(atom, "value", None)
        number = "int64" if type(value) is int else "float64"
        return "bool" if isinstance(value, (bool, np.bool_)) else number

    # --- values -----------------------------------------------------------------------------------

    def value(self, rhs: ir.Rhs, dtype: str) -> Text:
        """The text of a value that has a dtype."""
        if type(rhs) is ir.Call:
            return self.call(rhs, dtype)
        assert isinstance(rhs, (ir.Name, ir.Const))
        return self.atom(rhs, dtype)

    def atom(self, atom: ir.Atom, dtype: str) -> Text:
        """An operand of an operation in a dtype; a number is written as one of that."""
        if type(atom) is not ir.Name:
            return _literal(getattr(atom, "value", None), dtype)
        if atom.id in self.nested:
            return self.value(self.nested[atom.id], self.dtype(atom))
        return self.names[atom.id], ATOM

    def within(self, atom: ir.Atom, dtype: str, level: int) -> str:
        """An operand, in parentheses if it binds less tightly than its place."""
        text, own = self.atom(atom, dtype)
        return f"({text})" if own < level else text

    def single(self, atom: ir.Atom, dtype: str) -> str:
        """An operand that is read several times: a name or a number."""
        text, _ = self.atom(atom, dtype)
        if type(atom) is not ir.Name:
            return text
        if atom.id not in self.nested:
            return self.cast(text, atom, dtype)
        name = _untaken("t", self.names.values())
        self.names[atom.id] = name
        del self.nested[atom.id]
        self.line(f"const {TYPES[self.dtype(atom)]} {name} = {text};")
        return self.cast(name, atom, dtype)

    def cast(self, name: str, atom: ir.Atom, dtype: str) -> str:
        """A name in the dtype of an operation, where it has another."""
        own = self.dtype(atom)
        return name if own == dtype else f"({TYPES[dtype]}){name}"

    def call(self, call: ir.Call, dtype: str) -> Text:
        """The text of an operation whose result has a dtype."""
        name, args = op_of(call.fn).name, call.args
        inner = self.inner(args, dtype)
        if name in _BINARY:
            return self.binary(name, args, inner)
        if name in _UNARY:
            sign = _UNARY[name]
            text = self.within(args[0], inner, ATOM)
            return (sign + text, SIGN) if sign else (text, ATOM)
        if name in _FUNCTIONS:
            given = ", ".join(self.given(a, inner) for a in args)
            return f"{_FUNCTIONS[name]}({given})", ATOM
        if is_op(call, Op.POW, Op.POWER, Op.SQUARE):
            return self.power((*args, ir.Const(2))[:2], inner)
        if is_op(call, Op.WHERE):
            test, *both = (self.within(a, dtype, OR) for a in args)
            return f"{test} ? {both[0]} : {both[1]}", CHOICE
        if isinstance(call.fn, type):
            return f"({TYPES[dtype]})" + self.within(args[0], dtype, SIGN), SIGN
        if name in map(named, _ABSOLUTE) and inner in FLOATS:
            return f"fabs({self.given(args[0], inner)})", ATOM
        return self.several(name, args, inner)

    def inner(self, args: Sequence[ir.Atom], dtype: str) -> str:
        """The dtype in which an operation computes: of its operands if its result is a bool."""
        if dtype != "bool":
            return dtype
        found = [self.dtype(a) for a in args if type(a) is ir.Name]
        widest = [d for d in ("float64", "float32", "int64", "bool") if d in found]
        consts = [self.dtype(a) for a in args if type(a) is not ir.Name]
        if not widest or (widest[0] in ("int64", "bool") and "float64" in consts):
            return "float64"
        return "int64" if widest[0] == "bool" and "int64" in consts else widest[0]

    def given(self, atom: ir.Atom, dtype: str) -> str:
        """An argument of a function, in the dtype of the function."""
        text, own = self.atom(atom, dtype)
        if self.dtype(atom) == dtype or type(atom) is not ir.Name:
            return text
        return f"({TYPES[dtype]})" + (f"({text})" if own < SIGN else text)

    def binary(self, name: str, args: Sequence[ir.Atom], dtype: str) -> Text:
        """Two operands and a sign between them."""
        sign, level = _BINARY[name]
        left, right = self.within(args[0], dtype, level), self.within(args[1], dtype, level + 1)
        whole = {self.dtype(a) for a in args} <= {"int64", "bool"}
        if sign == "/" and whole:
            left = f"(double){self.within(args[0], 'int64', SIGN)}"
        return f"{left} {sign} {right}", level

    def power(self, args: Sequence[ir.Atom], dtype: str) -> Text:
        """A power; squares and cubes are products."""
        exponent = args[1].value if type(args[1]) is ir.Const else None
        if exponent in (2, 3) and self.dtype(args[0]) == dtype:
            x = self.single(args[0], dtype)
            return " * ".join([x] * int(exponent)), PRODUCT
        return f"pow({self.given(args[0], dtype)}, {self.given(args[1], dtype)})", ATOM

    def several(self, name: str, args: Sequence[ir.Atom], dtype: str) -> Text:
        """What reads an operand several times."""
        x, *rest = (self.single(a, dtype) for a in args)
        y = rest[0] if rest else ""
        text = _SEVERAL[name].format(
            x=x, y=y, zero=_literal(0, dtype)[0], one=_literal(1, dtype)[0],
            two=_literal(math.log(2.0), dtype)[0],
        )  # fmt: skip
        return text, CHOICE


def _literal(value: Any, dtype: str) -> Text:
    """A number as one of a dtype."""
    if dtype == "bool" or isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower(), ATOM
    if dtype == "int64":
        text = f"{int(value)}LL"
    elif dtype == "float32":
        text = f"{np.float32(value)!s}f"
    else:
        text = repr(float(value))
    return text, SIGN if text.startswith("-") else ATOM


def _c_names(names: Sequence[str]) -> dict[str, str]:
    """The names that some names have in C++."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        plain = name.lstrip("_") if name.isascii() else "t"
        if plain in _TAKEN or plain in found.values() or not plain[:1].isalpha():
            plain = _untaken(plain or "t", [*_TAKEN, *found.values(), *names])
        found[name] = plain
    return found


def _untaken(base: str, taken: Any) -> str:
    """A name that is not among some."""
    number, known = 0, frozenset(taken)
    name = base
    while name in known:
        number += 1
        name = f"{base}_{number}"
    return name
