"""The target of a program: whose arrays it is given, what compiles it, and whose memory it uses.

A value that a function carries from pass to pass, beside what is asked of its derivative: what is
legal there and what takes long can be told from the function.  `backends/target.py` says how a
program is legalised, spelled and loaded for one.
"""

from __future__ import annotations

from srcdiff.ir.frozen import frozen

__all__ = ["HOST", "Target"]


@frozen
class Target:
    """How a program is to run; every field combines with every other, or `Options` refuses it.

    `arrays` is the module whose arrays it is given; `compiler` what is compiled of it: "numba", all
    of it; "loops", the array statements that are fused loops; "cupy", those that are kernels; None:
    nothing, Python runs it.  `workspace`: its large arrays are made in memory that is used again.
    `threads`: how many may share a loop.  `strict`: loops of the user's stay loops, and what is
    compiled gives each bit as NumPy does.
    """

    arrays: str = "numpy"
    compiler: str | None = None
    workspace: bool = False
    threads: int = 1
    strict: bool = False

    @property
    def on_device(self) -> bool:
        """Whether its arrays live on a device, where an operation on numbers gives an array."""
        return self.arrays == "cupy"

    @property
    def native(self) -> bool:
        """Whether Numba compiles it, which computes some things otherwise than NumPy."""
        return self.compiler == "numba"

    @property
    def fused(self) -> bool:
        """Whether its array statements are loops that Numba compiles."""
        return self.compiler in ("numba", "loops")

    @property
    def kernels(self) -> bool:
        """Whether runs of its array statements are kernels for CuPy's arrays, each one launch."""
        return self.compiler == "cupy"


HOST = Target()
"""Python runs the program on arrays of NumPy, which makes them."""
