"""What was generated for one derivative, by what it was generated for.

Takes the function, the request and the kinds of the arguments of a call; gives the specialisation
for them: its functions, which name the user's line in their errors, and its text.  The functions
for a batch of cotangents or of directions are generated when first asked for.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from srcdiff import ir
from srcdiff.autodiff.batch.batched_names import with_axis
from srcdiff.autodiff.batch.forms import NoBatchError
from srcdiff.autodiff.batch.transform import batch_backward, batch_forward
from srcdiff.autodiff.forward import tangent_kinds
from srcdiff.backends.loader import compile_module, meanings, one_cotangent
from srcdiff.codegen.emit import Made
from srcdiff.codegen.link import module_text
from srcdiff.codegen.naming import name
from srcdiff.driver.diagnostics import add_place
from srcdiff.driver.guards import Watch, unchanged
from srcdiff.driver.pipeline import Kinds, pair_of, pair_state, polished, run
from srcdiff.driver.snapshots import Outside
from srcdiff.errors import CotangentError, placed
from srcdiff.frontend.request import Request
from srcdiff.frontend.signatures import module_of
from srcdiff.ir import Loc
from srcdiff.ir.frozen import frozen
from srcdiff.ir.kinds import Kind, Scalar, Tuple
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.interpreter import infer
from srcdiff.kinds.lattice import key_of
from srcdiff.optimize.dead_code import remove_dead
from srcdiff.optimize.finish import reused
from srcdiff.optimize.memory import Memory
from srcdiff.runtime.devices import array_module
from srcdiff.specialize.closures.lifting import returned
from srcdiff.specialize.objects.scalar_replacement import residual_kinds


def derive_backward(origin: Any, request: Request, params: Kinds) -> Made:
    """The text of the forward part, and of the backward part for a batch of cotangents.

    Raises:
        NoBatchError: there is no such part.
    """
    state = pair_state(origin, request, params)
    one, two = state.extra["parts"]
    facts = state.facts
    assert facts is not None
    known = {**infer(one, state.params), **facts.kinds}
    residuals = residual_kinds(two, known)
    seeds = {two.params[0].name: Tuple(tuple(residuals.values())), **_cotangent(one, two, known)}
    plain = polished(two, seeds, facts)
    shadowed = with_axis(one, known, facts.shadows)
    shadows = frozenset(k for k, n in enumerate(residuals) if n in shadowed)
    memory = Memory(one, known)
    classes = [memory.find(n) for n in residuals]
    # A workspace hands out arrays row by row.
    columns = not request.workspace
    batch = remove_dead(batch_backward(plain, infer(plain, seeds), shadows, classes, columns))
    many = name(reused(batch, seeds, request))
    return Made(module_text([state.function, many], pair_of, origin, request), (), (), ())


def _cotangent(one: ir.Function, two: ir.Function, kinds: Kinds) -> Kinds:
    """The kind of the cotangent by its name, where that is one number."""
    last = one.body[-1]
    assert isinstance(last, ir.Return) and isinstance(last.value, ir.Tup)
    kind = atom_kind(last.value.items[0], kinds)
    return {two.params[1].name: kind} if isinstance(kind, Scalar) else {}


def derive_forward(origin: Any, request: Request, params: Kinds) -> Made:
    """The text of a function of forward mode for a batch of directions.

    Raises:
        NoBatchError: there is no such function.
    """
    state = next(s for label, s in run(origin, request, params) if label == "simplify")
    assert state.facts is not None
    tangents = frozenset(tangent_kinds(state.facts, request))
    batch = remove_dead(batch_forward(state.function, state.kinds, tangents))
    many = returned(name(batch), state.outside)
    return Made(module_text([many], pair_of, origin, request), (), (), ())


# --- functions for a batch, generated when first asked for ----------------------------------------


CANNOT: Any = object()
"""In place of derivatives: a batch goes through one by one."""


@frozen(eq=False)
class Many:
    """What a derivative was generated from, and the function for batches that belongs to it.

    In reverse mode this is a backward part, which takes the residuals of the forward part.
    """

    primal: Any
    origin: Any
    request: Request
    kinds: Mapping[str, Kind]
    watch: Watch
    module: str = field(default_factory=array_module)

    @functools.cached_property
    def generated(self) -> tuple[Any, str] | None:
        """The function and its text, behind that of the forward part; None: one by one."""
        if self.module != "numpy" or not unchanged(self.watch):
            return None  # or the residuals are those of a function that is no more
        reverse = self.request.mode == "reverse"
        derive = derive_backward if reverse else derive_forward
        try:
            made = derive(self.origin, self.request, self.kinds).emitted
        except NoBatchError:
            return None
        name = self.request.name
        module = module_of(self.primal)
        namespace = compile_module(made.text, meanings(made.refs), name, module, made.lines)
        return namespace[f"{name}_backward_batch" if reverse else f"{name}_batch"], made.text

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives; errors name the user's line."""
        assert self.generated is not None
        try:
            return self.generated[0](*args, **kwargs)
        except CotangentError:
            raise
        except Exception as error:
            add_place(error)
            raise


# --- specialisations ------------------------------------------------------------------------------


@frozen
class Compiled:
    """One specialisation: its function and text, and what it was generated from.

    `written` are the parameters that the primal writes into, `held` the arrays outside that it
    may read, `returns` where it returns.
    """

    function: Any
    text: str
    scalar: bool
    watch: Watch
    written: tuple[str, ...] = ()
    held: tuple[tuple[str, Any], ...] = ()
    returns: tuple[Loc, ...] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    seeded: Callable[[Any], Any] = one_cotangent
    many: Many | None = None  # of forward mode: the function for a batch of directions
    put: tuple[Any, ...] = ()  # containers outside that values with a derivative are put into

    def called(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], grad_outputs: Any) -> Any:
        """What the function gives; errors name the user's line."""
        try:
            if grad_outputs is None:
                return self.function(*args, **kwargs)
            if self.scalar:
                grad_outputs = self.seeded(grad_outputs)
            return self.function(*args, grad_outputs=grad_outputs, **kwargs)
        except CotangentError as error:
            raise placed(error, self.returns) from None
        except Exception as error:
            add_place(error)
            raise


@frozen
class CompiledPair:
    """A forward and a backward part, and what `Compiled` holds of them."""

    forward: Any
    backward: Any
    scalar: bool
    watch: Watch
    written: tuple[str, ...]
    held: tuple[tuple[str, Any], ...]
    returns: tuple[Loc, ...]
    consumes: bool
    many: Many  # the backward part for a batch of cotangents
    text: str
    seeded: Callable[[Any], Any] = one_cotangent
    put: tuple[Any, ...] = ()

    @functools.cached_property
    def outside(self) -> Outside:
        """What the two parts read from outside."""
        return Outside(self.text, self.forward, self.backward)


@dataclass
class Specialisations:
    """What was generated for one request, by what it was generated for."""

    by_key: dict[Any, Compiled] = field(default_factory=dict)
    by_kinds: dict[Any, Compiled] = field(default_factory=dict)
    pairs: dict[Any, CompiledPair] = field(default_factory=dict)
    checked: dict[Any, bool] = field(default_factory=dict)
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
