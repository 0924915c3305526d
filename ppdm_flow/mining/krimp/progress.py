"""What a caller hears of a search for a code table, and how it stops one."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ppdm_flow.mining.krimp.code_table import CodeSizes

EVERY = 0.25
"""Seconds between two reports, about."""


@dataclass(frozen=True, slots=True)
class KrimpProgress:
    """``position`` of ``candidates`` (None where nobody knows how many will come), ``bits`` as they are now.

    ``compression`` is L% of the papers, as a share; ``elements`` counts itemsets of two items or more in the table.
    """

    position: int
    candidates: int | None
    bits: float
    compression: float
    elements: int


Watch = Callable[[KrimpProgress], bool]
"""Is told the progress; the search goes on while it returns True."""


class ProgressThrottle:
    """How many candidates to consider until the next report."""

    def __init__(self, start: CodeSizes, candidates: int | None) -> None:
        self.start, self.candidates = start, candidates
        self.stride = 1000
        self.since = time.monotonic()

    def tell(self, elements: int, bits: float, position: int, watch: Watch | None) -> bool:
        """Report, and adapt the stride to the time that the last one took; return whether to go on."""
        now = time.monotonic()
        factor = EVERY / max(now - self.since, 1e-6)
        self.stride = int(np.clip(self.stride * np.clip(factor, 0.25, 4.0), 100, 1 << 24))
        self.since = now
        if watch is None:
            return True
        share = bits / self.start.data if self.start.data else 1.0
        return watch(KrimpProgress(position, self.candidates, bits, share, elements))
