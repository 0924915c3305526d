"""A released file, opened as what its policy says that it is."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.core.roles import Role
from ppdm_flow.engine.faults import data_fault, wrap_plugin_errors
from ppdm_flow.engine.opening.opening import open_released, released_names
from ppdm_flow.engine.streams.checks import WeightCheck
from ppdm_flow.engine.streams.reading import ReadOptions
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.sdk.storage import Source


def released_source(
    release: ReleaseNode, path: Path, partition_rows: int, *, foreign: bool = False
) -> tuple[Source, ReadOptions]:
    """Return the reader of a file with exactly the columns of ``release``, in their order. Raises DataError.

    ``foreign``: another tool wrote it.
    """
    names = release.columns
    who = f"release `{release.name}`"
    with wrap_plugin_errors(who):
        source = open_released(release, path)
        column_names = released_names(release, path, source)
        columns = dict(zip(column_names, source.names(), strict=True))
    if column_names != names:
        raise data_fault(
            "PPF904", f"{who}: the file has {len(column_names)} columns, other than the {len(names)} of the plan"
        )
    reading = ReadOptions(columns=columns, partition_rows=partition_rows, released=True, who=who, foreign=foreign)
    return source, reading


def released_checks(release: ReleaseNode) -> tuple[WeightCheck, ...]:
    """Return what the rows of a released file are held against."""
    return tuple(WeightCheck(a, zeros=False) for a in release.attributes if a.role is Role.WEIGHT)
