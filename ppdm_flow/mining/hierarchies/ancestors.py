"""Every value's ancestors in the hierarchy that the policy declares for its attribute."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.hierarchies.coarsening import Coarsening, UnplacedError
from ppdm_flow.mining.hierarchies.ladder import Ladder, ladder
from ppdm_flow.mining.hierarchies.texts import Prefix


def ancestors(column: str, own: HierarchySpec, values: Sequence[str], home: Path) -> list[tuple[str, ...]]:
    """Return the ancestors of each value, nearest first, without a level on which all have the same.

    Such a top says no more than a suppressed cell. Raises PluginError where a value has no place in the hierarchy.
    """
    steps = ladder(column, own, home)
    every = [labels(column, values, rung) for rung in steps.rungs]
    if steps.leaves is None:
        telling = max((i for i, level in enumerate(every) if len(set(level)) > 1), default=0) + 1
    else:
        telling = _telling(column, steps)
    return list(zip(*every[:telling], strict=True)) if telling else [()] * len(values)


def settled(way: Coarsening, values: Sequence[str]) -> Coarsening:
    """Return a way to generalize that labels parts of these values as it labels all of them together."""
    return way.over(values) if isinstance(way, Prefix) else way


def labels(column: str, values: Sequence[str], way: Coarsening) -> list[str]:
    """Return the label of each value. Raises PluginError, naming the column, where some have none."""
    try:
        return way.labels(values)
    except UnplacedError as fault:
        text = f"{fault.values} of {len(values)} distinct values of the column `{column}` {fault.what}"
        raise PluginError(Diagnostic(fault.code, text, help=fault.advice or None)) from None


def _telling(column: str, steps: Ladder) -> int:
    """How many levels above the values tell some of all that the hierarchy lists apart."""
    every = [len(set(labels(column, steps.leaves or (), rung))) for rung in steps.rungs]
    while every and every[-1] == 1:
        every.pop()
    return len(every)
