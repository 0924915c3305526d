"""Which candidates may be disclosed next, by kind."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]

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
        found = object.__new__(Openings)
        found._kind, found.begin = self._kind, self.begin
        found.members, found.count, found._place = self.members.copy(), self.count.copy(), self._place.copy()
        return found
