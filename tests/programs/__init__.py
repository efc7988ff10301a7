"""The corpus: ordinary NumPy programs by topic, each right against differences or refused."""

from __future__ import annotations

import importlib

from .registry import Program, registered

TOPICS = (
    "elementary",
    "reductions",
    "scaled",
    "shapes",
    "indexing",
    "linear",
    "linear_algebra",
    "loops",
    "control",
    "arrays_inplace",
    "views",
    "aliases",
    "calls",
    "complexes",
    "outside",
    "joined_lists",
    "queues",
    "ordered",
    "histories",
    "objects_around",
    "recursion",
    "recursive_lists",
    "slots",
    "helpers",
    "containers",
    "inner_lists",
    "shared_items",
    "points",
    "meeting",
    "rebound_displays",
    "extremes",
    "optional_arrays",
    "moved_items",
    "objects",
    "objects_kept",
    "best_so_far",
    "lists",
    "dicts",
    "tables",
    "iterators",
    "statements",
    "kernels",
    "peers_break",
    "physics",
    "ml",
    "stats",
    "higher_order",
    "functions",
    "getters",
    "vectorized",
    "rotated",
    "flat",
    "attempts",
    "numpy_options",
    "hidden",
    "broadcasts",
    "factorised",
    "found",
    "left_by_loops",
    "layouts",
    "golden_programs",
    "published_models",
    "published_stats",
    "published_fluids",
    "published_stencils",
    "published_blas",
    "published_solvers",
    "published_motion",
    "published_descent",
    "published_vision",
    "published_images",
    "published_sequences",
    "published_learning",
    "published_finance",
    "published_sciences",
    "published_small",
)

for _topic in TOPICS:
    importlib.import_module(f"{__name__}.{_topic}")

PROGRAMS: tuple[Program, ...] = registered()
GOLDEN: tuple[Program, ...] = tuple(p for p in PROGRAMS if "golden" in p.topics)

__all__ = ["GOLDEN", "PROGRAMS", "TOPICS", "Program"]
