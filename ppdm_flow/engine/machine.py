"""What the operating system says of this process and of time."""

from __future__ import annotations

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


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)
