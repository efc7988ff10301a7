"""Derivatives in other processes, of functions that are sent by value with no file behind them."""

import linecache
import marshal
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import srcdiff
from srcdiff.driver import callables
from tests.support import models

CELL = """
import numpy as np
def scale(x):
    return 2.0 * x
def f(x):
    return np.sum(scale(x) ** 2)
"""
OTHER = """
import linecache, marshal, pickle, sys, types
import numpy as np
import srcdiff

build, (sources, cls, codes, *more) = pickle.load(sys.stdin.buffer)
codes = {n: marshal.loads(code) for n, code in codes.items()}
if sys.argv[1] == "renamed":
    codes = {n: code.replace(co_filename="<dynamic-code>") for n, code in codes.items()}
space = {"__name__": "__main__", "np": np}
space["scale"] = types.FunctionType(codes["scale"], {"__name__": "__main__"})
primal = types.FunctionType(codes["f"], space)
assert not linecache.getlines(codes["f"].co_filename)
print(build(sources, cls, primal, *more)(np.array([1.0, 2.0])).tolist())
"""


@pytest.mark.parametrize("file", ["<cell 1>", "script.py"])
@pytest.mark.parametrize("name", ["same", "renamed"])
@pytest.mark.parametrize("make", [srcdiff.grad, srcdiff.jacobian])
def test_source_comes_along(make, name, file, tmp_path):
    """As for a function of a notebook or script; cloudpickle may name its file otherwise."""
    if file == "script.py":
        (tmp_path / file).write_text(CELL)
        file = str(tmp_path / file)
    else:
        linecache.cache[file] = (len(CELL), None, CELL.splitlines(keepends=True), file)
    space = {"__name__": "__main__"}
    exec(compile(CELL, file, "exec"), space)
    build, (sources, cls, primal, *more) = make(space["f"]).__reduce__()
    assert primal is space["f"] and list(sources) == [file]
    if file != "<cell 1>":
        Path(file).unlink()  # on another machine there is none
    codes = {n: marshal.dumps(space[n].__code__) for n in ("f", "scale")}
    given = pickle.dumps((build, (sources, cls, codes, *more)))
    ran = subprocess.run([sys.executable, "-c", OTHER, name], input=given, capture_output=True)
    assert ran.returncode == 0, ran.stderr.decode()
    assert ran.stdout.decode().strip() == "[8.0, 16.0]"
    if file == "<cell 1>":
        np.testing.assert_array_equal(make(space["f"])(np.array([1.0, 2.0])), [8.0, 16.0])


def test_no_source_comes_along_from_files():
    assert srcdiff.grad(models.loss).__reduce__()[0] is not callables.made_again
