"""The second route to what somebody finds who knows several rows of one person: SQL, which links rows by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import RevealingColumns, ValueColumns
from ppdm_flow.mining.exposure.ground import CountLayout
from ppdm_flow.mining.exposure.rows import ReleasedRows
from ppdm_flow.mining.people.chances_query import ChancesQuery, cells_table, chances_sql
from ppdm_flow.mining.people.combinations import MOST_COMBINATIONS, CombinationLimitError
from ppdm_flow.mining.people.known import beside, require_linkable
from ppdm_flow.mining.people.known_rows_query import KnownRowsQuery, combinations_text
from ppdm_flow.mining.people.linkage_query import linked_lines
from ppdm_flow.mining.people.query import BASE, BOUNDS, PeopleQuery
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView

_CELLS_AT_A_TIME = 8_000_000
"""People of combinations with the values of each that are looked at together."""
_LARGEST = float(1 << 62)
_WEIGHTS = "SELECT id, s, SUM(w) AS n FROM combos JOIN heard USING (p) GROUP BY id, s"
_CONFIDENCES = """
    SELECT id, s, GREATEST(SUM(n) / ANY_VALUE(of_all), SUM(LEAST(n, 1)) / ANY_VALUE(size)) * ANY_VALUE(size) AS n
    FROM combos JOIN heard USING (p) JOIN sizes USING (id) JOIN (
        SELECT id, SUM(rows) AS of_all FROM combos JOIN (SELECT DISTINCT p, rows FROM heard) USING (p) GROUP BY id
    ) USING (id) GROUP BY id, s"""

_PARTLY = "SELECT p FROM lines GROUP BY p HAVING BOOL_OR(linked) AND NOT BOOL_AND(linked)"
"""The people of whom some rows are linked and others not."""
_HELD = "held AS MATERIALIZED (SELECT id, p, s, n, sure FROM combos JOIN heard USING (p))"
"""What the linked people of each combination have."""


class KnownQuery(PeopleQuery):
    """Common table expressions as of :class:`PeopleQuery`, where a group is the linked people of one combination.

    The release is read once, into an Arrow table of numbers; combinations of at most ``known_rows`` classes, None being
    all of them, are looked at some at a time.
    """

    known_rows: int | None = 1
    pseudonyms = 0

    @classmethod
    def of_known(
        cls,
        sql: Sql,
        columns: RevealingColumns,
        reading: ValueColumns | None,
        candidate: DataView,
        ctx: AuditContext,
        *,
        values_known: bool = True,
        confidences: bool = False,
        merged: Sequence[str] | None = None,
    ) -> KnownQuery:
        """Return the query over a release."""
        if ctx.people is None:
            raise ValueError("the policy counts no people")
        named, others = beside(columns, candidate, ctx.people, ctx)
        layout = CountLayout.of(
            columns,
            reading,
            0,
            ctx.nulls,
            values_known=values_known,
            subject=ctx.people.subject,
            beside=(*named, *others),
        )
        counted = ReleasedRows(candidate, ctx).relation(layout.released, layout.original, layout.known)
        if counted is None:
            raise ValueError("rows must be readable by SQL, but they have no database relation")
        query = cls(sql, counted, layout, reading, ctx.nulls)
        query.mixed = (
            False  # combinations are of classes: where columns are mixed, nothing but linked rows is asked for
        )
        query.confidences, query.merged = confidences, None if merged is None else tuple(merged)
        query.known_rows, query.pseudonyms = ctx.people.known_rows, len(named)
        return query

    def links(self) -> bool:
        """Return whether some row is linked; little is asked where no column could link rows."""
        if not self.layout.beside or not self._may_link:
            return False
        return bool(self.sql.rows("SELECT COUNT(*) FROM lines WHERE linked", (), self._lines)[0][0])

    def smallest_crowd(self) -> int | None:
        """Return the fewest linked people that have one combination; None where no row is linked.

        Raises TooManyError where there are too many, unless the smallest crowd follows from less.
        """
        if not self.links():
            return None
        text = """
            SELECT p AS person, unit AS class, TRUE AS linked FROM (
                SELECT p, unit, UNNEST(RANGE(CAST(n AS BIGINT))) FROM lines WHERE linked)"""
        rows = self.sql.table(text, (), self._lines)
        return KnownRowsQuery(self.sql, rows).smallest_crowd(self.known_rows)

    def least_distinct(self) -> float:
        """Return the least distinct l of linked people that have one combination, of which there must be one.

        A crowd of one person leaves one value. Raises TooManyError where there are too many combinations.
        """
        if self.smallest_crowd() == 1:
            return 1.0
        least = np.inf
        for text in self._groups():
            held = f"WITH {text}, {_HELD}"
            found = self.sql.table(f"{held} {BOUNDS}", (), self._heard)
            lower, upper, lacking = (found[name].to_numpy() for name in ("least", "most", "lacking"))
            upper = np.minimum(upper, lacking + 1)
            sure = lower >= upper
            least = min(least, float(upper[sure].min(initial=np.inf)))
            unsure = pa.table({"id": found["id"].filter(pa.array(~sure & (lower < least)))})
            matched = self.matchings(held, unsure, self._heard) if len(unsure) else {}
            most = dict(zip(found["id"].to_pylist(), (lacking + 1).tolist(), strict=True)) if matched else {}
            least = min([least, *(float(min(number, most[group])) for group, number in matched.items())])
        return least

    def of_groups(self, text: str) -> Iterator[tuple[Any, ...]]:
        """Yield the lines of a SELECT over ``held`` (id, p, s, n, sure) and ``sizes``, for some groups after others.

        Raises TooManyError where people have too many combinations to look at.
        """
        for groups in self._groups():
            yield from self.sql.rows(f"WITH {groups}, {_HELD} SELECT * FROM ({text})", (), self._heard)  # noqa: S608  # our own names

    def worst_figure(self, each: str, parameters: list[Any], *, at_most: bool) -> float | None:
        """Return the worst figure ``v`` of a query (id, v) over groups; infinite for NULL, None without a group.

        Raises TooManyError where people have too many combinations to look at.
        """
        figure = "COALESCE(CAST(v AS DOUBLE), 'Infinity'::DOUBLE)"
        found: list[float] = []
        for text in self._groups():
            cells = f"WITH {text}, cells AS MATERIALIZED ({_CONFIDENCES if self.confidences else _WEIGHTS})"
            worst = f"{cells} SELECT {'MAX' if at_most else 'MIN'}({figure}) FROM ({each})"  # noqa: S608  # our own query
            found += [v for (v,) in self.sql.rows(worst, parameters, self._heard) if v is not None]
        return (max if at_most else min)(found) if found else None

    def values(self) -> list[str | None]:
        """Return the sensitive values that occur, None for a missing one."""
        return [row[0] for row in self.sql.rows("SELECT s FROM base", (), self._heard)]

    def chances_query(self, sql: Sql) -> ChancesQuery | None:
        """Return the largest chances of values for whoever knows several unlinked rows; None where nothing is added."""
        if self.known_rows == 1:
            return None
        if sql.rows("SELECT COUNT(*) FROM lines WHERE NOT linked", (), self._lines)[0][0] == 0:
            return None
        found = self._largest_chances(sql)
        if sql.rows(f"SELECT COUNT(*) FROM ({_PARTLY})", (), self._lines)[0][0]:  # noqa: S608  # our own query
            fewer = copy(self)
            fewer.known_rows = None if self.known_rows is None else self.known_rows - 1
            shares, chances = fewer._largest_shares(), fewer._largest_chances(sql)  # noqa: SLF001  # of the same class
            for value in {**shares, **chances}:
                together = 1 - (1 - shares.get(value, 0.0)) * (1 - chances.get(value, 0.0))
                found[value] = max(found.get(value, 0.0), together)
        return ChancesQuery.of(sql, found)

    def _largest_chances(self, sql: Sql) -> dict[str | None, float]:
        """Return the chance of each value that one of the known rows has it."""
        rows = sql.table(
            """
            SELECT p AS person, unit AS class, TRUE AS known FROM (
                SELECT p, unit, UNNEST(RANGE(CAST(n AS BIGINT))) FROM lines)""",
            (),
            self._lines,
        )
        text = f"WITH {self.tables_text()} SELECT unit, s, SUM(n) FROM had GROUP BY unit, s"  # noqa: S608  # as above
        values: dict[str | None, int] = {}
        numbered = [
            (unit, values.setdefault(value, len(values)), n) for unit, value, n in sql.rows(text, (), self._lines)
        ]
        found = chances_sql(sql, rows, cells_table(numbered), self.known_rows)
        return {value: found.get(number, 0.0) for value, number in values.items()}

    def _largest_shares(self) -> dict[str | None, float]:
        """Return the largest confidence in each value of linked people who have one combination."""
        largest: dict[str | None, float] = {}
        for groups in self._groups():
            text = f"""
                WITH {groups} SELECT s, MAX(LEAST(1.0, n / size)) FROM ({_CONFIDENCES}) JOIN sizes USING (id)
                GROUP BY s"""  # noqa: S608  # our own names
            for value, share in self.sql.rows(text, (), self._heard):
                largest[value] = max(largest.get(value, 0.0), float(share))
        return largest

    def tables_text(self) -> str:
        """Return the common table expressions over ``lines``."""
        return f"""
            ranked AS (SELECT unit, unit AS id, cell, p, s, n, linked FROM lines){self._told()},
            {self._had("linked_values", "(SELECT * FROM ranked WHERE linked)")},
            heard AS (
                SELECT p, {self._merged()} AS s, SUM(n) AS n, BOOL_OR(sure) AS sure FROM linked_values
                GROUP BY ALL)"""  # noqa: S608  # our own names

    def _value(self) -> str:
        return "s"

    @cached_property
    def _may_link(self) -> bool:
        """Whether a row could be linked: not where each combination of cells has more rows than any person."""
        if self.pseudonyms:
            return True
        cells = ", ".join(f"c{i}" for i in self.layout.beside)
        text = f"""
            SELECT (SELECT MIN(m) FROM (SELECT SUM(n) AS m FROM ({self.single}) GROUP BY {cells}))
                <= (SELECT MAX(m) FROM (SELECT SUM(n) AS m FROM ({self.single}) GROUP BY c{self.layout.person}))"""  # noqa: S608  # our own query
        return bool(self.sql.rows(text, (), self.tables)[0][0])

    @cached_property
    def _lines(self) -> dict[str, pa.Table]:
        """The counted rows: ``lines`` (unit, cell, p, s, n, linked); ``s`` is the value that is read."""
        places = [f"c{i}" for i in self.layout.beside]
        beside = "".join(f"{place}, " for place in places)
        text = f"""
            WITH {self._ranked()}
            SELECT {beside}unit, cell, p, CAST({super()._value()} AS VARCHAR) AS s, CAST(n AS BIGINT) AS n
            FROM ranked"""  # noqa: S608  # our own names
        names = places[: self.pseudonyms], places[self.pseudonyms :]
        lines = linked_lines(self.sql, text, self.tables, "p", *names)
        return {"lines": lines.drop_columns(places)}

    @cached_property
    def _heard(self) -> dict[str, pa.Table]:
        """What linked people have: ``owned`` (p, class, copies), ``heard`` (p, s, n, w, sure), and ``base`` (s, q).

        ``w`` is n among all of the person's; it has ``rows`` linked ones.
        """
        texts = {
            "owned": "SELECT p, unit AS class, CAST(SUM(n) AS BIGINT) AS copies FROM ranked WHERE linked GROUP BY ALL",
            "heard": """
                SELECT p, s, n, sure, n / SUM(n) OVER (PARTITION BY p) AS w, SUM(n) OVER (PARTITION BY p) AS rows
                FROM heard""",
            "base": f"SELECT * FROM ({BASE})",  # noqa: S608  # our own query
        }
        with_tables = f"WITH {self.tables_text()}"
        return {name: self.sql.table(f"{with_tables} {text}", (), self._lines) for name, text in texts.items()}

    def _groups(self) -> Iterator[str]:
        """Yield the tables ``combos`` (id, p) and ``sizes`` (id, size, own) of some combinations of classes."""
        sizes = "sizes AS MATERIALIZED (SELECT id, COUNT(*)::DOUBLE AS size, COUNT(*) AS own FROM combos GROUP BY id)"
        for combos in self._combinations():
            yield f"combos AS MATERIALIZED ({combos}), {sizes}"

    def _combinations(self) -> Iterator[str]:
        if self.known_rows is None:
            yield """
                SELECT DENSE_RANK() OVER (ORDER BY key) AS id, p FROM (
                    SELECT p, LIST((class, copies) ORDER BY class) AS key FROM owned GROUP BY p)"""
            return
        d, twice, thrice = "COUNT(*)::DOUBLE", "COUNT(*) FILTER (copies >= 2)", "COUNT(*) FILTER (copies >= 3)"
        pairs = f"{d} * ({d} - 1) / 2 + {twice}"
        triples = f"{d} * ({d} - 1) * ({d} - 2) / 6 + {twice} * ({d} - 1) + {thrice}"
        each = " + ".join((d, pairs, triples)[: self.known_rows])
        text = f"""
            SELECT SUM(many), SUM(many * own), (SELECT MAX(class) + 2 FROM owned)
            FROM (SELECT p, {each} AS many FROM owned GROUP BY p) JOIN (
                SELECT p, COUNT(*) AS own FROM heard GROUP BY p) USING (p)"""  # noqa: S608  # our own names
        number, cells, base = self.sql.rows(text, (), self._heard)[0]
        if number > MOST_COMBINATIONS:
            raise CombinationLimitError.of(number, self.known_rows)
        parts = 1 + int(cells // _CELLS_AT_A_TIME)
        width = "BIGINT" if float(base) ** self.known_rows < _LARGEST else "HUGEINT"
        for size in range(1, self.known_rows + 1):
            number_of = f"a::{width}"
            for name in "bc"[: size - 1]:
                number_of = f"({number_of}) * {base} + {name}"
            for part in range(parts):
                every = combinations_text("SELECT p AS person, class, copies, 1 AS n FROM owned", size, part, parts)
                yield f"SELECT {number_of} AS id, person AS p FROM ({every})"  # noqa: S608  # our own names


def require_linkable_sql(
    sql: Sql, columns: RevealingColumns, candidate: DataView, ctx: AuditContext, *, chances: bool = False
) -> None:
    """Raise UncrowdedError as :meth:`KnownRows.of` does; rows are linked by SQL."""
    query = KnownQuery.of_known(sql, columns, None, candidate, ctx)
    linked = chances and ctx.people is not None and ctx.people.known_rows != 1
    if columns.mixed or ctx.nulls is Nulls.WILDCARD:
        linked = linked or query.links()
        require_linkable(int(linked), ctx.nulls, mixed=bool(columns.mixed))
