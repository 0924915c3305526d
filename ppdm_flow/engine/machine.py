"""Facts from the operating system about this process and about time."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import sys
from datetime import UTC, datetime


def peak_mb() -> float:
    """Return the largest resident memory so far, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT = 1 << 25
"""Bytes: what is below stays with the process when it is freed. It is the most that glibc takes."""


def keep_freed_memory() -> None:
    """Let freed arrays of a partition be used for the next: else glibc returns them, and every page is made anew."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another C library
            mallopt = ctypes.CDLL(None).mallopt
            mallopt(_M_MMAP_THRESHOLD, _KEPT)
            mallopt(_M_TRIM_THRESHOLD, 2 * _KEPT)


def return_freed_memory() -> None:
    """Give memory that was freed back to the system, where a stage ends that took much of it."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)
