"""The second route to k: SQL over the released file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.rows import CountedRows
from ppdm_flow.mining.releases.relation import crowds
from ppdm_flow.sdk.audit import Sql

PAIR_LIMIT = 400_000_000
"""Pairs of combinations and patterns up to which the wildcard figure is computed again where nobody asks for it."""
CHUNK_PAIRS = 1_000_000_000
"""Pairs of combinations and patterns of missing cells that one query looks up."""


class RowClassQuery:
    """The classes over ``columns`` of some rows."""

    def __init__(self, sql: Sql, rows: CountedRows, columns: Sequence[str]) -> None:
        self.sql = sql
        self.columns = tuple(columns)
        every, known = rows.relation(self.columns), rows.relation(self.columns, (), self.columns)
        if every is None or known is None:
            raise ValueError("rows must be readable by SQL, but they have no database relation")
        self.every, self.known, self.tables = every.text, known.text, every.tables

    def figures(self, k: int, nulls: Nulls) -> Mapping[str, int]:
        """Return the figures of the audit, those of the semantics ``nulls`` under their bare names."""
        figures_by_nulls = {Nulls.OWN_CATEGORY: self._plain(self.every, k), Nulls.EXCLUDE: self._plain(self.known, k)}
        pairs = self._pairs()
        if pairs == 0:  # nothing is missing, or the same everywhere
            figures_by_nulls[Nulls.WILDCARD] = figures_by_nulls[Nulls.OWN_CATEGORY]
        elif nulls is Nulls.WILDCARD or pairs <= PAIR_LIMIT:
            figures_by_nulls[Nulls.WILDCARD] = self._wildcard(k, max(1, -(-pairs // CHUNK_PAIRS)))
        return {f"k_{n}": f["k"] for n, f in figures_by_nulls.items()} | figures_by_nulls[nulls]

    def _plain(self, grouped: str, k: int) -> dict[str, int]:
        query = f"""
            SELECT COALESCE(MIN(n), 0), COUNT(*), COALESCE(SUM(n) FILTER (n < {k}), 0),
                   COALESCE(SUM(n) FILTER (n = 1), 0)
            FROM ({grouped})"""  # noqa: S608  # identifiers are quoted, k is an int
        return _named(self.sql.rows(query, (), self.tables)[0])

    def _pairs(self) -> int:
        """Return how many combinations, each with every pattern of missing cells, are looked up; 0 for one pattern."""
        pattern = f"[{', '.join(f'c{i} IS NULL' for i in range(len(self.columns)))}]"
        query = f"""
            WITH patterns AS (SELECT COUNT(*) AS n FROM ({self.every}) GROUP BY {pattern})
            SELECT COALESCE(SUM(n), 0) * COUNT(*) FROM patterns HAVING COUNT(*) > 1"""  # noqa: S608  # our own query
        rows = self.sql.rows(query, (), self.tables) if self.columns else []
        return int(rows[0][0]) if rows else 0

    def _wildcard(self, k: int, rounds: int) -> dict[str, int]:
        """Join the combinations with themselves, in as many rounds."""
        parts = [self._chunk(k, rounds, i) for i in range(rounds)]
        present = [p for p in parts if p["classes"]]
        totals = {name: sum(p[name] for p in parts) for name in ("classes", "rows_below", "uniques")}
        return {"k": min((p["k"] for p in present), default=0)} | totals

    def _chunk(self, k: int, rounds: int, number: int) -> dict[str, int]:
        width = len(self.columns)
        share = f"hash({', '.join(f'c{i}' for i in range(width))}) % {rounds}"
        query = f"""
            WITH combos AS MATERIALIZED (SELECT *, {share} AS share, ROW_NUMBER() OVER () AS id FROM ({self.every})),
            mine AS (SELECT * FROM combos WHERE share = {number}),
            pairs AS ({crowds("mine", "combos", width, "a.id, a.n, b.n AS size")}),
            summed AS (SELECT id, ANY_VALUE(n) AS n, SUM(size) AS size FROM pairs GROUP BY id)
            SELECT COALESCE(MIN(size), 0), COUNT(*), COALESCE(SUM(n) FILTER (size < {k}), 0),
                   COALESCE(SUM(n) FILTER (size = 1), 0)
            FROM summed"""  # noqa: S608  # identifiers are quoted, the numbers are ints
        return _named(self.sql.rows(query, (), self.tables)[0])


def _named(row: Sequence[int]) -> dict[str, int]:
    return dict(zip(("k", "classes", "rows_below", "uniques"), map(int, row), strict=True))
