"""Categories of known records and of released rows, as codes: equal ones agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdm_flow.mining.exposure.numbers import Floats, Ints
from ppdm_flow.requirements.numeric_linkage.truth import Truth

HIDDEN = -1
"""The code of a released cell that shows nothing,"""
ELSEWHERE = -2
"""of a known category that no released row shows,"""
UNKNOWN = -3
"""and of one that the intruder does not know."""


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """``known`` (records, columns), ``released`` (rows, columns) and those of people who are in neither, ``others``.

    Each released column of a category stands for itself. ``hidden`` (columns,) is what a hidden cell counts: the
    share of own rows that show another category.
    """

    known: Ints
    released: Ints
    others: Ints
    hidden: Floats

    @staticmethod
    def of(known: Ints, released: Ints, others: Ints, truth: Truth) -> Codes:
        """Return codes whose hidden cells count what the own rows have on average."""
        has = truth.row >= 0
        own, mine = released[truth.row[has]], known[has]
        shown = (own != HIDDEN) & (mine != UNKNOWN)
        return Codes(known, released, others, (shown & (own != mine)).sum(axis=0) / np.maximum(1, shown.sum(axis=0)))

    @staticmethod
    def none(records: int, rows: int, others: int) -> Codes:
        """Return no categories at all."""
        known, released, outside = (np.zeros((each, 0), np.int64) for each in (records, rows, others))
        return Codes(known, released, outside, np.zeros(0))

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.hidden)

    def apart(self, points: Ints, rows: Ints) -> Floats:
        """Return how many categories differ, for ``points`` and ``rows`` (…, columns), which are broadcast."""
        found: Floats = np.zeros(np.broadcast_shapes(points.shape[:-1], rows.shape[:-1]))
        for j, hidden in enumerate(self.hidden):
            differ, unseen = points[..., j] != rows[..., j], rows[..., j] == HIDDEN
            found += np.where(unseen, hidden, differ) if unseen.any() else differ
        return found
