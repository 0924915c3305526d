"""How released rows are put into classes: by their own cells, or by what all releases tell of their people as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from ppdm_flow.audits.classes.query import Query
from ppdm_flow.audits.classes.together import together
from ppdm_flow.audits.successive import told
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.history import Membership
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import Counts, count, merge
from ppdm_flow.tables.table import Table

_OTHERS = "\0others"


class Rows(Protocol):
    """Rows to be counted by class and sensitive value, by two routes."""

    def counts(self, grouping: Sequence[str], column: str) -> Counts:
        """Count the combinations; the sensitive column is the last."""
        ...

    def query(self, grouping: Sequence[str], column: str) -> Query | None:
        """Return the second route to the same classes; None without a database."""
        ...


@dataclass(frozen=True, slots=True)
class Alone:
    """Rows of the released file, whatever else was released."""

    candidate: DataView
    ctx: AuditContext

    def counts(self, grouping: Sequence[str], column: str) -> Counts:
        """Count the combinations of these columns."""
        return self.candidate.counts((*grouping, column))

    def query(self, grouping: Sequence[str], column: str) -> Query | None:
        """Count in the file."""
        if self.ctx.sql is None:
            return None
        return Query.of_file(self.ctx.sql, self.candidate.schema, grouping, column, self.ctx.nulls)


@dataclass(frozen=True, slots=True)
class Together:
    """Rows with what the ``others`` tell of their people, as one more column that forms classes.

    They are those that went into the file, in the order of ``pairs``: the engine proves that the file holds just these.
    """

    own: Membership
    others: tuple[Membership, ...]
    pairs: PairedView
    ctx: AuditContext

    def counts(self, grouping: Sequence[str], column: str) -> Counts:
        """Count the combinations of these columns; what the other releases tell is the last but one."""
        known = told(self.own.subjects, self.others).astype(np.int32)
        names = pa.array([str(i) for i in range(int(known.max(initial=-1)) + 1)], pa.string())
        wanted = (*grouping, _OTHERS, column)
        empty = Table.of({name: [] for name in wanted})
        parts = [count(empty, wanted)]
        for table, people in self._tables((*grouping, column)):
            parts.append(count(table.replaced({_OTHERS: Column(known[people], names)}), wanted))
        return merge(parts)

    def query(self, grouping: Sequence[str], column: str) -> Query | None:
        """Join rows to their people in SQL."""
        ctx = self.ctx
        if ctx.sql is None:
            return None
        found = list(self._tables((*grouping, column)))
        text, tables = together(found, (*grouping, column), self.own, self.others, ctx.nulls)
        return Query(ctx.sql, text, len(grouping) + 1, ctx.nulls, tables=tables)

    def _tables(self, columns: Sequence[str]) -> Iterator[tuple[Table, np.ndarray[tuple[int], np.dtype[np.int64]]]]:
        """Yield partitions of the rows, and the place of each row's person."""
        start, places = 0, self.own.places
        for _, table in self.pairs.pairs([], columns):
            if places is not None:
                yield table.select(columns), places[start : start + len(table)]
            start += len(table)
        if places is None or start != len(places):
            raise ValueError("the rows and their people do not fit")
