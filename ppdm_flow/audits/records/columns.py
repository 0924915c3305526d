"""Which columns of the release stand beside which of the original, and what their cells may be used for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Finding
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.mining.releases.attributes import released, source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

NO_RECORD = (Role.IDENTIFIER, Role.WEIGHT, Role.SUBJECT, Role.ITEMS)
UNTRUE = (Change.PERTURBED, Change.GENERATED, Change.PSEUDONYMIZED, Change.OTHER)
NOT_TRUE = "released cells are randomized or generated: what they say need not be true of anybody"

NO_HOLDOUT = "no rows were held out of the generator, so there is no control group"


@dataclass(frozen=True, slots=True)
class ColumnPair:
    """A released ``column`` and its ``source`` of a ``type``; ``edges`` of declared intervals, where there are any."""

    column: str
    source: str
    type: AttributeType = AttributeType.TEXT
    edges: tuple[float, ...] = ()


def beside(
    original: DataView, candidate: DataView, ctx: AuditContext, chosen: Collection[str] | None = None
) -> tuple[ColumnPair, ...]:
    """Return the released columns that the original has, in the release's order; of ``chosen`` only, by either name."""
    pairs = []
    for field in candidate.schema:
        source = source_of(field.name, ctx)
        if field.role in NO_RECORD or source not in original.schema or original.schema[source].role in NO_RECORD:
            continue
        if chosen is not None and field.name not in chosen and source not in chosen:
            continue
        facts = ctx.original_attributes.get(source)
        hierarchy = facts.hierarchy if facts else None
        edges = (hierarchy.intervals if hierarchy else None) or ()
        pairs.append(ColumnPair(field.name, source, original.schema[source].type, edges))
    return tuple(pairs)


def quasi_identifiers(attributes: Sequence[str] | None, candidate: DataView, ctx: AuditContext) -> tuple[str, ...]:
    """Return the released columns of these attributes, or of all quasi-identifiers."""
    if attributes is None:
        return candidate.schema.having(Role.QUASI_IDENTIFIER)
    return released(attributes, candidate, ctx)


def truthful(columns: Iterable[str], ctx: AuditContext) -> bool:
    """Whether none of these released columns was randomized, generated or renamed."""
    return not any(ctx.attributes[c].was(*UNTRUE) for c in columns if c in ctx.attributes)


def uncontrolled(ctx: AuditContext, audit: str) -> tuple[Finding, ...]:
    """Return the finding that an attack could not be told from what anybody knows."""
    text = f"`{audit}` has no control group: {NO_HOLDOUT.partition(',')[0]}"
    return (Finding("PPF864", Severity.INFO, text, f"{ctx.release}.{audit}"),)
