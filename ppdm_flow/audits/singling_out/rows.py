"""Released rows, and people in the data and outside of it, coded for conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.audits.labels.covering import Cover, cover
from ppdm_flow.audits.labels.forms import between, numbers
from ppdm_flow.audits.labels.released import hierarchy_of
from ppdm_flow.audits.records.columns import ColumnPair
from ppdm_flow.audits.records.sampling import Sample, held_out, sampled, training
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS
from ppdm_flow.tables.table import concat

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One attribute: which labels stand for which values, and where both are numbers how large these are.

    ``low`` and ``high`` (labels,) are the ends of numeric labels, NaN for others; ``least`` and ``most`` (values,)
    those of the values, which are equal for numbers.
    """

    fits: Cover
    low: Floats
    high: Floats
    least: Floats
    most: Floats

    @property
    def numeric(self) -> bool:
        """Whether all values are numbers."""
        return len(self.least) > SPECIALS and not bool(np.isnan(self.least[SPECIALS:]).any())

    @property
    def released(self) -> Line:
        """The labels as values of their own: each stands for itself, as whoever has only the release reads it."""
        every = np.arange(len(self.low), dtype=np.int64)
        none = np.zeros(len(every), dtype=np.bool_)
        same = Cover(np.arange(len(every) + 1, dtype=np.int64), every, none, none)
        return Line(same, self.low, self.high, self.low, self.high)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Dense codes (columns, rows): the ``released`` labels, and the values of people ``inside`` and ``outside``."""

    lines: tuple[Line, ...]
    released: Integers
    inside: Integers
    outside: Integers | None
    available: int


def rows_of(
    columns: Sequence[ColumnPair], original: DataView, candidate: DataView, limit: int, ctx: AuditContext
) -> Rows:
    """Read at most ``limit`` rows of each group; as many inside as there are outside, if some are held out."""
    sources = list(dict.fromkeys(c.source for c in columns))
    mine = sampled(candidate, [c.column for c in columns], limit)
    inside = training(original, sources, limit, ctx.holdout)
    groups = [inside]
    if ctx.holdout is not None:
        outside = held_out(original, sources, limit, ctx.holdout)
        size = min(len(inside), len(outside))
        groups = [_some(inside, size), _some(outside, size)]
    both = concat(g.table for g in groups)
    lines, released, people = [], [], []
    for column in columns:
        left, right = mine.table[column.column].compact(), both[column.source].compact()
        own = hierarchy_of(column.column, ctx)
        fits = cover(left.categories, right.categories, own, ctx.nulls, ctx.home)
        read = np.concatenate([[np.nan] * SPECIALS, numbers(right.categories)])
        lines.append(Line(fits, *_ends(left.categories), read, read))
        released.append(left.dense.astype(np.int64))
        people.append(right.dense.astype(np.int64))
    coded, first = np.stack(people), len(groups[0])
    others = np.ascontiguousarray(coded[:, first:]) if len(groups) > 1 and len(groups[1]) else None
    return Rows(tuple(lines), np.stack(released), np.ascontiguousarray(coded[:, :first]), others, inside.available)


def _some(sample: Sample, size: int) -> Sample:
    if len(sample) == size:
        return sample
    return Sample(sample.table.take(np.arange(size) * len(sample) // max(1, size)), sample.available)


def _ends(labels: pa.StringArray) -> tuple[Floats, Floats]:
    low = np.concatenate([[np.nan] * SPECIALS, numbers(labels)])
    high = low.copy()
    odd = np.flatnonzero(np.isnan(low))
    for place in odd[odd >= SPECIALS].tolist():
        if (span := between(labels[place - SPECIALS].as_py())) is not None:
            low[place], high[place] = span.low, span.high
    return low, high
