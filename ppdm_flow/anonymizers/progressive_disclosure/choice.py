"""Choosing what to disclose next, without looking at every candidate.

No score exceeds its gain, and confidences only rise: what was seen of a candidate before bounds its score from above.
So candidates are looked at by falling bound, until the best score found is above all bounds that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.progressive_disclosure.channel import Groups
from ppdm_flow.anonymizers.progressive_disclosure.information import Information
from ppdm_flow.anonymizers.progressive_disclosure.score import NEGLIGIBLE, Offers, best_of, leaders, scores
from ppdm_flow.anonymizers.progressive_disclosure.state import Bools, Floats, Places

_ANY = -1.0
_BROKEN = -1.0

Integers = npt.NDArray[np.int64]

_CLOSED = -1


class Openings:
    """A set of candidates: those of kind k are ``members[begin[k] : begin[k] + count[k]]``, in no order."""

    def __init__(self, kind: Places, kinds: int) -> None:
        self._kind = kind
        self.begin: Integers = np.concatenate([[0], np.cumsum(np.bincount(kind, minlength=kinds))]).astype(np.int64)
        self.members: Places = np.zeros(len(kind), dtype=np.int32)
        self.count: Integers = np.zeros(kinds, dtype=np.int64)
        self._place: Integers = np.full(len(kind), _CLOSED, dtype=np.int64)

    def __contains__(self, candidate: int) -> bool:
        return bool(self._place[candidate] != _CLOSED)

    def __len__(self) -> int:
        return int(self.count.sum())

    def open(self, candidates: Iterable[int]) -> None:
        """Take in candidates."""
        for candidate in candidates:
            if candidate not in self:
                kind = self._kind[candidate]
                place = self.begin[kind] + self.count[kind]
                self.members[place], self._place[candidate] = candidate, place
                self.count[kind] += 1

    def close(self, candidate: int) -> None:
        """Leave a candidate out; the last one of its kind takes its place."""
        if candidate in self:
            kind, place = self._kind[candidate], self._place[candidate]
            self.count[kind] -= 1
            last = self.members[self.begin[kind] + self.count[kind]]
            self.members[place], self._place[last] = last, place
            self._place[candidate] = _CLOSED

    def copy(self) -> Openings:
        """Return a set that goes its own way."""
        copied = object.__new__(Openings)
        copied._kind, copied.begin = self._kind, self.begin
        copied.members, copied.count, copied._place = self.members.copy(), self.count.copy(), self._place.copy()
        return copied


class Choice:
    """Among the open candidates; ``close`` is told of those that would break a bound."""

    def __init__(
        self,
        groups: Sequence[Groups],
        information: Information,
        offers: Offers,
        openings: Openings,
        close: Callable[[int], None],
    ) -> None:
        self._groups = groups
        self._information = information
        self._offers = offers
        self._open = openings
        self._close = close
        self._candidates: Places = np.empty(len(openings.members), dtype=np.int32)
        self._rise: Floats = np.empty(len(openings.members))
        self._score: Floats = np.empty(len(openings.members))
        self._exact: Bools = np.empty(len(openings.members), dtype=np.bool_)
        self._closed = False
        self._seen: set[int] = set()

    def best(self) -> tuple[int, float] | None:
        """Return the valid candidate with the best score, and what it raises confidences by; ties go to the first."""
        self._seen.clear()
        place, count = -1, 1
        while place < 0:
            count, gain = self._gather(np.inf)
            if not count:
                return None
            place = self._settled(count)
            if gain <= NEGLIGIBLE:
                break
        floor = (float(self._score[place]) if place >= 0 else 0.0) - NEGLIGIBLE
        more, _ = self._gather(floor)
        if more != count or self._closed:
            count, place = more, self._settled(more)
        return None if place < 0 else self._first(count, max(0.0, float(self._score[place]) - NEGLIGIBLE))

    def _gather(self, floor: float) -> tuple[int, float]:
        """Find the open candidates that gain at least ``floor``; infinite: those that gain most."""
        gain, open_ = self._information.gain, self._open
        leading: tuple[int, float] = leaders(gain, open_.begin, open_.count, open_.members, floor, self._candidates)
        return leading

    def _settled(self, count: int) -> int:
        """Bound all scores, then look at the best until it is known to be so; return its place, -1 for none."""
        self._rise[:count], self._exact[:count], self._closed = 0.0, False, False
        for groups in self._groups:
            groups.rises(self._candidates, count, self._rise)
        scores(self._offers, self._candidates, count, self._rise, self._score)
        while (place := best_of(self._candidates, count, self._score, _ANY)) >= 0 and not self._exact[place]:
            self._look(place)
        return place

    def _first(self, count: int, floor: float) -> tuple[int, float] | None:
        """Return the first candidate that scores at least ``floor``."""
        while (place := best_of(self._candidates, count, self._score, floor)) >= 0:
            if self._exact[place]:
                return int(self._candidates[place]), float(self._rise[place])
            self._look(place)
        return None

    def _look(self, place: int) -> None:
        """Score one candidate exactly. What was looked at already in this choice, is bounded so."""
        candidate, rise = int(self._candidates[place]), 0.0
        self._exact[place] = True
        if candidate in self._seen:
            return
        self._seen.add(candidate)
        for groups in self._groups:
            rise = groups.look(candidate, rise)
            if rise < 0.0:
                self._score[place] = _BROKEN
                self._closed = True
                self._close(candidate)
                return
        only = slice(place, place + 1)
        self._rise[place] = rise
        scores(self._offers, self._candidates[only], 1, self._rise[only], self._score[only])
