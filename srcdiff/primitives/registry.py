"""Rules: the derivative of one primitive each, written as templates in `templates/`.

A `Rule` is a template or a definition, and the functions that it is for.  The decorators make one
of a template (a generator function with one `yield`).  The rules of the project's own templates are
read at the first question, each file run as a module of its own; a rule that is made anywhere else
is a user's, and lies above them in a new registry.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, overload

import numpy as np

from srcdiff.errors import MissingRuleError, entry
from srcdiff.ir import NOWHERE, Atom, Attr, Call, Loc, Method, Name, Tup
from srcdiff.ir.frozen import frozen
from srcdiff.ir.kinds import Dict, Kind, List, Text, Tuple
from srcdiff.primitives.arguments import MEMBER_REMEDY, REMEDY, bind, spelling


@frozen
class Store:
    """The function of the statement `x[i] op= v`, or of `x op= v` where `whole`."""

    op: str | None
    whole: bool = False


@frozen
class Given:
    """A function where its optional argument `argument` is given: `np.sum(x, where=mask)`."""

    function: Any
    argument: str


@frozen(eq=False)
class Rule:
    """The derivative of some functions: a template, or nothing where it is zero on purpose.

    A `definition` says what the functions are made of, and stands in place of their calls.

    `view` names the parameter whose memory the result may share, `mutates` the one that is written
    into, `gather` the one that takes all remaining positional arguments of a method call; `calls`
    those that are functions, and last the one that holds what these get behind their arguments.
    """

    name: str
    flavour: str
    functions: tuple[Any, ...]
    template: Callable[..., Any] | None = None
    view: str | None = None
    mutates: str | None = None
    gather: str | None = None
    samples: tuple[str, ...] = ()
    definition: Callable[..., Any] | None = field(default=None, repr=False)
    early: bool = False
    reason: str = ""  # why no derivative is given, where that is on purpose
    calls: tuple[str, ...] | None = None
    tangent: Callable[..., Any] | None = field(default=None, repr=False)
    lowered: dict[str, Any] = field(default_factory=dict, repr=False)  # `lower.template` keeps it

    @functools.cached_property
    def params(self) -> tuple[inspect.Parameter, ...]:
        """The parameters of the template or the definition."""
        source = self.template or self.definition
        return () if source is None else tuple(inspect.signature(source).parameters.values())


def key_of(function: Any) -> Any:
    """What a function is filed under: methods and attributes of arrays by their name."""
    kind = type(function)
    if kind is _ATTRIBUTE:
        return Attr(function.__name__)
    if kind in _METHODS and function.__objclass__ is np.ndarray:
        return Method(function.__name__)
    return function


_ATTRIBUTE = type(vars(np.ndarray)["T"])
_METHODS = (type(np.ndarray.sum), type(np.ndarray.__add__))


# --- files of templates: where the project's own lie, and how one is run as a module -------------


@functools.cache
def folder() -> Path:
    """The folder of the project's templates: inside the package (a wheel) or beside it."""
    here = Path(__file__).resolve().parent.parent
    return inside if (inside := here / "templates").is_dir() else here.parent / "templates"

_PACKAGE = "srcdiff_templates"


def files_of(place: Path) -> list[Path]:
    """The files of a folder that declare rules; `_name.py` has what they share."""
    return sorted(p for p in place.glob("*.py") if not p.name.startswith("_"))


def is_in_template(value: object) -> bool:
    """Whether a class stands in a file of templates: it takes the place of a library's."""
    return str(getattr(value, "__module__", "")).startswith(f"{_PACKAGE}.")


def execute(path: Path) -> ModuleType:
    """Run a file of templates as a module of its own, which may import from its neighbours.

    `from ._densities import positive` reads `_densities.py` of the same folder.
    """
    package = _package_of(_resolved(path.parent))
    name = f"{package}.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@functools.cache
def _resolved(place: Path) -> Path:
    """A folder without links."""
    return place.resolve()


def _package_of(place: Path) -> str:
    """The package that the modules of a folder lie in; another folder of its name gets a number."""
    own = place.relative_to(top).parts if place.is_relative_to(top := folder()) else (place.name,)
    base = ".".join((_PACKAGE, *own))
    name, number = base, 1
    while list(getattr(sys.modules.get(name), "__path__", [str(place)])) != [str(place)]:
        number += 1
        name = f"{base}_{number}"
    if name not in sys.modules:
        sys.modules[name] = package = ModuleType(name, "A folder of templates.")
        package.__path__ = [str(place)]
    return name


# --- declaring rules ---------------------------------------------------------------------------


def samples(*calls: str) -> Callable[[Any], Any]:
    """Arguments of sample calls, as source (`"A(3, 4), axis=1"`), for the generic test."""

    def attach(template: Any) -> Any:
        template.__samples__ = calls
        return template

    return attach


def _decorator(flavour: str, functions: tuple[Any, ...], **options: Any) -> Callable[..., Rule]:
    """The decorator that makes a rule of a template and hands it to whoever is loading."""
    functions = tuple(f for f in functions if f is not None)  # what this NumPy does not have
    if not functions:
        raise TypeError(f"@{flavour} needs the functions that the template is the rule of")

    def make(template: Callable[..., Any]) -> Rule:
        if not inspect.isgeneratorfunction(template):
            raise TypeError(f"the template `{template.__name__}` has no `yield`")
        calls = getattr(template, "__samples__", ())
        return _announce(
            Rule(template.__name__, flavour, functions, template, samples=calls, **options)
        )

    return make


def rule(
    *functions: Any,
    view: str | None = None,
    mutates: str | None = None,
    gather: str | None = None,
    calls: tuple[str, ...] | None = None,
) -> Callable[..., Rule]:
    """Declare the template below as the general rule of `functions`."""
    return _decorator("rule", functions, view=view, mutates=mutates, gather=gather, calls=calls)


def elementwise(*functions: Any) -> Callable[..., Rule]:
    """Declare the rule of functions that work element by element, with broadcasting."""
    return _decorator("elementwise", functions)


def linear(
    *functions: Any, view: str | None = None, mutates: str | None = None, gather: str | None = None
) -> Callable[..., Rule]:
    """Declare the rule of functions that are linear in all their differentiable arguments."""
    return _decorator("linear", functions, view=view, mutates=mutates, gather=gather)


def nondifferentiable(*functions: Any) -> Rule:
    """Declare that the derivative of `functions` is zero on purpose."""
    return _announce(Rule("nondifferentiable", "nondifferentiable", functions))


def composed(
    *functions: Any,
    given: str | None = None,
    early: bool = False,
    mutates: str | None = None,
    gather: str | None = None,
) -> Callable[..., Rule]:
    """Declare that calls of `functions` are made of others, as the definition below says.

    With `given` the definition is for calls that have this argument; `early` ones call functions
    that they are given, and are written out before kinds are known.
    """
    known = tuple(f for f in functions if f is not None)
    if given is not None:
        known = tuple(Given(key_of(f), given) for f in known)

    def make(definition: Callable[..., Any]) -> Rule:
        made = Rule(
            definition.__name__, "composed", known, None, None, mutates, gather,
            getattr(definition, "__samples__", ()), definition, early,
        )  # fmt: skip
        return _announce(made)

    return make


def unsupported(reason: str, *functions: Any) -> Rule:
    """Declare that no derivative is given for `functions`, and what to do instead."""
    known = tuple(f for f in functions if f is not None)
    return _announce(Rule("unsupported", "unsupported", known, reason=reason))


def forward(*functions: Any) -> Callable[..., Rule]:
    """Write the tangent of functions whose rule does not imply it."""

    def make(tangent: Callable[..., Any]) -> Rule:
        if not inspect.isgeneratorfunction(tangent):
            raise TypeError(f"the tangent `{tangent.__name__}` has no `yield`")
        found = Rule(tangent.__name__, "forward", functions, tangent=tangent)
        return _announce(found)

    return make


# --- the registry ------------------------------------------------------------------------------


@frozen
class Registry:
    """An immutable collection of rules by function, method or attribute."""

    by_key: Mapping[Any, Rule]
    rules: tuple[Rule, ...]

    def find(self, function: Any) -> Rule | None:
        """The rule of a function, a `Method`, an `Attr` or a `Store`."""
        try:
            return self.by_key.get(key_of(function))
        except TypeError:  # an unhashable callable has no rule
            return None

    @functools.cached_property
    def options(self) -> Mapping[Any, tuple[str, ...]]:
        """The arguments of each function for which it has a definition of its own."""
        found: dict[Any, tuple[str, ...]] = {}
        for key in self.by_key:
            if isinstance(key, Given):
                found[key.function] = (*found.get(key.function, ()), key.argument)
        return MappingProxyType(found)

    def extended(self, rules: tuple[Rule, ...]) -> Registry:
        """A registry in which `rules` come before those of this one."""
        if not rules:
            return self
        table = dict(self.by_key)
        for new in rules:
            for function in new.functions:
                key = key_of(function)
                table[key] = _joined(table.get(key), new)
        return Registry(MappingProxyType(table), (*self.rules, *rules))


def _joined(old: Rule | None, new: Rule) -> Rule:
    """The rule that stands after `new` is declared: a tangent joins its template."""
    if old is not None and new.flavour == "forward":
        return replace(old, tangent=new.tangent)
    if old is not None and old.flavour == "forward":
        return replace(new, tangent=old.tangent)
    return new


EMPTY = Registry(MappingProxyType({}), ())
_lock = threading.RLock()
_loading: list[list[Rule]] = []  # the loads in progress; read and written under the lock
_user: tuple[Rule, ...] = ()
_extra: dict[str, tuple[Rule, ...]] = {}  # the rules of other packages; written under the lock


def _announce(made: Rule) -> Rule:
    """Give a new rule to the load in progress, or to the user's layer."""
    global _user
    with _lock:
        if _loading:
            _loading[-1].append(made)
        else:
            _user = (*_user, made)
            registry.cache_clear()
    return made


def read_file(path: Path) -> tuple[Rule, ...]:
    """The rules that one file of templates declares, in their order."""
    with _lock:
        _loading.append([])
        try:
            execute(path)
        finally:
            found = _loading.pop()
    return tuple(found)


@entry
def load_rules(path: str | Path) -> tuple[Rule, ...]:
    """Add the rules of a user's file or folder of templates."""
    place = Path(path)
    files = files_of(place) if place.is_dir() else [place]
    found = tuple(r for file in files for r in read_file(file))
    for one in found:
        _announce(one)
    return found


@functools.cache
def _core() -> Registry:
    """The rules of NumPy, `math`, the builtins and the project's own functions."""
    return EMPTY.extended(tuple(r for file in files_of(folder()) for r in read_file(file)))


@functools.cache
def builtin() -> Registry:
    """The rules of the project's own templates that have been needed so far."""
    with _lock:
        return _core().extended(tuple(r for found in _extra.values() for r in found))


@functools.cache
def _extra_folders() -> Mapping[str, Path]:
    """The folders of templates for other packages, by their module: `scipy/linalg/`."""
    found = sorted({file.parent for file in folder().glob("*/*/*.py")})
    return MappingProxyType({f"{p.parent.name}.{p.name}": p for p in found})


def read_extras() -> bool:
    """Read the rules of the packages that the program has imported; whether there are new ones."""
    with _lock:
        new = [m for m in _extra_folders() if m in sys.modules and m not in _extra]
        for module in new:
            files = files_of(_extra_folders()[module])
            _extra[module] = tuple(r for file in files for r in read_file(file))
        if new:
            for cached in (builtin, _builtin_rules, registry):
                cached.cache_clear()
    return bool(new)


def _registry_of(function: Any) -> Registry:
    """The registry that has the rules of the package that a function belongs to."""
    now = registry()
    if len(_extra) < len(_extra_folders()) and now.find(function) is None:
        package = str(getattr(function, "__module__", "")).split(".")[0]
        foreign = package == "srcdiff" or any(n.startswith(f"{package}.") for n in _extra_folders())
        if (foreign or isinstance(function, np.ufunc)) and read_extras():
            return registry()
    return now


@functools.cache
def _builtin_rules() -> frozenset[Rule]:
    found = builtin()
    return frozenset((*found.rules, *found.by_key.values()))  # with and without tangents


def is_builtin(rule: Rule) -> bool:
    """Whether a rule is one of the project's own."""
    return rule in _builtin_rules()


@functools.cache
def registry() -> Registry:
    """All rules: the project's own, and the user's above them."""
    with _lock:
        return builtin().extended(_user)


def user_rules() -> tuple[Rule, ...]:
    """The user's rules, the same object as long as none is declared."""
    return _user


def lookup(function: Any) -> Rule | None:
    """The rule of a function, a `Method`, an `Attr` or a `Store`; None if there is none."""
    return _registry_of(function).find(function)


def given(function: Any) -> Mapping[str, Rule]:
    """The definitions of a function by the argument for which they are, in their order."""
    now = _registry_of(function)
    try:
        arguments = now.options.get(key_of(function), ())
    except TypeError:
        return MappingProxyType({})
    return {a: now.by_key[Given(key_of(function), a)] for a in arguments}


@frozen
class Bound:
    """A rule with an argument of the call for every parameter of its template."""

    rule: Rule
    args: Mapping[str, Atom]
    name: str = ""


@overload
def find(what: Call, kinds: Mapping[str, Kind], loc: Loc = NOWHERE) -> Bound: ...


@overload
def find(what: Any) -> Rule | None: ...


def find(
    what: Any, kinds: Mapping[str, Kind] | None = None, loc: Loc = NOWHERE
) -> Bound | Rule | None:
    """The rule of a call, bound to its arguments; a located error if there is none.

    Of a function (without `kinds`) the rule alone, or None.
    """
    if kinds is None or not isinstance(what, Call):
        return lookup(what)
    found = None if _on_container(what, kinds) else lookup(what.fn) or of_class(what.fn)
    name = spelling(what)
    if found is not None and found.reason:
        remedy = f"{found.reason}\nOr give it a rule of your own with @srcdiff.rule."
        raise MissingRuleError(f"{name} is not differentiated", loc, remedy)
    if found is None:
        remedy = MEMBER_REMEDY if isinstance(what.fn, (Method, Attr)) else REMEDY
        raise MissingRuleError(f"{name} has no rule that says what its derivative is", loc, remedy)
    if found.template is None and found.definition is None:
        return Bound(found, MappingProxyType({}), name)
    return Bound(found, MappingProxyType(bind(found.params, found.gather, what, loc)), name)


def of_class(fn: Any) -> Rule | None:
    """What is declared of the class of an object that is called (`np.vectorize`)."""
    found = lookup(type(fn))
    return found if found is not None and found.reason else None


def _on_container(call: Call, kinds: Mapping[str, Kind]) -> bool:
    """Is this the method or attribute of something that is certainly no number or array?"""
    if not isinstance(call.fn, (Method, Attr)) or not call.args:
        return False
    receiver = call.args[0]
    kind = kinds.get(receiver.id) if isinstance(receiver, Name) else None
    return isinstance(receiver, Tup) or isinstance(kind, (List, Tuple, Dict, Text))
