"""What is refused: minimal programs by topic, which `docs/limits.md` shows with their messages."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import srcdiff
from srcdiff import rules

FILE = "model.py"


@dataclass(frozen=True)
class Limit:
    """A construct, and a program that ends with the call that is refused."""

    topic: str
    title: str
    program: str

    @property
    def text(self) -> str:
        """The program without the line ends around it."""
        return self.program.strip("\n") + "\n"


class AcceptedError(Exception):
    """A program that should be refused is not."""


def run(limit: Limit) -> srcdiff.SrcdiffError:
    """The error of a program; the rules that it writes are forgotten."""
    text, before = limit.text, rules._user
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    namespace: dict[str, Any] = {"np": np, "srcdiff": srcdiff, "__name__": "model"}
    try:
        exec(compile(text, FILE, "exec", dont_inherit=True), namespace)
    except srcdiff.SrcdiffError as error:
        return error
    finally:
        del linecache.cache[FILE]
        rules._user = before
        rules.registry.cache_clear()
    raise AcceptedError(f"{limit.topic}: {limit.title} is accepted")


_GENERATED = re.compile(r"<srcdiff (\w+) \d+>")
"""The file of a generated text: each has a number of its own."""


def entry(limit: Limit) -> str:
    """A construct as the page shows it."""
    message = _GENERATED.sub(r"<srcdiff \1>", str(run(limit)))
    return f"### {limit.title}\n\n```py\n{limit.text}```\n\n```text\n{message}\n```\n"


HEAD = """\
# Limits

srcdiff differentiates a function rightly or refuses it. This page lists what is refused, with the
messages; a test runs every program on it. In all of them stands above: `import numpy as np` and
`import srcdiff`.

What carries no derivative may use all of Python: most of this is refused only where a derivative
would have to flow through it. Every error derives from `srcdiff.SrcdiffError`.
"""


def page(limits: tuple[Limit, ...]) -> str:
    """The whole page."""
    return "\n".join([HEAD, *_sections(limits)])


def _sections(limits: tuple[Limit, ...]) -> Iterator[str]:
    """The topics in order, with their entries."""
    topic = ""
    for limit in limits:
        if limit.topic != topic:
            topic = limit.topic
            yield f"## {topic}\n"
        yield entry(limit)
