"""The second route to what somebody finds who knows several rows of one person: SQL, which links rows by itself."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import Columns, Reading
from ppdm_flow.mining.exposure.ground import Layout
from ppdm_flow.mining.exposure.rows import ReleasedRows
from ppdm_flow.mining.people.chances_query import chances_again
from ppdm_flow.mining.people.combinations import MOST_COMBINATIONS, TooManyError
from ppdm_flow.mining.people.known import beside, require_linkable
from ppdm_flow.mining.people.known_rows_query import KnownRowsQuery
from ppdm_flow.mining.people.linkage_query import linked_text
from ppdm_flow.mining.people.query import PeopleQuery
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView

_ROWS = pa.schema([("person", pa.int64()), ("class", pa.int64()), ("known", pa.bool_())])
_LINKED = pa.schema([("person", pa.int64()), ("class", pa.int64()), ("linked", pa.bool_()), ("value", pa.string())])
_CHANCES = pa.schema([("s", pa.string()), ("n", pa.float64())])
_CELLS = pa.schema([("class", pa.int64()), ("value", pa.int64()), ("n", pa.float64())])


class KnownQuery(PeopleQuery):
    """Common table expressions as of :class:`PeopleQuery`, where a group is the linked people of one combination.

    ``flagged`` are the counted rows, which ``linked`` says whether they are seen to be one person's. ``combos``
    (id, p): the people that have each combination of at most ``known_rows`` classes; None is all of them.
    """

    known_rows: int | None = 1
    pseudonyms = 0

    @classmethod
    def of_known(
        cls,
        sql: Sql,
        columns: Columns,
        reading: Reading | None,
        candidate: DataView,
        ctx: AuditContext,
        *,
        values_known: bool = True,
        confidences: bool = False,
        without: str | None = None,
    ) -> KnownQuery:
        """Return the query over a release."""
        if ctx.people is None:
            raise ValueError("the policy counts no people")
        named, others = beside(columns, candidate, ctx.people, ctx)
        layout = Layout.of(
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
        query.confidences, query.without = confidences, without
        query.known_rows, query.pseudonyms = ctx.people.known_rows, len(named)
        return query

    def links(self) -> bool:
        """Return whether some row is linked. Raises TooManyError where people have too many combinations to look at."""
        if self.known_rows is None:
            return bool(self.ask("SELECT COUNT(*) FROM owned")[0][0])
        d, twice, thrice = "COUNT(*)::DOUBLE", "COUNT(*) FILTER (copies >= 2)", "COUNT(*) FILTER (copies >= 3)"
        pairs = f"{d} * ({d} - 1) / 2 + {twice}"
        triples = f"{d} * ({d} - 1) * ({d} - 2) / 6 + {twice} * ({d} - 1) + {thrice}"
        each = " + ".join((d, pairs, triples)[: self.known_rows])
        text = f"SELECT SUM(n) FROM (SELECT {each} AS n FROM owned GROUP BY p)"  # noqa: S608  # our own names
        number = float(self.ask(text)[0][0] or 0)
        if number > MOST_COMBINATIONS:
            raise TooManyError.of(number, self.known_rows)
        return number > 0

    def smallest_crowd(self) -> int | None:
        """Return the fewest linked people that have one combination; None where no row is linked.

        Raises TooManyError where there are too many, unless the smallest crowd follows from less.
        """
        rows = self.ask("""
            SELECT DENSE_RANK() OVER (ORDER BY p), class, TRUE, NULL FROM (
                SELECT p, class, UNNEST(RANGE(CAST(copies AS BIGINT))) FROM owned)""")
        return KnownRowsQuery(self.sql, _table(rows, _LINKED)).smallest_crowd(self.known_rows) if rows else None

    def worst_figure(self, each: str, parameters: list[Any], *, at_most: bool) -> float | None:
        """Return the worst figure ``v`` of a query (id, v) over groups; infinite for NULL, None without a group."""
        figure = "COALESCE(CAST(v AS DOUBLE), 'Infinity'::DOUBLE)"
        text = f"SELECT {'MAX' if at_most else 'MIN'}({figure}) FROM ({each})"  # noqa: S608  # our own query
        worst = self.ask(text, parameters)[0][0]
        return None if worst is None else float(worst)

    def chances_query(self, sql: Sql) -> ChancesQuery | None:
        """Return the largest chances of values for whoever knows several unlinked rows; None where nothing is added."""
        if self.known_rows == 1 or self.ask("SELECT COUNT(*) FROM flagged WHERE NOT linked")[0][0] == 0:
            return None
        rows = self.ask("""
            SELECT DENSE_RANK() OVER (ORDER BY p), unit, TRUE FROM (
                SELECT p, unit, UNNEST(RANGE(CAST(n AS BIGINT))) FROM (
                    SELECT p, unit, SUM(n) AS n FROM flagged GROUP BY ALL))""")
        cells = self.ask("SELECT unit, s, SUM(n) FROM had GROUP BY unit, s")
        values: dict[str | None, int] = {}
        numbered = [(unit, values.setdefault(value, len(values)), n) for unit, value, n in cells]
        found = chances_again(sql, _table(rows, _ROWS), _table(numbered, _CELLS), self.known_rows)
        lines = [(value, found.get(number, 0.0)) for value, number in values.items()]
        return ChancesQuery(sql, _table(lines, _CHANCES))

    def _classes(self) -> str:
        return f""",
            flagged AS MATERIALIZED (SELECT *, c{self.layout.person} AS p FROM ({self._linked()})),
            owned AS MATERIALIZED (
                SELECT p, unit AS class, SUM(n) AS copies FROM flagged WHERE linked GROUP BY p, unit),
            keyed AS MATERIALIZED ({self._combinations()}),
            combos AS MATERIALIZED (SELECT DENSE_RANK() OVER (ORDER BY key) AS id, p FROM keyed),
            {self._had("linked_values", "(SELECT * FROM flagged WHERE linked)")},
            heard AS MATERIALIZED (
                SELECT p, {self._merged()} AS s, SUM(n) AS n, BOOL_OR(sure) AS sure FROM linked_values GROUP BY ALL),
            own AS (SELECT id, COUNT(*) AS n FROM combos GROUP BY id),
            held AS MATERIALIZED (SELECT id, p, s, n, sure FROM combos JOIN heard USING (p))"""  # noqa: S608  # our own names

    def _linked(self) -> str:
        """Return a SELECT of the counted rows, which says whether each is linked."""
        places = [f"c{i}" for i in self.layout.beside]
        person = f"c{self.layout.person}"
        return linked_text("ranked", person, places[: self.pseudonyms], places[self.pseudonyms :])

    def _combinations(self) -> str:
        """Return a SELECT of the (key, p) of combinations of classes that people have."""
        if self.known_rows is None:
            return "SELECT LIST((class, copies) ORDER BY class) AS key, p FROM owned GROUP BY p"
        parts = ["SELECT [class] AS key, p FROM owned"]
        pairs = "a.class < b.class OR (a.class = b.class AND a.copies > 1)"
        if self.known_rows > 1:
            parts.append(f"SELECT [a.class, b.class], p FROM owned a JOIN owned b USING (p) WHERE {pairs}")  # noqa: S608  # our own names
        if self.known_rows > 2:  # two and three are what they are
            triples = """
                CASE WHEN a.class = b.class AND b.class = c.class THEN a.copies > 2
                     WHEN a.class = b.class THEN a.copies > 1 WHEN b.class = c.class THEN b.copies > 1 ELSE TRUE END"""
            parts.append(
                "SELECT [a.class, b.class, c.class], p FROM owned a JOIN owned b USING (p) JOIN owned c USING (p)"  # noqa: S608  # as above
                f" WHERE a.class <= b.class AND b.class <= c.class AND {triples}"
            )
        return " UNION ALL ".join(parts)


def require_linkable_again(
    sql: Sql, columns: Columns, candidate: DataView, ctx: AuditContext, *, chances: bool = False
) -> None:
    """Raise UncrowdedError as :meth:`KnownRows.of` does; rows are linked by SQL."""
    query = KnownQuery.of_known(sql, columns, None, candidate, ctx)
    linked = chances and ctx.people is not None and ctx.people.known_rows != 1
    if columns.mixed or ctx.nulls is Nulls.WILDCARD:
        linked = linked or query.ask("SELECT COUNT(*) FROM flagged WHERE linked")[0][0] > 0
        require_linkable(int(linked), ctx.nulls, mixed=bool(columns.mixed))


class ChancesQuery:
    """``cells`` (id, s, n) are the largest chances of values, as of one group of one person."""

    def __init__(self, sql: Sql, chances: pa.Table) -> None:
        self.sql = sql
        self.chances = chances

    def worst_figure(self, each: str, parameters: list[Any], *, at_most: bool) -> float | None:
        """Return the figure ``v`` of a query (id, v); None where it has none."""
        text = f"""
            WITH cells AS (SELECT 0 AS id, s, n FROM chances), sizes AS (SELECT 0 AS id, 1.0::DOUBLE AS size, 1 AS own)
            SELECT {"MAX" if at_most else "MIN"}(v) FROM ({each})"""  # noqa: S608  # our own query
        worst = self.sql.rows(text, parameters, {"chances": self.chances})[0][0]
        return None if worst is None else float(worst)


def _table(lines: list[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    columns = list(zip(*lines, strict=True)) if lines else [()] * len(schema)
    return pa.Table.from_arrays([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)
