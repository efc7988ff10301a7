"""What a generated file is to hold, and the command line that asks for it."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any

from srcdiff.api.jvp import Forward
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.options import Options, check_compile


@dataclass(frozen=True)
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
    inline: bool = False
    checks: bool = True
    allow_unused: bool | None = None
    materialize_grads: bool = False
    has_aux: bool = False
    strong_zeros: bool = False
    backend: str = "numpy"
    compile: str | None = None

    def __post_init__(self) -> None:
        if self.mode not in ("reverse", "forward"):
            raise ValueError(f"mode: expected 'reverse' or 'forward', given {self.mode!r}")
        if self.backend not in ("numpy", "cupy"):
            raise ValueError(f"backend: expected 'numpy' or 'cupy', given {self.backend!r}")
        check_compile(self.compile)
        if self.compile and self.backend == "cupy":
            raise ValueError("compile: Numba compiles for NumPy; leave it out, or the backend")
        if self.order < 1:
            raise ValueError(f"order: expected 1 or more, given {self.order}")
        if self.split and (self.value or self.mode == "forward"):
            raise ValueError(
                "split: the forward part returns the value; in forward mode there is only one part"
            )

    def given(self) -> dict[str, Any]:
        """The options that are not at their defaults."""
        pairs = ((f.name, getattr(self, f.name), f.default) for f in fields(self))
        return {name: value for name, value, default in pairs if value != default}

    def derivative(self, f: Any) -> Derivative:
        """The derivative in memory."""
        inner = self.inner(f)
        first = self.order == 1
        outputs = self.outputs if first else None
        if self.mode == "forward":
            inputs = self.inputs if isinstance(self.inputs, (tuple, list)) else (self.inputs,)
            return Forward(inner, tuple(inputs), outputs)
        return Derivative(inner, Options(
            self.inputs, outputs, self.allow_unused, self.materialize_grads,
            self.has_aux and first, self.value, strong_zeros=self.strong_zeros,
        ))  # fmt: skip

    def inner(self, f: Any) -> Any:
        """The function that is differentiated last: for order 2 the gradient."""
        for k in range(self.order - 1):
            f = Derivative(f, Options(
                self.inputs, self.outputs if k == 0 else None,
                materialize_grads=self.mode == "forward", has_aux=self.has_aux and k == 0,
                strong_zeros=self.strong_zeros,
            ))  # fmt: skip
        return f


def recorded(wanted: Wanted) -> dict[str, Any]:
    """The options as the head of the file has them; an example only if it is a text."""
    given = wanted.given()
    if "example" in given and not isinstance(given["example"], str):
        given["example"] = None
    return given


def command(name: str, wanted: Wanted) -> str:
    """The command that makes a file again, without its path."""
    words = ["srcdiff generate", name]
    for key, value in recorded(wanted).items():
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
    return [flag, *map(_quoted, items)]


def _quoted(text: str) -> str:
    return text if re.fullmatch(r"[\w./:+,-]+", text) else "'" + text.replace("'", "'\\''") + "'"
