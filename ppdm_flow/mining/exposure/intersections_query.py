"""What several releases of one run leave of the possible values of a person: the second route, in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.records import dataclass
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import columns
from ppdm_flow.mining.exposure.faults import require_pairs_of_nulls
from ppdm_flow.mining.exposure.ground import Layout
from ppdm_flow.mining.exposure.intersections import accounted_rows, context_of
from ppdm_flow.mining.exposure.matching_query import largest_matching
from ppdm_flow.mining.exposure.paired import relation
from ppdm_flow.mining.exposure.query import Query
from ppdm_flow.mining.exposure.rows import Relation
from ppdm_flow.mining.exposure.values import Attributes, reading_of
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView

Floats = npt.NDArray[np.float64]
_DROPPED = -1


@dataclass(frozen=True, slots=True)
class _Side:
    """Another release: its rows with their classes, and the relation of rows that were left out at random."""

    query: Query
    at_random: str


class TogetherQuery(Query):
    """``cells``, ``sizes`` and ``base`` of one release, restricted by what the others leave of possible values."""

    def __init__(self, own: Query, sides: Sequence[_Side], tables: Mapping[str, Any], *, mean: bool = False) -> None:
        counted = Relation(own.counted, tables)
        nulls = Nulls.WILDCARD if own.wildcard else Nulls.OWN_CATEGORY
        super().__init__(own.sql, counted, own.layout, own.reading, nulls, mean=mean)
        self._own = own
        self._sides = sides

    def of_means(self) -> Query:
        """Return the same query on the mean shares of mixed cells."""
        return TogetherQuery(self._own.of_means(), self._sides, self.tables, mean=True)

    def figures_and_means(self, each: str, parameters: Sequence[Any] = ()) -> tuple[Floats, Floats, Floats]:
        """Return the figures of crowds, those of the means of their mixed cells, and the rows that belong to each."""
        figures, rows = self.figures(each, parameters)
        return figures, self.of_means().figures(each, parameters)[0], rows

    def values(self) -> list[str | None]:
        """Return the sensitive values of the release, None for a missing one."""
        return [row[0] for row in self.ask("SELECT s FROM base")]

    def matched(self) -> tuple[Floats, Floats]:
        """Return the largest matching of rows and the values that are left, in each class, and the rows of each."""
        shown = self.ask("SELECT id, cell, n FROM shown_together ORDER BY id, cell")
        behind: dict[tuple[int, int], set[int]] = {}
        text = """
            SELECT x.id, x.cell, c.v FROM shown_together x
            JOIN (SELECT cell, s, DENSE_RANK() OVER (ORDER BY s) AS v FROM own_code WHERE p > 0) c USING (cell)
            JOIN cells ON cells.id = x.id AND cells.s IS NOT DISTINCT FROM c.s"""
        for group, cell, value in self.ask(text):
            behind.setdefault((int(group), int(cell)), set()).add(int(value))
        groups: dict[int, list[tuple[int, set[int]]]] = {}
        for group, cell, rows in shown:
            groups.setdefault(int(group), []).append((int(rows), behind.get((int(group), int(cell)), set())))
        owners = self.ask("SELECT id, own FROM sizes ORDER BY id")
        each = [largest_matching(groups.get(int(group), [])) for group, _ in owners]
        return np.array(each, dtype=np.float64), np.array([own for _, own in owners], dtype=np.float64)

    def tables_text(self) -> str:
        """Return the common table expressions."""
        own = self._own.tables_text()
        parts = [
            f"own_rows AS MATERIALIZED (WITH {own} SELECT row, id, n FROM ranked)",  # noqa: S608  # our own queries
            f"own_cells AS MATERIALIZED (WITH {own} SELECT id, s, n FROM cells)",  # noqa: S608  # as above
            f"base AS MATERIALIZED (WITH {own} SELECT s, q FROM base)",  # noqa: S608  # as above
            *(text for number, side in enumerate(self._sides) for text in self._side(number, side, own)),
            self._combos(),
            self._cells(),
            self._sizes(),
        ]
        if self.decoded:
            parts += self._shown(own)
        return ", ".join(parts)

    def _side(self, number: int, side: _Side, own: str) -> list[str]:
        other = side.query.tables_text()
        rows = f"side{number}_rows AS MATERIALIZED (WITH {other} SELECT row, id FROM ranked)"  # noqa: S608  # as above
        gone = f"""
            gone{number} AS MATERIALIZED (
                SELECT row, n FROM own_rows WHERE row NOT IN (SELECT row FROM side{number}_rows)
                AND row NOT IN (SELECT row FROM {side.at_random}))"""  # noqa: S608  # as above
        if self.decoded:
            value, source = "s, SUM(n * p) AS n", "ranked JOIN code USING (cell)"
        else:
            place = self.layout.shown[0] if self.layout.value is None else self.layout.value
            value, source = f"c{place} AS s, SUM(n) AS n", "ranked"
        values = f"""
            gone{number}_cells AS MATERIALIZED (
                WITH {own} SELECT {value} FROM {source} WHERE row IN (SELECT row FROM gone{number}) GROUP BY s)"""  # noqa: S608  # as above
        possible = f"SELECT {_DROPPED} AS id, s FROM gone{number}_cells"  # noqa: S608  # as above
        if side.query.reading is not None:
            there = f"WITH {other} SELECT DISTINCT id, s FROM cells WHERE n > 0"  # noqa: S608  # as above
            possible = f"SELECT * FROM ({there}) UNION ALL {possible}"  # noqa: S608  # as above
        return [rows, gone, values, f"side{number}_cells AS MATERIALIZED ({possible})"]

    def _combos(self) -> str:
        """Every combination of classes that some person has: NULL where a release left the person out at random."""
        keys, joins = [], []
        for i, _ in enumerate(self._sides):
            keys.append(f"CASE WHEN g{i}.row IS NOT NULL THEN {_DROPPED} ELSE b{i}.id END AS k{i}")
            joins.append(f"LEFT JOIN side{i}_rows b{i} ON b{i}.row = a.row LEFT JOIN gone{i} g{i} ON g{i}.row = a.row")
        names = "".join(f", k{i}" for i in range(len(self._sides)))
        inner = f"SELECT a.id AS a, a.n AS n, {', '.join(keys)} FROM own_rows a {' '.join(joins)}"  # noqa: S608  # as above
        return f"""
            combos AS MATERIALIZED (
                SELECT *, ROW_NUMBER() OVER () AS id
                FROM (SELECT a{names}, SUM(n) AS own FROM ({inner}) GROUP BY ALL))"""  # noqa: S608  # as above

    def _cells(self) -> str:
        joins, kept = [], []
        for i, side in enumerate(self._sides):
            joins.append(f"LEFT JOIN side{i}_cells p{i} ON p{i}.id = k.k{i} AND p{i}.s IS NOT DISTINCT FROM c.s")
            present = "" if side.query.reading is not None else f" OR k.k{i} <> {_DROPPED}"
            kept.append(f"(k.k{i} IS NULL OR p{i}.id IS NOT NULL{present})")
        limited = f"""
            SELECT k.id AS id, c.s AS s, c.n AS n FROM combos k JOIN own_cells c ON c.id = k.a {" ".join(joins)}
            WHERE {" AND ".join(kept)}"""  # noqa: S608  # as above
        gone = (f" UNION ALL SELECT {-1 - i} AS id, s, n FROM gone{i}_cells" for i in range(len(self._sides)))  # noqa: S608  # as above
        return f"cells AS MATERIALIZED ({limited}{''.join(gone)})"

    def _sizes(self) -> str:
        gone = (
            f" UNION ALL SELECT {-1 - i} AS id, COALESCE(SUM(n), 0) AS own FROM gone{i}"  # noqa: S608  # as above
            for i in range(len(self._sides))
        )
        return f"""
            sizes AS MATERIALIZED (
                SELECT id, CAST(SUM(n) AS DOUBLE) AS size, ANY_VALUE(own) AS own FROM cells
                JOIN (SELECT id, own FROM combos{"".join(gone)}) USING (id) GROUP BY id)"""  # noqa: S608  # as above

    def _shown(self, own: str) -> list[str]:
        if self.mixed:
            units = "link JOIN shown USING (unit)"
        elif self.wildcard:
            units = "pairs JOIN shown ON shown.unit = pairs.other"
        else:
            units = "(SELECT unit AS id, cell, n FROM shown)"
        gone = (
            f" UNION ALL SELECT {-1 - i} AS id, cell, SUM(n) AS n FROM own_shown_rows"  # noqa: S608  # as above
            f" WHERE row IN (SELECT row FROM gone{i}) GROUP BY cell"
            for i in range(len(self._sides))
        )
        return [
            f"own_code AS MATERIALIZED (WITH {own} SELECT cell, s, p FROM code)",  # noqa: S608  # as above
            f"own_shown_rows AS MATERIALIZED (WITH {own} SELECT row, cell, n FROM ranked)",  # noqa: S608  # as above
            f"own_shown AS MATERIALIZED (WITH {own} SELECT id, cell, SUM(n) AS n FROM {units} GROUP BY id, cell)",  # noqa: S608  # as above
            f"""shown_together AS MATERIALIZED (
                SELECT k.id AS id, cell, n FROM combos k JOIN own_shown ON own_shown.id = k.a{"".join(gone)})""",  # noqa: S608  # as above
        ]


def together_query(
    about: Attributes,
    attribute: str,
    candidate: DataView,
    ctx: AuditContext,
    sql: Sql,
    names: Sequence[str],
) -> TogetherQuery:
    """Return the query on a release beside the others that are named. Raises UnmeasuredError as the first route."""
    tables: dict[str, Any] = {}
    own = _query("own", about, attribute, candidate, ctx, sql, tables)
    sides = []
    for number, other in enumerate(o for o in ctx.others if o.name in names):
        context = context_of(other, ctx)
        query = _query(f"side{number}", about, attribute, other.candidate, context, sql, tables)
        tables[f"random{number}"] = pa.table({"row": pa.array(accounted_rows(other, ctx), pa.int64())})
        sides.append(_Side(query, f"random{number}"))
    return TogetherQuery(own, sides, tables)


def dropped_again(candidate: DataView, ctx: AuditContext, sql: Sql) -> dict[str, int]:
    """Count the rows that other releases lack for what their cells are by the second route."""
    tables: dict[str, Any] = {}
    if ctx.people is None:
        own = _query("own", Attributes((), ()), None, candidate, ctx, sql, tables)
        counted = f"COALESCE(SUM(n), 0) FROM ({own.counted})"  # our own query
    else:
        subject = (ctx.people.subject,)
        if ctx.pairs is None:
            raise ValueError("rows cannot be paired")
        tables["lines_own"] = relation(ctx.pairs, (), subject, candidate.schema.weight)
        counted = "COUNT(DISTINCT o0) FROM lines_own"
    dropped: dict[str, int] = {}
    for other in ctx.others:
        side = _query("side", Attributes((), ()), None, other.candidate, context_of(other, ctx), sql, tables)
        random = {"random": pa.table({"row": pa.array(other.left_out_at_random, pa.int64())})}
        text = f"""
            SELECT {counted} WHERE row NOT IN (SELECT row FROM ({side.counted}))
            AND row NOT IN (SELECT row FROM random)"""  # noqa: S608  # our own queries
        rows = int(sql.rows(text, (), tables | random)[0][0])
        dropped |= {other.name: rows} if rows else {}
    return dropped


def _query(
    name: str,
    about: Attributes,
    attribute: str | None,
    candidate: DataView,
    ctx: AuditContext,
    sql: Sql,
    tables: dict[str, Any],
) -> Query:
    revealing = columns(about.known, about.secret, candidate, ctx)
    require_pairs_of_nulls(revealing, ctx.nulls)
    reading = reading_of(attribute, candidate, ctx)
    layout = Layout.of(revealing, reading, 0, ctx.nulls, values_known=about.values_known)
    if ctx.pairs is None:
        raise ValueError("rows cannot be paired")
    table = f"lines_{name}"
    tables[table] = relation(ctx.pairs, layout.released, layout.original, candidate.schema.weight)
    every = [*(f"r{i}" for i in range(len(layout.released))), *(f"o{i}" for i in range(len(layout.original)))]
    named = "".join(f"{column} AS c{i}, " for i, column in enumerate(every))
    conditions = ["n > 0", *(f"c{i} IS NOT NULL" for i in layout.must_be_known(0))]
    text = f"SELECT * FROM (SELECT {named}n, row FROM {table}) WHERE {' AND '.join(conditions)}"  # noqa: S608  # our own names
    return Query(sql, Relation(text, tables), layout, reading, ctx.nulls)
