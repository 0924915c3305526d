"""Rows of a view, evenly spaced, a weighted one as often as it counts; the original's in two groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.table import Table, concat

Truths = npt.NDArray[np.bool_]
Chosen = Callable[[Table], Truths]


@dataclass(frozen=True, slots=True, eq=False)
class RecordSample:
    """``table`` holds at most as many rows as asked, of ``available`` persons in the group."""

    table: Table
    available: int

    def __len__(self) -> int:
        return len(self.table)


def sampled(view: DataView, columns: Sequence[str], limit: int) -> RecordSample:
    """Return at most ``limit`` persons of a view."""
    return _sampled(view, columns, limit, lambda part: np.ones(len(part), dtype=np.bool_))


def training(view: DataView, columns: Sequence[str], limit: int, holdout: Holdout | None) -> RecordSample:
    """Return at most ``limit`` persons that the release may know of."""
    if holdout is None:
        return sampled(view, columns, limit)
    return _sampled(view, columns, limit, lambda part: ~holdout.held_out(part.rows))


def held_out(view: DataView, columns: Sequence[str], limit: int, holdout: Holdout) -> RecordSample:
    """Return at most ``limit`` persons of the control group."""
    return _sampled(view, columns, limit, lambda part: holdout.held_out(part.rows))


def _sampled(view: DataView, columns: Sequence[str], limit: int, chosen: Chosen) -> RecordSample:
    weight = view.schema.weight
    wanted = [*columns, weight] if weight and weight not in columns else list(columns)
    total = _persons(view, wanted, weight, chosen)
    wished = min(limit, total)
    seen, pieces = 0, []
    for part in _parts(view, wanted, chosen):
        ends = seen + (np.arange(1, len(part) + 1) if weight is None else np.cumsum(weights_of(part[weight])))
        until = int(ends[-1]) if len(ends) else seen
        first, last = (-(-end * wished // max(1, total)) for end in (seen, until))
        places = np.arange(first, last) * total // max(1, wished)
        pieces.append(part.take(np.searchsorted(ends, places, side="right")).select(columns))
        seen = until
    return RecordSample(concat(pieces), total)


def _persons(view: DataView, columns: Sequence[str], weight: str | None, chosen: Chosen) -> int:
    if weight is None:
        return sum(len(part) for part in _parts(view, columns[:1], chosen))
    return sum(int(weights_of(part[weight]).sum()) for part in _parts(view, [weight], chosen))


def _parts(view: DataView, columns: Sequence[str], chosen: Chosen) -> Iterator[Table]:
    yield Table.of({name: [] for name in columns})
    for part in view.partitions(columns):
        kept = chosen(part)
        if kept.any():
            yield part if kept.all() else part.take(kept)
