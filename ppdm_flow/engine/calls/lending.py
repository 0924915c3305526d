"""Calls plugins with read-only data, and turns their exceptions into errors that quote nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from threading import Lock
from types import TracebackType
from typing import Any

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.texts import texts
from ppdm_flow.engine.calls.promises import ReturnedTable
from ppdm_flow.engine.faults import run_fault, wrap_plugin_errors
from ppdm_flow.plan.definition import AuditNode, ConfiguredPlugin, StepNode
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.history import Membership, ReleaseHistory
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.sdk.view import DataView, Generation, LentPairs, LentView
from ppdm_flow.sdk.wording import may_quote
from ppdm_flow.tables.buffers import frozen
from ppdm_flow.tables.frozen import frozen_table
from ppdm_flow.tables.table import RowNumbers, Table

_KNOWN = (Exception, SystemExit, KeyboardInterrupt, GeneratorExit)
"""What others turn into an error of ours, or what ends a run or a generator."""


@contextmanager
def guard_plugin_call(node: StepNode | AuditNode, attributes: Iterable[AttributeFacts]) -> Iterator[None]:
    """Run code of the node's plugin.

    The message of an error that a plugin of another distribution raises on purpose is passed on where each of its words
    stands in the plugin's code, in the policy's words for the node or among the names of ``attributes``. Others may
    quote data, and are not shown.
    """
    kind = "step" if isinstance(node, StepNode) else "audit"
    with wrap_plugin_errors(f"{kind} `{node.name}`"):
        try:
            yield
        except PpdmError as error:
            if is_foreign(node.bound) and not _is_ours(error.__traceback__):
                _refuse_quoting(f"{kind} `{node.name}`", node, attributes, error)
            if kind == "step" and any(each.code in _UNPLACED for each in error.diagnostics):
                explained = [_of_earlier_labels(each, node.name, attributes) for each in error.diagnostics]
                raise type(error)(explained, error.sources) from None
            raise
        except BaseException as error:
            if isinstance(error, _KNOWN):
                raise
            raise run_fault("PPF901", f"{kind} `{node.name}` failed with an exception that is not an error") from None


_UNPLACED = ("PPF786", "PPF788", "PPF789")
"""A value has no place in a hierarchy, or is no number."""


def _of_earlier_labels(fault: Diagnostic, step: str, attributes: Iterable[AttributeFacts]) -> Diagnostic:
    """Say whose labels a step cannot place, where another step wrote the values of the column."""
    earlier = next((a for a in attributes if a.changes and f"column `{a.name}`" in fault.message), None)
    if earlier is None or fault.code not in _UNPLACED:
        return fault
    writer = earlier.changes[-1][0]
    advice = (
        f"the values of `{earlier.name}` are those that step `{writer}` wrote, and no hierarchy or type of the source"
        f" knows them: let `{step}` alone recode it (`full_domain_recoding` takes `levels: {{{earlier.name}: {{min:"
        f" 1}}}}`), or let it come before `{writer}`"
    )
    return replace(fault, help=advice)


def _refuse_quoting(
    who: str, node: StepNode | AuditNode, attributes: Iterable[AttributeFacts], error: PpdmError
) -> None:
    names = (name for a in attributes for name in (a.name, a.source))
    if may_quote(error, (node.name, *texts(node.bound.document), *names), node.bound.spec.load().__module__):
        raise run_fault(
            "PPF931",
            f"{who} ended with an error whose message is not shown, because it may quote data",
            advice=f"plugin `{node.bound.info.name}`: a message may name columns and parameters, and count values",
        ) from None


def _is_ours(trace: TracebackType | None) -> bool:
    """Whether an error was raised by ppdm_flow itself, which the plugin had asked for something."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    module = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] == registry.OWN


def is_foreign(bound: ConfiguredPlugin) -> bool:
    """Whether a plugin comes from another distribution than ppdm_flow itself."""
    return bound.distribution.replace("-", "_") != registry.OWN


def turns(bound: ConfiguredPlugin) -> AbstractContextManager[Any]:
    """Let one thread at a time call a transform of another distribution, which may keep things between calls."""
    return Lock() if is_foreign(bound) else nullcontext()


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


def lent_view(bound: ConfiguredPlugin, view: DataView) -> DataView:
    """Return the view as a plugin gets it: nothing that it answers with can be written to."""
    return LentView(view) if is_foreign(bound) else view


def lent_context(bound: ConfiguredPlugin, context: AuditContext) -> AuditContext:
    """Return the context of an audit as the audit gets it."""
    if not is_foreign(bound):
        return context
    return replace(
        context,
        operators={name: frozen_operator(each) for name, each in context.operators.items()},
        operator_inputs=_views(context.operator_inputs),
        pairs=None if context.pairs is None else LentPairs(context.pairs),
        pseudonyms=None if context.pseudonyms is None else LentPairs(context.pseudonyms),
        operator_pairs={name: LentPairs(pairs) for name, pairs in context.operator_pairs.items()},
        siblings=_views(context.siblings),
        generation=None if context.generation is None else _generation(context.generation),
        history=None if context.history is None else _history(context.history),
    )


def frozen_operator(operator: ValueOperator) -> ValueOperator:
    """Return the operator over immutable memory."""
    if isinstance(operator, MatrixOperator):
        return replace(operator, transition=frozen(operator.transition))
    return replace(operator, retention=frozen(operator.retention))


def _views(views: Mapping[str, DataView]) -> dict[str, DataView]:
    return {name: LentView(view) for name, view in views.items()}


def _generation(generation: Generation) -> Generation:
    source = None if generation.source is None else LentPairs(generation.source)
    return replace(generation, made=LentPairs(generation.made), source=source)


def _history(history: ReleaseHistory) -> ReleaseHistory:
    earlier = tuple(replace(e, members=_members(e.members)) for e in history.earlier)
    return replace(history, own=_members(history.own), earlier=earlier)


def _members(membership: Membership | None) -> Membership | None:
    if membership is None:
        return None
    shown: dict[str, Any] = {"subjects": frozen(membership.subjects), "classes": frozen(membership.classes)}
    return replace(membership, **shown, places=None if membership.places is None else frozen(membership.places))
