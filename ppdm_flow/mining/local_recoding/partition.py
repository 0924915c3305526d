"""Mondrian: cut the table again and again while both sides keep the models (LeFevre, DeWitt, Ramakrishnan, ICDE 2006).

Partitions of one depth are cut together, so that a model looks at all their halves at once.

Where people count, two parts that keep a model need not keep it together: a person may have one value in one part and
another value in the other. So a part that breaks a model may be cut as well, as long as both sides have k people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.class_people.seen import ClassPeople, PersonalClasses
from ppdm_flow.mining.local_recoding.kernels import divided, held_people, partition_sizes, proposed
from ppdm_flow.mining.local_recoding.scales import OrderedScale, Scales, flat
from ppdm_flow.mining.local_recoding.tree import Growth, Partition, Parts
from ppdm_flow.mining.recoding.grouping import ClassCells, RowGrouping
from ppdm_flow.mining.recoding.kernels import merged
from ppdm_flow.mining.recoding.models import ClassModel

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class WeightedItems:
    """``codes`` (items, attributes) of quasi-identifiers and ``weights`` (items,), the number of records of each.

    ``sensitive``: codes (items,) of each attribute that models are about, ``values`` how many there are. A relaxed cut
    divides the items of one value, earlier ones first; it never divides an item. ``people``: where they count, those
    of the items, each person's items side by side, persons ascending.
    """

    codes: Codes
    weights: Ints
    scales: tuple[OrderedScale, ...]
    sensitive: tuple[Codes, ...] = ()
    values: tuple[int, ...] = ()
    people: ClassPeople | None = None

    def __post_init__(self) -> None:
        if self.codes.shape != (len(self.weights), len(self.scales)):
            raise ValueError("codes, weights and scales differ in length")
        if self.people is not None and (np.diff(self.people.persons) < 0).any():
            raise ValueError("items must be in the order of their persons")

    @property
    def persons(self) -> Ints:
        """The person of each item; none where records count."""
        return np.zeros(0, dtype=np.int64) if self.people is None else self.people.persons


@dataclass(frozen=True, slots=True)
class SplitOptions:
    """``k``: records of each part. ``by_gain``: the cut that saves most, else the widest attribute at its median.

    ``relaxed``: records of one value may go to both sides.
    """

    k: int
    by_gain: bool = True
    relaxed: bool = False


def keeps_all(items: WeightedItems, order: Ints, begins: Ints, ends: Ints, models: Sequence[ClassModel]) -> Bools:
    """Return which parts keep every model; distributions are compared with that of all items."""
    if items.people is not None:
        return items.people.keeps(PersonalClasses(order, begins, ends), models)
    kept = np.ones(len(begins), dtype=np.bool_)
    if not models:
        return kept
    grouping = RowGrouping(
        (), order[begins], partition_sizes(items.weights, order, begins, ends), _cells(items, order, begins, ends)
    )
    for model in models:
        at = model.attribute
        base = np.zeros(0)
        if at is not None:
            base = np.bincount(items.sensitive[at], items.weights, items.values[at]) / max(1, items.weights.sum())
        kept &= model.keeps(grouping, base)
    return kept


def _cells(items: WeightedItems, order: Ints, begins: Ints, ends: Ints) -> tuple[ClassCells, ...]:
    sizes = ends - begins
    first = np.repeat(begins - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    members = order[np.arange(sizes.sum()) + first]
    ids = np.repeat(np.arange(len(begins)), sizes)
    each, weights = np.arange(len(members) + 1), items.weights[members]
    pairs = zip(items.sensitive, items.values, strict=True)
    return tuple(ClassCells(*merged(each, codes[members], weights, ids, len(begins), size)) for codes, size in pairs)


def partition(items: WeightedItems, manner: SplitOptions, models: Sequence[ClassModel] = ()) -> Partition | None:
    """Cut as long as both sides have ``manner.k`` records and keep ``models``; None where the whole table does not.

    Models must be such that two parts that keep them keep them together, unless people count: then it is None where
    there are fewer than k people, and classes may be left that break a model.
    """
    n, d = items.codes.shape
    order, growth, scales = np.arange(n), Growth(), flat(items.scales)
    everything = np.zeros(1, dtype=np.int64), np.full(1, n, dtype=np.int64)
    if not n or not _enough(items, order, *everything, manner.k).all():
        return None
    kept = keeps_all(items, order, *everything, models)
    if items.people is None and not kept.all():
        return None
    parts = Parts(*everything, np.zeros(1, dtype=np.int64), np.zeros((1, d), dtype=np.int8), kept)
    while len(parts.begins):
        parts = _cut(items, manner, models, order, parts, growth, scales)
    return growth.finished(order)


def _enough(items: WeightedItems, order: Ints, begins: Ints, ends: Ints, k: int) -> Bools:
    if items.people is not None:
        return np.asarray(held_people(items.persons, order, begins, ends) >= k)
    return np.asarray(partition_sizes(items.weights, order, begins, ends) >= k)


def _cut(
    items: WeightedItems,
    manner: SplitOptions,
    models: Sequence[ClassModel],
    order: Ints,
    parts: Parts,
    growth: Growth,
    scales: Scales,
) -> Parts:
    """Cut every part once; return those to look at again."""
    wanted = manner.k, manner.by_gain, manner.relaxed, scales
    codes, weights, persons = items.codes, items.weights, items.persons
    cuts = proposed(codes, weights, order, parts.begins, parts.ends, persons, parts.tries, *wanted)
    some = cuts[:, 0] >= 0
    growth.leaves.append(parts.take(~some))
    parts, cuts = parts.take(some), cuts[some]
    before = order.copy() if models or items.people is not None else order
    middles = divided(codes, weights, order, parts.begins, parts.ends, cuts)
    good, kept = _both(items, manner, models, order, parts, middles)
    bad = parts.take(~good)
    _restore(order, before, bad)
    j = cuts[~good, 0]
    bad.tries[np.arange(len(j)), j] += 1 if manner.by_gain else 2
    grown = growth.grow(parts.take(good), cuts[good], middles[good], kept[good])
    return Parts(*(np.concatenate([a, b]) for a, b in zip(grown, bad, strict=True)))


def _both(
    items: WeightedItems, manner: SplitOptions, models: Sequence[ClassModel], order: Ints, parts: Parts, middles: Ints
) -> tuple[Bools, Bools]:
    """Return which parts to cut, and which halves (parts, 2) keep everything.

    Items of a relaxed cut may weigh too much to be divided as wanted.
    """
    begins = np.concatenate([parts.begins, middles])
    ends = np.concatenate([middles, parts.ends])
    enough = _enough(items, order, begins, ends, manner.k)
    kept = enough.copy()
    kept[enough] = keeps_all(items, order, begins[enough], ends[enough], models)
    enough, kept = enough.reshape(2, -1).T, kept.reshape(2, -1).T
    return np.asarray(np.where(parts.kept, kept.all(axis=1), enough.all(axis=1))), kept


def _restore(order: Ints, before: Ints, bad: Parts) -> None:
    sizes = bad.ends - bad.begins
    if before is order or not len(sizes):
        return
    first = np.repeat(bad.begins - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    places = np.arange(sizes.sum()) + first
    order[places] = before[places]
