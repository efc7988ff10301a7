"""The options of a transform: the request that they make, and what they select of values."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, TypedDict

from srcdiff import ir
from srcdiff.errors import DtypeError, EmptyInputsError, TransformError, UnsupportedError
from srcdiff.frontend.request import Input, Request, items_of, parse_path
from srcdiff.frontend.signatures import named, place_of, signature_of
from srcdiff.frontend.source.parse import of_ours
from srcdiff.ir import SEED
from srcdiff.ir.frozen import frozen, replace
from srcdiff.runtime.service import is_derivative
from srcdiff.runtime.workspace import check_counts


class Where(TypedDict, total=False):
    """The options that say how a derivative is to run: one inside of a function runs as that."""

    compile: Literal["numba", "loops", "auto", "cupy"] | None
    workspace: bool
    threads: int
    strict: bool
    verify: Literal["first", "off"] | None


class OfAll(Where, total=False):
    """The options of all transforms beside `inputs` and `outputs`."""

    unused: Literal["error", "none", "zeros"] | None
    allow_unused: bool | None
    materialize_grads: bool
    has_aux: bool


class OfGradients(OfAll, total=False):
    """Those of gradients."""

    create_graph: bool | None
    is_grads_batched: bool
    check_nan: bool
    check_inf: bool
    strong_zeros: bool


VALIDATE = "SRCDIFF_VALIDATE"
"""The variable of the environment that asks for every pass to be run (`driver/validation.py`)."""
VERIFY = "SRCDIFF_VERIFY"
"""The variable that asks for derivatives to be held against their functions (`api/verify.py`)."""


@frozen
class Options:
    """The options of a transform as they were given."""

    inputs: Any = 0
    outputs: Any = None
    unused: str = "error"
    has_aux: bool = False
    value: bool = False
    mode: str = "reverse"
    create_graph: bool | None = None
    is_grads_batched: bool = False
    check_nan: bool = False
    check_inf: bool = False
    strong_zeros: bool = False
    compile: str | None = None
    saves: bool = False
    workspace: bool = False
    threads: int = 1
    strict: bool = False
    again: bool = False  # where it is differentiated the function runs more than once
    verify: str | None = None

    def __post_init__(self) -> None:
        check_compile(self.compile)
        for name, value in (("workspace", self.workspace), ("strict", self.strict)):
            if not isinstance(value, bool):
                given = type(value).__name__
                raise ValueError(f"{name}: expected True or False, given {given}")
        if type(self.threads) is not int or self.threads < 1:
            raise ValueError(f"threads: expected a number from 1 on, given {self.threads!r}")

    def with_aux(self, value: Any, found: Any) -> Any:
        """What is derived, and what the function gives beside its output, if there is that."""
        return (found, value[1]) if self.has_aux else found

    def with_value(self, value: Any, found: Any) -> Any:
        """The value, what is derived, and what is beside the output, if there is that."""
        return (value[0], found, value[1]) if self.has_aux else (value, found)


def resolved(
    of: type, inputs: Any = 0, outputs: Any = None, /, *, value: bool = False, **given: Any
) -> Options:
    """The options of a transform in one spelling; it has those of a TypedDict.

    Raises:
        TypeError: there is no such option.
        ValueError: an option says something else than it can, or two say the same.
    """
    unknown = [name for name in given if name not in of.__annotations__]
    if unknown:
        raise TypeError(f"there is no option {unknown[0]!r}; they are {', '.join(options_of(of))}")
    return Options(inputs, outputs, value=value, **with_unused(given))


def options_of(of: type) -> dict[str, Any]:
    """The options of a TypedDict by name, with what they are where they are not given."""
    return {name: default for name, default in _DEFAULTS.items() if name in of.__annotations__}


_DEFAULTS: Mapping[str, Any] = MappingProxyType({
    "unused": "error", "has_aux": False, "create_graph": None, "is_grads_batched": False,
    "check_nan": False, "check_inf": False, "strong_zeros": False, "compile": None,
    "workspace": False, "threads": 1, "strict": False, "verify": None, "allow_unused": None,
    "materialize_grads": False,
})  # fmt: skip


def check_compile(compile: str | None, files: bool = False) -> None:
    """Raise for what compiles nothing; `files` are compiled whole or not at all."""
    known = (None, "numba", "cupy") if files else (None, "numba", "loops", "auto", "cupy")
    if compile not in known:
        *some, last = map(repr, known)
        raise ValueError(f"compile: expected {', '.join(some)} or {last}, given {compile!r}")


def is_verified(verify: str | None) -> bool:
    """Whether derivatives are held against their functions: as an option or the environment says.

    Raises:
        ValueError: the option says something else.
    """
    if verify not in (None, "first", "off"):
        raise ValueError(f"verify: expected None, 'first' or 'off', given {verify!r}")
    return (verify or os.environ.get(VERIFY)) == "first"


SPELLINGS = ("unused", "allow_unused", "materialize_grads")
"""The options that say what becomes of an input that no output depends on."""


def with_unused(given: Mapping[str, Any]) -> dict[str, Any]:
    """Options with `unused`, of which `allow_unused` and `materialize_grads` are torch's spelling.

    Raises:
        ValueError: both are given, or one says something else.
    """
    found = dict(given)
    unused = found.pop("unused", None)
    allow, zeros = found.pop("allow_unused", None), found.pop("materialize_grads", False)
    if unused is not None and (allow is not None or zeros):
        raise ValueError(
            "unused: says what allow_unused and materialize_grads do; pass it alone"
        )
    if zeros and allow is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, "
            "but got: allow_unused=False."
        )
    if unused is None:
        unused = "zeros" if zeros else "none" if allow else "error"
    if unused not in ("error", "none", "zeros"):
        raise ValueError(f"unused: expected 'error', 'none' or 'zeros', given {unused!r}")
    return {**found, "unused": unused} if set(given) & set(SPELLINGS) else found


def each_input(fn: Callable[[Any], Any], inputs: Any) -> Any:
    """Inputs as they were given, with a function of each."""
    if isinstance(inputs, Mapping):
        return {k: each_input(fn, v) for k, v in inputs.items()}
    if isinstance(inputs, (tuple, list)):
        return tuple(each_input(fn, v) for v in inputs)
    return fn(inputs)


def request_of(f: Any, options: Options) -> Request:
    """The request for a derivative of `f`."""
    names = parameter_names(f)
    _check_parameters(f, names)
    form, items = items_of(options.inputs)
    if not items:
        raise EmptyInputsError()
    inputs = tuple(_input(item, names, f) for item in items)
    if options.mode == "forward":  # the tangents of `*args` are one tuple
        whole = (Input(i.param) if _is_star(i.param, f) else i for i in inputs)
        inputs = tuple(dict.fromkeys(whole))
    else:
        inputs = tuple(_no_star(i, f) for i in inputs)
    kind = "value_and_grad" if options.value else "grad"
    if options.mode == "forward":
        kind = "jvp"
    return Request(
        inputs,
        form,
        _hashable(options.outputs),
        options.value,
        options.has_aux,
        options.unused != "error",
        options.unused == "zeros",
        f"{base_name(f)}_{kind}",
        mode=options.mode,
        checks=" or ".join(["nan"] * options.check_nan + ["inf"] * options.check_inf),
        strong_zeros=options.strong_zeros,
        saves=options.saves,
        validate=os.environ.get(VALIDATE) == "1",
        verify=is_verified(options.verify),
    )


def target_of(f: Any, options: Options) -> ir.Target:
    """Where a derivative of `f` is to run, as far as its options say.

    Here is refused what does not combine with that; everything else does.
    """
    reason, remedy = _refused(options)
    if reason and options.compile != "auto":
        raise UnsupportedError(reason, place_of(f), remedy)
    if options.workspace:
        check_counts()
    compiler = "numba" if options.compile == "auto" else options.compile
    compiler = None if reason else compiler
    arrays = "cupy" if compiler == "cupy" else ir.HOST.arrays
    return ir.Target(arrays, compiler, options.workspace, options.threads, options.strict)


def uncompiled(options: Options, target: ir.Target) -> str:
    """Why `compile="auto"` compiles nothing for a target; empty where it does, or is not asked."""
    if options.compile != "auto":
        return ""
    reason, _ = _refused(options)
    if not reason and target.arrays != ir.HOST.arrays:
        return "the arguments are arrays of CuPy"
    if not reason and importlib.util.find_spec("numba") is None:
        return "Numba is not installed: pip install 'srcdiff[numba]'"
    return reason


def with_arrays(target: ir.Target, arrays: str) -> ir.Target:
    """The target for arrays of a module.

    Raises:
        DtypeError: what compiles the program does not take them.
    """
    if target.fused and arrays != ir.HOST.arrays:
        raise DtypeError(
            f"compile='{target.compiler}': the arguments are arrays of CuPy, pass NumPy's"
        )
    if target.kernels and arrays != "cupy":
        raise DtypeError(
            "compile='cupy': no argument is an array of CuPy, for which kernels are made; pass "
            "CuPy's, or leave out compile"
        )
    return replace(target, arrays=arrays)


def _refused(options: Options) -> tuple[str, str]:
    """Why options do not combine with where a derivative is to run, and what to do instead."""
    if options.threads > 1 and options.compile not in ("loops", "auto"):
        return (
            "threads share the loops that compile='loops' makes, and nothing else",
            "Leave threads= out, or add compile='loops' or compile='auto'.",
        )
    if options.compile in ("numba", "loops", "auto") and options.workspace:
        return (
            f"workspace=True is not supported with compile='{options.compile}', which makes its "
            "arrays itself",
            "Leave one of them out.",
        )
    if options.compile == "numba" and options.saves:
        return (
            "inside of saved_hooks Python functions pack what is saved, which compile='numba' "
            "does not call",
            "Leave out compile='numba', or take the derivative outside of them.",
        )
    if options.compile == "numba" and (options.check_nan or options.check_inf):
        return (
            "adjoints are checked with the lines of the function at hand (check_nan, check_inf, "
            "detect_anomaly), which code compiled by Numba does not have",
            "Leave out compile='numba' to look for an anomaly.",
        )
    return "", ""


def where_of(options: Options) -> dict[str, Any]:
    """The options that say how a derivative is to run, by name."""
    return {name: getattr(options, name) for name in Where.__annotations__}


def apart(f: Any, given: Mapping[str, Any], inputs: Any) -> tuple[Options, dict[str, Any]]:
    """The options among keyword arguments of a transform, and those for `f`.

    Raises:
        TransformError: `f` may mean one of them.
    """
    known = ("inputs", "outputs", *OfAll.__annotations__)
    options = {name: value for name, value in given.items() if name in known}
    arguments = {name: value for name, value in given.items() if name not in known}
    check_unambiguous(f, options)
    return of_all(options, inputs), arguments


def constants_apart(
    given: Sequence[tuple[str | None, ir.Atom]], inputs: Any = None
) -> tuple[Options, dict[str | None, ir.Atom]] | None:
    """The same of a call in a differentiated function; None where options are no literals."""
    from srcdiff.specialize.static_values import constant, is_constant

    known = ("inputs", "outputs", *OfAll.__annotations__)
    options = {str(name): atom for name, atom in given if name in known}
    if not all(map(is_constant, options.values())):
        return None
    found = of_all({name: constant(atom) for name, atom in options.items()}, inputs)
    return found, {name: atom for name, atom in given if name not in known}


def of_all(given: Mapping[str, Any], inputs: Any) -> Options:
    """The options of any transform by name; `inputs` are those that it has without them."""
    rest = dict(given)
    return resolved(OfAll, rest.pop("inputs", inputs), rest.pop("outputs", None), **rest)


def check_unambiguous(
    f: Any, options: Mapping[str, Any], called: str = "vjp", like: Any = None
) -> None:
    """Refuse options of what is called that may be arguments of `f`, or of what stands for it."""
    params = signature_of(like or f).parameters.values() if options else ()
    for name in options:
        rest = name not in ("inputs", "outputs") and any(p.kind is p.VAR_KEYWORD for p in params)
        if rest or any(p.name == name for p in params):
            raise TransformError(
                f"`{base_name(f)}` may be given `{name}` itself, which is an option here",
                place_of(f),
                remedy="Give the options alone, and the arguments to what that gives: "
                f"`{called}(f, {name}=...)(*args)`.",
            )


def _check_parameters(f: Any, names: tuple[str, ...]) -> None:
    """The parameters leave room for the cotangent, and there are some."""
    if SEED in names and str(type(f).__module__).startswith("srcdiff."):
        raise of_ours(f)
    if SEED in names:
        raise TransformError(
            f"`{base_name(f)}` has a parameter called `{SEED}`, which is the name of the "
            "cotangent of its derivative",
            place_of(f),
            remedy="Rename the parameter, or use srcdiff.vjp: its pullback takes the cotangent.",
        )
    if not names:
        raise TransformError(
            f"`{base_name(f)}` has no parameters, so there is nothing to differentiate by",
            place_of(f),
            remedy="Make what it reads a parameter.",
        )


def _hashable(outputs: Any) -> Any:
    return tuple(map(_hashable, outputs)) if isinstance(outputs, list) else outputs


def base_name(f: Any) -> str:
    """The name from which that of a derivative is made."""
    if is_derivative(f):
        return str(f.request.name)
    return named(f)


def parameter_names(f: Any) -> tuple[str, ...]:
    """The names of the parameters of a function."""
    return tuple(signature_of(f).parameters)


def _input(item: Any, names: tuple[str, ...], f: Any) -> Input:
    """One input: a position, a name or a path."""
    if isinstance(item, bool) or not isinstance(item, (int, str)):
        raise TransformError(
            f"inputs: expected positions or names of parameters, given {type(item).__name__}",
            place_of(f),
            remedy=f"The parameters of `{base_name(f)}` are: {', '.join(names)}.",
        )
    if isinstance(item, int):
        rest = star_of(f)
        if rest is not None and item >= rest:
            return Input(names[rest], (item - rest,))
        if not -len(names) <= item < len(names):
            raise _unknown(item, names, f)
        return Input(names[item])
    try:
        found = parse_path(item)
    except (ValueError, SyntaxError) as error:
        raise _unknown(item, names, f) from error
    if found.param not in names:
        raise _unknown(item, names, f)
    return found


def star_of(f: Any) -> int | None:
    """The position of the parameter `*args`, None if there is none."""
    params = enumerate(signature_of(f).parameters.values())
    return next((k for k, p in params if p.kind == p.VAR_POSITIONAL), None)


def _is_star(name: str, f: Any) -> bool:
    """Whether a parameter stands for any number of arguments."""
    param = signature_of(f).parameters[name]
    return param.kind in (param.VAR_POSITIONAL, param.VAR_KEYWORD)


def _no_star(found: Input, f: Any) -> Input:
    """An input that is no `*args` or `**kwargs` as a whole."""
    if not found.path and _is_star(found.param, f):
        param = str(signature_of(f).parameters[found.param])
        raise UnsupportedError(
            f"the input `{param.partition(':')[0]}` of `{base_name(f)}` stands for any "
            "number of arguments",
            place_of(f),
            remedy="Name the parameters, or pass a list or dict as one of them.",
        )
    return found


def _unknown(item: Any, names: tuple[str, ...], f: Any) -> TransformError:
    return TransformError(
        f"`{base_name(f)}` has no input {item!r}",
        place_of(f),
        remedy=f"Its parameters are: {', '.join(names) or 'none'}.",
    )
