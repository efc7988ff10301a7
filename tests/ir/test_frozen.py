"""Classes of values: what they have in common with dataclasses, and that they are cheap."""

import copy
import dataclasses
import importlib
import pickle
import re
from pathlib import Path

import pytest

import srcdiff
from srcdiff import ir
from srcdiff.ir.frozen import Choice, frozen, replace, state


@frozen
class Point:
    x: int
    y: int = 2
    note: str = dataclasses.field(default="", compare=False)


@state
class Seen:
    names: list[str] = dataclasses.field(default_factory=list)
    last: str = dataclasses.field(default="none", repr=False)


@frozen(eq=False)
class Node:
    at: Point


@frozen
class Wider(Point):
    z: int = 0


def test_values_are_equal_where_their_fields_are():
    assert Point(1) == Point(1, 2) and hash(Point(1)) == hash(Point(1, 2))
    assert Point(1) != Point(2) and Point(1) != Wider(1)
    assert Point(1, note="a") == Point(1, note="b")
    assert Node(Point(1)) != Node(Point(1))


def test_defaults_are_made_for_each():
    one, two = Seen(), Seen()
    one.names.append("x")
    assert two.names == [] and one.last == "none"
    assert Seen(["y"]).names == ["y"]
    assert one != two


def test_values_show_their_fields():
    assert repr(Point(1)) == "Point(x=1, y=2, note='')"
    assert repr(Seen(["a"])) == "Seen(names=['a'])"


@pytest.mark.parametrize("again", [replace, dataclasses.replace])
def test_a_value_with_another_field(again):
    assert again(Point(1, 5), x=3) == Point(3, 5)
    assert again(Wider(1, 2, "n", 3), z=4) == Wider(1, 2, "n", 4)
    with pytest.raises(TypeError):
        again(Point(1), w=3)


def test_arguments_are_checked():
    with pytest.raises(TypeError, match=r"Point.__init__\(\) missing 1 required .* 'x'"):
        Point()
    with pytest.raises(TypeError):
        Point(1, 2, "", 4)


def test_dataclasses_know_them():
    assert [f.name for f in dataclasses.fields(Point)] == ["x", "y", "note"]
    assert dataclasses.asdict(Wider(1, 2, "n", 3)) == {"x": 1, "y": 2, "note": "n", "z": 3}


def test_nothing_is_compiled_for_a_class_like_others(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("compiled")

    monkeypatch.setattr(dataclasses, "dataclass", refuse)

    @frozen
    class Other:
        a: int
        b: int = 2
        c: str = dataclasses.field(default="", compare=False)

    assert Other(1) == Other(1, 2, "c")


def test_nodes_are_told_apart_by_their_class():
    """`type(x) is Name` asks what `isinstance(x, Name)` does: no other class is one."""
    asked = re.compile(r"type\([^()]*(?:\([^()]*\))?[^()]*\) (?:is|is not) (?:ir\.)?([A-Z]\w+)")
    texts = [p.read_text() for p in Path(srcdiff.__file__).parent.rglob("*.py")]
    names = {name for text in texts for name in asked.findall(text) if hasattr(ir, name)}
    assert {"Name", "Call", "Assign", "Array"} <= names
    importlib.import_module("srcdiff.frontend.closures")
    assert [name for name in sorted(names) if getattr(ir, name).__subclasses__()] == []


class Colour(Choice):
    RED = "r"
    BLUE = "b"

    def shown(self):
        return self.name.lower()


def test_a_choice_has_one_object_for_each_member():
    assert [(c.name, c.value) for c in Colour] == [("RED", "r"), ("BLUE", "b")]
    assert len(Colour) == 2 and Colour.RED in Colour and "r" not in Colour
    assert isinstance(Colour.RED, Colour) and repr(Colour.RED) == "Colour.RED"
    for same in (copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))):
        assert same(Colour.BLUE) is Colour.BLUE
    assert Colour.RED != Colour.BLUE and {Colour.RED: 1}[Colour.RED] == 1
