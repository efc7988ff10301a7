"""A derivative: a callable that is generated for the kinds of its arguments at the first call.

Takes a function and options; gives what the transforms of `api` return.  A specialisation serves
for as long as nothing that it was made from has changed.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
import warnings
from collections.abc import Callable, Container, Hashable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from srcdiff import ir
from srcdiff.analysis.manager import uncollected
from srcdiff.backends.loader import Loaded
from srcdiff.backends.target import arrays_among, loaded, meanings
from srcdiff.driver.anomaly import as_now
from srcdiff.driver.arguments import (
    arrays_of,
    check_input,
    check_memory,
    check_plain,
    check_put,
    check_read,
    has_large,
)
from srcdiff.driver.callables import (
    Transformed,
    behind_receiver,
    declared_kind,
    documented,
    gradient_kind,
    offers,
    receiver_of,
    signature_without_seed,
    with_keywords,
    without_seed_by_position,
)
from srcdiff.driver.executable import (
    MISSED,
    Compiled,
    CompiledPair,
    Direct,
    Specialisations,
    compiled_if_taken,
    keep,
    key_of_call,
    layout_of,
    made_alike,
)
from srcdiff.driver.guards import Watch, conditions_of_lengths, said_by, unchanged, watched
from srcdiff.driver.options import Options, request_of, target_of, uncompiled, with_arrays
from srcdiff.driver.structures import given_at, names_parameter, part_of, selected
from srcdiff.errors import (
    SrcdiffError,
    TransformError,
    UncompiledWarning,
    entry,
    is_whole,
    shortened,
)
from srcdiff.frontend.request import items_of, spelled
from srcdiff.frontend.signatures import arguments, leaves_out, signature_of
from srcdiff.ir import Call, Loc
from srcdiff.ir.frozen import replace
from srcdiff.kinds.lattice import (
    Relation,
    are_related,
    key_of,
    kind_of,
    lengths_in,
    related,
    relations_of,
)
from srcdiff.runtime import records
from srcdiff.runtime.contexts import Holding
from srcdiff.runtime.service import compiler, made_once
from srcdiff.texts import line_of

if TYPE_CHECKING:
    from srcdiff.codegen.emit import Made
    from srcdiff.driver.pullback import Pullback

C = TypeVar("C", bound=Compiled)


_MOST_RELATED = 4
"""For how many ways in which lengths are related one kind of call is compiled."""


@offers("primal", "source", release_workspace=lambda made: made.target.workspace)
class Derivative(Transformed):
    """The derivative of a function, generated for each combination of argument kinds.

    Calling it takes the function's arguments and `grad_outputs`.  `.source` is the generated text
    (of the latest specialisation, or for arguments of any kind before the first call), `.primal`
    the function.
    """

    shown_in_notebooks: ClassVar[Callable[[Derivative, ir.Kinds], str | None] | None] = None
    """What makes a page of a derivative; the report is put here where srcdiff is imported."""

    __srcdiff_function__ = True
    options: Options

    def __init__(self, primal: Any, options: Options) -> None:
        self.primal = primal
        self.options = options
        origin, self.receiver = receiver_of(primal)
        own = behind_receiver(options) if self.receiver else options
        self.origin, self._own = without_seed_by_position(origin, own)
        self.request = request_of(self.origin, self._own)
        self.target = target_of(self.origin, options)
        way = self.target, options.compile == "auto"
        made = made_once(self.origin, (self.request, *way), Specialisations)
        self._lock, self._cache = made.lock, made.by_key
        self._by_kinds, self._pairs = made.by_kinds, made.pairs
        self._checked, self._related = made.checked, made.related
        self._latest: Compiled | None = None
        self._direct: Direct | None = None  # the call of the latest one, once there was a second
        functools.update_wrapper(self, primal, updated=())
        what = "The value and the gradient" if options.value else "The gradient"
        by = ", ".join(f"`{spelled(i.param, i.path)}`" for i in self.request.inputs)
        self.__doc__ = documented(what, primal, f" with respect to {by}")
        self.__signature__ = with_keywords(signature_without_seed(primal), grad_outputs=None)

    def __call__(self, *args: Any, grad_outputs: Any = None, **kwargs: Any) -> Any:
        """The gradients for these arguments."""
        try:
            direct = self._direct
            if direct is not None and grad_outputs is None and not (kwargs or Holding.is_used):
                found = direct(args)
                if found is not MISSED:
                    return found
            args = (*self.receiver, *args)
            now = self._as_now()
            if now.options.saves:
                return now._in_two_parts(args, kwargs, grad_outputs)
            return now._found(args, kwargs).called(args, kwargs, grad_outputs)
        except SrcdiffError as error:
            if is_whole(error):
                raise
            raise shortened(error) from None  # SRCDIFF_TRACEBACK=full shows all

    def _found(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Compiled:
        """The specialisation for some arguments, which it may be called with."""
        key = self._key(args, kwargs)
        found = self._cache.get(key)
        if found is None or not unchanged(found.watch):
            found = self._for_call(self._cache, key, args, kwargs)
        if found is not self._latest:
            self._latest, self._direct = found, None
        elif self._direct is None and not (kwargs or self.receiver or found.written or found.put):
            large = has_large(args) if self.options.compile == "auto" else None
            relations = key[0] if self.options.compile else ()
            lengths = conditions_of_lengths(relations, self._by_position or (), args)
            self._direct = None if lengths is None else found.direct(args, large, lengths)
        if found.written or found.put:
            self._check_memory(found, args, kwargs)
        return found

    def _key(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """What calls have in common that run the same specialisation.

        First of all what loops rely on, where it is compiled.
        """
        key = key_of_call(args, kwargs)
        if not self.options.compile:
            return key
        related = self._relations(key, args, kwargs)
        if self.options.compile != "auto":
            return related, key
        return related, key, has_large(args) or has_large(tuple(kwargs.values()))

    def _relations(
        self, key: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[Relation, ...]:
        """What the lengths of arguments have in common, which loops rely on.

        What was generated for less in common serves as well; of too many ways nothing is relied on,
        nor of functions that take any number of arguments, nor where another order of a sum counts.
        """
        if not self.options.compile or self.options.strict or self._by_position is None:
            return ()
        values = (*zip(self._by_position, args), *kwargs.items())
        lengths = dict(n for name, value in values for n in lengths_in(value, name))
        with self._lock:
            known = self._related.get(key, ())
            found = next((r for r in known if are_related(lengths, r)), None)
            if found is None and len(known) < _MOST_RELATED:
                found = relations_of(lengths)
                keep(self._related, key, (*known, found))
        return found or ()

    def _as_now(self) -> Derivative:
        """This derivative, or inside of `detect_anomaly` or `saved_hooks` the one for that."""
        options = as_now(self._own)
        return self if options is self._own else Derivative(self.origin, options)

    def _in_two_parts(self, args: Any, kwargs: Mapping[str, Any], grad_outputs: Any) -> Any:
        """The gradients by a forward part, which saves what it keeps, and a backward part."""
        value, pull = self.recorded(args, kwargs, at_once=True)
        gradients = pull(grad_outputs, retain_graph=False)
        return self.request.packed(value, gradients)

    def recorded(
        self,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        at_once: bool = False,
        keep: bool = False,
    ) -> tuple[Any, Pullback]:
        """One forward run: the value and its pullback (see `pullback.recorded`)."""
        from srcdiff.driver.pullback import recorded

        pair = self.pair(*args, **kwargs)
        return recorded(pair, (*self.receiver, *args), kwargs, at_once, keep)

    @functools.cached_property
    def unbound(self) -> Derivative:
        """The derivative of the function behind a method."""
        return type(self)(self.origin, self._own) if self.receiver else self

    @functools.cached_property
    def _plain(self) -> Derivative:
        """What is differentiated again: the derivative as NumPy runs it, without a workspace."""
        options = replace(self.options, compile=None, workspace=False, threads=1)
        return self if self.target == ir.HOST else Derivative(self.primal, options)

    def _for_call(
        self, table: dict[Any, C], key: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> C:
        """The specialisation for some arguments, or its two parts, generated once."""
        pair = table is self._pairs

        def make() -> Any:
            arrays = arrays_among(self._arguments(args, kwargs))
            if self.request.validate:
                self.validate(args, kwargs, pair)
            kinds = self.kinds(args, kwargs)
            if self.options.compile:
                kinds = {n: related(k, key[0]) for n, k in kinds.items()}
            if self.options.compile == "auto":
                said = _unsaid if self.options.strict else self._say
                made = self._compiled_if_taken(kinds, arrays, said, pair, args, kwargs)
            else:
                made = self._generate(kinds, with_arrays(self.target, arrays), pair)
            if self.request.verify:
                compiler().verify(self, made, args, kwargs)
            return made

        return self._kept(table, key, make)

    def _compiled_if_taken(
        self, kinds: ir.Kinds, arrays: str, said: Callable[[object], None], pair: bool = False,
        args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] = MappingProxyType({}),
    ) -> Any:  # fmt: skip
        """The specialisation that Numba compiles, or that for Python: then `said` is told why."""

        def generate(target: ir.Target) -> Any:
            return self._generate(kinds, target, pair)

        target = replace(self.target, arrays=arrays)
        reason = uncompiled(self.options, target)
        if pair and names_parameter(self.request.outputs, kinds):
            reason = reason or "an output is what the function leaves in an argument"
        if not reason:
            large = has_large(args) or has_large(tuple(kwargs.values()))
            return compiled_if_taken(generate, target, args, kwargs, said, self._selected, large)
        made = generate(replace(target, compiler=None))
        said(reason)
        return made

    def _selected(self, value: Any) -> Any:
        """The outputs that have a cotangent, of what the function returns."""
        value = value[0] if self.request.has_aux else value
        return selected(value, self.request.outputs, {})

    def _say(self, reason: object) -> None:
        """Say that NumPy runs the derivative, once for a function."""
        said: list[object] = made_once(self.origin, ("uncompiled",), list)
        if not said:
            said.append(reason)
            name = getattr(self.origin, "__name__", type(self.origin).__name__)
            first = str(reason).partition("\n")[0]
            what = f"compile='auto': NumPy runs what is derived of `{name}`: {first}"
            warnings.warn(what, UncompiledWarning, stacklevel=2)

    def _kept(self, table: dict[Any, C], key: Any, make: Callable[[], C]) -> C:
        """What a table has, unless something has changed that it was made from."""
        with self._lock:
            found = table.get(key)
            if found is None or not unchanged(found.watch):
                found = make()
                keep(table, key, found)
            return found

    def _arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by parameter."""
        return arguments(self.origin, [i.param for i in self.request.inputs], args, kwargs)

    def kinds(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, ir.Kind]:
        """The kinds of the arguments by parameter."""
        return self._checked_kinds(self._arguments(args, kwargs))

    def _checked_kinds(self, values: Mapping[str, Any]) -> dict[str, ir.Kind]:
        """The kinds of arguments, of which the inputs can carry a derivative."""
        check_plain(values)
        kinds = {n: kind_of(v, n) for n, v in values.items()}
        for item in self.request.inputs:
            part = part_of(kinds[item.param], item, self.primal)
            value = given_at(values[item.param], item, self.primal)
            check_input(spelled(item.param, item.path), value, part, self.primal)
        return kinds

    @uncollected()
    def _generate(self, kinds: ir.Kinds, target: ir.Target, pair: bool = False) -> Any:
        """The specialisation for some kinds, or its two parts."""
        watch = watched(self.origin, kinds)
        if target.native and not pair:
            return self._for_numba(kinds, target, watch)
        made = self._derived(kinds, target, watch, pair)
        return self._compiled(made, self._loaded(made, target), kinds, target, watch, pair)

    def _for_numba(self, kinds: ir.Kinds, target: ir.Target, watch: Watch) -> Any:
        """What an earlier process has made of the same, or what is made now for later ones."""
        from srcdiff.backends.numba import cache

        key = said_by(self.origin, self.request, kinds, target, watch)
        kept = None if key is None else cache.found(key, self.request.name)
        if kept is not None:
            return self._compiled(kept, kept.loaded, kinds, target, watch)
        made = self._derived(kinds, target, watch)
        found = self._loaded(made, target)
        if key is not None and not made.put and not found.held:
            cache.keep(key, self.request.name, found, made)
        return self._compiled(made, found, kinds, target, watch)

    def _loaded(self, made: Made, target: ir.Target) -> Loaded:
        """The functions of a text, with the arrays outside that they may read."""
        refs = meanings(made.emitted.refs, target)
        check_read(refs)
        found = loaded(made, refs, self.request.name, self.primal, target)
        return replace(found, held=arrays_of(refs)) if made.written else found

    def _compiled(
        self, made: Any, found: Loaded, kinds: ir.Kinds, target: ir.Target, watch: Watch,
        pair: bool = False,
    ) -> Any:  # fmt: skip
        """The specialisation of loaded functions, of what was made or kept."""
        known = {
            "text": found.text, "primal": self.primal, "origin": self.origin,
            "request": self.request, "kinds": kinds, "watch": _with_constants(watch, found),
            "written": made.written, "held": found.held, "returns": made.returns, "put": made.put,
            "target": target,
        }  # fmt: skip
        name, functions = self.request.name, found.functions
        if pair:
            back = functions[f"{name}_backward"]
            parts = {"function": functions[f"{name}_forward"], "backward": back}
            of_pair = {"consumes": made.consumes, "places": made.places}
            return CompiledPair(**known, **parts, **of_pair, scalar=_is_scalar(back))
        function = functions[name]
        function.__srcdiff_copies__ = made.written  # for derivatives of it
        return Compiled(**known, function=function, scalar=_is_scalar(function))

    def _derived(
        self, kinds: ir.Kinds, target: ir.Target, watch: Watch | None, pair: bool = False
    ) -> Made:
        """What is generated for some kinds, or was for a function like this one."""
        from srcdiff.driver.pipeline import derive
        from srcdiff.driver.second_order import derived

        compiler = functools.partial(derive, target=target, pair=pair)
        try:
            if watch is None or self.options.saves or target != ir.HOST:
                return derived(compiler, self.origin, self.request, kinds)
            return made_alike(compiler, self.origin, self.request, kinds, watch)
        except TransformError as error:
            add_caller(error, self.origin)
            raise

    def validate(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], pair: bool = False
    ) -> None:
        """Run every pass on arguments, before and after."""
        from srcdiff.driver.second_order import derived
        from srcdiff.driver.validation import validate

        values, kinds = self._arguments(args, kwargs), self.kinds(args, kwargs)
        check = functools.partial(validate, values=values, pair=pair)
        derived(check, self.origin, self.request, kinds)

    def one_call(self, call: Call, kinds: ir.Kinds, arrays: str) -> Any:
        """A call of it as one whose derivative goes by the tangent, and which items of that."""
        from srcdiff.driver.second_order import one_call

        plain = self._plain
        return one_call(plain, call, kinds, arrays) if type(plain) is Derivative else None

    def _check_memory(self, found: Compiled, args: Any, kwargs: Mapping[str, Any]) -> None:
        """What the primal writes into is copied: nothing else may share its memory."""
        values = self.in_order(args, kwargs)
        values = self._arguments(args, kwargs) if values is None else values
        check_memory(values, found.written, found.held, self.primal)
        check_put(values, found.put, self.primal)

    @property
    def asked(self) -> Hashable:
        """What tells its text from others that are made of a function; None if that is not all."""
        back = any(isinstance(i, int) and i < 0 for i in items_of(self._own.inputs)[1])
        plain = type(self) is Derivative and not self.receiver and not back
        return (self.request, repr(self._own)) if plain else None

    def over(self, origin: Any) -> Derivative:
        """The same derivative of another function, whose parameters begin with those of its own."""
        return Derivative(origin, self._own)

    def in_order(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
        """The arguments by parameter, None unless each is given by its position."""
        if kwargs or len(args) != len(self._positional):
            return None
        return dict(zip(self._positional, args))

    @functools.cached_property
    def _by_position(self) -> tuple[str, ...] | None:
        """The names of the parameters by position; None where there may be any number of them."""
        params = signature_of(self.origin).parameters.values()
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in params):
            return None
        return tuple(p.name for p in params if p.kind is not p.KEYWORD_ONLY)

    @functools.cached_property
    def _positional(self) -> tuple[str, ...]:
        """The names of the parameters, if all can be given by position; else none."""
        params = signature_of(self.origin).parameters.values()
        plain = all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in params)
        return tuple(p.name for p in params) if plain else ()

    def check_values(self, values: Mapping[str, Any]) -> None:
        """Inputs can carry a derivative; of arguments of the same kinds it is asked once."""
        key = tuple([(n, key_of(v)) for n, v in values.items()])
        if key not in self._checked:
            self._checked_kinds(values)
            keep(self._checked, key, True)

    @entry
    def specialised(self, *args: Any, **kwargs: Any) -> Any:
        """The generated Python function for these arguments."""
        args = (*self.receiver, *args)
        self._direct = None
        self._latest = self._for_call(self._cache, self._key(args, kwargs), args, kwargs)
        return self._latest.function

    @entry
    def pair(self, *args: Any, **kwargs: Any) -> CompiledPair:
        """The forward and backward functions for these arguments."""
        args = (*self.receiver, *args)
        now = self._as_now()
        if now is not self:
            return now.pair(*args, **kwargs)
        key = self._key(args, kwargs)
        if self.options.compile == "auto":
            key = *key, layout_of(args), layout_of(dict(kwargs))
        found = self._for_call(self._pairs, key, args, kwargs)
        if found.written or found.put:
            self._check_memory(found, args, kwargs)
        return found

    def call_signature(self) -> inspect.Signature:
        """The parameters that a call in a differentiated function may give."""
        return signature_of(self)

    def keywords(self, function: Any) -> Mapping[str | None, str]:
        """What those parameters are called in a generated function, where it differs."""
        return {}

    def for_kinds(self, kinds: ir.Kinds, arrays: str = ir.HOST.arrays) -> Any:
        """The generated Python function for arguments of these kinds, to be differentiated.

        `arrays` is the module of the arrays among them.

        Raises:
            UnsupportedError: it runs again, and may do something else each time.
        """
        if self._plain is not self:
            return self._plain.for_kinds(kinds, arrays)
        kinds = self.completed(kinds)
        key = (arrays, *((n, kinds[n]) for n in sorted(kinds)))
        target = replace(ir.HOST, arrays=arrays)
        function = self._kept(self._by_kinds, key, lambda: self._generate(kinds, target)).function
        if self.options.again:
            from srcdiff.driver.second_order import check_repeatable

            check_repeatable(function, self.primal)
        return function

    def result_kind(self, args: tuple[ir.Kind, ...], kwargs: ir.Kinds) -> ir.Kind:
        """The kind of the result for arguments of some kinds: gradients are like their inputs."""
        try:
            bound = self.__signature__.bind(*args, **kwargs).arguments
        except TypeError:  # the call itself will say so
            return ir.UNKNOWN
        found = tuple(gradient_kind(bound.get(i.param), i.path) for i in self.request.inputs)
        more = self.request.value or self.request.has_aux or self.options.is_grads_batched
        if more or self.options.mode != "reverse":
            return ir.UNKNOWN
        if self.options.unused == "none":
            found = tuple(map(ir.maybe, found))
        if self.request.form == "bare":
            return found[0]
        return ir.Tuple(found) if self.request.form == "tuple" else ir.UNKNOWN

    def text(self, example: tuple[Any, ...] | None, arrays: str) -> str:
        """The generated text for arrays of a module, which is not compiled."""
        args = None if example is None else (*self.receiver, *example)
        kinds = self._declared_inputs() if args is None else self.kinds(args, {})
        return self._derived(kinds, with_arrays(self.target, arrays), None).emitted.text

    def generic(self) -> Compiled:
        """The specialisation for parameters of which nothing is known but annotations."""
        kinds = self._declared_inputs()
        if self.options.compile == "auto":
            made: Compiled = self._compiled_if_taken(kinds, ir.HOST.arrays, _unsaid)
            return made
        made = self._generate(kinds, self.target)
        return made

    def _declared_inputs(self) -> dict[str, ir.Kind]:
        """The declared kinds, among which no input is declared to be an integer."""
        kinds = self.declared_kinds()
        for item in self.request.inputs:
            part = part_of(kinds.get(item.param, ir.UNKNOWN), item, self.primal)
            if isinstance(part, (ir.Scalar, ir.Array)):
                check_input(spelled(item.param, item.path), None, part, self.primal)
        return kinds

    def declared_kinds(self) -> dict[str, ir.Kind]:
        """The kinds of the parameters as far as annotations and defaults declare them."""
        params = signature_of(self.origin).parameters
        kinds = {n: declared_kind(p) for n, p in params.items() if self._has(p, ())}
        kinds.update((n, kind_of(v, n)) for n, v in zip(list(kinds), self.receiver))
        return kinds

    def completed(self, kinds: ir.Kinds) -> dict[str, ir.Kind]:
        """The kinds of given arguments and of the defaults of those that are left out."""
        found = dict(kinds)
        for name, param in signature_of(self.origin).parameters.items():
            left_out = name not in kinds and param.default is not param.empty
            if left_out and self._has(param, kinds):
                found[name] = kind_of(param.default, name)
        return found

    def _has(self, param: inspect.Parameter, given: Container[str]) -> bool:
        """Whether the generated function has a parameter: a single call only what is given."""
        if param.default is param.empty or not leaves_out(self.origin):
            return True
        return param.name in given or any(i.param == param.name for i in self.request.inputs)

    def release_workspace(self) -> None:
        """Let go of the memory that `workspace=True` keeps; what somebody holds stays theirs.

        That of all threads.

        >>> import numpy as np, srcdiff
        >>> def f(x):
        ...     return np.sum(x * x)
        >>> g = srcdiff.grad(f, workspace=True)
        >>> gradient = g(np.ones(10_000))
        >>> g.release_workspace()
        >>> float(gradient[0])
        2.0
        """
        for made in (*list(self._cache.values()), *list(self._pairs.values())):
            made.release()

    @property
    @entry
    def source(self) -> str:
        """The generated text."""
        if self._latest is None and self.target.on_device:  # whose module need not be there
            return self.text(None, self.target.arrays)
        return (self._latest or self.generic()).source

    def _repr_html_(self) -> str | None:
        """What a notebook shows: the function beside its gradient; None without Jinja2."""
        kinds = self._latest.kinds if self._latest else self.declared_kinds()
        return None if self.shown_in_notebooks is None else self.shown_in_notebooks(kinds)

    def __repr__(self) -> str:
        return f"<srcdiff {self.request.name} of {self.primal!r}>"


def derivative_of(f: Any, options: Options) -> Derivative:
    """The derivative of a function for some options, made once as long as the function lives."""
    return made_once(f, ("derivative", repr(options)), lambda: Derivative(f, options))


def _unsaid(reason: object) -> None:
    """Say nothing: what is only shown is not run."""


def _with_constants(watch: Watch, found: Loaded) -> Watch:
    """What a specialisation was made from, with what compiled functions hold copies of."""
    if not found.outside:
        return watch
    from srcdiff.driver.snapshots import same

    reads = (lambda: same(found.outside, found.constants)), True
    return replace(watch, reads=[*watch.reads, reads])


def _is_scalar(function: Any) -> bool:
    """Whether the cotangent that a generated function takes is that of one number."""
    seed = inspect.signature(function).parameters.get("grad_outputs")
    return seed is not None and seed.default is not None


# --- refusals in packages that the function calls: the line of the user's that leads there --------


_LOOKED_THROUGH = 400
"""How many functions are looked through."""


def add_caller(error: TransformError, f: Any) -> None:
    """Let a refusal in another package name the line of the user's that leads there."""
    loc = error.loc
    if not isinstance(f, types.FunctionType) or not isinstance(loc, Loc) or loc.line <= 0:
        return
    if loc.file.startswith(ir.GENERATED) or _is_own(loc.file, f):
        return
    own = [step for step in _steps(f, loc, set()) or () if _is_own(step.file, f)]
    if own:
        text = line_of(own[-1].file, own[-1].line).strip()
        said = f"Called from your line {own[-1].file}:{own[-1].line}: {text}"
        error.remedy = "\n".join(filter(None, (error.remedy, said)))
        error.args = error.reason, loc, error.remedy, error.line


def _is_own(file: str, f: types.FunctionType) -> bool:
    """Whether a file is that of a function, or of its package."""
    package = sys.modules.get(str(f.__module__).partition(".")[0])
    folders = getattr(package, "__path__", ())
    return file == f.__code__.co_filename or any(file.startswith(str(p)) for p in folders)


def _steps(f: types.FunctionType, loc: Loc, seen: set[Any]) -> tuple[Loc, ...] | None:
    """The calls that lead from a function to a line; None if none are found."""
    lines = [line for *_, line in f.__code__.co_lines() if line]
    if f.__code__.co_filename == loc.file and min(lines) <= loc.line <= max(lines):
        return ()
    if f in seen or len(seen) >= _LOOKED_THROUGH:
        return None
    seen.add(f)
    from srcdiff.specialize.inline import lowered

    function = lowered(f)
    for stmt in () if function is None else ir.walk(function):
        call = ir.call_of(stmt)
        callee = None if call is None else _python_function(call.fn)
        rest = None if callee is None else _steps(callee, loc, seen)
        if rest is not None:
            return (stmt.loc, *rest)
    return None


def _python_function(fn: Any) -> types.FunctionType | None:
    """The Python function that a call runs, if that can be told."""
    made = records.member(fn, "__init__") if isinstance(fn, type) else fn
    fn = getattr(made, "__func__", made)
    return fn if isinstance(fn, types.FunctionType) else None
