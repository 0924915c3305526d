"""The second route to what several known rows of a person tell: SQL, by joins of people's classes.

Relations have a column for each thing named here. ``rows``: ``person``, ``class`` (NULL for none), ``linked``, and
``value`` where values are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from ppdm_flow.mining.exposure.matching_query import largest_matching
from ppdm_flow.mining.people.combinations import LARGEST, MOST_COMBINATIONS, CombinationLimitError
from ppdm_flow.mining.people.known_rows import CLEARLY_MORE
from ppdm_flow.sdk.audit import Sql

_PART = 4_000_000
"""Combinations whose people are counted at a time."""
_GROUP_PART = 1_000_000
"""Combinations whose people's values are counted at a time."""

_LOOKED_AT = 2_000
"""Profiles whose rarest classes are looked at where there are too many combinations."""

_HELD = """
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
        return self.sql.rows(f"WITH {_HELD} {text}", (), self.tables)  # our own query

    def smallest_crowd(self, known_rows: int | None) -> int | None:
        """Return the fewest people that have a combination; None where no row is linked.

        Raises TooManyError where there are too many, unless the smallest crowd follows from less.
        """
        if known_rows is None:
            text = "SELECT MIN(n) FROM (SELECT COUNT(*) AS n FROM profiles GROUP BY profile)"
            return _whole(self.ask(text)[0][0])
        number = self._number(known_rows)
        if number > MOST_COMBINATIONS:
            return self._early(known_rows, number)
        found = []
        for having in self._parts(known_rows, number):
            text = f"SELECT MIN(n) FROM (SELECT SUM(n) AS n FROM ({having}) GROUP BY a, b, c)"  # noqa: S608  # as above
            found.append(_whole(self.ask(text)[0][0]))
            if found[-1] == 1:  # no crowd is smaller
                return 1
        return min((n for n in found if n is not None), default=None)

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
        told: dict[int, set[Any]] = {}
        for person, value in self.ask("SELECT DISTINCT person, value FROM rows WHERE linked AND class IS NOT NULL"):
            told.setdefault(int(person), set()).add(value)
        least: int | None = None
        for having in self._groups(known_rows):
            text = f"SELECT DISTINCT LIST(person ORDER BY person) FROM ({having}) GROUP BY a, b, c"  # noqa: S608  # as above
            for (people,) in self.ask(text):
                sets = [told[int(p)] for p in people]
                lacking = min(sum(v not in s for s in sets) for v in set().union(*sets))
                here = min(largest_matching([(1, s) for s in sets]), 1 + lacking)
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
        least, alone, again, two, three, rare = self.ask(text)[0]
        found = (alone, again, two if known_rows > 1 else None, three if known_rows > LARGEST - 1 else None, rare)
        if int(least) in [int(f) for f in found if f is not None]:
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


def _whole(number: Any) -> int | None:
    return None if number is None else int(number)
