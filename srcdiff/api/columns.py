"""Jacobians as Python functions, for where they stand in functions that are differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from srcdiff.api.jvp import jvp_again
from srcdiff.frontend.onecall import signature_of
from srcdiff.frontend.request import parse_path
from srcdiff.runtime.implicit import basis_of, with_source
from srcdiff.runtime.service import made_once
from srcdiff.specialize.nested.columns import is_jacobian

_BODY = """\
{columns} = [{jvp}({f}, ({primals},), ({tangents},))[1] for {e} in {basis_of}({x})]
if isinstance({columns}[0], (tuple, list, dict)) or {np}.iscomplexobj({columns}[0]):
    raise TypeError("the derivative of a Jacobian is for one real output")
return {np}.reshape({np}.stack({columns}, -1), {np}.shape({columns}[0]) + {np}.shape({x}))[()]
"""
_GLOBALS: dict[str, Any] = {"np": np, "jvp": jvp_again, "basis_of": basis_of}


def columns_of(f: Any, item: Any) -> Any:
    """The Jacobian of a function by one parameter as a function whose source can be read.

    None where the input is a part of a parameter, or parameters have defaults or stars.
    """
    f = f.by_columns() if is_jacobian(f) else f
    if f is None:
        return None
    params = signature_of(f).parameters
    plain = all(
        p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
        for p in params.values()
    )
    name = list(params)[item] if isinstance(item, int) else item
    if not plain or name not in params or parse_path(name).path:
        return None
    return made_once(f, ("columns", name), lambda: _made(f, params, name))


def _made(f: Any, params: Mapping[str, Any], x: str) -> Any:
    names = {base: _untaken(base, params) for base in (*_GLOBALS, "f", "columns", "e")}
    tangents = ", ".join(names["e"] if name == x else "None" for name in params)
    body = _BODY.format(primals=", ".join(params), tangents=tangents, x=x, **names)
    space = {names[base]: value for base, value in {**_GLOBALS, "f": f}.items()}
    return with_source(f"def jacobian({', '.join(params)}):", body.splitlines(), space)


def _untaken(name: str, params: Mapping[str, Any]) -> str:
    """A name that no parameter has."""
    return name if name not in params else _untaken(f"{name}_", params)
