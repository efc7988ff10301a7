"""Lowering: from the syntax tree of a function to the IR.

`lower(source)` gives a `Function`, `lower_template(source)` a `Template`.  Operands become atoms,
from left to right as Python evaluates them; a temporary (`_t_0`, `_t_1`, ...) holds each inner
result.  What the source says in a shorter way always becomes one of these forms, which the printer
turns back.  `r` is a new temporary, `[e]` what has to run before the value `e` is known.

Expressions

    a and b           [a]; r = a; if r: [b]; r = b
    a or b            [a]; r = a; if r: pass else: [b]; r = b       (more values: nested inside)
    b if c else d     [c]; if c: [b]; r = b  else: [d]; r = d
    a < b < c         [a]; [b]; r = a < b; if r: [c]; r = b < c     (more: nested inside)
    x not in y        r = contains(y, x); not_(r)
    (x := e)          x = e, read as `x`
    [e for x in xs if c]
                      r = make_list(); the loop over xs (below): [c]; if c: [e]; r.append(e)
    {k: v for ...}    r = make_dict(); loop: r[k] = v
    sum(e for ...)    the list as above, then the call (sum min max tuple list sorted set frozenset
                      dict math.fsum math.prod str.join)
    any(e for ...)    r = False; loop (stop=r): if e: r = True
    all(e for ...)    r = False; loop (stop=r): if e: pass else: r = True; then not_(r)
    (*a, b)           r = make_list(*a, b); tuple(r)
    {**a, k: v}       r = make_dict(); r.update(a); r[k] = v
    f(x), f nested    the parameters are assigned, the body stands in place of the call
    max(xs, key=f)    r = list(xs); q = [f(x) for x in r]; r[q.index(max(q))]
    g(f), f nested    r = Closure(f), an Opaque that `inline` knows how to call; g(r)

Assignment

    a = b = e         a = e; b = a
    a, b = b, a       Permute
    a, b = e, f       a = e; b = f; where f reads a: r = e; b = f; a = r
    a, b = e          [e]; a = e[0]; b = e[1]
    a, *b, c = e      a = e[0]; r = e[1:-1]; b = list(r); c = e[-1]
    q = deque()       q = make_list(), and `q.popleft()` is `q.pop(0)` (see `stdlib`)
    d = defaultdict(list)
                      d = make_dict(), and `d[k]` is `d.setdefault(k, [])`
    x[i] = v          SetItem(x, i, v); `x.y[i][j] += v`: r = x.y; q = r[i]; AugAssign(q, j, v, "+")

Loops (`_k`, `_n` are temporaries; `n` is `_n = len(xs)`, for zip `min` of those)

    for i in range(a, b):         For(i, range(a, b))
    for i in reversed(range(n)):  r = n - 1; For(i, range(r, -1, -1))
    for x in xs:                  _n = len(xs); For(_k, range(_n)): x = xs[_k]
    for x in reversed(xs):        _n = len(xs); r = _n - 1; For(_k, range(r, -1, -1)): x = xs[_k]
    for i, x in enumerate(xs):    _n = len(xs); For(i, range(_n)): x = xs[i]
    for i, x in enumerate(xs, s): For(_k, range(_n)): i = _k + s; x = xs[_k]
    for x, y in zip(xs, ys):      For(_k, range(_n)): x = xs[_k]; y = ys[_k]
    for k, v in d.items():        r = list(d); _n = len(r); For(_k, range(_n)):
                                  q = r[_k]; k = q; v = d[q]         (values: q = r[_k]; v = d[q])
    while c:                      While([c], c, body)

`xs` is a name; a temporary if the source has another expression there, or if the loop binds it.

Jumps.  What follows a jump is moved where it only runs when the jump was not taken.

    break             `_stop = False` before the loop, which has stop=_stop; here `_stop = True`
    continue          nothing; where more of the body follows that cannot be moved: `_skip = True`
                      (`_skip = False` begins the body)
    return e          `_ret = e`, and Return(_ret) at the end; in a loop also `_done = True`: the
                      stop of the loops around without a break of their own (other loops: their
                      `_stop = True` too), cleared before the outermost statement that jumps
    if c: ...jump     If(c, [...jump], [what followed the `if`])     (likewise for the `else`)
    if c: if d: jump  the flag of the jump is set, and what follows is If(flag, [], rest)
    a loop with `return` inside: what follows it is If(_done, [], rest)
    for ... else: s   If(_stop, [], s) after the loop; without a `break`, s just follows

The only `return` of a function, last in its body, becomes the Return itself.  A function some of
whose returns have a value gets `_ret = None` where control falls off its end.

A template is a rule written as an ordinary function, and read like user code;
by the template of its rule `flows` says which arguments of a call a derivative flows from.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, TypeVar

import gast

from srcdiff import ir
from srcdiff.analysis.links import takes_keys
from srcdiff.errors import MissingRuleError, UnsupportedError
from srcdiff.frontend import local_functions
from srcdiff.frontend.desugar.flatten import flattened
from srcdiff.frontend.desugar.stdlib import plain_collections, plain_lookups
from srcdiff.frontend.lower import calls, expressions, jumps, loops, statements, targets
from srcdiff.frontend.lower.builder import Adjoint, Builder, Node, Table
from srcdiff.frontend.scopes import declared, expression, scan_function
from srcdiff.frontend.source.parse import Source, parse, shallow
from srcdiff.ir import bound
from srcdiff.ir.frozen import frozen, replace
from srcdiff.primitives.registry import Bound, Rule, find, is_in_template, lookup

EXPRESSIONS: Table = {**expressions.TABLE, **loops.COMPREHENSION_TABLE, **calls.TABLE}
STATEMENTS: Table = {**statements.TABLE, **loops.TABLE}


def builder(
    source: Source, expression: Table = EXPRESSIONS, statement: Table = STATEMENTS
) -> Builder:
    """A builder for a function, its names declared."""
    scan = scan_function(source.tree)
    b = Builder(source, scan, expression, statement)
    for name in scan.bound:
        b.scope[name] = b.target(name)
    if type(source.tree).__name__ == "AsyncFunctionDef":
        b.refuse(source.tree, "a coroutine has no derivative", "Use a plain function.")
    for name in source.bound:
        if name in scan.bound:
            b.refuse(
                source.tree, f"`{name}`, the object of this method, is assigned in it",
                "Use another name.",
            )  # fmt: skip
    once = (n for n, count in scan.bound.items() if count == 1 and n not in scan.rebound)
    b.imports = frozenset(once) & scan.imports.keys()
    jumps.declare_functions(b, scan)
    if source.wrapped is not None:
        local_functions.declare(b, scan, params(source))
    return b


def lower(source: Source) -> ir.Function:
    """The IR of a function."""
    with shallow(source.function):
        return _lower(flattened(plain_collections(plain_lookups(source))))


def _lower(source: Source) -> ir.Function:
    b = builder(source)
    tree = source.tree
    doc, body = _docstring(tree.body)
    b.frame = jumps.frame_of(b, body)
    last = tree.body[-1]
    value = b.as_atom(jumps.function_body(b, body), last)
    b.emit(ir.Return(value, b.frame.returns[-1] if b.frame.returns else b.loc(last)))
    return ir.Function(
        source.name, params(source), tuple(b.out), doc, b.loc(tree), source.comments,
        tuple(b.frame.returns),
    )  # fmt: skip


def _docstring(nodes: Sequence[Node]) -> tuple[str | None, Sequence[Node]]:
    """The docstring of a body, and the rest of it."""
    value = getattr(nodes[0], "value", None)
    text = getattr(value, "value", None)
    if type(nodes[0]).__name__ == "Expr" and isinstance(text, str):
        return text, nodes[1:] or nodes
    return None, nodes


def params(source: Source) -> tuple[ir.Param, ...]:
    """The parameters of a function, with the defaults that its `def` computed."""
    if source.wrapped is not None:
        passed = params(source.wrapped)
        return passed if source.tree.args.kwarg is not None else _placed(passed)
    own, made = tuple(declared(source.tree.args)), source.function
    positional = [node.id for node, style, _ in own if style in ("pos", "any")]
    held = dict(zip(reversed(positional), reversed(made.__defaults__ or ())))
    held |= made.__kwdefaults__ or {}
    found = []
    for node, style, said in own:
        default = _default(source, node, said, held[node.id]) if node.id in held else None
        annotation = None if node.annotation is None else source.text(node.annotation)
        found.append(ir.Param(node.id, default, style, annotation))
    return tuple(found)


def _placed(params: tuple[ir.Param, ...]) -> tuple[ir.Param, ...]:
    """Parameters as those of a wrapper without `**kwargs`, to which nothing is given by name."""
    kept = (p for p in params if p.style in ("pos", "any", "*"))
    return tuple(replace(p, style="pos") if p.style == "any" else p for p in kept)


def _default(source: Source, param: Node, node: Node | None, value: object) -> ir.Atom:
    """A default: a literal, or the object with its spelling, if that is a name."""
    if node is None:  # it was given later
        return ir.Ref(f"{param.id}_default", value)
    if type(node).__name__ == "Constant" and type(value) is type(node.value):
        return ir.Const(value)
    kind, number = type(node).__name__, type(value) is int or type(value) is float
    made_for = kind == "Name" and is_in_template(source.function)  # a default of a rule
    if number and (kind == "UnaryOp" or made_for):
        return ir.Const(value)
    text = source.text(node)
    plain = all(part.isidentifier() for part in text.split("."))
    return ir.Ref(text if plain else f"{param.id}_default", value)


# --- templates: rules written as ordinary functions, read like user code -------------------------


@frozen
class Template:
    """A rule's source: what runs forwards, the result, what runs backwards.

    `d[x]` is the name `Name("d[x]")`.  In `below`, `d[x] += e` is `Accum(d[x], e, like=x)`;
    a store into `d[x][i]`, or a call that writes into `d[x]`, follows a `Demand(d[x], x)`.
    """

    name: str
    params: tuple[ir.Param, ...]
    above: ir.Block
    result: ir.Atom | None
    below: ir.Block
    loc: ir.Loc
    doc: str | None = None

    @property
    def forward_names(self) -> frozenset[str]:
        """The names bound above the `yield`."""
        return bound(self.above)


T = TypeVar("T")


def template_of(rule: Rule) -> Template:
    """The template of a rule, lowered at the first use."""
    assert rule.template is not None, f"{rule.name} has no template"
    source = rule.template
    if rule.expression:
        return _once(rule, "template", lambda: lower_slopes(parse(source), rule))
    return _once(rule, "template", lambda: lower_template(parse(source), rule.mutates))


def tangent_template_of(rule: Rule) -> Template:
    """The template of a rule's tangent, lowered at the first use."""
    assert rule.tangent is not None, f"{rule.name} has no tangent of its own"
    source = rule.tangent
    return _once(rule, "tangent", lambda: lower_template(parse(source), rule.mutates))


def differentiable(rule: Rule) -> frozenset[str]:
    """The parameters that a rule gives a derivative, not one that is zero on purpose."""
    return _once(rule, "differentiable", lambda: _given(rule, zero=False))


def mentioned(rule: Rule) -> frozenset[str]:
    """The parameters whose adjoint the template of a rule writes, or whose is zero on purpose."""
    return _once(rule, "mentioned", lambda: _given(rule, zero=True).union(rule.constant.split()))


def _once(rule: Rule, key: str, make: Callable[[], T]) -> T:
    """What is made of a rule once, and kept beside it."""
    if key not in rule.lowered:
        rule.lowered[key] = make()
    found: T = rule.lowered[key]
    return found


def _given(rule: Rule, zero: bool) -> frozenset[str]:
    """The parameters whose adjoint the template of a rule writes, with `zero` ones or without."""
    below = () if rule.template is None else ir.walk(template_of(rule).below)
    found = (s for s in below if isinstance(s, (ir.Accum, ir.Demand)))
    return frozenset(
        s.like.id for s in found if zero or not isinstance(getattr(s, "value", None), ir.Const)
    )


def adjoint_name(name: str) -> ir.Name:
    """The name that stands for `d[name]` in a template."""
    return ir.Name(f"d[{name}]")


def adjoint_of(name: str) -> str | None:
    """The `x` of the name `d[x]`; None for other names."""
    return name[2:-1] if name.startswith("d[") else None


def lower_template(source: Source, mutates: str | None = None) -> Template:
    """The two halves of a template, of a function that writes into the parameter `mutates`."""
    b = builder(source, TEMPLATE_EXPRESSIONS, TEMPLATE_STATEMENTS)
    if "d" in b.scope:
        _refuse(source, source.tree, "`d` is the adjoint in a template, and cannot be bound")
    b.scope["d"] = Adjoint()
    body = source.tree.body
    at = _yield_index(b, source)
    doc, _ = _docstring(body)
    if at is None:
        return _backwards(b, source, mutates, doc)
    above = jumps.block(b, body[:at], tail=False)
    given = body[at].value.value
    ending, result = b.collected(lambda: None if given is None else b.atom(given))
    below = jumps.block(b, body[at + 1 :], tail=False)
    above += ending
    if result is None and mutates is None and below:
        _refuse(source, body[at], "the `yield` of a template gives the result")
    loc = source.loc(source.tree)
    made = Template(source.name, params(source), above, result, below, loc, doc)
    return _checked(made, source, mutates)


def _backwards(b: Builder, source: Source, mutates: str | None, doc: str | None) -> Template:
    """A template without a `yield`: of the call itself, whose result is `z`."""
    loc = source.loc(source.tree)
    undone: ir.Block = ()
    result = ir.Name("z") if mutates is None else None
    if result is None:
        itself = ir.Name(str(mutates))
        undone = (ir.SetItem(itself, ir.Const(...), itself, loc=loc),)
    elif "z" in b.scope:
        reason = "`z` is the result in a template without a `yield`, and cannot be bound"
        _refuse(source, source.tree, reason)
    else:
        b.scope["z"] = result
    below = (*undone, *jumps.block(b, source.tree.body, tail=False))
    made = Template(source.name, params(source), (), result, below, loc, doc)
    return _checked(made, source, mutates)


def _checked(template: Template, source: Source, mutates: str | None) -> Template:
    """A template in which every `d[x]` is of a parameter or of the result, and is added to."""
    known = {p.name for p in template.params}
    known |= set() if template.result is None else set(ir.names(template.result))
    for node in gast.walk(source.tree):
        name = _adjoint_in(node)
        if name is not None and name not in known:
            _refuse(source, node, f"`d[{name}]` is of neither an argument nor the result")
        for name in map(_adjoint_in, getattr(node, "targets", ())):
            if name is not None and name != mutates:
                reason = f"`d[{name}] = ...` would take the place of an adjoint"
                _refuse(source, node, reason, f"Write `d[{name}] += ...`.")
    return template


def _adjoint_in(node: Node) -> str | None:
    """The `x` of a node `d[x]`, by its names alone."""
    mine = type(node).__name__ == "Subscript" and getattr(node.value, "id", "") == "d"
    return getattr(node.slice, "id", None) if mine else None


def lower_slopes(source: Source, rule: Rule) -> Template:
    """The template that the lambda of a scalar rule stands for.

    `slope=lambda x, z: e` is `z = f(x)` above the `yield`, and `d[x] += d[z] * conj(e)` below it.
    """
    from srcdiff.primitives.notation import conj  # which files of rules have read

    names = replace(source.namespace, bound={"conj": conj})
    b = builder(replace(source, namespace=names), TEMPLATE_EXPRESSIONS, TEMPLATE_STATEMENTS)
    b.scope["d"] = Adjoint()
    *operands, result = params(source)
    value, loc = source.tree.body[0].value, source.loc(source.tree)
    slopes = value.elts if type(value).__name__ == "Tuple" else [value]
    if len(slopes) != len(operands):
        count = f"{len(slopes)} slopes of {len(operands)} operands"
        _refuse(source, value, f"the scalar rule of `{rule.name}` has {count} and a result")
    call = ir.Call(rule.functions[0], tuple(ir.Name(p.name) for p in operands))
    for operand, slope in zip(operands, slopes, strict=True):
        _slope(b, operand, result, slope)
    z = ir.Name(result.name)
    return Template(rule.name, tuple(operands), (ir.Assign(z, call, loc),), z, tuple(b.out), loc)


def _slope(b: Builder, operand: ir.Param, result: ir.Param, slope: Node) -> None:
    """Write the line that adds to the adjoint of an operand, unless its slope is None."""
    if not _is_constant(slope, None):
        names = {getattr(n, "id", getattr(n, "attr", "")) for n in gast.walk(slope)}
        adjoint = expression(f"d[{result.name}]", slope)
        value = b.atom(_times(adjoint, slope, "conj" in names))
        b.emit(ir.Accum(adjoint_name(operand.name), value, ir.Name(operand.name), b.loc(slope)))


def _times(adjoint: Node, slope: Node, conjugated: bool) -> Node:
    """An adjoint times a slope, in place of the leftmost factor: `1.0 / e` is `d[z] / conj(e)`."""
    if _is_constant(slope, 0.0):
        return slope
    if _is_constant(slope, 1.0):
        return adjoint
    left, sign, right = adjoint, "*", slope
    if isinstance(slope, gast.BinOp) and isinstance(slope.op, (gast.Mult, gast.Div)):
        left, right = _times(adjoint, slope.left, conjugated), slope.right
        sign = expressions.BINARY[type(slope.op).__name__]
    elif isinstance(slope, gast.UnaryOp) and isinstance(slope.op, gast.USub):
        left, right = expression("-d", slope, d=adjoint), slope.operand
        if _is_constant(right, 1.0):
            return left
    plain = conjugated or isinstance(right, gast.Constant)
    return expression(f"d {sign} {'x' if plain else 'conj(x)'}", slope, d=left, x=right)


def _is_constant(node: Node, value: object) -> bool:
    """Whether a node is a literal of this value."""
    return isinstance(node, gast.Constant) and type(node.value) is not bool and node.value == value


def _is_yield(node: Node) -> bool:
    return type(node).__name__ == "Expr" and type(node.value).__name__ == "Yield"


def _yield_index(b: Builder, source: Source) -> int | None:
    """Where the one `yield` stands, if there is one."""
    places = [i for i, n in enumerate(source.tree.body) if _is_yield(n)]
    if len(places) > 1:
        node = source.tree.body[places[1]]
        _refuse(source, node, f"a template has one `yield` at its top level, not {len(places)}")
    for node in jumps.returns(b, source.tree.body):
        _refuse(source, node, "a template has no `return`")
    return places[0] if places else None


def _refuse(
    source: Source,
    node: Node,
    reason: str,
    remedy: str = "See templates/README.md for how a rule is written.",
) -> NoReturn:
    loc = source.loc(node)
    raise UnsupportedError(reason, loc, remedy, source.line(loc.line))


# --- `d[x]` ------------------------------------------------------------------------------------


def _primal(b: Builder, node: Node) -> str | None:
    """The `x` of a node `d[x]`; None for other nodes."""
    if type(node).__name__ != "Subscript" or type(node.value).__name__ != "Name":
        return None
    if not isinstance(b.scope.get(node.value.id), Adjoint):
        return None
    meaning = b.scope.get(getattr(node.slice, "id", ""))
    if not isinstance(meaning, ir.Name):
        b.refuse(node, "`d[...]` takes a name of the template", "Name the value above the `yield`.")
    return meaning.id


def _subscript(b: Builder, node: Node) -> ir.Rhs:
    """`x[i]`, or the adjoint `d[x]`."""
    primal = _primal(b, node)
    return expressions.subscript(b, node) if primal is None else adjoint_name(primal)


def _buffer(b: Builder, node: Node) -> str | None:
    """The `x` of a node `d[x]...[i]`, a part of an adjoint."""
    while type(node).__name__ == "Subscript":
        primal = _primal(b, node)
        if primal is not None:
            return primal
        node = node.value
    return None


def _demand(b: Builder, node: Node, loc: ir.Loc) -> None:
    """Ask for a buffer where a part of `d[x]` is written."""
    primal = _buffer(b, node)
    if primal is not None:
        b.emit(ir.Demand(adjoint_name(primal), ir.Name(primal), loc))


def _assign(b: Builder, node: Node) -> None:
    """`d[x] = e`, `d[x][i] = e`, and ordinary assignments."""
    loc = b.loc(node)
    target = node.targets[0]
    primal = _primal(b, target)
    if primal is not None:
        b.emit(ir.Assign(adjoint_name(primal), b.rhs(node.value), loc))
        return
    _demand(b, target, loc)
    statements.assign(b, node)


def _augmented(b: Builder, node: Node) -> None:
    """`d[x] += e`, `d[x][i] += e`, and ordinary ones."""
    loc = b.loc(node)
    op = expressions.BINARY[type(node.op).__name__]
    primal = _primal(b, node.target)
    if primal is None:
        _demand(b, node.target, loc)
        targets.augmented(b, node.target, node.value, op, loc)
        return
    value, adjoint = b.atom(node.value), adjoint_name(primal)
    if op in "+-":
        if op == "-":
            value = b.temp(ir.Call(operator.neg, (value,)), loc)
        b.emit(ir.Accum(adjoint, value, ir.Name(primal), loc))
    else:
        b.emit(ir.Demand(adjoint, ir.Name(primal), loc))
        b.emit(ir.AugAssign(adjoint, None, value, op, loc=loc))


def _expression(b: Builder, node: Node) -> None:
    """A call for its effect: one that writes into `d[x]` needs a buffer."""
    if _is_yield(node):
        _refuse(b.source, node, "a template has one `yield`, at its top level")
    args = getattr(node.value, "args", ())
    if type(node.value).__name__ == "Call" and args:
        _demand(b, args[0], b.loc(node))
    rhs = b.rhs(node.value)
    if isinstance(rhs, (ir.Call, ir.Opaque)):
        b.emit(ir.Effect(rhs, b.loc(node)))


TEMPLATE_EXPRESSIONS: Table = {**EXPRESSIONS, "Subscript": _subscript}
TEMPLATE_STATEMENTS: Table = {
    **STATEMENTS,
    "Assign": _assign,
    "AugAssign": _augmented,
    "Expr": _expression,
}


# --- which arguments of a call a derivative flows from, by the template of its rule --------------


def flows(call: ir.Call, kinds: Mapping[str, ir.Kind]) -> tuple[ir.Atom, ...]:
    """The arguments of a call that a derivative flows from; all of them where no rule says."""
    everything = (*call.args, *(v for _, v in call.kwargs))
    if takes_keys(call, kinds):
        return ()
    rule = lookup(call.fn)
    if rule is None or call.fn in (ir.make_list, ir.make_dict):
        return everything
    if rule.definition is not None or rule.reason:
        return everything
    if rule.template is None:
        return ()
    try:
        bound = find(call, kinds)
    except MissingRuleError:
        return everything  # the error comes, with its place, if one of them is active
    flowing = differentiable(rule) | _forgotten(bound, kinds)
    return tuple(atom for name, atom in bound.args.items() if name in flowing)


def _forgotten(bound: Bound, kinds: Mapping[str, ir.Kind]) -> frozenset[str]:
    """The parameters that a rule says nothing of, and that are given floats: an error."""
    rule = bound.rule
    silent = (p for p in bound.args if p not in mentioned(rule) and p != rule.mutates)
    return frozenset(
        p
        for p in silent
        if any(ir.is_float(kinds[n]) for n in ir.names(bound.args[p]) if n in kinds)
    )
