"""Trees as text: what is printed reads back as the same tree, in the style of black."""

import ast
import os
import random
import sysconfig
from pathlib import Path

import gast
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from srcdiff.codegen.printer import Printer

SAMPLE = 60


def to_text(tree):
    """The text of a statement, or of several."""
    printer = Printer()
    printer.dispatch(tree)
    printer.flush()
    return "\n".join(printer.lines) + "\n"


def expression_text(tree):
    """The text of an expression on one line."""
    return Printer().text(tree.body if isinstance(tree, gast.Expression) else tree)


def again(text):
    """The text of the statements of a text."""
    return to_text(gast.parse(text).body)


def expression(text):
    return expression_text(gast.parse(text, mode="eval"))


@pytest.mark.parametrize(
    "text",
    [
        "a + b * c",
        "(a + b) * c",
        "a - (b - c)",
        "a - b - c",
        "a / (b * c)",
        "-x + y",
        "-(x + y)",
        "-(x**2)",
        "(-x) ** 2",
        "x**-2",
        "x ** (n + 1)",
        "x.a.b**2",
        "f(x) ** 2",
        "x[0] ** 2",
        "2**n",
        "x**n**2",
        "(x**n) ** 2",
        "not a",
        "not (a and b)",
        "a and (b or c)",
        "a and b or c",
        "(a and b) and c",
        "a < b <= c",
        "(a < b) < c",
        "a if b else c if d else e",
        "(a if b else c) if d else e",
        "(lambda x, *y, z=1, **k: x + 1)(2)",
        "f(*args, key=1, **kwargs)",
        "f(x for x in y)",
        "f((x for x in y), 1)",
        "x[1:2, :]",
        "x[i + 1 :]",
        "x[: i + 1]",
        "x[i + 1 : j]",
        "x[a + 1 :: c]",
        "x[::-1]",
        "x[-1:-n]",
        "x[a.b : c]",
        "x[..., None]",
        "x[(1,)]",
        "x[()]",
        "x[1:2,]",
        "(1).real",
        "1.5.real",
        "(x,)",
        "()",
        "[*a, b]",
        "{1: 2, **d}",
        "{1, 2}",
        "{k: v for k, v in d.items() if k}",
        "(y := 5)",
        "f((y := 5))",
        "await x",
        "(yield)",
        '"it\'s"',
        "'say \"so\"'",
        'f"{x:.3f} {y!r} {{z}}"',
        "f\"{d['k']:>{width}}\"",
        "1e-7",
        "1e22",
        "0.1",
        "1j",
        "x not in y",
        "x is not None",
        "~x | y & z ^ w",
        "a @ b.T",
        "x << 2",
    ],
)
def test_expressions_are_printed_as_a_person_writes_them(text):
    assert expression(text) == text


@pytest.mark.parametrize(
    "text",
    [
        'def f(a, /, b: int = 1, *c, d=2, **e) -> float:\n    """Doc."""\n    return a\n',
        "def f(a, *, b):\n    pass\n",
        "x = y = 1\n",
        "x, y = y, x\n",
        "(x,) = y\n",
        "x[0], *y = z\n",
        "x **= 2\n",
        "for i, (a, b) in enumerate(x):\n    pass\nelse:\n    y = 1\n",
        "while x:\n    break\nelse:\n    y = 1\n",
        "if a:\n    x\nelif b:\n    y\nelse:\n    z\n",
        "return_ = 1\ndel x, y[0]\n",
        "import a.b as c, d\n\nx = 1\n",
        "from . import x\n",
        "from ..a import b as c, d\n",
        "assert x, 'message'\n".replace("'", '"'),
        "raise A(x) from e\n",
        "global a, b\n",
    ],
)
def test_statements(text):
    assert again(text) == text


def test_a_string_statement_is_no_docstring():
    text = 'x = 1\n("text")\n'
    assert gast.dump(gast.parse(again(text))) == gast.dump(gast.parse(text))


def test_docstrings_stay_docstrings():
    text = 'def f():\n    """One line.\n\n    Another.\n    """\n    return 1\n'
    assert again(text) == text


def test_infinity_reads_back():
    assert expression("1e999 + 1e999j") == "1e309 + 1e309j"
    assert expression_text(gast.Constant(float("-inf"), None)) == "-1e309"


def test_negative_constants_bind_like_negation():
    power = gast.BinOp(gast.Constant(-2.0, None), gast.Pow(), gast.Constant(2, None))
    assert expression_text(power) == "(-2.0) ** 2"


LONG = "a_rather_long_name_of_a_value"


@pytest.mark.parametrize(
    "text",
    [
        f"x = some_function({LONG}, {LONG}, {LONG}, {LONG})",
        f"x = {LONG} + {LONG} * {LONG} + {LONG} - {LONG}",
        f"x = {LONG} + some_function({LONG}, {LONG}, {LONG})",
        f"return_value[{LONG}] = some_function({LONG} + {LONG}, other_function({LONG}, {LONG}))",
        f"x = [{LONG}, {LONG}, {LONG}, {LONG}, {LONG}]",
        f"x = some_function({LONG}, key={LONG} if {LONG} else {LONG}, other=-{LONG})",
        f"some_function({LONG}, *{LONG}, **{LONG}, key=lambda a, b: {LONG} + a)",
        f"x = [some_function({LONG}, y) for y in {LONG} if {LONG} and not y]",
        f"def f({LONG}, {LONG}_1, {LONG}_2=1, *, {LONG}_3=2):\n    pass",
        f"if {LONG} and {LONG} and not {LONG} and {LONG} is not {LONG}:\n    pass",
        f"{LONG}, {LONG}_1, {LONG}_2, {LONG}_3 = residuals",
        f"x = f({LONG}, '({LONG},', \"a's\", {LONG} + 1e-5 * {LONG})",
    ],
)
def test_long_lines_are_split_and_read_back(text):
    found = again(text)
    assert gast.dump(gast.parse(found)) == gast.dump(gast.parse(text))
    assert max(map(len, found.splitlines())) <= 100
    assert len(found.splitlines()) > 2


def test_long_lines_are_split_as_black_does():
    found = again(f"x = {LONG} + {LONG} * {LONG} - 1\ny = f({LONG}, {LONG}, {LONG}, {LONG})")
    assert found == (
        f"x = (\n    {LONG}\n    + {LONG} * {LONG}\n    - 1\n)\n"
        f"y = f(\n    {LONG},\n    {LONG},\n    {LONG},\n    {LONG},\n)\n"
    )


def test_items_of_long_displays_have_lines_of_their_own():
    items = ", ".join(f"some_name_{k}" for k in range(7))
    rows = "".join(f"    some_name_{k},\n" for k in range(7))
    assert again(f"return f({LONG}), ({items})") == f"return f({LONG}), (\n{rows})\n"
    assert again(f"some_quite_long_name = f({items})") == (
        f"some_quite_long_name = f(\n    {items}\n)\n"
    )


def test_what_begins_with_a_long_bracket_is_split_there():
    inside = f"{LONG} * {LONG} + {LONG}"
    assert again(f"x = ({inside}) * 0.25") == f"x = (\n    {inside}\n) * 0.25\n"


SPLIT = [
    # One operator: the last brackets that leave a first line short enough, and what stands before.
    """
t_to_light_1 = t_to_light / t_11 + -divide_or_zero(
    np.sum(np.real(to_light * t_to_light), keepdims=False), t_11
) * (to_light_1 / t_11)
""",
    """
value = S_value * (
    0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x_value + 0.044715 * x_value**3)))
) - K_value * np.exp(-r * T_value) * (
    0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x_other + 0.044715 * x_other**3)))
)
""",
    """
t_2 = 0.5 * z_first @ A @ z_first - b @ z_first + 0.1 * np.sum(
    z_first**4
) <= 0.5 * z_other @ A @ z_other - b @ z_other + 0.1 * np.sum(z_other**4) - np.sum(g * g)
""",
    # Several: each has its line.
    """
value = (
    some_function(a_long_name_of_a_value)
    + some_function(another_long_name_of_a_value)
    + some_function(a_third_long_name)
)
""",
    # A method of what ends in a bracket is no operator.
    """
a_long_name_of_a_result = some_function_of_some_module(
    a_long_name_of_a_value, another_long_name_of_a_value
).copy()
""",
    # The brackets of a target stay whole.
    """
d_value[some_index, 1:] = (
    a_long_name_of_a_value * another_long_name_of_a_value + third_value * some_table[indices, 1]
)
""",
    f"""
message = "{"a" * 100}"
""",
    """
def f():
    import math
    from os import path

    return math.pi
""",
]  # fmt: skip


@pytest.mark.parametrize("text", SPLIT)
def test_lines_are_split_as_black_splits_them(text):
    assert again(text) == text.lstrip("\n")


@pytest.mark.parametrize("text", SPLIT)
def test_black_agrees(text):
    black = pytest.importorskip("black", reason="needs black, of which the style is compared")
    assert black.format_str(text, mode=black.Mode(line_length=100)) == text.lstrip("\n")


# --- properties --------------------------------------------------------------------------------

names = st.sampled_from("abcxyz").map(lambda n: gast.Name(n, gast.Load(), None, None))
numbers = st.one_of(
    st.integers(0, 10**6), st.floats(0, allow_nan=False, allow_infinity=False), st.booleans()
)
texts = st.one_of(st.text(max_size=5), st.binary(max_size=5))
constants = st.one_of(numbers, texts, st.none()).map(lambda v: gast.Constant(v, None))
BINARY = [gast.Add, gast.Sub, gast.Mult, gast.Div, gast.Pow, gast.MatMult, gast.BitOr, gast.Mod]
UNARY = [gast.USub, gast.UAdd, gast.Invert, gast.Not]
COMPARE = [gast.Lt, gast.GtE, gast.Eq, gast.In, gast.NotIn, gast.Is, gast.IsNot]


def instances(classes):
    return st.sampled_from(classes).map(lambda c: c())


def compared(left, rest):
    return gast.Compare(left, [op for op, _ in rest], [value for _, value in rest])


def inner(children):
    several = st.lists(children, min_size=2, max_size=3)
    bound = st.one_of(st.none(), children)
    slices = st.builds(gast.Slice, bound, bound, bound)
    index = st.one_of(
        children, slices, st.lists(slices, min_size=1, max_size=2).map(lambda e: tuple_(e))
    )
    return st.one_of(
        st.builds(gast.BinOp, children, instances(BINARY), children),
        st.builds(gast.UnaryOp, instances(UNARY), children),
        st.builds(gast.BoolOp, instances([gast.And, gast.Or]), several),
        st.builds(
            compared, children, st.lists(st.tuples(instances(COMPARE), children), min_size=1)
        ),
        st.builds(gast.IfExp, children, children, children),
        st.builds(lambda v: gast.Attribute(v, "real", gast.Load()), children),
        st.builds(lambda v, i: gast.Subscript(v, i, gast.Load()), children, index),
        st.builds(called, children, several, children),
        several.map(lambda e: tuple_(e)),
        several.map(lambda e: gast.List(e, gast.Load())),
        st.builds(lambda k, v: gast.Dict([k, None], [v, v]), children, children),
        st.builds(lambda v: gast.List([gast.Starred(v, gast.Load())], gast.Load()), children),
        st.builds(lambdas, children),
        st.builds(comprehension, children, children, children),
    )


def called(function, args, value):
    return gast.Call(function, args, [gast.keyword("k", value)])


def tuple_(elements):
    return gast.Tuple(elements, gast.Load())


def lambdas(body):
    parameter = gast.Name("p", gast.Param(), None, None)
    return gast.Lambda(gast.arguments([parameter], [], None, [], [], None, []), body)


def comprehension(element, iterated, test):
    target = gast.Name("e", gast.Store(), None, None)
    return gast.ListComp(element, [gast.comprehension(target, iterated, [test], 0)])


@settings(max_examples=300, deadline=None)
@given(st.recursive(st.one_of(names, constants), inner, max_leaves=12))
def test_random_expressions_read_back(tree):
    for text in (expression_text(tree), to_text(gast.Expr(tree)).strip()):
        if isinstance(tree, gast.Constant) and isinstance(tree.value, str):
            continue  # as a statement it is a docstring
        assert gast.dump(gast.parse(text, mode="eval").body) == gast.dump(tree)


def library_files():
    """Some files of the standard library, the same ones every time."""
    root = Path(sysconfig.get_paths()["stdlib"])
    files = [f for f in sorted(root.rglob("*.py")) if "site-packages" not in f.parts]
    return random.Random(0).sample(files, SAMPLE)


PRINTED = (
    gast.Assert, gast.Assign, gast.AugAssign, gast.Break, gast.Continue, gast.Expr, gast.For,
    gast.If, gast.Import, gast.ImportFrom, gast.Pass, gast.Raise, gast.Return, gast.While,
)  # fmt: skip
"""The statements of generated functions."""


def is_printed(function):
    """Whether a function is made of such statements alone."""
    inner = (n for n in gast.walk(function) if isinstance(n, gast.stmt) and n is not function)
    head = function.decorator_list or getattr(function, "type_params", None)
    return not head and all(isinstance(n, PRINTED) for n in inner)


def test_functions_and_values_of_the_standard_library_read_back():
    count = 0
    for path in library_files():
        source = path.read_text(encoding="utf-8", errors="replace")
        try:
            tree = gast.ast_to_gast(ast.parse(source))
        except (SyntaxError, ValueError, AttributeError):
            continue  # a test file that is wrong on purpose
        for node in gast.walk(tree):
            if isinstance(node, gast.FunctionDef) and is_printed(node):
                found = gast.parse(to_text(node)).body[0]
                assert gast.dump(found) == gast.dump(node), (os.fspath(path), node.lineno)
                count += 1
            elif isinstance(node, (gast.Assign, gast.Expr, gast.Return)) and node.value:
                found = gast.parse(expression_text(node.value), mode="eval").body
                assert gast.dump(found) == gast.dump(node.value), (os.fspath(path), node.lineno)
                count += 1
    assert count > 5000
