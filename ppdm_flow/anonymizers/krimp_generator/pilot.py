"""A sample of rows that is only looked at: made from draws of a fixed key, which no release uses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdm_flow.anonymizers.krimp_generator.cells import Raw
from ppdm_flow.anonymizers.krimp_generator.transform import Drafts, GeneratorTransform
from ppdm_flow.core.draws import Draws, RunKey

ROWS = 10_000

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class PilotSample:
    """``drafts`` are rows before any is rejected. ``itemsets`` is the mean number of elements a row.

    Intervals are those of 95 %. Where rows are rejected: the share of drafts that are, and the mean total variation
    distance between the distributions of single attributes over all drafts and over those that pass (None: none pass).
    """

    drafts: Drafts
    itemsets: float
    itemsets_interval: Interval
    rejected: float | None = None
    rejected_interval: Interval | None = None
    distance: float | None = None

    @property
    def sample(self) -> int:
        """The number of rows."""
        return len(self.drafts.items)


def pilot(transform: GeneratorTransform) -> PilotSample:
    """Look at rows before any is rejected."""
    draws = Draws(RunKey.from_seed("ppdm-flow pilot sample").step("pilot"), transform.draws_per_row)
    drafts = transform.drafts(draws.words(np.arange(ROWS, dtype=np.int64)))
    mean = float(drafts.itemsets.mean())
    wide = 1.96 * float(drafts.itemsets.std(ddof=1)) / ROWS**0.5
    seen = PilotSample(drafts, mean, (mean - wide, mean + wide))
    if transform.rejection is None:
        return seen
    out = transform.rejected(drafts)
    distance = None if out.all() else float(np.mean([_distance(r, r[~out]) for r in drafts.raw]))
    share = float(out.mean())
    return PilotSample(drafts, mean, seen.itemsets_interval, share, wilson(int(out.sum()), ROWS), distance)


def wilson(hits: int, total: int) -> Interval:
    """Return the 95 % interval of a share (Wilson, 1927)."""
    z = 1.96
    share = hits / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * (share * (1 - share) / total + z * z / (4 * total * total)) ** 0.5
    return max(0.0, middle - half), min(1.0, middle + half)


def _distance(one: Raw, other: Raw) -> float:
    _, codes = np.unique(np.concatenate([one, other]), return_inverse=True)
    size = int(codes.max()) + 1
    first = np.bincount(codes[: len(one)], minlength=size) / len(one)
    second = np.bincount(codes[len(one) :], minlength=size) / len(other)
    return float(np.abs(first - second).sum() / 2)
