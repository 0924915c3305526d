"""The key files that a plan's plugins read: refused before any work where others may read them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ppdm_flow.core.spans import Span
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.marked import marked_files
from ppdm_flow.sdk.key_file import refuse_shared


def check_key_files(plan: Plan) -> None:
    """Raise DataError where others than its owner may read a key file of a step or an audit."""
    for name, relative, span in _key_files(plan):
        refuse_shared(Path(plan.home) / relative, f"the key file of {name},", span)


def _key_files(plan: Plan) -> Iterator[tuple[str, str, Span | None]]:
    for kind, nodes in (("step", plan.steps), ("audit", plan.audits)):
        for node in nodes:
            for path in marked_files(node.bound.params, secret=True):
                yield f"{kind} `{node.name}`", path, node.spans[-1] if node.spans else None
