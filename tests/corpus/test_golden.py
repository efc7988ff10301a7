"""Generated source is compared as text, and the text is executed."""

import ast
import re
import zlib

import numpy as np
import pytest

import srcdiff
from tests import golden_update as golden
from tests.programs import PROGRAMS
from tests.support.differences import Problem, check_problem, difference, from_source, positional

NAMES = sorted(golden.FILES)
# Multiplications by one, double signs, additions to zero, names of temporaries.
UGLY = re.compile(r"(?<![\w.])1\.0 \* |- -|\+ -|--|(?<![\w.])0\.0 \+ |\b_t_?\d|\bpass\b")


@pytest.mark.parametrize("name", NAMES)
def test_text(name):
    """`make golden` rewrites the files: read the difference as a reviewer would."""
    assert golden.text(name) == (golden.FOLDER / f"{name}.py").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_text_runs(name):
    program, make = golden.FILES[name]
    function = entry(name, program.function)
    if make is golden.second:
        check_second(function, program)
        return
    problem = Problem(program.function, program.arguments(), program.inputs, program.outputs)
    check_problem(problem, function, seed=6, tolerance=program.tolerance)


def entry(name, primal):
    """The last function of a golden file."""
    text = (golden.FOLDER / f"{name}.py").read_text()
    last = [n.name for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)][-1]
    return from_source(text, last, primal)


def check_second(function, program):
    x, *rest = program.arguments()
    slope = lambda t: difference(lambda s: program.function(x + t + s, *rest))[0]  # noqa: E731
    expected, _ = difference(slope)
    np.testing.assert_allclose(function(x, *rest), expected, rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_text_is_tidy(name):
    """What can be said mechanically of code that a careful person would have written."""
    text = (golden.FOLDER / f"{name}.py").read_text()
    assert text.endswith("\n") and not text.endswith("\n\n")
    for line in text.splitlines():
        assert len(line) <= 100, line
        assert line == line.rstrip(), line
        assert not UGLY.search(line), line


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_read(name):
    """No dead statement: a name that is bound is read somewhere in its function."""
    text = (golden.FOLDER / f"{name}.py").read_text()
    for function in ast.parse(text).body:
        if not isinstance(function, ast.FunctionDef):
            continue
        found = [n for n in ast.walk(function) if isinstance(n, ast.Name)]
        read = {n.id for n in found if isinstance(n.ctx, ast.Load)}
        targets = {
            n.target.id
            for n in ast.walk(function)
            if isinstance(n, ast.For) and isinstance(n.target, ast.Name)
        }
        bound = {n.id for n in found if isinstance(n.ctx, ast.Store)} - targets
        assert not {b for b in bound - read if not b.startswith("_")}


@pytest.mark.parametrize("name", NAMES)
def test_black_changes_nothing(name):
    black = pytest.importorskip("black", reason="needs black, of which the style is compared")
    program, _ = golden.FILES[name]
    texts = [(golden.FOLDER / f"{name}.py").read_text()]
    problem = Problem(program.function, program.arguments(), program.inputs, program.outputs)
    args, _ = positional(program.function, problem.arguments())
    options = {"inputs": program.inputs, "outputs": program.outputs}
    texts.append(srcdiff.aot.generate(program.function, example=tuple(args), **options))
    for text in texts:
        assert black.format_str(text, mode=black.Mode(line_length=100)) == text


@pytest.mark.parametrize("options", [{}, {"mode": "forward"}], ids=["grad", "jvp"])
def test_black_changes_nothing_of_other_programs(options):
    black = pytest.importorskip("black", reason="needs black, of which the style is compared")
    for program in (p for p in PROGRAMS if zlib.crc32(p.name.encode()) % 60 == 0):
        problem = Problem(program.function, program.arguments(), program.inputs, program.outputs)
        args, _ = positional(program.function, problem.arguments())
        options = {**options, "inputs": program.inputs, "outputs": program.outputs}
        try:
            text = srcdiff.aot.generate(program.function, example=tuple(args), **options)
        except (srcdiff.SrcdiffError, ValueError):  # nothing for a file
            continue
        assert black.format_str(text, mode=black.Mode(line_length=100)) == text, program.name


def test_no_file_is_left_over():
    assert {p.stem for p in golden.FOLDER.glob("*.py")} == set(NAMES)
