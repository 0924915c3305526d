"""Mondrian: cut the table again and again while both sides keep the models (LeFevre, DeWitt, Ramakrishnan, ICDE 2006).

Partitions of one depth are cut together, so that a model looks at all their halves at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.local_recoding.kernels import divided, held, proposed
from ppdm_flow.mining.local_recoding.scales import Scale, Scales, flat
from ppdm_flow.mining.recoding.grouping import Cells, Grouping
from ppdm_flow.mining.recoding.kernels import merged
from ppdm_flow.mining.recoding.models import Model

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """``codes`` (items, attributes) of quasi-identifiers and ``weights`` (items,), how many records each stands for.

    ``sensitive``: codes (items,) of each attribute that models are about, ``values`` how many there are. A relaxed cut
    divides the items of one value, earlier ones first; it never divides an item.
    """

    codes: Codes
    weights: Ints
    scales: tuple[Scale, ...]
    sensitive: tuple[Codes, ...] = ()
    values: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.codes.shape != (len(self.weights), len(self.scales)):
            raise ValueError("codes, weights and scales differ in length")


@dataclass(frozen=True, slots=True)
class Manner:
    """``k``: records of each part. ``by_gain``: the cut that saves most, else the widest attribute at its median.

    ``relaxed``: records of one value may go to both sides.
    """

    k: int
    by_gain: bool = True
    relaxed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Class c has the items ``order[begins[c]:ends[c]]``.

    ``cuts`` (nodes, 3) and ``after`` (nodes, 2) are the tree as `kernels.walked` reads it, right for strict cuts only.
    """

    order: Ints
    begins: Ints
    ends: Ints
    cuts: Ints
    after: Ints

    def __len__(self) -> int:
        return len(self.begins)

    @property
    def classes(self) -> Ints:
        """The class of each item."""
        out = np.empty(len(self.order), dtype=np.int64)
        out[self.order] = np.repeat(np.arange(len(self)), self.ends - self.begins)
        return out


class _Parts(NamedTuple):
    begins: Ints
    ends: Ints
    place: Ints  # of the part in the tree: 2 node + side
    tries: npt.NDArray[np.int8]

    def take(self, which: npt.NDArray[np.bool_]) -> _Parts:
        return _Parts(self.begins[which], self.ends[which], self.place[which], self.tries[which])


@dataclass(slots=True, eq=False)
class _Growth:
    """The tree while it grows; ``leaves`` are parts that no cut divides."""

    cuts: list[Ints] = field(default_factory=list)
    places: list[Ints] = field(default_factory=list)
    leaves: list[_Parts] = field(default_factory=list)
    nodes: int = 0

    def grow(self, parts: _Parts, cuts: Ints, middles: Ints) -> _Parts:
        """Add a node for each part and return the halves."""
        place = 2 * (self.nodes + np.arange(len(middles)))
        self.nodes += len(middles)
        self.cuts.append(cuts[:, :3])
        self.places.append(parts.place)
        begins = np.stack([parts.begins, middles], axis=1).ravel()
        ends = np.stack([middles, parts.ends], axis=1).ravel()
        tries = np.zeros((len(begins), parts.tries.shape[1]), dtype=np.int8)
        return _Parts(begins, ends, np.stack([place, place + 1], axis=1).ravel(), tries)

    def finished(self, order: Ints) -> Partition:
        """Number the leaves by where they stand, so that the result does not depend on when they were found."""
        begins = np.concatenate([p.begins for p in self.leaves])
        rank = np.argsort(begins)
        ends, place = (np.concatenate([getattr(p, n) for p in self.leaves])[rank] for n in ("ends", "place"))
        cuts = np.concatenate([np.empty((0, 3), dtype=np.int64), *self.cuts])
        after = np.empty(2 * len(cuts), dtype=np.int64)
        if len(cuts):
            nodes = np.concatenate(self.places)
            after[nodes[1:]] = np.arange(1, len(nodes))
            after[place] = -1 - np.arange(len(place))
        return Partition(order, begins[rank], ends, cuts, after.reshape(-1, 2))


def keeps_all(items: Items, order: Ints, begins: Ints, ends: Ints, models: Sequence[Model]) -> Bools:
    """Return which parts keep every model; distributions are compared with that of all items."""
    kept = np.ones(len(begins), dtype=np.bool_)
    if not models:
        return kept
    grouping = Grouping((), order[begins], held(items.weights, order, begins, ends), _cells(items, order, begins, ends))
    for model in models:
        at = model.attribute
        base = np.zeros(0)
        if at is not None:
            base = np.bincount(items.sensitive[at], items.weights, items.values[at]) / max(1, items.weights.sum())
        kept &= model.keeps(grouping, base)
    return kept


def _cells(items: Items, order: Ints, begins: Ints, ends: Ints) -> tuple[Cells, ...]:
    sizes = ends - begins
    first = np.repeat(begins - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    members = order[np.arange(sizes.sum()) + first]
    ids = np.repeat(np.arange(len(begins)), sizes)
    each, weights = np.arange(len(members) + 1), items.weights[members]
    pairs = zip(items.sensitive, items.values, strict=True)
    return tuple(Cells(*merged(each, codes[members], weights, ids, len(begins), size)) for codes, size in pairs)


def partition(items: Items, manner: Manner, models: Sequence[Model] = ()) -> Partition | None:
    """Cut as long as both sides have ``manner.k`` records and keep ``models``; None where the whole table does not.

    Models must be such that two parts that keep them keep them together.
    """
    n, d = items.codes.shape
    order, growth, scales = np.arange(n), _Growth(), flat(items.scales)
    everything = np.zeros(1, dtype=np.int64), np.full(1, n, dtype=np.int64)
    if items.weights.sum() < manner.k or not n or not keeps_all(items, order, *everything, models).all():
        return None
    parts = _Parts(*everything, np.zeros(1, dtype=np.int64), np.zeros((1, d), dtype=np.int8))
    while len(parts.begins):
        parts = _cut(items, manner, models, order, parts, growth, scales)
    return growth.finished(order)


def _cut(
    items: Items, manner: Manner, models: Sequence[Model], order: Ints, parts: _Parts, growth: _Growth, scales: Scales
) -> _Parts:
    """Cut every part once; return those to look at again."""
    begins, ends = parts.begins, parts.ends
    cuts = proposed(
        items.codes, items.weights, order, begins, ends, parts.tries, manner.k, manner.by_gain, manner.relaxed, scales
    )
    some = cuts[:, 0] >= 0
    growth.leaves.append(parts.take(~some))
    parts, cuts = parts.take(some), cuts[some]
    before = order.copy() if models else order
    middles = divided(items.codes, items.weights, order, parts.begins, parts.ends, cuts)
    good = _both(items, manner, models, order, parts, middles)
    bad = parts.take(~good)
    _restore(order, before, bad)
    j = cuts[~good, 0]
    bad.tries[np.arange(len(j)), j] += 1 if manner.by_gain else 2
    grown = growth.grow(parts.take(good), cuts[good], middles[good])
    return _Parts(*(np.concatenate([a, b]) for a, b in zip(grown, bad, strict=True)))


def _both(items: Items, manner: Manner, models: Sequence[Model], order: Ints, parts: _Parts, middles: Ints) -> Bools:
    """Return where both halves keep everything. Items of a relaxed cut may weigh too much to be divided as wanted."""
    begins = np.concatenate([parts.begins, middles])
    ends = np.concatenate([middles, parts.ends])
    good = held(items.weights, order, begins, ends) >= manner.k
    good[good] = keeps_all(items, order, begins[good], ends[good], models)
    return np.asarray(good.reshape(2, -1).all(axis=0))


def _restore(order: Ints, before: Ints, bad: _Parts) -> None:
    sizes = bad.ends - bad.begins
    if before is order or not len(sizes):
        return
    first = np.repeat(bad.begins - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    places = np.arange(sizes.sum()) + first
    order[places] = before[places]
