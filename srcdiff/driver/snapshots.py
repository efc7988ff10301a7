"""What is outside of a function, as it was when a pullback was made, and whether it is so still.

The backward part reads it by names, and by the attributes of modules, classes and objects; what
changes it later is not for it to see.  Takes the values of then and of now; says what differs.
"""

from __future__ import annotations
import __future__

import ast
import collections
import functools
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from srcdiff.frontend.source.locate import all_codes
from srcdiff.runtime import records
from srcdiff.runtime.copies import PLAIN, Memo, Words, attributes, copied, is_open
from srcdiff.runtime.devices import is_any_array, is_device_array
from srcdiff.runtime.records import is_foreign
from srcdiff.runtime.scipy.sparse import is_sparse

_EQUAL = (str, bytes, range, slice, np.dtype, types.MethodType, set, frozenset)
"""Types whose values are the same where they are equal."""

Seen = set[tuple[int, int]]


def same(now: Any, then: Any, words: Words = None, seen: Seen | None = None) -> bool:
    """Whether a value is what it was when it was copied; of objects the attributes among words."""
    if now is then:
        return True
    if type(now) is not type(then) and not (is_any_array(now) and is_any_array(then)):
        return False
    one, two = held_by(now, words), held_by(then, words)
    if one is None or two is None:
        return _same_leaf(now, then)
    seen = set() if seen is None else seen
    if not isinstance(now, tuple):  # of an object that holds itself once
        if (id(now), id(then)) in seen:
            return True
        seen.add((id(now), id(then)))
    return list(one) == list(two) and all(same(one[k], v, words, seen) for k, v in two.items())


def held_by(value: Any, words: Words = None) -> Mapping[Any, Any] | None:
    """What a container, a sparse matrix or an object holds, by key; None for other values.

    Of objects these are the attributes among words.
    """
    if isinstance(value, Mapping):
        return value
    if isinstance(value, (list, tuple, collections.deque)):
        return dict(enumerate(value))
    if is_sparse(value):
        return {k: v for k, v in vars(value).items() if isinstance(v, (np.ndarray, dict, tuple))}
    if not is_open(value):
        return None
    found = attributes(value)
    return found if words is None else {k: v for k, v in found.items() if k in words}


def contents(value: Any) -> Iterator[tuple[Any, Mapping[Any, Any] | None]]:
    """A value and all that it holds, each object once, with what it holds itself (`held_by`)."""
    seen: dict[int, Any] = {}
    todo = [value]
    while todo:
        one = todo.pop()
        if id(one) not in seen:
            seen[id(one)] = one
            parts = None if type(one) in PLAIN or is_any_array(one) else held_by(one)
            todo += () if parts is None else parts.values()
            yield one, parts


def _same_leaf(now: Any, then: Any) -> bool:
    """Whether an array, a number or a text is what it was; another object is another value."""
    if is_any_array(then):
        return now.shape == then.shape and now.dtype == then.dtype and _same_array(now, then)
    if isinstance(then, (int, float, complex, np.generic)):
        return bool(now == then or (now != now and then != then))
    return isinstance(then, _EQUAL) and bool(now == then)


def _same_array(now: Any, then: Any) -> bool:
    """Whether the elements of an array are what they were."""
    if is_device_array(now) or is_device_array(then):
        return type(now) is type(then) and bool((now == then).all())
    if then.dtype.hasobject:
        return all(map(same, now.ravel(), then.ravel()))
    return np.array_equal(now, then, equal_nan=then.dtype.kind in "fc")


# --- what is outside of a function, as it was when a pullback was made ---------------------------


Path = tuple[str, ...]
"""A variable, and the attributes that lead on from it."""

Snapshot = Mapping[Path, Any]


class Outside:
    """What the two parts of a gradient read from outside."""

    def __init__(self, text: str, forward: Any, backward: Any) -> None:
        self._text, self.forward, self.backward = text, forward, backward
        self._space: dict[str, Any] = backward.__globals__
        self._anew: dict[tuple[Path, ...], types.CodeType] = {}

    @functools.cached_property
    def words(self) -> Words:
        """The attributes that the two parts may read; None where they call what reads any."""
        if any(_is_called(v, self._space) for v in self._space.values()):
            return None
        return frozenset(n for f in self._functions() for n in _names(f))

    @functools.cached_property
    def paths(self) -> tuple[Path, ...]:
        """What the backward part reads that may be written into, or be another object later."""
        return self._found(f for f in self._functions() if f is not self.forward)

    @functools.cached_property
    def all_paths(self) -> tuple[Path, ...]:
        """The same of both parts."""
        return self._found(self._functions())

    def held(self) -> list[Any]:
        """What can be written into of that which both parts read."""
        return [v for _, v in map(self._at, self.all_paths) if _has_memory(v)]

    def now(self, paths: Iterable[Path], memo: Memo) -> Snapshot:
        """A copy of what some paths lead to that can be something else later."""
        found = dict(self._at(p) for p in paths)
        there = {p: v for p, v in found.items() if v is not records.MISSING}
        changes = {p: v for p, v in there.items() if len(p) > 1 or _has_memory(v)}
        return {p: copied(v, memo, self.words) for p, v in changes.items()}

    def changed(self, then: Snapshot) -> list[Path]:
        """The paths that lead to something else than they did."""
        return [p for p, v in then.items() if not same(self._at(p)[1], v, self.words)]

    def differs(self, before: Outside, then: Snapshot) -> str | None:
        """What is not as it was for what was generated before, None if nothing is."""
        if self is not before:
            one, two = self._space, before.values()
            names = [n for n, v in two.items() if n not in one or not same(one[n], v)]
            if names or self._text != before._text:
                return f"`{names[0]}`" if names else "what it reads from outside"
        changed = self.changed(then)
        return f"`{'.'.join(changed[0])}`" if changed else None

    def as_then(self, then: Snapshot) -> Any:
        """The backward part, reading what was there then if that has changed."""
        if not self.changed(then):
            return self.backward
        code = self._anew.get(tuple(then))
        if code is None:
            code = self._anew.setdefault(tuple(then), self._compiled(tuple(then)))
        space = {**self._space, **{".".join(path): value for path, value in then.items()}}
        exec(code, space)
        return space[self.backward.__name__]

    def values(self) -> dict[str, Any]:
        """The numbers, texts and functions of others that have names in the text."""
        own = {f.__name__ for f in self._functions()}
        found = {n: v for n, v in self._space.items() if not _has_memory(v) and n not in own}
        return {n: v for n, v in found.items() if not n.startswith("__") and not _is_ours(v)}

    def _functions(self) -> Iterator[types.FunctionType]:
        """The functions that were generated together."""
        for value in self._space.values():
            if isinstance(value, types.FunctionType) and value.__globals__ is self._space:
                yield value

    def _found(self, functions: Iterable[types.FunctionType]) -> tuple[Path, ...]:
        """The paths in some functions."""
        roots = {n for n, v in self._space.items() if _is_space(v) or _has_memory(v)}
        by_name = {f.__name__: f for f in functions if not roots.isdisjoint(_names(f))}
        found: dict[Path, None] = {}
        for node in ast.parse(self._text).body if by_name else ():
            if isinstance(node, ast.FunctionDef) and node.name in by_name:
                found.update(dict.fromkeys(_paths(node, roots - _locals(by_name[node.name]))))
        return tuple(found)

    def _at(self, path: Path) -> tuple[Path, Any]:
        """What a path leads to, as far as it is one of attributes that can be set."""
        value, used = self._space[path[0]], 1
        while used < len(path) and _is_space(value):
            value = getattr(value, path[used], records.MISSING)
            used += 1
        return path[:used], value

    def _compiled(self, paths: tuple[Path, ...]) -> types.CodeType:
        """The text with variables for what paths lead to."""
        tree = ast.parse(self._text)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                known = _locals(self._space[node.name])
                _Renamed({p for p in paths if p[0] not in known}).visit(node)
        flags, filename = __future__.annotations.compiler_flag, self.backward.__code__.co_filename
        made: types.CodeType = compile(tree, filename, "exec", flags, dont_inherit=True)
        return made


class _Renamed(ast.NodeTransformer):
    """Puts variables in the place of attributes."""

    def __init__(self, paths: set[Path]) -> None:
        self.paths = paths

    def visit(self, node: ast.AST) -> ast.AST:
        """A part of the text."""
        path = _path(node)
        is_read = isinstance(getattr(node, "ctx", None), (ast.Load, type(None)))
        if len(path) > 1 and path in self.paths and is_read:
            return ast.copy_location(ast.Name(".".join(path), ast.Load()), node)
        found: ast.AST = self.generic_visit(node)
        return found


def _path(node: ast.AST) -> Path:
    """The path that an expression is, as `getattr(x, "y")` or `vars(x)["y"]` too; () for none."""
    match node:
        case ast.Name(id=name):
            return (name,)
        case (
            ast.Attribute(value=base, attr=str(key))
            | ast.Call(ast.Name("getattr"), [base, ast.Constant(str(key))])
            | ast.Subscript(ast.Call(ast.Name("vars"), [base]), ast.Constant(str(key)))
        ):
            inner = _path(base)
            return (*inner, key) if inner else ()
    return ()


def _paths(node: ast.AST, roots: set[str]) -> Iterator[Path]:
    """The longest paths in a text from some variables."""
    path = _path(node)
    if path:
        if path[0] in roots:
            yield path
        return
    for child in ast.iter_child_nodes(node):
        yield from _paths(child, roots)


def _names(f: types.FunctionType) -> frozenset[str]:
    """The names of variables from outside and of attributes in the code of a function."""
    return frozenset(n for code in all_codes(f.__code__) for n in code.co_names)


def _locals(f: types.FunctionType) -> frozenset[str]:
    """The names of the variables of a function."""
    codes = list(all_codes(f.__code__))
    return frozenset(n for c in codes for n in (*c.co_varnames, *c.co_cellvars))


def _is_space(value: Any) -> bool:
    """Whether the attributes of a value are the user's, who may set them."""
    if isinstance(value, types.ModuleType):
        return not is_foreign(value.__name__)
    if isinstance(value, (type, types.FunctionType)):
        return not is_foreign(value.__module__ or "")
    return is_open(value)


def _has_memory(value: Any) -> bool:
    """Whether a value is an array or a container, or holds something that can be written into."""
    if isinstance(value, tuple):
        return any(type(v) not in PLAIN and _has_memory(v) for v in value)
    known = isinstance(value, (list, dict, set, collections.deque)) or is_sparse(value)
    return known or is_any_array(value) or is_open(value)


def _is_ours(value: Any) -> bool:
    """Whether a value is a function that generated texts call, which may be made for each."""
    return str(getattr(value, "__module__", "")).split(".")[0] == "srcdiff"


def _is_called(value: Any, space: Mapping[str, Any]) -> bool:
    """Whether a value is a function of the user's, which reads what nobody knows."""
    if isinstance(value, (type, types.ModuleType)) or not callable(value):
        return False
    generated = isinstance(value, types.FunctionType) and value.__globals__ is space
    module = getattr(value, "__module__", None) or type(value).__module__
    return isinstance(value, functools.partial) or not (generated or is_foreign(module))
