"""Which values of the original the labels of a released column cover: by the policy, and by the form of the labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.audits.labels.forms import MASK, between, covered, everything, one_width
from ppdm_flow.audits.labels.released import hierarchy_of
from ppdm_flow.audits.labels.values import Floats, Integers, SortedNumbers, Values, numbers_of
from ppdm_flow.core.attributes import AttributeFacts, Change, HierarchySpec
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.hierarchies.ladder import labels as labels_on
from ppdm_flow.mining.hierarchies.ladder import ladder, settled
from ppdm_flow.sdk.audit import AuditContext

Truths = npt.NDArray[np.bool_]
Pairs = tuple[Integers, Integers]


class UnreadError(Exception):
    """A column cannot be compared: it says why."""


@dataclass(frozen=True, eq=False)
class Covers:
    """What each of ``labels`` covers: values ``begin`` to ``end`` (runs,) of label ``owner`` (runs,), ascending.

    ``rows`` (labels,) of the original have one of them. ``wide`` labels cover everything, as do those that cover no
    value which occurs. ``points`` (labels,) are the numbers of labels that are numbers themselves, NaN for others.
    ``unreadable`` labels are so many: nobody knows what they cover.
    """

    labels: pa.StringArray
    owner: Integers
    begin: Integers
    end: Integers
    rows: Integers
    wide: Truths
    points: Floats
    unreadable: int

    def check(self) -> None:
        """Raise UnreadError where some labels cannot be read."""
        if self.unreadable:
            raise UnreadError(f"{self.unreadable:,} of its {len(self.labels):,} labels cannot be read")

    def runs_of(self, label: Integers) -> Pairs:
        """Return (position in ``label``, run) for each run of these labels."""
        starts = np.searchsorted(self.owner, np.arange(len(self.labels) + 1))
        many = starts[label + 1] - starts[label]
        skipped = np.repeat(starts[label] - (np.cumsum(many) - many), many)
        return np.repeat(np.arange(len(label)), many), skipped + np.arange(len(skipped))


def covers(
    labels: pa.StringArray, values: Values, column: str, facts: AttributeFacts | None, ctx: AuditContext
) -> Covers:
    """Read the labels of a released column: by the values and the hierarchy that the policy declares, and by form."""
    hierarchy = hierarchy_of(column, ctx)
    mask = MASK if hierarchy is None else hierarchy.mask
    wide = everything(labels, mask) | everything(labels)
    points = np.full(len(labels), np.nan)
    spans: list[tuple[Integers, Integers, Integers]] = []
    read = wide.copy()
    if isinstance(values, SortedNumbers):
        points = np.where(wide, np.nan, numbers_of(labels, values.kind, values.form))
        place, begin, end = _spans(labels, np.flatnonzero(np.isnan(points) & ~wide), values)
        spans.append((place, begin, end))
        read |= ~np.isnan(points)
        read[place] = True
    left = np.flatnonzero(~read)
    if len(left):
        value, label = _pairs(labels.take(pa.array(left)), values, column, facts, hierarchy, ctx)
        read[left[label]] = True
        spans.append(_runs(value, left[label], len(values.texts)))
    owner, begin, end = (
        np.concatenate([np.zeros(0, np.int64), *side]) for side in (zip(*spans, strict=True) if spans else ((), (), ()))
    )
    order = np.lexsort((begin, owner))
    owner, begin, end = owner[order], begin[order], end[order]
    below = np.concatenate([[0], np.cumsum(values.counts[:-1])])
    rows = np.zeros(len(labels), np.int64)
    np.add.at(rows, owner, below[end] - below[begin])
    declared = pa.array(sorted({*_declared(facts), *_labels_of(column, hierarchy, ctx)}), pa.string())
    read |= pc.is_in(labels, value_set=declared).to_numpy(zero_copy_only=False)
    wide |= (rows == 0) & np.isnan(points)
    return Covers(labels, owner, begin, end, rows, wide, points, int((~read).sum()))


def _declared(facts: AttributeFacts | None) -> tuple[str, ...]:
    return () if facts is None or facts.domain is None else facts.domain


def _labels_of(column: str, hierarchy: HierarchySpec | None, ctx: AuditContext) -> set[str]:
    """Return all values and labels that a hierarchy lists, those of values that do not occur included."""
    try:
        steps = None if hierarchy is None else ladder(column, hierarchy, ctx.home)
    except PluginError:
        return set()
    if steps is None or steps.leaves is None:
        return set()
    return {*steps.leaves, *(label for rung in steps.rungs for label in labels_on(column, steps.leaves, rung))}


def _spans(labels: pa.StringArray, places: Integers, values: SortedNumbers) -> tuple[Integers, Integers, Integers]:
    """Return the places of labels that are written as ranges, and which values lie in each."""
    texts = labels.take(pa.array(places)).to_pylist()
    read = [
        (place, span)
        for place, text in zip(places.tolist(), texts, strict=True)
        if (span := between(text, dates=values.are_dates)) is not None
    ]
    lows, highs = (np.array([getattr(span, name) for _, span in read], dtype=np.float64) for name in ("low", "high"))
    begin = np.searchsorted(values.values, lows, side="left")
    end = np.maximum(np.searchsorted(values.values, highs, side="right"), begin)
    return np.array([place for place, _ in read], dtype=np.int64), begin.astype(np.int64), end.astype(np.int64)


def _pairs(
    labels: pa.StringArray, values: Values, column: str, facts: AttributeFacts | None,
    hierarchy: HierarchySpec | None, ctx: AuditContext,
) -> Pairs:  # fmt: skip
    """Return (value, label) pairs: by the policy, and of labels that it does not know by their form."""
    texts = values.texts
    pairs = [_renamed(labels, texts, facts)]
    explained = np.zeros(len(labels), dtype=np.bool_)
    explained[pairs[0][1]] = True
    if hierarchy is not None and not (explained.all() and facts is not None and not facts.was(Change.GENERALIZED)):
        for level in _levels(column, hierarchy, texts, ctx):
            place = _places(level, labels)
            pairs.append((np.flatnonzero(place >= 0), place[place >= 0]))
            explained[place[place >= 0]] = True
    left = np.flatnonzero(~explained)
    if len(left):
        mask = MASK if hierarchy is None else hierarchy.mask
        value, label = covered(labels.take(pa.array(left)).to_pylist(), texts, mask, padded=one_width(labels, mask))
        pairs.append((value, left[label]))
    value, label = (np.concatenate(side).astype(np.int64) for side in zip(*pairs, strict=True))
    return value, label


def _renamed(labels: pa.StringArray, texts: pa.StringArray, facts: AttributeFacts | None) -> Pairs:
    """Return values with the labels that they have themselves, or that the policy writes in their place."""
    cells = dict(facts.recoded) if facts is not None else {}
    named = pa.array([cells.get(text, text) for text in texts.to_pylist()], pa.string()) if cells else texts
    place = _places(named, labels)
    return np.flatnonzero(place >= 0), place[place >= 0]


def _levels(
    column: str, hierarchy: HierarchySpec, texts: pa.StringArray, ctx: AuditContext
) -> Iterator[pa.StringArray]:
    """Yield the labels of all values on each level, null where one has none; nothing where the hierarchy is unusable.

    A value may be a label of the hierarchy itself: then it has those above it.
    """
    values = texts.to_pylist()
    try:
        steps = ladder(column, hierarchy, ctx.home)
        if steps.leaves is None:
            for rung in steps.rungs:
                yield pa.array(labels_on(column, values, settled(rung, values)), pa.string())
            return
        paths: list[tuple[str, ...]] = [(leaf,) for leaf in steps.leaves]
        for rung in steps.rungs:
            labels = labels_on(column, steps.leaves, rung)
            above = {below: label for path, label in zip(paths, labels, strict=True) for below in path[1:]}
            above |= dict(zip(steps.leaves, labels, strict=True))
            yield pa.array([above.get(value) for value in values], pa.string())
            paths = [(*path, label) for path, label in zip(paths, labels, strict=True)]
    except PluginError:  # a step that needs it says so
        return


def _runs(value: Integers, label: Integers, size: int) -> tuple[Integers, Integers, Integers]:
    """Return label, first value and end of each row of neighbours among the covered values."""
    keys = np.unique(label * (size + 1) + value)
    first = np.ones(len(keys), dtype=np.bool_)
    first[1:] = np.diff(keys) != 1  # a value's number is below the size: no run reaches the next label
    last = np.append(first[1:], True)[: len(keys)]
    return keys[first] // (size + 1), keys[first] % (size + 1), keys[last] % (size + 1) + 1


def _places(texts: pa.StringArray, among: pa.StringArray) -> Integers:
    places: Integers = pc.index_in(texts, value_set=among).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return places
