"""The second route to confidences: SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.releases.relation import all_known, classes, crowds
from ppdm_flow.requirements.templates.survey import TemplateTarget
from ppdm_flow.sdk.audit import Sql
from ppdm_flow.tables.schema import Schema


class InferenceQuery:
    """The inferences from ``channel`` in one relation (``candidate`` or ``original``)."""

    def __init__(self, sql: Sql, relation: str, schema: Schema, channel: Sequence[str], nulls: Nulls) -> None:
        self.sql = sql
        self.relation = relation
        self.schema = schema
        self.nulls = nulls
        self.channel = tuple(channel)

    def smallest(self) -> int:
        """Return the number of rows of the smallest group."""
        query = f"SELECT COALESCE(MIN(n), 0) FROM ({self._combinations()})"  # noqa: S608  # identifiers are quoted
        if self.nulls is Nulls.WILDCARD:
            query = f"""
                WITH groups AS MATERIALIZED (
                    SELECT *, ROW_NUMBER() OVER () AS id FROM ({self._combinations()})),
                pairs AS ({crowds("groups", "groups", len(self.channel), "a.id, b.n")})
                SELECT COALESCE(MIN(n), 0) FROM (SELECT SUM(n) AS n FROM pairs GROUP BY id)"""  # noqa: S608  # as above
        return int(self.sql.rows(query)[0][0])

    def figures(
        self, targets: Sequence[TemplateTarget], threshold: float, *, negated: bool
    ) -> Mapping[str, float | int]:
        """Return the figures of one template; ``negated``: of not having each value."""
        if not targets:
            return {"confidence": 0.0, "inferences": 0, "violating_groups": 0, "violating_rows": 0}
        parameters = [text for t in targets for image in t.images.values() for text in sorted(image)]
        union = " UNION ALL ".join(self._inferences(i, t, negated=negated) for i, t in enumerate(targets))
        fine = f"confidence <= {threshold!r} + {TOLERANCE!r}"
        query = f"""
            WITH every AS MATERIALIZED ({self._combinations(*(t.column for t in targets))}),
            groups AS MATERIALIZED (
                SELECT *, ROW_NUMBER() OVER () AS id FROM ({self._summed()})),
            inferences AS ({union}),
            hit AS (SELECT DISTINCT id FROM inferences WHERE NOT ({fine}))
            SELECT (SELECT COALESCE(MAX(confidence), 0) FROM inferences),
                   (SELECT COUNT(*) FROM inferences WHERE NOT ({fine})),
                   COUNT(*), COALESCE(SUM(n), 0)
            FROM groups SEMI JOIN hit USING (id)"""  # noqa: S608  # identifiers are quoted, values are parameters
        worst, inferences, groups, rows = self.sql.rows(query, parameters)[0]
        return {
            "confidence": float(worst),
            "inferences": int(inferences),
            "violating_groups": int(groups),
            "violating_rows": int(rows),
        }

    def _combinations(self, *more: str) -> str:
        """Return the distinct combinations of the channel, and of further columns: the one look at the relation."""
        kept = all_known(self.channel) if self.nulls is Nulls.EXCLUDE else ""
        return classes(self.relation, (*self.channel, *more), self.schema, kept)

    def _summed(self, target: int | None = None) -> str:
        """Return the distinct combinations of the channel, and of one target, out of ``every``."""
        columns = [f"c{i}" for i in range(len(self.channel))]
        columns += [] if target is None else [f"c{len(self.channel) + target} AS cell"]
        grouped = (
            f" GROUP BY {', '.join(str(i + 1) for i in range(len(columns)))}" if columns else " HAVING COUNT(*) > 0"
        )
        return f"SELECT {''.join(f'{c}, ' for c in columns)}SUM(n) AS n FROM every{grouped}"  # noqa: S608  # our own names

    def _inferences(self, number: int, target: TemplateTarget, *, negated: bool) -> str:
        """Return a SELECT of (id of the group, value, confidence) for one sensitive column."""
        width = len(self.channel)
        values = ", ".join(f"({i}, ?)" for i, image in enumerate(target.images.values()) for _ in sorted(image))
        hits = f"""
            SELECT hits.*, value
            FROM ({self._summed(number)}) AS hits
            JOIN (VALUES {values}) AS sensitive(value, wanted) ON hits.cell = wanted"""  # noqa: S608  # as above
        if self.nulls is Nulls.WILDCARD:
            total = f"SELECT id, SUM(n) AS n FROM ({crowds('groups', 'groups', width, 'a.id, b.n')}) GROUP BY id"  # noqa: S608  # as above
            hit = crowds("groups", f"hits{number}", width, "a.id, b.value, b.n")
        else:
            same = " AND ".join(f"a.c{i} IS NOT DISTINCT FROM b.c{i}" for i in range(width)) or "TRUE"
            total = "SELECT id, n FROM groups"
            hit = f"SELECT a.id, b.value, b.n FROM groups a JOIN hits{number} b ON {same}"  # noqa: S608  # as above
        confidence = f"""
            SELECT id, {number} AS target, value, CAST(summed.n AS DOUBLE) / CAST(totals.n AS DOUBLE) AS confidence
            FROM summed JOIN totals USING (id)"""  # noqa: S608  # as above
        if negated:
            confidence = f"""
                SELECT totals.id, {number} AS target, v.value,
                       CAST(totals.n - COALESCE(summed.n, 0) AS DOUBLE) / CAST(totals.n AS DOUBLE) AS confidence
                FROM totals CROSS JOIN range({len(target.images)}) AS v(value)
                LEFT JOIN summed ON summed.id = totals.id AND summed.value = v.value
                WHERE totals.n > COALESCE(summed.n, 0)"""  # noqa: S608  # as above
        return f"""(
            WITH hits{number} AS MATERIALIZED ({hits}), totals AS ({total}),
            summed AS (SELECT id, value, SUM(n) AS n FROM ({hit}) GROUP BY id, value)
            {confidence})"""  # noqa: S608  # as above
