"""The function around one that Numba compiles, which Python runs.

Takes a function of numbers and arrays, and what they are of the arguments and results of another
one (`Border`); gives that, which takes its arguments apart and puts its results together.  The
invariant: containers that are given are not written into, and those given back are new ones, or
the caller's own.
"""

from __future__ import annotations

import operator
from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.backends.numba.boxes import Box, Value, shown
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import frozen
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.interpreter import infer
from srcdiff.runtime.guards import cotangent_number, cotangent_parts


@frozen
class Border:
    """The way from a function to the one that Numba compiles.

    `given` are what the latter is given: for each of its parameters the parameter of the function
    and the keys that lead to it there, for those of `wrapped` in a tuple; `seeds` the structures of
    cotangents, of which the leaves are the parameters; `result` what the function returns, with the
    names of `results`, of which those of `single` are numbers of float32.
    """

    function: ir.Function
    given: Mapping[str, tuple[Any, ...]]
    wrapped: Container[str]
    seeds: Mapping[str, Value]
    results: tuple[ir.Name, ...]
    result: Value
    kinds: ir.Kinds
    single: Container[str]

    def around(self, inner: ir.Function) -> ir.Function:
        """The function around the one that Numba compiles."""
        return _Wrapper(self, inner).function()


class _Wrapper(Builder):
    """Writes the function around the one that Numba compiles."""

    def __init__(self, border: Border, inner: ir.Function) -> None:
        whole = border.function
        super().__init__(ir.Fresh({p.name for p in whole.params}), (*whole.returns, whole.loc)[0])
        self.labels = {n.id: self.fresh(n.id) for n in border.results}
        self.border, self.inner = border, inner
        self.read: dict[tuple[Any, ...], ir.Name] = {}

    def function(self) -> ir.Function:
        """The function."""
        border = self.border
        cotangents: dict[tuple[Any, ...], ir.Atom] = {}
        for name, box in border.seeds.items():
            self.seed(box, ir.Name(name), (name,), cotangents)
        args = [cotangents.get(path) or self.argument(n) for n, path in border.given.items()]
        last, kinds = self.inner.body[-1], infer(self.inner, border.kinds)
        assert type(last) is ir.Return
        known = atom_kind(last.value, {**border.kinds, **kinds})
        fn = ir.Subroutine(self.inner, kinds=border.kinds, result=known)
        call = ir.Call(fn, tuple(args), text=self.inner.name)
        self.call_inner(call)
        result = self.built(border.result)
        body = (*self.out, ir.Return(result, self.loc))
        return ir.rebuilt(border.function, body=body, comments={})

    def seed(
        self,
        value: Value,
        given: ir.Name,
        path: tuple[Any, ...],
        found: dict[tuple[Any, ...], ir.Atom],
    ) -> None:
        """Take a cotangent apart."""
        said = ir.Const(shown(path))
        if type(value) is not Box:
            kind = self.border.kinds.get(value.id) if type(value) is ir.Name else None
            if isinstance(kind, ir.Scalar):
                found[path] = self.call(cotangent_number, given, said)
            elif type(value) is ir.Name:
                found[path] = given
            return
        keys = ir.Tup(tuple(map(ir.Const, value.items)))
        what = ir.Ref(value.cls.__name__, value.cls)
        taken = self.call(cotangent_parts, given, what, keys, said)
        names = [self.fresh("_".join(["d", *map(str, (*path[1:], k))])) for k in value.items]
        self.unpack(taken, names)
        for name, (key, inner) in zip(names, value.items.items()):
            self.seed(inner, name, (*path, key), found)

    def argument(self, name: str) -> ir.Atom:
        """What is given for a parameter."""
        found = self.at(self.border.given[name])
        return ir.Tup((found,)) if name in self.border.wrapped else found

    def at(self, path: tuple[Any, ...]) -> ir.Name:
        """A part of an argument."""
        found = ir.Name(path[0])
        for key in path[1:]:
            found = self.item(found, ir.Const(key))
        return found

    def unpack(self, found: ir.Name, names: Sequence[ir.Name]) -> None:
        """What a name holds under names of its own."""
        for k, name in enumerate(names):
            item, role = (found, ir.Const(k)), ir.Unpacks(len(names))
            self.assign(name, ir.Call(operator.getitem, item, role=role))

    def call_inner(self, call: ir.Call) -> None:
        """The results of the call under their names."""
        names = list(self.labels.values())
        if len(names) == 1:
            self.assign(names[0], call)
        elif names:
            self.unpack(self.temp(call), names)
        else:
            self.out.append(ir.Effect(call, self.loc))

    def built(self, value: Value) -> ir.Atom:
        """A result put together."""
        if type(value) is ir.Name:
            label = self.labels[value.id]
            single = value.id in self.border.single
            return self.temp(ir.Call(np.float32, (label,))) if single else label
        if type(value) is not Box:
            return value
        if value.given:
            return self.at(value.given)
        items = {k: self.built(v) for k, v in value.items.items()}
        if value.cls is tuple:
            return ir.Tup(tuple(items.values()))
        if value.cls is list:
            return self.temp(ir.Call(ir.make_list, tuple(items.values())))
        pairs = [a for k, v in items.items() for a in (ir.Const(k), v)]
        return self.temp(ir.Call(ir.make_dict, tuple(pairs)))
