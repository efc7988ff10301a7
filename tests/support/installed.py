"""What an installed srcdiff does, away from the checkout: `python -I installed.py FOLDER`.

FOLDER holds the package.  Nothing of the tests is imported; SciPy's rules are used if it is there.
"""

import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import srcdiff


def f(x):
    return np.sum(np.sin(x) * x)


def from_source():
    """A gradient by rules of NumPy, which stand in the package and are read by their paths."""
    x = np.array([0.3, -1.2])
    by_hand = np.cos(x) * x + np.sin(x)
    np.testing.assert_allclose(srcdiff.grad(f)(x), by_hand, rtol=1e-14)
    return srcdiff.rules.find(np.sin)


def from_scipy():
    """One by those of SciPy."""
    from scipy import special

    def g(x):
        return np.sum(special.erf(x))

    x = np.array([0.3, -1.2])
    by_hand = 2.0 / np.sqrt(np.pi) * np.exp(-x * x)
    np.testing.assert_allclose(srcdiff.grad(g)(x), by_hand, rtol=1e-14)
    return srcdiff.rules.find(special.erf)


def by_command():
    """A file that the command line writes, and finds up to date."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.py").write_text("def f(x: float):\n    return x * x\n")
        for words in ("generate model:f -o f_grad.py", "check f_grad.py", "doctor"):
            subprocess.run(
                [sys.executable, "-m", "srcdiff", *words.split()], cwd=folder, check=True,
                env={**os.environ, "PYTHONPATH": str(HERE)}, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )  # fmt: skip
        space = {}
        exec(Path(folder, "f_grad.py").read_text(), space)
        assert space["f_grad"](3.0) == 6.0


if __name__ == "__main__":
    HERE = Path(sys.argv[1]).resolve()
    package = Path(srcdiff.__file__).resolve().parent
    assert HERE in package.parents, package
    assert (package / "py.typed").exists()
    rules = [from_source(), *([from_scipy()] if find_spec("scipy") else [])]
    for rule in rules:
        template = rule.template or rule.definition
        assert package in Path(template.__code__.co_filename).resolve().parents, rule
    by_command()
    python = sys.version.split()[0]
    print(f"srcdiff {srcdiff.__version__} on Python {python}, NumPy {np.__version__}")
