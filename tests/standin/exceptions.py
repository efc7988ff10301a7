"""What is not as with NumPy on the stand-in, and why."""

MOVED = {
    "iterators-run_max_key_active": "the place of the greatest item is looked for once more",
}
"""Programs whose gradient takes more from the device than they do themselves."""

_NUMBERS = "CuPy's function takes no numbers of the host"
_LISTS = "CuPy's function takes no lists"
_OPTION = "CuPy's function has no such argument"

RULES = {
    "block": _NUMBERS,
    "block_diag": _NUMBERS,
    "cholesky_upper": _OPTION,
    "choose": _LISTS,
    "choose_mode": _LISTS,
    "columns": "`np.c_` by its method, which has no name in CuPy",
    "complex_number": "`np.complex128(x)` of an array of CuPy",
    "compress": _LISTS,
    "compress_method": _LISTS,
    "cond": _LISTS,
    "copyto_where": _NUMBERS,
    "diff_append": _NUMBERS,
    "diff_prepend": _NUMBERS,
    "dist": "a function of `math` on the items of an array",
    "divmod_": "arrays of CuPy have no `divmod`",
    "dot": _NUMBERS,
    "dot_right_": _NUMBERS,
    "fixed_point_": "the solver runs the function as it is, with NumPy",
    "fsum": "a function of `math` on the items of an array",
    "i0": _OPTION,
    "i0_slope_": _OPTION,
    "lfilter": _LISTS,
    "lu_factor": _LISTS,
    "lu_solve": _LISTS,
    "math_prod": "a function of `math` on the items of an array",
    "multiply_outer": _NUMBERS,
    "outer": _NUMBERS,
    "poly": _NUMBERS,
    "polygamma": _NUMBERS,
    "rows": "`np.r_` by its method, which has no name in CuPy",
    "sliding_window_view": "it is in `cupy.lib`, which is not spelled",
    "solution_": "the solver runs the function as it is, with NumPy",
    "spherical_yn": _NUMBERS,
    "spread_": _NUMBERS,
    "svd": _LISTS,
    "take_mode": _LISTS,
    "trim_zeros": _NUMBERS,
}
"""Rules some sample of which fails there, in the function or in its adjoint, with an error."""

PARTIAL = {"dot", "outer", "svd", "cond", "polygamma", "lfilter", "trim_zeros", "multiply_outer",
           "compress", "compress_method", "diff_append", "diff_prepend", "take_mode"}  # fmt: skip
"""Those of them that work for arrays, as other samples show."""
