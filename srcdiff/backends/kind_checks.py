"""The lines at the top of a generated function that check its arguments.

Takes the kinds of the parameters; gives plain `if`s that raise, which call a few functions of
`srcdiff.runtime.guards`.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable as _Function
from collections.abc import Iterator, Sized
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.codegen.expression_text import literal
from srcdiff.codegen.printer import wrap
from srcdiff.ir.frozen import frozen
from srcdiff.runtime import guards

_TYPES = {ir.Range: "range", ir.SliceKind: "slice", ir.Text: "str"}
_NUMBERS = {"float64": "float", "int64": "int", "complex128": "complex", "bool": "bool"}
_BUILTIN = re.compile("\1(\\w+)")


@frozen
class Place:
    """A value that is checked: how a message calls it, as the text of an f-string, and its text."""

    said: str
    text: str

    def item(self, key: Any) -> Place:
        """An item of it."""
        shown = repr(key).replace("{", "{{").replace("}", "}}")
        return Place(f"{self.said}[{shown}]", f"{self.text}[{literal(key)}]")

    def name(self) -> str:
        """The text of the string that names it."""
        plain = self.said.replace("{{", "").replace("}}", "")
        if "{" in plain:
            return f"f{literal(self.said)}"
        return literal(self.said.replace("{{", "{").replace("}}", "}"))


@frozen
class Test:
    r"""What is wrong with a value, and what is expected.

    In the condition `\0` stands for the value, and `\1` before the name of what is a builtin.
    """

    wrong: str
    expected: str


Leaf = tuple[Place, Test]


@frozen
class Checks:
    """Writes the lines that check the arguments of one function.

    `name` gives the name of something in the file, where it is put if it is not there; `builtin`
    the text of a builtin, of which a parameter may have the name; `dotted` the module and the name
    of a function that is passed; `fresh` a name for a loop of some depth.  `mixed`: the text is
    right for complex numbers, too, where no dtype is known.
    """

    name: _Function[[Any, str], str]
    builtin: _Function[[str], str]
    dotted: _Function[[Any], str]
    fresh: _Function[[str, int], str]
    device: bool = False
    mixed: bool = True

    def lines(
        self, kinds: ir.Kinds, inputs: frozenset[str], more: Iterator[Leaf]
    ) -> list[str]:
        """The checks of parameters, of which `inputs` are not integers, and `more`."""
        leaves: list[Leaf] = []
        out: list[str] = []
        for name, kind in kinds.items():
            out += self._of(Place(name, name), kind, leaves, 1, name in inputs)
        return [*out, *self._tests([*leaves, *more], 1)]

    def _tests(self, leaves: list[Leaf], depth: int) -> list[str]:
        """An `if` for every test, in a loop over the values where there are several."""
        groups: dict[Test, list[Place]] = {}
        for place, test in leaves:
            groups.setdefault(test, []).append(place)
        out: list[str] = []
        for test, places in groups.items():
            if len(places) == 1:
                out += self._raise(places[0].name(), places[0].text, test, depth)
                continue
            name, value = self._variables(depth)
            pairs = ", ".join(f"({p.name()}, {p.text})" for p in places)
            out += wrap(f"for {name}, {value} in ", f"({pairs})", ":", 4 * depth)
            out += self._raise(name, value, test, depth + 1)
        return out

    def _variables(self, depth: int) -> tuple[str, str]:
        """The names of a name and a value in a loop: a short one, if it is free."""
        found = (self.fresh(wanted, depth) for wanted in ("x", "v", "value"))
        value = next((name for name in found if len(name) == 1), self.fresh("value", depth))
        return self.fresh("name", depth), value

    def _raise(self, name: str, text: str, test: Test, depth: int) -> list[str]:
        """The lines that raise where a test finds something wrong."""
        error = f"{self._helper(guards.type_error)}({name}, {text}, {literal(test.expected)})"
        wrong = _BUILTIN.sub(lambda found: self.builtin(found[1]), test.wrong)
        head = wrap("if ", wrong.replace("\0", text), ":", 4 * depth)
        return [*head, *wrap("raise ", error, "", 4 * depth + 4)]

    def _helper(self, function: Any) -> str:
        """The name of a function of `srcdiff.runtime.guards`."""
        return self.name(function, function.__name__)

    def _numpy(self) -> str:
        """The name of NumPy."""
        return self.name(sys.modules["numpy"], "np")

    # --- containers and objects -------------------------------------------------------------------

    def _of(
        self, place: Place, kind: ir.Kind, leaves: list[Leaf], depth: int, is_input: bool = False
    ) -> list[str]:
        """The checks of the form of a value, and of its items; tests of others go to `leaves`."""
        test = self._test(kind, is_input)
        if test is not None:
            leaves.append((place, test))
        elif isinstance(kind, (ir.Tuple, ir.List)) and kind.items is not None:
            name = "tuple" if isinstance(kind, ir.Tuple) else "list"
            wrong = f"\1type(\0) is not \1{name} or \1len(\0) != {len(kind.items)}"
            form = Test(wrong, f"a {name} of {_number_of(kind.items, 'item', 'items')}")
            return self._items(place, form, list(enumerate(kind.items)), leaves, depth)
        elif isinstance(kind, (ir.Tuple, ir.Dict)) and kind.item is not None:
            body = self._body(place, kind.item, depth)
            return self._loop(place, isinstance(kind, ir.Dict), body, depth)
        elif isinstance(kind, ir.Dict) and kind.cls is None:
            keys = ", ".join(literal(key) for key, _ in kind.items)
            wrong = f"\1type(\0) is not \1dict or \1list(\0) != [{keys}]"
            form = Test(wrong, f"a dict with the keys {keys}")
            return self._items(place, form, list(kind.items), leaves, depth)
        elif isinstance(kind, ir.Dict):
            return self._attributes(place, kind, leaves, depth)
        elif isinstance(kind, ir.Object):
            return self._object(guards.check_class, place, [kind.type], depth)
        return []

    def _items(
        self, place: Place, form: Test, items: list[tuple[Any, ir.Kind]], leaves: list[Leaf],
        depth: int,
    ) -> list[str]:  # fmt: skip
        """The checks of known items: in a loop where they are the same for all of several."""
        out = self._raise(place.name(), place.text, form, depth)
        bodies = [self._body(place, kind, depth) for _, kind in items]
        if len(items) > 2 and all(body == bodies[0] for body in bodies[1:]):
            return [*out, *self._loop(place, "\1dict" in form.wrong, bodies[0], depth)]
        for key, kind in items:
            out += self._of(place.item(key), kind, leaves, depth)
        return out

    def _attributes(
        self, place: Place, kind: ir.Dict, leaves: list[Leaf], depth: int
    ) -> list[str]:
        """The checks of an object, and of its attributes."""
        assert kind.cls is not None
        own = [str(name) for name, _ in kind.items]
        cls = f"{kind.cls.__module__}.{kind.cls.__qualname__}"
        out = self._object(guards.check_object, place, [cls, *own], depth)
        for (_, item), name in zip(kind.items, own):
            # The class may hide what an object has itself.
            hidden = inspect.isdatadescriptor(found := getattr(kind.cls, name, None))
            plain = not hidden or inspect.ismemberdescriptor(found) or issubclass(kind.cls, tuple)
            text = f"{place.text}.{name}"
            if not plain:
                text = f"{self.builtin('vars')}({place.text})[{literal(name)}]"
            out += self._of(Place(f"{place.said}.{name}", text), item, leaves, depth)
        return out

    def _object(
        self, check: _Function[..., None], place: Place, expected: list[str], depth: int
    ) -> list[str]:
        """The call that checks an object: its class, and what else is expected of it."""
        args = ", ".join([place.name(), place.text, *map(literal, expected)])
        return wrap("", f"{self._helper(check)}({args})", "", 4 * depth)

    def _body(self, place: Place, kind: ir.Kind, depth: int) -> list[str]:
        """The checks of each item of a value, as they stand in a loop, and its head."""
        key, item = self.fresh("key", depth), self.fresh("item", depth)
        leaves: list[Leaf] = []
        inner = Place(f"{place.said}[{{{key}!r}}]", item)
        out = self._of(inner, kind, leaves, depth + 1)
        return [*out, *self._tests(leaves, depth + 1)]

    def _loop(self, place: Place, is_dict: bool, body: list[str], depth: int) -> list[str]:
        """A loop over the items of a tuple, list or dict; none if there is nothing to check."""
        pair = f"{self.fresh('key', depth)}, {self.fresh('item', depth)}"
        items = f"{place.text}.items()"
        if not is_dict:
            items = f"{self.builtin('enumerate')}({place.text})"
        return [*wrap(f"for {pair} in ", items, ":", 4 * depth), *body] if body else []

    # --- tests of single values -------------------------------------------------------------------

    def _test(self, kind: ir.Kind, is_input: bool = False) -> Test | None:
        """The test of a value that is looked at whole; None for another one."""
        if isinstance(kind, ir.Scalar):
            return self._number(kind)
        if isinstance(kind, ir.Array):
            return self._array(kind, is_input)
        if isinstance(kind, ir.Callable) and kind.choices:
            names = [self.dotted(f) for f, _ in kind.choices]
            held = f"{self._helper(guards.is_held)}(\0, {', '.join(map(literal, names))})"
            return Test(f"not {held}", " or ".join(names))
        if isinstance(kind, ir.Module):
            last = "np" if kind.name == "numpy" else kind.name.rpartition(".")[2]
            module = self.name(sys.modules[kind.name], last)
            return Test(f"\0 is not {module}", f"the module {kind.name}")
        if isinstance(kind, ir.Object) and kind.value is not None:
            dtype = f'{self._numpy()}.dtype("{kind.value.name}")'
            wrong = f"not \1isinstance(\0, {self._numpy()}.dtype) or \0 != {dtype}"
            return Test(wrong, f"the dtype {kind.value.name}")
        if isinstance(kind, ir.NoneKind):
            return Test("\0 is not None", "None")
        name = _TYPES.get(type(kind))
        return None if name is None else Test(f"\1type(\0) is not \1{name}", name)

    def _number(self, kind: ir.Scalar) -> Test:
        if kind.dtype is None:
            return self._numeric("biuf")
        found = [f"\1{_NUMBERS[kind.dtype]}"] if kind.python is not False else []
        if kind.python is not True:
            found.append(self._dtype(kind.dtype))
        wrong = f"is not {found[0]}" if len(found) == 1 else f"not in ({', '.join(found)})"
        return Test(f"\1type(\0) {wrong}", " or ".join(found).replace("\1", ""))

    def _dtype(self, name: str) -> str:
        """The text of a dtype, or of the class of numbers of it."""
        name = "bool_" if name == "bool" else name
        return f"{self._numpy()}.{name}"

    def _array(self, kind: ir.Array, is_input: bool) -> Test:
        if kind.dtype is None or kind.dims is None or kind.maybe_scalar:
            return self._numeric("f" if is_input else "biuf")
        known = hasattr(np, kind.dtype)
        dtype = f"!= {self._dtype(kind.dtype)}" if known else f".name != {literal(kind.dtype)}"
        conditions = [self._is_no_array(), f"\0.dtype{' ' * known}{dtype}"]
        conditions += [f"\0.ndim != {len(kind.dims)}", *_lengths(kind.dims)]
        return Test(" or ".join(conditions), f"an array of {kind.dtype} with {_axes(kind.dims)}")

    def _is_no_array(self) -> str:
        """The condition for no array, or one of a class that gives operators another meaning."""
        if self.device:
            return f"\1type(\0) is not {self._numpy()}.ndarray"
        return f"\1type(\0) not in {self.name(guards.ARRAYS, 'ARRAYS')}"

    def _numeric(self, kinds: str) -> Test:
        """The test of a number or array of which nothing but the kind of its dtype is known."""
        kinds = f"{kinds}{'c' * self.mixed}"
        wrong = f"not {self._helper(guards.is_numeric)}(\0, {literal(kinds)})"
        what = f"{'' if 'i' in kinds else 'floating point '}numbers or arrays"
        if self.mixed:
            return Test(wrong, what)
        return Test(wrong, f"real {what} (for complex ones give an example)")

    # --- cotangents and tangents ------------------------------------------------------------------

    def seed(self, name: str) -> Leaf:
        """The test of the cotangent of one real number."""
        wrong = f"not \1isinstance(\0, (\1float, {self._numpy()}.floating))"
        return Place(name, name), Test(wrong, "a float")

    def tangent(self, name: str, text: str, kind: ir.Kind) -> Leaf:
        """The test of the tangent of an input, which stands as a text, of some kind."""
        if isinstance(kind, ir.Scalar) and kind.dtype == "float64":
            return self.seed(name)
        if isinstance(kind, ir.Array) and kind.dtype is not None and not kind.maybe_scalar:
            wrong = f"{self._is_no_array()} or \0.dtype != {text}.dtype or \0.shape != {text}.shape"
            return Place(name, name), Test(wrong, f"an array of the shape and dtype of {text}")
        wrong = f"not {self._helper(guards.is_tangent)}(\0, {text})"
        what = f"a direction of the structure, the shapes and the dtypes of {text}"
        return Place(name, name), Test(wrong, what)

    # --- shared memory ----------------------------------------------------------------------------

    def apart(self, kinds: ir.Kinds, written: tuple[str, ...]) -> list[str]:
        """The checks that nothing shares memory with arguments that are written into."""
        arrays = [(Place(n, n), k) for n, k in kinds.items()]
        found = [part for place, kind in arrays for part in _parts(place, kind)]
        plain = all(isinstance(kinds[n], ir.Array) for n in written if n in kinds)
        if None in found or not plain:
            given = ", ".join(f"{literal(n)}: {n}" for n in kinds)
            call = f"{self._helper(guards.check_apart)}({{{given}}}, "
            return wrap("", f"{call}{', '.join(map(literal, written))})", "", 4)
        out: list[str] = []
        done: set[str] = set()
        places = [place for place in found if place is not None]
        for name in (n for n in written if n in kinds):
            done.add(name)
            out += self._apart_from(name, [p for p in places if p.text not in done])
        return out

    def _apart_from(self, name: str, others: list[Place]) -> list[str]:
        """The lines that raise where one of other arrays shares memory with one."""
        numpy = self._numpy()
        if len(others) == 1:
            said = literal(f"{name} and {others[0].said} share memory: pass a copy")
            head = wrap("if ", f"{numpy}.shares_memory({name}, {others[0].text})", ":", 4)
            return [*head, *wrap("raise ", f"{self.builtin('ValueError')}({said})", "", 8)]
        if not others:
            return []
        said, value = self._variables(1)
        error = self.builtin("ValueError")
        pairs = ", ".join(f"({p.name()}, {p.text})" for p in others)
        return [
            *wrap(f"for {said}, {value} in ", f"({pairs})", ":", 4),
            f"        if {numpy}.shares_memory({name}, {value}):",
            f'            raise {error}(f"{name} and {{{said}}} share memory: pass a copy")',
        ]


def _parts(place: Place, kind: ir.Kind) -> Iterator[Place | None]:
    """Where the arrays of a value are; None where they are not known."""
    if isinstance(kind, ir.Array) and kind.dims is not None and not kind.maybe_scalar:
        yield place
    elif isinstance(kind, (ir.Tuple, ir.List)) and kind.items is not None:
        for k, item in enumerate(kind.items):
            yield from _parts(place.item(k), item)
    elif isinstance(kind, ir.Dict) and kind.item is None and kind.cls is None:
        for key, item in kind.items:
            yield from _parts(place.item(key), item)
    elif not isinstance(kind, (ir.NoneKind, ir.Module, ir.Callable, *_TYPES)):
        if not isinstance(kind, ir.Scalar) or kind.dtype is None:
            yield None


def _lengths(dims: tuple[ir.Dim, ...]) -> list[str]:
    """What is wrong with the lengths of axes."""
    found = [_wrong(f"\0.shape[{k}]", dim) for k, dim in enumerate(dims)]
    if len(dims) > 1 and found == [f"\0.shape[{k}] == 1" for k in range(len(dims))]:
        return ["1 in \0.shape"]
    return [text for text in found if text]


def _wrong(text: str, dim: ir.Dim) -> str:
    """The condition for a length that is another one; nothing if it may be any."""
    if isinstance(dim, ir.Sym):
        return f"{text} < {dim.least}" if dim.least else f"{text} == 1" if dim.big else ""
    return "" if dim is None else f"{text} != {dim}"


def _axes(dims: tuple[ir.Dim, ...]) -> str:
    """What is expected of axes, in words."""
    count = _number_of(dims, "axis", "axes")
    lengths = list(map(_length, dims))
    if lengths == ["any"] * len(dims):
        return count
    if len({*lengths}) == 1:
        return f"{count} of length {lengths[0]}".replace(" of length not 1", ", not of length 1")
    return f"{count}, of lengths {', '.join(lengths)}"


def _length(dim: ir.Dim) -> str:
    """What is expected of a length."""
    if isinstance(dim, ir.Sym):
        return f"{dim.least} or more" if dim.least else "not 1" if dim.big else "any"
    return "any" if dim is None else str(dim)


def _number_of(items: Sized, one: str, several: str) -> str:
    """How many there are of something."""
    return f"{len(items)} {one if len(items) == 1 else several}"
