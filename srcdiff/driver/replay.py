"""Runs of functions of the row of passes, each on copies and in the world as it was.

Takes a function of the IR and values for its parameters; gives what it returns, what it leaves in
its arguments and what it prints, which nobody else sees.  Random numbers are the same in every run,
and what is outside is put back after it.  `effect` says what must not be run more than once.

First comes what values are made of, leaf by leaf: the largest numbers, whether two are the same.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import random
import warnings
from collections.abc import Callable, Iterator, Mapping, MappingView
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.analysis.links import is_marked
from srcdiff.backends.loader import compile_text
from srcdiff.backends.target import meanings
from srcdiff.codegen.link import module_text
from srcdiff.driver.pipeline import pair_of
from srcdiff.driver.snapshots import contents, held_by
from srcdiff.errors import ValidationError
from srcdiff.frontend.closures import Lifted
from srcdiff.frontend.request import Request
from srcdiff.frontend.signatures import signature_of
from srcdiff.ir.frozen import frozen
from srcdiff.ir.interpreter import Env, Interpreter
from srcdiff.primitives.effects import is_pure, module_of, only_writes
from srcdiff.primitives.ops import Op, is_op, op_named
from srcdiff.runtime import trees
from srcdiff.runtime.copies import attributes, copied, is_open
from srcdiff.runtime.sequences import zeros_of
from srcdiff.runtime.service import made_once
from srcdiff.specialize.inline import function_of, is_user_function

Values = Mapping[str, Any]

def is_float(value: Any) -> bool:
    """Whether a leaf is a real or complex floating point number, or an array of them."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "fc"
    return isinstance(value, (float, complex))


def leaves(value: Any) -> Iterator[Any]:
    """The floating point leaves of a value."""
    return (one for one, _ in contents(value) if is_float(one))


def size(leaf: Any) -> float:
    """The largest number in a leaf."""
    return float(np.max(np.abs(leaf), initial=0.0))


def difference(one: Any, two: Any, slack: float | None) -> tuple[Any, Any] | None:
    """The first parts in which two values differ, None if there are none.

    Numbers may differ by `slack`; bit by bit they are the same where that is None.
    """
    a, b = held_by(one), held_by(two)
    if a is not None and b is not None:
        if list(a) != list(b) or isinstance(one, (list, tuple)) != isinstance(two, (list, tuple)):
            return one, two
        return next((d for key in a if (d := difference(a[key], b[key], slack))), None)
    if not isinstance(one, _NUMBERS) or not isinstance(two, _NUMBERS):
        plain = isinstance(one, _PLAIN) or isinstance(two, _PLAIN)
        same = bool(one == two) if plain else type(one) is type(two) or callable(one)
        return None if same else (one, two)
    same = _form(one, slack is None) == _form(two, slack is None)
    return None if same and _is_near(one, two, slack) else (one, two)


_NUMBERS = (np.ndarray, np.generic, int, float, complex)
_PLAIN = (str, bytes, type(None), *_NUMBERS)
"""Types of which a value equals none of another type."""


def _form(value: Any, exact: bool) -> Any:
    """What two leaves have in common besides their numbers."""
    if isinstance(value, np.ndarray):
        return type(value), value.dtype, value.shape
    return type(value) if exact else None


def _is_near(one: Any, two: Any, slack: float | None) -> bool:
    """Whether two leaves of one type are the same, up to some slack."""
    a, b = np.asarray(one), np.asarray(two)
    if a.dtype.kind not in "fciub":
        return a.dtype.hasobject or bool(np.array_equal(a, b))
    nan = (a != a) & (b != b)
    if slack is None:
        return bool(np.all(nan | ((a == b) & (np.signbit(a.real) == np.signbit(b.real)))))
    return bool(np.all(nan | (a == b) | (abs(a - b) <= slack)))


# --- runs, each on copies and in the world as it was ---------------------------------------------


class Runner(Interpreter):
    """Runs functions of the passes; calls of functions that are still to be generated as well.

    `part` gives the functions that such a callee stands for; `look`, if there is one, is told of
    what every statement binds.  `in_place`: operators in place have that role alone;
    `slopes`: of a value with another derivative than its own, what has that derivative is computed.
    """

    def __init__(
        self,
        part: Callable[[ir.Derived, list[Any]], ir.Function],
        look: Look | None,
        in_place: bool,
        slopes: bool = False,
    ) -> None:
        self.part, self.look, self.in_place, self.slopes = part, look, in_place, slopes

    def statement(self, stmt: ir.Stmt, env: Env) -> None:
        """Run a statement, and look at what it binds."""
        super().statement(stmt, env)
        if self.look is not None and not ir.blocks(stmt):
            for name in ir.writes(stmt):
                self.look(stmt.loc, name, env.get(name))
            if isinstance(stmt, ir.Store):
                self.look(stmt.loc, stmt.base.id, env[stmt.base.id])

    def atom(self, node: ir.Atom, env: Env) -> Any:
        """The value of an atom; functions without source as functions that are run here."""
        found = super().atom(node, env)
        return self.lifted(found) if isinstance(found, Lifted) else found

    def lifted(self, made: Lifted) -> Any:
        """A function without source, as the text of a derivative has it."""
        return made_once(made, "as the text has it", functools.partial(_printed, made))

    def called(self, call: ir.Call, env: Env) -> Any:
        """What a call gives: operators in place, and what loops take, have roles."""
        if self.in_place and is_marked(call):
            one, two = (self.atom(a, env) for a in call.args)
            return ir.IN_PLACE[ir.SYMBOLS[call.fn]](one, two)
        first = call.args[0] if call.args else None
        if isinstance(first, ir.Name) and is_op(call, Op.LEN, Op.GETITEM):
            held = self.atom(first, env)
            keys = is_op(call, Op.GETITEM) and call.role is ir.Role.LOOP
            if keys and isinstance(held, (dict, set, frozenset)):
                return list(held)[self.atom(call.args[1], env)]
            takes = isinstance(held, (Iterator, MappingView))
            if takes and not hasattr(type(held), "__getitem__"):
                env[first.id] = list(held)  # it is one from here on
        return super().called(call, env)

    def apply(self, fn: Any, args: list[Any], kwargs: Env) -> Any:
        """What a callee gives."""
        if isinstance(fn, ir.Derived):
            return self.derived(fn, args)
        if isinstance(fn, Lifted):
            return self.lifted(fn)(*args, **kwargs)
        op = op_named(fn)
        if op is Op.BLOCK:
            return fn(_as_lists(args[0]))  # as it is printed
        if op is Op.ZERO_TREE and _is_list_of_numbers(args[0]):
            return zeros_of(args[0])  # as it is spelled: the sum of an empty list is an integer
        if op is Op.WITH_SLOPE:
            return args[1 if self.slopes else 0]
        if op is Op.GETITEM and is_open(args[0]) and isinstance(args[1], str):
            return getattr(args[0], args[1])  # of an object that is taken apart
        return super().apply(fn, args, kwargs)

    def derived(self, fn: ir.Derived, args: list[Any]) -> Any:
        """What a function that is marked, or still to be generated, gives."""
        if fn.part not in ("primal", "forward", "backward", "jvp"):
            return self.apply(args[0], args[1:], {})
        if fn.part != "primal":
            return self.call(self.part(fn, args), *args)
        callee, names = fn.key.function, [p for p, _ in fn.key.kinds]

        def function(*given: Any) -> Any:
            """The function with its arguments by parameter."""
            if isinstance(callee, Lifted):
                return self.lifted(callee)(*given)
            return called_with(callee, dict(zip(names, given)))

        if not fn.key.written:
            return function(*args)
        at = tuple(k for k, (p, _) in enumerate(fn.key.kinds) if p in fn.key.written)
        return trees.on_copies(function, at, *args)


def _as_lists(value: Any) -> Any:
    """Nested tuples as lists."""
    return [_as_lists(v) for v in value] if isinstance(value, (tuple, list)) else value


def _is_list_of_numbers(value: Any) -> bool:
    """Whether a value is a list of Python's numbers, some of which are floats."""
    plain = isinstance(value, list) and all(isinstance(v, (int, float)) for v in value)
    return plain and any(isinstance(v, float) for v in value)


Look = Callable[[ir.Loc, str, Any], None]
"""What is told of what a statement binds: the statement's place, the name, and the value."""


def _printed(made: Lifted) -> Any:
    """A function without source as it is printed."""
    request = Request((), "tuple", name=made.__name__, internal=True, mode="itself")
    text = module_text(list(pair_of(made, request, {}, ir.HOST)), pair_of, made, request)
    refs = meanings(text.refs, ir.HOST)
    return compile_text(text.text, refs, made.__name__, made.__module__, text.lines)


def called_with(fn: Any, values: Values) -> Any:
    """What a Python function gives for arguments by parameter."""
    bound = signature_of(fn).bind_partial()
    bound.arguments.update(values)
    return fn(*bound.args, **bound.kwargs)


@frozen(eq=False)
class Outcome:
    """What came of a run: what was returned, left in the arguments, and printed; or an error."""

    value: Any = None
    left: Any = None
    printed: str = ""
    error: Exception | None = None


class World:
    """The arguments of a call and what is outside, the same for every run.

    `arguments` are those of `values` that are the user's.
    """

    def __init__(self, values: Values, arguments: Values) -> None:
        self.values, self.arguments = dict(values), arguments
        self.outside: list[Any] = []

    def add(self, function: ir.Function) -> None:
        """Keep what a function mentions of what is outside as it is now."""
        self.outside += [r.value for s in ir.walk(function) for r in ir.refs_of(s)]

    @contextlib.contextmanager
    def as_it_was(self) -> Iterator[None]:
        """Put back at the end what is outside, and random generators; warn of nothing meanwhile."""
        numpy_state, state = np.random.get_state(), random.getstate()
        everything = contents((self.values, self.outside))
        held = [back for one, _ in everything if (back := _put_back(one)) is not None]
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                yield
        finally:
            np.random.set_state(numpy_state)
            random.setstate(state)
            for put_back in held:
                put_back()

    def run(self, do: Callable[[dict[str, Any]], Any]) -> Outcome:
        """What comes of something that is done to copies of the values."""
        out = io.StringIO()
        try:
            with (
                self.as_it_was(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out),
            ):  # fmt: skip
                values = copied(self.values)
                value = do(values)
                left = {n: values[n] for n in self.arguments}
                value, left = copied((value, left))
                return Outcome(value, left, out.getvalue())
        except ValidationError:
            raise  # of a derivative that the function itself calls
        except Exception as error:  # is what comes of it
            return Outcome(error=error)


def _put_back(value: Any) -> Callable[[], None] | None:
    """What makes a value what it is now; None where it cannot change."""
    if isinstance(value, np.ndarray) and value.flags.writeable:
        return functools.partial(np.copyto, value, value.copy())
    if isinstance(value, np.random.Generator):
        generator, state = value.bit_generator, copy.deepcopy(value.bit_generator.state)
        return functools.partial(setattr, generator, "state", state)
    if isinstance(value, np.random.RandomState):
        return functools.partial(value.set_state, value.get_state())
    if isinstance(value, list):
        return functools.partial(value.__setitem__, slice(None), list(value))
    if isinstance(value, dict):
        return functools.partial(_refill, value, dict(value))
    if is_open(value) and not isinstance(value, tuple):
        return functools.partial(_set_attributes, value, dict(attributes(value)))
    return None


def _refill(value: dict[Any, Any], items: Mapping[Any, Any]) -> None:
    """Make a dict hold what it held."""
    value.clear()
    value.update(items)


def _set_attributes(value: Any, items: Mapping[str, Any]) -> None:
    """Make an object hold what it held."""
    for name, item in items.items():
        object.__setattr__(value, name, item)


# --- what may not be run twice -------------------------------------------------------------------


_HARMLESS = (
    Op.PRINT, Op.WARN, Op.NEXT, Op.ITER, Op.MAP, Op.FILTER, Op.SETATTR, Op.SETITEM, Op.DELITEM,
)  # fmt: skip
"""What does more than a call that is pure does, of which nobody sees anything after a run."""


def effect(function: ir.Function, seen: frozenset[Any] = frozenset()) -> str | None:
    """What a function may do to the world besides printing; None if that is nothing."""
    for stmt in ir.walk(function):
        call = stmt.iter if isinstance(stmt, ir.For) else ir.call_of(stmt)
        for ref in ir.refs_of(stmt):
            if is_user_function(ref.value) and (found := _effect_of(ref.value, seen)):
                return found
        if isinstance(call, ir.Call) and (found := _effect_of_call(call, seen)):
            return found
    return None


def _effect_of_call(call: ir.Call, seen: frozenset[Any]) -> str | None:
    """What a call may do to the world."""
    fn: Any = call.fn
    said = f"calls `{call.text or getattr(fn, 'name', getattr(fn, '__name__', fn))}`"
    if isinstance(fn, Lifted):
        return "calls a local function"
    if isinstance(fn, ir.Method):
        drawn = hasattr(np.random.Generator, fn.name) or hasattr(np.random.RandomState, fn.name)
        return None if is_pure(fn) or only_writes(fn) or drawn else said
    hashable = getattr(type(fn), "__hash__", None) is not None
    if isinstance(fn, ir.Name) or not hashable or "file" in dict(call.kwargs):
        return said  # whatever it stands for
    if isinstance(fn, ir.Derived):
        function = getattr(fn.key, "function", None)
        return said if function is None else _effect_of(function, seen)
    if is_user_function(fn):
        return _effect_of(fn, seen)
    own = is_op(call, *_HARMLESS) or only_writes(fn) or is_pure(fn)
    if own or module_of(fn).startswith(("srcdiff.", "numpy.random")):
        return None
    owner = getattr(fn, "__self__", None)
    return None if isinstance(owner, (np.random.Generator, np.random.RandomState)) else said


def _effect_of(fn: Any, seen: frozenset[Any]) -> str | None:
    """What a Python function may do to the world."""
    if fn in seen:
        return None
    function = fn.function if isinstance(fn, Lifted) else function_of(fn)
    return None if function is None else effect(function, seen | {fn})
