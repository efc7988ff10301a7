"""Loops that Numba compiles as part of the function that calls them, and not by themselves.

Takes a loop function; gives one that compiled functions alone call.  A function of Numba's is
optimised and becomes machine code where it is defined, and once more in each caller, which holds a
copy: of loops that only a caller runs the first half is for nothing.  For an element of an array
Numba writes code for any index, of which LLVM throws most away again: here it is the address alone.

All of this is of one version of Numba's compiler, which has no interface for it (`jit.KNOWN`).
"""

from __future__ import annotations

import functools
import operator
from typing import Any

from llvmlite import binding as _llvm
from llvmlite import ir
from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core import cgutils as _cgutils
from numba.core import codegen as _codegen
from numba.core import compiler as _compiler
from numba.core import compiler_machinery as _machinery
from numba.core import config as _config
from numba.core import ir as _nodes
from numba.core import ir_utils as _nodes_of
from numba.core import lowering as _lowering
from numba.core import typed_passes as _passes
from numba.core import types as _types
from numba.core import untyped_passes as _untyped
from numba.np import arrayobj as _arrayobj

arrayobj: Any = _arrayobj
cgutils: Any = _cgutils
codegen: Any = _codegen
compiler: Any = _compiler
config: Any = _config
llvm: Any = _llvm
lowering: Any = _lowering
machinery: Any = _machinery
make_function: Any = _dynfunc.make_function
nodes: Any = _nodes
nodes_of: Any = _nodes_of
passes: Any = _passes
types: Any = _types
untyped: Any = _untyped


class Part(codegen.JITCodeLibrary):  # type: ignore[misc]
    """What a caller links and optimises: it is not machine code of its own."""

    def finalize(self) -> None:
        """Link what the loops call."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


class Whole(codegen.JITCodeLibrary):  # type: ignore[misc]
    """What calls loops, and them: optimised as Numba does, but for the unrolling of loops.

    Vector loops gain nothing by it, and it makes half of their machine code.
    """

    def _optimize_final_module(self) -> None:
        made = self._codegen
        if not config.LLVM_REFPRUNE_PASS:
            super()._optimize_final_module()
            return
        first, builder = made._module_pass_manager(
            loop_vectorize=made._loopvect, slp_vectorize=False, opt=made._opt_level, cost="cheap"
        )
        first.run(self._final_module, builder)
        options = llvm.create_pipeline_tuning_options(int(config.OPT))
        options.loop_vectorization = bool(config.LOOP_VECTORIZE)
        options.slp_vectorization = bool(config.SLP_VECTORIZE)
        options.loop_unrolling = False
        builder = llvm.create_pass_builder(made._tm, options)
        second = builder.getModulePassManager()
        second.add_refprune_pass(codegen._parse_refprune_flags())
        second.run(self._final_module, builder)


class Elements(lowering.Lower):  # type: ignore[misc]
    """Code for a function, in which elements and rows of arrays are addresses.

    What its caller holds is there for as long as it runs: references are counted where it makes
    arrays of its own alone.
    """

    @functools.cached_property
    def counts(self) -> bool:
        """Whether references are counted."""
        stmts = (s for b in self.blocks.values() for s in b.find_insts(nodes.Assign))
        made = [self.typeof(s.target.name) for s in stmts if self.makes(s.value)]
        models = (self.context.data_model_manager[t] for t in (self.fndesc.restype, *made))
        return any(m.contains_nrt_meminfo() for m in models)

    def makes(self, value: Any) -> bool:
        """Whether an expression may make an array, or is code of Numba's that counts."""
        if not isinstance(value, nodes.Expr) or value.op == "cast":
            return False
        index = {"getitem": "index", "static_getitem": "index_var"}.get(value.op)
        at = index and getattr(value, index)
        return not at or not self.has_address(value.value, at)

    def incref(self, kind: Any, value: Any) -> None:
        """Count a reference."""
        if self.counts:
            super().incref(kind, value)

    def decref(self, kind: Any, value: Any) -> None:
        """Count a reference less."""
        if self.counts:
            super().decref(kind, value)

    def lower_getitem(self, kind: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """An element is loaded, a row is an array at its address."""
        places = self.places(value, index)
        if places is None:
            return super().lower_getitem(kind, expr, value, index, signature)
        of, array = self.typeof(value.name), self.loadvar(value.name)
        address = self.address(of, array, places)
        if len(places) == of.ndim:
            found = arrayobj.load_item(self.context, self.builder, of, address)
        else:
            found = self.row(signature.return_type, of, array, address)
        return self.context.cast(self.builder, found, signature.return_type, kind)

    def lower_setitem(self, target: Any, index: Any, value: Any, signature: Any) -> Any:
        """A number is stored at the address of an element."""
        places, given = self.places(target, index), self.typeof(value.name)
        of = self.typeof(target.name)
        if places is None or len(places) < of.ndim or not isinstance(given, _NUMBERS):
            return super().lower_setitem(target, index, value, signature)
        address = self.address(of, self.loadvar(target.name), places)
        new = self.context.cast(self.builder, self.loadvar(value.name), given, of.dtype)
        return arrayobj.store_item(self.context, self.builder, of, new, address)

    def lower_binop(self, kind: Any, expr: Any, op: Any) -> Any:
        """A power by a count is the products that it is, and no loop."""
        of, count = self.typeof(expr.lhs.name), self.count(expr.rhs)
        if op is not operator.pow or kind != of or not isinstance(of, types.Float) or count is None:
            return super().lower_binop(kind, expr, op)
        square, found = self.loadvar(expr.lhs.name), self.context.get_constant(kind, 1.0)
        while count:
            found = self.builder.fmul(found, square) if count & 1 else found
            square, count = self.builder.fmul(square, square), count >> 1
        return found

    def count(self, name: Any) -> int | None:
        """The integer from 0 to 64 that a name stands for, None if it is none."""
        made = nodes_of.guard(nodes_of.get_definition, self.func_ir, name)
        value = made.value if isinstance(made, (nodes.Const, nodes.Global, nodes.FreeVar)) else None
        return value if type(value) is int and 0 <= value <= 64 else None

    def places(self, array: Any, index: Any) -> list[tuple[Any, Any]] | None:
        """The integers of an index with their types; None: it is something else, or not of one."""
        if not self.has_address(array, index):
            return None
        kind, value = self.typeof(index.name), self.loadvar(index.name)
        if not isinstance(kind, types.BaseTuple):
            return [(kind, value)]
        return [(k, self.builder.extract_value(value, n)) for n, k in enumerate(kind)]

    def has_address(self, array: Any, index: Any) -> bool:
        """Whether integers mean a part of an array of numbers."""
        of, kind = self.typeof(array.name), self.typeof(index.name)
        kinds = tuple(kind) if isinstance(kind, types.BaseTuple) else (kind,)
        if not isinstance(of, types.Array) or not isinstance(of.dtype, _NUMBERS):
            return False
        return bool(kinds) and all(isinstance(k, types.Integer) for k in kinds)

    def part(self, of: Any, array: Any, name: str) -> Any:
        """What an array holds: its memory, lengths, steps."""
        return self.context.data_model_manager[of].get(self.builder, array, name)

    def parts(self, of: Any, array: Any, name: str) -> list[Any]:
        """The lengths or the steps one by one."""
        return list(cgutils.unpack_tuple(self.builder, self.part(of, array, name)))

    def address(self, of: Any, array: Any, places: list[tuple[Any, Any]]) -> Any:
        """Where what an index means begins; negative integers count from the end."""
        lengths = self.parts(of, array, "shape")
        steps = [] if of.layout in "CF" else self.parts(of, array, "strides")
        at = [
            arrayobj.fix_integer_index(self.context, self.builder, kind, value, length)
            for (kind, value), length in zip(places, lengths)
        ]
        memory = self.part(of, array, "data")
        pointer = cgutils.get_item_pointer2
        return pointer(self.context, self.builder, memory, lengths, steps, of.layout, at)

    def row(self, kind: Any, of: Any, array: Any, address: Any) -> Any:
        """The array of a type at an address, with the last axes of another one."""
        lengths, steps = (self.parts(of, array, n)[-kind.ndim :] for n in ("shape", "strides"))
        count = functools.reduce(self.builder.mul, lengths)
        held = {n: self.part(of, array, n) for n in ("meminfo", "parent", "itemsize")}
        shape, strides = (cgutils.pack_array(self.builder, v) for v in (lengths, steps))
        held.update(data=address, nitems=count, shape=shape, strides=strides)
        found = ir.Constant(self.context.get_value_type(kind), ir.Undefined)
        model = self.context.data_model_manager[kind]
        for name, value in held.items():
            found = model.set(self.builder, found, value, name)
        self.incref(kind, found)
        return found


_NUMBERS = (types.Number, types.Boolean)


@machinery.register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(passes.NativeLowering):  # type: ignore[misc]
    """Lowering into a part, of which nothing is called from outside."""

    _name = "lowering_inside"

    @property
    def lowering_class(self) -> Any:
        """What writes the code."""
        return Elements

    def run_pass(self, state: Any) -> bool:
        """The loops as code that is linked, and a function that stands for it."""
        target, flags = state.targetctx, state.flags
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
        state.library = Part(target.codegen(), state.func_id.func_qualname)
        super().run_pass(state)
        made, name = state["cr"], state.func_id.func_name
        called = make_function(made.fndesc.lookup_module(), name, "", 0, made.env, (state.library,))
        target.insert_user_function(called, made.fndesc, [state.library])
        state["cr"] = made._replace(cfunc=called)
        return True


@machinery.register_pass(mutates_CFG=True, analysis_only=False)
class LoweringAround(passes.NativeLowering):  # type: ignore[misc]
    """Lowering into a library that is optimised for loops."""

    _name = "lowering_around"

    def run_pass(self, state: Any) -> bool:
        """The function as Numba makes it."""
        state.library = Whole(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


def _with_lowering(state: Any, lowering: Any, without: tuple[Any, ...] = ()) -> list[Any]:
    """The passes for functions without Python objects, with a lowering of their own."""
    found = compiler.DefaultPassBuilder.define_nopython_pipeline(state)
    kept = [p for p in found.passes if p[0] not in without]
    found.passes = [(lowering, s) if p is passes.NativeLowering else (p, s) for p, s in kept]
    found.finalize()
    return [found]


class Around(compiler.CompilerBase):  # type: ignore[misc]
    """How a function is compiled that calls loops."""

    def define_pipelines(self) -> list[Any]:
        """The passes."""
        return _with_lowering(self.state, LoweringAround)


_FOR_OTHERS = (
    untyped.InlineClosureLikes, untyped.MakeFunctionToJitFunction, untyped.InlineInlinables,
    untyped.LiteralUnroll, untyped.FindLiterallyCalls,
    passes.NopythonRewrites, passes.InlineOverloads,
)  # fmt: skip


class Inside(compiler.CompilerBase):  # type: ignore[misc]
    """How loops are compiled that are part of a function.

    They have neither closures nor expressions of arrays that passes would look for.
    """

    def define_pipelines(self) -> list[Any]:
        """The passes."""
        return _with_lowering(self.state, Lowering, _FOR_OTHERS)
