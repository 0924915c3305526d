"""Calling plugins: whatever they raise becomes an error of ours that quotes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.quoting import texts
from ppdm_flow.engine.calls.lending import is_foreign
from ppdm_flow.engine.faults import run_fault, wrap_plugin_errors
from ppdm_flow.plan.definition import AuditNode, StepNode
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.wording import own_constants, unexplained

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
            raise
        except BaseException as error:
            if isinstance(error, _KNOWN):
                raise
            raise run_fault("PPF901", f"{kind} `{node.name}` failed with an exception that is not an error") from None


def _refuse_quoting(
    who: str, node: StepNode | AuditNode, attributes: Iterable[AttributeFacts], error: PpdmError
) -> None:
    names = (name for a in attributes for name in (a.name, a.source))
    words = (node.name, *texts(node.bound.document), *names)
    pieces = {*_lower(words), *own_constants(node.bound.spec.load().__module__)}
    if any(unexplained(text, pieces) for each in error.diagnostics for text in _shown(each)):
        raise run_fault(
            "PPF931",
            f"{who} ended with an error whose message is not shown, because it may quote data",
            advice=f"plugin `{node.bound.info.name}`: a message may name columns and parameters, and count values",
        ) from None


def _lower(words: Iterable[str]) -> Iterator[str]:
    return (word.casefold() for word in words if word)


def _shown(diagnostic: Diagnostic) -> Iterator[str]:
    yield from (t for t in (diagnostic.code, diagnostic.message, diagnostic.hint, diagnostic.help) if t)
    yield from diagnostic.notes
    yield from (related.text for related in diagnostic.related)


def _is_ours(trace: TracebackType | None) -> bool:
    """Whether an error was raised by ppdm_flow itself, which the plugin had asked for something."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    module = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] == registry.OWN
