"""Every value's ancestors in the hierarchy that the policy declares for its attribute."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ppdm_flow.anonymizers.hierarchies.coarsening import Coarsening, UnplacedError
from ppdm_flow.anonymizers.hierarchies.hierarchy import Lines, at_level, read_csv
from ppdm_flow.anonymizers.hierarchies.intervals import Intervals
from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError


def ancestors(column: str, own: HierarchySpec, values: Sequence[str], home: Path) -> list[tuple[str, ...]]:
    """Return the ancestors of each value, nearest first, without a level on which all have the same.

    Such a top says no more than a suppressed cell. Raises PluginError where a value has no place in the hierarchy.
    """
    if own.intervals is not None:
        return [(label,) for label in labels(column, values, Intervals(own.intervals))]
    lines: Lines = (
        dict(own.levels) if own.levels is not None else read_csv(home / (own.csv or ""), own.delimiter, column)
    )
    height = _height(lines)
    levels = [labels(column, values, at_level(lines, level, column)) for level in range(1, height + 1)]
    return list(zip(*levels, strict=True)) if levels else [()] * len(values)


def labels(column: str, values: Sequence[str], way: Coarsening) -> list[str]:
    """Return the label of each value. Raises PluginError, naming the column, where some have none."""
    try:
        return way.labels(values)
    except UnplacedError as fault:
        text = f"{fault.values} of {len(values)} distinct values of the column `{column}` {fault.what}"
        raise PluginError(Diagnostic(fault.code, text, help=fault.advice or None)) from None


def _height(lines: Lines) -> int:
    """How many levels above the values tell some of them apart."""
    height = min((len(above) for above in lines.values()), default=0)
    while height and len({above[height - 1] for above in lines.values()}) == 1:
        height -= 1
    return height
