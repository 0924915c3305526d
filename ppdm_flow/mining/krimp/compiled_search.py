"""A search for a code table by compiled code: the state of the kernels, with room that grows."""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.itemsets.collection import Counts, Items, ItemsetCollection
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.krimp.code_table import CodeTable, read_off
from ppdm_flow.mining.krimp.joins import BestPartners
from ppdm_flow.mining.krimp.search import CONSIDER, DONE, JOIN, MORE_SLOTS, PUT, search
from ppdm_flow.mining.krimp.state import ACCEPTED, ELEMENTS, PRUNED, KrimpState, begin_state, with_pool, with_slots

_NO_CANDIDATES = ItemsetCollection(
    np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
)


class CompiledSearch:
    """A code table of a database, with itemsets of at most ``longest`` items; with pairs of codes, for SLIM."""

    def __init__(self, database: ItemDatabase, longest: int, slots: int, *, pairing: bool) -> None:
        self.state = begin_state(database, longest, slots, pairing=pairing)
        self._database = database
        self._best = _no_partners(self.state)

    @property
    def elements(self) -> int:
        """How many itemsets of two items or more the table has."""
        return int(self.state.table.numbers[ELEMENTS])

    @property
    def accepted(self) -> int:
        """How many itemsets were accepted, but for those that were put."""
        return int(self.state.table.numbers[ACCEPTED])

    @property
    def pruned(self) -> int:
        """How many itemsets were pruned."""
        return int(self.state.table.numbers[PRUNED])

    def put(self, itemsets: ItemsetCollection) -> None:
        """Accept all itemsets, whatever they cost."""
        self._run(itemsets, PUT, 0, len(itemsets), 0, pruning=False)
        self.state.table.numbers[ACCEPTED] = 0

    def consider(self, candidates: ItemsetCollection, start: int, stop: int, *, pruning: bool) -> float:
        """Accept of the candidates from ``start`` to ``stop`` what makes data and table smaller together.

        Returns by how many bits these grew, not above 0.
        """
        return self._run(candidates, CONSIDER, start, stop, 0, pruning=pruning)[1]

    def join(self, tries: int, least: int, *, pruning: bool) -> tuple[int, float]:
        """Try so many unions of two codes, of at least ``least`` rows.

        Returns how many there were, fewer where no more is of use, and by how many bits the total grew.
        """
        return self._run(_NO_CANDIDATES, JOIN, 0, tries, least, pruning=pruning)

    def read_off(self) -> CodeTable:
        """Return the code table as it is."""
        return read_off(self.state, self._database)

    def _run(
        self, itemsets: ItemsetCollection, task: int, start: int, stop: int, least: int, *, pruning: bool
    ) -> tuple[int, float]:
        """Carry out the kernel, with more room where it asks for that; return where it ended, and bits grown."""
        sets, grown = _arrays(itemsets), 0.0
        while True:
            start, why, more = search(self.state, self._best, *sets, task, start, stop, least, pruning)
            grown += more
            if why == DONE:
                return start, grown
            if why == MORE_SLOTS:
                self.state = with_slots(self.state)
                self._best = _no_partners(self.state)
            else:
                self.state = with_pool(self.state)


def _arrays(itemsets: ItemsetCollection) -> tuple[Counts, Items, Counts]:
    """Return offsets, items and supports of the types that the kernel is compiled for."""
    return (
        np.ascontiguousarray(itemsets.offsets, dtype=np.int64),
        np.ascontiguousarray(itemsets.items, dtype=np.int32),
        np.ascontiguousarray(itemsets.supports, dtype=np.int64),
    )


def _no_partners(s: KrimpState) -> BestPartners:
    """Return what SLIM knows of partners before it has looked; where no pairs are counted, nothing ever."""
    size = len(s.pairing.pairs)
    return BestPartners(
        np.full(size, -1, dtype=np.int32),
        np.zeros(size),
        np.zeros(size, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(s.table.items.shape[1] + 1, dtype=np.int32),
    )
