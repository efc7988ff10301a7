"""Every example runs, finds what it says, and draws it; so does the notebook (`make examples`)."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import srcdiff

pytestmark = pytest.mark.examples

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
SHIPPED = EXAMPLES / "shipped"
SCRIPTS = [*sorted(EXAMPLES.glob("*.py")), SHIPPED / "design.py"]


def run(*command, folder=ROOT):
    """The result of a Python command, in which warnings of NumPy are errors."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error::RuntimeWarning"}
    return subprocess.run(
        [sys.executable, *map(str, command)], cwd=folder, env=env, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.stem)
def test_example(path):
    name = "shipped" if path.parent == SHIPPED else path.stem
    picture = EXAMPLES / "build" / f"{name}.png"
    picture.unlink(missing_ok=True)
    done = run(path)
    assert done.returncode == 0, done.stderr
    assert picture.exists()


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.stem)
def test_an_example_says_which_derivative_it_used(path):
    said = ast.get_docstring(ast.parse(path.read_text()))
    quoted = " ".join(re.findall(r"`([^`]*)`", said))
    assert {*re.findall(r"\w+", quoted)} & {*srcdiff.__all__, *srcdiff.aot.__all__}


def test_shipped_file_is_up_to_date():
    done = run("-m", "srcdiff", "check", "--all", folder=SHIPPED)
    assert done.returncode == 0, done.stderr + done.stdout


def test_the_check_notices_another_function(tmp_path):
    folder = shutil.copytree(SHIPPED, tmp_path / "shipped")
    lens = folder / "lens.py"
    lens.write_text(lens.read_text().replace("GLASS, SCREEN = 1.5", "GLASS, SCREEN = 1.6"))
    assert run("-m", "srcdiff", "check", "--all", folder=folder).returncode == 1


def test_tour():
    code = (
        "import nbformat, nbclient\n"
        "book = nbformat.read('tour.ipynb', as_version=4)\n"
        "nbclient.NotebookClient(book, timeout=60, kernel_name='python3').execute()\n"
    )
    done = run("-c", code, folder=EXAMPLES)
    assert done.returncode == 0, done.stderr
