"""The classes of a release, and the secrets that each of them reveals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.audits.labels.covering import cover
from ppdm_flow.audits.labels.joining import LabelIndex, index
from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.tables.column import SPECIALS, Column
from ppdm_flow.tables.counts import Counts

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedClasses:
    """``codes`` (classes, columns) and ``rows`` (classes,); ``low`` and ``high`` (secrets, classes) of each secret.

    A class in which a secret is missing or suppressed somewhere has a ``low`` below 0: nothing is certain there.
    """

    columns: tuple[str, ...]
    categories: tuple[pa.StringArray, ...]
    codes: npt.NDArray[np.int32]
    rows: Integers
    secrets: tuple[str, ...]
    values: tuple[pa.StringArray, ...]
    low: Integers
    high: Integers

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def total(self) -> int:
        """The released rows."""
        return int(self.rows.sum())

    def index(self, people: Sequence[pa.StringArray], ctx: AuditContext) -> LabelIndex:
        """Make the classes ready to look people up whose values are ``people``, column by column."""
        covers = [
            cover(labels, values, hierarchy_of(column, ctx), ctx.nulls, ctx.home)
            for column, labels, values in zip(self.columns, self.categories, people, strict=True)
        ]
        return index(covers, self.codes.astype(np.int64) + SPECIALS, self.rows, self.low, self.high)

    def places(self, others: Counts) -> Integers:
        """Return the class of each combination of ``others``, -1 for one that is not released."""
        codes = [
            Column(np.ascontiguousarray(others.of(c)), others.names(c)).compact().onto(names).codes
            for c, names in zip(self.columns, self.categories, strict=True)
        ]
        stacked = np.concatenate(
            [self.codes, np.stack(codes, axis=1) if codes else np.zeros((len(others), 0), np.int32)]
        )
        both = Counts(self.columns, self.categories, stacked, np.ones(len(stacked), dtype=np.int64))
        group, size = both.groups(self.columns)
        where = np.full(size, -1, dtype=np.int64)
        where[group[: len(self)]] = np.arange(len(self))
        return where[group[len(self) :]]


def hierarchy_of(column: str, ctx: AuditContext) -> HierarchySpec | None:
    """Return the hierarchy that the policy declares for a released column."""
    facts = ctx.attributes.get(column)
    if facts is not None and facts.hierarchy is not None:
        return facts.hierarchy
    source = ctx.original_attributes.get(source_of(column, ctx))
    return source.hierarchy if source is not None else None


class CountableRows(Protocol):
    """Rows that can be counted: a view of a release, or what stands in a file."""

    def counts(self, columns: Sequence[str]) -> Counts:
        """Return distinct combinations with their rows."""
        ...


def classes(candidate: CountableRows, columns: Sequence[str], secrets: Sequence[str]) -> ReleasedClasses:
    """Group the released rows by ``columns``; ``secrets`` are no part of what tells them apart."""
    columns, secrets = tuple(columns), tuple(secrets)
    counts = _occurring(candidate.counts(columns))
    rows = counts.counts
    low = np.zeros((len(secrets), len(counts)), dtype=np.int64)
    high = np.zeros_like(low)
    grouped = ReleasedClasses(columns, counts.categories, counts.codes, rows, secrets, (), low, high)
    values = []
    for i, secret in enumerate(secrets):
        mine = _occurring(candidate.counts((*columns, secret)))
        place, codes = grouped.places(mine), mine.of(secret).astype(np.int64)
        low[i], high[i] = np.iinfo(np.int64).max, np.iinfo(np.int64).min
        np.minimum.at(low[i], place, codes)
        np.maximum.at(high[i], place, codes)
        values.append(mine.names(secret))
    return ReleasedClasses(columns, counts.categories, counts.codes, rows, secrets, tuple(values), low, high)


def _occurring(counts: Counts) -> Counts:
    kept = counts.counts > 0
    return Counts(counts.columns, counts.categories, counts.codes[kept], np.ascontiguousarray(counts.counts[kept]))
