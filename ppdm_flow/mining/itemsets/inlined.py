"""Kernels that own no memory: without reference counts, which cost more than the work where a state has many arrays.

What is compiled this way may read and write arrays and take slices of them, but allocates none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numba

P = ParamSpec("P")
R = TypeVar("R")


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` into every kernel that calls it."""
    kernel: Callable[P, R] = numba.njit(nogil=True, forceinline=True, _nrt=False)(function)
    return kernel


def bare(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` for itself."""
    kernel: Callable[P, R] = numba.njit(nogil=True, cache=True, _nrt=False)(function)
    return kernel
