"""`generate`: a derivative as a file that needs NumPy alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from srcdiff.runtime.tracebacks import entry


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
        options: `inputs`, `outputs`, `allow_unused`, `materialize_grads`, `has_aux` and
            `strong_zeros` as in `grad`; and
            `mode`: "reverse" (the gradient) or "forward" (the value and the derivative along a
            direction, a Jacobian-vector product);
            `order`: 2 for derivatives of the gradient: in forward mode its product with a
            direction, a Hessian-vector product;
            `value`: return `(value, gradient)`;
            `split`: the forward part and the backward part as two functions;
            `name`: of the generated function;
            `example`: arguments (a tuple, or the text of one) whose kinds the text is for;
            `inline`: copy functions of the user's, too, instead of importing them;
            `checks`: False leaves out the check that arguments are what the text is for;
            `backend`: "cupy" for arrays of CuPy, which need not be installed;
            `compile`: "numba" for functions that Numba compiles, which has to be installed.

    Returns:
        The text, the same on every machine and Python version.

    Raises:
        TransformError: the function cannot be differentiated, or not without srcdiff at hand.
        HeadError: `path` is a file that srcdiff did not write, or that has been edited.
        GradcheckError: the derivative does not agree with differences.

    >>> import srcdiff
    >>> def f(x: float):
    ...     return x * x
    >>> "def f_grad(x: float, grad_outputs=1.0):" in srcdiff.generate(f)
    True
    """
    from srcdiff.aot.accepted import accepted
    from srcdiff.aot.files import write
    from srcdiff.aot.job import Job
    from srcdiff.aot.targets import target
    from srcdiff.aot.verify import verified
    from srcdiff.aot.wanted import Wanted

    f = target(f) if isinstance(f, str) else f
    job = Job(f, Wanted(**options))
    text = job.text()
    accepted(job, text)
    if verify:
        verified(job, text)
    if path is not None:
        write(Path(path), text, force)
    return text
