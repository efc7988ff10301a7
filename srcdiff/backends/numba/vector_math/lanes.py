"""Arithmetic of LLVM on a float64 or a vector of them: a builder and values give values.

What is written with `Lanes` is instructions for scalars and for vectors alike, without branches, so
that every lane has the bits that the scalar has.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

DOUBLE, LONG, SINGLE = ir.DoubleType(), ir.IntType(64), ir.FloatType()


def attach(attributes: Any, *texts: str) -> None:
    """Add attributes that llvmlite would refuse, which has a fixed list of them."""
    for text in texts:
        set.add(attributes, text)


def declared(module: Any, name: str, result: Any, parameters: list[Any]) -> Any:
    """The function of a module with a name, declared there if it is not."""
    known = module.globals.get(name)
    return known or ir.Function(module, ir.FunctionType(result, parameters), name)


def like(kind: Any, element: Any) -> Any:
    """The type that has `element` where another one, a scalar's or a vector's, has its own."""
    return ir.VectorType(element, kind.count) if isinstance(kind, ir.VectorType) else element


def lane_by_lane(builder: Any, scalar: Any, arguments: list[Any]) -> Any:
    """A call of a scalar function in every lane of LLVM vectors, or on scalars."""
    kind = arguments[0].type
    if not isinstance(kind, ir.VectorType):
        return builder.call(scalar, arguments)
    result = ir.Constant(kind, ir.Undefined)
    for lane in map(ir.IntType(32), range(kind.count)):
        given = [builder.extract_element(a, lane) for a in arguments]
        result = builder.insert_element(result, builder.call(scalar, given), lane)
    return result


class Lanes:
    """Floats, integers or truth values in as many lanes as their LLVM type has."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value
        self.element = getattr(value.type, "element", value.type)

    def constant(self, number: Lanes | float) -> Any:
        """The LLVM value of an operand beside this one: a number stands in every lane."""
        if isinstance(number, Lanes):
            return number.value
        return ir.Constant(self.value.type, number)

    def filled(self, number: float) -> Lanes:
        """A number in as many lanes."""
        return Lanes(self.builder, self.constant(number))

    def _with(self, real: str, integer: str, other: Lanes | float, swapped: bool = False) -> Lanes:
        operands = [self.value, self.constant(other)]
        name = real if self.element == DOUBLE else integer
        operation = getattr(self.builder, name)
        return Lanes(self.builder, operation(*(operands[::-1] if swapped else operands)))

    def __add__(self, other: Lanes | float) -> Lanes:
        return self._with("fadd", "add", other)

    def __radd__(self, other: float) -> Lanes:
        return self._with("fadd", "add", other, swapped=True)

    def __sub__(self, other: Lanes | float) -> Lanes:
        return self._with("fsub", "sub", other)

    def __rsub__(self, other: float) -> Lanes:
        return self._with("fsub", "sub", other, swapped=True)

    def __mul__(self, other: Lanes | float) -> Lanes:
        return self._with("fmul", "mul", other)

    def __rmul__(self, other: float) -> Lanes:
        return self._with("fmul", "mul", other, swapped=True)

    def __truediv__(self, other: Lanes | float) -> Lanes:
        return self._with("fdiv", "", other)

    def __lshift__(self, count: int) -> Lanes:
        return self._with("", "shl", count)

    def __rshift__(self, count: int) -> Lanes:
        """The bits moved to the right, zeros after them: not every CPU has the other in vectors."""
        return self._with("", "lshr", count)

    def __and__(self, other: int) -> Lanes:
        return self._with("", "and_", other)

    def __neg__(self) -> Lanes:
        return Lanes(self.builder, self.builder.fneg(self.value))

    def __lt__(self, other: Lanes | float) -> Lanes:
        return self._compared("<", other)

    def __gt__(self, other: Lanes | float) -> Lanes:
        return self._compared(">", other)

    def is_equal(self, other: Lanes | float) -> Lanes:
        """Where both are numbers and equal, or equal integers."""
        return self._compared("==", other)

    def _compared(self, sign: str, other: Lanes | float) -> Lanes:
        real = self.element == DOUBLE
        compare = self.builder.fcmp_ordered if real else self.builder.icmp_signed
        return Lanes(self.builder, compare(sign, self.value, self.constant(other)))

    def bits(self) -> Lanes:
        """The bits of floats, as integers."""
        return Lanes(self.builder, self.builder.bitcast(self.value, like(self.value.type, LONG)))

    def as_float(self) -> Lanes:
        """The floats that have these bits."""
        return Lanes(self.builder, self.builder.bitcast(self.value, like(self.value.type, DOUBLE)))

    def any(self) -> Any:
        """Whether a truth value holds in any lane, as an LLVM value."""
        if not isinstance(self.value.type, ir.VectorType):
            return self.value
        whole = ir.IntType(self.value.type.count)
        return self.builder.icmp_unsigned("!=", self.builder.bitcast(self.value, whole), whole(0))


def _called(name: str, first: Lanes, *others: Lanes | float) -> Lanes:
    """A call of an intrinsic of LLVM whose operands and result have one type."""
    kind = first.value.type
    suffix = f"v{kind.count}f64" if isinstance(kind, ir.VectorType) else "f64"
    values = [first.value, *map(first.constant, others)]
    full = f"llvm.{name}.{suffix}"
    function = declared(first.builder.module, full, kind, [kind] * len(values))
    return Lanes(first.builder, first.builder.call(function, values))


def fma(a: Lanes, b: Lanes | float, c: Lanes | float) -> Lanes:
    """Give a * b + c, rounded once."""
    return _called("fma", a, b, c)


def absolute(x: Lanes) -> Lanes:
    """|x|."""
    return _called("fabs", x)


def with_sign(x: Lanes, sign: Lanes) -> Lanes:
    """|x| with the sign of another."""
    return _called("copysign", x, sign)


def where(condition: Lanes, a: Lanes | float, b: Lanes | float) -> Lanes:
    """`a` where a condition holds, `b` elsewhere; one of them is no plain number."""
    of = a if isinstance(a, Lanes) else b
    assert isinstance(of, Lanes)
    chosen = of.builder.select(condition.value, of.constant(a), of.constant(b))
    return Lanes(of.builder, chosen)


def polynomial(x: Lanes, *coefficients: float) -> Lanes:
    """c[0] + c[1] x + c[2] x^2 + ..., in halves that do not wait for each other (Estrin)."""
    terms: list[Lanes | float] = list(coefficients)
    while len(terms) > 1:
        pairs = [_pair(x, *terms[i : i + 2]) for i in range(0, len(terms), 2)]
        x, terms = x * x, pairs
    (result,) = terms
    assert isinstance(result, Lanes)
    return result


def _pair(x: Lanes, low: Lanes | float, high: Lanes | float | None = None) -> Lanes | float:
    """Give low + x high."""
    return low if high is None else fma(x, high, low)
