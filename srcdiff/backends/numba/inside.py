"""Loops that Numba compiles as part of the function that calls them, and not by themselves.

Takes a loop function; gives one that compiled functions alone call.  A function of Numba's is
optimised and becomes machine code where it is defined, and once more in each caller, which holds a
copy: of loops that only a caller runs the first half is for nothing.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc
from numba.core import codegen as _codegen
from numba.core import compiler as _compiler
from numba.core import compiler_machinery as _machinery
from numba.core import typed_passes as _passes

codegen: Any = _codegen
compiler: Any = _compiler
passes: Any = _passes
machinery: Any = _machinery
make_function: Any = _dynfunc.make_function


class Part(codegen.JITCodeLibrary):  # type: ignore[misc]
    """What a caller links and optimises: it is not machine code of its own."""

    def finalize(self) -> None:
        """Link what the loops call."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


@machinery.register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(passes.NativeLowering):  # type: ignore[misc]
    """Lowering into a part, of which nothing is called from outside."""

    _name = "lowering_inside"

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


class Inside(compiler.CompilerBase):  # type: ignore[misc]
    """Numba's passes for functions without Python objects, with a lowering of its own."""

    def define_pipelines(self) -> list[Any]:
        """The passes."""
        found = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        at = next(k for k, (p, _) in enumerate(found.passes) if p is passes.NativeLowering)
        found.passes[at] = Lowering, "loops as part of their callers"
        found.finalize()
        return [found]
