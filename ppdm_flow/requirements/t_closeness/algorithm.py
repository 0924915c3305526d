"""The measured t of a release: the largest distance of a class's sensitive values from those of the whole table.

Earth mover's distance with equal or ordered ground distance (Li, Li, Venkatasubramanian, ICDE 2007, section 4) to the
distribution in the released table itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ppdm_flow.mining.classes.audit import SensitiveAudit
from ppdm_flow.mining.classes.class_metric import Names
from ppdm_flow.mining.classes.column_figures import ColumnFigures, Floats
from ppdm_flow.mining.classes.wording import beyond, known_by
from ppdm_flow.mining.exposure.histograms import Histograms
from ppdm_flow.requirements.t_closeness.distances import equal, ordered
from ppdm_flow.requirements.t_closeness.ranks import ranked
from ppdm_flow.requirements.t_closeness.requirement import Distance, TCloseness
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.tables.column import SPECIALS, SUPPRESSED_TEXT


class TClosenessAudit(SensitiveAudit[TCloseness]):
    """Compares the distribution of each class with the whole table's."""

    kind = TCloseness
    metric = "t"
    unit = "distance"
    at_most = True

    def bound(self, requirement: TCloseness) -> float:
        """Return t."""
        return requirement.t

    def each(self, requirement: TCloseness, histograms: Histograms, ctx: AuditContext) -> Floats:
        """Return the distance of each class."""
        if requirement.distance is Distance.EQUAL:
            return equal(histograms)
        names = histograms.names.to_pylist()
        occurring = [n for n, q in zip(names, histograms.base[SPECIALS:].tolist(), strict=True) if q > 0]
        order = {value: i for i, value in enumerate(ranked(requirement, occurring, ctx))}
        rank = np.array([order.get(n, -1) for n in names], dtype=np.int64)
        return ordered(histograms, rank, len(order))

    def query(self, requirement: TCloseness, names: Names, ctx: AuditContext) -> tuple[str, list[Any]]:
        """Return the distance of each class."""
        if requirement.distance is Distance.EQUAL:
            return _EQUAL, []
        values = ranked(requirement, [n for n in names() if n is not None and n != SUPPRESSED_TEXT], ctx)
        return _ORDERED, [values, values]

    def sentence(self, judged: ColumnFigures[TCloseness], value: float) -> str:
        """Return what the farthest class gives away."""
        requirement = judged.requirement
        rows = int(judged.histograms.rows[judged.beyond(requirement.t, at_most=True)].sum())
        ranks = " by ranks" if requirement.distance is Distance.ORDERED else ""
        return (
            f"{known_by(judged.grouping)} sees the values of `{judged.column}` distributed otherwise than in the whole"
            f" release, by a distance{ranks} of at most {value:.4g}, where 0 is alike and 1 is wholly different; at"
            f" most {requirement.t:g} is allowed.{beyond(rows, judged.histograms.total)}"
        )


_EQUAL = """
    SELECT id, SUM(GREATEST(n / size - q, 0)) AS v FROM cells JOIN sizes USING (id)
    JOIN base ON base.s IS NOT DISTINCT FROM cells.s GROUP BY id"""

_ORDERED = """
    WITH places AS (SELECT UNNEST(?::VARCHAR[]) AS s, UNNEST(RANGE(LEN(?::VARCHAR[]))) AS r),
    marks AS (SELECT s, q FROM base WHERE s IS NULL OR s = '⊥'),
    moved AS (
        SELECT sizes.id AS id, GREATEST(SUM(GREATEST(COALESCE(n, 0) / size - q, 0)),
               SUM(GREATEST(q - COALESCE(n, 0) / size, 0))) AS gain
        FROM sizes CROSS JOIN marks
        LEFT JOIN cells ON cells.id = sizes.id AND cells.s IS NOT DISTINCT FROM marks.s GROUP BY sizes.id),
    steps AS (SELECT r, SUM(q) OVER (ORDER BY r) / SUM(q) OVER () AS cum FROM base JOIN places USING (s)),
    sums AS MATERIALIZED (SELECT r, cum, SUM(cum) OVER (ORDER BY r) - cum AS below FROM steps),
    whole AS (
        SELECT COUNT(*) AS m, SUM(cum) AS below, (SELECT SUM(q) FROM base JOIN places USING (s)) AS w FROM steps),
    inside AS (
        SELECT id, r, CAST(n AS DOUBLE) AS n, SUM(n) OVER (PARTITION BY id) AS known FROM cells JOIN places USING (s)),
    runs AS (
        SELECT id, known, r AS a, LEAD(r) OVER w AS b, SUM(n) OVER w / known AS p
        FROM inside WINDOW w AS (PARTITION BY id ORDER BY r)),
    placed AS (
        SELECT *, SUM(step) OVER (ORDER BY p, step ROWS UNBOUNDED PRECEDING) AS x
        FROM (SELECT id, known, a, b, p, 0 AS step FROM runs
              UNION ALL SELECT NULL, NULL, NULL, NULL, cum, 1 FROM sums)),
    crossed AS (
        SELECT id, known, p, a, COALESCE(b, m) AS b, GREATEST(a, LEAST(COALESCE(b, m), x)) AS x
        FROM placed CROSS JOIN whole WHERE step = 0),
    parts AS (
        SELECT id, known, COALESCE(sa.below, whole.below) AS first,
            p * (2 * x - a - b) + COALESCE(sa.below, whole.below) + COALESCE(sb.below, whole.below)
                - 2 * COALESCE(sx.below, whole.below) AS part
        FROM crossed CROSS JOIN whole
        LEFT JOIN sums sa ON sa.r = a LEFT JOIN sums sb ON sb.r = b LEFT JOIN sums sx ON sx.r = x),
    apart AS (SELECT id, ANY_VALUE(known) AS known, SUM(part) + MIN(first) AS total FROM parts GROUP BY id)
    SELECT sizes.id AS id, COALESCE(gain, 0) + COALESCE(LEAST(known / size, w) * total / NULLIF(m - 1, 0), 0) AS v
    FROM sizes CROSS JOIN whole LEFT JOIN moved USING (id) LEFT JOIN apart USING (id)"""
"""Between two ranks that a class has, its cumulated share p is constant, and the table's crosses it once, at x: so the
sum of |p - q| over all ranks is one of sums over the ranks that the class has, however many there are."""
