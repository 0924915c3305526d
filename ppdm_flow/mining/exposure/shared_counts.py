"""Rows that are counted once over all columns, for whoever looks at many choices of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ppdm_flow.mining.exposure.rows import Relation, Rows
from ppdm_flow.tables.counts import Counts


@dataclass(slots=True)
class SharedCounts:
    """The ``rows``, of which nothing but these ``released`` and ``original`` columns will be asked for."""

    rows: Rows
    released: Sequence[str]
    original: Sequence[str]
    _counts: Counts | None = field(default=None, init=False)
    _relation: Relation | None = field(default=None, init=False)

    @property
    def leading(self) -> int:
        """How many further columns form classes."""
        return self.rows.leading

    def counts(self, released: Sequence[str], original: Sequence[str] = ()) -> Counts:
        """Add up over the other columns."""
        if self._counts is None:
            self._counts = self.rows.counts(self.released, self.original)
        every = self._counts
        named = Counts(tuple(map(str, range(len(every.columns)))), every.categories, every.codes, every.counts)
        return named.project([str(p) for p in self._places(released, original)])

    def relation(
        self, released: Sequence[str], original: Sequence[str] = (), known: Sequence[str] = ()
    ) -> Relation | None:
        """Group the relation over all columns again."""
        if self._relation is None:
            self._relation = self.rows.relation(self.released, self.original)
        every = self._relation
        if every is None:
            return None
        places = self._places(released, original)
        named = "".join(f"c{p} AS d{i}, " for i, p in enumerate(places))
        needed = (self.leading + list(self.released).index(c) for c in known)
        where = " AND ".join(f"c{p} IS NOT NULL" for p in needed)
        kept = f" WHERE {where}" if where else ""
        grouped = f" GROUP BY {', '.join(f'd{i}' for i in range(len(places)))}" if places else " HAVING COUNT(*) > 0"
        renamed = "".join(f"d{i} AS c{i}, " for i in range(len(places)))
        text = f"SELECT {named}n FROM ({every.text}){kept}"  # noqa: S608  # our own names
        keys = "".join(f"d{i}, " for i in range(len(places)))
        return Relation(f"SELECT {renamed}n FROM (SELECT {keys}SUM(n) AS n FROM ({text}){grouped})", every.tables)  # noqa: S608  # as above

    def _places(self, released: Sequence[str], original: Sequence[str]) -> list[int]:
        first = self.leading + len(self.released)
        own, others = list(self.released), list(self.original)
        return [
            *range(self.leading),
            *(self.leading + own.index(c) for c in released),
            *(first + others.index(a) for a in original),
        ]
