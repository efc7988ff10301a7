"""Where things are: the packages, the order in which they may import, and folders."""

import ast
import functools
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "srcdiff"

# Each imports only from those before it and from itself, inside functions as well.
ORDER = (
    "texts", "errors", "version", "ir", "runtime", "primitives", "kinds", "analysis", "frontend",
    "specialize", "normalize", "check", "autodiff", "optimize", "kernels", "codegen", "backends",
    "driver", "api", "aot", "report", "autograd", "testing", "rules", "cli", "", "__main__",
)  # fmt: skip
FOLDERS = {"srcdiff", "templates", "tests", "examples", "docs"}
TESTS = ROOT / "tests"
# Folders of tests that bear no package's name: whole programs, the rules in `templates/`, helpers.
BESIDE = {
    "bench", "corpus", "fuzz", "golden", "limits", "oracles", "programs", "rules", "standin",
    "support", "typing",
}  # fmt: skip


def module_of(path):
    """The dotted name of a file below the package: `kinds.lattice`; empty for the package."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(p): p for p in sorted(PACKAGE.rglob("*.py"))}


def imported(module, tree):
    """The modules of the package that a file imports, inside functions and by name as well."""
    own = module.split(".") if module else []
    inside = own if MODULES[module].name == "__init__.py" else own[:-1]
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            base = inside[: len(inside) - node.level + 1] if node.level else []
            base += (node.module or "").split(".") if node.module else []
            if not node.level and base[:1] != ["srcdiff"]:
                continue
            base = base if node.level else base[1:]
            names = [".".join((*base, alias.name)) for alias in node.names]
            found |= {name if name in MODULES else ".".join(base) for name in names}
        elif isinstance(node, ast.Import):
            named = [alias.name.split(".") for alias in node.names]
            found |= {".".join(parts[1:]) for parts in named if parts[0] == "srcdiff"}
        elif isinstance(node, ast.Constant) and "." in str(node.value):
            found |= {node.value} & MODULES.keys()
    return found - {module}


@functools.cache
def graph():
    """What every module imports."""
    return {name: imported(name, ast.parse(p.read_text())) for name, p in MODULES.items()}


def test_imports_follow_the_order_of_the_packages():
    places = {name: ORDER.index(name.split(".")[0]) for name in MODULES}
    wrong = [
        f"{name} imports {other}"
        for name, others in graph().items()
        for other in sorted(others)
        if places[other] > places[name]
    ]
    assert not wrong


def test_no_import_cycles():
    done, path = set(), []

    def visit(name):
        assert name not in path, " -> ".join([*path, name])
        if name in done:
            return
        path.append(name)
        for other in sorted(graph()[name]):
            visit(other)
        path.pop()
        done.add(name)

    for name in sorted(graph()):
        visit(name)


def test_a_stranger_finds_the_rooms():
    files = Counter(path.parent for path in MODULES.values())
    assert files[PACKAGE] <= 8
    assert max(files.values()) <= 24
    assert len(MODULES) <= 297


def files_in(folder):
    """The names in a folder of tests, without what Python keeps there."""
    return {path.name for path in folder.iterdir()} - {"__init__.py", "__pycache__"}


def test_tests_lie_where_the_packages_lie():
    """`tests/kinds/test_lattice.py` is for `srcdiff/kinds/lattice.py`, or for a package there."""
    for package in (path.parent for path in MODULES.values() if path.name == "__init__.py"):
        folder = TESTS / package.relative_to(PACKAGE)
        if package == PACKAGE or not folder.is_dir():
            continue
        rooms = files_in(package)
        tests = {f"test_{name.removesuffix('.py')}.py" for name in rooms}
        packages = {name for name in rooms if (package / name).is_dir()}
        assert files_in(folder) <= tests | packages, folder


def test_a_stranger_finds_the_tests():
    packages = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    folders = Counter(path.parent.relative_to(TESTS) for path in TESTS.rglob("*.py"))
    rooms = {folder.parts[0] for folder in folders if folder.parts}
    assert rooms <= packages | BESIDE
    texts = {folder for folder in folders if folder.parts[:1] in (("programs",), ("golden",))}
    assert max(n for folder, n in folders.items() if folder not in texts) <= 24


def test_top_level_folders():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode or not listed.stdout:
        pytest.skip("not a git checkout")
    folders = {line.split("/")[0] for line in listed.stdout.splitlines() if "/" in line}
    assert folders <= FOLDERS | {".ci"}


def test_import_needs_numpy_gast_and_astunparse_only():
    code = (
        "import sys, numpy, numpy.random; before = set(sys.modules)\n"
        "import srcdiff\n"
        "new = {m.partition('.')[0] for m in set(sys.modules) - before}\n"
        "print(*sorted(new - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) <= {"srcdiff", "gast", "astunparse", "six", "numpy"}


def test_templates_are_not_read_at_import():
    code = (
        "import sys; opened = []\n"
        "sys.addaudithook(lambda event, args: event == 'open' and opened.append(str(args[0])))\n"
        "import srcdiff\n"
        "print([f for f in opened if '/templates/' in f])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_what_few_programs_need_is_read_on_first_use():
    code = (
        "import sys, srcdiff\n"
        "print(*sorted(m for m in sys.modules if m.startswith('srcdiff')))\n"
        "print(*[name for name in srcdiff.__all__ if getattr(srcdiff, name) is None])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded, missing = done.stdout.split("\n")[:2]
    late = ("srcdiff.aot", "srcdiff.report", "srcdiff.cli", "srcdiff.testing", "srcdiff.autograd")
    assert not [name for name in loaded.split() if name.startswith(late)]
    assert len(loaded.split()) < 100
    assert not missing


def test_a_gradient_reads_the_templates_of_its_callees_alone(tmp_path):
    """The index says in which files those are; what it does not know of is read as a whole."""
    (tmp_path / "model.py").write_text(
        "import numpy as np\ndef f(x):\n    return np.sum(np.tanh(x) * x)\n"
    )
    code = (
        "import sys, numpy as np, srcdiff, model\n"
        "srcdiff.grad(model.f)(np.ones(3))\n"
        "mine = [m for m in sys.modules if m.startswith('srcdiff_templates.')]\n"
        "print(*sorted(m.rpartition('.')[2] for m in mine))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
    )  # fmt: skip
    read = set(done.stdout.split())
    assert {"arithmetic", "reductions", "elementary"} <= read
    assert not read & {"linalg", "fft", "statistics", "indexing", "solutions"}
