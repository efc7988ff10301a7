"""Every Python block of README and docs runs, and generated ones show what is generated."""

import re

import pytest

from . import documents


@pytest.mark.parametrize("path", documents.DOCUMENTS, ids=lambda p: p.name)
def test_document(path, tmp_path):
    """`make golden` rewrites the generated blocks."""
    text = path.read_text()
    for block, value in documents.run(text, tmp_path):
        assert block.code == value, block.what


@pytest.mark.parametrize("path", documents.DOCUMENTS, ids=lambda p: p.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text()):
        if not target.startswith(("http:", "https:")):
            assert (path.parent / target).exists(), target


def test_readme_shows_the_targets_of_the_makefile():
    makefile = (documents.ROOT / "Makefile").read_text()
    for name in re.findall(r"(?:^|`)make (\w+)", (documents.ROOT / "README.md").read_text(), re.M):
        assert re.search(rf"^{name}:", makefile, re.M), name
