"""Objects that a function makes: calls of classes, `replace`, `_replace`, copies."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import types
from collections.abc import Iterator
from typing import Any

from srcdiff import ir
from srcdiff.errors import TransformError, refused
from srcdiff.frontend.signatures import takes_rest
from srcdiff.ir.frozen import replace
from srcdiff.primitives.arguments import named_constant
from srcdiff.primitives.effects import module_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import records, trees
from srcdiff.runtime.records import MISSING
from srcdiff.specialize.inline import lowered
from srcdiff.specialize.unroll import Known


def construct(m: Known, cls: type, call: ir.Call) -> ir.Rhs | None:
    """`Model(*args)`."""
    if any(isinstance(a, ir.Star) for a in call.args) or any(k is None for k, _ in call.kwargs):
        if not _takes_rest(cls, call):
            return None
    fields = records.plain_fields(cls)
    if fields is not None:
        if not call.kwargs and len(call.args) == len(fields):
            return None
        given = _bound(cls, call, m.loc)
        return ir.Call(cls, tuple(given[f] for f in fields), text=call.text)
    if records.member(cls, "__new__") is not object.__dict__["__new__"]:
        raise _refused(cls, "its `__new__` is not that of a plain class", m.loc)
    made = m.temp(ir.Call(ir.new_object, (ir.Ref(call.text or cls.__name__, cls),)), "_new")
    if records.is_dataclass_made(cls):
        _fill(m, cls, made, _bound(cls, call, m.loc))
        return made
    init = records.member(cls, "__init__")
    if isinstance(init, types.FunctionType):
        called = replace(call, fn=init, args=(made, *call.args), text=None)
        m.out.append(ir.Effect(called, m.loc))
        return made
    if init is not object.__dict__["__init__"]:
        raise _refused(cls, "its `__init__` is not written in Python", m.loc)
    _bound(cls, call, m.loc)  # it takes no arguments
    return made


def _takes_rest(cls: type, call: ir.Call) -> bool:
    """Whether an `__init__` takes what `*xs` stands for as it is: in its own `*args`."""
    init = records.member(cls, "__init__")
    callee = lowered(init) if isinstance(init, types.FunctionType) else None
    return callee is not None and takes_rest(callee, replace(call, args=(ir.NONE, *call.args)))


def _refused(cls: type, why: str, loc: ir.Loc) -> TransformError:
    return refused("objects.new", loc, cls=cls.__qualname__, why=why)


def _bound(cls: type, call: ir.Call, loc: ir.Loc) -> dict[str, ir.Atom]:
    """The arguments of a constructor by name, defaults filled in."""
    try:
        bound = inspect.signature(cls).bind(*call.args, **{str(k): v for k, v in call.kwargs})
    except TypeError as error:
        fields = {"cls": cls.__name__, "error": error}
        raise refused("objects.arguments", loc, TransformError, **fields) from error
    found = dict(bound.arguments)
    for name, param in bound.signature.parameters.items():
        if name not in found and param.default is not param.empty:
            found[name] = named_constant(f"{cls.__name__}_{name}", param.default)
    return found


def _fill(m: Known, cls: type, made: ir.Name, given: dict[str, ir.Atom]) -> None:
    """The attributes of a new dataclass object, as the `__init__` of its class stores them."""
    for field in dataclasses.fields(cls):
        value = given.get(field.name)
        factory = field.default_factory
        if factory is not dataclasses.MISSING and (not field.init or not _is_given(value)):
            value = m.temp(ir.Call(factory, (), text=getattr(factory, "__name__", None)))
        elif value is None and field.default is not dataclasses.MISSING:
            value = named_constant(f"{cls.__name__}_{field.name}", field.default)
        if value is not None:
            _store(m, made, field.name, value)
    names = {f.name for f in dataclasses.fields(cls)}
    later = [v for k, v in given.items() if k not in names]  # what is for `__post_init__` alone
    post = records.member(cls, "__post_init__")
    if isinstance(post, types.FunctionType):
        m.out.append(ir.Effect(ir.Call(post, (made, *later)), m.loc))


def _is_given(value: ir.Atom | None) -> bool:
    """Whether a field got a value that is not the mark for its factory."""
    mark = isinstance(value, ir.Ref) and type(value.value).__name__ == "_HAS_DEFAULT_FACTORY_CLASS"
    return value is not None and not mark


def _store(m: Known, base: ir.Name, name: str, value: ir.Atom) -> None:
    """An attribute of a new object."""
    m.effect(ir.SetAttr(name, made=True), base, value)


# --- new objects from old ones --------------------------------------------------------------------


def replaced(m: Known, call: ir.Call) -> ir.Rhs | None:
    """`dataclasses.replace(x, name=value)`: the constructor is called."""
    base = call.args[0]
    cls = m.cls(base)
    if cls is None or not dataclasses.is_dataclass(cls):
        return None
    given = {str(k): v for k, v in call.kwargs}
    names = [f.name for f in dataclasses.fields(cls) if f.init]
    given.update({n: m.attribute(base, n) for n in names if n not in given})
    rest = tuple((k, v) for k, v in given.items())
    return ir.Call(cls, (), rest, text=cls.__name__)


def copied(m: Known, call: ir.Call) -> ir.Rhs | None:
    """`copy.copy(x)`: a new object with the same attributes; `copy.deepcopy(x)`: with copies."""
    if len(call.args) != 1 or call.kwargs:
        return None
    base, deep = call.args[0], is_op(call, Op.DEEPCOPY)
    cls, kind = m.cls(base), m.kind(base)
    if cls is None:
        return _plain_copy(base, kind, deep)
    if not isinstance(kind, ir.Dict) or not records.is_copied_plainly(cls, deep):
        return None
    if m.is_pending():  # not all that it holds is known yet
        return None
    if deep:
        return _deep_copy(m, base, kind)
    if records.member(cls, "__copy__") is not MISSING:
        return ir.Call(ir.Method("__copy__"), (base,))
    if records.is_named_tuple(cls):
        return base
    return _object(m, cls, {name: m.attribute(base, name) for name, _ in kind.items})


def _object(m: Known, cls: type, values: dict[str, ir.Atom]) -> ir.Rhs:
    """A new object with these attributes, made without its constructor."""
    if records.is_named_tuple(cls):
        return ir.Call(cls, tuple(values.values()), text=cls.__name__)
    made = m.temp(ir.Call(ir.new_object, (ir.Ref(cls.__name__, cls),)), "_new")
    for name, value in values.items():
        _store(m, made, name, value)
    return made


def _deep_copy(m: Known, base: ir.Atom, kind: ir.Dict) -> ir.Rhs | None:
    """A copy of an object and of all that it holds: what may be held twice is copied at once."""
    held: list[ir.Atom] = []
    whole = _apart(m, base, kind, held, set())
    if whole is None:
        return None
    if len(held) == 1:
        held = [m.apply(copy.deepcopy, held[0])]
    elif held:
        copies = m.temp(ir.Call(trees.deep_copy, (ir.Tup(tuple(held)),)))
        held = [m.item(copies, ir.Const(k)) for k in range(len(held))]
    return _together(m, whole, iter(held))


_Whole = tuple[type, dict[str, Any]]
"""The class of an object, and its attributes: atoms, objects, and None for what is copied."""


def _apart(
    m: Known, base: ir.Atom, kind: ir.Dict, held: list[ir.Atom], sites: set[str]
) -> _Whole | None:
    """An object that is copied, with what is to be copied put into `held`; None where unknown."""
    if kind.cls is None or kind.site in sites or not records.is_copied_plainly(kind.cls, True):
        return None
    sites |= {kind.site} - {""}
    found: dict[str, Any] = {}
    for name, inner in kind.items:
        value = m.attribute(base, name)
        if isinstance(inner, ir.Dict) and inner.cls is not None:
            found[name] = _apart(m, value, inner, held, sites)
        else:
            found[name] = value if _is_value(inner) else None
            held += [] if _is_value(inner) else [value]
        if inner == ir.UNKNOWN or (ir.class_of(inner) is not None and found[name] is None):
            return None  # so far: it may be an object
    return kind.cls, found


def _together(m: Known, whole: _Whole, copies: Iterator[ir.Atom]) -> ir.Rhs:
    """The copy of an object, by the copies of its parts in their order."""
    cls, parts = whole
    for name, part in parts.items():
        if part is None:
            parts[name] = next(copies)
        elif isinstance(part, tuple):
            parts[name] = m.temp(_together(m, part, copies))
    return _object(m, cls, parts)


def _plain_copy(base: ir.Atom, kind: ir.Kind, deep: bool) -> ir.Rhs | None:
    """A copy of an array, a number or a container, which shares what is in it if not `deep`."""
    if isinstance(kind, (ir.List, ir.Dict)) and all(map(_is_value, ir.contents(kind))):
        deep = False
    if _is_value(kind) or (isinstance(kind, ir.Tuple) and not deep):
        return base
    if isinstance(kind, ir.Array) and not kind.maybe_scalar:
        return ir.Call(ir.Method("copy"), (base,))
    if isinstance(ir.sure(kind), ir.Array) or (
        deep and isinstance(kind, (ir.List, ir.Dict, ir.Tuple))
    ):
        return ir.Call(trees.deep_copy, (base,))
    return ir.Call(ir.Method("copy"), (base,)) if isinstance(kind, (ir.List, ir.Dict)) else None


def _is_value(kind: ir.Kind) -> bool:
    """Whether an item cannot change, so that copies may hold it too."""
    return isinstance(kind, (ir.Scalar, ir.Text, ir.NoneKind, ir.Callable, ir.Module))


def named_tuple_method(m: Known, cls: type, own: Any, call: ir.Call) -> ir.Rhs | None:
    """`x._replace(name=value)` and `x._asdict()` of a named tuple."""
    if not records.is_named_tuple(cls) or "collections" not in own.__code__.co_filename:
        return None
    if not isinstance(call.fn, ir.Method) or call.fn.name not in ("_replace", "_asdict"):
        return None
    base, given, fields = call.args[0], dict(call.kwargs), _fields(cls)
    values = [given.get(name) or m.attribute(base, name) for name in fields]
    if call.fn.name == "_replace":
        return ir.Call(cls, tuple(values), text=cls.__name__)
    items = tuple(a for k, v in zip(fields, values) for a in (ir.Const(k), v))
    return ir.Call(ir.make_dict, items)


def named_tuple_item(m: Known, call: ir.Call) -> ir.Rhs | None:
    """`x[k]` of a named tuple: the field of that number, or an item of a plain tuple."""
    base, key = call.args
    fields = _fields(m.cls_if_any(base))
    if not isinstance(key, ir.Const):
        return replace(call, args=(m.temp(named_tuple_display(m, base)), key))
    known = isinstance(key.value, int) and -len(fields) <= key.value < len(fields)
    return ir.Call(ir.Attr(fields[key.value]), (base,)) if known else None


def takes_sequences(call: ir.Call) -> bool:
    """Whether a call takes a named tuple for the tuple that it is."""
    fn = call.fn
    if not callable(fn) or module_of(fn).split(".")[0] not in _SEQUENCES:
        return False
    return not is_op(call, *_OBJECTS) and not isinstance(fn, types.MethodType)


_SEQUENCES = ("numpy", "scipy", "math", "builtins", "functools", "operator", "_operator")
_OBJECTS = (
    Op.GETITEM, Op.ISINSTANCE, Op.TYPE, Op.GETATTR, Op.HASATTR, Op.SETATTR, Op.PRINT, Op.STR,
    Op.REPR, Op.ID, Op.IS, Op.IS_NOT, Op.NOT,
)  # fmt: skip
"""What is asked of the object itself, or of its class."""


def named_tuple_display(m: Known, base: ir.Atom) -> ir.Tup:
    """The fields of a named tuple as a plain tuple."""
    return ir.Tup(tuple(m.attribute(base, n) for n in _fields(m.cls_if_any(base))))


def _fields(cls: Any) -> tuple[str, ...]:
    """The names of the fields of a named tuple."""
    names: tuple[str, ...] = cls._fields
    return names
