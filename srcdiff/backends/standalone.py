"""A generated text as a module of its own: what it calls is imported or copied beside it."""

from __future__ import annotations

import ast
import enum
import inspect
import re
import sys
import types
from collections.abc import Container, Mapping
from dataclasses import field
from typing import Any

from srcdiff import ir
from srcdiff.backends import function_text, references
from srcdiff.backends.cupy import helpers as cupy
from srcdiff.backends.function_text import Chain
from srcdiff.backends.numba.legalize import twin
from srcdiff.backends.references import Import, value_text
from srcdiff.codegen.emit import Emitted
from srcdiff.codegen.printer import wrap
from srcdiff.errors import InternalError, UnsupportedError
from srcdiff.ir.frozen import state
from srcdiff.runtime import guards, service
from srcdiff.runtime.devices import OnHost
from srcdiff.runtime.records import is_foreign

_MISSING = object()
_ERRORS = re.compile(r"\bCotangent(Type)?Error\b")
_COMPILED = ("srcdiff.backends.numba.array_math", "srcdiff.backends.numba.vector_math")
"""What Numba compiles calls of by itself: they are imported."""


@state
class Standalone:
    """The parts of a file that generated functions are put into, for where they are to run.

    `spaces` are the namespaces of the user's modules.  With `inline` the user's functions are
    copied as srcdiff's own are, else imported.  `records` and `containers`: whether values may be
    objects, or tuples, lists and dicts, so that branches for them are needed.  `decorator`: what
    stands above every function, and those that it calls, where Numba compiles them; `for_loops`
    what stands above loops over elements.
    """

    spaces: list[Mapping[str, Any]]
    place: ir.Loc
    target: ir.Target
    inline: bool = False
    records: bool = True
    containers: bool = True
    decorator: str = ""
    for_loops: str = ""
    short: Mapping[str, Any] = field(default_factory=dict)
    names: dict[str, Any] = field(default_factory=dict)
    imports: set[Import] = field(default_factory=set)
    constants: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    helpers: list[str] = field(default_factory=list)
    copied: list[tuple[str, Any]] = field(default_factory=list)  # functions of the user's
    attributes: list[str] = field(default_factory=list)

    # --- names -----------------------------------------------------------------------------------

    def reserve(self, name: str) -> None:
        """Keep a name for a function of the file."""
        self.names[name] = object()

    def add(self, emitted: Emitted) -> str:
        """The text of generated functions, with everything provided that they call."""
        refs = emitted.refs
        for name in emitted.functions:
            self.reserve(name)
        refs = {n: self.short.get(n, self._form(v)) for n, v in refs.items()}
        self.names.update(refs)
        compared = frozenset().union(*map(function_text.compared, emitted.functions.values()))
        for name, value in refs.items():
            if name in compared and self._is_copied(value):
                self._provide_itself(name, value)
            else:
                self._provide(name, value)
        modules = {n: v for n, v in refs.items() if isinstance(v, types.ModuleType)}
        if self.target.on_device and "np" not in refs:  # in annotations
            modules["np"] = sys.modules["numpy"]
        return "\n\n\n".join(self._added(n, emitted, modules) for n in emitted.functions)

    def _added(
        self, name: str, emitted: Emitted, modules: Mapping[str, types.ModuleType]
    ) -> str:
        """The text of a generated function, as modules and Numba want it."""

        def spelled(chain: Chain) -> str | None:
            return self._in_module(chain, modules[chain[0]])

        text = emitted.functions[name].strip()
        text = function_text.respelled(text, frozenset(modules), spelled)
        decorator = self.for_loops if name in emitted.loops else self.decorator
        decorator = "" if name in emitted.outer else decorator
        return "\n".join(filter(None, (decorator, text)))

    def name_of(self, value: Any, wanted: str, taken: Container[str] = ()) -> str:
        """The name in the file of something that is provided now, if it was not before.

        None of those that are `taken` where it is used.
        """
        value = self._form(value)
        if self.target.on_device and value is sys.modules["numpy"]:
            wanted = "cp"
        if callable(value) or isinstance(value, types.ModuleType):
            for name, known in self.names.items():
                if known is value and name not in taken:
                    return name
        elif self.names.get(wanted, _MISSING) is value:
            return wanted
        name, number = wanted, 0
        while name in self.names or name in taken:
            number += 1
            name = f"{wanted}_{number}"
        self.names[name] = value
        self._provide(name, value)
        return name

    def dotted(self, value: Any) -> str:
        """The module and the name by which a function that is passed is known in every process."""
        name = str(getattr(value, "__name__", type(value).__name__))
        found = references.object_import(value, name, self.spaces)
        if found is None:
            raise UnsupportedError(
                f"`{name}` is passed as an argument, and is in no module by which a file could "
                "tell it from others",
                self.place,
                "Define it at the top of a module, pass the object of a method, or leave the "
                "checks out (checks=False, --no-checks).",
            )
        return f"{found.module}.{found.attr}"

    def _form(self, value: Any) -> Any:
        """What is put into the file for something: the form of a helper that Numba compiles."""
        return twin(value) if self.decorator else value

    def numpy(self) -> str:
        """The name of NumPy."""
        return self.name_of(sys.modules["numpy"], "np")

    # --- where things come from ------------------------------------------------------------------

    def _provide(self, name: str, value: Any) -> None:
        """Import, write or copy something."""
        if isinstance(value, OnHost):
            self.imports.add(references.module_import(value.function, name))
        elif isinstance(value, types.ModuleType):
            if not self._is_taken_apart(value.__name__):
                self._import(references.module_import(value, name))
        elif getattr(value, "__module__", "") in _COMPILED:
            self.imports.add(Import(value.__module__, value.__name__, name))
        elif _is_ours(value) or self._is_copied(value):
            self._copy(name, value)
        else:
            self._value(name, value)

    def _provide_itself(self, name: str, value: Any) -> None:
        """Spell a function that others are compared with, to which a copy would not be equal."""
        if not self._is_in_table(name, value):
            raise UnsupportedError(
                "a function is told from others by what it is, and is in no module or table of one "
                "by which a file could tell it from others",
                self.place,
                "Define it at the top of a module, or choose by `if` between calls.",
            )

    def _is_in_table(self, name: str, value: Any) -> bool:
        """Whether a table of a module holds something, from which it is taken then."""
        found = None if self.inline else references.table_of(value, self.spaces)
        key = None if found is None else self._key(found[2])
        if found is None or key is None:
            return False
        self.constants += wrap(f"{name} = ", f"{self.name_of(*found[:2])}[{key}]")
        return True

    def _key(self, key: Any) -> str | None:
        """The text of a key of a table."""
        if isinstance(key, enum.Enum):
            return f"{self.name_of(type(key), type(key).__name__)}.{key.name}"
        return value_text(key, self.numpy)

    def _import(self, found: Import) -> None:
        """Add an import: of CuPy where the file is for its arrays."""
        self.imports.add(cupy.imported(found) if self.target.on_device else found)

    def _value(self, name: str, value: Any) -> None:
        """Write a value out, or import it."""
        text = value_text(value, self.numpy)
        if text is not None:
            self.constants += wrap(f"{name} = ", text)
            return
        found = list(references.object_imports(value, name, self.spaces))
        if not found and self._is_in_table(name, value):
            return
        inlined = self.inline and not isinstance(value, type)
        usable = [place for place in found if not (inlined and _is_users(place.module))]
        if not usable:
            where = f"in `{found[0].module}`" if found else "in no module"
            raise self._refusal(name, f"is of type {type(value).__name__}, {where}")
        self._import(usable[0])

    def _is_copied(self, value: Any) -> bool:
        """Whether a function of the user's is copied: it is asked for, or there is no other way.

        In a file for CuPy it is, as it would be with CuPy.
        """
        if not isinstance(value, types.FunctionType):
            return False
        module = value.__module__ or ""
        generated = value.__code__.co_filename.startswith(ir.GENERATED)
        lost = references.object_import(value, value.__name__, self.spaces) is None
        return generated or lost or ((self.inline or self.target.on_device) and _is_users(module))

    def _refusal(self, name: str, why: str) -> UnsupportedError:
        return UnsupportedError(
            f"`{name}` {why}, and cannot be written into a file of its own",
            self.place,
            "Make it a parameter, or a number or a short array.",
        )

    def _at_run_time(self) -> UnsupportedError:
        return UnsupportedError(
            "a function that is called is known only when the program runs, and its "
            "derivative is generated then: that needs srcdiff itself",
            self.place,
            "Call functions by their names, with `if` to choose between them. Integrals have "
            "gradients in files and no forward mode, solutions of equations neither.",
        )

    # --- copies ----------------------------------------------------------------------------------

    def _copy(self, name: str, value: Any) -> None:
        """Copy a function or class, and whatever it needs."""
        if value.__module__ == service.__name__:
            raise self._at_run_time()
        if not _is_ours(value):
            self.copied.append((name, value))
        value = getattr(value, "__wrapped__", value)
        at = len(self.helpers)
        text = _class_text(value) if isinstance(value, type) else function_text.text_of(value, name)
        found = getattr(value, "__globals__", None)
        space = dict(vars(sys.modules[value.__module__]) if found is None else found)
        cells = getattr(value, "__closure__", None) or ()
        names = getattr(getattr(value, "__code__", None), "co_freevars", ())
        space.update((n, c.cell_contents) for n, c in zip(names, cells))
        own = _is_ours(value)
        if own:  # of the classes of errors, the builtin ones that they derive from
            text = _ERRORS.sub(lambda found: f"{found[1] or 'Value'}Error", text)
        if own and self.target.on_device:
            text, space = cupy.for_cupy(text), {**space, "cp": sys.modules["numpy"]}
        text = self._respelled(text, space, own, name)
        if self.decorator and value.__module__ != guards.__name__:
            text = function_text.decorated(text, self.decorator)
        if isinstance(value, type):  # below its bases
            self.classes.append(text)
        elif function_text.runs_when_loaded(text):  # below what it uses
            self.helpers.append(text)
        else:
            self.helpers.insert(at, text)

    def attach(self, text: str) -> None:
        """Give copied functions the attributes of theirs that the text, or a copy, may read."""
        done: set[tuple[str, str]] = set()
        while new := [found for found in self._attributes(text) if found[:2] not in done]:
            for name, attr, value in new:
                done.add((name, attr))
                written = value_text(value, self.numpy) or self.name_of(value, attr)
                self.attributes += wrap(f"{name}.{attr} = ", written)

    def _attributes(self, text: str) -> list[tuple[str, str, Any]]:
        """The attributes of the functions that are copied by now."""
        words = function_text.words(text).union(*map(function_text.words, self.helpers))
        held = ((name, attr, v) for name, f in self.copied for attr, v in vars(f).items())
        return [found for found in held if found[1] in words and not found[1].startswith("__")]

    def _respelled(self, text: str, space: Mapping[str, Any], own: bool, name: str) -> str:
        """A copied definition with the names that its global names have in the file."""
        if own:
            text = function_text.without_branches(function_text.plain(text), self._is_impossible)
        free = frozenset(n for n in function_text.free_names(text) if n in space and n != name)
        try:
            return function_text.respelled(text, free, lambda chain: self._spelled(chain, space))
        except ValueError as error:
            raise self._refusal(str(error), "stands in an f-string") from None

    def _spelled(self, chain: Chain, space: Mapping[str, Any]) -> str | None:
        """What stands for a dotted name of a copied definition."""
        root = space[chain[0]]
        if isinstance(root, types.ModuleType):
            return self._in_module(chain, root)
        if not isinstance(root, type) and not callable(root) and _is_constant(space):
            return ".".join((self._statement(chain[0], root, space), *chain[1:]))
        return ".".join((self.name_of(root, chain[0]), *chain[1:]))

    def _statement(self, name: str, value: Any, space: Mapping[str, Any]) -> str:
        """The name of a value of one of srcdiff's modules, of which the statement is copied."""
        if self.names.get(name, _MISSING) is value:
            return name
        self.names[name] = value
        text, _ = _definition(name, space)
        self.constants.append(self._respelled(function_text.plain(text), space, False, name))
        return name

    def _is_impossible(self, test: ast.expr) -> bool:
        """Whether a test asks for objects or containers, and there are none."""
        text = ast.unparse(test)
        if text.startswith("records.is_record(") and not self.records:
            return isinstance(test, ast.Call)
        if self.containers or not text.startswith("isinstance(") or not isinstance(test, ast.Call):
            return False
        asked = test.args[1]
        found = asked.elts if isinstance(asked, ast.Tuple) else [asked]
        return all(isinstance(c, ast.Name) and c.id in ("dict", "list", "tuple") for c in found)

    # --- modules ---------------------------------------------------------------------------------

    def _in_module(self, chain: Chain, root: types.ModuleType) -> str | None:
        """The spelling of a dotted name that begins with a module, which is imported."""
        if chain[:2] == ("cupyx", "scipy"):
            self._in_module(chain[1:], root)
            return ".".join(chain)
        found: Any = root
        used, module = 1, root
        for k, part in enumerate(chain[1:], 2):
            found = getattr(found, part, None)
            if isinstance(found, types.ModuleType):
                module, used = found, k
        value = getattr(module, chain[used], _MISSING) if used < len(chain) else module
        name = module.__name__
        if self._is_taken_apart(name):
            rest = chain[used + 1 :]
            return ".".join((self.name_of(value, chain[used]), *rest))
        if used > 1 and not name.startswith("numpy"):
            self._import(Import(name, "", ""))
        return ".".join((self.name_of(root, chain[0]), *chain[1:]))

    def _is_taken_apart(self, module: str) -> bool:
        """Whether no module of this name is imported: what it holds is copied."""
        return module.split(".")[0] == "srcdiff" or (self.inline and _is_users(module))

    # --- the text --------------------------------------------------------------------------------

    def annotate(self, names: list[str]) -> None:
        """Import what annotations name, of libraries alone: nothing evaluates them."""
        for name in names:
            value = next((space[name] for space in self.spaces if name in space), None)
            if name in self.names or value is None:
                continue
            if isinstance(value, types.ModuleType):
                found: Import | None = references.module_import(value, name)
            else:
                found = references.object_import(value, name, self.spaces)
            if found is not None and not _is_users(found.module) and found.module != "srcdiff":
                self._import(found)

    def import_lines(self, annotations: bool) -> list[str]:
        """The import statements, behind empty lines."""
        inner = {i.module.split(".")[0] for i in self.imports if not i.name}
        found = {i for i in self.imports if i.attr or i.name != i.module or i.name not in inner}
        if self.decorator or self.for_loops:
            found.add(Import("numba", "", "numba"))
        if annotations:
            found.add(Import("__future__", "annotations", "annotations"))
        return ["", *references.lines(found)] if found else []

    def laid_out(self, top: list[str], listed: str, text: str) -> str:
        """The file: its parts in their order, empty lines between them."""
        parts = ["\n".join([*top, *(["", listed] if listed else [])])]
        if self.constants:
            parts[0] += "\n\n" + "\n".join(self.constants)
        parts.append(text)
        copied = [*self.classes, *self.helpers]
        if copied:
            parts.append("# What these functions call:\n\n\n" + copied[0])
            parts += copied[1:]
        if self.attributes:
            parts.append("\n".join(self.attributes))
        return "\n\n\n".join(parts) + "\n"


def _is_ours(value: Any) -> bool:
    """Whether a function or class is one of srcdiff's."""
    module = str(getattr(value, "__module__", "") or "")
    named = isinstance(value, type) or hasattr(value, "__code__") or hasattr(value, "__wrapped__")
    return named and module.split(".")[0] == "srcdiff"


def _is_users(module: str) -> bool:
    """Whether a module is the user's, and not one of an installed package."""
    if is_foreign(module) or module.split(".")[0] in sys.stdlib_module_names:
        return False
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return "site-packages" not in file


def _is_constant(space: Mapping[str, Any]) -> bool:
    """Whether names are those of one of srcdiff's modules."""
    return str(space.get("__name__", "")).split(".")[0] == "srcdiff"


def _definition(name: str, space: Mapping[str, Any]) -> tuple[str, ast.stmt]:
    """The statement that binds a name of one of srcdiff's modules: its text and its tree."""
    with open(space["__file__"], encoding="utf-8") as file:
        text = file.read()
    for node in ast.parse(text).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", 0)]
        bound = {getattr(node, "name", ""), *(getattr(t, "id", "") for t in targets)}
        if name in bound:
            return ast.get_source_segment(text, node) or "", node
    raise InternalError(f"`{name}` has no definition")


def _class_text(cls: type) -> str:
    """The definition of a class of srcdiff's.

    A dataclass needs its annotations, and where these are text the module that it stands in, which
    a file need not have.
    """
    text, node = _definition(cls.__name__, vars(sys.modules[cls.__module__]))
    plain = isinstance(node, ast.ClassDef) and not node.decorator_list
    if not plain or any(isinstance(n, ast.AnnAssign) for n in node.body):  # type: ignore[attr-defined]
        raise InternalError(f"`{cls.__name__}` is no plain class, and is not copied")
    return text


def spaces_of(f: Any) -> list[Mapping[str, Any]]:
    """The namespaces of a function and of the modules that it uses."""
    while hasattr(f, "primal"):
        f = f.primal
    f = inspect.unwrap(f) if callable(f) else f
    own = getattr(getattr(f, "__func__", f), "__globals__", None)
    modules = () if own is None else tuple(own.values())
    users = [vars(m) for m in modules if inspect.ismodule(m) and hasattr(m, "__file__")]
    others = [g for v in modules if (g := getattr(v, "__globals__", None)) is not None]
    return [*([] if own is None else [own]), *users, *others]
