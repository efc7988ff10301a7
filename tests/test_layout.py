"""Where things are: layers, dependencies and folders."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "srcdiff"

# A file imports only from rows above its own, or from files of its own row without a cycle.
LAYERS = (
    ("errors", "texts", "ir", "records", "runtime", "factors", "layout", "trees", "together")
    + ("service", "residuals")
    + ("frames", "joined", "batches", "request", "distributions", "modes", "solutions", "recompute")
    + ("revolve",)
    + ("schedules", "twice", "version", "device", "curves", "entries", "integrals", "normal")
    + ("odes", "roots", "holding", "cofactors", "repeats", "vectorized", "attempts", "filters")
    + ("pieces", "fits", "saving", "workspaces", "allocating", "memory"),
    ("verify", "locate", "codes", "history", "parse", "bind", "facts", "analyses", "nested")
    + ("reprinted",)
    + ("ir_text",),
    ("rules",),
    ("lower", "emit", "counters", "names", "containers", "webs", "prepare", "elements", "augmented")
    + ("forwarding", "holders", "places", "whole", "fields", "restore", "lines", "outputs")
    + ("ownership", "apart", "identity", "presence", "own_dicts", "order", "boxes")
    + ("plain_objects", "take_apart"),
    ("expand", "inline", "summaries", "known", "unused", "free", "calls", "callees", "choices")
    + ("consistent", "assumed", "returned_lists", "resized", "marks", "looped", "hidden", "partly")
    + ("displays", "iterate", "onecall", "construct", "questions", "unroll", "objects", "strange")
    + ("attribute_dicts", "data_functions", "keys", "boxed")
    + ("methods", "mappings", "flat", "slices", "arity", "stars", "iterators", "changes", "lengths")
    + ("composed", "specialise", "operands", "options", "unpackings", "unrecorded", "unreached")
    + ("lifting", "cuts", "outside", "namespaces", "carried", "entrywise", "kept", "met", "columns")
    + ("idle_outs",)
    + ("direct", "strong", "entangled", "written", "overlaps", "memoised", "turns", "lent"),
    ("entry", "bodies", "runtimecalls", "forward", "laying", "tangents", "transpose", "reverse")
    + ("shadows", "copied")
    + ("accumulate", "batch", "tape", "checkpoint")
    + ("simplify", "anomaly", "assemble", "finish", "tidy", "backwards", "polish", "modules")
    + ("fitting", "upwards", "squares", "native")
    + ("primal", "fetched", "placement", "packing", "conform", "alone", "reusing", "returned"),
    ("pipeline", "batching"),
    ("backends",),
    ("api",),
    ("autograd", "testing", "report"),
    ("cli",),
    ("__init__", "__main__"),
)
FOLDERS = {"srcdiff", "templates", "tests", "examples", "docs"}
FILES = sorted(PACKAGE.rglob("*.py"))


def module_of(path):
    """The dotted name of a file below the package: `analyses.kinds`."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


MODULES = {module_of(p): p for p in FILES}


def imported(path):
    """The modules of the package that a file imports, inside functions as well."""
    own = path.relative_to(PACKAGE).with_suffix("").parts
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                base = own[: len(own) - node.level]
                base += tuple(node.module.split(".")) if node.module else ()
            elif node.module and node.module.split(".")[0] == "srcdiff":
                base = tuple(node.module.split(".")[1:])
            else:
                continue
            for alias in node.names:
                inner = ".".join((*base, alias.name))
                found.add(inner if inner in MODULES else ".".join(base) or "__init__")
        elif isinstance(node, ast.Import):
            for alias in node.names:
                head, _, rest = alias.name.partition(".")
                if head == "srcdiff":
                    found.add(rest or "__init__")
    return found - {module_of(path)}


def row(module):
    """The layer of a module, by the first part of its name."""
    top = module.split(".")[0]
    return next(i for i, names in enumerate(LAYERS) if top in names)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_imports_go_upwards_only(name):
    assert name.split(".")[0] in {n for names in LAYERS for n in names}, "in no layer"
    for other in sorted(imported(MODULES[name])):
        assert row(other) <= row(name), f"{name} imports {other} from a layer below it"


def test_no_import_cycles():
    graph = {name: imported(path) for name, path in MODULES.items()}
    done, path = set(), []

    def visit(name):
        assert name not in path, " -> ".join([*path, name])
        if name in done or name not in graph:
            return
        path.append(name)
        for other in sorted(graph[name]):
            visit(other)
        path.pop()
        done.add(name)

    for name in sorted(graph):
        visit(name)


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
        "print([f for f in opened if 'templates' in f])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
