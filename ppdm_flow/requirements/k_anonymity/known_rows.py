"""How many people are left for somebody who knows several rows of one person, where rows can be linked."""

from __future__ import annotations

from ppdm_flow.core.results import Chart, Figure, Measured
from ppdm_flow.mining.exposure.columns import RevealingColumns
from ppdm_flow.mining.people.known import KnownRows, may_link
from ppdm_flow.mining.people.known_query import KnownQuery
from ppdm_flow.mining.people.known_rows_chart import crowds_by_known_rows, known_rows_chart
from ppdm_flow.mining.people.wording import KNOWN, holding_all, knowing
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView


def known_rows(
    requirement: KAnonymity, columns: RevealingColumns, candidate: DataView, ctx: AuditContext
) -> tuple[list[Measured], list[Chart]]:
    """Return the smallest crowd of linked people, with a picture; nothing where rows are counted, or none is linked.

    Raises UnmeasuredError where there are too many combinations.
    """
    if ctx.people is None or not may_link(columns, candidate, ctx):
        return [], []
    known = KnownRows.of(columns, None, candidate, ctx)
    crowds = known.smallest_crowd()
    if crowds.smallest is None:
        return [], []
    text = (
        f"{knowing(ctx.people)} finds at least {holding_all(crowds.smallest)}; {requirement.k:,} are"
        f" required.{known.linked_by}"
    )
    metric = f"{requirement.id}.{KNOWN}k"
    held = Measured(requirement.id, metric, Figure(crowds.smallest, "people"), float(requirement.k), False, text)
    every = crowds_by_known_rows(known.held, {ctx.people.known_rows: crowds})
    name = f"{requirement.id}.known_rows"
    chart = known_rows_chart(every, requirement.k, name=name, group=requirement.kind)
    return [held], [] if chart is None else [chart]


def known_rows_sql(columns: RevealingColumns, candidate: DataView, ctx: AuditContext, sql: Sql) -> dict[str, int]:
    """Return the figure by the second route; nothing where no row is linked."""
    if ctx.people is None:
        return {}
    smallest = KnownQuery.of_known(sql, columns, None, candidate, ctx).smallest_crowd()
    return {} if smallest is None else {f"{KNOWN}k": smallest}
