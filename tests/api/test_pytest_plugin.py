"""`pytest --srcdiff-verify`: a session in which every derivative is verified."""

import os
import sys
from pathlib import Path

import pytest

from srcdiff.api.pytest_plugin import pytest_configure

pytest_plugins = ["pytester"]

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PLUGIN = "srcdiff.api.pytest_plugin"

PROGRAM = """
import os
import numpy as np
import srcdiff
from srcdiff.primitives.notation import d
from srcdiff.primitives.registry import rule

def cube(x):
    return x ** 3

@rule(cube)
def wrong(x):
    z = cube(x)
    yield z
    d[x] += d[z] * x ** 2

def test_wrong():
    srcdiff.grad(lambda x: cube(x) * x)(2.0)

def test_right():
    srcdiff.grad(lambda x: np.sin(x) * x)(2.0)

def test_kink():
    srcdiff.grad(lambda x: abs(x))(0.0)

def test_is_on():
    assert os.environ.get("SRCDIFF_VERIFY") == "first"
"""


ROOT = Path(__file__).parents[2]


def test_a_session_is_verified(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makepyfile(PROGRAM)
    pytester.makeini("[pytest]\nfilterwarnings = error")
    # In a process of its own; as the installed package would have it, or as it stands here.
    known = ("-p", "no:srcdiff", "-p", PLUGIN, "-p", "no:cacheprovider")
    done = pytester.runpytest_subprocess(*known, "--srcdiff-verify")
    done.assert_outcomes(passed=3, failed=1, warnings=1)
    done.stdout.fnmatch_lines(["srcdiff: derivatives are verified", "*WrongDerivativeError: *"])
    done.stdout.fnmatch_lines(["*is not verified: a kink: slope *"])
    done = pytester.runpytest_subprocess(*known)
    done.assert_outcomes(passed=3, failed=1)
    done.stdout.no_fnmatch_line("*srcdiff: derivatives*")
    done.stdout.fnmatch_lines(["*FAILED *test_is_on*"])


@pytest.mark.parametrize("before", [None, "off"])
def test_all_is_put_back(monkeypatch, before):
    if before is None:
        monkeypatch.delenv("SRCDIFF_VERIFY", raising=False)
    else:
        monkeypatch.setenv("SRCDIFF_VERIFY", before)
    config = Config()
    pytest_configure(config)
    assert os.environ["SRCDIFF_VERIFY"] == "first" and len(config.cleanups) == 1
    config.cleanups[0]()
    assert os.environ.get("SRCDIFF_VERIFY") == before


class Config:
    """What the plugin asks of the configuration of a session."""

    def __init__(self):
        self.cleanups, self.lines = [], []

    def getoption(self, name):
        assert name == "srcdiff_verify"
        return True

    def add_cleanup(self, do):
        self.cleanups.append(do)

    def addinivalue_line(self, *line):
        self.lines.append(line)


def test_pytest_finds_the_plugin():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["entry-points"]["pytest11"] == {"srcdiff": PLUGIN}
