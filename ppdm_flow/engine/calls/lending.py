"""What plugins of other distributions are lent, read-only for good, and what is taken from them: copies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ppdm_flow.engine.calls.promises import ReturnedTable
from ppdm_flow.plan.definition import Bound, StepNode
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.anonymizer import Operator
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.generation import Generation
from ppdm_flow.sdk.history import History, Membership
from ppdm_flow.sdk.lent import LentPairs, LentView
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.frozen import frozen, frozen_table
from ppdm_flow.tables.table import RowNumbers, Table


def is_foreign(bound: Bound) -> bool:
    """Whether a plugin comes from another distribution than ppdm_flow itself."""
    return bound.distribution.replace("-", "_") != registry.OWN


@dataclass(frozen=True, slots=True)
class Loan:
    """A table that a step works on: ``theirs`` is what the step is given, ``returned`` knows it again."""

    theirs: Table
    returned: ReturnedTable | None = None

    @classmethod
    def of(cls, node: StepNode, table: Table) -> Loan:
        """Lend the table; a plugin of ppdm_flow itself gets it as it is."""
        if not is_foreign(node.bound):
            return cls(table)
        theirs = frozen_table(table)
        return cls(theirs, ReturnedTable(node, table, theirs))

    def back(self, table: Table) -> Table:
        """Return what the step made, as nobody outside of the engine can change it. Raises RunError for no table.

        Columns that the step hands on are the engine's own again; all others are copied before anybody looks at them.
        """
        return table if self.returned is None else self.returned.plain(table)


def detached_table(node: StepNode, table: Table) -> Table:
    """Return a table that a plugin made of nothing that it was lent, as nobody else can change it."""
    return ReturnedTable(node).plain(table) if is_foreign(node.bound) else table


def lent_rows(node: StepNode, rows: RowNumbers) -> RowNumbers:
    """Return row numbers as a generator gets them."""
    return frozen(rows) if is_foreign(node.bound) else rows


def lent_view(bound: Bound, view: DataView) -> DataView:
    """Return the view as a plugin gets it: nothing that it answers with can be written to."""
    return LentView(view) if is_foreign(bound) else view


def lent_context(bound: Bound, context: AuditContext) -> AuditContext:
    """Return what an audit is told as it gets it."""
    if not is_foreign(bound):
        return context
    return replace(
        context,
        operators={name: frozen_operator(each) for name, each in context.operators.items()},
        operator_inputs=_views(context.operator_inputs),
        pairs=None if context.pairs is None else LentPairs(context.pairs),
        operator_pairs={name: LentPairs(pairs) for name, pairs in context.operator_pairs.items()},
        siblings=_views(context.siblings),
        generation=None if context.generation is None else _generation(context.generation),
        history=None if context.history is None else _history(context.history),
    )


def frozen_operator(operator: Operator) -> Operator:
    """Return the operator over immutable memory."""
    return replace(operator, retention=frozen(operator.retention))


def _views(views: Mapping[str, DataView]) -> dict[str, DataView]:
    return {name: LentView(view) for name, view in views.items()}


def _generation(generation: Generation) -> Generation:
    source = None if generation.source is None else LentPairs(generation.source)
    return replace(generation, made=LentPairs(generation.made), source=source)


def _history(history: History) -> History:
    earlier = tuple(replace(e, members=_members(e.members)) for e in history.earlier)
    return replace(history, own=_members(history.own), earlier=earlier)


def _members(membership: Membership | None) -> Membership | None:
    if membership is None:
        return None
    shown: dict[str, Any] = {"subjects": frozen(membership.subjects), "classes": frozen(membership.classes)}
    return replace(membership, **shown, places=None if membership.places is None else frozen(membership.places))
