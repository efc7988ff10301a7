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
    q = deque()       q = make_list(), and `q.popleft()` is `q.pop(0)` (see `collected`)
    d = defaultdict(list)
                      d = make_dict(), and `d[k]` is `d.setdefault(k, [])`
    x[i] = v          SetItem(x, i, v); `x.y[i][j] += v`: r = x.y; q = r[i]; SetItem(q, j, v, "+")

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
"""

from srcdiff.frontend.closures.closures import Closure
from srcdiff.frontend.closures.lifted import Lifted
from srcdiff.frontend.lower.functions import lower
from srcdiff.frontend.lower.template import Template, lower_template

__all__ = ["Closure", "Lifted", "Template", "lower", "lower_template"]
