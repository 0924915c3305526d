"""Released rows, and people in the data and outside of it, coded for conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.audits.labels.covering import LabelCover, cover
from ppdm_flow.audits.labels.forms import are_dates, between, numbers
from ppdm_flow.audits.labels.released import hierarchy_of
from ppdm_flow.audits.records.columns import ColumnPair
from ppdm_flow.audits.records.members import counts_people
from ppdm_flow.audits.records.person_samples import PersonSample, knows_people, original_people, released_people
from ppdm_flow.audits.records.sampling import RecordSample, held_out, sampled, training
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS
from ppdm_flow.tables.table import concat

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class LabelLine:
    """One attribute: which labels stand for which values, and where both are numbers how large these are.

    ``low`` and ``high`` (labels,) are the ends of numeric labels, NaN for others; ``least`` and ``most`` (values,)
    those of the values, which are equal for numbers.
    """

    fits: LabelCover
    low: Floats
    high: Floats
    least: Floats
    most: Floats

    @property
    def numeric(self) -> bool:
        """Whether all values are numbers."""
        return len(self.least) > SPECIALS and not bool(np.isnan(self.least[SPECIALS:]).any())

    @property
    def released(self) -> LabelLine:
        """The labels as values of their own: each stands for itself, as whoever has only the release reads it."""
        every = np.arange(len(self.low), dtype=np.int64)
        none = np.zeros(len(every), dtype=np.bool_)
        same = LabelCover(np.arange(len(every) + 1, dtype=np.int64), every, none, none)
        return LabelLine(same, self.low, self.high, self.low, self.high)


@dataclass(frozen=True, slots=True, eq=False)
class AttackRows:
    """Dense codes (columns, rows): the ``released`` labels, and the values of people ``inside`` and ``outside``.

    ``whose`` are the numbers of the people whose rows these are, in the same order: of their own each, where rows are
    counted.
    """

    lines: tuple[LabelLine, ...]
    released: Integers
    inside: Integers
    outside: Integers | None
    whose: tuple[Integers, Integers, Integers]


def rows_of(
    columns: Sequence[ColumnPair], original: DataView, candidate: DataView, limit: int, ctx: AuditContext
) -> AttackRows:
    """Read at most ``limit`` rows of each group; as many inside as there are outside, if some are held out."""
    sources = list(dict.fromkeys(c.source for c in columns))
    mine = _released(candidate, [c.column for c in columns], limit, ctx)
    groups = _groups(original, sources, limit, ctx)
    both = concat(g.table for g in groups)
    lines, released, people = [], [], []
    for column in columns:
        left, right = mine.table[column.column].compact(), both[column.source].compact()
        own = hierarchy_of(column.column, ctx)
        fits = cover(left.categories, right.categories, own, ctx.nulls, ctx.home)
        read = np.concatenate([[np.nan] * SPECIALS, numbers(right.categories)])
        lines.append(LabelLine(fits, *_ends(left.categories, dates=are_dates(right.categories)), read, read))
        released.append(left.dense.astype(np.int64))
        people.append(right.dense.astype(np.int64))
    coded, first = np.stack(people), len(groups[0].table)
    others = np.ascontiguousarray(coded[:, first:]) if len(groups) > 1 and len(groups[1].table) else None
    whose = (mine.whose, groups[0].whose, groups[-1].whose)
    return AttackRows(tuple(lines), np.stack(released), np.ascontiguousarray(coded[:, :first]), others, whose)


def _released(candidate: DataView, columns: Sequence[str], limit: int, ctx: AuditContext) -> PersonSample:
    if counts_people(ctx) and ctx.pairs is not None:
        return released_people(ctx.pairs, columns, ctx, limit)
    return _each(sampled(candidate, columns, limit))


def _groups(original: DataView, sources: Sequence[str], limit: int, ctx: AuditContext) -> list[PersonSample]:
    """Return who is in the data, and as many who are held out of it, if some are."""
    sides = (False,) if ctx.holdout is None else (False, True)
    if knows_people(original, ctx):
        groups = [original_people(original, sources, ctx, outside=side, most_rows=limit) for side in sides]
    elif ctx.holdout is None:
        groups = [_each(training(original, sources, limit, None))]
    else:
        groups = [_each(each(original, sources, limit, ctx.holdout)) for each in (training, held_out)]
    size = min(g.people for g in groups)
    return [g.fewer(size) for g in groups]


def _each(sample: RecordSample) -> PersonSample:
    """Return rows that are somebody's each."""
    return PersonSample(sample.table, np.arange(len(sample), dtype=np.int64), sample.available)


def _ends(labels: pa.StringArray, *, dates: bool) -> tuple[Floats, Floats]:
    low = np.concatenate([[np.nan] * SPECIALS, numbers(labels, dates=dates)])
    high = low.copy()
    odd = np.flatnonzero(np.isnan(low))
    for place in odd[odd >= SPECIALS].tolist():
        if (span := between(labels[place - SPECIALS].as_py(), dates=dates)) is not None:
            low[place], high[place] = span.low, span.high
    return low, high
