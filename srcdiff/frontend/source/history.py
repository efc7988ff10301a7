"""What was typed at a prompt: before Python 3.13 only the history of `readline` has it."""

from __future__ import annotations

import inspect
import sys
import types

from srcdiff.frontend.source.codes import alike, compiled, future_flags

_PROMPTS = ("<stdin>", "<console>")


def typed_lines(code: types.CodeType) -> tuple[str, ...]:
    """The lines of the last input that compiles to a code object, none if there is none."""
    readline = sys.modules.get("readline")
    if code.co_filename not in _PROMPTS or readline is None:
        return ()
    count = readline.get_current_history_length()
    typed = [f"{readline.get_history_item(k) or ''}\n" for k in range(1, count + 1)]
    for start in reversed(range(len(typed))):
        if typed[start].lstrip().startswith(("def ", "@")) or "lambda" in typed[start]:
            block = tuple(inspect.getblock(typed[start:]))
            if _makes("".join(block), code):
                return block
    return ()


def _makes(text: str, code: types.CodeType) -> bool:
    """Whether some input compiles to a code object, among others."""
    try:
        return bool(alike(code, compiled(text, future_flags(code))))
    except SyntaxError:
        return False
