"""What a value or function is, as a text that is the same in every process: for hashes.

The text of a function is the same however it is indented and formatted.  Nothing of the user's runs
here but descriptors of slots.  What a value cannot be looked into for is described by its class
alone.
"""

from __future__ import annotations

import abc
import ast
import collections
import enum
import functools
import hashlib
import inspect
import io
import textwrap
import tokenize
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from srcdiff.backends.references import value_text
from srcdiff.codegen.expression_text import literal
from srcdiff.errors import TransformError
from srcdiff.frontend.source.locate import all_codes, definition, lines_of
from srcdiff.ir import GENERATED
from srcdiff.runtime.records import attributes, is_foreign, is_record
from srcdiff.runtime.service import is_derivative


def function_text(function: types.FunctionType) -> str:
    """The lines of a function, decorators included; what code says where there are none."""
    if function.__code__.co_filename.startswith("<string>"):  # what `dataclass` makes
        return " ".join(function.__code__.co_varnames)
    try:
        lines = lines_of(function)
        node = definition(function, lines)
    except TransformError:
        return " ".join(_words(function))
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(d.lineno for d in decorators)])
    block = textwrap.dedent("".join(lines[first - 1 : node.end_lineno]))
    return unformatted("\n".join(line.rstrip() for line in block.splitlines()) + "\n")


def unformatted(text: str) -> str:
    """What a text says, with its comments, the same in every Python version."""
    try:
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        comments = [t.string.lstrip("# ") for t in tokens if t.type == tokenize.COMMENT]
        return "\n".join([_spelled(ast.parse(text)), *comments])
    except (SyntaxError, tokenize.TokenError):  # a part of a statement
        return text


def _spelled(node: Any) -> str:
    """A syntax tree as text, without what is empty."""
    if isinstance(node, list):
        return f"[{' '.join(map(_spelled, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        value = node.value.value  # a docstring, which may be indented anew
        return repr(inspect.cleandoc(value).rstrip() if isinstance(value, str) else value)
    if isinstance(node, ast.Constant):
        return repr(node.value)
    parts = ((k, v) for k, v in ast.iter_fields(node) if v not in (None, []))
    return f"{type(node).__name__}({' '.join(f'{k}={_spelled(v)}' for k, v in parts)})"


def _words(function: types.FunctionType) -> Iterator[str]:
    """The names and the numbers that occur in code."""
    for code in all_codes(function.__code__):
        yield from (*code.co_varnames, *code.co_names)
        yield from (repr(c) for c in code.co_consts if isinstance(c, (str, float, complex)))


# --- values ---------------------------------------------------------------------------------------


_SHORT = 16
_LONGEST = 200  # longer texts are hashed where they are part of others
_DEEPEST = 60
_ATOMS = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range)
_WRITTEN = (np.dtype, np.number, np.bool_)
_INEXACT = (float, complex, np.inexact)


def sha(text: str) -> str:
    """A short hash of a text."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_SHORT]


def described(value: Any) -> str:
    """The text of a value that a name outside of a function stands for.

    What can be written into a file is described with all that it holds.  The rest is imported by
    files and read when they run, so that of its floating point numbers the types count alone.
    """
    held = issubclass(type(value), _CONTAINERS) and not is_written(value)
    return _Describing().of(value, held or _is_object(type(value)))


def is_written(value: Any, depth: int = 0) -> bool:
    """Whether a value, with all that it holds, can be written into a file."""
    cls = type(value)
    if cls in _ATOMS:
        return True
    if cls not in (tuple, list, dict):
        return _atom(value) is not None
    if depth > _DEEPEST:
        return False
    if cls is dict and not all(type(key) in _ATOMS for key in value):
        return False
    items = value.values() if cls is dict else value
    return all(is_written(item, depth + 1) for item in items)


def class_name(cls: type) -> str:
    """The name of a class, of a library without the module inside of it: that may move."""
    module, name = (type.__dict__[k].__get__(cls) for k in ("__module__", "__qualname__"))
    module = module if isinstance(module, str) else type(module).__name__
    return f"{module.split('.')[0] if is_foreign(module) else module}.{name}"


def _atom(value: Any) -> str | None:
    """The text of what holds nothing else, and of a slice; None if there is none."""
    cls = type(value)
    if cls is np.ndarray or cls is slice or issubclass(cls, _WRITTEN):
        return value_text(value, lambda: "np")
    return None


def _plain(value: Any, loose: bool) -> str:
    """The text of a value of a builtin type that holds nothing else."""
    if loose and type(value) in (float, complex):
        return type(value).__name__
    try:
        return _shortened(repr(value) if type(value) is range else literal(value))
    except ValueError:  # an integer of thousands of digits
        return _shortened(hex(value))


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else sha(text)


_CONTAINERS = (dict, list, tuple, set, frozenset, collections.deque, types.MappingProxyType)


def _is_object(cls: type) -> bool:
    record = type(cls) in (type, abc.ABCMeta) and is_record(cls)
    return cls is types.SimpleNamespace or record and not issubclass(cls, tuple)


class _Describing:
    """One description: what is described already, and what is being described."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, bool], tuple[Any, str]] = {}
        self.open: list[int] = []

    def of(self, value: Any, loose: bool = False) -> str:
        """The text of a value; `loose`: without floating point numbers."""
        if type(value) in _ATOMS:
            return _plain(value, loose)
        key = id(value), loose
        if key not in self.known:
            if id(value) in self.open:  # a cycle: how far up it began
                return f"^{len(self.open) - self.open.index(id(value))}"
            if len(self.open) > _DEEPEST:
                return f"{class_name(type(value))} ..."
            self.open.append(id(value))
            try:
                text = self._text(value, loose)
            except Exception:  # whatever a descriptor or a metaclass of the user's raises
                text = class_name(type(value))
            self.known[key] = value, _shortened(text)
            self.open.pop()
        return self.known[key][1]

    def _text(self, value: Any, loose: bool) -> str:
        """The text of a value that is not known yet."""
        cls = type(value)
        if loose and issubclass(cls, _INEXACT):
            return class_name(cls)
        atom = None if loose and cls is np.ndarray else _atom(value)
        if atom is not None or cls is np.ndarray:
            return atom or f"{value.dtype.name} {value.shape}"
        for kind, text in _TEXTS:
            if issubclass(cls, kind):
                return text(self, value, loose)
        if is_derivative(value):
            return f"{class_name(cls)} {self.of(value.primal)} {self.of(_asked(value))}"
        if _is_object(cls):
            held = vars(value) if cls is types.SimpleNamespace else attributes(value)
            return f"{class_name(cls)} {self.items(held.items(), True)}"
        return self._other(value)

    def items(self, items: Iterable[tuple[Any, Any]], loose: bool) -> str:
        """The text of keys with values, in their order."""
        return f"{{{', '.join(f'{self.of(k)}: {self.of(v, loose)}' for k, v in items)}}}"

    def several(self, items: Iterable[Any], loose: bool = False) -> str:
        """The text of values, in their order."""
        return f"[{', '.join(self.of(item, loose) for item in items)}]"

    def mapping(self, value: Any, loose: bool) -> str:
        """A dict, or an object of a class that derives from it."""
        made = collections.defaultdict
        factory = f" {self.of(value.default_factory)}" if type(value) is made else ""
        return f"{class_name(type(value))}{factory} {self.items(dict.items(value), loose)}"

    def sequence(self, value: Any, loose: bool) -> str:
        """A tuple, list or queue, or an object of a class that derives from these."""
        return f"{class_name(type(value))} {self.several(_items(value), loose)}"

    def set(self, value: Any, loose: bool) -> str:
        """A set, which has no order."""
        return f"{class_name(type(value))} {sorted(map(self.of, _items(value)))}"

    def enumerated(self, value: Any, loose: bool) -> str:
        """A member of an enumeration."""
        held, cls = object.__getattribute__(value, "__dict__"), type(value)
        name = held.get("_name_")
        known = name in _members(cls)  # not made by `|`
        return f"{class_name(cls)}.{name if known else ''} {self.of(held.get('_value_'))}"

    def function(self, value: types.FunctionType, loose: bool) -> str:
        """A function: its name, text and defaults, and what it has from around it."""
        name = f"{value.__module__}.{value.__qualname__}"
        if is_foreign(value.__module__ or ""):
            return f"{name.split('.')[0]}.{value.__qualname__}"
        if value.__code__.co_filename.startswith(GENERATED):
            return f"generated {value.__qualname__}"
        return f"{name} {self.code(value)} {self.items(cells(value), False)}"

    def code(self, value: types.FunctionType) -> str:
        """The text and the defaults of a function, as a hash."""
        by_name = sorted((value.__kwdefaults__ or {}).items())
        defaults = self.several(value.__defaults__ or ()), self.items(by_name, False)
        return sha("\n".join((function_text(value), *defaults)))

    def method(self, value: types.MethodType, loose: bool) -> str:
        """A method with its object."""
        if type(value.__func__) is not types.FunctionType:  # of a compiled class
            return self._other(value)
        return f"method {self.of(value.__func__)} {self.of(value.__self__, True)}"

    def partial(self, value: Any, loose: bool) -> str:
        """A function with some of its arguments."""
        named = self.items(value.keywords.items(), False)
        return f"partial {self.of(value.func)} {self.several(value.args)} {named}"

    def _other(self, value: Any) -> str:
        """A function or an object of a library, with functions in it; else a class alone."""
        made = class_name(type(value))
        if not is_foreign(made):
            return made
        inner = getattr(value, "__srcdiff_primal__", getattr(value, "__wrapped__", None))
        held = getattr(value, "__dict__", None)
        items = sorted(held.items()) if type(held) is dict else []
        own = [(k, v) for k, v in [("", inner), *items] if _is_of_the_user(v)]
        return (_called(value) or made) + (f" {self.items(own, False)}" if own else "")


_TEXTS: tuple[tuple[Any, Callable[[_Describing, Any, bool], str]], ...] = (
    (enum.Enum, _Describing.enumerated),
    (enum.EnumMeta, lambda d, v, _: f"{class_name(v)} {d.several(_members(v).values())}"),
    (dict, _Describing.mapping),
    (types.MappingProxyType, lambda d, v, loose: f"view {d.items(dict(v).items(), loose)}"),
    ((tuple, list, collections.deque), _Describing.sequence),
    ((set, frozenset), _Describing.set),
    (slice, lambda d, v, _: f"slice {d.several((v.start, v.stop, v.step))}"),
    (np.dtype, lambda d, v, _: f"dtype {v}"),
    (type, lambda d, v, _: f"class {class_name(v)}"),  # what it holds is described for itself
    (types.FunctionType, _Describing.function),
    (types.MethodType, _Describing.method),
    (functools.partial, _Describing.partial),
    ((staticmethod, classmethod), lambda d, v, _: f"{type(v).__name__} {d.of(v.__func__)}"),
    (functools.cached_property, lambda d, v, _: f"{type(v).__name__} {d.of(v.func)}"),
    (functools._lru_cache_wrapper, lambda d, v, _: f"cached {d.of(v.__wrapped__)}"),
    (property, lambda d, v, _: f"property {d.several((v.fget, v.fset))}"),
    (types.ModuleType, lambda d, v, _: f"module {_module_name(v)}"),
)
"""The text of a value by its class, of a dtype one with fields; without floating point numbers
where it is `loose`."""


def _module_name(module: Any) -> Any:
    """The name of a module, without what it says of its attributes itself."""
    return types.ModuleType.__getattribute__(module, "__name__")


def _items(value: Any) -> Iterator[Any]:
    """What a container holds, whatever its class says of that."""
    kind = next(c for c in type(value).__mro__ if c in _CONTAINERS)
    return kind.__iter__(value)


def _members(cls: Any) -> Any:
    """The members of an enumeration by their names."""
    return type.__getattribute__(cls, "_member_map_")


def code_hash(function: types.FunctionType) -> str:
    """A hash of the text and the defaults of a function."""
    return _Describing().code(function)


def cells(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """The variables that a function has from the functions around it, as far as they are bound."""
    if function.__code__.co_filename.startswith("<string>"):
        return  # what `dataclass` makes has other ones in every version of Python
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not bound yet
            continue


def _asked(derivative: Any) -> Any:
    """The options of a derivative."""
    options = getattr(derivative, "options", None)
    return sorted(vars(options).items()) if hasattr(options, "__dict__") else None


def _is_of_the_user(value: Any) -> bool:
    """Whether a value is a function of the user's, perhaps with some arguments."""
    inner = value.func if type(value) is functools.partial else value
    return type(inner) is types.FunctionType and not is_foreign(inner.__module__ or "")


def _called(value: Any) -> str:
    """The name of a function of a library; nothing for what has none."""
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(name, str):
        return ""
    if isinstance(value, np.ufunc):  # which tells its module in some versions of NumPy
        return f"ufunc {name}"
    module = getattr(value, "__module__", None) or class_name(type(value))
    return f"{str(module).split('.')[0]}.{name}"
