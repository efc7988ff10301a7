"""What a derivative is as an object of Python: its signature, a method, completed, pickled.

Takes a function and its parameters; gives what they declare, the signature of the derivative, the
object whose method it is (the first argument), and what it is found by when it is pickled.
Functions that are sent by value to other processes bring their source along.  Completion offers
what is there for users.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import os
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar, overload

from srcdiff import ir, texts
from srcdiff.backends.loader import compile_text
from srcdiff.driver.guards import watched
from srcdiff.driver.options import (
    Options,
    apart,
    each_input,
    of_all,
    options_of,
    parameter_names,
    target_of,
)
from srcdiff.errors import CotangentTypeError, TransformError, UnsupportedError, entry, refused
from srcdiff.frontend.request import parse_path
from srcdiff.frontend.signatures import bound_to_call, named, place_of, signature_of
from srcdiff.frontend.source.parse import describe
from srcdiff.ir import SEED
from srcdiff.ir.frozen import replace
from srcdiff.kinds.lattice import kind_of
from srcdiff.runtime import records
from srcdiff.runtime.devices import canonical, is_of_numba
from srcdiff.runtime.service import is_derivative, is_jacobian, made_once

C = TypeVar("C", bound=type)
F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def offers(*names: str, **where: Callable[[Any], bool]) -> Callable[[C], C]:
    """Let `dir` list the public attributes of these names alone; some only where that is so."""

    def listed(self: Any) -> Iterable[str]:
        """The attributes for users, and those of Python."""
        known = {*names, *(n for n, offered in where.items() if offered(self))}
        return [n for n in object.__dir__(self) if n.startswith("__") or n in known]

    def decorate(cls: C) -> C:
        cls.__dir__ = listed  # type: ignore[method-assign, assignment]
        return cls

    return decorate


def listed(name: str, given: Any) -> Any:
    """The arguments of a function, None where there are none.

    Raises:
        CotangentTypeError: they are no tuple or list.
    """
    if given is None or isinstance(given, (tuple, list)):
        return given
    raise CotangentTypeError(
        f"{name}: expected a tuple with an item for each argument, given {type(given).__name__}"
    )


def transform(of: type) -> Callable[[F], F]:
    """What makes a function a transform: its signature shows the options of a TypedDict."""

    def decorate(f: Any) -> Any:
        called, own = entry(f), inspect.signature(f)
        params = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
        plain = own.replace(parameters=params)
        called.__signature__ = with_keywords(plain, **options_of(of))  # type: ignore[attr-defined]
        return called

    return decorate


# --- what parameters declare, and the signatures of derivatives ----------------------------------


def gradient_kind(kind: ir.Kind | None, path: tuple[Any, ...]) -> ir.Kind:
    """The kind of the gradient of an input of a kind, where that is simple."""
    if path or not isinstance(kind, (ir.Scalar, ir.Array)) or not ir.is_float(kind):
        return ir.UNKNOWN
    return ir.Scalar(kind.dtype, kind.python) if isinstance(kind, ir.Scalar) else kind


def with_keywords(signature: inspect.Signature, **extra: Any) -> inspect.Signature:
    """A signature with more keywords, by their defaults (`...` for none)."""
    params = list(signature.parameters.values())
    last = params.pop() if params and params[-1].kind is inspect.Parameter.VAR_KEYWORD else None
    for name, default in extra.items():
        value = inspect.Parameter.empty if default is ... else default
        params.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value))
    everything = [*params, *([last] if last is not None else [])]
    return signature.replace(parameters=everything, return_annotation=inspect.Signature.empty)


def signature_with(f: Any, **extra: Any) -> inspect.Signature:
    """The signature of what a transform makes of a function, which takes more by keyword.

    A parameter of such a name is given by its position, and stands for both.

    Raises:
        TransformError: it is given by keyword alone.
    """
    own = signature_of(f)
    for param in own.parameters.values():
        if extra.pop(param.name, param) is not param and param.kind is param.KEYWORD_ONLY:
            fields = {"function": named(f), "name": param.name}
            raise refused("inputs.keyword", place_of(f), TransformError, **fields)
    return with_keywords(own, **extra)


def declared_kind(param: inspect.Parameter) -> ir.Kind:
    """The kind that a parameter's default or annotation declares."""
    if param.kind is param.VAR_POSITIONAL:
        return ir.Tuple(None, ir.NUMERIC)
    if param.kind is param.VAR_KEYWORD:
        return ir.Dict((), ir.NUMERIC)
    annotation, default = param.annotation, param.default
    for cls, dtype in ((float, "float64"), (int, "int64"), (bool, "bool")):
        if annotation is cls or type(annotation) is str and annotation == cls.__name__:
            return ir.Scalar(dtype)
    if (
        default is inspect.Parameter.empty
        or issubclass(type(default), (int, float))
        and type(default) is not bool
    ):
        return ir.NUMERIC
    return kind_of(default, param.name)


# --- a parameter that is called as the cotangent of a derivative is -------------------------------


NEW = f"{SEED}_"
"""What such a parameter is called instead."""


def without_seed(f: Any, options: Options) -> tuple[Any, Options]:
    """A function in which no parameter is called `grad_outputs`, and the options for it."""
    if SEED not in parameter_names(f):
        return f, options
    if NEW in parameter_names(f):
        return f, options  # it is refused
    def renamed(item: Any) -> Any:
        """An input by the new name."""
        named = isinstance(item, str) and parse_path(item).param == SEED
        return f"{NEW}{item.strip().removeprefix(SEED)}" if named else item

    function = made_once(f, ("without seed",), lambda: _renamed(f))
    return function, replace(options, inputs=each_input(renamed, options.inputs))


def without_seed_by_position(f: Any, options: Options) -> tuple[Any, Options]:
    """The same where the cotangent is a keyword of each call.

    Where an argument might be left out or given by that keyword, the function stays what it is,
    and is refused: the keyword would mean one of two.
    """
    params = signature_of(f).parameters.values()
    plain = all(p.default is p.empty and p.kind is not p.KEYWORD_ONLY for p in params)
    return without_seed(f, options) if plain else (f, options)


def signature_without_seed(f: Any) -> inspect.Signature:
    """The signature of a function, with the new name where it has such a parameter."""
    own = signature_of(f)
    params = own.parameters.values()
    return own.replace(parameters=[p.replace(name=NEW) if p.name == SEED else p for p in params])


def _renamed(f: Any) -> Any:
    """A function that calls `f`, and has another name for that parameter."""
    own = signature_of(f)
    new = signature_without_seed(f).parameters.values()
    params = [p.replace(default=p.empty, annotation=p.empty) for p in new]
    uses = [
        f"{old}={p.name}" if p.kind is p.KEYWORD_ONLY else str(p)
        for old, p in zip(own.parameters, params)
    ]
    head = own.replace(parameters=params, return_annotation=own.empty)
    function = ir.Fresh({*own.parameters, NEW, named(f)})(named(f)).id
    text = f"def {named(f)}{head}:\n    return {function}({', '.join(uses)})\n"
    return compile_text(text, {function: f}, named(f), f)


# --- methods of an object -------------------------------------------------------------------------


def receiver_of(f: Any) -> tuple[Any, tuple[Any, ...]]:
    """The function that a method or callable object calls, and the object, its first argument."""
    if is_derivative(f):
        return (f.unbound, f.receiver) if f.receiver else (f, ())
    if is_jacobian(f):
        from srcdiff.specialize.nested.transforms import written_columns

        return written_columns(f), ()
    found = f = canonical(f) if isinstance(f, types.FunctionType) or is_of_numba(f) else f
    if is_of_numba(f):
        raise UnsupportedError(
            f"{describe(f)} is an object of Numba's that means more than its Python function",
            remedy="Differentiate that, or `np.vectorize` of it; `numba.njit` and `jit` are read.",
        )
    while isinstance(found, Bound) or "__srcdiff_primal__" in vars(type(found)):
        found = found.__srcdiff_primal__
    if isinstance(found, types.MethodType) and isinstance(found.__func__, types.FunctionType):
        known = records.is_record(type(found.__self__))
        return (found.__func__, (found.__self__,)) if known else (f, ())
    if not isinstance(found, (types.FunctionType, type)) and records.is_record(type(found)):
        call = inspect.getattr_static(type(found), "__call__", None)
        if isinstance(call, types.FunctionType) and "__wrapped__" not in found.__dict__:
            return call, (found,)
    return f, ()


def behind_receiver(options: Options) -> Options:
    """The options for the function whose first parameter is the object."""

    def moved(item: Any) -> Any:
        """A position behind the object."""
        plain = isinstance(item, int) and not isinstance(item, bool) and item >= 0
        return item + 1 if plain else item

    return replace(options, inputs=each_input(moved, options.inputs))


def _of_method(name: str) -> property:
    """A derivative of a method, with positions and names of the function's parameters."""
    said = f"The {name} of the method, with positions and names of the function's parameters."
    return property(lambda self: Bound(getattr(self.made, name), self.instance), doc=said)


@entry
def _source(self: Any) -> str:
    """The generated text."""
    text: str = self.made.source
    return text


@offers("grad", "hessian", "jacobian", "jvp", "primal", "source", "value_and_grad", "vjp")
class Bound:
    """A derivative or a differentiable function whose first argument is an object."""

    def __init__(self, made: Any, instance: Any) -> None:
        self.made = made
        self.instance = instance
        functools.update_wrapper(self, types.MethodType(made.primal, instance), updated=())
        self.__signature__ = inspect.signature(self)
        del self.__dict__["__wrapped__"]  # a derivative is not the method

    @entry
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The method, called."""
        return self.made(self.instance, *args, **kwargs)

    @property
    def primal(self) -> Any:
        """The method itself."""
        return types.MethodType(self.made.primal, self.instance)

    source = property(_source)

    @property
    def __srcdiff_primal__(self) -> Any:
        """What a transform of the method, or its caller, looks into; refused of a derivative."""
        if not hasattr(self.made, "__srcdiff_primal__"):
            raise UnsupportedError(
                f"the derivative of the method `{self.primal.__name__}` of an object is not "
                "differentiated again",
                remedy="Leave the method as it is, and use nested `srcdiff.grad` of it.",
            )
        return self.primal

    grad, value_and_grad, jacobian, hessian = map(
        _of_method, ("grad", "value_and_grad", "jacobian", "hessian")
    )

    @entry
    def jvp(self, primals: Any, tangents: Any, **kwargs: Any) -> Any:
        """The value at some arguments, and its derivative along a direction."""
        return self.made.jvp((self.instance, *primals), (None, *tangents), **kwargs)

    @entry
    def vjp(self, *args: Any, **kwargs: Any) -> Any:
        """The value at some arguments, and a pullback."""
        return self.made.vjp(self.instance, *args, **kwargs)


def documented(what: str, f: Any, more: str = "") -> str:
    """The docstring of what a transform makes of a function."""
    return f"{what} of `{named(f)}`{more}.\n\n{inspect.getdoc(f) or ''}".rstrip()


def found_as(made: Any) -> str | None:
    """The name under which an object is found in its module: it pickles by it, like a function."""
    name: str = getattr(made, "__qualname__", "")
    found: Any = sys.modules.get(made.__module__)
    for part in name.split("."):
        found = getattr(found, part, None)
    return name if found is made else None


class Transformed:
    """What a transform makes of a function: it has its name, is bound and pickles like a function.

    Who differentiates it does not want the function: it says nothing of `__wrapped__`.
    """

    __call__: Callable[..., Any]
    made: Any
    source = property(_source)
    what = "The gradient"
    """What a call gives, in a few words."""
    more: Mapping[str, Any] = MappingProxyType({})
    """What a call takes beside the arguments of the function."""

    def __init__(self, primal: Any, options: Any) -> None:
        self.primal, self.options = primal, options
        functools.update_wrapper(self, primal, updated=())
        del self.__dict__["__wrapped__"]
        self.__doc__ = documented(self.what, primal)
        self.__signature__ = signature_with(primal, **self.more)
        target_of(primal, options)  # what is refused is said at once
        self._function, self._asked = without_seed(primal, options)
        self._is_renamed = self._function is not primal

    def given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The arguments of the function as those of the one that is differentiated."""
        if not self._is_renamed:
            return args, kwargs
        bound = bound_to_call(self.primal, signature_of(self.primal), args, kwargs)
        params = bound.signature.parameters.values()
        left = [p for p in params if p.name not in bound.arguments and p.default is not p.empty]
        found = {**kwargs, **{p.name: p.default for p in left if p.kind is not p.POSITIONAL_ONLY}}
        args += tuple(p.default for p in left if p.kind is p.POSITIONAL_ONLY)
        return args, {NEW if k == SEED else k: value for k, value in found.items()}

    @classmethod
    def of(cls, f: Any, *more: Any) -> Any:
        """What a transform makes of a function; without one, a decorator that makes it."""
        return cls(f, *more) if f is not None else lambda g: cls(g, *more)

    @classmethod
    def direct(
        cls, f: Any, args: Sequence[Any] | None, given: Mapping[str, Any], inputs: Any, **more: Any
    ) -> Any:
        """What a transform makes of a function; with arguments for that, what it gives for them.

        `given` are options, with arguments among keyword arguments of the function.
        """
        if args is None:
            return cls.of(f, of_all(given, inputs))
        options, kwargs = apart(f, given, inputs)
        made = made_once(f, (cls.__name__, repr(options)), lambda: cls.of(f, options))
        return made(*args, **kwargs, **more)

    # Type checkers bind what a property gives as well: a derivative is no method of another.
    @overload
    def __get__(self: T, instance: Transformed | None, owner: Any = None) -> T: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """The same of a method, bound to an object."""
        return self if instance is None else Bound(self, instance)

    def made_of(self) -> tuple[Any, ...]:
        """What it is made of beside the function."""
        return (self.options,)

    def __reduce__(self) -> Any:
        """Pickled by reference: to itself where its name leads to it, else to its function.

        Source comes along that stands in no file, or in that of the program: what sends functions
        elsewhere sends those of `__main__` by value.
        """
        name = found_as(self)
        if name is not None:
            return name
        files = _files_of(self.primal, "__main__")
        shown = {file: "".join(linecache.getlines(file)) for file in files}
        sources = {file: text for file, text in shown.items() if text}
        cls, made = type(self), (self.primal, *self.made_of())
        return (made_again, (sources, cls, *made)) if sources else (cls, made)


# --- in other processes ---------------------------------------------------------------------------


def made_again(sources: Mapping[str, str], cls: Any, primal: Any, *more: Any) -> Any:
    """A derivative of a function whose source came along; what is here already stays.

    What sends functions by value may have given all their code one file name.
    """
    for file in _files_of(primal):
        known = "".join(linecache.getlines(file))
        own = (sources[file],) if file in sources else sources.values()
        new = [text for text in own if text not in known]
        if new:
            texts.show(file, "\n".join(filter(None, (known, *new))))
    return cls(primal, *more)


def _files_of(primal: Any, module: str | None = None) -> list[str]:
    """What the code of a function, and of those that it calls, says it stands in, and is no file.

    Files too of functions of the module.
    """
    functions = [f for f, *_ in watched(primal, {}).functions]
    named = {f.__code__.co_filename: f.__module__ == module for f in functions}
    return [file for file, mine in named.items() if mine or not os.path.exists(file)]
