"""The intermediate representation: flat operands, nested control flow, frozen nodes.

Every operand of a call is an atom; every intermediate result has a name; control flow stays nested
as the user wrote it.  Locations are carried along but never compared, so two functions that do the
same are equal.  The frontend makes a function of nodes, every pass takes one and gives another, and
`codegen` prints the last one; this package imports nothing of srcdiff but its errors.

`nodes`     atoms, right-hand sides, statements, functions, and callees that only the compiler knows
`visit`     what nodes read, write and hold; the ways to go over them; names that are new
`builder`   writes statements at one place, and functions anew, statement by statement
`kinds`     what is known of a value before the program runs: its type, dtype and lengths of axes
`printer`   a function as text, for people who look at a pass
`frozen`    classes of values that nobody changes
`verifier`  the invariants, checked after every pass in tests
`interpreter`  runs a function as Python runs what it says
"""

from __future__ import annotations

from srcdiff.ir.nodes import (
    GENERATED,
    LOOP,
    NONE,
    NOWHERE,
    OPERATORS,
    SEED,
    TANGENT,
    Accum,
    Assign,
    Atom,
    Attr,
    Block,
    Call,
    Callee,
    Comment,
    Const,
    Demand,
    Derived,
    Effect,
    For,
    Function,
    If,
    Loc,
    Method,
    Name,
    Opaque,
    Pair,
    Param,
    Permute,
    Ref,
    Reset,
    Return,
    Rhs,
    SetItem,
    Site,
    Slice,
    Star,
    Stmt,
    Tup,
    Undo,
    Verbatim,
    While,
    answers_by_code,
    called,
    captured,
    is_function,
    make_dict,
    make_function,
    make_list,
    new_object,
    set_attr,
    set_item,
)
from srcdiff.ir.visit import (
    PLAIN,
    Fresh,
    all_names,
    atoms,
    binding_counts,
    blocks,
    bound,
    bound_in,
    call_of,
    itself_mentions,
    itself_reads,
    map_atom,
    map_blocks,
    map_opaque,
    map_rhs,
    map_stmt,
    mention_counts,
    mentions,
    names,
    occurrences,
    operands,
    origin,
    parts,
    primal_only,
    reader_counts,
    reads,
    reads_of,
    rebuilt,
    refs,
    refs_of,
    rename,
    rename_text,
    replaced,
    replaced_in,
    said,
    use_counts,
    used,
    used_in,
    walk,
    walk_blocks,
    walk_in_loops,
    with_rhs,
    without,
    writes,
)

__all__ = [
    "Accum", "Assign", "Atom", "Attr", "Block", "Call", "Callee", "Comment", "Const", "Demand",
    "Derived", "Effect", "For", "Fresh", "Function", "GENERATED", "SEED", "TANGENT", "If", "LOOP",
    "Loc", "Method", "NONE", "NOWHERE", "Name", "OPERATORS", "Opaque", "PLAIN", "Pair", "Param",
    "Permute", "Ref", "Reset", "Return", "Rhs", "SetItem", "Site", "Slice", "Star", "Stmt", "Tup",
    "Undo", "Verbatim", "While", "all_names", "answers_by_code", "atoms", "binding_counts",
    "blocks", "bound", "bound_in", "call_of", "called", "captured", "is_function",
    "itself_mentions", "itself_reads", "make_dict", "make_function", "make_list", "map_atom",
    "map_blocks", "map_opaque", "map_rhs", "map_stmt", "mention_counts", "mentions", "names",
    "new_object", "occurrences", "operands", "origin", "parts", "primal_only", "reader_counts",
    "reads", "reads_of", "rebuilt", "refs", "refs_of", "rename", "rename_text", "replaced",
    "replaced_in", "said", "set_attr", "set_item", "use_counts", "used", "used_in", "walk",
    "walk_blocks", "walk_in_loops", "with_rhs", "without", "writes",
]  # fmt: skip
