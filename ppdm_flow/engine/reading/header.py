"""The names of a file's columns: all that compiling a plan needs of the data."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.engine.faults import guarded
from ppdm_flow.engine.reading.binding import named
from ppdm_flow.engine.reading.opening import located, open_source
from ppdm_flow.plan.definition import Plan, SourceNode


def columns(source: Plan | SourceNode, data: Path | None) -> tuple[str, ...]:
    """Return the column names of ``data`` (else of the policy's own file). Raises DataError."""
    node = source.source if isinstance(source, Plan) else source
    path = located(node, data)
    with guarded("the source"):
        found = open_source(node, path).names()
    return tuple(named(node, found))
