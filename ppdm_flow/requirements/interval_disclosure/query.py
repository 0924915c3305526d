"""The second route to interval disclosure: numbers are read, averaged and compared in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ppdm_flow.mining.exposure.estimates import MEAN, MEDIAN, WEIGHTED
from ppdm_flow.mining.exposure.numbers_query import Types, hold, number_of
from ppdm_flow.mining.exposure.paired import relation
from ppdm_flow.requirements.interval_disclosure.near import SLACK
from ppdm_flow.requirements.interval_disclosure.requirement import Width
from ppdm_flow.sdk.audit import Sql
from ppdm_flow.sdk.view import DataView, PairedView

PERSON_MEAN = "person_mean"


@dataclass(frozen=True, slots=True)
class WidthComparison:
    """What is compared: the ``attribute``, the released ``columns`` that tell of it, and the ``width``.

    ``types`` are those of the attribute and of each column. People are told apart by ``subject``, where it is given;
    ``linked``: it is seen which rows are one person's.
    """

    attribute: str
    columns: Sequence[str]
    types: Types
    width: Width
    subject: str
    linked: bool


def shares_sql(sql: Sql, candidate: DataView, pairs: PairedView, asked: WidthComparison) -> dict[str, float]:
    """Return the share of each column, and of the means and the median that there are, by the names of their figures.

    Raises RunError where the paired rows are not those of the file.
    """
    weight, columns, types, people = candidate.schema.weight, asked.columns, asked.types, bool(asked.subject)
    known = [asked.attribute, *([asked.subject] if people else [])]
    tables: dict[str, object] = {"paired": relation(pairs, columns, known, weight)}
    hold(sql, columns, types[1:], weight, tables)
    every = range(len(columns))
    named = ", ".join(f"{number_of(f'r{i}', types[i + 1])} AS c{i}" for i in every)
    person = "o1" if people else "row"
    rows = f"lines AS (SELECT row, n, {person} AS p, {number_of('o0', types[0])} AS o, {named} FROM paired)"  # noqa: S608  # our own names
    plain = _mean(["1.0" for _ in every]) if len(columns) > 1 else "c0"
    cells = f"cells AS (SELECT *, AVG({plain}) OVER (PARTITION BY p) AS own FROM lines)"  # noqa: S608  # our own names
    cells += ", known AS (SELECT * FROM cells WHERE o IS NOT NULL)"
    errors = ", ".join(f"SUM(n * pow(c{i} - o, 2)) / SUM(n) FILTER (c{i} IS NOT NULL) AS e{i}" for i in every)
    begin = f"WITH {rows}, {cells}, errors AS (SELECT {errors} FROM known)"  # noqa: S608  # the same

    def share(estimate: str) -> float:
        text = f"{begin}, guesses AS (SELECT row, n, p, o, {estimate} AS e FROM known)"  # noqa: S608  # the same
        hits, total, found, of_people = sql.rows(text + _disclosed(asked.width), (), tables)[0]
        of_rows = float(hits or 0) / float(total) if total else 0.0
        return max(of_rows, float(found) / float(of_people)) if people and of_people else of_rows

    shares = {f"column_share.{c}": share(f"c{i}") for i, c in enumerate(columns)}
    if len(columns) > 1:
        exact = " OR ".join(f"e{i} = 0" for i in every)
        none = bool(sql.rows(f"{begin} SELECT {exact} FROM errors", (), tables)[0][0])  # noqa: S608  # the same
        of_error = [f"(SELECT COALESCE(1.0 / NULLIF(e{i}, 0), 0) FROM errors)" for i in every]  # noqa: S608  # the same
        shares[f"{MEAN}_share"] = share(plain)
        if not none:
            shares[f"{WEIGHTED}_share"] = share(_mean(of_error))
    if len(columns) > 2:
        shares[f"{MEDIAN}_share"] = share(f"list_median([{', '.join(f'c{i}' for i in every)}])")
    if asked.linked and sql.rows(f"{begin} SELECT COUNT(*) > COUNT(DISTINCT p) FROM lines", (), tables)[0][0]:  # noqa: S608  # the same
        shares[f"{PERSON_MEAN}_share"] = share("own")
    return shares


def _mean(shares: Sequence[str]) -> str:
    """Return the weighted mean of the columns that are there, counted from the first of them."""
    first = f"COALESCE({', '.join(f'c{i}' for i in range(len(shares)))})"
    above = " + ".join(f"COALESCE({share} * (c{i} - {first}), 0)" for i, share in enumerate(shares))
    total = " + ".join(f"CASE WHEN c{i} IS NULL THEN 0 ELSE {share} END" for i, share in enumerate(shares))
    return f"{first} + ({above}) / ({total})"


def _disclosed(width: Width) -> str:
    """Return the SELECT of the rows within the width, and of all rows."""
    if width.form == "rank":
        return _by_rank(width.size)
    sizes = {
        "absolute": f"{width.size!r}::DOUBLE",
        "relative": f"{width.size!r}::DOUBLE * abs(o)",
        "sd": f"{width.size!r}::DOUBLE * (SELECT sqrt(SUM(n * pow(o - m, 2)) / SUM(n)) FROM known,"  # noqa: S608  # a number
        " (SELECT SUM(n * o) / SUM(n) AS m FROM known))",
    }
    return (
        f", halves AS (SELECT n, p, o, e, {sizes[width.form]} AS half FROM guesses)"  # noqa: S608  # numbers and our own names
        f", near AS (SELECT n, p, abs(e - o) <= half + {SLACK!r} * greatest(half, abs(o)) AS within FROM halves)"
        " SELECT SUM(n) FILTER (within), SUM(n), COUNT(DISTINCT p) FILTER (within), COUNT(DISTINCT p) FROM near"
    )


def _by_rank(share: float) -> str:
    """Rank by counting: every number once a little below itself, once a little above it."""
    slack = f"{SLACK!r} * greatest(1.0, abs(v))"
    return f"""
        , wanted AS (SELECT row, 0 AS own, o AS v FROM guesses
            UNION ALL SELECT row, 1, e FROM guesses WHERE e IS NOT NULL)
        , points AS (SELECT o AS v, n, NULL AS row, NULL AS own, NULL AS high FROM guesses
            UNION ALL SELECT v - {slack}, 0, row, own, 0 FROM wanted
            UNION ALL SELECT v + {slack}, 0, row, own, 1 FROM wanted)
        , counted AS (SELECT row, own, high, SUM(n) OVER (ORDER BY v) AS upto, SUM(n) OVER (PARTITION BY v) AS here
            FROM points)
        , ranks AS (SELECT row, own, SUM(CASE WHEN high = 1 THEN upto ELSE upto - here END) / 2.0 AS rank
            FROM counted WHERE row IS NOT NULL GROUP BY row, own)
        , apart AS (SELECT row, MAX(rank) - MIN(rank) AS d FROM ranks GROUP BY row HAVING COUNT(*) = 2)
        , near AS (SELECT n, p, total, d <= {share!r}::DOUBLE * total + {SLACK!r} * greatest(1, total) AS within
        FROM guesses LEFT JOIN apart USING (row), (SELECT SUM(n) AS total FROM guesses))
        SELECT SUM(n) FILTER (within), ANY_VALUE(total), COUNT(DISTINCT p) FILTER (within), COUNT(DISTINCT p)
        FROM near"""  # noqa: S608  # numbers and our own names
