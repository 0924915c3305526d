"""The second route to the people found by several known rows of one person: SQL, which links rows by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import RevealingColumns, ValueColumns
from ppdm_flow.mining.exposure.histograms import CountLayout
from ppdm_flow.mining.exposure.query import largest_matching_sql
from ppdm_flow.mining.exposure.rows import ReleasedRows
from ppdm_flow.mining.people.known import beside, require_linkable
from ppdm_flow.mining.people.known_rows import CLEARLY_MORE, LARGEST, MOST_COMBINATIONS, CombinationLimitError
from ppdm_flow.mining.people.linkage import linked_lines
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
"""The people who have both linked and other rows."""
_IN_CLASS = f"p::BIGINT * {1 << 32} + class"
"""The number of a person in a class."""
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
            raise ValueError("the policy has no attribute with role `subject`, so people cannot be counted")
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
        for text in self._groups(in_classes=True):
            with_clause = f"WITH {text}, {_HELD}"
            bounds = self.sql.table(f"{with_clause} {BOUNDS}", (), self._heard)
            lower, upper, lacking = (bounds[name].to_numpy() for name in ("least", "most", "lacking"))
            upper = np.minimum(upper, lacking + 1)
            sure = lower >= upper
            least = min(least, float(upper[sure].min(initial=np.inf)))
            unsure = pa.table({"id": bounds["id"].filter(pa.array(~sure & (lower < least)))})
            matched = self.matchings(with_clause, unsure, self._heard) if len(unsure) else {}
            most = dict(zip(bounds["id"].to_pylist(), (lacking + 1).tolist(), strict=True)) if matched else {}
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
        figures: list[float] = []
        for text in self._groups(in_classes=True):
            cells = f"WITH {text}, cells AS MATERIALIZED ({_CONFIDENCES if self.confidences else _WEIGHTS})"
            worst = f"{cells} SELECT {'MAX' if at_most else 'MIN'}({figure}) FROM ({each})"  # noqa: S608  # our own query
            figures += [v for (v,) in self.sql.rows(worst, parameters, self._heard) if v is not None]
        return (max if at_most else min)(figures) if figures else None

    def values(self) -> list[str | None]:
        """Return the sensitive values that occur, None for a missing one."""
        return [row[0] for row in self.sql.rows("SELECT s FROM base", (), self._heard)]

    def chances_query(self, sql: Sql) -> ChancesQuery | None:
        """Return the largest chances of values when several unlinked rows are known; None where nothing is added."""
        if self.known_rows == 1:
            return None
        if sql.rows("SELECT COUNT(*) FROM lines WHERE NOT linked", (), self._lines)[0][0] == 0:
            return None
        largest_chances = self._largest_chances(sql)
        if sql.rows(f"SELECT COUNT(*) FROM ({_PARTLY})", (), self._lines)[0][0]:  # noqa: S608  # our own query
            fewer = copy(self)
            fewer.known_rows = None if self.known_rows is None else self.known_rows - 1
            shares, chances = fewer._largest_shares(), fewer._largest_chances(sql)  # noqa: SLF001  # of the same class
            for value in {**shares, **chances}:
                together = 1 - (1 - shares.get(value, 0.0)) * (1 - chances.get(value, 0.0))
                largest_chances[value] = max(largest_chances.get(value, 0.0), together)
        return ChancesQuery.of(sql, largest_chances)

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
        chances_by_number = chances_sql(sql, rows, cells_table(numbered), self.known_rows)
        return {value: chances_by_number.get(number, 0.0) for value, number in values.items()}

    def _largest_shares(self) -> dict[str | None, float]:
        """Return the largest confidence in each value of linked people who have one combination."""
        largest: dict[str | None, float] = {}
        for groups in self._groups(in_classes=True):
            text = f"""
                WITH {groups} SELECT s, MAX(LEAST(1.0, n / size)) FROM ({_CONFIDENCES}) JOIN sizes USING (id)
                GROUP BY s"""  # noqa: S608  # our own names
            for value, share in self.sql.rows(text, (), self._heard):
                largest[value] = max(largest.get(value, 0.0), float(share))
        return largest

    def tables_text(self) -> str:
        """Return the common table expressions over ``lines``."""
        return f"""
            ranked AS (SELECT unit, unit AS id, cell, p, s, n, linked FROM lines){self._unit_values()},
            {self._had("linked_values", "(SELECT * FROM ranked WHERE linked)")},
            heard AS (
                SELECT p, {self._merged()} AS s, SUM(n) AS n, BOOL_OR(sure) AS sure FROM linked_values
                GROUP BY ALL),
            heard_in_class AS (
                SELECT p, unit AS class, {self._merged()} AS s, SUM(n) AS n, BOOL_OR(sure) AS sure FROM linked_values
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

        ``w`` is n among all of the person's; it has ``rows`` linked ones. In ``heard_in_class``
        each person in each class is somebody.
        """
        in_class = "OVER (PARTITION BY p, class)"
        texts = {
            "owned": "SELECT p, unit AS class, CAST(SUM(n) AS BIGINT) AS copies FROM ranked WHERE linked GROUP BY ALL",
            "heard": """
                SELECT p, s, n, sure, n / SUM(n) OVER (PARTITION BY p) AS w, SUM(n) OVER (PARTITION BY p) AS rows
                FROM heard""",
            "heard_in_class": f"""
                SELECT {_IN_CLASS} AS p, s, n, sure, n / SUM(n) {in_class} AS w, SUM(n) {in_class} AS rows
                FROM heard_in_class""",  # noqa: S608  # our own names
            "base": f"SELECT * FROM ({BASE})",  # noqa: S608  # our own query
        }
        with_tables = f"WITH {self.tables_text()}"
        return {name: self.sql.table(f"{with_tables} {text}", (), self._lines) for name, text in texts.items()}

    def _groups(self, *, in_classes: bool = False) -> Iterator[str]:
        """Yield the tables ``combos`` (id, p) and ``sizes`` (id, size, own) of some combinations of classes.

        ``in_classes``: then those of their people in each class of a combination, with the ``heard`` of these.
        """
        sizes = "sizes AS MATERIALIZED (SELECT id, COUNT(*)::DOUBLE AS size, COUNT(*) AS own FROM combos GROUP BY id)"
        for combos in self._combinations():
            yield f"combos AS MATERIALIZED ({combos}), {sizes}"
        if in_classes and self.known_rows != 1:
            heard = "heard AS (SELECT * FROM heard_in_class)"
            for combos in self._combinations(in_classes=True):
                yield f"{heard}, combos AS MATERIALIZED ({combos}), {sizes}"

    def _combinations(self, *, in_classes: bool = False) -> Iterator[str]:
        if self.known_rows is None:
            keys = "SELECT p, LIST((class, copies) ORDER BY class) AS key FROM owned GROUP BY p"
            if in_classes:
                each = f"SELECT key, class, {_IN_CLASS} AS p FROM ({keys}) JOIN owned USING (p)"  # noqa: S608  # our own names
                yield f"SELECT DENSE_RANK() OVER (ORDER BY key, class) AS id, p FROM ({each})"  # noqa: S608  # as above
            else:
                yield f"SELECT DENSE_RANK() OVER (ORDER BY key) AS id, p FROM ({keys})"  # noqa: S608  # as above
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
        width = "BIGINT" if float(base) ** (self.known_rows + in_classes) < _LARGEST else "HUGEINT"
        for size in range(2 if in_classes else 1, self.known_rows + 1):
            number_of = f"a::{width}"
            for name in "bc"[: size - 1]:
                number_of = f"({number_of}) * {base} + {name}"
            for part in range(parts):
                every = combinations_text("SELECT p AS person, class, copies, 1 AS n FROM owned", size, part, parts)
                if not in_classes:
                    yield f"SELECT {number_of} AS id, person AS p FROM ({every})"  # noqa: S608  # our own names
                    continue
                classes = f"UNNEST(LIST_DISTINCT([{', '.join('abc'[:size])}]))"
                each = f"SELECT {number_of} AS id, person AS p, {classes} AS class FROM ({every})"  # noqa: S608  # as above
                yield f"SELECT id * {base} + class AS id, {_IN_CLASS} AS p FROM ({each})"  # noqa: S608  # as above


def require_linkable_sql(
    sql: Sql, columns: RevealingColumns, candidate: DataView, ctx: AuditContext, *, chances: bool = False
) -> None:
    """Raise UncrowdedError as :meth:`KnownRows.of` does; rows are linked by SQL."""
    query = KnownQuery.of_known(sql, columns, None, candidate, ctx)
    linked = chances and ctx.people is not None and ctx.people.known_rows != 1
    if columns.mixed or ctx.nulls is Nulls.WILDCARD:
        linked = linked or query.links()
        require_linkable(int(linked), ctx.nulls, mixed=bool(columns.mixed))


# The second route to what several known rows of a person tell: SQL, by joins of people's classes.
#
# Relations have a column for each thing named here. `rows`: `person`, `class` (NULL for none), `linked`, and `value`
# where values are asked for.


_PART = 4_000_000
"""Combinations whose people are counted at a time."""
_GROUP_PART = 1_000_000
"""Combinations whose people's values are counted at a time."""

_LOOKED_AT = 2_000
"""Profiles whose rarest classes are looked at where there are too many combinations."""

_KNOWN_ROWS_QUERY_HELD = """
    held AS MATERIALIZED (
        SELECT person, class, COUNT(*) AS copies FROM rows WHERE linked AND class IS NOT NULL GROUP BY ALL),
    profiles AS MATERIALIZED (
        SELECT person, LIST((class, copies) ORDER BY class) AS profile FROM held GROUP BY person)"""


class KnownRowsQuery:
    """Questions about linked rows. ``rows`` is an Arrow table with the columns of this module's relation."""

    def __init__(self, sql: Sql, rows: pa.Table) -> None:
        self.sql = sql
        self.tables: Mapping[str, Any] = {"rows": rows}

    def ask(self, text: str) -> list[tuple[Any, ...]]:
        """Return the result of a SELECT over ``held`` (person, class, copies) and ``profiles`` (person, profile)."""
        return self.sql.rows(f"WITH {_KNOWN_ROWS_QUERY_HELD} {text}", (), self.tables)  # our own query

    def smallest_crowd(self, known_rows: int | None) -> int | None:
        """Return the fewest people that have a combination; None where no row is linked.

        Raises TooManyError where there are too many, unless the smallest crowd follows from less.
        """
        if known_rows is None:
            text = "SELECT MIN(n) FROM (SELECT COUNT(*) AS n FROM profiles GROUP BY profile)"
            return _to_integer(self.ask(text)[0][0])
        number = self._number(known_rows)
        if number > MOST_COMBINATIONS:
            return self._early(known_rows, number)
        crowds = []
        for having in self._parts(known_rows, number):
            text = f"SELECT MIN(n) FROM (SELECT SUM(n) AS n FROM ({having}) GROUP BY a, b, c)"  # noqa: S608  # as above
            crowds.append(_to_integer(self.ask(text)[0][0]))
            if crowds[-1] == 1:  # no crowd is smaller
                return 1
        return min((n for n in crowds if n is not None), default=None)

    def shares(self, known_rows: int | None) -> tuple[float, float]:
        """Return the largest share of people and of rows with one value in a group; 0 where nobody is linked.

        Missing values (NULL) are a value.
        """
        worst = (0.0, 0.0)
        for having in self._groups(known_rows):
            text = f"""
                , groups AS MATERIALIZED ({having}), told AS MATERIALIZED (
                    SELECT person, value, COUNT(*) AS times FROM rows WHERE linked AND class IS NOT NULL GROUP BY ALL),
                sizes AS (
                    SELECT a, b, c, COUNT(DISTINCT person) AS people, SUM(times) AS n
                    FROM groups JOIN told USING (person) GROUP BY a, b, c),
                cells AS (
                    SELECT a, b, c, value, COUNT(DISTINCT person) AS people, SUM(times) AS n
                    FROM groups JOIN told USING (person) GROUP BY a, b, c, value)
                SELECT MAX(cells.people / sizes.people), MAX(cells.n / sizes.n) FROM cells JOIN sizes
                ON cells.a = sizes.a AND cells.b = sizes.b AND cells.c = sizes.c"""  # noqa: S608  # as above
            people, rows = self.ask(text)[0]
            worst = max(worst[0], float(people or 0)), max(worst[1], float(rows or 0))
        return worst

    def least_distinct(self, known_rows: int | None) -> int | None:
        """Return the least distinct l-diversity of all groups, by largest flows; None where nobody is linked."""
        values_by_person: dict[int, set[Any]] = {}
        for person, value in self.ask("SELECT DISTINCT person, value FROM rows WHERE linked AND class IS NOT NULL"):
            values_by_person.setdefault(int(person), set()).add(value)
        least: int | None = None
        for having in self._groups(known_rows):
            text = f"SELECT DISTINCT LIST(person ORDER BY person) FROM ({having}) GROUP BY a, b, c"  # noqa: S608  # as above
            for (people,) in self.ask(text):
                sets = [values_by_person[int(p)] for p in people]
                lacking = min(sum(v not in s for s in sets) for v in set().union(*sets))
                here = min(largest_matching_sql([(1, s) for s in sets]), 1 + lacking)
                least = here if least is None else min(least, here)
        return least

    def _number(self, known_rows: int, *, by_people: bool = False) -> float:
        """Return how many combinations there are, each counted for each profile, or each person, that has it."""
        d, twice, thrice = "COUNT(*)::DOUBLE", "COUNT(*) FILTER (copies >= 2)", "COUNT(*) FILTER (copies >= 3)"
        pairs = f"{d} * ({d} - 1) / 2 + {twice}"
        triples = f"{d} * ({d} - 1) * ({d} - 2) / 6 + {twice} * ({d} - 1) + {thrice}"
        each = " + ".join((d, pairs, triples)[:known_rows])
        whose = "" if by_people else "JOIN one_each USING (person)"
        text = f"""
            , one_each AS (SELECT MIN(person) AS person FROM profiles GROUP BY profile)
            SELECT SUM(n) FROM (SELECT {each} AS n FROM held {whose} GROUP BY person)"""  # noqa: S608  # as above
        return float(self.ask(text)[0][0] or 0)

    def _parts(self, known_rows: int, number: float) -> Iterator[str]:
        """Yield SELECTs of combinations (a, b, c), -1 for none, and ``n`` people of each profile that has it."""
        people = """
            SELECT x.person, x.class, x.copies, n FROM held x JOIN (
                SELECT MIN(person) AS person, COUNT(*) AS n FROM profiles GROUP BY profile) USING (person)"""
        for size in range(1, known_rows + 1):
            parts = 1 + int(number // _PART)
            for part in range(parts):
                yield combinations_text(people, size, part, parts)

    def _groups(self, known_rows: int | None) -> Iterator[str]:
        """Yield SELECTs of combinations (a, b, c) and each ``person`` that has them."""
        if known_rows is None:
            yield "SELECT profile AS a, 0 AS b, 0 AS c, person FROM profiles"
            return
        number = self._number(known_rows, by_people=True)
        if number > MOST_COMBINATIONS:
            raise CombinationLimitError.of(number, known_rows)
        for size in range(1, known_rows + 1):
            parts = 1 + int(number // _GROUP_PART)
            yield from (combinations_text("SELECT *, 1 AS n FROM held", size, part, parts) for part in range(parts))

    def _early(self, known_rows: int, number: float) -> int:
        """Return the least people of one profile, where a combination has no more. Raises TooManyError if unsure."""
        text = f"""
            , one_each AS MATERIALIZED (SELECT MIN(person) AS person, COUNT(*) AS n FROM profiles GROUP BY profile),
            every AS MATERIALIZED (SELECT held.*, n FROM held JOIN one_each USING (person)),
            sizes AS MATERIALIZED (SELECT class, SUM(n) AS crowd FROM every GROUP BY class),
            repeated AS (
                SELECT SUM(n) AS crowd FROM every JOIN (SELECT UNNEST(RANGE(2, {known_rows + 1})) AS many)
                ON copies >= many GROUP BY class, many),
            numbers AS MATERIALIZED (
                SELECT person, n, LEAST({known_rows}, d) AS d, d * (d - 1) / 2 + t AS two,
                    d * (d - 1) * (d - 2) / 6 + t * (d - 1) + u AS three
                FROM (SELECT person, ANY_VALUE(n) AS n, COUNT(*)::DOUBLE AS d, COUNT(*) FILTER (copies >= 2) AS t,
                    COUNT(*) FILTER (copies >= 3) AS u FROM every GROUP BY person)),
            rarest AS MATERIALIZED (
                SELECT person, class, d FROM (
                    SELECT *, ROW_NUMBER() OVER (PARTITION BY person ORDER BY crowd, class) AS place
                    FROM every JOIN sizes USING (class) JOIN (
                        SELECT person, d FROM numbers ORDER BY three DESC, person LIMIT {_LOOKED_AT}) USING (person))
                WHERE place <= {known_rows}),
            others AS (
                SELECT r.person AS person, ANY_VALUE(e.n) AS n FROM rarest r JOIN every e USING (class)
                GROUP BY r.person, e.person HAVING COUNT(*) = ANY_VALUE(r.d))
            SELECT (SELECT MIN(n) FROM one_each), (SELECT MIN(crowd) FROM sizes), (SELECT MIN(crowd) FROM repeated),
                (SELECT MIN(n) FROM numbers
                    WHERE two > {CLEARLY_MORE!r}::DOUBLE * ((SELECT SUM(two) FROM numbers) - two)),
                (SELECT MIN(n) FROM numbers
                    WHERE three > {CLEARLY_MORE!r}::DOUBLE * ((SELECT SUM(three) FROM numbers) - three)),
                (SELECT MIN(n) FROM (SELECT SUM(n) AS n FROM others GROUP BY person))"""  # noqa: S608  # our own query
        least, alone, repeated, two, three, rare = self.ask(text)[0]
        crowds = (alone, repeated, two if known_rows > 1 else None, three if known_rows > LARGEST - 1 else None, rare)
        if int(least) in [int(f) for f in crowds if f is not None]:
            return int(least)
        raise CombinationLimitError.of(number, known_rows)


def combinations_text(people: str, size: int, part: int, parts: int) -> str:
    """Return a SELECT of combinations (a, b, c) of ``size`` classes, -1 for none, with ``person`` and ``n``.

    ``people`` is a SELECT of (person, class, copies, n). Of so many ``parts`` by the first class it is one.
    """
    joins, further = "", ["-1", "-1"]
    if size > 1:
        joins += " JOIN every y ON y.person = x.person AND (y.class > x.class OR (y.class = x.class AND x.copies > 1))"
        further[0] = "y.class"
    if size > 2:
        joins += """ JOIN every z ON z.person = x.person AND (z.class > y.class OR (
            z.class = y.class AND z.copies > CASE WHEN y.class = x.class THEN 2 ELSE 1 END))"""
        further[1] = "z.class"
    chosen = "TRUE" if parts == 1 else f"HASH(x.class) % {parts} = {part}"
    return f"""
        WITH every AS ({people})
        SELECT x.class AS a, {further[0]} AS b, {further[1]} AS c, x.person AS person, x.n AS n
        FROM every x{joins} WHERE {chosen}"""  # noqa: S608  # our own query


def _to_integer(number: Any) -> int | None:
    return None if number is None else int(number)


# The second route to the chance that one of a few known rows has a value: SQL, over the products of each class.
#
# `rows` has `person`, `class` (NULL for none), `known` (whether somebody may know it); `cells` has `class`, `value` (a
# number) and `n`, how many rows of the class have it, not necessarily whole.


_CHANCES = pa.schema([("s", pa.string()), ("n", pa.float64())])
_CELLS = pa.schema([("class", pa.int64()), ("value", pa.int64()), ("n", pa.float64())])
_AT_A_TIME = 2_000_000
"""People in classes that have some value, in one query."""

_OPTIONS = """
    sizes AS MATERIALIZED (SELECT class, COUNT(*) AS size FROM rows WHERE class IS NOT NULL GROUP BY class),
    held AS MATERIALIZED (
        SELECT person, class, COUNT(*) AS copies FROM rows WHERE known AND class IS NOT NULL GROUP BY ALL)"""

_PRODUCT = """
    COALESCE(LIST_PRODUCT(LIST_TRANSFORM(RANGE(0, {known}),
        lambda i: GREATEST(0.0, size - n - i)::DOUBLE / (size - i))), 1.0)"""


def chances_sql(sql: Sql, rows: pa.Table, cells: pa.Table, known_rows: int | None) -> dict[int, float]:
    """Return the largest chance over all persons and choices of known rows, for each value that has any.

    ``known_rows`` is 1 to 3, or None for all. Of each person and number of rows in a class, the three best classes are
    enough: at most three are chosen, and each in one number. Some values at a time, so that memory is bounded.
    """
    tables = {"rows": rows, "cells": cells}
    text = _of_all() if known_rows is None else _of_few(known_rows)
    chances: dict[int, float] = {}
    for values in _some_at_a_time(sql, tables):
        chosen = tables | {"asked": pa.table({"value": pa.array(values, pa.int64())})}
        chances |= {int(value): float(chance) for value, chance in sql.rows(text, (), chosen)}
    return chances


def _some_at_a_time(sql: Sql, tables: dict[str, pa.Table]) -> Iterator[list[int]]:
    text = f"""
        WITH {_OPTIONS} SELECT value, COUNT(*) FROM held JOIN cells USING (class) WHERE n > 0
        GROUP BY value ORDER BY value"""  # noqa: S608  # our own query
    waiting: list[int] = []
    load = 0
    for value, people in sql.rows(text, (), tables):
        if waiting and load + int(people) > _AT_A_TIME:
            yield waiting
            waiting, load = [], 0
        waiting.append(int(value))
        load += int(people)
    if waiting:
        yield waiting


def _of_all() -> str:
    product = _PRODUCT.format(known="copies")
    return f"""
        WITH {_OPTIONS}, each AS (
            SELECT person, value, {product} AS q
            FROM held JOIN sizes USING (class) JOIN cells USING (class) JOIN asked USING (value) WHERE n > 0)
        SELECT value, MAX(1 - q) FROM (
            SELECT person, value, PRODUCT(q) AS q FROM each GROUP BY person, value) GROUP BY value"""  # noqa: S608  # our own query


def _of_few(known_rows: int) -> str:
    product = _PRODUCT.format(known="many")
    picks = ["SELECT value, q FROM best"]
    if known_rows > 1:
        pair = "x.person = y.person AND x.value = y.value AND x.class <> y.class"
        picks.append(f"SELECT x.value, x.q * y.q FROM best x JOIN best y ON {pair} AND x.many + y.many <= {known_rows}")  # noqa: S608  # our own query
    if known_rows >= LARGEST:
        third = "z.person = x.person AND z.value = x.value AND z.class <> x.class AND z.class <> y.class"
        picks.append(
            f"SELECT x.value, x.q * y.q * z.q FROM best x JOIN best y ON {pair} JOIN best z ON {third}"  # noqa: S608  # as above
            " AND x.many = 1 AND y.many = 1 AND z.many = 1"
        )
    return f"""
        WITH {_OPTIONS}, options AS (
            SELECT person, class, many, value, {product} AS q
            FROM held JOIN (SELECT UNNEST(RANGE(1, {known_rows + 1})) AS many) ON many <= copies
            JOIN sizes USING (class) JOIN cells USING (class) JOIN asked USING (value) WHERE n > 0),
        best AS MATERIALIZED (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY person, value, many ORDER BY q, class) AS place
            FROM options QUALIFY place <= {LARGEST})
        SELECT value, MAX(1 - q) FROM ({" UNION ALL ".join(picks)}) AS picked (value, q) GROUP BY value"""  # noqa: S608  # as above


class ChancesQuery:
    """``cells`` (id, s, n) are the largest chances of values, as of one group of one person."""

    def __init__(self, sql: Sql, chances: pa.Table) -> None:
        self.sql = sql
        self.chances = chances

    @classmethod
    def of(cls, sql: Sql, chances: Mapping[str | None, float]) -> ChancesQuery:
        """Return the query over the chance of each value."""
        return cls(sql, _table(list(chances.items()), _CHANCES))

    def worst_figure(self, each: str, parameters: list[Any], *, at_most: bool) -> float | None:
        """Return the figure ``v`` of a query (id, v); None where it has none."""
        text = f"""
            WITH cells AS (SELECT 0 AS id, s, n FROM chances), sizes AS (SELECT 0 AS id, 1.0::DOUBLE AS size, 1 AS own)
            SELECT {"MAX" if at_most else "MIN"}(v) FROM ({each})"""  # noqa: S608  # our own query
        worst = self.sql.rows(text, parameters, {"chances": self.chances})[0][0]
        return None if worst is None else float(worst)


def cells_table(cells: list[tuple[int, int, float]]) -> pa.Table:
    """Return ``cells`` of :func:`chances_sql`: class, value, and how many rows of the class have it."""
    return _table(cells, _CELLS)


def _table(lines: list[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    columns = list(zip(*lines, strict=True)) if lines else [()] * len(schema)
    return pa.Table.from_arrays([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)
