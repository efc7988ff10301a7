"""What type checkers know of derivatives: `typing/examples.py`, as mypy and pyright read it."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = Path(__file__).parent / "typing" / "examples.py"


def refused():
    """The lines of the examples that are wrong on purpose."""
    lines = EXAMPLES.read_text().split("\n")
    return {k for k, line in enumerate(lines, 1) if line.endswith("  # error")}


def output(*command):
    """What a checker prints."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_mypy_knows_what_derivatives_take_and_give():
    pytest.importorskip("mypy")
    name = str(EXAMPLES.relative_to(ROOT))
    found = output("mypy", "--no-error-summary", "--hide-error-context", name)
    errors = [line.split(":", 3) for line in found.split("\n") if ": error: " in line]
    assert {Path(file).name for file, *_ in errors} == {EXAMPLES.name}
    assert {int(line) for _, line, *_ in errors} == refused(), found


@pytest.mark.skipif(
    not importlib.util.find_spec("basedpyright"), reason="basedpyright is not installed"
)
def test_pyright_knows_what_derivatives_take_and_give(tmp_path):
    config = {"include": [str(EXAMPLES)], "extraPaths": [str(ROOT)], "typeCheckingMode": "standard"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({**config, "pythonVersion": "3.10"}))
    command = "basedpyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)
    found = json.loads(output(*command))["generalDiagnostics"]
    lines = {one["range"]["start"]["line"] + 1 for one in found if one["severity"] == "error"}
    assert lines == refused(), found


def test_there_are_examples():
    assert len(refused()) > 15
