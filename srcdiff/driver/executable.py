"""What was generated for one derivative, by what it was generated for.

Takes the function, the request and the kinds of the arguments of a call; gives the specialisation
for them: its functions, which name the user's line in their errors, and its text.  The functions
for a batch of cotangents or of directions are generated when first asked for.

Functions that are made anew in each call: what was generated for one serves those like it.

Two closures are alike if they have the same code, and if all that they can read from outside is
the same but for arrays and numbers, which differ in what they hold alone.  Whatever else they
capture than arrays, numbers, texts, modules and functions, they are generated for one by one.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from srcdiff import ir
from srcdiff.backends.loader import add_place, place_in, with_place
from srcdiff.backends.target import loaded, meanings, released, seed_check
from srcdiff.driver.arguments import LARGE, has_large
from srcdiff.driver.guards import (
    Names,
    Watch,
    cell_of,
    conditions,
    conditions_of_key,
    unchanged,
)
from srcdiff.errors import TransformError, UnsupportedError
from srcdiff.frontend.request import Request
from srcdiff.frontend.signatures import Variable, WithFree
from srcdiff.ir import Loc
from srcdiff.ir.frozen import frozen, replace, state
from srcdiff.kinds.lattice import Relation, key_of, kind_of
from srcdiff.runtime.copies import PLAIN
from srcdiff.runtime.service import compiler, is_derivative

if TYPE_CHECKING:
    from srcdiff.codegen.emit import Made
    from srcdiff.driver.snapshots import Outside

CANNOT: Any = object()
"""In place of derivatives: a batch goes through one by one."""

Direct = Callable[[tuple[Any, ...]], Any]
MISSED: Any = object()
"""What a direct call gives that is not for its arguments, or made of what has changed since."""


# --- specialisations ------------------------------------------------------------------------------


@frozen(eq=False)
class Compiled:
    """One specialisation: its function and text, and what it was generated from.

    `written` are the parameters that the primal writes into, `held` the arrays outside that it
    may read, `returns` where it returns, `put` the containers outside that values with a
    derivative are put into.
    """

    function: Any
    text: str
    scalar: bool
    primal: Any
    origin: Any
    request: Request
    kinds: Mapping[str, ir.Kind]
    watch: Watch
    written: tuple[str, ...]
    held: tuple[tuple[str, Any], ...]
    returns: tuple[Loc, ...]
    put: tuple[Any, ...]
    target: ir.Target
    calls: list[Direct] = field(default_factory=list)

    def called(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], grad_outputs: Any) -> Any:
        """What the function gives; errors name the user's line."""
        try:
            if grad_outputs is None:
                return self.function(*args, **kwargs)
            if self.scalar:
                grad_outputs = self.seeded(grad_outputs)
            return self.function(*args, grad_outputs=grad_outputs, **kwargs)
        except Exception as error:  # as `with_place` does, which would take a tenth longer
            add_place(error, self.returns)
            raise

    def direct(self, args: tuple[Any, ...], large: bool | None, lengths: Sequence[str]) -> Direct:
        """The direct call for arguments like these, which is made once."""
        if not self.calls:
            self.calls.append(self._direct(args, large, lengths))
        return self.calls[0]

    def _direct(self, args: tuple[Any, ...], large: bool | None, lengths: Sequence[str]) -> Direct:
        """What `called` does for arguments like these, given by position; `MISSED` for others.

        Nothing is asked but whether they are, and whether anything has changed outside: this takes
        microseconds less, which is most of what the derivative of a number costs.  `large`: whether
        there have to be large arrays, None: no matter; `lengths` is
        what is relied on of theirs.
        """
        name = Names()
        params = [f"x{k}" for k in range(len(args))]
        function = self.function
        asked = [c for x, value in zip(params, args) for c in conditions_of_key(value, x, name)]
        asked += lengths
        if large is not None:
            arrays = [x for x, value in zip(params, args) if type(value) is np.ndarray]
            others = any(isinstance(a, (list, tuple, dict)) for a in args)
            sizes = [f"{x}.size >= {LARGE}" for x in arrays]
            whole = [f"{name(has_large)}(args)"] if others else sizes or ["False"]
            asked.append(f"({' or '.join(whole)}) is {large}")
        if type(function) is Either:
            asked.append(f"{name(function)}.found is None")
            function = function.native
        asked += conditions(self.watch, name)
        given = ", ".join(params)
        text = f"""
def direct(args):
    if len(args) != {len(args)}:
        return missed
    {f"[{given}] = args" if args else ""}
    if not ({" and ".join(asked)}):
        return missed
    try:
        return {name(getattr(function, "function", function))}({given})
    except Exception as error:
        return failed(error, args)
"""
        space = {"missed": MISSED, "failed": self.failed, **name.values}
        exec(compile(text, "<guards of srcdiff>", "exec"), space)
        found: Direct = space["direct"]
        return found

    def failed(self, error: Exception, args: tuple[Any, ...]) -> Any:
        """What is given after an error: of Numba, where it compiles nothing for arguments."""
        try:
            if isinstance(self.function, Either):
                return self.function.after(error, args)
            if hasattr(self.function, "failed"):
                self.function.failed(error)
            raise error
        except Exception as told:
            add_place(told, self.returns)
            raise

    @property
    def source(self) -> str:
        """The text of what runs."""
        either = self.function
        found = either.found if type(either) is Either else None
        return self.text if found is None else found.text

    @functools.cached_property
    def seeded(self) -> Callable[[Any], Any]:
        """What checks the cotangent of one number."""
        return seed_check(self.target)

    @property
    def of_batches(self) -> ir.Target:
        """Where the function for a batch runs, which has an axis that loops do not know."""
        return replace(self.target, compiler=None)

    @functools.cached_property
    def many(self) -> tuple[Any, str] | None:
        """The function for a batch of directions or cotangents, and its text; None: one by one.

        In reverse mode it is a backward part, which takes the residuals of the forward part.
        """
        if self.target.on_device or self.target.native or not unchanged(self.watch):
            return None  # or the residuals are those of a function that is no more
        from srcdiff.autodiff.batch.forms import NoBatchError

        try:
            made = self._derive_many()
        except NoBatchError:
            return None
        name = self.request.name
        refs = meanings(made.emitted.refs, self.of_batches)
        found = loaded(made, refs, name, self.primal, self.of_batches)
        end = "backward_batch" if self.request.mode == "reverse" else "batch"
        return found.functions[f"{name}_{end}"], found.text

    @functools.cached_property
    def run_many(self) -> Any:
        """That function; where derivatives are verified its first call is."""
        assert self.many is not None
        function = self.many[0]
        return compiler().verified_batch(self, function) if self.request.verify else function

    def release(self) -> None:
        """Let go of the memory that is kept for arrays; what somebody holds stays theirs."""
        if self.target.workspace:
            released(self.function)
            many = vars(self).get("many")
            if many is not None:
                released(many[0])

    def _derive_many(self, watch: Any = None) -> Made:
        """What the compiler makes for a batch; `watch` is told of its passes."""
        from srcdiff.driver import pipeline
        from srcdiff.driver.second_order import derived

        target = self.of_batches
        compile: Compile = functools.partial(pipeline.derive_forward, target=target)
        if self.request.mode == "reverse":
            places = self.places if isinstance(self, CompiledPair) else ()
            compile = functools.partial(pipeline.derive_backward, target=target, places=places)
        asked = self.origin, self.request, self.kinds
        if watch is None and self.of_batches == ir.HOST:
            return made_alike(compile, *asked, self.watch)
        return derived(functools.partial(compile, watch=watch), *asked)

    def called_many(self, *args: Any, **kwargs: Any) -> Any:
        """What the function for a batch gives; errors name the user's line."""
        if self.request.validate:
            from srcdiff.driver.validation import validate_batch

            count = 0 if self.request.mode == "reverse" else len(self.request.inputs)
            validate_batch(self._derive_many, args, kwargs, count)
        return with_place((), self.run_many, *args, **kwargs)


@frozen(eq=False)
class CompiledPair(Compiled):
    """A forward part, which is the function, and a backward part."""

    backward: Any = None
    consumes: bool = False
    places: tuple[tuple[int, ...], ...] = ()  # of the residuals, where they are joined

    @functools.cached_property
    def has_effects(self) -> bool:
        """Whether the forward part draws random numbers, prints, or counts."""
        from srcdiff.driver.second_order import effects

        return any(True for _ in effects(self.function))

    @functools.cached_property
    def outside(self) -> Outside:
        """What the two parts read from outside."""
        from srcdiff.driver.snapshots import Outside

        return Outside(self.text, self.function, self.backward)


class Either:
    """A function that Numba compiles when it is called, or in its place the one for NumPy.

    `plain` gives that, and `said` is told why it is needed.
    """

    def __init__(
        self, native: Any, plain: Callable[[], Compiled], said: Callable[[object], None]
    ) -> None:
        self.native, self.plain, self.said = native, plain, said
        self.found: Compiled | None = None
        self.__signature__ = inspect.signature(native)
        self.__code__, self.__globals__ = native.__code__, native.__globals__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives."""
        if self.found is None:
            try:
                return self.native(*args, **kwargs)
            except (UnsupportedError, NotImplementedError) as error:  # Numba's: of layouts, say
                self.refused(error)
        assert self.found is not None
        return self.found.function(*args, **kwargs)

    def after(self, error: Exception, args: tuple[Any, ...]) -> Any:
        """What the function gives where Numba's has raised an error."""
        try:
            self.native.failed(error)
            raise error
        except (UnsupportedError, NotImplementedError) as refused:
            self.refused(refused)
        assert self.found is not None
        return self.found.function(*args)

    def refused(self, error: Exception) -> None:
        """From here on NumPy runs it."""
        self.found = self.plain()
        self.said(error)


def compiled_if_taken(
    generate: Callable[[ir.Target], Compiled],
    target: ir.Target,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    said: Callable[[object], None],
    selected: Callable[[Any], Any],
    large: bool,
) -> Compiled:
    """What Numba compiles, or where it is refused what Python runs; `said` is told why.

    Python runs it, and loops alone are compiled, where the arrays are `large` and nothing but these
    repeats: memory for new arrays is faster with NumPy.  `selected` are the outputs that have a
    cotangent, of what the function returns.

    Raises:
        UnsupportedError: NumPy does not run it either.
    """

    def plain() -> Compiled:
        return generate(replace(target, compiler="loops"))

    if large and _is_straight(made := plain()):
        return made
    try:
        found = generate(target)
        if isinstance(found, CompiledPair):  # the second part has to take what the first one gives
            from srcdiff.backends.numba import jit

            jit.accept_pair(found.function, found.backward, args, kwargs, selected)
            return found
    except UnsupportedError as error:
        refused = error
    else:
        return replace(found, function=Either(found.function, plain, said))
    made = plain()
    said(refused)
    return made


def _is_straight(made: Compiled) -> bool:
    """Whether what Python runs of a text with loops repeats nothing."""
    functions = [n for n in ast.parse(made.text).body if isinstance(n, ast.FunctionDef)]
    run = [f for f in functions if not f.decorator_list]
    repeats = (ast.For, ast.While, ast.comprehension)
    alone = len(run) == (2 if isinstance(made, CompiledPair) else 1)
    return alone and not any(isinstance(n, repeats) for f in run for n in ast.walk(f))


@state
class Specialisations:
    """What was generated for one request, by what it was generated for."""

    by_key: dict[Any, Compiled] = field(default_factory=dict)
    by_kinds: dict[Any, Compiled] = field(default_factory=dict)
    pairs: dict[Any, CompiledPair] = field(default_factory=dict)
    checked: dict[Any, bool] = field(default_factory=dict)
    related: dict[Any, tuple[tuple[Relation, ...], ...]] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)


_MOST = 256


def keep(table: dict[Any, Any], key: Any, made: Any) -> None:
    """Put something into a table; of very many the oldest is forgotten."""
    table[key] = made
    if len(table) > _MOST:
        table.pop(next(iter(table)))


def key_of_call(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """What a call has in common with all that run the same generated function."""
    key = tuple([key_of(a) for a in args])
    return (key, *((k, key_of(kwargs[k])) for k in sorted(kwargs))) if kwargs else key


def layout_of(value: Any) -> Any:
    """How the arrays of a value lie in memory."""
    if type(value) is np.ndarray:
        return value.flags.c_contiguous, value.flags.f_contiguous, value.flags.writeable
    if isinstance(value, (tuple, list, dict)):
        return tuple(map(layout_of, value.values() if isinstance(value, dict) else value))
    return None


# --- functions that are made anew in each call: what was generated for one serves those like it --


_MOST_ALIKE = 64
_lock = threading.Lock()
Make = Callable[[tuple[Variable, ...]], "Made"]
"""What compiles a function, of which variables outside are parameters until it is finished."""
Compile = Callable[..., "Made"]
"""`compile(origin, request, kinds, numbers=...)`"""


@frozen
class _Kept:
    """What was generated for a closure, without what it captured.

    `places` say what the global names of the text are: an array, number or function of a closure,
    by its number.  `held` are the objects whose identity the key names, so that they stay what
    they are.  Nothing is `made` where the numbers have to be constants.
    """

    made: Made | None
    places: Mapping[str, int]
    held: tuple[Any, ...]


@frozen
class _Seen:
    """The numbers of the first closure of its like, and which of them have differed since."""

    numbers: tuple[Hashable, ...]
    varying: frozenset[int]
    held: tuple[Any, ...]


_kept: OrderedDict[Hashable, Any] = OrderedDict()


def made_alike(
    compile: Compile, origin: Any, request: Request, kinds: ir.Kinds, watch: Watch
) -> Made:
    """What is compiled of a function or a derivative, or was of one like it for the same request.

    A number that is read from outside is a constant; where another one comes the function is made
    once more, for any.  Of functions that calls make; those of a module are made once, and may go
    with it.
    """
    from srcdiff.driver.second_order import derived

    def make(numbers: tuple[Variable, ...]) -> Made:
        known = {v.name: kind_of(v.value(), v.name) for v in numbers}
        own = functools.partial(compile, numbers=numbers)
        return derived(own, _over(origin, numbers), request, {**kinds, **known})

    f, orders = _behind(origin)
    is_made = isinstance(f, types.FunctionType) and ("<" in f.__qualname__ or f.__closure__)
    if not is_made or any(map(holds_function, kinds.values())):
        return make(())
    look = _Look(watch)
    if not look.plain:
        return make(())
    how = compile.func, repr(compile.keywords)  # type: ignore[attr-defined]
    alike = how, request, orders, tuple(kinds.items()), look.key
    same = alike, look.numbers
    found = _recalled(same)
    if found is None and look.lent:
        found = _for_any_number(look, alike, make)
    if found is not None and found.made is not None:
        return look.filled(found.made, found.places)
    made = make(())
    _remember(same, look.emptied(made))
    return made


def _behind(origin: Any) -> tuple[Any, tuple[Hashable, ...]]:
    """The function that an origin is a derivative of, and what is asked of it at each order."""
    orders: list[Hashable] = []
    while is_derivative(origin) and origin.asked is not None:
        orders.append(origin.asked)
        origin = origin.origin
    return origin, tuple(orders)


def _over(origin: Any, numbers: tuple[Variable, ...]) -> Any:
    """An origin in which variables of the function behind it are parameters."""
    if not numbers:
        return origin
    if is_derivative(origin):
        return origin.over(_over(origin.origin, numbers))
    return WithFree(origin, numbers)


def _for_any_number(look: _Look, key: Hashable, make: Make) -> _Kept | None:
    """What is made of a function for any of the numbers that have differed so far."""
    seen = _recalled(key) or _Seen(look.numbers, frozenset(), tuple(look.held))
    pairs = enumerate(zip(seen.numbers, look.numbers))
    varying = seen.varying | {k for k, (one, other) in pairs if one != other}
    _remember(key, replace(seen, varying=varying))
    if not varying:
        return None
    rest = tuple(n for k, n in enumerate(look.numbers) if k not in varying)
    whole = key, varying, rest
    found: _Kept | None = _recalled(whole)
    if found is None:
        lent = tuple(look.lent[k] for k in sorted(varying))
        found = _made_for_any(look, lent, make) or _Kept(None, {}, tuple(look.held))
        _remember(whole, found)
    return found


def _made_for_any(look: _Look, lent: tuple[Variable, ...], make: Make) -> _Kept | None:
    """What is made of a function that is lent its variables; None where it has to know them.

    Whether a pass has to know a number (an axis, a shape, how often a loop is written out) that
    pass alone can tell: compiling it is the question, which is asked once, as the answer is kept.
    """
    try:
        return look.emptied(make(lent))
    except TransformError:  # a number has to be a constant, or is read in another way
        return None


def _recalled(key: Hashable) -> Any:
    """What is kept for a key."""
    with _lock:
        found = _kept.get(key)
        if found is not None:
            _kept.move_to_end(key)
        return found


def _remember(key: Hashable, kept: _Kept | _Seen | None) -> None:
    """Keep something for a key; of very many what was not asked for longest is forgotten."""
    if kept is not None:
        with _lock:
            _kept[key] = kept
            if len(_kept) > _MOST_ALIKE:
                _kept.popitem(last=False)


def holds_function(kind: ir.Kind) -> bool:
    """Whether a value is or holds a function, which its kind would keep alive."""
    return isinstance(kind, ir.Callable) or any(map(holds_function, ir.inside(kind)))


class _Look:
    """What a function can read: the key that closures like it have in common, and what differs.

    `parts` are its functions, arrays and numbers.  `lent` are the variables whose numbers may
    differ, which `numbers` says all of; other numbers stand in the key.
    """

    def __init__(self, watch: Watch) -> None:
        self.parts: list[Any] = [f for f, *_ in watch.functions]  # and the rest, as it is met
        self.places = {id(f): k for k, f in enumerate(self.parts)}
        self.held: list[Any] = []
        self.plain = not watch.members
        self.lent = _variables_of(self.parts, watch)
        self.numbers = tuple(repr(v.value()) for v in self.lent)
        lent = {(id(v.place), v.name) for v in self.lent}
        cells = {id(v.place) for v in self.lent}
        names = [one for one in watch.names if (id(one[0]), one[1]) not in lent]
        (_, rules), *reads = watch.reads
        self.key: tuple[Hashable, ...] = (
            self.same(rules),
            *map(self.function, tuple(self.parts)),
            *(self.value(v) for read, v in reads if id(cell_of(read)) not in cells),
            *((self.space(space), name, self.value(value)) for space, name, value in names),
            *((v.name, type(v.value())) for v in self.lent),
        )
        for variable in self.lent:
            self.places[id(variable)] = len(self.parts)
            self.parts.append(variable.value())
        arrays = [value for value in self.parts if type(value) is np.ndarray]
        pairs = itertools.combinations(arrays, 2) if any(a.base is not None for a in arrays) else ()
        self.key += tuple(np.may_share_memory(one, two) for one, two in pairs)
        self.plain = self.plain and all(type(value) is np.ndarray for value, _ in watch.held)

    def function(self, f: types.FunctionType) -> Hashable:
        """A function but for what it captures."""
        if f.__dict__.keys() - {"__srcdiff_made__"} or any(map(_is_empty, f.__closure__ or ())):
            self.plain = False
        defaults = tuple(map(self.value, f.__defaults__ or ()))
        names = f.__module__, f.__qualname__, f.__code__.co_filename
        return (f.__code__, *names, self.same(f.__globals__), f.__defaults__ is None, *defaults)

    def space(self, space: Mapping[str, Any]) -> Hashable:
        """A namespace: that of a module, or the defaults of a function."""
        own = (k for k, f in enumerate(self.parts) if space is getattr(f, "__kwdefaults__", None))
        place = next(own, None)
        return self.same(space) if place is None else ("defaults", place)

    def same(self, value: Any) -> int:
        """An object that is to be the very same."""
        self.held.append(value)
        return id(value)

    def value(self, value: Any) -> Hashable:
        """What is read: arrays by what they are like, in the order in which they are met."""
        if _is_number(value):
            return type(value), repr(value)
        if id(value) in self.places:
            return "place", self.places[id(value)]
        if type(value) is np.ndarray and not value.dtype.hasobject:
            self.places[id(value)] = len(self.parts)
            self.parts.append(value)
            return "array", value.dtype, value.shape, value.strides, value.flags.writeable
        self.plain = self.plain and _is_fixed(value)
        return self.same(value)

    def emptied(self, made: Made) -> _Kept | None:
        """What was made, without what differs; None if it may hold that in other ways."""
        refs = made.emitted.refs
        places = {n: self.places[id(v)] for n, v in refs.items() if id(v) in self.places}
        others = {n: v for n, v in refs.items() if n not in places}
        if not all(_is_number(v) or _is_fixed(v) for v in others.values()):
            return None
        lines = {line: _of_user(loc) for line, loc in made.emitted.lines.items()}
        emitted = replace(made.emitted, refs=others, lines=lines)
        returns = tuple(map(_of_user, made.returns))
        whole = replace(made, emitted=emitted, returns=returns, functions=())
        return _Kept(whole, places, tuple(self.held))

    def filled(self, made: Made, places: Mapping[str, int]) -> Made:
        """What was made for a closure like this one, with what this one has."""
        refs = {**made.emitted.refs, **{name: self.parts[k] for name, k in places.items()}}
        return replace(made, emitted=replace(made.emitted, refs=refs))


def _of_user(loc: Loc) -> Loc:
    """The user's line for one of a text that may be forgotten before this one."""
    return place_in(loc.file, loc.line) or loc


def _variables_of(functions: Iterable[Any], watch: Watch) -> tuple[Variable, ...]:
    """The variables outside of functions that hold numbers, where a name means one of them.

    What is read as an attribute of a module as well stays a constant.
    """
    found: dict[str, dict[int, Variable]] = {}
    spaces = set()
    for f in functions:
        spaces.add(id(f.__globals__))
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
            found.setdefault(name, {})[id(cell)] = Variable(name, cell)
    for space, name, _ in watch.names:
        if id(space) in spaces:
            found.setdefault(name, {})[id(space)] = Variable(name, space)
    single = [v for places in found.values() if len(places) == 1 for v in places.values()]
    open_ = [v for v in single if (id(v.place), v.name) not in watch.attributes]
    numbers = (int, float, complex)  # neither a flag nor a text
    return tuple(
        v for v in open_
        if not _is_unset(v) and (type(n := v.value()) in numbers or isinstance(n, np.number))
    )  # fmt: skip


def _is_unset(variable: Variable) -> bool:
    """Whether a variable has no value: a builtin has the name."""
    place = variable.place
    return _is_empty(place) if isinstance(place, types.CellType) else variable.name not in place


def _is_number(value: Any) -> bool:
    """Whether a value is a number or a text, which its representation says all of."""
    return type(value) in PLAIN or isinstance(value, (np.number, np.bool_))


def _is_fixed(value: Any) -> bool:
    """Whether a value is a module, a class, or a plain function of a library or of ours."""
    if not isinstance(value, types.FunctionType):
        compiled = types.BuiltinFunctionType, np.ufunc, type(np.sum)
        return isinstance(value, (types.ModuleType, type, *compiled))
    ours = str(value.__module__).partition(".")[0] in ("srcdiff", "numpy", "scipy")
    return ours and not value.__closure__


def _is_empty(cell: types.CellType) -> bool:
    """Whether a closure variable has no value yet."""
    try:
        return cell.cell_contents is cell
    except ValueError:
        return True
