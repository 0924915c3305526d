"""Limit items: sizes decide about rows, a hash about the items of a truncated row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ppdm_flow.anonymizers.deterministic import Deterministic
from ppdm_flow.anonymizers.limit_items.spec import LimitItemsParams
from ppdm_flow.anonymizers.plain_sets import baskets
from ppdm_flow.anonymizers.set_columns import required
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.results import Figure
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.sets import Baskets
from ppdm_flow.tables.table import RowNumbers, Table


class LimitItems:
    """Keeps sets of ``min`` to ``max`` items."""

    def __init__(self, params: LimitItemsParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Count what is too long or too short. Raises PluginError where the column holds no plain sets."""
        name = required(self.params.attribute, ctx.attributes)
        sizes = np.zeros(1, dtype=np.int64)
        for part in data.partitions([name]):
            found = np.bincount(baskets(part, name).sizes)
            sizes = np.pad(sizes, (0, max(0, len(found) - len(sizes))))
            sizes[: len(found)] += found
        truncate = self.params.longer == "truncate"
        transform = LimitTransform(name, self.params.max, self.params.min, truncate=truncate)
        return Fitted(transform, figures=self._figures(sizes))

    def _figures(self, sizes: npt.NDArray[np.int64]) -> dict[str, Figure]:
        rows = int(sizes.sum())
        number = np.arange(len(sizes))
        long, short = number > self.params.max, number < self.params.min
        above, below = int(sizes[long].sum()), int(sizes[short].sum())
        truncate = self.params.longer == "truncate"
        gone = below + (0 if truncate else above)
        lost = (sizes * number)[short].sum() + (sizes * (number - self.params.max * truncate))[long].sum()
        found = {
            "longer": Figure(above, "rows", note=f"sets with more than {self.params.max} items"),
            "empty": Figure(int(sizes[0]), "rows", note="sets without items, before this step"),
            "longest": Figure(int(np.flatnonzero(sizes).max(initial=0)), "items"),
            "discarded": Figure(gone, "rows"),
            "truncated": Figure(above if truncate else 0, "rows"),
            "items_lost": Figure(int(lost), "items", note="occurrences of items that go no further"),
        }
        if self.params.min:
            found["shorter"] = Figure(below, "rows", note=f"sets with fewer than {self.params.min} items")
        if rows:
            found["discarded_share"] = Figure(gone / rows, "share")
        return found


@dataclass(frozen=True, slots=True)
class LimitTransform(Deterministic):
    """``attribute`` keeps sets of ``least`` to ``most`` items."""

    attribute: str
    most: int
    least: int
    truncate: bool

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Return the rows that stay, long sets shortened where that is asked for."""
        column = baskets(part, self.attribute)
        sizes = column.sizes
        stays = sizes >= self.least
        if not self.truncate:
            stays &= sizes <= self.most
        elif (sizes > self.most).any():
            part = part.resettled({self.attribute: _truncated(column, part.rows, self.most)})
        return part if stays.all() else part.take(stays)

    def describe(self) -> Mapping[str, Any]:
        """Return the limits."""
        longer = "truncated" if self.truncate else "discarded"
        return {"attribute": self.attribute, "max": self.most, "min": self.least, "longer": longer}


def _truncated(column: Baskets, rows: RowNumbers, most: int) -> Baskets:
    """Keep the ``most`` items with the smallest hashes of each row."""
    names = column.categories.to_numpy(zero_copy_only=False).astype(object)
    known = pd.util.hash_array(names, hash_key="limit_items_2002", categorize=False)
    row = column.rows()
    hashes = _mixed(known[column.items] ^ _mixed(rows.astype(np.uint64))[row])
    order = np.lexsort((hashes, row))
    place = np.arange(len(order)) - np.repeat(column.offsets[:-1], column.sizes)
    kept = np.sort(order[place < most])
    offsets = np.zeros(len(column) + 1, dtype=np.int64)
    np.cumsum(np.minimum(column.sizes, most), out=offsets[1:])
    return Baskets(offsets, column.items[kept], column.categories)


def _mixed(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Mix the bits (the finalizer of SplitMix64)."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
