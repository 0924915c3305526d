"""The table that a randomization operator was given."""

from __future__ import annotations

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.anonymizer import Operator
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


def operator_input(
    operator: Operator, column: str, original: DataView, ctx: AuditContext
) -> tuple[DataView, str] | None:
    """Return the table that the operator was given and the name of its column there."""
    view = ctx.operator_inputs.get(column, original)
    for name in (operator.attribute, source_of(column, ctx)):
        if name in view.schema:
            return view, name
    return None


def given_the_original(operator: Operator, facts: AttributeFacts | None) -> bool:
    """Whether the operator was given the source's own values: no step changed them before."""
    return facts is None or not facts.changes or not operator.step or facts.changes[0][0] == operator.step
