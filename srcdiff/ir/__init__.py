"""The intermediate representation: flat operands, nested control flow, frozen nodes.

Every operand of a call is an atom; every intermediate result has a name; control flow stays nested
as the user wrote it.  Locations are carried along but never compared, so two functions that do the
same are equal.
"""

from __future__ import annotations

from srcdiff.ir.functions import Site, captured, is_function, make_function
from srcdiff.ir.look import (
    PLAIN,
    all_names,
    atoms,
    blocks,
    bound,
    call_of,
    itself_mentions,
    names,
    occurrences,
    operands,
    parts,
    reads,
    refs,
    said,
    used,
    walk,
    writes,
)
from srcdiff.ir.nodes import (
    GENERATED,
    LOOP,
    NONE,
    NOWHERE,
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
    Slice,
    Star,
    Stmt,
    Tup,
    Undo,
    Verbatim,
    While,
    make_dict,
    make_list,
    new_object,
    set_attr,
    set_item,
)
from srcdiff.ir.operators import OPERATORS
from srcdiff.ir.rebuild import (
    Fresh,
    map_atom,
    map_blocks,
    map_opaque,
    map_rhs,
    map_stmt,
    rebuilt,
    rename,
    without,
)
from srcdiff.ir.text import rename_text

__all__ = [
    "Accum", "Assign", "Atom", "Attr", "Block", "Call", "Callee", "Comment", "Const", "Demand",
    "Derived", "Effect", "For", "Fresh", "Function",
    "GENERATED", "SEED", "TANGENT", "If", "LOOP", "Loc", "Method", "NONE", "NOWHERE",
    "Name", "OPERATORS", "Opaque", "PLAIN", "Pair", "Param", "Permute", "Ref", "Reset",
    "Return", "Rhs", "SetItem", "Site", "Slice", "Star", "Stmt", "Tup", "Undo", "Verbatim",
    "While", "all_names", "atoms", "blocks", "bound", "call_of", "captured", "is_function",
    "itself_mentions", "make_dict", "make_function", "make_list", "map_atom", "map_blocks",
    "map_opaque", "map_rhs", "map_stmt", "names", "new_object", "occurrences", "operands", "parts",
    "reads", "rebuilt", "refs", "rename", "rename_text", "said", "set_attr", "set_item", "used",
    "walk", "without", "writes",
]  # fmt: skip
