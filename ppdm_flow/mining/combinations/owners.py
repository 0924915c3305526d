"""Owners and the codes that each has: items of a basket, or classes that a person's rows are in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Owners:
    """Owner o has ``codes[begins[o]:begins[o + 1]]``, ascending and distinct, each so many ``times``.

    ``begins`` int64 of shape (owners + 1,), from 0; ``codes`` int32 of 0 to ``width`` - 1; ``times`` int32, at least 1;
    ``weights`` int64 of shape (owners,), 0 or more: for how many an owner counts. ``repeated``: whether a combination
    may have a code several times, which only those own who have it as often; otherwise ``times`` are all 1.
    ``persons`` int64 of shape (owners,), ascending from 0: whose each owner is, where owners are rows of people; those
    of one person, of weight 1, count once. Raises ValueError where this does not fit.
    """

    begins: Ints
    codes: Codes
    times: Codes
    weights: Ints
    width: int
    repeated: bool = False
    persons: Ints | None = None

    def __post_init__(self) -> None:
        if len(self.begins) == 0 or self.begins[0] != 0 or self.begins[-1] != len(self.codes):
            raise ValueError("`begins` does not span the codes")
        if len(self.times) != len(self.codes) or len(self.weights) != len(self):
            raise ValueError("each code needs its `times`, and each owner a weight")
        if self.persons is not None:
            ascending = len(self.persons) == len(self) and bool((np.diff(self.persons, prepend=0) >= 0).all())
            if not ascending or not bool((self.weights == 1).all()):
                raise ValueError("`persons` must ascend, one for each owner, and owners of people have the weight 1")

    def __len__(self) -> int:
        return len(self.begins) - 1

    @classmethod
    def of_sets(cls, begins: Ints, codes: Codes, weights: Ints, width: int, persons: Ints | None = None) -> Owners:
        """Return owners of sets of codes, none of them twice."""
        return cls(begins, codes, np.ones(len(codes), dtype=np.int32), weights, width, persons=persons)

    @classmethod
    def of_bags(cls, bags: Sequence[Mapping[int, int]], width: int, weights: Sequence[int] | None = None) -> Owners:
        """Build few owners from how often each has each code (tests and examples).

        >>> Owners.of_bags([{0: 1, 1: 2}], 2).times.tolist()
        [1, 2]
        """
        begins = np.cumsum([0, *map(len, bags)], dtype=np.int64)
        codes = np.array([c for bag in bags for c in sorted(bag)], dtype=np.int32)
        times = np.array([bag[c] for bag in bags for c in sorted(bag)], dtype=np.int32)
        own = np.ones(len(bags), dtype=np.int64) if weights is None else np.asarray(weights, dtype=np.int64)
        return cls(begins, codes, times, own, width, repeated=True)

    @property
    def counted_as(self) -> Ints:
        """The number under which each owner counts, ascending: that of its person, or its own."""
        return np.arange(len(self), dtype=np.int64) if self.persons is None else self.persons

    def rows(self) -> Ints:
        """Return the owner of every entry of ``codes``."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.begins))

    def occurrences(self) -> Ints:
        """Return how often each code occurs, with weights: int64 of shape (width,)."""
        out = np.zeros(self.width, dtype=np.int64)
        np.add.at(out, self.codes, self.times * self.weights[self.rows()])
        return out

    def mapped(self, code_map: Codes, width: int) -> Owners:
        """Replace code ``c`` by ``code_map[c]``; those of -1 go, and those that become one are added up, or one.

        ``code_map`` is int32 of shape (self.width,), with codes below the new ``width``.
        """
        new = np.asarray(code_map, dtype=np.int64)[self.codes]
        stays = new >= 0
        keys = self.rows()[stays] * max(1, width) + new[stays]
        distinct, place = np.unique(keys, return_inverse=True)
        if self.repeated:
            times = np.bincount(place, self.times[stays], len(distinct)).astype(np.int32)
        else:
            times = np.ones(len(distinct), dtype=np.int32)
        begins = np.zeros(len(self) + 1, dtype=np.int64)
        np.cumsum(np.bincount(distinct // max(1, width), minlength=len(self)), out=begins[1:])
        codes = (distinct % max(1, width)).astype(np.int32)
        return Owners(begins, codes, times, self.weights, width, self.repeated, self.persons)
