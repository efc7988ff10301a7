"""Curves of `scipy.interpolate`, which are objects: only what is written with arrays has rules."""

from scipy import interpolate

from srcdiff.rules import unsupported

unsupported(
    "Interpolate linearly with `np.interp`, or multiply the values by the matrix of the curve, "
    "which is what it makes of `np.eye(n)`.",
    interpolate.CubicSpline, interpolate.interp1d, interpolate.make_interp_spline,
    interpolate.BSpline, interpolate.PchipInterpolator, interpolate.Akima1DInterpolator,
    interpolate.UnivariateSpline, interpolate.InterpolatedUnivariateSpline,
    interpolate.BarycentricInterpolator, interpolate.splrep, interpolate.splev,
    interpolate.RegularGridInterpolator, interpolate.griddata, interpolate.RBFInterpolator,
)  # fmt: skip
