"""Ahead of time: derivatives as files that need NumPy alone, and whether they are up to date.

`generate`, `generated` and `stages` are for users.  They take a function, or its name, and options;
give the text of a file, the derivative from one, and what every pass of the compiler makes.

`job`: the making of one file, and the command line that asks for it.
`checks`: the lines that check the arguments of what it offers, and what else may be passed.
`dependencies`: the facts that a text depends on, each with a hash.
`fingerprint`: what a value is, as a text that is the same in every process.
`files`: the head of a file, and files on disk.
`verify`: whether a file is right, is compiled by Numba, and is up to date.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from srcdiff.api.grad import stages
from srcdiff.errors import StaleError, StaleWarning, entry

__all__ = ["generate", "generated", "stages"]


@entry
def generate(
    f: Any, path: Any = None, *, verify: bool = False, force: bool = False, **options: Any
) -> str:
    """The derivative of a function as the text of a module that imports NumPy and nothing of ours.

    SciPy is imported where the function uses it, and modules of the user's for functions that
    the derivative calls as they are.

    Args:
        f: the function, or its name: `"pkg.mod:function"`, `"path/to/file.py:function"`.
        path: a file to write; it is replaced whole, and only if srcdiff wrote it.
        verify: compare the derivative with differences at the `example` before anything is written.
        force: write over a generated file that has been edited.
        options: `inputs`, `outputs`, `unused`, `has_aux` and `strong_zeros` as in `grad`; and
            `mode`: "reverse" (the gradient) or "forward" (the value and the derivative along a
            direction, a Jacobian-vector product);
            `order`: 2 for derivatives of the gradient: in forward mode its product with a
            direction, a Hessian-vector product;
            `value`: return `(value, gradient)`;
            `split`: the forward part and the backward part as two functions;
            `name`: of the generated function;
            `example`: arguments (a tuple, or the text of one) whose kinds the text is for; it may
            be left out where all parameters are annotated as float, int or bool;
            `any`: without an example, for numbers and arrays of any rank;
            `inline`: copy functions of the user's, too, instead of importing them;
            `checks`: False leaves out the check that arguments are what the text is for;
            `backend`: "cupy" for arrays of CuPy, which need not be installed;
            `compile`: "numba" for functions that Numba compiles, which has to be installed; "cupy",
            with that backend, for kernels;
            `strict`: what is compiled rounds as NumPy does, as in `grad`.

    Returns:
        The text, the same on every machine and Python version.

    Raises:
        TransformError: the function cannot be differentiated, or not without srcdiff at hand, or
            nothing says what its arguments are.
        HeadError: `path` is a file that srcdiff did not write, or that has been edited.
        GradcheckError: the derivative does not agree with differences.

    >>> import srcdiff
    >>> def f(x: float):
    ...     return x * x
    >>> "def f_grad(x: float, grad_outputs=1.0):" in srcdiff.aot.generate(f)
    True
    """
    from srcdiff.aot.files import write
    from srcdiff.aot.job import Job, Wanted, target
    from srcdiff.aot.verify import checked_text

    f = target(f) if isinstance(f, str) else f
    job = Job(f, Wanted.of(options))
    text = checked_text(job, verify)
    if path is not None:
        write(Path(path), text, force)
    return text


# --- from a file ----------------------------------------------------------------------------------


_STALE = ("warn", "error", "quiet")


@entry
def generated(path: str | Path, f: Any, *, stale: str = "warn", **options: Any) -> Any:
    """The derivative of a function from the file that `generate` wrote, if that is up to date.

    Args:
        path: the file, beside that of `f` if it is not absolute.
        f: the function.
        stale: what to do where the file is missing, has been edited, or was made from other source
            text, other values outside, or by a version or rules that write another text: "warn"
            and "quiet" make the derivative anew, with a StaleWarning or without; "error" raises.
        options: those of `generate` for a file that is missing; else they stand in the file.

    Returns:
        The function in the file; a tuple of two for the option `split`.

    Raises:
        StaleError: the file is out of date, and `stale="error"`.
        HeadError: the file was not written by srcdiff.
    """
    if stale not in _STALE:
        raise ValueError(f"stale: expected one of {', '.join(_STALE)}, given {stale!r}")
    from srcdiff.aot.verify import Asked

    asked = Asked(path, f, options)
    if not asked.why:
        return asked.loaded()
    message = f"{asked.place} {asked.why}: run srcdiff generate"
    if stale == "error":
        raise StaleError(message)
    if stale == "warn":
        warnings.warn(message, StaleWarning, stacklevel=3)
    return asked.anew()
