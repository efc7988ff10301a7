"""The wheel and the sdist: what they hold, that they are made alike, and that they are enough."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from srcdiff.version import VERSION

pytest.importorskip("hatchling", reason="hatchling builds the wheel")
ROOT = Path(__file__).parents[1]


def build(kind, place, folder):
    """The bytes of a wheel or sdist, without network and without an environment of its own."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist, the folder that it unpacks to, and the wheel that is built there."""
    sdist = build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as file:
        file.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (place,) = folder.iterdir()
    return sdist, place, build("wheel", place, tmp_path_factory.mktemp("wheel"))


def test_what_the_wheel_holds(built):
    with zipfile.ZipFile(built[2]) as file:
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


def test_what_the_sdist_holds(built):
    """All that a change needs: what is in the checkout, without what is made there."""
    tops = {p.name for p in built[1].iterdir()}
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    kept = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if kept.returncode:
        pytest.skip("no checkout of git")
    assert tops == {name.split("/")[0] for name in kept.stdout.splitlines()} | {"PKG-INFO"}
    inside = {str(p.relative_to(built[1])) for p in built[1].rglob("*.py")}
    assert inside >= {name for name in kept.stdout.splitlines() if name.endswith(".py")}


def test_builds_are_the_same(built, tmp_path):
    """From the checkout, and at another time and place from what the sdist holds."""
    sdist, place, wheel = built
    os.utime(place / "srcdiff" / "version.py", (1.5e9, 1.5e9))
    again = build("sdist", place, tmp_path / "sdist")
    assert again.read_bytes() == sdist.read_bytes()
    assert build("wheel", ROOT, tmp_path / "wheel").read_bytes() == wheel.read_bytes()


def test_the_wheel_differentiates(built, tmp_path):
    """In an interpreter that finds it in a folder alone, away from the checkout."""
    with zipfile.ZipFile(built[2]) as file:
        file.extractall(tmp_path / "site")
    program = tmp_path / "installed.py"
    program.write_text((ROOT / "tests" / "support" / "installed.py").read_text())
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "PYTHONSAFEPATH": "1"}
    command = [sys.executable, str(program), str(tmp_path / "site")]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"srcdiff {VERSION} on Python")


def test_the_version_is_the_same_everywhere(built):
    assert VERSION in built[0].name and VERSION in built[2].name
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {VERSION}" in (ROOT / "CHANGELOG.md").read_text()


def test_citation_has_what_the_format_asks_for():
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    keys = {line.partition(":")[0] for line in lines if re.match(r"\w", line)}
    assert keys >= {"cff-version", "message", "title", "authors", "version", "license"}
    assert lines[0] == "cff-version: 1.2.0" and "  - name: the srcdiff developers" in lines
