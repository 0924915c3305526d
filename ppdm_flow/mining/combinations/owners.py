"""Owners and the codes that each has: items of a basket, or classes that a person's rows are in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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


# A hierarchy over codes as numbers: every node a range of codes, with what it costs to say no more than the node.


NONE = -1
"""No node: above a root, and where a code is left out."""


class CodeTree(NamedTuple):
    """Nodes 0 to n - 1; ``leaf`` has the node where each code begins, ``place`` each code's place in an order.

    In that order the codes below node u are those from ``low[u]`` up to ``high[u]``. ``up`` is the nearest node above
    with more codes below it, or NONE. ``price`` is how many values of the domain a node covers, 0 for a value itself;
    ``full_price`` is the price of saying nothing. Their share is the normalized certainty penalty.
    """

    low: Ints
    high: Ints
    up: Ints
    price: Ints
    leaf: Ints
    place: Codes
    full_price: int


def tree_of(parents: Sequence[int], leaf: Sequence[int], values: Sequence[int], full_price: int) -> CodeTree:
    """Return the tree of nodes by their parents (-1 for a root), for codes that begin at the nodes ``leaf``, each own.

    ``values`` are the values of the domain that each node covers. Raises ValueError where a node is above itself, or
    two codes begin at one node.
    """
    nodes = len(parents)
    code_of = {node: code for code, node in enumerate(leaf)}
    if len(code_of) != len(leaf):
        raise ValueError("two codes begin at one node")
    below: list[list[int]] = [[] for _ in range(nodes)]
    for node, parent in enumerate(parents):
        if parent != NONE:
            below[parent].append(node)
    low, high, place = np.zeros(nodes, np.int64), np.full(nodes, -1, np.int64), np.zeros(len(leaf), np.int32)
    up = np.full(nodes, NONE, dtype=np.int64)
    placed = 0
    stack = [(root, False) for root in reversed(range(nodes)) if parents[root] == NONE]
    while stack:
        node, done = stack.pop()
        if done:
            high[node] = placed
            continue
        low[node] = placed
        if node in code_of:
            place[code_of[node]] = placed
            placed += 1
        stack.append((node, True))
        stack += [(child, False) for child in reversed(below[node])]
    if (high < 0).any():
        raise ValueError("a node is above itself")
    for node, parent in enumerate(parents):
        above = parent
        while above != NONE and high[above] - low[above] == high[node] - low[node]:
            above = parents[above]
        up[node] = above
    inner = np.asarray(values, dtype=np.int64)
    return CodeTree(low, high, up, np.where(inner > 1, inner, 0), np.asarray(leaf, np.int64), place, full_price)


def flat(width: int) -> CodeTree:
    """Return the tree of codes with nothing above them."""
    own = np.arange(width, dtype=np.int64)
    none = np.full(width, NONE, dtype=np.int64)
    return CodeTree(own, own + 1, none, np.zeros(width, np.int64), own, own.astype(np.int32), width)
