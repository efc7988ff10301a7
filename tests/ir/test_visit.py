"""Going over functions: what stays the same object, what stands before, and what is counted."""

import operator
import re

from srcdiff import ir
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import parse
from srcdiff.ir.builder import Builder, Rewriter


def looped(x, n):
    y = x * x
    for k in range(n):
        if k > 2:
            y = y + x
        y = y * x
    while y > 3.0:
        y = y - x
    return y


def lowered():
    return lower(parse(looped))


def test_what_does_not_change_is_the_same_object():
    f = lowered()
    assert ir.replaced_in(f, lambda s: s) is f
    assert Rewriter(ir.Fresh()).function(f) is f


def test_one_statement_becomes_none_or_several():
    f = lowered()
    adds = [s for s in ir.walk(f.body) if getattr(ir.call_of(s), "fn", None) is operator.add]
    assert len(adds) == 1
    gone = ir.replaced(f.body, lambda s: () if s is adds[0] else s)
    twice = ir.replaced(f.body, lambda s: (s, s) if s is adds[0] else s)
    sizes = [len(ir.walk(block)) for block in (gone, f.body, twice)]
    assert sizes[1] - sizes[0] == sizes[2] - sizes[1] == 1
    assert gone[0] is f.body[0]


def test_inner_statements_come_first():
    seen = []
    ir.replaced(lowered().body, lambda s: seen.append(s) or s)
    outer = next(k for k, s in enumerate(seen) if isinstance(s, ir.For))
    inner = next(k for k, s in enumerate(seen) if isinstance(s, ir.If))
    assert inner < outer


class Doubled(Rewriter):
    """Writes `x * x` as a sum, and notes where each statement is."""

    def __init__(self, function):
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.places = []

    def stmt(self, stmt):
        stmt = self.inside(stmt)
        self.places.append(self.loc == stmt.loc)
        call = ir.call_of(stmt)
        if not isinstance(stmt, ir.Assign) or call is None or call.fn is not operator.mul:
            return stmt
        return ir.rebuilt(stmt, rhs=self.apply(operator.add, *call.args))


def test_what_is_written_meanwhile_stands_before_in_the_same_block():
    f = lowered()
    rewriter = Doubled(f)
    new = rewriter.function(f)
    assert all(rewriter.places)
    assert isinstance(new.body[0], ir.Assign) and new.body[0].target.id.startswith("_t")
    assert new.body[1] == ir.Assign(ir.Name("y"), new.body[0].target)
    assert new.body[0].loc == f.body[0].loc
    (loop,) = (s for s in new.body if isinstance(s, ir.For))
    sums = [s for s in loop.body if getattr(ir.call_of(s), "fn", None) is operator.add]
    assert len(sums) == 1 and sums[0].target.id != new.body[0].target.id
    assert rewriter.out == []


def test_statements_with_the_loops_around_them():
    f = lowered()
    found = list(ir.walk_in_loops(f.body))
    assert [s for s, _ in found] == list(ir.walk(f.body))
    depth = {type(s): len(loops) for s, loops in found if not isinstance(s, ir.Assign)}
    assert depth == {ir.For: 0, ir.If: 1, ir.While: 0, ir.Return: 0}
    assert sum(map(len, ir.walk_blocks(f.body))) == len(found)


def test_reads_and_bindings_are_counted():
    x, y, test, go = (ir.Name(n) for n in ("x", "y", "test", "go"))
    double = ir.Assign(y, ir.Call(operator.mul, (x, x)))
    loop = ir.While((), test, (double,), go)
    block = (double, loop)
    assert ir.use_counts(block) == {"x": 4, "test": 1, "go": 1}
    assert ir.reader_counts(block) == {"x": 2, "test": 1, "go": 1}
    assert ir.mention_counts(block) == {"x": 2, "y": 2, "test": 1, "go": 1}
    params = (ir.Param("x"),)
    assert ir.binding_counts(block, params) == {"x": 1, "y": 2}
    assert ir.binding_counts(block, params, repeated=True) == {"x": 1, "y": 3}
    assert ir.mentions(loop) == {"x", "y", "test", "go"}


def test_a_block_is_collected_apart():
    b = Builder(ir.Fresh(), ir.Loc("file", 3))
    first = b.item(ir.Name("x"), ir.Const(0))
    inner, found = b.collect(lambda: b.call(len, first))
    assert b.out == [ir.Assign(first, ir.Call(operator.getitem, (ir.Name("x"), ir.Const(0))))]
    assert inner == (ir.Assign(found, ir.Call(len, (first,))),)
    assert inner[0].loc == b.loc


def test_all_names_of_a_statement_are_renamed():
    x, y, f = ir.Name("x"), ir.Name("y"), ir.Name("f")
    call = ir.Call(abs, (x,))
    block = (
        ir.Assign(x, call), ir.Permute((x, y), (y, x)), ir.SetItem(x, y, x), ir.Effect(call),
        ir.Verbatim("assert x", (x,)), ir.If(x, (ir.Assign(y, x),)), ir.For(x, y, (), f),
        ir.While((ir.Assign(x, y),), x, (), f), ir.Return(ir.Tup((x, y))), ir.Accum(x, y, x),
        ir.Demand(x, y), ir.Reset(x), ir.Pair(ir.Assign(x, y), (ir.Reset(y),)),
        ir.AugAssign(x, y, x, "+"), ir.Unpack(x, ir.Unpacks(2)),
    )  # fmt: skip
    renamed = ir.rename(block, {"x": "a", "y": "b", "f": "c"})
    assert not {"x", "y", "f"} & set(re.findall(r"id='(\w+)'", repr(renamed)))
    assert renamed[4].text == "assert a"


def test_what_is_found_in_a_body_is_found_once():
    f = lowered()
    assert ir.walk(f) is ir.walk(f) and list(ir.walk(f)) == list(ir.walk(f.body))
    assert ir.callers(f) is ir.callers(f) and ir.bound(f) == ir.bound(f.body)
    assert ir.binders(f)["y"] == [s for s in ir.walk(f.body) if "y" in ir.writes(s)]
    assert ir.refs_in(f) == tuple(r for s in ir.walk(f.body) for r in ir.refs_of(s))
    shorter = ir.rebuilt(f, body=f.body[1:])
    assert list(ir.walk(shorter)) == list(ir.walk(f.body[1:]))
