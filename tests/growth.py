"""How the processor time of some work grows with its size: two runs on one machine, never a number of seconds."""

from __future__ import annotations

import time
from collections.abc import Callable


def growth(work: Callable[[int], object], small: int, large: int) -> float:
    """Return how many times as long ``work`` takes with the large size as with the small one: the best of three."""
    return _seconds(work, large) / max(_seconds(work, small), 1e-4)


def _seconds(work: Callable[[int], object], size: int) -> float:
    best = float("inf")
    for _ in range(3):
        begun = time.thread_time()
        work(size)
        best = min(best, time.thread_time() - begun)
    return best
