"""From counts of distinct rows to the ground of the search: leaves of hierarchies for values, one more for missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.hierarchies.whole import Whole
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.recoding.ground import Ground, Levels
from ppdm_flow.tables.column import MISSING, SPECIALS, SUPPRESSED
from ppdm_flow.tables.counts import Counts


@dataclass(frozen=True, slots=True)
class Scale:
    """One attribute's labels; the missing value and suppressed cells are leaves of their own below the top.

    ``extra``: which of the marks (-1 missing, -2 suppressed) occur, as leaves after those of the hierarchy.
    """

    name: str
    whole: Whole
    extra: tuple[int, ...]
    lowest: int
    highest: int

    @property
    def levels(self) -> Levels:
        """The codes and shares of the levels that may be chosen."""
        try:
            return _levels(self)
        except ValueError:
            text = f"the hierarchy of `{self.name}` puts values together on one level and apart on the next"
            raise PluginError(Diagnostic("PPF788", text)) from None

    def leaf_of(self, categories: pa.StringArray) -> npt.NDArray[np.int32]:
        """Return the leaf of each dense code (suppressed, missing, then ``categories``); -1 for none."""
        place = pc.index_in(categories, value_set=pa.array(self.whole.leaves, pa.string()))
        found = np.full(len(categories) + SPECIALS, -1, dtype=np.int32)
        found[SPECIALS:] = place.fill_null(-1).to_numpy(zero_copy_only=False)
        for i, mark in enumerate(self.extra):
            found[mark + SPECIALS] = len(self.whole.leaves) + i
        return found


def _levels(scale: Scale) -> Levels:
    leaves, extra, top = len(scale.whole.leaves), len(scale.extra), scale.whole.top
    size = extra + (scale.whole.spans[-1][0] if scale.whole.spans and leaves else leaves)
    maps, shares = [], []
    for level in range(scale.lowest, scale.highest + 1):
        codes = coded(scale.whole, level)[1]
        width = int(codes.max(initial=-1)) + 1
        highest = level == top and top > 0
        marks = np.zeros(extra, dtype=np.int64) if highest else width + np.arange(extra)
        every = np.concatenate([codes, marks]).astype(np.int32)
        covered = np.bincount(every).astype(np.float64)
        if scale.whole.spans:
            covered[codes] = np.array(scale.whole.spans[level]) + (extra if highest else 0)
        maps.append(every)
        shares.append(covered / max(1, size))
    return Levels(tuple(maps), tuple(shares), max(1, size))


def coded(found: Whole, level: int) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.intp]]:
    """Return the labels of a level, sorted, and the place of each leaf's among them; leaves keep their own places."""
    if level == 0:
        return np.asarray(found.leaves, dtype=object), np.arange(len(found.leaves))
    names, codes = np.unique(np.asarray(found.levels[level], dtype=object).astype(str), return_inverse=True)
    return names.astype(object), codes


def ground_of(counts: Counts, scales: Sequence[Scale], sensitive: Sequence[str] = ()) -> Ground:
    """Build the ground over the attributes of ``scales``, with ``sensitive`` attributes beside them."""
    leaves = [s.leaf_of(counts.names(s.name))[counts.of(s.name) + SPECIALS] for s in scales]
    codes = [counts.of(name) + np.int32(SPECIALS) for name in sensitive]
    empty = np.zeros((len(counts), 0), dtype=np.int32)
    return Ground(
        np.ascontiguousarray(np.stack(leaves, axis=1)) if leaves else empty,
        counts.counts,
        tuple(s.levels for s in scales),
        tuple(np.ascontiguousarray(c) for c in codes),
        tuple(len(counts.names(name)) + SPECIALS for name in sensitive),
    )


def marks_in(counts: Counts, name: str) -> tuple[int, ...]:
    """Return which marks occur in a column."""
    codes = counts.of(name)
    return tuple(m for m in (MISSING, SUPPRESSED) if (codes == m).any())
