"""Kernels that own no memory: without reference counts, which cost more than the work where a state has many arrays.

What is compiled this way may read and write arrays and take slices of them, but allocates none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numba

P = ParamSpec("P")
R = TypeVar("R")

OPTIONS: dict[str, Any] = {"nogil": True, "_nrt": False}


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` into every kernel that calls it."""
    kernel: Callable[P, R] = numba.njit(forceinline=True, **OPTIONS)(function)
    return kernel


def bare(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` at its first call, and keep the machine code where that can be written."""
    try:
        kernel = numba.njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # numba finds no place that it may write to
        kernel = numba.njit(**OPTIONS)(function)
    found: Callable[P, R] = kernel
    return found
