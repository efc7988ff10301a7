"""Objects taken apart, in as many attempts as it takes to find what must stay whole.

Takes a function after `objects`, the kinds of its parameters and the request; returns it without
attributes.  What is used as a whole is found on the way, and so are the classes whose objects
several names or containers hold while one is stored into: those objects are dicts.
"""

from __future__ import annotations

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.request import Request
from srcdiff.ir.kinds import class_of
from srcdiff.kinds.interpreter import infer
from srcdiff.specialize.objects import own_dicts
from srcdiff.specialize.objects.fields import Attempt, Split
from srcdiff.specialize.objects.holders import HeldElsewhereError
from srcdiff.specialize.objects.places import Kinds, Place, Places, without_same


def take_apart(function: ir.Function, params: Kinds, request: Request) -> Split:
    """The function with its objects taken apart."""
    function = without_same(function)
    kinds = infer(function, params)
    function = own_dicts.unused(function, kinds)
    own_dicts.check(function, kinds)
    first: UnsupportedError | None = None
    kept: frozenset[type] = frozenset()
    while True:
        try:
            return _taken_apart(function, params, kinds, request, kept)
        except HeldElsewhereError as found:
            first = first or found.error
            cls = class_of(Places(function, params, kinds).kind_at(found.into))
            if cls is None or cls in kept:
                raise first from None
            kept |= {cls}
        except UnsupportedError as error:
            raise first or error from None


def _taken_apart(
    function: ir.Function, params: Kinds, kinds: Kinds, request: Request, kept: frozenset[type]
) -> Split:
    """The function with dicts for the objects of some classes, and the others taken apart."""
    whole: frozenset[Place] = frozenset()
    while True:
        work = Attempt(function, params, kinds, whole, kept)
        body = work.run()
        if work.whole == whole:
            return work.finished(body, params, request)
        whole = work.whole
