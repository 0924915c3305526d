"""Whether a hierarchy is one, and whether it covers what the data holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from ppdm_flow.mining.hierarchies.hierarchy import Lines, height
from ppdm_flow.mining.hierarchies.whole import lies


@dataclass(frozen=True, slots=True)
class Checked:
    """What was counted. ``labels`` of each level above the values; ``split`` are levels that divide the one below.

    ``absent`` of ``values`` distinct values (``absent_rows`` of ``rows``) stand in no line; ``unused`` of ``leaves`` do
    not occur. ``lies``: labels that are spelled like a value which has another label.
    """

    leaves: int
    labels: tuple[int, ...]
    split: tuple[int, ...]
    lies: int
    values: int
    absent: int
    rows: int
    absent_rows: int
    unused: int

    @property
    def holds(self) -> bool:
        """Whether it can be used for this data."""
        return not (self.absent or self.split or self.lies)


def checked(lines: Lines, counts: Mapping[str, int]) -> Checked:
    """Hold a hierarchy against the values of the data, with their numbers of rows."""
    levels = [list(lines), *([above[i] for above in lines.values()] for i in range(height(lines)))]
    split = tuple(
        level
        for level, (low, high) in enumerate(pairwise(levels), start=1)
        if len(set(zip(low, high, strict=True))) > len(set(low))
    )
    absent = [v for v in counts if v not in lines]
    return Checked(
        leaves=len(lines),
        labels=tuple(len(set(level)) for level in levels[1:]),
        split=split,
        lies=sum(lies(levels[0], level) for level in levels[1:]),
        values=len(counts),
        absent=len(absent),
        rows=sum(counts.values()),
        absent_rows=sum(counts[v] for v in absent),
        unused=sum(v not in counts for v in lines),
    )
