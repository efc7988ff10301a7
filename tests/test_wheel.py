"""The wheel: what it holds, and that it is enough to differentiate with."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="hatchling builds the wheel")
ROOT = Path(__file__).parents[1]

# By rules of NumPy and of SciPy, which stand in the wheel and are read by their paths.
PROGRAM = """
import sys
from pathlib import Path
import numpy as np
import srcdiff
from scipy import special

def f(x):
    return np.sum(np.sin(x) * special.erf(x))

x = np.array([0.3, -1.2])
g = srcdiff.grad(f)(x)
by_hand = np.cos(x) * special.erf(x) + np.sin(x) * 2.0 / np.sqrt(np.pi) * np.exp(-x * x)
np.testing.assert_allclose(g, by_hand, rtol=1e-14)
here = Path(sys.argv[1]).resolve()
assert here in Path(srcdiff.__file__).resolve().parents
rule = srcdiff.rules.find(special.erf)
assert here in Path(rule.template.__code__.co_filename).resolve().parents
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built without network and without an environment of its own."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("srcdiff-*.whl")
    return path


def test_what_the_wheel_holds(wheel):
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    tops = {name.split("/")[0] for name in names}
    assert len(tops) == 2 and all(top.startswith("srcdiff") for top in tops)
    inside = {name for name in names if name.startswith("srcdiff/")}
    assert inside >= {f"srcdiff/{p.relative_to(ROOT / 'srcdiff')}" for p in sources("srcdiff")}
    assert inside >= {f"srcdiff/{p.relative_to(ROOT)}" for p in sources("templates")}
    assert inside >= {"srcdiff/py.typed", "srcdiff/templates/README.md"}
    assert any(name.endswith("licenses/LICENSE") for name in names)


def sources(folder):
    """The Python files, pages and tables of a folder."""
    found = [p for end in ("py", "html", "txt") for p in (ROOT / folder).rglob(f"*.{end}")]
    return [p for p in found if "__pycache__" not in p.parts]


def test_the_wheel_differentiates(wheel, tmp_path):
    """In an interpreter that finds it in a folder alone, away from the checkout."""
    pytest.importorskip("scipy", reason="SciPy is an extra")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path / "site")
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "PYTHONSAFEPATH": "1"}
    command = [sys.executable, str(tmp_path / "program.py"), str(tmp_path / "site")]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
