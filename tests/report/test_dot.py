"""Graphs for Graphviz."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from srcdiff.cli import main
from tests.report.test_view import EXAMPLE, relax


def test_graph():
    from srcdiff.report import graph

    text = graph(relax, inputs="x", example=EXAMPLE)
    assert text.startswith('digraph "relax" {') and text.count("{") == text.count("}")
    nodes = dict(re.findall(r'^ *(n\d+) \[label=("(?:[^"\\]|\\.)*")', text, re.M))
    edges = re.findall(r"^ *(n\d+) -> (n\d+);", text, re.M)
    assert edges and all(a in nodes and b in nodes for a, b in edges)
    assert "subgraph cluster_" in text and 'label="for k in range(steps):"' in text
    filled = {n for n in nodes if re.search(rf"\b{n} \[[^\n]*fillcolor", text)}
    named = {label.strip('"'): n for n, label in nodes.items()}
    assert named["x"] in filled and named["steps"] not in filled


def test_picture(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("m_picture.py").write_text("def f(x):\n    return x * x\n")
    command = ["report", "m_picture.py:f", "--graph"]
    assert main([*command, "g.dot"]) == 0 and Path("g.dot").read_text().startswith('digraph "f"')
    assert main([*command, "a.dot", "-o", "b.dot"]) == 2
    monkeypatch.setenv("PATH", str(tmp_path))
    capsys.readouterr()
    assert main([*command, "g.svg"]) == 2 and not Path("g.svg").exists()
    assert "needs the program `dot`: install Graphviz" in capsys.readouterr().err
    program = tmp_path / "dot"
    echo = "import sys; print('<svg>', sys.argv[1], sys.stdin.read())"
    program.write_text(f"#!{sys.executable}\n{echo}")
    program.chmod(0o755)
    assert main([*command, "-o", "g.svg"]) == 0
    assert Path("g.svg").read_text().startswith('<svg> -Tsvg digraph "f" {')
    program.write_text(f"#!{sys.executable}\nimport sys; sys.exit('no fonts')")
    assert main([*command, "g.svg"]) == 2
    assert "dot: no fonts" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_picture_by_graphviz():
    from srcdiff.report import graph, picture

    assert "</svg>" in picture(graph(relax, inputs="x", example=EXAMPLE))
