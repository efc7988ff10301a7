"""Functions put together as one text, with the recursive functions that they call.

Functions that the user's function makes and passes to a primitive stand there as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from srcdiff import ir
from srcdiff.codegen.alone import Gradient
from srcdiff.codegen.emit import Emitted, emit
from srcdiff.frontend.lowering import Lifted
from srcdiff.frontend.request import Input, Request
from srcdiff.ir.kinds import Kind
from srcdiff.normalize.summaries.assumed import Key

PairOf = Callable[[Any, Request, Mapping[str, Kind]], tuple[ir.Function, ...]]


def module_text(
    functions: list[ir.Function], pair_of: PairOf, origin: Any, whole: Request
) -> Emitted:
    """Functions as one text, behind the parts of recursive functions that they call.

    `pair_of` makes the forward and the backward part of a function, or its forward-mode function;
    the global names of `origin`, the user's function, are used as there.  `whole` is the
    request for all of it.
    """
    names: dict[Key, str] = {}
    made: list[ir.Function] = []
    todo = list(functions)
    while todo:
        function = todo.pop(0)
        for key, fn in _keys(function):
            if key not in names:
                names[key] = _untaken(fn.name, {f.name for f in functions}, names)
                request = _part_request(key, names[key], fn.part, whole)
                todo += pair_of(key.function, request, dict(key.kinds))
        made.append(function)
    own = made[len(functions) :]
    namespace = getattr(origin, "__globals__", None)

    def passed(name: str, made: Lifted | Gradient) -> ir.Function:
        """A function that is passed on."""
        request = Request((), "tuple", name=name, internal=True, mode="itself", native=whole.native)
        if isinstance(made, Lifted):
            return pair_of(made, request, {})[0]
        inputs = (Input(made.param),)
        request = replace(
            request, inputs=inputs, form="bare", mode="whole", materialize=True, allow_unused=True,
            alone=True,
        )  # fmt: skip
        return pair_of(made.function, request, made.kinds)[0]

    return _joined([_with_names(f, names) for f in (*own, *functions)], namespace, passed)


def _joined(
    functions: list[ir.Function],
    namespace: Mapping[str, Any] | None,
    passed: Callable[[str, Lifted | Gradient], ir.Function],
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

    texts = printed(functions)
    while new := {n: v for n, v in refs.items() if isinstance(v, (Lifted, Gradient))}:
        more = [passed(n, v) for n, v in new.items()]
        refs.update((f.name, f) for f in more)
        texts = [*printed(more), *texts]
    for name in [n for n, f in refs.items() if isinstance(f, ir.Function)]:
        del refs[name]
    places: dict[int, ir.Loc] = {}
    first = 0
    for text in texts:
        places.update({first + line: loc for line, loc in text.lines.items()})
        first += text.text.count("\n") + 2
    return Emitted("\n\n".join(t.text for t in texts), places, refs)


def _keys(function: ir.Function) -> Iterator[tuple[Key, ir.Derived]]:
    """The recursive functions that a function calls."""
    for stmt in ir.walk(function.body):
        call = ir.call_of(stmt)
        if call is not None and isinstance(call.fn, ir.Derived):
            yield call.fn.key, call.fn


def _untaken(base: str, taken: set[str], names: Mapping[Key, str]) -> str:
    """A base name for the two parts of a function that no other has."""
    used = {*names.values(), *taken}
    number, candidate = 0, base
    parts = ("_forward", "_jvp", "_primal")
    while used & {candidate, *(candidate + p for p in parts)}:
        number += 1
        candidate = f"{base}_{number}"
    return candidate


def _part_request(key: Key, base: str, part: str, whole: Request) -> Request:
    """The request for the two parts of a recursive function, or for its forward-mode function."""
    inputs = tuple(Input(p) for p in key.active)
    if part == "primal":
        base, mode = f"{base}_primal", "primal"
    elif part == "jvp":
        base, mode = f"{base}_jvp", "forward"
    else:
        mode = "reverse"
    return Request(
        inputs,
        "tuple",
        name=base,
        internal=True,
        mode=mode,
        written=key.written,
        allow_unused=True,
        materialize=True,
        mixed=key.mixed,
        strong_zeros=whole.strong_zeros and mode == "reverse",
        native=whole.native,
        workspace=whole.workspace and mode == "reverse",
    )


def _with_names(function: ir.Function, names: Mapping[Key, str]) -> ir.Function:
    """A function whose calls of parts have their final names."""

    def block(inner: ir.Block) -> ir.Block:
        return tuple(stmt(s) for s in inner)

    def stmt(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, (ir.Assign, ir.Effect)) and isinstance(s.rhs, ir.Call):
            fn = s.rhs.fn
            if isinstance(fn, ir.Derived):
                new = replace(fn, name=f"{names[fn.key]}_{fn.part}")
                s = replace(s, rhs=replace(s.rhs, fn=new, text=None))
        return ir.map_blocks(s, block)

    return replace(function, body=block(function.body)) if names else function
