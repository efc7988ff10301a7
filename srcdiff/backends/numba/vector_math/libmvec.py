"""Functions of libm that LLVM replaces by vector functions of libmvec: names give LLVM calls.

A call carries the attribute "vector-function-abi-variant", which names the vector functions that
there are (glibc's, Linux on x86-64); elsewhere, and in the remainder of a loop, it stays the scalar
one.  Object code has only their names, and LLVM ends a process in which one is missing: what glibc
here lacks is defined when this is imported, so code cached where there is more runs here too.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from srcdiff.backends.numba.vector_math.lanes import (
    DOUBLE,
    SINGLE,
    attach,
    declared,
    lane_by_lane,
)

ARITIES = {
    "exp": 1, "exp2": 1, "expm1": 1, "log": 1, "log2": 1, "log10": 1, "log1p": 1,
    "sin": 1, "cos": 1, "tan": 1, "asin": 1, "acos": 1, "atan": 1, "atan2": 2,
    "sinh": 1, "cosh": 1, "tanh": 1, "asinh": 1, "acosh": 1, "atanh": 1,
    "cbrt": 1, "hypot": 2, "pow": 2, "erf": 1, "erfc": 1,
}  # fmt: skip
"""The functions, by the names of libm, with the numbers of their arguments."""

FEATURES = frozenset(cpu_target.target_context.codegen().magic_tuple()[2].split(","))
"""What the CPU has that Numba compiles for: part of the key of code that it caches."""

# The letter in libmvec's names, the bits of a register, the feature that it needs.
INSTRUCTION_SETS = (("b", 128, "+sse4.1"), ("d", 256, "+avx2"), ("e", 512, "+avx512f"))


def open_library() -> ctypes.CDLL | None:
    """libmvec, open for LLVM's linker too; None where there is none."""
    if not HAS_NAMES:
        return None
    try:
        library = ctypes.CDLL("libmvec.so.1")
        llvm.load_library_permanently("libmvec.so.1")
    except (OSError, RuntimeError):  # another libc, a minimal image
        return None
    return library


def widths(bits: int) -> dict[int, str]:
    """The letters of vector functions that this CPU runs, by their lanes of floats of some bits."""
    fit = ((width, letter) for letter, width, feature in INSTRUCTION_SETS if feature in FEATURES)
    return {width // bits: letter for width, letter in fit}


def scalar_name(name: str, bits: int) -> str:
    """The name in libm."""
    return name + ("f" if bits == 32 else "")


def symbols(name: str, bits: int) -> dict[int, str]:
    """The names in libmvec, by lanes, whether or not there are such functions."""
    parameters = "v" * ARITIES[name]
    scalar = scalar_name(name, bits)
    return {n: f"_ZGV{letter}N{n}{parameters}_{scalar}" for n, letter in widths(bits).items()}


def variants(name: str, bits: int) -> dict[int, str]:
    """The vector functions of libmvec for a function, by lanes."""
    named = symbols(name, bits).items()
    return {lanes: symbol for lanes, symbol in named if hasattr(LIBRARY, symbol)}


def call(builder: Any, name: str, arguments: list[Any]) -> Any:
    """A call of libm on LLVM scalars of one type, with the vector functions that there are."""
    number = arguments[0].type
    bits = 32 if number == SINGLE else 64
    kinds = [number] * len(arguments)
    scalar = declared(builder.module, scalar_name(name, bits), number, kinds)
    module, known = builder.module, variants(name, bits)
    vectors = [vector(module, symbol, number, n, kinds) for n, symbol in known.items()]
    return vectorised_call(builder, scalar, arguments, vectors)


def vector(module: Any, symbol: str, number: Any, lanes: int, kinds: list[Any]) -> Any:
    """A vector function, declared."""
    wide = ir.VectorType(number, lanes)
    return declared(module, symbol, wide, [wide] * len(kinds))


def vectorised_call(builder: Any, scalar: Any, arguments: list[Any], vectors: list[Any]) -> Any:
    """A call of a scalar function, for which LLVM may call one of some vector functions.

    It may be merged, moved and left out: it sets no errno.
    """
    result = builder.call(scalar, arguments)
    attach(result.attributes, "memory(none)", "nounwind", "willreturn")
    if vectors:
        v = "v" * len(arguments)
        counts = [f.args[0].type.count for f in vectors]
        pairs = (f"_ZGV_LLVM_N{n}{v}_{scalar.name}({f.name})" for n, f in zip(counts, vectors))
        attach(result.attributes, f'"vector-function-abi-variant"="{",".join(pairs)}"')
        attach(builder.function.attributes, '"stackrealign"')  # for vectors that are spilled
        _keep(builder.module, vectors)
    return result


def _keep(module: Any, functions: list[Any]) -> None:
    """List functions as used: before LLVM looks for vector functions it drops what no one calls."""
    pointer = ir.IntType(8).as_pointer()
    used = module.globals.get("llvm.compiler.used")
    kept = list(used.initializer.constant) if used else []
    kept += [f.bitcast(pointer) for f in functions if str(f.bitcast(pointer)) not in map(str, kept)]
    array = ir.ArrayType(pointer, len(kept))
    if used is None:
        used = ir.GlobalVariable(module, array, "llvm.compiler.used")
        used.linkage, used.section = "appending", "llvm.metadata"
    used.value_type, used.initializer = array, ir.Constant(array, kept)


# --- where functions are missing ------------------------------------------------------------------


def missing() -> Iterator[tuple[str, str, int, int]]:
    """(name, symbol, bits, lanes) of all that glibc may have here and this one has not."""
    for name in ARITIES if HAS_NAMES else ():
        for bits in (32, 64):
            there = variants(name, bits)
            for lanes, symbol in symbols(name, bits).items():
                if lanes not in there:
                    yield name, symbol, bits, lanes


def define_missing() -> Any:
    """Define what is missing, lane by lane; None if nothing is, else what keeps the code alive."""
    module = ir.Module("libmvec_by_lanes")
    found = list(missing())
    for name, symbol, bits, lanes in found:
        _define(module, name, symbol, SINGLE if bits == 32 else DOUBLE, lanes)
    if not found:
        return None
    with global_compiler_lock:
        library = cpu_target.target_context.codegen().create_library(module.name)
        library.add_ir_module(module)
        library.finalize()
        for _, symbol, _, _ in found:
            llvm.add_symbol(symbol, library.get_pointer_to_function(symbol))
    return library


def _define(module: Any, name: str, symbol: str, number: Any, lanes: int) -> None:
    """Define a vector function that calls the scalar one for each lane."""
    kinds = [number] * ARITIES[name]
    scalar = declared(module, name + ("f" if number == SINGLE else ""), number, kinds)
    function = vector(module, symbol, number, lanes, kinds)
    builder = ir.IRBuilder(function.append_basic_block())
    builder.ret(lane_by_lane(builder, scalar, list(function.args)))


if llvm.llvm_version_info < (20, 0, 0):
    raise ImportError("compiled loops need Numba 0.62, whose LLVM knows all that they ask for")

HAS_NAMES = platform.system() == "Linux" and platform.machine() == "x86_64"
"""Whether code for this machine may name functions of libmvec."""

LIBRARY = open_library()
BY_LANES = define_missing()
