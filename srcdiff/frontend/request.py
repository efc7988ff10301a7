"""What a caller asks of a derivative: its inputs, its outputs and the form of the result."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from srcdiff.ir.frozen import frozen


class Member(str):
    """The name of an attribute in a path, where a plain string is the key of a dict."""

    __slots__ = ()


class Stored(str):
    """The path of an object in an argument, some attribute of which is assigned."""

    __slots__ = ()


class Nested(tuple[Any, ...]):
    """The keys that lead to an output inside of what is returned, where a tuple is several."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Not that of a tuple."""
        return f"Nested{super().__repr__()}"


@frozen
class Input:
    """An input: a parameter, and the keys that lead to a part of it.

    `parts`: the inputs that it consists of, by the path that leads to each.
    """

    param: str
    path: tuple[Any, ...] = ()
    parts: tuple[tuple[tuple[Any, ...], Input], ...] = ()

    @property
    def params(self) -> tuple[str, ...]:
        """The parameters whose adjoints it is made of."""
        return tuple(p.param for _, p in self.parts) if self.parts else (self.param,)


@frozen
class Request:
    """Everything but the kinds of the arguments that the generated text depends on.

    `inputs` are in the order of the result; `form` is "bare", "tuple" or a tuple of dict keys.
    """

    inputs: tuple[Input, ...]
    form: str | tuple[Any, ...] = "bare"
    outputs: Any = None
    value: bool = False
    has_aux: bool = False
    allow_unused: bool = False
    materialize: bool = False
    name: str = ""
    internal: bool = False
    written: tuple[str, ...] = ()  # parameters whose final contents are returned as well
    mode: str = "reverse"
    checks: str = ""  # what adjoints are checked for: "nan", "inf" or "nan or inf"
    strong_zeros: bool = False
    saves: bool = False  # what is saved goes through `saved_hooks`
    mixed: bool = False  # what has no known dtype may be complex
    alone: bool = False  # for a file: nothing is generated when it is needed
    by_tangent: bool = False  # gradients inside are calls, whose derivative goes by the tangent
    validate: bool = False  # every pass is run on the arguments of the first call
    verify: bool = False  # what is generated is held against the function at the first call

    @property
    def params(self) -> tuple[str, ...]:
        """The parameters that are inputs, or have inputs in them."""
        return tuple(dict.fromkeys(i.param for i in self.inputs))

    def packed(self, value: Any, gradients: Any) -> Any:
        """What a derivative gives: the gradients, the value before them, or what is beside it."""
        if self.value:
            return value, gradients
        return (gradients, value[1]) if self.has_aux else gradients

    def gradients_of(self, result: Any) -> Any:
        """The gradients among what a derivative gives."""
        return result[1] if self.value else result[0] if self.has_aux else result

    def listed(self, tree: Any) -> list[Any]:
        """What has the structure of a gradient as a list, an item for each input."""
        if self.form == "bare":
            return [tree]
        return list(tree) if self.form == "tuple" else [tree[key] for key in self.form]

    def arranged(self, items: list[Any]) -> Any:
        """An item for each input, in the structure of a gradient."""
        return arranged(self.form, items)


def items_of(inputs: Any) -> tuple[Any, list[Any]]:
    """The form in which inputs are given (the keys of a dict), and all of them."""
    if isinstance(inputs, Mapping):
        return tuple(inputs), list(inputs.values())
    return ("tuple", list(inputs)) if isinstance(inputs, (tuple, list)) else ("bare", [inputs])


def arranged(form: Any, items: Sequence[Any]) -> Any:
    """An item for each input, in the form in which these are given."""
    if form == "bare":
        return items[0]
    return tuple(items) if form == "tuple" else dict(zip(form, items))


def parse_path(text: str) -> Input:
    """`"params['w'][0]"` or `"self.w"` as a parameter and keys.

    Raises:
        ValueError: the text is no name with attributes and literal subscripts.
    """
    node: Any = ast.parse(text, mode="eval").body
    keys: list[Any] = []
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        if isinstance(node, ast.Attribute):
            keys.append(Member(node.attr))
        else:
            keys.append(ast.literal_eval(node.slice))
        node = node.value
    if not isinstance(node, ast.Name):
        raise ValueError(f"{text!r} is not a parameter with attributes and literal subscripts")
    return Input(node.id, tuple(reversed(keys)))


def spelled(root: str, path: tuple[Any, ...]) -> str:
    """A path as it is written: `model.layers[0].w`."""
    steps = (f".{key}" if isinstance(key, Member) else f"[{key!r}]" for key in path)
    return "".join((root, *steps))
