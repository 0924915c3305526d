"""The information side of the search: what each candidate tells, as rows leave the shelves."""

from __future__ import annotations

import copy

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.progressive_disclosure.candidates import Candidates
from ppdm_flow.anonymizers.progressive_disclosure.score import NEGLIGIBLE, gains, parts_of

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Information:
    """Gains by *kind*: candidates of one shelf with equal class counts have equal gains, and are many at times.

    ``left`` (shelves, classes): the rows that are still on each shelf. ``kept`` is the information in the disclosed
    table, in bits a row: summed over attributes, that of the class and the attribute's cells (or, unsupervised, the
    entropy of the cells). Every disclosure adds the share of rows on its shelf times its gain.
    """

    def __init__(self, candidates: Candidates, total: int, *, supervised: bool) -> None:
        self.candidates = candidates
        self.supervised = supervised
        self.total = max(1, total)
        self.rows = candidates.counts.sum(axis=1)
        keyed = np.column_stack([candidates.shelf, candidates.counts])
        kinds, kind = np.unique(keyed, axis=0, return_inverse=True)
        self.kind = kind.astype(np.int32).reshape(-1)
        self.counts = np.ascontiguousarray(kinds[:, 1:])
        self.parts = parts_of(self.counts, supervised=supervised)
        shelves = int(max(candidates.shelf.max(initial=-1), candidates.own_shelf.max(initial=-1))) + 1
        shelves = max(shelves, len(candidates.stuck))
        self.bounds = np.searchsorted(kinds[:, 0], np.arange(shelves + 1))
        self.live = np.bincount(self.kind[self.rows > 0], minlength=len(kinds)).astype(np.int64)
        self.left = np.zeros((shelves, candidates.counts.shape[1]), dtype=np.int64)
        np.add.at(self.left, candidates.shelf, candidates.counts)
        self.left[: len(candidates.stuck)] += candidates.stuck
        self.on_shelf = self.left.sum(axis=1)
        self.gain: Floats = np.zeros(len(kinds))
        self.kept = 0.0
        self.hopeful = self._hopeful()
        for shelf in range(shelves):
            self._refresh(shelf)

    def of(self, candidate: int) -> float:
        """Return the gain of one candidate, in bits."""
        return max(0.0, float(self.gain[self.kind[candidate]]))

    def added(self, candidate: int) -> float:
        """Return what disclosing it would add to ``kept``."""
        return self.of(candidate) * float(self.on_shelf[self.candidates.shelf[candidate]]) / self.total

    def disclose(self, candidate: int) -> None:
        """Take the candidate off its shelf."""
        self.kept += self.added(candidate)
        shelf = int(self.candidates.shelf[candidate])
        self.left[shelf] -= self.candidates.counts[candidate]
        self.on_shelf[shelf] -= self.rows[candidate]
        self.forget(candidate)
        self._refresh(shelf)

    def forget(self, candidate: int) -> None:
        """Stop computing the gain for this candidate's sake."""
        self.live[self.kind[candidate]] -= 1

    def copy(self) -> Information:
        """Return a state that goes its own way."""
        copied = copy.copy(self)
        copied.live, copied.left, copied.gain = self.live.copy(), self.left.copy(), self.gain.copy()
        copied.on_shelf = self.on_shelf.copy()
        return copied

    def _refresh(self, shelf: int) -> None:
        first, last = int(self.bounds[shelf]), int(self.bounds[shelf + 1])
        gains(self.counts, self.parts, first, last, self.live, self.left[shelf], self.supervised, self.gain)

    def _hopeful(self) -> npt.NDArray[np.bool_]:
        """Which inner candidates hold leaves that tell something apart, even where they themselves tell nothing."""
        own = self.candidates
        hopeful = np.zeros(len(own), dtype=np.bool_)
        for y in np.flatnonzero(own.own_shelf >= 0)[::-1].tolist():  # children come after their parents
            below = own.below(y)
            below = below[self.rows[below] > 0]
            hopeful[y] = bool(hopeful[below].any()) or self._tells(below)
        return hopeful

    def _tells(self, parts: npt.NDArray[np.int32]) -> bool:
        counts = self.candidates.counts[parts]
        if not self.supervised:
            return len(parts) > 1
        total = parts_of(counts.sum(axis=0, keepdims=True), supervised=True)[0]
        within = parts_of(counts, supervised=True).sum()
        return bool((total - within) / max(1, int(counts.sum())) > NEGLIGIBLE)
