"""A stand-in for CuPy without a GPU: arrays that NumPy computes, and that never go to the host
unasked.

`Device()` makes the modules `cupy` and `cupyx`; `with device.installed():` puts them into
`sys.modules` and takes them out again.  As in CuPy functions return arrays without axes where NumPy
returns numbers, `x[0]` is a view, functions refuse arrays of NumPy and (but for the operators)
lists and numbers, and names that CuPy lacks are missing.  What goes to the host is counted
(`transfers`), and so are the arrays that are made (`allocations`) and what is launched, about
(`launches`).  Kernels are read and computed by `kernels.py`.
"""

from __future__ import annotations

from .device import Device, TransferError

__all__ = ["Device", "TransferError"]
