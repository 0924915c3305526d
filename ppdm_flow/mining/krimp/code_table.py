"""The code table, and its sizes in bits after the minimum description length principle."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.krimp.state import ELEMENTS, KrimpState, standard_bits

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CodeSizes:
    """Sizes in bits after the minimum description length principle: data and code table apart.

    ``data`` = L(D|CT) and ``table`` = L(CT|D), in bits.
    """

    data: float
    table: float

    @property
    def total(self) -> float:
        """Both together: what KRIMP minimizes."""
        return self.data + self.table


def encoded(usages: Counts, standard: Floats) -> CodeSizes:
    """Return the sizes of data and code table for the usages of all codes.

    ``standard`` are the codes' sizes in bits under the standard code table. A code of usage u out of t costs
    log2(t/u) bits; codes that are not in use cost nothing (Vreeken, van Leeuwen, Siebes 2011, definitions 2 to 4).
    """
    used = usages > 0
    counts = usages[used].astype(np.float64)
    lengths = np.log2(max(counts.sum(), 1)) - np.log2(counts)
    return CodeSizes(float(counts @ lengths), float((standard[used] + lengths).sum()))


@dataclass(frozen=True, slots=True, eq=False)
class CodeTable:
    """``itemsets`` of two items or more in standard cover order, with ``usages``; ``singles`` (items,) beside them.

    ``standard`` (items,): the bits of each item under the standard code table. ``sizes`` are those of data and table
    under this code table, ``start`` those under the singletons alone.
    """

    itemsets: ItemsetCollection
    usages: Counts
    singles: Counts
    standard: Floats
    sizes: CodeSizes
    start: CodeSizes

    @property
    def non_singletons(self) -> int:
        """How many itemsets of two items or more are in use."""
        return int(np.count_nonzero(self.usages))

    @property
    def compression(self) -> float:
        """L% of the papers, as a share: all bits over those of the data alone under the standard code table."""
        return self.sizes.total / self.start.data if self.start.data else 1.0


def read_off(s: KrimpState, database: ItemDatabase) -> CodeTable:
    """Return the code table of a state."""
    table = s.table
    slots = len(table.length)
    order = table.order[: table.numbers[ELEMENTS]]
    lengths = table.length[order].astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    items = table.items[order][np.arange(table.items.shape[1]) < lengths[:, None]]
    standard = standard_bits(database)
    usages, singles = table.usage[order], table.usage[slots:].copy()
    bits = np.concatenate([table.bits[order], standard])
    return CodeTable(
        ItemsetCollection(offsets, items, table.support[order]),
        usages,
        singles,
        standard,
        encoded(np.concatenate([usages, singles]), bits),
        encoded(database.supports, standard),
    )


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
    """The number of candidates to consider until the next report."""

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
