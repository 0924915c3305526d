"""What plugins of other distributions are lent, read-only for good, and what is taken from them: copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from ppdm_flow.engine.returned import Returned
from ppdm_flow.plan.definition import Bound, StepNode
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.anonymizer import Operator
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.history import History, Membership
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.frozen import frozen, frozen_counts, frozen_table, frozen_texts
from ppdm_flow.tables.schema import Schema
from ppdm_flow.tables.table import RowNumbers, Table


def is_foreign(bound: Bound) -> bool:
    """Whether a plugin comes from another distribution than ppdm_flow itself."""
    return bound.distribution.replace("-", "_") != registry.OWN


@dataclass(frozen=True, slots=True)
class Loan:
    """A table that a step works on: ``theirs`` is what the step is given, ``returned`` knows it again."""

    theirs: Table
    returned: Returned | None = None

    @classmethod
    def of(cls, node: StepNode, table: Table) -> Loan:
        """Lend the table; a plugin of ppdm_flow itself gets it as it is."""
        if not is_foreign(node.bound):
            return cls(table)
        theirs = frozen_table(table)
        return cls(theirs, Returned(node, table, theirs))

    def back(self, table: Table) -> Table:
        """Return what the step made, as nobody outside of the engine can change it. Raises RunError for no table.

        Columns that the step hands on are the engine's own again; all others are copied before anybody looks at them.
        """
        return table if self.returned is None else self.returned.plain(table)


def taken(node: StepNode, table: Table) -> Table:
    """Return a table that a plugin made of nothing that it was lent, as nobody else can change it."""
    return Returned(node).plain(table) if is_foreign(node.bound) else table


def lent_rows(node: StepNode, rows: RowNumbers) -> RowNumbers:
    """Return row numbers as a generator gets them."""
    return frozen(rows) if is_foreign(node.bound) else rows


def lent_view(bound: Bound, view: DataView) -> DataView:
    """Return the view as a plugin gets it: nothing that it answers with can be written to."""
    return _LentView(view) if is_foreign(bound) else view


def lent_context(bound: Bound, context: AuditContext) -> AuditContext:
    """Return what an audit is told as it gets it."""
    if not is_foreign(bound):
        return context
    return replace(
        context,
        operators={name: frozen_operator(each) for name, each in context.operators.items()},
        operator_inputs=_views(context.operator_inputs),
        pairs=None if context.pairs is None else _LentPairs(context.pairs),
        operator_pairs={name: _LentPairs(pairs) for name, pairs in context.operator_pairs.items()},
        siblings=_views(context.siblings),
        history=None if context.history is None else _history(context.history),
    )


def frozen_operator(operator: Operator) -> Operator:
    """Return the operator over immutable memory."""
    return replace(operator, retention=frozen(operator.retention))


class _LentView:
    """A DataView whose answers cannot be written to: some of them are remembered, and others get them too."""

    def __init__(self, view: DataView) -> None:
        self._view = view

    @property
    def schema(self) -> Schema:
        return self._view.schema

    @property
    def row_count(self) -> int:
        return self._view.row_count

    def counts(self, columns: Sequence[str]) -> Counts:
        return frozen_counts(self._view.counts(columns))

    def domain(self, column: str) -> pa.StringArray:
        return frozen_texts(self._view.domain(column))

    def sample(self, size: int) -> Table:
        return frozen_table(self._view.sample(size))

    def table(self, columns: Sequence[str] | None = None) -> Table:
        return frozen_table(self._view.table(columns))

    def partitions(self, columns: Sequence[str] | None = None) -> Iterator[Table]:
        return map(frozen_table, self._view.partitions(columns))


class _LentPairs:
    """A PairedView whose answers cannot be written to."""

    def __init__(self, pairs: PairedView) -> None:
        self._pairs = pairs

    def pairs(self, original: Sequence[str], released: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        return ((frozen_table(a), frozen_table(b)) for a, b in self._pairs.pairs(original, released))

    def joint(self, original: str, released: str) -> Counts:
        return frozen_counts(self._pairs.joint(original, released))


def _views(views: Mapping[str, DataView]) -> dict[str, DataView]:
    return {name: _LentView(view) for name, view in views.items()}


def _history(history: History) -> History:
    earlier = tuple(replace(e, members=_members(e.members)) for e in history.earlier)
    return replace(history, own=_members(history.own), earlier=earlier)


def _members(found: Membership | None) -> Membership | None:
    if found is None:
        return None
    shown: dict[str, Any] = {"subjects": frozen(found.subjects), "classes": frozen(found.classes)}
    return replace(found, **shown, places=None if found.places is None else frozen(found.places))
