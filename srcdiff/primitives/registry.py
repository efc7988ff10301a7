"""Rules: the derivative of one primitive each, written as templates in `templates/`.

A `Rule` is a template or a definition, and the functions that it is for.  The decorators make one
of a template (a function that is read), `scalar_rule` one of a lambda.  The rules of the project's
own templates are read at the first question, each file run as a module of its own; a rule that is
made anywhere else is a user's, and lies above them in a new registry.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from pathlib import Path
from types import FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any, overload

import numpy as np

from srcdiff import ir
from srcdiff.errors import MissingRuleError, entry, refused
from srcdiff.ir import NOWHERE, Atom, Attr, Call, Loc, Method, Name, Tup
from srcdiff.ir.frozen import frozen, replace
from srcdiff.primitives.arguments import bind, spelling
from srcdiff.runtime.records import is_foreign


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
    those that are functions, and last the one that holds what these get behind their arguments;
    `constant` those whose derivative is zero on purpose.

    What is an `expression` is a lambda: a template of slopes, whose last parameter is the result,
    or a definition of the value.
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
    expression: bool = False
    constant: str = ""
    lowered: dict[str, Any] = field(default_factory=dict, repr=False)  # `lower.template` keeps it

    @functools.cached_property
    def params(self) -> tuple[inspect.Parameter, ...]:
        """The parameters of the template or the definition."""
        source = self.template or self.definition
        found = () if source is None else tuple(inspect.signature(source).parameters.values())
        return found[:-1] if self.expression and self.template is not None else found


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
_BY_NAME = (_ATTRIBUTE, *_METHODS)


# --- files of templates: where the project's own lie, and how one is run as a module -------------


@functools.cache
def folder() -> Path:
    """The folder of the project's templates: inside the package (a wheel) or beside it."""
    here = Path(__file__).resolve().parent.parent
    return inside if (inside := here / "templates").is_dir() else here.parent / "templates"


_PACKAGE = "srcdiff_templates"


def files_of(place: Path) -> list[Path]:
    """The files of a folder that declare rules; `_name.py` has what they share."""
    return [place / name for name in sorted(filter(_declares, os.listdir(place)))]


def _declares(name: str) -> bool:
    """Whether a file of a folder of templates declares rules."""
    return name.endswith(".py") and not name.startswith("_")


def is_in_template(value: object) -> bool:
    """Whether a function or a class stands in a file of templates."""
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


def _decorator(
    flavour: str, functions: tuple[Any, ...], options: dict[str, Any], source: str = "template"
) -> Callable[..., Rule]:
    """The decorator that makes a rule of a template, or of another source."""
    known = () if any(map(_reads_notation, functions)) else _known(functions)
    if not known and source != "definition":
        raise TypeError(f"write @{flavour}(f), with the functions that the template is the rule of")

    def make(written: Callable[..., Any]) -> Rule:
        if not isinstance(written, FunctionType):  # `@rule` alone has become the function's name
            name = _name_for(known) if known else "f"
            raise TypeError(
                f"@{flavour}({name}) stands above the template of a rule of `{name}`, given "
                f"{type(written).__name__}: nothing stands above `{name}` itself"
            )
        if written.__name__ == "<lambda>":
            raise TypeError("a template is written with `def`, and `scalar_rule` takes a lambda")
        calls = getattr(written, "__samples__", ())
        of_family = is_in_template(written) and "<locals>" in written.__qualname__
        name = _name_for(known) if of_family and known else written.__name__
        return _announce(Rule(name, flavour, known, samples=calls, **{**options, source: written}))

    return make


def _reads_notation(function: Any) -> bool:
    """Whether a function is a template itself, under a decorator without arguments."""
    if not isinstance(function, FunctionType):
        return False
    read = (function.__globals__.get(name) for name in function.__code__.co_names)
    return any(hasattr(type(value), "__srcdiff_adjoints__") for value in read)


def _name_for(functions: tuple[Any, ...]) -> str:
    """The name of the rule of some functions, by the first of them."""
    function, option = functions[0], ""
    if isinstance(function, Given):
        function, option = function.function, f"_{function.argument}"
    of = getattr(function, "__self__", None)  # a ufunc, a distribution
    owner = None if isinstance(of, ModuleType) else getattr(of, "__name__", getattr(of, "name", ""))
    return f"{owner}_{name_of(function)}{option}" if owner else f"{name_of(function)}{option}"


def rule(
    *functions: Any,
    view: str | None = None,
    mutates: str | None = None,
    gather: str | None = None,
    calls: tuple[str, ...] | None = None,
    constant: str = "",
) -> Callable[..., Rule]:
    """Declare the template below as the general rule of `functions`."""
    options = {"mutates": mutates, "gather": gather, "constant": constant}
    return _decorator("rule", functions, {"view": view, "calls": calls, **options})


def elementwise(*functions: Any) -> Callable[..., Rule]:
    """Declare the rule of functions that work element by element, with broadcasting."""
    return _decorator("elementwise", functions, {})


def scalar_rule(*functions: Any, slope: Callable[..., Any], samples: tuple[str, ...] = ()) -> Rule:
    """Declare by one expression the rule of functions that work element by element.

    Args:
        functions: those that it is the rule of, of arrays and of numbers.
        slope: a lambda of the operands and of the result, which is read and never called. It says
            the derivative; of several operands a tuple, with None for one that has none, and 0.0
            where it is zero on purpose. Of complex numbers its conjugate is taken, unless it says
            `conj` itself: then it stands as it is.
        samples: arguments of sample calls, as for `samples`.

    >>> import numpy as np
    >>> import srcdiff
    >>> from srcdiff.rules import scalar_rule
    >>> def softsign(x):
    ...     return x / (1.0 + np.abs(x))
    >>> made = scalar_rule(softsign, slope=lambda x, z: 1.0 / (1.0 + np.abs(x)) ** 2)
    >>> print(srcdiff.grad(softsign, inputs="x")(1.0))
    0.25
    """
    functions = _known(functions)
    if not functions:
        raise TypeError("a scalar rule needs the functions that it is the rule of")
    if getattr(slope, "__name__", "") != "<lambda>":
        raise TypeError("the slope of a scalar rule is a lambda of its operands and its result")
    name = getattr(functions[0], "__name__", "scalar")
    return _announce(Rule(name, "elementwise", functions, slope, samples=samples, expression=True))


def linear(
    *functions: Any,
    view: str | None = None,
    mutates: str | None = None,
    gather: str | None = None,
    constant: str = "",
) -> Callable[..., Rule]:
    """Declare the rule of functions that are linear in all their differentiable arguments."""
    options = {"mutates": mutates, "gather": gather, "constant": constant}
    return _decorator("linear", functions, {"view": view, **options})


def members(space: Any, names: str) -> list[Any]:
    """What a module or a class has of these names in this version, as arguments of the next two.

    >>> import math
    >>> members(math, "floor ceil gone")
    [<built-in function floor>, <built-in function ceil>]
    """
    return [getattr(space, name) for name in names.split() if hasattr(space, name)]


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
    options = {"mutates": mutates, "gather": gather, "early": early}
    return _decorator("composed", _known(functions, given), options, "definition")


def _known(functions: tuple[Any, ...], given: str | None = None) -> tuple[Any, ...]:
    """The functions that there are; where an argument is given, those with it."""
    known = tuple(f for f in functions if f is not None)  # what this NumPy does not have
    return known if given is None else tuple(Given(key_of(f), given) for f in known)


def made_of(
    *functions: Any,
    value: Callable[..., Any],
    samples: tuple[str, ...] = (),
    given: str | None = None,
    mutates: str | None = None,
) -> Rule:
    """Declare by one expression what calls of `functions` are made of.

    Args:
        functions: those that it is the definition of.
        value: a lambda of their arguments, whose body stands in place of an active call.
        samples: arguments of sample calls, as for `samples`.
        given: the argument of the calls that it is for, as for `composed`.
        mutates: the argument that is written into.

    >>> import srcdiff
    >>> from srcdiff.rules import made_of
    >>> def cube(x):
    ...     return pow(x, 3)
    >>> made = made_of(cube, value=lambda x: x * x * x)
    >>> print(srcdiff.grad(cube, inputs="x")(2.0))
    12.0
    """
    known = _known(functions, given)
    name = _name_for(known) if known else "unknown"
    return _announce(Rule(
        name, "composed", known, samples=samples, definition=value, mutates=mutates, expression=True
    ))  # fmt: skip


def inlined(function: Callable[..., Any], *calls: str) -> Rule:
    """Declare that calls of a function are made of what its own source says, with sample calls."""
    name = function.__name__
    return _announce(Rule(name, "composed", (function,), samples=calls, definition=function))


def unsupported(reason: str, *functions: Any) -> Rule:
    """Declare that no derivative is given for `functions`, and what to do instead."""
    known = _known(functions)
    return _announce(Rule("unsupported", "unsupported", known, reason=reason))


def forward(*functions: Any) -> Callable[..., Rule]:
    """Write the tangent of functions whose rule does not imply it."""
    return _decorator("forward", functions, {}, "tangent")


# --- the registry ------------------------------------------------------------------------------


@frozen
class Registry:
    """An immutable collection of rules by function, method or attribute."""

    by_key: Mapping[Any, Rule]
    rules: tuple[Rule, ...]

    def find(self, function: Any) -> Rule | None:
        """The rule of a function, a `Method`, an `Attr` or a `Store`."""
        try:
            key = key_of(function) if type(function) in _BY_NAME else function
            return self.by_key.get(key)
        except TypeError:  # an unhashable callable has no rule
            return None

    @functools.cached_property
    def options(self) -> Mapping[Any, Mapping[str, Rule]]:
        """The definitions of each function by the argument for which they are, in their order."""
        found: dict[Any, dict[str, Rule]] = {}
        for key, rule in self.by_key.items():
            if isinstance(key, Given):
                found.setdefault(key.function, {})[key.argument] = rule
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


@functools.cache
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
_files: dict[Path, tuple[Rule, ...]] = {}  # those of the project's own files that were read
_extra: dict[str, tuple[Rule, ...]] = {}  # the rules of other packages; written under the lock


def _announce(made: Rule) -> Rule:
    """Give a new rule to the load in progress, or to the user's layer."""
    global _user
    with _lock:
        if _loading:
            _loading[-1].append(made)
        else:
            _user = (*_user, made)
            _so_far.cache_clear()
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


def _reading(files: Iterable[Path]) -> None:
    """Read those of the project's own files that were not read yet."""
    with _lock:
        new = [file for file in files if file not in _files]
        _files.update((file, read_file(file)) for file in new)
        if new:
            _forget()


def _forget() -> None:
    """Forget what was made of the rules that were read so far."""
    for cached in (_builtin_so_far, _builtin_rules, _so_far):
        cached.cache_clear()


@functools.cache
def _builtin_so_far() -> Registry:
    """The rules of the project's own templates that have been needed so far."""
    with _lock:
        found = [*(_files[file] for file in sorted(_files)), *_extra.values()]
        return EMPTY.extended(tuple(r for rules in found for r in rules))


@functools.cache
def _so_far() -> Registry:
    """The rules that have been needed so far, and the user's above them."""
    with _lock:
        return _builtin_so_far().extended(_user)


def builtin() -> Registry:
    """The rules of NumPy, `math`, the builtins and the project's own functions.

    Those of other packages are among them as soon as one has been asked for.
    """
    _reading(files_of(folder()))
    return _builtin_so_far()


def registry() -> Registry:
    """All rules: the project's own, and the user's above them."""
    builtin()
    return _so_far()


# --- which files have the rules of a callee ------------------------------------------------------


INDEX = "index.txt"
"""The file that says which names the rules of each file are for; `python -m tests.documents`."""


def _entries() -> list[list[str]]:
    """Each file with the size that it had, and the places of callees that its rules are for."""
    return [line.split() for line in (folder() / INDEX).read_text().splitlines()]


@functools.cache
def _index() -> Mapping[str, tuple[str, ...]] | None:
    """The files that have rules for callees of a place; None if a file is not as it was."""
    entries, found = _entries(), dict[str, tuple[str, ...]]()
    for file, _, *names in entries:
        for name in names:
            found[name] = (*found.get(name, ()), file)
    return found if {file: int(size) for file, size, *_ in entries} == _sizes(folder()) else None


def _sizes(place: Path) -> dict[str, int]:
    """The sizes of the files of a folder that declare rules."""
    with os.scandir(place) as entries:
        return {e.name: e.stat().st_size for e in entries if _declares(e.name)}


def indexed() -> str:
    """What the index has to say; a name that another version of Python or NumPy has stays."""
    known = {file: names for file, _, *names in _entries()}
    lines = []
    for file in files_of(folder()):
        names = {place_of(f) for rule in read_file(file) for f in rule.functions}
        names.update(known.get(file.name, ()))
        lines.append(" ".join([file.name, str(file.stat().st_size), *sorted(names)]))
    return "\n".join(lines) + "\n"


def place_of(function: Any) -> str:
    """The package and the last name of a callee: those that have both are read together."""
    function = key_of(function.function if isinstance(function, Given) else function)
    home = "numpy" if isinstance(function, np.ufunc) else getattr(function, "__module__", None)
    of_members = isinstance(function, (Attr, Method)) or hasattr(type(function), "__getattr__")
    package = home.partition(".")[0] if isinstance(home, str) and not of_members else ""
    return f"{package}.{name_of(function)}"


def name_of(function: Any) -> str:
    """The last name of a callee."""
    if isinstance(function, Given):
        function = function.function
    if isinstance(function, (Attr, Method)):
        return function.name
    if hasattr(type(function), "__getattr__"):  # which may do anything
        return type(function).__name__
    return str(getattr(function, "__name__", type(function).__name__))


@functools.cache
def _extra_folders() -> Mapping[str, Path]:
    """The folders of templates for other packages, by their module: `scipy/linalg/`."""
    found = [
        inner
        for outer in sorted(os.scandir(folder()), key=lambda e: e.name) if outer.is_dir()
        for inner in sorted(os.scandir(outer), key=lambda e: e.name) if inner.is_dir()
    ]  # fmt: skip
    places = [Path(e.path) for e in found if not e.name.startswith("_")]
    return MappingProxyType({f"{p.parent.name}.{p.name}": p for p in places})


@functools.cache
def _extra_packages() -> frozenset[str]:
    return frozenset(module.partition(".")[0] for module in _extra_folders())


def read_extras() -> bool:
    """Read the rules of the packages that the program has imported; whether there are new ones."""
    with _lock:
        new = [m for m in _extra_folders() if m in sys.modules and m not in _extra]
        for module in new:
            files = files_of(_extra_folders()[module])
            _extra[module] = tuple(r for file in files for r in read_file(file))
        if new:
            _forget()
    return bool(new)


_LISTED = frozenset({"numpy", "math", "builtins", "_operator"})
"""The packages for whose functions the project's own files are."""


_complete: dict[object, Any] = {}
"""What has rules that were all read: functions by identity, members by what they are and name."""


def _registry_of(function: Any) -> Registry:
    """A registry that has all rules of a function."""
    member = type(function) in (Method, Attr)
    key = (type(function), function.name) if member else id(function)
    if key in _complete:
        return _so_far()
    now = _with_rules_of(function)
    if now.find(function) is not None:
        _complete[key] = None if member else function  # which keeps its identity
    return now


def _with_rules_of(function: Any) -> Registry:
    """A registry for which the files were read that may have rules of a function."""
    index = _index()
    listed = () if index is None else index.get(place_of(function), ())
    _reading(files_of(folder()) if index is None else [folder() / name for name in listed])
    now = _so_far()
    package = str(getattr(function, "__module__", "")).split(".")[0]
    known = package in _LISTED and not isinstance(function, type)
    if known and now.find(function) is None:
        _reading(files_of(folder()))  # another version may have another name for it
        now = _so_far()
    if len(_extra) < len(_extra_folders()) and now.find(function) is None:
        foreign = package == "srcdiff" or package in _extra_packages()
        if (foreign or isinstance(function, np.ufunc)) and read_extras():
            return _so_far()
    return now


@functools.cache
def _builtin_rules() -> frozenset[Rule]:
    found = _builtin_so_far()
    return frozenset((*found.rules, *found.by_key.values()))  # with and without tangents


def is_builtin(rule: Rule) -> bool:
    """Whether a rule is one of the project's own."""
    return rule in _builtin_rules()


def user_rules() -> tuple[Rule, ...]:
    """The user's rules, the same object as long as none is declared."""
    return _user


def is_users(fn: object) -> bool:
    """Whether a callee is a Python function of no library that has no rule."""
    if not isinstance(fn, (FunctionType, MethodType)) or find(fn) is not None:
        return False
    return not is_foreign(str(getattr(fn, "__module__", None) or ""))


def lookup(function: Any) -> Rule | None:
    """The rule of a function, a `Method`, an `Attr` or a `Store`; None if there is none."""
    return _registry_of(function).find(function)


def given(function: Any) -> Mapping[str, Rule]:
    """The definitions of a function by the argument for which they are, in their order."""
    nothing: Mapping[str, Rule] = MappingProxyType({})
    try:
        return _registry_of(function).options.get(key_of(function), nothing)
    except TypeError:
        return nothing


@frozen
class Bound:
    """A rule with an argument of the call for every parameter of its template."""

    rule: Rule
    args: Mapping[str, Atom]
    name: str = ""


@overload
def find(what: Call, kinds: Mapping[str, ir.Kind], loc: Loc = NOWHERE) -> Bound: ...


@overload
def find(what: Any) -> Rule | None: ...


def find(
    what: Any, kinds: Mapping[str, ir.Kind] | None = None, loc: Loc = NOWHERE
) -> Bound | Rule | None:
    """The rule of a call, bound to its arguments; a located error if there is none.

    Of a function (without `kinds`) the rule alone, or None.
    """
    if kinds is None or not isinstance(what, Call):
        return lookup(what)
    callee = _callee(what)
    own = None if _on_container(what, kinds) else lookup(what.fn)
    found = own or of_class(callee)
    named = what.text or any(hasattr(callee, n) for n in ("__srcdiff_name__", "__name__"))
    of_object = found is not own and not named
    name = f"an object of `{type(callee).__name__}`" if of_object else spelling(what)
    if found is not None and found.reason:
        given = {"name": name, "reason": found.reason}
        raise refused("callees.not_differentiated", loc, MissingRuleError, **given)
    if found is None:
        of_object = isinstance(what.fn, (Method, Attr))
        entry_name = "callees.no_rule_of_member" if of_object else "callees.no_rule"
        raise refused(entry_name, loc, MissingRuleError, name=name)
    if found.template is None and found.definition is None:
        return Bound(found, MappingProxyType({}), name)
    return Bound(found, MappingProxyType(bind(found.params, found.gather, what, loc)), name)


def _callee(call: Call) -> Any:
    """What is called; the object from outside whose `__call__` that is."""
    first = call.args[0] if call.args and call.fn == Method("__call__") else None
    return first.value if isinstance(first, ir.Ref) else call.fn


def of_class(fn: Any) -> Rule | None:
    """What is declared of the class of an object that is called (`np.vectorize`)."""
    found = lookup(type(fn))
    return found if found is not None and found.reason else None


def _on_container(call: Call, kinds: Mapping[str, ir.Kind]) -> bool:
    """Is this the method or attribute of something that is certainly no number or array?"""
    if not isinstance(call.fn, (Method, Attr)) or not call.args:
        return False
    receiver = call.args[0]
    kind = kinds.get(receiver.id) if isinstance(receiver, Name) else None
    return isinstance(receiver, Tup) or isinstance(kind, (ir.List, ir.Tuple, ir.Dict, ir.Text))
