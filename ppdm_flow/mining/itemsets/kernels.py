"""Kernels whose parts lie in several modules, and pass states of many arrays to each other.

Counting references to the arrays at every call costs ten times the work itself (KRIMP on nursery: 3.5 s with it, 0.34
without): parts that allocate nothing are compiled without. The option of numba that does it has no public name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from ppdm_flow.sdk.compiled import Kernel, Part, Steps, compiled, tolerant

P = ParamSpec("P")
R = TypeVar("R")

UNCOUNTED: dict[str, Any] = {"nogil": True, "_nrt": False}
PART: dict[str, Any] = {**UNCOUNTED, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function``, which allocates nothing, into every kernel that calls it."""
    return Part(function, {**PART, "forceinline": True})


def spliced(function: Callable[P, R]) -> Callable[P, R]:
    """Splice the source of ``function``, which allocates nothing, into its caller: for long ones with one caller.

    Else they are compiled twice, by themselves and as a part of their caller.
    """
    return Part(function, {**PART, "inline": "always"})


def part(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function``, which allocates nothing, for kernels to call."""
    return Part(function, PART)


def entry(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function``, which allocates nothing, for Python to call, and keep it where that can be written."""
    return tolerant(Kernel(function, options=UNCOUNTED))


def entry_for(steps: Steps, plain: Callable[..., Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Do the same, and let Python do by ``plain`` what is little work: see ``compiled_for``."""
    return lambda function: tolerant(Kernel(function, steps, plain, options=UNCOUNTED))


def allocating(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function``, which may make arrays, at its first call, and keep it where that can be written."""
    return compiled(function)
