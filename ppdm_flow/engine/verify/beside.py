"""What is in the bytes of a file beside its cells: as far as the reader of its format can say."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.core.results import Finding
from ppdm_flow.engine.faults import wrap_plugin_errors
from ppdm_flow.engine.reading.opening import open_released
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.sdk.storage import InspectingSource


def beside_cells(release: ReleaseNode, path: Path) -> tuple[Finding, ...]:
    """Return findings without any value; of readers that cannot say, none."""
    with wrap_plugin_errors(f"release `{release.name}`"):
        source = open_released(release, path)
        return tuple(source.beside()) if isinstance(source, InspectingSource) else ()
