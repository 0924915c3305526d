"""Kernels whose parts lie in several modules, and pass states of many arrays to each other.

Counting references to the arrays at every call would cost more than the work itself: parts that allocate nothing are
compiled without. And machine code on disk has to be made anew when any part of it changes, not only the module of the
kernel's own: its stamp covers all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numba

from ppdm_flow.sdk.compiled import compiled, tolerant

P = ParamSpec("P")
R = TypeVar("R")

UNCOUNTED: dict[str, Any] = {"nogil": True, "_nrt": False}
PART: dict[str, Any] = {**UNCOUNTED, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def _sources() -> str:
    found = hashlib.sha256()
    for path in sorted(Path(__file__).resolve().parents[1].rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


SOURCES = _sources()
"""Stands for the text of every module that kernels are made of."""


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function``, which allocates nothing, into every kernel that calls it. Python cannot call it."""
    kernel: Callable[P, R] = numba.njit(forceinline=True, **PART)(function)
    return kernel


def part(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function``, which allocates nothing, for kernels to call. Python cannot call it."""
    kernel: Callable[P, R] = numba.njit(**PART)(function)
    return kernel


def entry(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function``, which allocates nothing, for Python to call, and keep it where that can be written."""
    try:
        kernel = numba.njit(cache=True, **UNCOUNTED)(function)
    except RuntimeError:  # numba finds no place that it may write to
        kernel = numba.njit(**UNCOUNTED)(function)
    stamp(kernel)
    found: Callable[P, R] = tolerant(kernel)
    return found


def allocating(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function``, which may make arrays, at its first call, and keep it where that can be written."""
    kernel = compiled(function)
    stamp(kernel)
    return kernel


def stamp(kernel: Any) -> None:
    """Let the kernel's machine code on disk be good only for these very sources."""
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if file is not None:
        vars(file)["_source_stamp"] = (vars(file)["_source_stamp"], SOURCES)
