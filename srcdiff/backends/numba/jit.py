"""Generated functions compiled by Numba: `grad(f, compile="numba")`, `generate --compile numba`.

Takes finished functions and the kinds of their parameters; gives a module of functions that Numba
compiles when they are called.  The text is that for NumPy, with decorators: Numba compiles it or it
is refused, with the line of the user's that Numba does not take.  Nothing runs uncompiled.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import FunctionType, MappingProxyType
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.backends.function_text import free_names
from srcdiff.backends.loader import Loaded, compile_module
from srcdiff.backends.numba import cache
from srcdiff.backends.numba.cache import REMEDY, Called, numba, retell
from srcdiff.backends.numba.legalize import refuse, twin, with_seed
from srcdiff.backends.references import Import
from srcdiff.backends.standalone import Standalone, spaces_of
from srcdiff.codegen.emit import Emitted, Made
from srcdiff.errors import UnsupportedError
from srcdiff.frontend import signatures
from srcdiff.ir import Loc
from srcdiff.ir.frozen import replace
from srcdiff.kinds.interpreter import infer
from srcdiff.primitives.effects import module_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import trees
from srcdiff.runtime.copies import copied, with_memory
from srcdiff.runtime.threads import Shared

IN_FILE = "@numba.njit(cache=True, boundscheck=True)"
"""Without the check an index out of bounds reads whatever stands there."""
IN_MEMORY = "@numba.njit(boundscheck=True)"
"""The cache is kept beside files."""

OF_LOOPS = {
    IN_FILE: '@numba.njit(cache=True, error_model="numpy", nogil=True)',
    IN_MEMORY: '@numba.njit(error_model="numpy", nogil=True)',
}
"""Loops over elements: their indices lie in the arrays, and numbers are divided as NumPy does."""
INSIDE = '@numba.njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)'
"""Loops that compiled functions alone call, and hold: nothing is made to call them from Python."""
AS_PARTS = '@numba.njit(error_model="numpy", pipeline_class={})'
"""The same where srcdiff is there, which has a way to compile them once, in what calls them."""
KNOWN = ("0.68.",)
"""The versions of Numba for which `inside` is written: others compile the loops as they are."""

_RANDOM = ("numpy.random", "random")
_DTYPES = ("float64", "float32", "complex128", "int64", "bool")


# --- what is refused before Numba sees it --------------------------------------------------------


def check(made: Made) -> None:
    """Refuse what Numba would not compile, or compile to something else than NumPy does.

    Raises:
        UnsupportedError: with the place, and the value or the helper.
    """
    for function, params in map(_compiled, *zip(*made.functions)):
        params = with_seed(function, params)
        kinds = {**params, **infer(function, params)}
        seeds = {p.name for p in function.params} - params.keys()
        single = any("float32" in ir.dtypes_in(kind) for kind in kinds.values())
        for name, kind in kinds.items():
            reason = _refused(kind, name in params)
            if single and not reason and name not in seeds and _is_open(kind):
                reason = "of a dtype that is not known, and Numba makes others of float32"
            if reason:
                instead = f"Use arrays of {', '.join(_DTYPES)}"
                refuse(f"`{name}` is {reason}", function.loc, instead)
        for stmt in ir.walk(function):
            call = ir.call_of(stmt)
            loc = stmt.loc if stmt.loc.line else function.loc
            of_trees = call is not None and module_of(call.fn) == trees.__name__
            if call is not None and (of_trees or _is_beyond_form(call)):
                _check_helper(call, kinds, loc)
            if call is not None and module_of(call.fn) in _RANDOM:
                what = "Numba draws random numbers from a state of its own, not from NumPy's"
                refuse(what, loc, "Draw them outside and pass them")
            _check_texts(stmt, kinds)
            returned = ir.names(stmt.value) if isinstance(stmt, ir.Return) else ()
            if any(_holds_keys(kinds[n]) for n in returned if n in kinds):
                what = "a dict or an object is returned, which Numba does not give back"
                place = (*function.returns, function.loc)[0]
                refuse(what, place, "Return numbers, arrays or tuples")


def _compiled(function: ir.Function, params: ir.Kinds) -> tuple[ir.Function, ir.Kinds]:
    """What Numba is given of a function: all of it, or what it calls for numbers and arrays."""
    found = ir.compiled_in(function)
    return (function, params) if found is None else (found.function, found.kinds or {})


def _is_beyond_form(call: ir.Call) -> bool:
    """Whether a helper is called with more arguments than the form has that Numba compiles."""
    form = twin(call.fn)
    return form is not call.fn and len(call.args) > form.__code__.co_argcount


def _holds_keys(kind: ir.Kind) -> bool:
    """Whether a value is or holds a dict or an object."""
    return isinstance(kind, (ir.Dict, ir.Object)) or any(map(_holds_keys, ir.inside(kind)))


def _check_texts(stmt: ir.Stmt, kinds: Mapping[str, ir.Kind]) -> None:
    """Refuse texts of values, for which Numba writes the names of their types.

    Of those in what is raised nothing is computed.
    """
    call = ir.call_of(stmt)
    of: list[Any] = list(call.args) if is_op(call, Op.STR, Op.REPR, Op.FORMAT) else []
    rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
    if isinstance(rhs, ir.Opaque):
        nodes = ast.walk(ast.parse(rhs.text))
        parts = (n.value for n in nodes if isinstance(n, ast.FormattedValue))
        of = [ir.Name(n.id) if isinstance(n, ast.Name) else ir.NONE for n in parts]
    for atom in of:
        kind = kinds.get(atom.id) if isinstance(atom, ir.Name) else None
        if not isinstance(kind, ir.Text) and getattr(kind, "dtype", None) not in ("int64", "bool"):
            what = "the text of a value that is neither an integer nor a text is another with Numba"
            refuse(what, stmt.loc, "Leave it out of the text")


def _check_helper(call: ir.Call, kinds: Mapping[str, ir.Kind], loc: Loc) -> None:
    """Refuse a call of a helper for containers."""
    like = call.args[-1]
    is_array = isinstance(kinds.get(like.id) if isinstance(like, ir.Name) else None, ir.Array)
    if is_op(call, Op.COTANGENT):
        kind = kinds.get(like.id, ir.UNKNOWN) if isinstance(like, ir.Name) else ir.Tuple(())
        if not (is_array or ir.is_container(kind)):
            what = "it is not known of which type the output is, which Numba has to know"
            instead = "Write a power of integers as `2.0 ** n`, give a number as `float(y)`"
            refuse(what, loc, instead)
        if not is_array:
            what = "Numba does not take cotangents of several outputs"
            refuse(what, loc, "Select one (outputs=0, --outputs 0)")
    elif not is_op(call, Op.WHERE_NONZERO) and not (is_op(call, Op.LIKE_TREE) and is_array):
        name = getattr(call.fn, "__name__", "")
        raise UnsupportedError(
            f"the derivative calls `{name}`, which Numba does not compile", loc, REMEDY
        )


def _refused(kind: ir.Kind, is_param: bool) -> str:
    """Why Numba is not given a value of a kind: of numbers of these NumPy makes others."""
    if is_param and isinstance(kind, (ir.List, ir.Dict, ir.Object, ir.Callable)):
        return f"a {type(kind).__name__.lower()}: Numba takes numbers, arrays and tuples"
    wrong = [dtype for dtype in ir.dtypes_in(kind) if dtype not in _DTYPES]
    what = "which Numba turns into others where NumPy does not"
    return f"of dtype {wrong[0]}, {what}" if wrong else ""


def _is_open(kind: ir.Kind) -> bool:
    """Whether a value may be a number or array of which the dtype is not known."""
    numeric = isinstance(kind, (ir.Array, ir.Scalar))
    return kind == ir.UNKNOWN or (numeric and ir.dtype_of(kind) is None)


# --- compiling -----------------------------------------------------------------------------------


def module_of_functions(
    made: Made, refs: Mapping[str, Any], primal: Any, decorator: str
) -> tuple[str, Standalone]:
    """The text that Numba compiles for finished functions, and what its names stand for."""
    place, target = signatures.place_of(primal), made.functions[0][0].target
    has_loops = any(n in made.emitted.loops for n in made.emitted.functions)
    fresh, inside = ir.Fresh(set(refs)), INSIDE
    passes = ("Inside", "Around") if has_loops and numba().__version__.startswith(KNOWN) else ()
    names = [fresh(name).id for name in passes]
    if names:
        inside = AS_PARTS.format(names[0])
        decorator = f"{decorator[:-1]}, pipeline_class={names[1]})"
    file = Standalone(
        spaces_of(primal), place, target, True, decorator=decorator, for_loops=inside
    )
    for name, one in zip(names, passes):
        file.reserve(name)
        file.imports.add(Import(f"{__package__}.inside", one, name))
    text = file.add(replace(made.emitted, refs=refs))
    return file.laid_out(file.import_lines(False)[1:], "", text), file


def loaded(made: Made, refs: Mapping[str, Any], title: str, primal: Any) -> Loaded:
    """Finished functions, to be compiled at their first call.

    The arrays outside are constants of them: those that hold now, in memory of their own.
    """
    numba()
    check(made)
    text, file = module_of_functions(made, refs, primal, IN_FILE)
    outside = {n: v for n, v in file.names.items() if any(with_memory(n, v))}
    kept = None if outside or not cache.is_steady(file.imports) else cache.file_of(title, text)
    if kept is None:
        text, file = module_of_functions(made, refs, primal, IN_MEMORY)
    places = places_in(text, made.emitted)
    if kept is None:
        space = compile_module(text, {}, title, signatures.module_of(primal), places)
    else:  # Numba imports the module of what it kept, which the function may have left since
        space = cache.space_of(text, title, kept, places)
    constants = copied(outside)
    space.update((n, v) for n, v in constants.items() if n in space)
    functions = {n: Called(space[n], places, {}) for n in made.emitted.functions}
    return Loaded(functions, text, outside, constants, kept)


def with_loops(made: Made, refs: Mapping[str, Any], title: str, primal: Any) -> Loaded:
    """Finished functions that Python runs, with loops that Numba compiles at their first call."""
    names = {"numba": numba(), **refs}
    emitted = made.emitted
    text = "\n\n".join(_under(OF_LOOPS[IN_MEMORY], n, emitted) for n in emitted.functions)
    places = places_in(text, emitted)
    space = compile_module(text, names, title, signatures.module_of(primal), places)
    space.update(_kept_loops(made, refs, title, primal) if emitted.loops else {})
    threads = made.functions[0][0].target.threads
    for name, rows in emitted.loops.items():
        if rows is not None:
            space[name] = Shared(space[name], rows, threads)
    mine = (n for n in emitted.functions if n not in emitted.loops)
    return Loaded({n: Called(space[n], places, space) for n in mine}, text)


def _under(decorator: str, name: str, emitted: Emitted) -> str:
    """The text of a function, that of loops under a decorator."""
    text = emitted.functions[name]
    return f"{decorator}\n{text}" if name in emitted.loops else text


def _kept_loops(
    made: Made, refs: Mapping[str, Any], title: str, primal: Any
) -> Mapping[str, Any]:
    """The loops of a text as those of a file beside which Numba keeps them; none without files."""
    loops = {n: t for n, t in made.emitted.functions.items() if n in made.emitted.loops}
    free = frozenset().union(*map(free_names, loops.values()))
    part = replace(
        made.emitted, functions=loops, refs={n: v for n, v in refs.items() if n in free}
    )
    place, target = signatures.place_of(primal), made.functions[0][0].target
    file = Standalone(spaces_of(primal), place, target, True, for_loops=OF_LOOPS[IN_FILE])
    text = file.add(part)
    text = file.laid_out(file.import_lines(False)[1:], "", text)
    kept = cache.file_of(title, text)
    if kept is None:
        return {}
    space = cache.space_of(text, title, kept)
    return {n: space[n] for n in loops}


def places_in(text: str, emitted: Emitted) -> dict[int, Loc]:
    """The places of the lines of a module, from those of the functions that were put into it."""
    ends = {n.name: n.end_lineno for n in _functions(text)}
    found: dict[int, Loc] = {}
    for node in _functions(emitted.text):
        assert node.end_lineno is not None
        away = (ends[node.name] or 0) - node.end_lineno
        own = (k for k in range(node.lineno, node.end_lineno + 1) if k in emitted.lines)
        found.update({k + away: emitted.lines[k] for k in own})
    return found


def _functions(text: str) -> list[ast.FunctionDef]:
    return [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]


def _is_compiled(function: Any) -> bool:
    """Whether Numba compiles a function."""
    return hasattr(function, "get_call_template")


def compile_for(
    function: Any, given: tuple[Any, ...], named: Mapping[str, Any] = MappingProxyType({})
) -> Any:
    """Compile a function for some arguments, or for some Numba types; what stands for its result.

    One that takes its arguments apart is called with these, and Numba is given what it takes.
    """
    if not _is_compiled(function):
        space = function.__globals__
        name = next(n for n in function.__code__.co_names if _is_compiled(space.get(n)))
        inner = space[name]
        with_types = {**space, name: lambda *args: compile_for(inner, args)}
        outer = FunctionType(function.__code__, with_types, name, function.__defaults__)
        outer.__kwdefaults__ = function.__kwdefaults__
        return outer(*given, **named)
    in_order = (*given, *named.values())  # parameters that are given by name stand at the end
    _, _, args, _ = function.get_call_template(tuple(map(_type_of, in_order)), {})
    return _stand_in(function.overloads[tuple(args)].signature.return_type)


def accept_pair(
    forward: Called,
    backward: Called,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    selected: Callable[[Any], Any],
) -> None:
    """Compile two parts for some arguments, and for a cotangent like what is selected of the value.

    Raises:
        UnsupportedError: Numba does not compile one of them.
    """
    bound = forward.__signature__.bind(*args, **kwargs)
    bound.apply_defaults()
    named = dict(zip(bound.kwargs, types_of(tuple(bound.kwargs.values()))))
    value, residuals = _accepted(forward, types_of(bound.args), named)
    _accepted(backward, (residuals, _cotangent_type(selected(value))), {})


def _accepted(called: Called, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    """The type, or types, that a function returns for arguments of some types."""
    try:
        return compile_for(called.function, given, named)
    except Exception as error:
        retell(error, called.function, called.places)
        raise


def _cotangent_type(value: Any) -> Any:
    """The type of a cotangent of a value of a type, a number for one; arrays in C order."""
    types = numba().types
    if isinstance(value, (dict, list, tuple)):
        return trees.mapped(_cotangent_type, value)
    if isinstance(value, types.Array):
        return value.copy(layout="C", readonly=False)
    return 1.0 if isinstance(value, (float, np.floating)) else types.none


def _stand_in(found: Any) -> Any:
    """What stands for a result of a type: tuples and real numbers for themselves, else the type.

    Python computes with numbers (`np.float32(y)`) before it gives them to what Numba compiles.
    """
    types = numba().types
    if isinstance(found, types.BaseTuple):
        return tuple(map(_stand_in, found))
    return np.dtype(found.name).type(0.0) if isinstance(found, types.Float) else found


def types_of(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The Numba types of some arguments, for those in containers in their places."""
    return tuple(trees.mapped(numba().typeof, v) for v in values)


def _type_of(value: Any) -> Any:
    """The Numba type of what is one, of a tuple of such, or of a value."""
    if isinstance(value, numba().types.Type):
        return value
    if type(value) is tuple:
        return numba().types.Tuple(tuple(map(_type_of, value)))
    return numba().typeof(value)
