"""Noticing that something outside of a function that its derivative was made from has changed.

That is every global and closure variable that the function and those that it calls can read, the
attributes of modules, code and defaults that were replaced, the kinds of what stands in a list or
dict, and the rules.  A walk collects it when a derivative is generated; every call compares.

`said_by` says all of it, by what it holds: what an earlier process has generated for Numba is found
by that.  What cannot be said (arrays, objects, rules of the user's) is generated anew.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import inspect
import linecache
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.frontend.request import Request
from srcdiff.frontend.signatures import Variable, WithFree
from srcdiff.frontend.source.locate import all_codes, is_only_filled
from srcdiff.ir import kinds as kind_types
from srcdiff.ir.frozen import state
from srcdiff.kinds.lattice import LARGE, Relation, key_of, lengths_in
from srcdiff.primitives.registry import folder, is_users, user_rules
from srcdiff.runtime import records
from srcdiff.runtime.copies import PLAIN
from srcdiff.runtime.service import is_derivative, is_jacobian

Read = Callable[[], Any]
Codes = tuple[types.CodeType, ...]


@state
class Watch:
    """What a derivative depends on, and how that was.

    `functions` are given with their code and defaults.  `names` are variables (a namespace, a
    name, its value or None), `reads` other places, `held` containers and arrays with the key of
    their kind, `members` what classes have under a name, `attributes` which of the names are read
    of a module.
    """

    functions: list[tuple[types.FunctionType, Any, Any, Any]] = field(default_factory=list)
    names: list[tuple[Mapping[str, Any], str, Any]] = field(default_factory=list)
    reads: list[tuple[Read, Any]] = field(default_factory=list)
    held: list[tuple[Any, Any]] = field(default_factory=list)
    members: list[tuple[type, str, Any]] = field(default_factory=list)
    attributes: set[tuple[int, str]] = field(default_factory=set)


def watched(f: Any, kinds: Mapping[str, ir.Kind]) -> Watch:
    """Everything outside a function that its derivative for arguments of some kinds depends on."""
    walk = _Walk()
    walk.watch.reads.append((user_rules, user_rules()))  # ours are only read when they are needed
    while isinstance(f, WithFree) or is_derivative(f):
        if isinstance(f, WithFree):  # what are parameters may change
            walk.free = f.variables
        f = f.primal
    walk.callable(f)
    for function in _passed(kinds.values()):
        walk.callable(function)
        walk.value(getattr(function, "__self__", None))
    walk.classes.update(dict.fromkeys(c for k in kinds.values() for c in ir.classes_in(k)))
    walk.members()
    return walk.watch


def unchanged(watch: Watch) -> bool:
    """Whether everything is as it was."""
    for f, code, defaults, by_name in watch.functions:
        if (
            f.__code__ is not code
            or f.__defaults__ is not defaults
            or f.__kwdefaults__ is not by_name
        ):
            return False
    for table, name, value in watch.names:
        if table.get(name) is not value:
            return False
    for read, value in watch.reads:
        if read() is not value:
            return False
    return not watch.held or all(key_of(value) == key for value, key in watch.held)


class Names:
    """Values that a text refers to, each by a name of its own."""

    def __init__(self) -> None:
        self.known: dict[int, str] = {}
        self.values: dict[str, Any] = {}

    def __call__(self, value: Any) -> str:
        """The name of a value."""
        name = self.known.setdefault(id(value), f"v{len(self.values)}")
        self.values[name] = value
        return name


def conditions(watch: Watch, name: Names) -> Iterator[str]:
    """What `unchanged` asks, as expressions."""
    for f, code, defaults, by_name in watch.functions:
        yield f"{name(f)}.__code__ is {name(code)}"
        yield f"{name(f)}.__defaults__ is {name(defaults)}"
        yield f"{name(f)}.__kwdefaults__ is {name(by_name)}"
    for table, key, value in watch.names:
        yield f"{name(table)}.get({key!r}) is {name(value)}"
    for read, value in watch.reads:
        yield f"{name(read)}() is {name(value)}"
    for value, key in watch.held:
        yield f"{name(key_of)}({name(value)}) == {name(key)}"


def conditions_of_key(value: Any, x: str, name: Names) -> Iterator[str]:
    """Whether what is called `x` has the key that a value has, as expressions.

    The shape of an array is called `x_shape` then.
    """
    key, cls = key_of(value), type(value)
    if isinstance(value, (float, int, complex, np.number)) and key is cls:
        yield f"type({x}) is {name(cls)}"
    elif cls is np.ndarray and value.dtype.isbuiltin == 1:
        yield f"type({x}) is {name(cls)} and {x}.dtype is {name(value.dtype)}"
        yield f"len({x}_shape := {x}.shape) == {value.ndim}"
        for k, n in enumerate(key[1]):
            length = f"{x}_shape[{k}]"
            most = {2: f"1 < {length} < {LARGE}", LARGE: f"{length} >= {LARGE}"}
            yield most.get(n, f"{length} == {n}")
    else:
        yield f"{name(key_of)}({x}) == {name(key)}"


def conditions_of_lengths(
    relations: Iterable[Relation], names: Sequence[str], args: Sequence[Any]
) -> list[str] | None:
    """Whether the lengths of arguments `x0`, `x1` and so on are related, as expressions.

    Behind `conditions_of_key` of all; None where a length is not one of these arguments.
    """
    called = {}
    for k, (name, value) in enumerate(zip(names, args)):
        for length, _ in lengths_in(value, name):
            path, _, axis = length.rpartition(".")
            shape = f"x{k}{path.removeprefix(name)}.shape"
            named = type(value) is np.ndarray and value.dtype.isbuiltin == 1
            called[length] = f"x{k}_shape[{axis}]" if named else f"{shape}[{axis}]"
    if not all(one in called and other in called for one, other, _ in relations):
        return None
    return [
        f"{called[one]} == {called[other]}" + (f" + {more}" if more else "")
        for one, other, more in relations
    ]


def _passed(kinds: Iterable[ir.Kind]) -> Iterator[Any]:
    """The functions among arguments of some kinds."""
    for kind in kinds:
        if isinstance(kind, kind_types.Callable):
            yield from (f for f, _ in kind.choices)
        yield from _passed(ir.inside(kind))


class _Walk:
    """The functions and containers seen, and what was found.

    Of classes these are the members whose names occur in code.
    """

    def __init__(self) -> None:
        self.free: tuple[Variable, ...] = ()
        self.words: dict[str, None] = {}
        self.classes: dict[type, None] = {}
        self.seen: set[int] = set()
        self.asked: set[tuple[int, str]] = set()
        self.watch = Watch()

    def callable(self, f: Any) -> None:
        """A function, method, partial, derivative or callable object, with all that it wraps."""
        if isinstance(f, functools.partial):
            self.partial(f)
        elif is_derivative(f) or hasattr(type(f), "__srcdiff_primal__"):
            self.callable(f.primal)
        elif isinstance(f, types.FunctionType):
            self.function(f)
        else:
            method = inspect.getattr_static(type(f), "__call__", None)
            inner = f.__func__ if isinstance(f, types.MethodType) else method
            if isinstance(inner, types.FunctionType):
                self.function(inner)
            if isinstance(f, types.MethodType) and records.is_record(type(f.__self__)):
                self.classes[type(f.__self__)] = None
        if "__wrapped__" in records.own_dict(f):
            self.callable(records.own_dict(f)["__wrapped__"])

    def partial(self, f: functools.partial[Any]) -> None:
        """What a partial calls, and what it passes on: constants of generated functions."""
        self.callable(f.func)
        self.container(f.keywords)
        self.watch.names += [(f.keywords, name, value) for name, value in f.keywords.items()]
        for held in (*f.args, *f.keywords.values()):
            self.value(held)

    def function(self, f: types.FunctionType) -> None:
        """The code and defaults of a function, and the variables that it can read."""
        if id(f) in self.seen:
            return
        self.seen.add(id(f))
        self.watch.functions.append((f, f.__code__, f.__defaults__, f.__kwdefaults__))
        codes = tuple(all_codes(f.__code__))
        names = dict.fromkeys(n for code in codes for n in code.co_names)
        words = (*names, *(word for code in codes for word in _texts(code)))
        self.words.update(dict.fromkeys(words))
        self.defaults(f)
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
            if any(cell is v.place for v in self.free):
                continue
            read = functools.partial(_content, cell)
            self.watch.reads.append((read, read()))
            if not _is_filled(read(), name, codes):
                self.value(read(), words)
        for name in names:
            self.variable(f.__globals__, name, words, codes)

    def defaults(self, f: types.FunctionType) -> None:
        """The defaults of a function, which generated functions have as well."""
        by_name = f.__kwdefaults__ or {}
        self.watch.names += [(by_name, name, value) for name, value in by_name.items()]
        for default in (*(f.__defaults__ or ()), *by_name.values()):
            self.value(default)

    def variable(
        self, space: dict[str, Any], name: str, names: tuple[str, ...], codes: Codes
    ) -> None:
        """A global, or what a builtin or a module imported inside of a function is called."""
        if any(space is v.place and name == v.name for v in self.free):
            return
        if name.startswith("@"):
            return  # pytest puts such names beside the user's
        if name in space:
            self.watch.names.append((space, name, space[name]))
            if not _is_filled(space[name], name, codes):
                self.value(space[name], names)
        elif hasattr(builtins, name):
            self.watch.names.append((space, name, None))
        elif name in sys.modules:
            self.value(sys.modules[name], names)

    def value(self, value: Any, names: tuple[str, ...] = ()) -> None:
        """What a value depends on; of a module of the user's the attributes that code names."""
        if records.is_closed(value):
            return
        if isinstance(value, types.ModuleType):
            self.module(value, names)
        elif records.is_record(value):
            self.classes[value] = None
        elif records.is_record(type(value)):
            self.classes[type(value)] = None
            self.container(value)
        elif isinstance(value, (dict, list, tuple, np.ndarray)):
            self.container(value)
        elif is_users(value) or is_derivative(value) or _is_python_callable(value):
            self.callable(value)
        elif is_jacobian(value):
            self.callable(value.primal)

    def module(self, module: types.ModuleType, names: tuple[str, ...]) -> None:
        """The attributes of a module."""
        space = records.own_dict(module)
        if records.is_foreign(str(space.get("__name__"))):
            return
        installed = "site-packages" in str(space.get("__file__"))
        for name in names:
            if name in space and (id(module), name) not in self.asked:  # they may name each other
                self.asked.add((id(module), name))
                self.watch.attributes.add((id(space), name))
                self.watch.names.append((space, name, space[name]))
                if not installed:  # what others have written does not change while it runs
                    self.value(space[name], names)

    def container(self, value: Any) -> None:
        """The kind of a container or array, and the functions in it."""
        if id(value) in self.seen:
            return
        self.seen.add(id(value))
        self.watch.held.append((value, key_of(value)))
        if isinstance(value, np.ndarray):
            return
        if records.is_record(type(value)):
            value = records.attributes(value)
        for _, item in records.held_in(value):
            held = isinstance(item, (dict, list, tuple)) or records.is_record(type(item))
            if callable(item) or held:
                self.value(item)

    def members(self) -> None:
        """The members of the classes whose names occur in code, until there are no more."""
        done: set[tuple[type, str]] = set()
        while True:
            words = (*self.words, *_SPECIAL)
            new = [p for c in self.classes for n in words if (p := (c, n)) not in done]
            if not new:
                return
            done.update(new)
            for cls, name in new:
                self.member(cls, name)

    def member(self, cls: type, name: str) -> None:
        """One member of a class, if there is one of this name."""
        value = records.member(cls, name)
        if value is records.MISSING or isinstance(value, types.MemberDescriptorType):
            return
        self.watch.reads.append(((lambda: records.member(cls, name)), value))
        self.watch.members.append((cls, name, value))
        self.value(value, tuple(self.words))
        parts = (getattr(value, k, None) for k in ("fget", "fset", "__func__", "func"))
        for part in parts:
            self.value(part)


_WORDS = (
    """init call len getitem setitem iter contains bool neg pos abs float int complex eq lt le gt ge
    ne add radd iadd sub rsub isub mul rmul imul truediv rtruediv itruediv matmul rmatmul imatmul
    pow rpow ipow mod rmod floordiv rfloordiv post_init copy"""
)
_SPECIAL = tuple(f"__{name}__" for name in _WORDS.split())


def _texts(code: types.CodeType) -> Iterator[str]:
    """The texts in code that may be names of attributes: `getattr(x, "name")`."""
    if not _READERS.isdisjoint(code.co_names):
        for const in code.co_consts:
            yield from (c for c in (const if type(const) is tuple else (const,)) if _is_word(c))


_READERS = frozenset({"getattr", "hasattr", "vars", "attrgetter", "methodcaller", "__dict__"})


def _is_word(const: Any) -> bool:
    return isinstance(const, str) and const.isidentifier()


def _is_python_callable(value: Any) -> bool:
    """Whether a value is a partial, or an object of the user's that can be called."""
    if isinstance(value, (functools.partial, functools._lru_cache_wrapper)):
        return True
    method = inspect.getattr_static(type(value), "__call__", None)
    return isinstance(method, types.FunctionType) and is_users(method)


def _is_filled(value: Any, name: str, codes: Codes) -> bool:
    """Whether code only appends to a list, or to one in a dict: what it holds does not matter."""
    return (type(value) is list or type(value) is dict) and is_only_filled(name, codes)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def cell_of(read: Read) -> types.CellType | None:
    """The closure variable that is read somewhere, None if it is something else."""
    is_reader = type(read) is functools.partial and read.func is _content
    return read.args[0] if is_reader else None  # type: ignore[attr-defined]


# --- all that a derivative depends on, as a text that is the same in every process ---------------


def said_by(
    origin: Any, request: Request, kinds: Mapping[str, ir.Kind], target: ir.Target, watch: Watch
) -> str | None:
    """What a module is found by; None if something cannot be said."""
    (_, rules), *reads = watch.reads
    asked = repr((request, target, tuple(kinds.items())))
    from srcdiff.backends.numba import cache

    special = rules or watch.members or request.validate or request.verify
    classes = any(cls for kind in kinds.values() for cls in ir.classes_in(kind))
    plain = type(origin) is types.FunctionType and " at 0x" not in asked and not classes
    if special or not target.native or not plain or cache.entry_of("", "") is None:
        return None
    said = _Said([f for f, *_ in watch.functions])
    parts = [
        *cache.versions(), *_of_ours(), asked,
        *(said.function(f) for f, *_ in watch.functions),
        *(said.of(value) for _, value in reads),
        *(said.of(value) for value, _ in watch.held),
        *(f"{space.get('__name__')} {name} {said.of(v)}" for space, name, v in watch.names),
    ]  # fmt: skip
    return None if said.is_open else hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]


class _Said:
    """What values hold, as a text that is the same in every process."""

    def __init__(self, functions: list[Any]) -> None:
        self.places = {id(f): k for k, f in enumerate(functions)}
        self.is_open = False

    def of(self, value: Any) -> str:
        """A number, text, container of such, function or module."""
        if type(value) in PLAIN or isinstance(value, (np.number, np.bool_)):
            return f"{type(value).__name__} {value!r}"
        if type(value) in (tuple, list):
            return f"{type(value).__name__}({', '.join(map(self.of, value))})"
        if type(value) is dict:
            return f"dict({', '.join(f'{self.of(k)}: {self.of(v)}' for k, v in value.items())})"
        if id(value) in self.places:
            return f"function {self.places[id(value)]}"
        if isinstance(value, types.ModuleType):
            return f"module {_with_version(value.__name__)}"
        found = _home(value)
        self.is_open |= found is None
        return str(found)

    def function(self, f: types.FunctionType) -> str:
        """A function but for what it captures: its code, its lines, and its defaults."""
        self.is_open |= bool(f.__dict__.keys() - {"__srcdiff_made__", "__wrapped__"})
        by_name = sorted((f.__kwdefaults__ or {}).items())
        notes = {name: repr(note) for name, note in f.__annotations__.items()}
        defaults = self.of(f.__defaults__), self.of(by_name), self.of(notes)
        named = f.__module__, f.__qualname__
        return repr((*named, *_code(f.__code__), _lines(f.__code__), defaults))


def _home(value: Any) -> str | None:
    """Where a function or class of a library is found; None of what says so without being there."""
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", getattr(value, "__name__", None))
    if type(module) is not str or type(name) is not str:
        return None
    held: Any = sys.modules.get(module)
    for part in name.split("."):
        held = getattr(held, part, None)
    known = held is value and records.is_foreign(module)
    return f"{_with_version(module)} {name}" if known else None


def _code(code: types.CodeType) -> tuple[Any, ...]:
    """What code does, and where it stands."""
    consts = tuple(_code(c) if isinstance(c, types.CodeType) else _const(c) for c in code.co_consts)
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    return code.co_code, consts, names, counts, code.co_filename, tuple(code.co_lines())


def _const(value: Any) -> str:
    """A constant of code; the order of a set is another one in each process."""
    held = sorted(map(_const, value)) if isinstance(value, frozenset) else value
    return f"{type(value).__name__} {held!r}"


def _lines(code: types.CodeType) -> str:
    """The lines of the source of code, with their comments."""
    found = [line for *_, line in code.co_lines() if line]
    lines = linecache.getlines(code.co_filename)
    return "".join(lines[code.co_firstlineno - 1 : max(found, default=0)])


def _with_version(module: str) -> str:
    """A module with the version of its package."""
    package = sys.modules.get(module.split(".")[0])
    return f"{module} {getattr(package, '__version__', '')}"


@functools.cache
def _of_ours() -> tuple[str, ...]:
    """What else makes modules: srcdiff and its rules by their files, and if Python asserts."""
    ours = {*_files(Path(__file__).parents[1]), *_files(folder())}
    return (str(sys.flags.optimize), *sorted(ours))


def _files(place: Path) -> Iterator[str]:
    """The files below a place, when they were written and how long they are."""
    for path in (*place.rglob("*.py"), *place.rglob("*.txt")):
        found = path.stat()
        yield f"{path.relative_to(place)} {found.st_mtime_ns} {found.st_size}"
