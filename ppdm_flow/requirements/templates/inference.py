"""The confidence of every inference from a channel to sensitive values.

conf(ic -> pi) = rows with ic and pi / rows with ic (Wang, Fung, Yu 2005, section 3). A sensitive cell that is missing
or suppressed counts among the rows with ic only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.compatible import compatible_sums
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING
from ppdm_flow.tables.counts import Counts

_BLOCK = 16

Images = Mapping[str, frozenset[str]]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Inferences:
    """``confidence`` (inferences,) of the pairs (group, value) that occur, with their ``group`` and ``value`` numbers.

    ``rows`` (groups,) are the rows that have exactly that combination. Groups are numbered by the channel alone.
    """

    confidence: Floats
    group: Integers
    value: Integers
    rows: Integers

    @property
    def worst(self) -> float:
        """The highest confidence; 0 where no sensitive value occurs."""
        return float(self.confidence.max(initial=0.0))

    def beyond(self, threshold: float) -> npt.NDArray[np.bool_]:
        """Return which inferences exceed ``threshold``, with the tolerance of every comparison."""
        return self.confidence > threshold + TOLERANCE

    def beside(self, other: Inferences) -> Inferences:
        """Return these and others together, whose groups are further ones."""
        return Inferences(
            np.append(self.confidence, other.confidence),
            np.append(self.group, other.group + len(self.rows)),
            np.append(self.value, other.value),
            np.append(self.rows, other.rows),
        )

    def groups_beyond(self, threshold: float) -> npt.NDArray[np.bool_]:
        """Return which groups allow an inference beyond ``threshold``, shape (groups,)."""
        hit = np.zeros(len(self.rows), dtype=np.bool_)
        hit[self.group[self.beyond(threshold)]] = True
        return hit


def inferences(
    view: DataView, channel: Sequence[str], column: str, images: Images, nulls: Nulls, *, negated: bool = False
) -> Inferences:
    """Measure every inference from ``channel`` to the values of ``column``; ``negated``: to not having each of them.

    ``wildcard``: the group of a combination is its crowd. ``exclude``: rows with a missing
    cell in the channel are left out.
    """
    counts = view.counts(tuple(dict.fromkeys((*channel, column))))
    kept = counts.counts > 0
    cells = counts.codes[:, [counts.place(c) for c in channel]]
    if nulls is Nulls.EXCLUDE:
        kept &= ~(cells == MISSING).any(axis=1)
    counts = Counts(counts.columns, counts.categories, counts.codes[kept], counts.counts[kept])
    group, size = counts.groups(channel)
    rows = _sums(group, counts.counts, size)
    at, value = _sensitive(counts, column, images)
    width = max(1, len(images))
    keys, place = np.unique(group[at] * width + value, return_inverse=True)
    hits = _sums(place, counts.counts[at], len(keys))
    if negated:  # every group counts, those without the value most of all
        without = np.repeat(rows, len(images))
        without[keys] -= hits
        some = np.flatnonzero(without)
        keys, hits = some, without[some]
    if nulls is Nulls.WILDCARD and (cells == MISSING).any():
        first = np.zeros(size, dtype=np.int64)
        first[group] = np.arange(len(group))
        return _crowds(cells[kept][first], rows, keys // width, keys % width, hits)
    return Inferences(hits / rows[keys // width], keys // width, keys % width, rows)


def _sensitive(counts: Counts, column: str, images: Images) -> tuple[Integers, Integers]:
    """Return the combinations that have a sensitive value, and which one; several where an image is shared."""
    codes = counts.of(column)
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    at, value = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for number, image in enumerate(images.values()):
        for code in sorted(c for c in (counts.code(column, text) for text in image) if c is not None):
            start, end = np.searchsorted(ordered, [code, code + 1])
            at.append(order[start:end])
            value.append(np.full(end - start, number, dtype=np.int64))
    return np.concatenate(at), np.concatenate(value)


def _crowds(
    cells: npt.NDArray[np.int32], rows: Integers, group: Integers, value: Integers, hits: Integers
) -> Inferences:
    """Let the crowd of each group take its place; a block of sensitive values at a time."""
    totals = compatible_sums(cells, rows[:, None])[:, 0]
    blocks = []
    numbers = np.unique(value)
    for start in range(0, len(numbers), _BLOCK):
        block = numbers[start : start + _BLOCK]
        mine = np.isin(value, block)
        dense = np.zeros((len(rows), len(block)), dtype=np.int64)
        dense[group[mine], np.searchsorted(block, value[mine])] = hits[mine]
        sums = compatible_sums(cells, dense)
        at, which = np.nonzero(sums)
        blocks.append((sums[at, which] / totals[at], at, block[which]))
    if not blocks:
        return Inferences(np.zeros(0), group, value, rows)
    confidence, groups, values = (np.concatenate(part) for part in zip(*blocks, strict=True))
    return Inferences(confidence, groups, values, rows)


def _sums(place: Integers, values: Integers, size: int) -> Integers:
    out = np.zeros(size, dtype=np.int64)
    np.add.at(out, place, values)
    return out
