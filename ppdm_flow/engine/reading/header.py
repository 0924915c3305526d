"""The names of a file's columns: all that compiling a plan needs of the data."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.engine.faults import wrap_plugin_errors
from ppdm_flow.engine.reading.binding import named
from ppdm_flow.engine.reading.opening import data_path, open_source
from ppdm_flow.plan.definition import Plan, SourceNode


def columns(source: Plan | SourceNode, data: Path | None) -> tuple[str, ...]:
    """Return the column names of ``data`` (else of the policy's own file). Raises DataError."""
    node = source.source if isinstance(source, Plan) else source
    path = data_path(node, data)
    with wrap_plugin_errors("the source"):
        column_names = open_source(node, path).names()
    return tuple(named(node, column_names))
