"""The measured l of a release: how many sensitive values the least diverse class has.

Distinct, entropy and recursive (c, l)-diversity (Machanavajjhala et al., ACM TKDD 1(1), 2007, section 4). Measured is
the number of values, exp of the entropy, or the largest l for which r_1 < c (r_l + … + r_m); 0 where there is none.
Suppressed cells and, unless the policy says otherwise, missing ones are a value of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ppdm_flow.core.people import PeopleFigure
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Figure
from ppdm_flow.mining.classes.audit import SensitiveAudit
from ppdm_flow.mining.classes.class_metric import Names
from ppdm_flow.mining.classes.column_figures import ColumnFigures, Floats
from ppdm_flow.mining.classes.wording import beyond, known_by
from ppdm_flow.mining.exposure.histograms import Histograms
from ppdm_flow.mining.exposure.matching_query import matched_sql
from ppdm_flow.mining.exposure.query import ClassQuery
from ppdm_flow.mining.people.query import PeopleQuery
from ppdm_flow.requirements.l_diversity.classes import entropies
from ppdm_flow.requirements.l_diversity.matching import distinct_values
from ppdm_flow.requirements.l_diversity.requirement import Diversity, LDiversity
from ppdm_flow.sdk.audit import AuditContext

SLACK = 1e-12
"""Relative rounding of c times a count: equality does not keep a strict bound."""


class LDiversityAudit(SensitiveAudit[LDiversity]):
    """Counts the sensitive values of each class."""

    kind = LDiversity
    metric = "l"
    unit = "values"
    at_most = False

    def bound(self, requirement: LDiversity) -> float:
        """Return l."""
        return requirement.l

    def each(self, requirement: LDiversity, histograms: Histograms, ctx: AuditContext) -> Floats:
        """Return the l of each class."""
        del ctx
        if requirement.variant is Diversity.ENTROPY:
            return np.asarray(np.exp(entropies(histograms.cells, histograms.sizes)))
        if requirement.variant is Diversity.RECURSIVE:
            return recursive(histograms, requirement.c or 0.0)
        return distinct_values(histograms).astype(np.float64)

    def of_shares(self, requirement: LDiversity) -> bool:
        """Return whether the l is one of shares; the others count rows and values of the crowd."""
        return requirement.variant is Diversity.ENTROPY

    def again(
        self, requirement: LDiversity, query: ClassQuery, ctx: AuditContext
    ) -> tuple[Floats, Floats] | dict[str, Any]:
        """Return the second route's figures; where cells are decoded, rows and values are matched by another way."""
        if requirement.variant is Diversity.DISTINCT and query.decoded and not isinstance(query, PeopleQuery):
            return matched_sql(query)
        return super().again(requirement, query, ctx)

    def people_figure(self, requirement: LDiversity) -> PeopleFigure:
        """Return that people are matched with values, or weigh 1 each."""
        return PeopleFigure.DISTINCT if requirement.variant is Diversity.DISTINCT else PeopleFigure.DISTRIBUTION

    def query(self, requirement: LDiversity, names: Names, ctx: AuditContext) -> tuple[str, list[Any]]:
        """Return the l of each class."""
        del names, ctx
        if requirement.variant is Diversity.ENTROPY:
            return (
                "SELECT id, EXP(-SUM(n / size * LN(n / size))) AS v FROM cells JOIN sizes USING (id) GROUP BY id",
                [],
            )
        if requirement.variant is Diversity.RECURSIVE:
            return _recursive_query(requirement.c or 0.0), []
        return "SELECT id, COUNT(*) AS v FROM cells GROUP BY id", []

    def counts(self, requirement: LDiversity) -> bool:
        """Return whether values are counted."""
        return requirement.variant is not Diversity.ENTROPY

    def further(self, judged: ColumnFigures[LDiversity]) -> Mapping[str, Figure]:
        """Return the smallest number of values as well, whatever the policy counts."""
        values = distinct_values(judged.histograms)
        return {"distinct": Figure(int(values.min()) if len(values) else 0, "values")}

    def sentence(self, judged: ColumnFigures[LDiversity], value: float) -> str:
        """Return what the least diverse class has."""
        requirement, column = judged.requirement, judged.column
        outside = judged.beyond(requirement.l, at_most=False)
        rows = int(judged.histograms.rows[outside].sum())
        end = beyond(rows, judged.histograms.total)
        if requirement.variant is Diversity.DISTINCT:
            least = f"finds at least {counted(int(value), 'value')} of `{column}` among those that fit"
            alone = " Where it is one, everybody's value is known." if value == 1 else ""
            return f"{known_by(judged.grouping)} {least}; {requirement.l:g} are required.{end}{alone}"
        if requirement.variant is Diversity.ENTROPY:
            return (
                f"{known_by(judged.grouping)} is left with as much uncertainty about `{column}` as among {value:.4g}"
                f" equally likely values, or more; {requirement.l:g} are required.{end}"
            )
        return (
            f"In every class the most frequent value of `{column}` has fewer rows than {requirement.c:g} times those"
            f" from the {_ordinal(int(value))} most frequent on; from the {_ordinal(int(requirement.l))} on is"
            f" required.{end}"
            if value >= 1
            else f"In some class the most frequent value of `{column}` has no fewer rows than {requirement.c:g} times"
            f" all rows of the class.{end}"
        )


def recursive(histograms: Histograms, c: float) -> Floats:
    """Return the largest l of each class with r_1 < c (r_l + … + r_m), 0 where there is none; it falls with l."""
    cells = histograms.cells
    if not len(cells.count):
        return np.zeros(len(histograms))
    owner = cells.owner
    count = cells.count[np.lexsort((-cells.count, owner))]
    total = np.cumsum(count)
    tail = np.repeat(total[cells.begins[1:] - 1], np.diff(cells.begins)) - total + count
    head = count[cells.begins[:-1]][owner]
    limit = c * tail.astype(np.float64)
    kept = head < limit - SLACK * limit
    return np.bincount(owner, kept, len(histograms)).astype(np.float64)


def _recursive_query(c: float) -> str:
    return f"""
        SELECT id, COALESCE(MAX(r) FILTER (head < {c!r}::DOUBLE * tail - {SLACK!r}::DOUBLE * ({c!r}::DOUBLE * tail)), 0)
            AS v
        FROM (
            SELECT id, ROW_NUMBER() OVER w AS r, CAST(MAX(n) OVER (PARTITION BY id) AS DOUBLE) AS head,
                CAST(SUM(n) OVER (w ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS DOUBLE) AS tail
            FROM cells WINDOW w AS (PARTITION BY id ORDER BY n DESC))
        GROUP BY id"""  # noqa: S608  # c is a float


def _ordinal(number: int) -> str:
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if 10 < number % 100 < 14 else ends.get(number % 10, 'th')}"
