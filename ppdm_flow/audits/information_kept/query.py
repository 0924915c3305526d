"""The second route: counts, guesses and distances in SQL, over what the labels of a column cover."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.audits.information_kept.covers import Covers
from ppdm_flow.audits.information_kept.values import Numbers, Values, numbers_of
from ppdm_flow.sdk.audit import Sql, quoted
from ppdm_flow.sdk.paired_relation import PairedRelation
from ppdm_flow.sdk.view import PairedView
from ppdm_flow.tables.column import SUPPRESSED_TEXT

_SHARE = """
SELECT (SELECT sum(greatest(b.n, coalesce(p.n, 0)) * g.g) FROM guesses g JOIN before b ON b.x IS NOT DISTINCT FROM g.x
        LEFT JOIN paired_values p ON p.x IS NOT DISTINCT FROM g.x),
       (SELECT sum(greatest(b.n - coalesce(p.n, 0), 0) * g.g) FROM guesses g
        JOIN before b ON b.x IS NOT DISTINCT FROM g.x LEFT JOIN paired_values p ON p.x IS NOT DISTINCT FROM g.x),
       (SELECT coalesce(sum(n * d), 0) FROM losses)
"""
_COMMON = """
WITH before AS (SELECT x, sum(n)::DOUBLE AS n FROM originals GROUP BY x),
     joint AS (SELECT x, y, any_value(point) AS point, sum(n)::DOUBLE AS n FROM pairs_counted GROUP BY x, y),
     paired_values AS (SELECT x, sum(n) AS n FROM joint GROUP BY x),
     blanks AS (SELECT count(*) > 0 AS hide FROM joint WHERE y IS NULL AND x IS NOT NULL AND n > 0),
"""
_CATEGORIES = """
     guesses AS (SELECT x, 1 - n / (SELECT sum(n) FROM before) AS g FROM before),
     masses AS (SELECT c.y, sum(b.n) AS m FROM covers c JOIN before b ON b.x = c.x GROUP BY c.y HAVING sum(b.n) > 0),
     losses AS (
       SELECT j.n, CASE WHEN j.y IS NULL THEN CASE WHEN (SELECT hide FROM blanks) THEN g.g ELSE 0 END
                        WHEN m.m IS NULL THEN g.g WHEN c.x IS NULL THEN 1 ELSE 1 - b.n / m.m END AS d
       FROM joint j JOIN guesses g ON g.x IS NOT DISTINCT FROM j.x JOIN before b ON b.x IS NOT DISTINCT FROM j.x
       LEFT JOIN masses m ON m.y = j.y LEFT JOIN covers c ON c.y = j.y AND c.x = j.x)
"""
_NUMBERS = """
     ends AS (SELECT min(x) AS low, CASE WHEN max(x) > min(x) THEN max(x) - min(x) ELSE 1 END AS reach,
                     sum(n) FILTER (x IS NOT NULL) AS known, coalesce(sum(n) FILTER (x IS NULL), 0) AS missing
              FROM before),
     below AS (SELECT x, (x - low) / reach AS v, sum(n) OVER w AS rows, sum(n * (x - low) / reach) OVER w AS sums
               FROM before, ends WHERE x IS NOT NULL
               WINDOW w AS (ORDER BY x ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)),
     every AS (SELECT max(rows) AS rows, max(sums) AS sums FROM below),
     apart AS (SELECT b.x, b.v * b.rows - b.sums + (e.sums - b.sums) - b.v * (e.rows - b.rows) AS d
               FROM below b, every e),
     random AS (SELECT coalesce(nullif(sum(a.d * b.n) / (max(e.known) * max(e.known)), 0), 1) AS d
                FROM apart a JOIN before b ON b.x = a.x, ends e),
     guesses AS (SELECT a.x, (a.d + e.missing * r.d) / (e.known + e.missing) AS g FROM apart a, ends e, random r
                 UNION ALL SELECT NULL, coalesce(e.known, 0) * r.d / (coalesce(e.known, 0) + e.missing)
                 FROM ends e, random r),
     runs AS (SELECT s.y, s.low, s.high, coalesce(a.rows, 0) AS rows_before, coalesce(a.sums, 0) AS sums_before,
                     coalesce(z.rows, 0) AS rows_until, coalesce(z.sums, 0) AS sums_until
              FROM spans s ASOF LEFT JOIN below a ON s.low > a.x ASOF LEFT JOIN below z ON s.high >= z.x),
     masses AS (SELECT y, sum(rows_until - rows_before) AS m FROM runs GROUP BY y
                HAVING sum(rows_until - rows_before) > 0),
     pieces AS (
       SELECT j.x, j.y, CASE
                WHEN j.x < u.low THEN u.sums_until - u.sums_before - b.v * (u.rows_until - u.rows_before)
                WHEN j.x > u.high THEN b.v * (u.rows_until - u.rows_before) - (u.sums_until - u.sums_before)
                ELSE b.v * (b.rows - u.rows_before) - (b.sums - u.sums_before)
                     + (u.sums_until - b.sums) - b.v * (u.rows_until - b.rows) END AS d
       FROM joint j JOIN below b ON b.x = j.x JOIN runs u ON u.y = j.y),
     sums AS (SELECT x, y, sum(d) AS d FROM pieces GROUP BY x, y),
     losses AS (
       SELECT j.n, CASE WHEN j.y IS NULL THEN CASE WHEN (SELECT hide FROM blanks) THEN g.g ELSE 0 END
                        WHEN j.y IN (SELECT y FROM hiding) THEN g.g
                        WHEN m.m IS NOT NULL THEN CASE WHEN j.x IS NULL THEN r.d ELSE t.d / m.m END
                        WHEN j.point IS NULL THEN g.g WHEN j.x IS NULL THEN r.d
                        ELSE abs(j.x - j.point) / e.reach END AS d
       FROM random r, ends e, joint j JOIN guesses g ON g.x IS NOT DISTINCT FROM j.x LEFT JOIN masses m ON m.y = j.y
       LEFT JOIN sums t ON t.x = j.x AND t.y = j.y)
"""


def share_kept_again(
    sql: Sql, pairs: PairedView, source: str, column: str, weight: str | None, values: Values, read: Covers | None
) -> float | None:
    """Return the share of an attribute that a column keeps; ``read`` is None where it has nothing but numbers."""
    rows = "count(*)" if weight is None else f"sum(CAST({quoted(weight)} AS BIGINT))"
    name = quoted(source)
    originals = sql.table(f"SELECT {name} AS x, {rows} AS n FROM original GROUP BY {name}")  # noqa: S608  # quoted
    relation = PairedRelation(pairs, (column,), (source, *([] if weight is None else [weight])), None)
    counted = "sum(n)" if weight is None else "sum(n * CAST(o1 AS BIGINT))"
    joint = sql.table(
        f"SELECT o0 AS x, r0 AS y, {counted} AS n FROM paired GROUP BY o0, r0",  # noqa: S608  # no name of the policy
        tables={"paired": relation},
    )
    tables: dict[str, Any] = {"originals": _read(originals, values), "pairs_counted": _read(joint, values, read)}
    if isinstance(values, Numbers):
        query = _COMMON + _NUMBERS
        tables |= {"spans": _spans(read, values), "hiding": _hiding(read)}
    else:
        query = _COMMON + _CATEGORIES
        tables["covers"] = _covered(read, values)
    ((every, dropped, lost),) = sql.rows(query + _SHARE, tables=tables)
    return None if not every or every <= 0 else min(1.0, max(0.0, 1.0 - (lost + dropped) / every))


def _read(counted: pa.Table, values: Values, read: Covers | None = None) -> pa.Table:
    """Return counts with original cells as values, null for a missing one, and released ones beside their numbers."""
    cells = counted["x"].combine_chunks()
    if isinstance(values, Numbers):
        known: pa.Array = _numbers(numbers_of(cells, values.kind))
    else:
        known = pc.if_else(pc.equal(cells, SUPPRESSED_TEXT), pa.scalar(None, pa.string()), cells)
    columns = {"x": known, "n": counted["n"]}
    if "y" not in counted.column_names:
        return pa.table(columns)
    labels = counted["y"].combine_chunks()
    points = pa.nulls(len(labels), pa.float64())
    if isinstance(values, Numbers):
        points = _numbers(numbers_of(labels, values.kind)) if read is None else _points(read, labels)
    return pa.table({**columns, "y": labels, "point": points})


def _numbers(numbers: npt.NDArray[np.float64]) -> pa.Array:
    return pa.array(numbers, pa.float64(), from_pandas=True)  # NaN is null


def _points(read: Covers, labels: pa.StringArray) -> pa.Array:
    """Return the numbers that labels stand for, null where one stands for none."""
    return _numbers(read.points).take(pc.index_in(labels, value_set=read.labels))


def _hiding(read: Covers | None) -> pa.Table:
    labels = pa.array([SUPPRESSED_TEXT], pa.string())
    return pa.table(
        {"y": labels if read is None else pa.concat_arrays([labels, read.labels.filter(pa.array(read.wide))])}
    )


def _spans(read: Covers | None, values: Numbers) -> pa.Table:
    """Return the runs of values that labels cover, by their ends."""
    none = np.zeros(0)
    if read is None:
        return pa.table({"y": pa.array([], pa.string()), "low": none, "high": none})
    some = ~read.wide[read.owner] & (read.end > read.begin)
    labels = read.labels.take(pa.array(read.owner[some]))
    return pa.table({"y": labels, "low": values.values[read.begin[some]], "high": values.values[read.end[some] - 1]})


def _covered(read: Covers | None, values: Values) -> pa.Table:
    """Return the pairs of values and labels that cover them."""
    if read is None:
        return pa.table({"x": pa.array([], pa.string()), "y": pa.array([], pa.string())})
    some = ~read.wide[read.owner]
    many = (read.end - read.begin)[some]
    first = np.repeat(read.begin[some] - (np.cumsum(many) - many), many)
    value = first + np.arange(len(first))
    owner = np.repeat(read.owner[some], many)
    return pa.table({"x": values.texts.take(pa.array(value)), "y": read.labels.take(pa.array(owner))})
