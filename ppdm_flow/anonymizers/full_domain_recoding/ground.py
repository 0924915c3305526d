"""From counts of distinct rows to the ground of the search: leaves of hierarchies for values, one more for missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.class_models.required import SensitiveCodes
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.hierarchies.full_hierarchy import FullHierarchy
from ppdm_flow.mining.recoding.ground import Levels, WeightedRows
from ppdm_flow.tables.column import MISSING, SPECIALS, SUPPRESSED
from ppdm_flow.tables.counts import Counts


@dataclass(frozen=True, slots=True)
class LeafScale:
    """One attribute's labels; the missing value and suppressed cells are leaves of their own below the top.

    ``extra``: which of the marks (-1 missing, -2 suppressed) are such leaves, after those of the hierarchy.
    ``as_suppressed``: missing cells become suppressed ones.
    """

    name: str
    hierarchy: FullHierarchy
    extra: tuple[int, ...]
    lowest: int
    highest: int
    as_suppressed: bool = False

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
        place = pc.index_in(categories, value_set=pa.array(self.hierarchy.leaves, pa.string()))
        leaves = np.full(len(categories) + SPECIALS, -1, dtype=np.int32)
        leaves[SPECIALS:] = place.fill_null(-1).to_numpy(zero_copy_only=False)
        for i, mark in enumerate(self.extra):
            leaves[mark + SPECIALS] = len(self.hierarchy.leaves) + i
        if self.as_suppressed:
            leaves[MISSING + SPECIALS] = leaves[SUPPRESSED + SPECIALS]
        return leaves


def scale(
    name: str, hierarchy: FullHierarchy, codes: npt.NDArray[np.int32], nulls: Nulls, lowest: int, highest: int
) -> LeafScale:
    """Return the scale of a column with these codes.

    Where a missing cell may be any value, or none that counts, it becomes a suppressed one: all null semantics agree on
    what that is.
    """
    marks = tuple(m for m in (MISSING, SUPPRESSED) if (codes == m).any())
    as_suppressed = nulls is not Nulls.OWN_CATEGORY and MISSING in marks
    return LeafScale(name, hierarchy, (SUPPRESSED,) if as_suppressed else marks, lowest, highest, as_suppressed)


def _levels(scale: LeafScale) -> Levels:
    leaves, extra, top = len(scale.hierarchy.leaves), len(scale.extra), scale.hierarchy.top
    size = extra + (scale.hierarchy.spans[-1][0] if scale.hierarchy.spans and leaves else leaves)
    maps, shares = [], []
    for level in range(scale.lowest, scale.highest + 1):
        codes = coded(scale.hierarchy, level)[1]
        width = int(codes.max(initial=-1)) + 1
        highest = level == top and top > 0
        marks = np.zeros(extra, dtype=np.int64) if highest else width + np.arange(extra)
        every = np.concatenate([codes, marks]).astype(np.int32)
        covered = np.bincount(every).astype(np.float64)
        if scale.hierarchy.spans:
            covered[codes] = np.array(scale.hierarchy.spans[level]) + (extra if highest else 0)
        maps.append(every)
        shares.append(covered / max(1, size))
    return Levels(tuple(maps), tuple(shares), max(1, size))


def coded(hierarchy: FullHierarchy, level: int) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.intp]]:
    """Return the labels of a level, sorted, and the place of each leaf's among them; leaves keep their own places."""
    if level == 0:
        return np.asarray(hierarchy.leaves, dtype=object), np.arange(len(hierarchy.leaves))
    names, codes = np.unique(np.asarray(hierarchy.levels[level], dtype=object).astype(str), return_inverse=True)
    return names.astype(object), codes


def ground_of(
    counts: Counts,
    scales: Sequence[LeafScale],
    sensitive: Sequence[SensitiveCodes] = (),
    population: Counts | None = None,
) -> WeightedRows:
    """Build the ground over the attributes of ``scales``, with ``sensitive`` attributes beside them.

    The population's combinations are rows of their own, without weight.
    """
    leaves = _leaves(counts, scales)
    weights = counts.counts
    codes = [s.codes for s in sensitive]
    people = None
    if population is not None:
        others = _leaves(population, scales)
        if (others < 0).any():
            text = f"{int((others < 0).any(axis=1).sum())} combinations of the population have values without a place"
            raise PluginError(Diagnostic("PPF878", text, help="the hierarchies must cover the population as well"))
        people = np.concatenate([np.zeros(len(leaves), dtype=np.int64), population.counts])
        weights = np.concatenate([weights, np.zeros(len(others), dtype=np.int64)])
        codes = [np.concatenate([c, np.zeros(len(others), dtype=np.int32)]) for c in codes]
        leaves = np.concatenate([leaves, others])
    levels = tuple(s.levels for s in scales)
    arrays = tuple(np.ascontiguousarray(c) for c in codes)
    return WeightedRows(np.ascontiguousarray(leaves), weights, levels, arrays, tuple(s.size for s in sensitive), people)


def _leaves(counts: Counts, scales: Sequence[LeafScale]) -> npt.NDArray[np.int32]:
    leaves = [s.leaf_of(counts.names(s.name))[counts.of(s.name) + SPECIALS] for s in scales]
    return np.stack(leaves, axis=1) if leaves else np.zeros((len(counts), 0), dtype=np.int32)
