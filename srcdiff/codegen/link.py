"""Functions put together as one text, with the recursive functions that they call.

Functions that the user's function makes and passes to a primitive stand there as well.

For files, derivatives that are generated when they are needed become functions of the text:
`integral(vjp_by(f, 1), a, b, (k, d))` becomes `integral(f_grad_k, a, b, (k, d))`, where `f_grad_k`
is the gradient of `f` by its parameter `k`, generated for the kinds of these arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Union

from srcdiff import ir
from srcdiff.codegen.emit import Emitted, emit
from srcdiff.codegen.naming import name as spelled
from srcdiff.errors import TransformError
from srcdiff.frontend.closures import Lifted
from srcdiff.frontend.request import Input, Request
from srcdiff.ir.frozen import frozen, replace, state
from srcdiff.kinds.calls import atom_kind
from srcdiff.normalize.summaries.effects import Key
from srcdiff.normalize.summaries.induction import plain_kind
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime.implicit import pulled, with_source
from srcdiff.specialize.inline import function_of


@frozen(eq=False)
class Gradient:
    """The gradient of a function by a parameter, for arguments of some kinds, then a cotangent."""

    function: Any
    param: str
    kinds: ir.Kinds
    __srcdiff_function__ = True

    @property
    def __name__(self) -> str:
        """Its name in a text, unless that is taken."""
        return f"{self.function.__name__}_grad_{self.param}"

    def __call__(self, *args: Any) -> Any:
        """They are only printed."""
        raise NotImplementedError(f"`{self.__name__}` is known only as a part of a file")


def alone(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """A finished function that calls the gradients of integrands as functions of the text."""
    slopes = _slopes(function)
    if not slopes:
        return function
    body = ir.with_values(function, _Alone(slopes, kinds).value).body
    for name in reversed(slopes):  # those of others before these
        if name not in ir.used(body):
            body = ir.without(body, {name})
    return ir.rebuilt(function, body=body)


def _slopes(function: ir.Function) -> dict[str, tuple[Any, int]]:
    """The names that stand for a derivative, with the function and the position of the argument."""
    found: dict[str, tuple[Any, int]] = {}
    for stmt in ir.walk(function):
        call = ir.call_of(stmt)
        if isinstance(stmt, ir.Assign) and is_op(call, Op.VJP_BY):
            fn, place = call.args
            value = fn.value if isinstance(fn, ir.Ref) else None
            if isinstance(fn, ir.Name) and fn.id in found:
                value = _written(*found[fn.id])
            if value is not None and isinstance(place, ir.Const):
                found[stmt.target.id] = value, place.value
    return found


def _written(fn: Any, place: int) -> Any:
    """The gradient of a function as a function with source, None if it cannot be written."""
    params = _plain_params(fn)
    if params is None:
        return None
    fresh = ir.Fresh({*params, "pulled", "function"})
    seed, name = fresh("d").id, f"{fn.__name__}_grad_{params[place]}"
    line = f"return pulled(function, {place}, {', '.join([seed, *params])})"
    space = {"function": fn, "pulled": pulled}
    return with_source(f"def {name}({', '.join([*params, seed])}):", [line], space)


@state
class _Alone:
    """The pass: `slopes` are names of derivatives; `made` takes what stands for them."""

    slopes: Mapping[str, tuple[Any, int]]
    kinds: ir.Kinds
    made: dict[Any, Gradient] = field(default_factory=dict)

    def value(self, stmt: ir.Assign) -> ir.Rhs:
        """The value of an assignment."""
        call = ir.call_of(stmt)
        if is_op(call, Op.INTEGRAL):
            slope, given = call.args[0], (*call.args[3:4], ir.NONE)[0]
        elif call is None or not isinstance(call.fn, ir.Name) or not call.args or call.kwargs:
            return stmt.rhs
        else:  # at a limit
            slope, given = call.fn, ir.Tup(call.args[1:])
        found = self.gradient(slope, given)
        if found is None:
            return stmt.rhs
        if slope is call.fn:
            return ir.Call(found, call.args, text=found.__name__)
        return replace(call, args=(ir.Ref(found.__name__, found), *call.args[1:]))

    def gradient(self, slope: ir.Atom, given: ir.Atom) -> Gradient | None:
        """A derivative for some arguments, None if it stays one that is generated when needed."""
        if not isinstance(slope, ir.Name) or slope.id not in self.slopes:
            return None
        if not isinstance(given, ir.Tup) or any(isinstance(a, ir.Star) for a in given.items):
            return None
        fn, place = self.slopes[slope.id]
        params = _plain_params(fn)
        if params is None or len(params) != len(given.items):
            return None
        kinds = [plain_kind(atom_kind(a, self.kinds)) for a in given.items[:-1]]
        known = dict(zip(params, (ir.Scalar("float64", None), *kinds)))
        key = id(fn), place, tuple(known.items())
        return self.made.setdefault(key, Gradient(fn, params[place], known))


def _plain_params(fn: Any) -> list[str] | None:
    """The parameters of a function, None if it has others than plain ones or cannot be read."""
    try:
        params = function_of(fn).params
    except TransformError:
        return None
    return [p.name for p in params] if all(p.style in ("pos", "any") for p in params) else None


# --- functions put together as one text, with the recursive functions that they call -------------


Passed = Union[Lifted, Gradient, ir.Subroutine]
_PASSED = (Lifted, Gradient, ir.Subroutine, ir.Kernel)
PairOf = Callable[[Any, Request, ir.Kinds, ir.Target], tuple[ir.Function, ...]]


def module_text(
    functions: list[ir.Function], pair_of: PairOf, origin: Any, whole: Request
) -> Emitted:
    """Functions as one text, behind the parts of recursive functions that they call.

    `pair_of` makes the forward and the backward part of a function, or its forward-mode function;
    the global names of `origin`, the user's function, are used as there.  `whole` is the
    request for all of it.
    """
    target = functions[0].target
    names: dict[Key, str] = {}
    made: list[ir.Function] = []
    todo = list(functions)
    while todo:
        function = todo.pop(0)
        for fn in _parts(function):
            key: Key = fn.key
            if key not in names:
                names[key] = _untaken(fn.name, {f.name for f in functions}, names)
                request = part_request(key, names[key], fn.part, whole)
                where = part_target(request, target)
                todo += pair_of(key.function, request, dict(key.kinds), where)
        made.append(function)
    own = made[len(functions) :]
    namespace = getattr(origin, "__globals__", None)

    def passed(name: str, made: Passed) -> ir.Function:
        """A function that is passed on, or called as it is."""
        if isinstance(made, ir.Subroutine):
            return spelled(replace(made.function, name=name))
        request = Request((), "tuple", name=name, internal=True, mode="itself")
        where = part_target(request, target)
        if isinstance(made, Lifted):
            return pair_of(made, request, {}, where)[0]
        inputs = (Input(made.param),)
        request = replace(
            request, inputs=inputs, form="bare", mode="whole", materialize=True, allow_unused=True,
            alone=True,
        )  # fmt: skip
        return pair_of(made.function, request, made.kinds, where)[0]

    return _joined([_with_names(f, names) for f in (*own, *functions)], namespace, passed)


def _joined(
    functions: list[ir.Function],
    namespace: Mapping[str, Any] | None,
    passed: Callable[[str, Passed], ir.Function],
) -> Emitted:
    """Functions as one text, in which a global name means one object.

    The functions that they pass on stand before them, under the names that they have there.
    """
    refs: dict[str, Any] = {f.name: f for f in functions}

    def printed(some: list[ir.Function]) -> list[Emitted]:
        texts = []
        for function in some:
            texts.append(emit(function, namespace=namespace, others=refs))
            refs.update(texts[-1].refs)
        return texts

    loops: dict[str, ir.Rows | None] = {}
    texts = printed(functions)
    while new := {n: v for n, v in refs.items() if any(type(v) is c for c in _PASSED)}:
        kernels = {n: v for n, v in new.items() if type(v) is ir.Kernel}
        more = [passed(n, v) for n, v in new.items() if n not in kernels]
        nests = {n: v for n, v in new.items() if type(v) is ir.Subroutine and v.kinds is None}
        loops.update((n, v.rows) for n, v in nests.items())
        refs.update((f.name, f) for f in more)
        refs.update((n, kernel.function) for n, kernel in kernels.items())
        texts = [*_kernel_texts(kernels, refs), *printed(more), *texts]
    for name in [n for n, f in refs.items() if type(f) is ir.Function]:
        del refs[name]
    places: dict[int, ir.Loc] = {}
    first = 0
    for text in texts:
        places.update({first + line: loc for line, loc in text.lines.items()})
        first += text.text.count("\n") + 2
    printed_by_name = {n: t for one in texts for n, t in one.functions.items()}
    outer = frozenset(f.name for f in functions if ir.compiled_in(f) is not None)
    return Emitted(printed_by_name, places, refs, loops, outer)


def _kernel_texts(kernels: Mapping[str, ir.Kernel], refs: dict[str, Any]) -> list[Emitted]:
    """The texts of kernels by their names; what they refer to is added to `refs`."""
    if not kernels:
        return []
    from srcdiff.codegen.kernel_text import kernel_text

    made = [kernel_text(name, kernel, refs) for name, kernel in kernels.items()]
    refs.update(item for text in made for item in text.refs.items())
    return made


def _parts(function: ir.Function) -> list[ir.Derived]:
    """The parts of recursive functions that a function calls."""
    callees = map(ir.callee_of, ir.walk(function))
    inner = ir.compiled_in(function)
    own = [fn for fn in callees if isinstance(fn, ir.Derived)]
    return own if inner is None else own + _parts(inner.function)


def _untaken(base: str, taken: set[str], names: Mapping[Key, str]) -> str:
    """A base name for the two parts of a function that no other has."""
    used = {*names.values(), *taken}
    number, candidate = 0, base
    parts = ("_forward", "_jvp", "_primal")
    while used & {candidate, *(candidate + p for p in parts)}:
        number += 1
        candidate = f"{base}_{number}"
    return candidate


def part_request(key: Key, base: str, part: str, whole: Request) -> Request:
    """The request for the two parts of a recursive function, or for its forward-mode function."""
    mode = {"primal": "primal", "jvp": "forward"}.get(part, "reverse")
    return Request(
        tuple(Input(p) for p in key.active),
        "tuple",
        name=base if mode == "reverse" else f"{base}_{part}",
        internal=True,
        mode=mode,
        written=key.written,
        allow_unused=True,
        materialize=True,
        mixed=key.mixed,
        strong_zeros=whole.strong_zeros and mode == "reverse",
    )


def part_target(request: Request, target: ir.Target) -> ir.Target:
    """Where the parts of a recursive function run: those of reverse mode use the workspace."""
    return target if request.mode == "reverse" else replace(target, workspace=False)


def _with_names(function: ir.Function, names: Mapping[Key, str]) -> ir.Function:
    """A function whose calls of parts have their final names."""

    def stmt(s: ir.Stmt) -> ir.Stmt:
        call = ir.call_of(s)
        if call is not None and type(call.fn) is ir.Subroutine and call.fn.kinds is not None:
            inner = replace(call.fn, function=_with_names(call.fn.function, names))
            return replace(s, rhs=replace(call, fn=inner))  # type: ignore[arg-type]
        if call is None or not isinstance(call.fn, ir.Derived):
            return s
        fn = replace(call.fn, name=f"{names[call.fn.key]}_{call.fn.part}")
        return replace(s, rhs=replace(call, fn=fn, text=None))  # type: ignore[arg-type]

    return ir.replaced_in(function, stmt) if names else function
