"""The second route to classes, crowds and their sensitive values: SQL, which decodes cells by itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import ReadingMethod, RevealingColumns, ValueColumns
from ppdm_flow.mining.exposure.faults import require_pairs_of_nulls
from ppdm_flow.mining.exposure.histograms import CountLayout, MixedCrowds, ground, largest_flow
from ppdm_flow.mining.exposure.rows import CombinationQuery, CountedRows
from ppdm_flow.mining.releases.attributes import crowds as attributes_crowds
from ppdm_flow.reader.compatible import compatible_sums
from ppdm_flow.sdk.audit import Sql
from ppdm_flow.tables.column import MISSING
from ppdm_flow.tables.counts import Counts

Floats = npt.NDArray[np.float64]


class ClassQuery:
    """Common table expressions over counted combinations, for a query of one figure for each class.

    ``cells`` (id, s, n): rows of value s in the crowd of class ``id``; ``sizes`` (id, size, own): the crowd's rows, and
    those that belong to the class; ``base`` (s, q): shares of the table. Without a sensitive column all have one value.
    Where there are mixed columns a class is a crowd, and ``mean`` asks for the mean shares of its mixed cells.
    """

    def __init__(
        self,
        sql: Sql,
        counted: CombinationQuery,
        layout: CountLayout,
        reading: ValueColumns | None,
        nulls: Nulls,
        *,
        mean: bool = False,
    ) -> None:
        """``counted`` has the columns of ``layout`` as c0, c1, …, and rows ``n``."""
        self.sql = sql
        self.counted = counted.text
        self.single = counted.single or counted.text
        self.tables: Mapping[str, Any] = counted.tables
        self.layout = layout
        self.reading = reading
        self.wildcard = nulls is Nulls.WILDCARD
        self.mixed = len(layout.mixed) > 0
        self.mean = mean

    @classmethod
    def of_rows(
        cls,
        sql: Sql,
        rows: CountedRows,
        columns: RevealingColumns,
        reading: ValueColumns | None,
        nulls: Nulls,
        *,
        values_known: bool = True,
    ) -> ClassQuery:
        """Return the query over released rows. Raises UnmeasuredError where these null semantics have no crowds."""
        require_pairs_of_nulls(columns, nulls)
        layout = CountLayout.of(columns, reading, rows.leading, nulls, values_known=values_known)
        counted = rows.relation(layout.released, layout.original, layout.known)
        if counted is None:
            raise ValueError("rows must be readable by SQL, but they have no database relation")
        return cls(sql, counted, layout, reading, nulls)

    @property
    def decoded(self) -> bool:
        """Whether cells count for the values behind them."""
        return self.reading is not None and self.reading.way is ReadingMethod.DECODED

    def of_means(self) -> ClassQuery:
        """Return the same query on the mean shares of mixed cells."""
        counted = CombinationQuery(self.counted, self.tables, self.single)
        nulls = Nulls.WILDCARD if self.wildcard else Nulls.OWN_CATEGORY
        return ClassQuery(self.sql, counted, self.layout, self.reading, nulls, mean=True)

    def values(self) -> list[str | None]:
        """Return the sensitive values that occur, None for a missing one."""
        rows = self.ask("SELECT DISTINCT s FROM told")
        return [row[0] for row in rows]

    def ask(self, text: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the result of a SELECT over ``cells``, ``sizes``, ``base`` and ``told``."""
        return self.sql.rows(f"WITH {self.tables_text()} SELECT * FROM ({text})", parameters, self.tables)  # noqa: S608  # our own query

    def worst(self, each: str, bound: float, *, at_most: bool, parameters: Sequence[Any] = ()) -> dict[str, Any]:
        """Return the worst of the figures ``v`` of the query ``each`` (id, v), and what exceeds ``bound``.

        A NULL is a figure beyond all bounds.
        """
        slack = TOLERANCE * max(1.0, abs(bound))
        edge = bound + slack if at_most else bound - slack
        beyond = f"v > {edge!r}::DOUBLE" if at_most else f"v < {edge!r}::DOUBLE"
        query = f"""
            WITH {self.tables_text()}, found AS (
                SELECT COALESCE(CAST(v AS DOUBLE), 'Infinity'::DOUBLE) AS v, own FROM ({each}) JOIN sizes USING (id))
            SELECT {"MAX" if at_most else "MIN"}(v), COUNT(*), COALESCE(SUM(own) FILTER ({beyond}), 0),
                   COUNT(*) FILTER ({beyond}) FROM found"""  # noqa: S608  # identifiers are quoted, numbers are ours
        value, number, rows, many = self.sql.rows(query, parameters, self.tables)[0]
        finite = None if value is None or not math.isfinite(value) else float(value)
        return {"worst": finite, "classes": int(number), "rows_beyond": round(rows), "classes_beyond": int(many)}

    def figures(self, each: str, parameters: Sequence[Any] = ()) -> tuple[Floats, Floats]:
        """Return the figure of each class, infinite for NULL, and the rows that belong to it, in order of their ids."""
        figure = "COALESCE(CAST(v AS DOUBLE), 'Infinity'::DOUBLE)"
        text = f"SELECT {figure}, own FROM ({each}) JOIN sizes USING (id) ORDER BY id"  # noqa: S608  # as above
        lines = np.array(self.ask(text, parameters), dtype=np.float64).reshape(-1, 2)
        return lines[:, 0], lines[:, 1]

    def figures_and_means(self, each: str, parameters: Sequence[Any] = ()) -> tuple[Floats, Floats, Floats]:
        """Return the figures of crowds, those of the means of their mixed cells, and the rows that belong to each."""
        text = f"""
            WITH {self.tables_text()},
            first AS MATERIALIZED (SELECT id, v FROM ({each})),
            second AS MATERIALIZED (SELECT id, v FROM ({self.text_of_means(each)}))
            SELECT COALESCE(CAST(first.v AS DOUBLE), 'Infinity'::DOUBLE),
                   COALESCE(CAST(second.v AS DOUBLE), 'Infinity'::DOUBLE), own
            FROM first JOIN second USING (id) JOIN sizes USING (id) ORDER BY id"""  # noqa: S608  # our own queries
        twice = [*parameters, *parameters]
        lines = np.array(self.sql.rows(text, twice, self.tables), dtype=np.float64).reshape(-1, 3)
        return lines[:, 0], lines[:, 1], lines[:, 2]

    def tables_text(self) -> str:
        """Return the common table expressions."""
        layout = self.layout
        every = f"every AS MATERIALIZED (SELECT * FROM ({self.counted}))"  # noqa: S608  # our own query
        unit = _rank((*layout.grouping, *layout.mixed))
        ids = _rank((*layout.grouping, *layout.originals))
        cell = _rank(layout.shown)
        ranked = f", ranked AS MATERIALIZED (SELECT *, {unit} AS unit, {ids} AS id, {cell} AS cell FROM every)"  # noqa: S608  # as above
        return (
            every + ranked + self._unit_values() + (self._crowds() if self.mixed else self._classes()) + self._sizes()
        )

    def _sizes(self) -> str:
        """The shares of the table, and the sizes of classes."""
        return _SHARES

    def with_means(self, text: str) -> str:
        """Return the rows of a SELECT over ``cells`` and ``sizes``, and those of the same on the means of mixed cells.

        Its parameters are needed twice.
        """
        return f"SELECT * FROM ({text}) UNION ALL SELECT * FROM ({self.text_of_means(text)})"  # noqa: S608  # our own query

    def text_of_means(self, text: str) -> str:
        """Return a SELECT over ``cells`` and ``sizes``, on the mean shares of mixed cells."""
        return _of_means(text)

    def _unit_values(self) -> str:
        """The values of each unit: a class, or what mixed columns divide it into."""
        reading = self.reading
        if self.decoded:
            return f""",
                shown AS MATERIALIZED (SELECT unit, cell, SUM(n) AS n FROM ranked GROUP BY unit, cell),
                code AS MATERIALIZED (
                    SELECT cell, c{self.layout.value} AS s,
                           CAST(SUM(n) AS DOUBLE) / CAST(SUM(SUM(n)) OVER (PARTITION BY cell) AS DOUBLE) AS p
                    FROM ranked GROUP BY cell, c{self.layout.value}),
                told AS MATERIALIZED (
                    SELECT unit, s, SUM(n * p) AS n FROM shown JOIN code USING (cell) GROUP BY unit, s)"""  # noqa: S608  # our own names
        value = "NULL"
        if reading is not None:
            value = f"c{self.layout.shown[0] if reading.way is ReadingMethod.SHOWN else self.layout.value}"
        return f""",
            told AS MATERIALIZED (
                SELECT unit, {value} AS s, CAST(SUM(n) AS BIGINT) AS n FROM ranked GROUP BY unit, s)"""  # noqa: S608  # our own names

    def _classes(self) -> str:
        own = ", own AS (SELECT unit AS id, s, n FROM told)"
        if not self.wildcard:
            return f"{own}, cells AS MATERIALIZED (SELECT * FROM own)"  # noqa: S608  # as above
        width = len(self.layout.grouping)
        keys = ", ".join(["unit AS id", *(f"c{i}" for i in self.layout.grouping)])
        return f"""{own},
            combos AS MATERIALIZED (SELECT DISTINCT {keys} FROM ranked),
            pairs AS ({attributes_crowds("combos", "combos", width, "a.id AS id, b.id AS other")}),
            cells AS MATERIALIZED (
                SELECT pairs.id AS id, s, SUM(n) AS n FROM pairs JOIN own ON own.id = pairs.other
                GROUP BY pairs.id, s)"""  # noqa: S608  # our own names

    def _crowds(self) -> str:
        link = ", link AS MATERIALIZED (SELECT id, unit, CAST(SUM(n) AS DOUBLE) AS w FROM ranked GROUP BY id, unit)"
        own = ", own AS (SELECT id, NULL AS s, SUM(w) AS n FROM link GROUP BY id)"
        cells = "SELECT id, s, SUM(n) AS n FROM link JOIN told USING (unit) GROUP BY id, s" if not self.mean else _MEAN
        return f"{link}{own}, cells AS MATERIALIZED ({cells})"  # our own names


def _of_means(text: str) -> str:
    return f"""
        WITH cells AS MATERIALIZED ({_MEAN}),
        sizes AS (SELECT id, SUM(n) AS size, ANY_VALUE(own) AS own FROM cells
                  JOIN (SELECT id, SUM(w) AS own FROM link GROUP BY id) USING (id) GROUP BY id)
        SELECT * FROM ({text})"""  # noqa: S608  # our own query


def _rank(places: Sequence[int]) -> str:
    keys = ", ".join(f"c{i}" for i in places)
    return f"DENSE_RANK() OVER (ORDER BY {keys})" if keys else "0"


_MEAN = """
    SELECT id, s, SUM(w / whole * n / part) AS n FROM link JOIN told USING (unit)
    JOIN (SELECT id, SUM(w) AS whole FROM link GROUP BY id) USING (id)
    JOIN (SELECT unit, SUM(n) AS part FROM told GROUP BY unit) USING (unit) GROUP BY id, s"""
"""The mean shares of the mixed cells that a person may show, by how often people like them show each."""

_SHARES = """,
    total AS (SELECT CAST(SUM(n) AS DOUBLE) AS total FROM told),
    base AS MATERIALIZED (SELECT s, SUM(n) / ANY_VALUE(total) AS q FROM told, total GROUP BY s),
    sizes AS MATERIALIZED (
        SELECT id, CAST(SUM(n) AS DOUBLE) AS size, ANY_VALUE(rows) AS own FROM cells
        JOIN (SELECT id, SUM(n) AS rows FROM own GROUP BY id) USING (id) GROUP BY id)"""


# The number of rows that look alike: classes, or crowds where columns mix grouping with sensitive attributes.


SIZE = "SELECT id, size AS v FROM sizes"


@dataclass(frozen=True, slots=True, eq=False)
class CombinationSizes:
    """``rows`` (combinations,): how many rows each has; ``sizes``: how many each is among, itself included.

    ``left_out`` counts the rows that the null semantics leave out.
    """

    rows: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    left_out: int = 0

    @property
    def k(self) -> int:
        """The smallest size; 0 where there is no row."""
        return int(self.sizes.min()) if len(self.sizes) else 0

    def rows_below(self, k: int) -> int:
        """Return the number of rows that are among fewer than ``k``, themselves included."""
        return int(self.rows[self.sizes < k].sum())

    @property
    def uniques(self) -> int:
        """The number of rows that are like no other."""
        return int(self.rows[self.sizes == 1].sum())


def crowds(columns: RevealingColumns, rows: CountedRows, nulls: Nulls) -> CombinationSizes:
    """Return the crowds of columns some of which are mixed. Raises UnmeasuredError where nulls are wildcards."""
    require_pairs_of_nulls(columns, nulls)
    by_row = MixedCrowds(ground(rows, CountLayout.of(columns, None, rows.leading, nulls)))
    return CombinationSizes(by_row.rows, by_row.sizes, by_row.ground.left_out)


def crowds_sql(columns: RevealingColumns, rows: CountedRows, sql: Sql, nulls: Nulls) -> CombinationSizes:
    """Return the same by the second route. Raises UnmeasuredError as above."""
    sizes, own = ClassQuery.of_rows(sql, rows, columns, None, nulls).figures(SIZE)
    return CombinationSizes(np.rint(own).astype(np.int64), np.rint(sizes).astype(np.int64))


def classes(counts: Counts, nulls: Nulls) -> CombinationSizes:
    """Group the rows behind ``counts``; combinations without rows (weight 0) are left out.

    ``own_category``: missing is one more value. ``wildcard``: the size of a row is that of its crowd, the rows
    that contradict it nowhere and are missing wherever it is. ``exclude``: rows with a missing value are left out.
    """
    occurs = counts.counts > 0
    codes, rows = counts.codes[occurs], counts.counts[occurs]
    if nulls is Nulls.OWN_CATEGORY:
        return CombinationSizes(rows, rows)
    if nulls is Nulls.WILDCARD:
        return CombinationSizes(rows, compatible_sums(codes, rows[:, None])[:, 0])
    known = ~(codes == MISSING).any(axis=1)
    return CombinationSizes(rows[known], rows[known], int(rows[~known].sum()))


_MOST = (1 << 31) - 1


def matched_sql(query: ClassQuery) -> tuple[Floats, Floats]:
    """Return the largest matching of rows and values in each class, and the rows that belong to it."""
    units = "link JOIN shown USING (unit)" if query.mixed else "(SELECT unit AS id, cell, n FROM shown)"
    text = f"SELECT id, cell, SUM(n) AS n FROM {units} GROUP BY id, cell ORDER BY id, cell"  # noqa: S608  # our own names
    if query.wildcard and not query.mixed:
        text = """
            SELECT id, cell, SUM(n) AS n FROM pairs JOIN shown ON shown.unit = pairs.other
            GROUP BY id, cell ORDER BY id, cell"""
    shown = np.array(query.ask(text), dtype=np.float64).reshape(-1, 3)
    owners = np.array(query.ask("SELECT id, own FROM sizes ORDER BY id"), dtype=np.float64).reshape(-1, 2)
    behind: dict[int, list[int]] = {}
    pairs = query.ask("SELECT cell, DENSE_RANK() OVER (ORDER BY s) FROM code WHERE p > 0")
    for cell, value in pairs:
        behind.setdefault(int(cell), []).append(int(value))
    starts = np.searchsorted(shown[:, 0], owners[:, 0])
    ends = np.searchsorted(shown[:, 0], owners[:, 0], side="right")
    each = [
        largest_matching_sql([(int(n), set(behind[int(c)])) for _, c, n in shown[a:b]])
        for a, b in zip(starts, ends, strict=True)
    ]
    return np.array(each, dtype=np.float64), owners[:, 1]


def largest_matching_sql(shown: list[tuple[int, set[int]]]) -> int:
    """Return the largest matching of the rows that show cells, and the values behind each.

    A sum where no value is behind two of the cells, else a maximum flow.
    """
    sets = [values for _, values in shown]
    if sum(map(len, sets)) == len(set().union(*sets)):
        return sum(min(rows, len(values)) for rows, values in shown)
    values = sorted(set().union(*sets))
    place = {v: 1 + len(sets) + i for i, v in enumerate(values)}
    end = 1 + len(sets) + len(values)
    edges = [(0, 1 + i, min(rows, _MOST)) for i, (rows, _) in enumerate(shown)]
    edges += [(1 + i, place[v], 1) for i, own in enumerate(sets) for v in own]
    edges += [(place[v], end, 1) for v in values]
    source, target, capacity = (np.array(column, dtype=np.int64) for column in zip(*edges, strict=True))
    return int(largest_flow(source, target, capacity, end + 1).sum())
