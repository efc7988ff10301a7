"""Classes of values that nobody changes: two are equal where their fields are.

`@frozen` makes what `dataclass(frozen=True)` makes, in a twentieth of the time, which a program
spends when it imports srcdiff.  The constructors of plain classes are one code object for each
number of fields, under other names; what `dataclasses` keeps of a class it finds out when it is
asked.  That nothing stores into a field is for the type checker to see, but for what is found out
about a value (`remembered`).

`Choice` makes of a class what `Enum` does; its members are read as other attributes of classes are,
which costs a fifth of the time.
"""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

T = TypeVar("T")

if TYPE_CHECKING:
    import enum
    from dataclasses import replace as replace

    from typing_extensions import dataclass_transform

    Choice = enum.Enum
else:

    class _Choices(type):
        """The class of a class that is one of a few values, which are its attributes."""

        def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> Any:
            """A class whose public attributes become members; its methods stay methods."""
            made = super().__new__(cls, name, bases, {"__slots__": (), **space})
            listed = [n for n, v in space.items() if n[0] != "_" and not hasattr(v, "__get__")]
            made._members = [made._member(n, space[n]) for n in listed]
            return made

        def _member(cls, name: str, value: object) -> Any:
            """A member by its name."""
            member = object.__new__(cls)
            member.name, member.value = name, value
            setattr(cls, name, member)
            return member

        def __iter__(cls) -> Iterator[Any]:
            """Every member."""
            return iter(cls._members)

        def __len__(cls) -> int:
            return len(cls._members)

        def __contains__(cls, value: object) -> bool:
            return type(value) is cls

    class _Named:
        """What a member has."""

        __slots__ = ("name", "value")

    class Choice(_Named, metaclass=_Choices):
        """A class that is one of a few values: it lists them, each with what it stands for."""

        def __repr__(self) -> str:
            return f"{type(self).__name__}.{self.name}"

        def __reduce__(self) -> tuple[Any, ...]:
            return getattr, (type(self), self.name)

    def replace(value: T, /, **changes: Any) -> T:
        """A value like another one but for some fields; faster where its class is made here."""
        names = getattr(value, "__srcdiff_fields__", None)
        if names is None:
            return dataclasses.replace(value, **changes)
        kept = {name: getattr(value, name) for name in names if name not in changes}
        return type(value)(**kept, **changes)

    def dataclass_transform(**_: Any) -> Callable[[T], T]:
        """What tells type checkers that a decorator makes dataclasses."""
        return lambda decorator: decorator


def remembered(*, init: Literal[False] = False) -> Any:
    """A field for what is found out about a value: None, and no part of it, until `remember`."""
    return dataclasses.field(default=None, init=init, repr=False, compare=False)


def remember(value: object, field: str, found: T) -> T:
    """Keep what was found out about a value, and nothing can change, in a field for it."""
    setattr(value, field, found)
    return found


@overload
def frozen(cls: type[T], /) -> type[T]: ...
@overload
def frozen(*, eq: bool = True, slots: bool = False) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field, remembered))
def frozen(cls: type[T] | None = None, /, *, eq: bool = True, slots: bool = False) -> Any:
    """A class with a constructor, equality and a hash by its fields; by identity without `eq`.

    With `slots` a value has its fields and no other attributes: what is read most is read faster.
    """
    if cls is None:
        return lambda cls: _made(cls, eq, slots)
    return _made(cls, eq, slots)


@dataclass_transform(field_specifiers=(dataclasses.field,))
def state(cls: type[T], /) -> type[T]:
    """A class with a constructor, whose fields change: what a pass knows as it goes."""
    return _made(cls, eq=False, slots=False)


def _made(cls: type[T], eq: bool, slots: bool) -> type[T]:
    """The class with what its fields make."""
    if not slots and _is_plain(cls):
        fields = _constructed(cls)
    else:
        cls, fields = _by_dataclasses(cls, slots)
    given = {"__repr__": _shown(tuple(n for n, f in fields.items() if f is None or f.repr))}
    if eq:
        given |= _by_value(tuple(n for n, f in fields.items() if f is None or f.compare))
    own = dict(vars(cls))
    for name, method in given.items():
        if own.get(name) is None:
            setattr(cls, name, method)
    return cls


Fields = Mapping[str, "dataclasses.Field[Any] | None"]
"""The fields of a class, with what `field` says of one."""


def _is_plain(cls: type) -> bool:
    """Whether a class has fields of its own alone, and nothing to do after its constructor."""
    kinds = vars(cls).get("__annotations__", {}).values()
    inherits = hasattr(cls, "__dataclass_fields__") or hasattr(cls, "__post_init__")
    return not inherits and not any("ClassVar" in str(kind) for kind in kinds)


def _by_dataclasses(cls: Any, slots: bool) -> tuple[Any, Fields]:
    """A class made by `dataclasses`, whatever its fields are."""
    made = dataclasses.dataclass(repr=False, eq=False, slots=slots)(cls)
    fields = {f.name: f for f in dataclasses.fields(made)}
    made.__srcdiff_fields__ = tuple(name for name, f in fields.items() if f.init)
    return made, fields


def _constructed(cls: Any) -> Fields:
    """A class with a constructor that stores its arguments."""
    own = vars(cls)
    names = tuple(own.get("__annotations__", ()))
    said = {n: f for n in names if isinstance(f := own.get(n), dataclasses.Field)}
    for name, field in said.items():  # whose default stays in its place in the class
        if field.default is _NONE:
            delattr(cls, name)
        else:
            setattr(cls, name, field.default)
    factories = {n: f.default_factory for n, f in said.items() if f.default_factory is not _NONE}
    defaults = (_NONE if n in factories else own.get(n, _OPEN) for n in names)
    constructor = FunctionType(
        _code(names, tuple(factories)), {"_NONE": _NONE, "_factories": factories}, "__init__",
        tuple(d for d in defaults if d is not _OPEN),
    )  # fmt: skip
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"
    cls.__init__ = constructor
    cls.__srcdiff_fields__ = names
    cls.__dataclass_fields__ = _Fields(cls, said)
    return {n: said.get(n) for n in names}


_NONE, _OPEN = dataclasses.MISSING, object()


def _code(names: tuple[str, ...], factories: tuple[str, ...]) -> CodeType:
    """The code of a constructor: of one with as many fields, under these names."""
    code = _stores(len(names), tuple(map(names.index, factories)))
    new = {f"_{k}": name for k, name in enumerate(names)}
    constants = tuple(new.get(c, c) if isinstance(c, str) else c for c in code.co_consts)
    return code.replace(
        co_varnames=("self", *names), co_names=tuple(new.get(n, n) for n in code.co_names),
        co_consts=constants,
    )  # fmt: skip


@functools.cache
def _stores(count: int, made: tuple[int, ...]) -> CodeType:
    """The code of a constructor of so many fields, some of which are made where none is given."""
    names = [f"_{k}" for k in range(count)]
    values = list(names)
    for k in made:
        values[k] = f"_factories['_{k}']() if _{k} is _NONE else _{k}"
    stores = "; ".join(f"self.{n} = {v}" for n, v in zip(names, values, strict=True)) or "pass"
    namespace: dict[str, Any] = {}
    exec(f"def __init__({', '.join(['self', *names])}): {stores}", namespace)
    code: CodeType = namespace["__init__"].__code__
    return code


class _Fields:
    """What `dataclasses` keeps of a class, found when it is asked for, by one thread."""

    finding = threading.RLock()

    def __init__(self, cls: Any, said: Mapping[str, Any]) -> None:
        self.cls, self.said = cls, said

    def __get__(self, instance: object, owner: type) -> Any:
        cls = self.cls
        with self.finding:
            if vars(cls)["__dataclass_fields__"] is self:
                for name, field in self.said.items():
                    setattr(cls, name, field)
                dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
        return cls.__dataclass_fields__


def _by_value(names: tuple[str, ...]) -> dict[str, Any]:
    """Equality and hash by some attributes."""
    get: Callable[[Any], Any] = attrgetter(*names) if names else type

    def equal(self: Any, other: Any) -> Any:
        same = other.__class__ is self.__class__
        return get(self) == get(other) if same else NotImplemented

    return {"__eq__": equal, "__hash__": lambda self: hash(get(self))}


def _shown(names: tuple[str, ...]) -> Callable[[Any], str]:
    """How a value is shown: its class, and its attributes by name."""

    def shown(self: Any) -> str:
        found = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({found})"

    return shown
