"""Parts of kernels that lie in several modules, and pass states of many arrays to each other.

Counting references to these at every call would cost ten times the work itself: kernels borrow them (``borrowed``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from ppdm_flow.sdk.compiled import KernelPart

P = ParamSpec("P")
R = TypeVar("R")

PART: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` into every kernel that calls it."""
    return KernelPart(function, {**PART, "forceinline": True})


def spliced(function: Callable[P, R]) -> Callable[P, R]:
    """Splice the source of ``function`` into its caller: for long ones with one caller.

    Else they are compiled twice, by themselves and as a part of their caller.
    """
    return KernelPart(function, {**PART, "inline": "always"})


def part(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` for kernels to call."""
    return KernelPart(function, PART)
