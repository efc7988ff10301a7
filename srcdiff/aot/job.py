"""The making of one generated file, and the command line that asks for it.

Takes a function, or its name (`pkg.mod:function`, `path/to/file.py:function`,
`pkg.mod:Class.method`), and what the file is to hold; gives the text, the same on every machine.
"""

from __future__ import annotations

import ast
import importlib
import os
import re
import shlex
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.aot.checks import Checked, compiled_name, front, has_unknown_dtype, renamed, weaker
from srcdiff.aot.dependencies import sources_of
from srcdiff.aot.files import Head, rules_hash
from srcdiff.api.forward import Forward
from srcdiff.backends.cupy import helpers
from srcdiff.backends.function_text import begun, holds_containers, holds_records, short_forms
from srcdiff.backends.loader import compile_module
from srcdiff.backends.numba import jit
from srcdiff.backends.standalone import Standalone, spaces_of
from srcdiff.codegen.emit import Emitted, Made
from srcdiff.driver.arguments import check_read
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.options import Options, check_compile, with_unused
from srcdiff.driver.pipeline import derive
from srcdiff.errors import TargetError, TransformError, UnsupportedError
from srcdiff.frontend.request import items_of, spelled
from srcdiff.frontend.signatures import named, place_of, signature_of
from srcdiff.ir.frozen import frozen, replace
from srcdiff.version import VERSION


@frozen
class Wanted:
    """The options of a generated file (see `generate`)."""

    inputs: Any = 0
    outputs: Any = None
    mode: str = "reverse"
    order: int = 1
    name: str | None = None
    value: bool = False
    split: bool = False
    example: Any = None
    any: bool = False
    inline: bool = False
    checks: bool = True
    unused: str = "error"
    has_aux: bool = False
    strong_zeros: bool = False
    backend: str = "numpy"
    compile: str | None = None
    strict: bool = False

    def __post_init__(self) -> None:
        if self.mode not in ("reverse", "forward"):
            raise ValueError(f"mode: expected 'reverse' or 'forward', given {self.mode!r}")
        if self.backend not in ("numpy", "cupy"):
            raise ValueError(f"backend: expected 'numpy' or 'cupy', given {self.backend!r}")
        check_compile(self.compile, files=True)
        if self.compile == "numba" and self.backend == "cupy":
            raise ValueError("compile: Numba compiles for NumPy; leave it out, or the backend")
        if self.compile == "cupy" and self.backend != "cupy":
            raise ValueError("compile: 'cupy' makes kernels for arrays of CuPy; choose its backend")
        if self.strict and self.compile is None:
            raise ValueError("strict: says how compiled code rounds; add compile, or leave it out")
        if self.any and self.example is not None:
            raise ValueError("any: the example says what the arguments are; leave one of them out")
        if self.order < 1:
            raise ValueError(f"order: expected 1 or more, given {self.order}")
        if self.split and (self.value or self.mode == "forward"):
            raise ValueError(
                "split: the forward part returns the value; in forward mode there is only one part"
            )

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Wanted:
        """The options as they are given; those of a text have lists for tuples."""
        pairs = ((k, tuple(v) if isinstance(v, list) else v) for k, v in options.items())
        return cls(**with_unused(dict(pairs)))

    def recorded(self) -> dict[str, Any]:
        """The options that are not at their defaults; an example only if it is a text."""
        pairs = ((f.name, getattr(self, f.name), f.default) for f in fields(self))
        given = {name: value for name, value, default in pairs if value != default}
        if not isinstance(self.example, str | None):
            given["example"] = None
        return given

    def derivative(self, f: Any) -> Derivative:
        """The derivative in memory."""
        inner = self.inner(f)
        first = self.order == 1
        outputs = self.outputs if first else None
        if self.mode == "forward":
            outputs = 0 if self.has_aux and not first else outputs
            inputs = tuple(items_of(self.inputs)[1])
            unused = self.unused if first else "zeros"
            return Forward(inner, Options(inputs, outputs, unused, mode="forward"))
        return Derivative(inner, Options(
            self.inputs, outputs, self.unused, self.has_aux, self.value,
            strong_zeros=self.strong_zeros,
        ))  # fmt: skip

    def inner(self, f: Any) -> Any:
        """The function that is differentiated last: for order 2 the gradient."""
        for k in range(self.order - 1):
            along = "zeros" if k else self.unused
            f = Derivative(f, Options(
                self.inputs, self.outputs if k == 0 else None,
                along if self.mode == "forward" else "error", self.has_aux,
                strong_zeros=self.strong_zeros,
            ))  # fmt: skip
        return f


def command(name: str, wanted: Wanted) -> str:
    """The command that makes a file again, without its path."""
    words = ["srcdiff generate", name]
    for key, value in wanted.recorded().items():
        words += _words(key, value)
    return " ".join(words)


def _words(key: str, value: Any) -> list[str]:
    """One option of the command line."""
    flag = "--" + key.replace("_", "-")
    if key == "checks":
        return ["--no-checks"]
    if isinstance(value, bool):
        return [flag] if value else []
    if value is None:
        return [f"{flag} ..."]
    several = isinstance(value, (list, tuple))
    items = [str(i) for i in value] if several else [str(value)]
    if several and len(items) == 1:
        items = [f"{items[0]},"]
    return [flag, *map(shlex.quote, items)]


# --- functions by name ----------------------------------------------------------------------------


def target(name: str) -> Any:
    """The function that a name leads to; its module is imported.

    Raises:
        TargetError: there is no such module, file or function.
    """
    module, colon, path = name.rpartition(":")
    if not colon or not module or not path:
        raise TargetError(f"{name!r}: expected pkg.mod:function or path/to/file.py:function")
    found: Any = _module(module)
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            known = ", ".join(sorted(n for n, v in vars(found).items() if _is_target(v)))
            where = getattr(found, "__name__", module)
            raise TargetError(f"{where} has no {part!r}; it has {known or 'nothing'}") from None
    if not callable(found):
        raise TargetError(f"{name} is a {type(found).__name__}, no function")
    return found


def _is_target(value: Any) -> bool:
    return callable(value) and not getattr(value, "__name__", "_").startswith("_")


def _module(name: str) -> Any:
    """A module by its dotted name or its file."""
    if name.endswith(".py") or "/" in name or os.sep in name:
        path = Path(name).resolve()
        if not path.is_file():
            raise TargetError(f"there is no file {name}")
        name, folder = dotted(path)
    else:
        folder = Path.cwd()
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # the module is there, and one that it imports is not
        raise TargetError(f"there is no module {name}") from None


def dotted(path: Path) -> tuple[str, Path]:
    """The dotted name of the module in a file, and the folder that it is imported from."""
    parts, folder = [path.stem], path.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts), folder


def name_of(f: Any) -> str:
    """The name that leads to a function: `pkg.mod:function`.

    A function that was made in another one, or a lambda, is called what its module calls it.
    """
    module, name = getattr(f, "__module__", "?"), getattr(f, "__qualname__", type(f).__name__)
    if "<" in name:
        space = vars(sys.modules[module]) if module in sys.modules else {}
        name = next((n for n, value in space.items() if value is f and n.isidentifier()), name)
    return f"{module}:{name}"


# --- the making of one generated file ------------------------------------------------------------


_SAYS = re.compile(r'\s+Generated by srcdiff[^"]*?\.\s*"""')


class Job:
    """The making of one file."""

    def __init__(self, f: Any, wanted: Wanted) -> None:
        self.f = f
        self.wanted = wanted
        self.made = wanted.derivative(f)
        base = self.made.request.name
        if wanted.mode == "forward" and wanted.order == 2:
            base = base.removesuffix("_grad_jvp") + "_hvp"
        self.request = replace(self.made.request, name=wanted.name or base, alone=True)
        self.target = ir.Target(wanted.backend, wanted.compile, strict=wanted.strict)
        if not self.request.name.isidentifier():
            raise ValueError(f"name: expected the name of a function, given {wanted.name!r}")
        self.example = example_of(f, wanted.example)
        if wanted.compile and self.example is None:
            raise ValueError("compile: needs an example, of whose types the text is")
        plain = self.example is None
        self.kinds: Mapping[str, ir.Kind] = (
            self.made.declared_kinds() if plain else self.made.kinds(self.arguments, {})
        )

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The example, behind the object of a method."""
        return (*self.made.receiver, *(self.example or ()))

    def names(self) -> tuple[str, ...]:
        """The functions that the file offers."""
        name = self.request.name
        return (f"{name}_forward", f"{name}_backward") if self.wanted.split else (name,)

    def text(self) -> str:
        """The whole file."""
        self._check_kinds()
        made = self.generated = self._derived(self.kinds)
        if self.example is not None and self.wanted.checks:
            self.kinds = self._weakest(made)
        body = self._body(made, jit.IN_FILE)
        sources, values = sources_of(self.f, self.kinds)
        rules, options = rules_hash(self.f, self.kinds), self.wanted.recorded()
        head = Head(VERSION, name_of(self.f), options, sources, values, rules)
        return head.text(command(name_of(self.f), self.wanted), body)

    def _check_kinds(self) -> None:
        """Refuse parameters of which nothing is known, unless they may be anything."""
        known = self.example is not None or self.wanted.any
        names = [] if known else [n for n, k in self.kinds.items() if has_unknown_dtype(k)]
        if names:
            listed = ", ".join(f"`{n}`" for n in names)
            raise UnsupportedError(
                f"nothing says of which types the arguments of `{named(self.f)}` are: {listed}",
                place_of(self.f),
                "Give an example of the arguments (--example, example=), or annotate them as "
                "float, int or bool; for a longer text that takes numbers and arrays of any rank "
                "say so (--any, any=True).",
            )

    def in_memory(self) -> str:
        """The text of the functions of the file for where there is no place to keep caches."""
        return self._body(self.generated, jit.IN_MEMORY)

    def functions_text(self) -> str:
        """The generated functions alone."""
        self._check_kinds()
        made = self._derived(self.kinds)
        heads = dict.fromkeys(made.emitted.loops, jit.OF_LOOPS[jit.IN_FILE])
        heads.update(dict.fromkeys(made.emitted.outer, ""))
        texts = _plain(made.emitted).functions
        if self.target.native:
            texts = {n: f"{heads.get(n, jit.IN_FILE)}\n{t}".lstrip() for n, t in texts.items()}
        return "\n\n\n".join(texts.values()) + "\n"

    # --- kinds -----------------------------------------------------------------------------------

    def _derived(self, kinds: Mapping[str, ir.Kind], **more: Any) -> Made:
        """The generated functions for some kinds; `more` of the request."""
        request = replace(self.request, **more)
        made = derive(self.made.origin, request, kinds, self.target, self.wanted.split)
        check_read(made.emitted.refs)
        if self.target.on_device:
            helpers.check_names(made.emitted.refs)
        if self.target.native:
            jit.check(made)
        return made

    def _weakest(self, made: Made) -> Mapping[str, ir.Kind]:
        """The weakest kinds for which the text is the same: what else may be passed."""
        tried: list[Mapping[str, ir.Kind]] = [self.kinds]
        for row in zip(*map(weaker, self.kinds.values())):
            kinds = dict(zip(self.kinds, row))
            if kinds not in tried and self._is_same(made, kinds):
                return kinds
            tried.append(kinds)
        found: Mapping[str, ir.Kind] = self.kinds
        for name, kind in self.kinds.items():
            for weak in weaker(kind):
                kinds = {**found, name: weak}
                if kinds not in tried and self._is_same(made, kinds):
                    found = kinds
                    break
                tried.append(kinds)
        return found

    def _is_same(self, made: Made, kinds: Mapping[str, ir.Kind], **more: Any) -> bool:
        """Whether the text for other kinds, or `more` of the request, is the same."""
        try:
            return self._derived(kinds, **more).emitted.text == made.emitted.text
        except TransformError:
            return False

    def _is_mixed(self, made: Made) -> bool:
        """Whether the text is right for complex arguments, too, where no dtype is known.

        Where nothing else is complex it was made for real ones.  A derivative inside of this one
        was made for the same kinds, and has to be right as well.
        """
        if not any(map(has_unknown_dtype, self.kinds.values())):
            return True
        if self.wanted.order > 1:
            inner = replace(self.wanted, order=self.wanted.order - 1, mode="reverse", split=False)
            job = Job(self.f, replace(inner, value=False, name=None))
            job.kinds = self.kinds
            if not job._is_mixed(job._derived(job.kinds)):
                return False
        return self._is_same(made, self.kinds, mixed=True)

    # --- the text --------------------------------------------------------------------------------

    def _body(self, made: Made, decorator: str) -> str:
        """Everything below the head; what Numba compiles stands under a decorator."""
        refs = made.emitted.refs
        offered = "\n".join(made.emitted.functions[n] for n in self.names())
        functions = compile_module(offered, refs, self.request.name)
        native = self.target.native
        file = Standalone(
            spaces_of(self.f), place_of(self.f), self.target, self.wanted.inline or native,
            holds_records(made, self.kinds), holds_containers(made), decorator if native else "",
            jit.INSIDE if native else "",
            {} if native or self.target.on_device else short_forms(made),
        )  # fmt: skip
        text = file.add(_plain(self.printed(made)))
        annotations = _annotation_names(text)
        file.annotate(annotations)
        file.attach(text)
        text = self._checked(made, functions, file, text) if self.wanted.checks else text
        listed = ", ".join(f'"{n}"' for n in self.names())
        top = [f'"""{self._title()}"""', *file.import_lines(bool(annotations))]
        return file.laid_out(top, f"__all__ = [{listed}]", text)

    def printed(self, made: Made) -> Emitted:
        """The functions of the file under their names: what Numba compiles has one of its own."""
        fronts = self.target.native and self.wanted.checks
        return renamed(made.emitted, self.names()) if fronts else made.emitted

    def _checked(
        self, made: Made, functions: Mapping[str, Any], file: Standalone, text: str
    ) -> str:
        """The text of functions with the lines that check their arguments."""
        mixed, fronts = self._is_mixed(made), ""
        for k, name in enumerate(self.names()):
            kinds, written = ({}, ()) if k else (self.kinds, made.written)
            checked = Checked(kinds, self.request.inputs, written, self.wanted.mode == "forward")
            lines = checked.lines(functions[name], file, mixed)
            if not self.target.native or name in made.emitted.outer:
                text = begun(text, name, lines)
            else:
                compiled = compiled_name(name, made.emitted)
                own = _plain(made.emitted).functions[name]
                fronts += front(functions[name], own, compiled, lines) + "\n\n\n"
        return fronts + text

    def _title(self) -> str:
        """What the file is."""
        inputs = ", ".join(f"`{spelled(i.param, i.path)}`" for i in self.request.inputs)
        what = "Value and gradient" if self.wanted.value else "Gradient"
        if self.wanted.order > 1:
            what = f"Derivative of order {self.wanted.order}"
        what = f"{what} of `{name_of(self.f)}` with respect to {inputs}."
        if self.wanted.mode == "forward":
            made = "Gradient" if self.wanted.order > 1 else "Value"
            what = f"{made} of `{name_of(self.f)}`, and the derivative of it along {inputs}."
        lines = textwrap.wrap(what, 94, break_long_words=False, break_on_hyphens=False)
        if self.wanted.split:
            lines += ["", "The residuals may share memory with the arguments: change neither"]
            lines[-1] += " between the two calls."
        return lines[0] if len(lines) == 1 else "\n".join(lines) + "\n"


def _plain(emitted: Emitted) -> Emitted:
    """Generated functions as they stand in a file, whose head says what made them."""
    texts = {n: _SAYS.sub('"""', text).strip() for n, text in emitted.functions.items()}
    return replace(emitted, functions=texts)


def _annotation_names(text: str) -> list[str]:
    """The global names in annotations."""
    found: dict[str, None] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.arg) and node.annotation is not None:
            names = (n.id for n in ast.walk(node.annotation) if isinstance(n, ast.Name))
            found.update(dict.fromkeys([*names, ""]))
    return list(found)


def example_of(f: Any, example: Any) -> tuple[Any, ...] | None:
    """The example arguments; a text is evaluated where the function stands, with NumPy as `np`."""
    if isinstance(example, str):
        module = sys.modules.get(getattr(f, "__module__", ""), None)
        try:
            example = eval(example, {"np": np, **(vars(module) if module else {})})
        except Exception as error:  # whatever the user's code raises
            raise ValueError(f"--example: {error}") from error
    if example is None:
        return None
    given = tuple(example) if isinstance(example, (tuple, list)) else (example,)
    try:
        signature_of(f).bind(*given)
    except TypeError as error:
        raise ValueError(f"--example: of the arguments of `{named(f)}`, {error}") from None
    return given
