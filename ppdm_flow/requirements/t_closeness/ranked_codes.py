"""The ranks of sensitive values, as codes of the table that a step reads."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.hierarchies.coarsening import UnplacedError
from ppdm_flow.mining.hierarchies.intervals import decimals
from ppdm_flow.requirements.t_closeness.requirement import TCloseness
from ppdm_flow.tables.counts import Counts

Codes = npt.NDArray[np.int32]


def ranks(counts: Counts, requirement: TCloseness, facts: AttributeFacts | None) -> tuple[Codes, int]:
    """Return the rank of each cell's value, and how many there are. Raises PluginError where some have none."""
    name = requirement.attribute
    codes = counts.of(name)
    if (codes[counts.counts > 0] < 0).any():
        raise _unfit(name, "has missing or suppressed cells, which have no rank")
    used = np.unique(codes[counts.counts > 0])
    names = counts.names(name).take(used).to_pylist()
    order = _order(name, names, requirement, facts)
    rank = np.full(len(counts.names(name)), 0, dtype=np.int32)
    rank[used[order]] = np.arange(len(used), dtype=np.int32)
    return rank[codes], max(1, len(used))


def _order(
    name: str, values: Sequence[str], requirement: TCloseness, facts: AttributeFacts | None
) -> npt.NDArray[np.intp]:
    """Return the places of the values from low to high."""
    if requirement.order:
        place = {value: i for i, value in enumerate(requirement.order)}
        lost = sum(v not in place for v in values)
        if lost:
            raise _unfit(name, f"has {lost} values that the requirement gives no place in its order")
        keys = [float(place[v]) for v in values]
    else:
        keys = _dates(name, values) if facts and facts.type.is_time else _numbers(name, values)
    return np.lexsort((np.arange(len(values)), np.array(keys)))


def _numbers(name: str, values: Sequence[str]) -> list[float]:
    try:
        numbers = decimals(values)
    except UnplacedError as fault:
        raise _unfit(name, f"has {fault.values} values that {fault.what}") from None
    place = {number: float(i) for i, number in enumerate(sorted(set(numbers)))}
    return [place[number] for number in numbers]


def _dates(name: str, values: Sequence[str]) -> list[float]:
    try:
        dates = [datetime.fromisoformat(v) for v in values]
        return [(d if d.tzinfo else d.replace(tzinfo=UTC)).timestamp() for d in dates]
    except (ValueError, OverflowError):
        raise _unfit(name, "has values that are no dates in ISO 8601 form") from None


def _unfit(name: str, what: str) -> PluginError:
    return PluginError(Diagnostic("PPF807", f"the column `{name}` {what}", help="`incomplete_rows: drop` drops them"))
