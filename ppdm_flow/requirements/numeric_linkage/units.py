"""Who is found: each record for itself, or a person by any of its rows; and what naming rows at random would find."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ppdm_flow.mining.exposure.numbers import Floats, Ints
from ppdm_flow.requirements.numeric_linkage.nearest import NearerCounts, shared


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """``records`` that are looked for, those of a person one after the other; ``firsts`` (units,) are their places.

    ``whole`` is of how many units they are a sample. ``own`` (records,) is how many released rows their person has.
    """

    records: Ints
    firsts: Ints
    whole: int
    own: Ints

    @property
    def alone(self) -> bool:
        """Whether each record is a unit."""
        return len(self.firsts) == len(self.records)

    def guesses(self, candidates: int, rows: int) -> Floats:
        """Return the share of units that naming 1, 2, … ``candidates`` of the ``rows`` at random finds."""
        named = np.arange(1.0, candidates + 1)
        sizes = np.diff(self.firsts, append=len(self.records))
        kinds, many = np.unique(np.column_stack((self.own[self.firsts], sizes)), axis=0, return_counts=True)
        found = np.zeros(candidates)
        for (own, records), units in zip(kinds.tolist(), many.tolist(), strict=True):
            each = np.array([_drawn(float(c), own, rows) for c in named]) if own > 1 else np.minimum(1.0, named / rows)
            found += units * (each if records == 1 else 1.0 - (1.0 - each) ** records)
        return found / len(self.firsts)

    def blocks(self, size: int) -> Iterator[tuple[slice, slice]]:
        """Yield units, some at a time, and the places of their records: about so many, or one unit's."""
        ends = np.append(self.firsts[1:], len(self.records))
        start = 0
        while start < len(self.firsts):
            stop = max(start + 1, int(np.searchsorted(ends, self.firsts[start] + size, side="right")))
            yield slice(start, stop), slice(int(self.firsts[start]), int(ends[stop - 1]))
            start = stop


def _drawn(candidates: float, own: int, rows: int) -> float:
    """Return the chance that one of ``own`` rows is among so many that are drawn of ``rows``."""
    nearer, upto, mine = (np.array([float(each)]) for each in (0, rows, own))
    return float(shared(nearer, upto, mine, int(candidates))[0])


@dataclass(frozen=True, slots=True, eq=False)
class LinkageMethod:
    """What one way finds: the chance of each unit (units,), and the sum of these for 1, 2, … candidates.

    ``guesses`` (candidates,) is what naming as many at random finds, ``whole`` of how many units these are a sample.
    """

    name: str
    chances: Floats
    hits: Floats
    guesses: Floats
    whole: int

    @staticmethod
    def of(name: str, places: NearerCounts, units: Units, candidates: int, rows: int) -> LinkageMethod:
        """Return what places say of units: a person is found by any of its records, each tried for itself."""
        guesses = units.guesses(candidates, rows)
        if units.alone:
            return LinkageMethod(name, places.chances(candidates), places.hits(candidates), guesses, units.whole)

        def of_people(named: int) -> Floats:
            return 1.0 - np.multiply.reduceat(1.0 - places.chances(named), units.firsts)

        hits = np.array([of_people(named).sum() for named in range(1, candidates + 1)])
        return LinkageMethod(name, of_people(candidates), hits, guesses, units.whole)
