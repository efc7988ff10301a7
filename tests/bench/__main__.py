"""Benchmarks: `make bench`, or `python -m tests.bench`, which compares srcdiff with its rivals.

--small     the small sizes alone, each program checked and run a few times
--gpu       on a GPU: CuPy, JAX, torch
--write     put the tables into docs/performance.md and the plot beside it
--note      what to say of the run there
--threads   how many each library may use (1)
--only      some programs, by name
NAMES       instead: other measurements, of what srcdiff itself costs
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

OTHERS = ("transform", "overhead", "ratios", "batch", "gpu", "workspaces")
DOCUMENT = Path(__file__).parents[2] / "docs" / "performance.md"


def parsed() -> argparse.Namespace:
    """The arguments of the command."""
    about = __doc__.split("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=about)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(OTHERS))
    for flag in ("--small", "--gpu", "--write"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--note", default="", metavar="SENTENCE")
    parser.add_argument("--only", nargs="+", metavar="PROGRAM")
    options = parser.parse_args()
    if unknown := set(options.names) - set(OTHERS):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(OTHERS)}")
    return options


def limit_threads(count: int) -> None:
    """Let every library use so many threads; they read this when they are imported."""
    for name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[f"{name}_NUM_THREADS"] = str(count)
    if hasattr(os, "sched_setaffinity"):  # XLA asks the system how many cores there are
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-count:])


def run(options: argparse.Namespace) -> None:
    """Compare the programs, and print or write what was found."""
    from . import tables
    from .compare import compare, warm_up
    from .programs.loops import PROGRAMS, SIZES
    from .rivals import ON_CPU, ON_GPU

    where, rivals = ("GPU", ON_GPU) if options.gpu else ("CPU", ON_CPU)
    if options.write:
        import matplotlib  # what is not installed is said before everything has run

        matplotlib.use("Agg")
    warm_up(rivals)
    cells = []
    for name in options.only or PROGRAMS:
        for size in SIZES[:1] if options.small else SIZES:
            found = compare(PROGRAMS[name], size, rivals)
            cells += found
            times = (f"{c.rival} {tables.number(tables.milliseconds(c)) or '-'}" for c in found)
            print(f"{name}, {size}, ms: {'; '.join(times)}", file=sys.stderr, flush=True)
    print(tables.report(cells))
    if options.write:
        picture = DOCUMENT.with_name(f"performance{'_gpu' * options.gpu}.svg")
        tables.plot(cells, picture)
        command = "python -m tests.bench" + " --gpu" * options.gpu + " --small" * options.small
        tables.write(cells, DOCUMENT, f"`{command}`. {options.note}".strip(), picture, where)


def main() -> None:
    """Run what is asked for."""
    options = parsed()
    if options.names:
        from importlib import import_module

        for name in options.names:
            import_module(f".{name}", __package__).main()
            print()
        return
    limit_threads(options.threads)
    if not options.gpu:
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
    with tempfile.TemporaryDirectory() as folder:  # what Numba compiled before is not used
        os.environ["NUMBA_CACHE_DIR"] = folder
        run(options)


if __name__ == "__main__":
    main()
