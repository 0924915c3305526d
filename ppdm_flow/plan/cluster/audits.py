"""Audits, and what releases are held against besides: where each is worked on, and what it takes."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.asks import DataAccess
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.plan.cluster.amounts import ROW_BYTES, table_bytes
from ppdm_flow.plan.cluster.cases import columns_of, held_after, is_generated, of_release, others
from ppdm_flow.plan.cluster.steps import demanded, passes_of
from ppdm_flow.plan.cluster.work import DRIVER, Work, WorkAmount
from ppdm_flow.plan.definition import AuditNode, Plan, ReleaseNode
from ppdm_flow.plan.together import links, read_together
from ppdm_flow.policy.language.kinds import is_over_releases

_PASSES_TOGETHER = 2
"""Questions that an audit has for each other release, by both routes."""
_PASSES_OF_PEOPLE = 3
"""Questions that it has about whose the rows are."""
_HASH_BYTES = 64
"""Bytes of what stands for the person and for the class of a row."""


def audit_work(plan: Plan, node: AuditNode, release: ReleaseNode, rows: int) -> Work:
    """Return what an audit of a release takes, by both routes."""
    demand, cases, columns = node.bound.info.asks, of_release(plan, release), columns_of(plan, node, release)
    asks, why = asked_of(plan, node, release)
    passes = passes_of(demand, columns)
    if "together" in demand.more and "together" in cases:
        passes += _PASSES_TOGETHER * others(plan, release)
    if "people" in demand.more and "people" in cases:
        passes += _PASSES_OF_PEOPLE
    title = f"{node.name} of {release.name}" if len(plan.releases) > 1 else node.name
    amount = demanded(asks, passes, columns, rows, node.bound.document)
    return Work("audit", title, node.bound.info.name, asks.where, why, amount, whole=asks is DataAccess.TABLE)


def asked_of(plan: Plan, node: AuditNode, release: ReleaseNode) -> tuple[DataAccess, str]:
    """Return what an audit of a release asks at the most, and that in words."""
    if _beside_the_driver(plan, release):
        return DataAccess.TABLE, "originals come to the rows that the driver holds"
    asks = node.bound.info.asks.of(of_release(plan, release), node.bound.document)
    return asks, asks.words


def _beside_the_driver(plan: Plan, release: ReleaseNode) -> bool:
    """Whether released rows that have originals are with the driver."""
    steps = plan.upstream(release.input)
    if any(node.bound.info.kind is Kind.GENERATOR or node.effect.rows == "generated" for node in steps):
        return False
    return held_after(plan, release.input)


def across(plan: Plan, rows: int) -> Iterator[Work]:
    """Yield what several releases of one table are held against each other by, and what a ledger is told."""
    own = [release for release in plan.releases if not is_generated(release)]
    joined = any(r.on_joined or r.of_all_files for node in plan.audits for r in node.requirements)
    linked = links(own) if joined and read_together(plan) else ()
    if linked:
        names = {node.name for link in linked for node in (link.one, link.other)}
        compared = {
            name: 2
            + sum(len(link.keyed) + len(link.shared) for link in linked if name in (link.one.name, link.other.name))
            for name in names
        }
        held = sum(rows * ROW_BYTES * columns for columns in compared.values())
        why = "rows are compared, and those that fit are joined"
        amount = WorkAmount(len(names), held, 0, held)
        yield Work("join", " + ".join(sorted(names)), "", DRIVER, why, amount, whole=True)
    successive = is_over_releases(node.bound.info.name for node in plan.audits)
    if plan.ledger is not None or (successive and read_together(plan)):
        held = rows * (_HASH_BYTES + ROW_BYTES) * len(own)
        amount = WorkAmount(len(own), sum(table_bytes(rows, len(r.attributes)) for r in own), 0, held)
        yield Work("people", "of releases", "", DRIVER, "whose rows the releases have", amount, whole=True)
