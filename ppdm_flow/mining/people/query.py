"""The second route to people in classes and crowds: SQL over counted combinations, which decodes cells by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import RevealingColumns, ValueColumns
from ppdm_flow.mining.exposure.faults import require_pairs_of_nulls
from ppdm_flow.mining.exposure.histograms import CountLayout
from ppdm_flow.mining.exposure.query import SIZE, ClassQuery, CombinationSizes, Floats, largest_matching_sql
from ppdm_flow.mining.exposure.rows import CountedRows
from ppdm_flow.mining.people.groups import CERTAIN, NAMED, OTHER
from ppdm_flow.mining.people.values import people_values
from ppdm_flow.mining.releases.attributes import crowds
from ppdm_flow.sdk.audit import Sql


class PeopleQuery(ClassQuery):
    """Common table expressions as of :class:`ClassQuery`, which count people.

    ``held`` (id, p, s, n, sure): rows of person p with value s in the group ``id``. ``cells`` (id, s, n): the people of
    value s there, each spread over its rows; ``of_confidences``: the larger share of rows and people, times the
    people. ``sizes`` (id, size, own): the group's people, and the rows that belong to it. ``base`` (s, q): shares of
    the table by people.
    """

    confidences = False
    merged: tuple[str, ...] | None = None
    """Values are but two where these are some: any of these is ``NAMED``, all else ``OTHER``."""

    @classmethod
    def of_people(
        cls,
        sql: Sql,
        rows: CountedRows,
        columns: RevealingColumns,
        reading: ValueColumns | None,
        nulls: Nulls,
        people: PeopleCount,
        *,
        values_known: bool = True,
        confidences: bool = False,
        merged: Sequence[str] | None = None,
    ) -> PeopleQuery:
        """Return the query over released rows. Raises UnmeasuredError where these null semantics have no crowds."""
        require_pairs_of_nulls(columns, nulls)
        layout = CountLayout.of(
            columns, reading, rows.leading, nulls, values_known=values_known, subject=people.subject
        )
        counted = rows.relation(layout.released, layout.original, layout.known)
        if counted is None:
            raise ValueError("rows must be readable by SQL, but they have no database relation")
        query = cls(sql, counted, layout, reading, nulls)
        query.confidences, query.merged = confidences, None if merged is None else tuple(merged)
        return query

    def tables_text(self) -> str:
        """Return the common table expressions. Combinations and people are numbered once, and joined by hashing."""
        return (
            f"{self._ranked()}{self._unit_values()}{self._crowds() if self.mixed else self._classes()}{self._sizes()}"
        )

    def _ranked(self) -> str:
        """The counted combinations, with the numbers of their unit, their crowd, their shown cells and their person."""
        layout = self.layout
        person = () if layout.person is None else (layout.person,)
        numbers = {
            "unit": (*layout.grouping, *layout.mixed),
            "id": (*layout.grouping, *layout.originals) if self.mixed else (),
            "cell": tuple(layout.shown) if self.decoded else (),
            "p": person,
        }
        numbered = {name: places for name, places in numbers.items() if places}
        tables = "".join(_numbers(name, places) for name, places in numbered.items())
        joins = "".join(f" JOIN {name}_numbers ON {_same(name, places)}" for name, places in numbered.items())
        kept = ", ".join(f"{name}_numbers.{name}" if name in numbered else f"0 AS {name}" for name in numbers)
        kept = kept if self.mixed else kept.replace("0 AS id", "unit AS id")
        return f"""
            every AS MATERIALIZED (SELECT * FROM ({self.counted})){tables},
            ranked AS MATERIALIZED (SELECT every.*, {kept} FROM every{joins})"""  # noqa: S608  # our own query

    def matched(self) -> tuple[Floats, Floats]:
        """Return the distinct l of each group, and the rows that belong to it: people and values are matched."""
        tables = self.tables_text()
        lines = self.ask(f"{BOUNDS} ORDER BY id")
        unsure = pa.table({"id": pa.array([line[0] for line in lines if line[3] < line[4]], pa.int64())})
        matched = self.matchings(f"WITH {tables}", unsure, self.tables) if len(unsure) else {}
        each = [min(matched.get(line[0], line[4]), line[2] + 1) for line in lines]
        return np.array(each, dtype=np.float64), np.array([line[1] for line in lines], dtype=np.float64)

    def matchings(self, text: str, groups: pa.Table, tables: Mapping[str, Any]) -> dict[int, int]:
        """Return the largest matching of each of these ``groups`` (id) of the table ``held``, which ``text`` makes."""
        query = f"""
            {text} SELECT id, p, DENSE_RANK() OVER (ORDER BY s) FROM held SEMI JOIN unsure USING (id)
            WHERE n > 0"""  # noqa: S608  # our own query
        values_of: dict[int, dict[int, set[int]]] = {}
        for group, person, value in self.sql.rows(query, (), {**tables, "unsure": groups}):
            values_of.setdefault(int(group), {}).setdefault(int(person), set()).add(int(value))
        return {group: largest_matching_sql([(1, own) for own in some.values()]) for group, some in values_of.items()}

    def text_of_means(self, text: str) -> str:
        """Return a SELECT over ``cells`` and ``sizes``, on the mean shares of mixed cells."""
        return f"""
            WITH parts AS MATERIALIZED (SELECT unit AS id, p, s, n FROM had),
            whole AS (SELECT id, SUM(w) AS whole FROM link GROUP BY id),
            shares AS (SELECT own.id AS unit, s, n / people AS share FROM ({_cells("parts", self.confidences)}) AS own
                       JOIN (SELECT id, COUNT(DISTINCT p) AS people FROM parts GROUP BY id) USING (id)),
            cells AS MATERIALIZED (
                SELECT id, s, SUM(w / whole * share) AS n FROM link JOIN shares USING (unit) JOIN whole USING (id)
                GROUP BY id, s),
            sizes AS (SELECT id, CAST(1 AS DOUBLE) AS size, whole AS own FROM whole)
            SELECT * FROM ({text})"""  # noqa: S608  # our own query

    def _unit_values(self) -> str:
        return f"""{self._coded()}, {self._had("had_values", "ranked")},
            had AS MATERIALIZED (
                SELECT unit, p, {self._merged()} AS s, SUM(n) AS n, BOOL_OR(sure) AS sure FROM had_values GROUP BY ALL),
            told AS (SELECT unit, s, n FROM had)"""  # noqa: S608  # our own names

    def _merged(self) -> str:
        """Return the expression for what counts as the value ``s``."""
        if self.merged is None:
            return "s"
        literals = ", ".join("'" + value.replace("'", "''") + "'" for value in self.merged)
        return f"CASE WHEN LIST_CONTAINS([{literals}]::VARCHAR[], s) THEN '{NAMED}' ELSE '{OTHER}' END"

    def _value(self) -> str:
        """Return the column with the sensitive value of a counted combination."""
        if self.reading is None:
            return "NULL"
        return f"c{self.layout.shown[0] if self.layout.value is None else self.layout.value}"

    def _coded(self) -> str:
        """Return the values behind cells, where these are decoded."""
        if not self.decoded:
            return ""
        value = self._value()
        return f""",
            code AS MATERIALIZED (
                SELECT cell, {value} AS s,
                       CAST(SUM(n) AS DOUBLE) / CAST(SUM(SUM(n)) OVER (PARTITION BY cell) AS DOUBLE) AS q
                FROM ranked GROUP BY cell, {value})"""  # noqa: S608  # our own names

    def _had(self, name: str, source: str) -> str:
        """The table (unit, p, s, n, sure) of what the people of ``source`` have."""
        if self.decoded:
            return f"""
                {name} AS MATERIALIZED (
                    SELECT unit, p, s, SUM(n * q) AS n, BOOL_OR(q >= {CERTAIN!r}) AS sure
                    FROM (SELECT unit, cell, p, SUM(n) AS n FROM {source} GROUP BY ALL)
                    JOIN code USING (cell) GROUP BY unit, p, s)"""  # noqa: S608  # our own names
        return f"""
            {name} AS MATERIALIZED (
                SELECT unit, p, {self._value()} AS s, CAST(SUM(n) AS DOUBLE) AS n, TRUE AS sure
                FROM {source} GROUP BY ALL)"""  # noqa: S608  # our own names

    def _classes(self) -> str:
        own = ", own AS (SELECT unit AS id, SUM(n) AS n FROM ranked GROUP BY unit)"
        if not self.wildcard:
            return f"{own}, held AS MATERIALIZED (SELECT unit AS id, p, s, n, sure FROM had)"  # noqa: S608  # our own names
        width = len(self.layout.grouping)
        keys = ", ".join(["unit AS id", *(f"c{i}" for i in self.layout.grouping)])
        return f"""{own},
            combos AS MATERIALIZED (SELECT DISTINCT {keys} FROM ranked),
            pairs AS ({crowds("combos", "combos", width, "a.id AS id, b.id AS other")}),
            held AS MATERIALIZED (
                SELECT pairs.id AS id, p, s, SUM(n) AS n, BOOL_OR(sure) AS sure
                FROM pairs JOIN had ON had.unit = pairs.other GROUP BY pairs.id, p, s)"""  # noqa: S608  # our own names

    def _crowds(self) -> str:
        return """,
            link AS MATERIALIZED (SELECT id, unit, CAST(SUM(n) AS DOUBLE) AS w FROM ranked GROUP BY id, unit),
            own AS (SELECT id, SUM(w) AS n FROM link GROUP BY id),
            held AS MATERIALIZED (
                SELECT id, p, s, SUM(n) AS n, BOOL_OR(sure) AS sure FROM link JOIN had USING (unit)
                GROUP BY id, p, s)"""

    def _sizes(self) -> str:
        return f""",
            cells AS MATERIALIZED ({_cells("held", self.confidences)}),
            base AS MATERIALIZED ({BASE}),
            sizes AS MATERIALIZED (
                SELECT id, CAST(COUNT(*) AS DOUBLE) AS size, ANY_VALUE(rows) AS own
                FROM (SELECT DISTINCT id, p FROM held)
                JOIN (SELECT id, SUM(n) AS rows FROM own GROUP BY id) USING (id) GROUP BY id)"""  # noqa: S608  # our own query


def _numbers(name: str, places: Sequence[int]) -> str:
    """A table of the combinations of these columns, numbered in their order; people in any."""
    keys = ", ".join(f"c{i}" for i in places)
    over = "()" if name == "p" else f"(ORDER BY {keys})"
    return f""",
        {name}_numbers AS MATERIALIZED (
            SELECT {keys}, ROW_NUMBER() OVER {over} AS {name} FROM (SELECT DISTINCT {keys} FROM every))"""  # noqa: S608  # our own names


def _same(name: str, places: Sequence[int]) -> str:
    return " AND ".join(f"every.c{i} IS NOT DISTINCT FROM {name}_numbers.c{i}" for i in places)


def _cells(table: str, confidences: bool) -> str:  # one of two texts
    """Return a SELECT (id, s, n) over a table (id, p, s, n): people of each value, or confidences times people."""
    if confidences:
        return f"""
            SELECT id, s, GREATEST(SUM(n) / ANY_VALUE(r), SUM(LEAST(n, 1)) / ANY_VALUE(people)) * ANY_VALUE(people) AS n
            FROM {table} JOIN (SELECT id, SUM(n) AS r, COUNT(DISTINCT p) AS people FROM {table} GROUP BY id) USING (id)
            GROUP BY id, s"""  # noqa: S608  # our own names
    return f"""
        SELECT id, s, SUM(n / r) AS n FROM {table}
        JOIN (SELECT id, p, SUM(n) AS r FROM {table} GROUP BY id, p) USING (id, p) GROUP BY id, s"""  # noqa: S608  # as above


BASE = """
    SELECT s, SUM(n / r) / ANY_VALUE(people) AS q FROM had
    JOIN (SELECT p, SUM(n) AS r FROM had GROUP BY p) USING (p),
    (SELECT COUNT(*) AS people FROM (SELECT DISTINCT p FROM had)) GROUP BY s"""
"""The shares of the table by people."""

BOUNDS = """
    SELECT id, own, lacking, GREATEST(0, LEAST(v, v + by_value), LEAST(size, size + by_person)) AS least,
           LEAST(v, size) AS most
    FROM (SELECT id, ANY_VALUE(own) AS own, ANY_VALUE(size) AS size, COUNT(*) AS v, MIN(h - r) AS by_value,
                 MIN(size - sure) AS lacking
          FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY h) AS r FROM (
                    SELECT id, s, COUNT(*) AS h, SUM(CAST(sure AS INTEGER)) AS sure FROM held WHERE n > 0 GROUP BY id, s
                )) JOIN sizes USING (id) GROUP BY id)
    JOIN (SELECT id, MIN(d - r) AS by_person
          FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY d) AS r FROM (
                    SELECT id, p, COUNT(*) AS d FROM held WHERE n > 0 GROUP BY id, p)) GROUP BY id) USING (id)"""
"""The rows, how many people may lack some value, and a lower and an upper bound of the matching of each group.

Taken from the rarest on, the i-th value still finds one of its h holders where h >= i, and else it misses one at most:
of v values v + min(h - i) are matched, if that is less than v. Likewise for people, by how many values each has.
"""


def people_in_classes(
    columns: RevealingColumns, rows: CountedRows, nulls: Nulls, people: PeopleCount
) -> CombinationSizes:
    """Return the classes or crowds, whose sizes are people. Raises UnmeasuredError where they cannot be counted."""
    groups = people_values(columns, (None,), rows, nulls, people)[0].groups
    return CombinationSizes(groups.rows, groups.people, groups.left_out)


def people_in_classes_sql(
    columns: RevealingColumns, rows: CountedRows, sql: Sql, nulls: Nulls, people: PeopleCount
) -> CombinationSizes:
    """Return the same by the second route. Raises UnmeasuredError as above."""
    sizes, own = PeopleQuery.of_people(sql, rows, columns, None, nulls, people).figures(SIZE)
    return CombinationSizes(np.rint(own).astype(np.int64), np.rint(sizes).astype(np.int64))
