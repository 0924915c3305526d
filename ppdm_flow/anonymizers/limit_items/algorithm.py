"""Limit items: names and supports decide about items, sizes about rows, a hash about the items of a truncated row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.limit_items.spec import LimitItemsParams
from ppdm_flow.anonymizers.plain_sets import baskets
from ppdm_flow.anonymizers.set_columns import required
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.sets.baskets import Baskets, placed
from ppdm_flow.tables.table import RowNumbers, Table

NO_LIMIT = np.iinfo(np.int32).max
"""What no set is longer than."""


def supports(data: DataView, name: str) -> Counter[str]:
    """Return how many sets have each item."""
    supports: Counter[str] = Counter()
    for part in data.partitions([name]):
        column = baskets(part, name)
        supports.update(dict(zip(column.categories.to_pylist(), column.counts().tolist(), strict=True)))
    return +supports


def left_out(params: LimitItemsParams, counts: Mapping[str, int], facts: AttributeFacts, rows: int) -> frozenset[str]:
    """Return the items that go. Raises PluginError (PPF665) for a name that no set has, and no declaration knows."""
    levels = facts.hierarchy.levels if facts.hierarchy is not None else None
    known = {*counts, *(facts.domain or ()), *(value for value, _ in levels or ())}
    strange = [item for item in params.without or () if item not in known]
    if strange:
        names = ", ".join(f"`{item}`" for item in strange[:12])
        text = f"no set of `{facts.name}` has {names}, so leaving out would leave it in under another spelling"
        raise PluginError(Diagnostic("PPF665", text, help="correct the name; declare it in the attribute's `domain`"))
    least = params.rarer_than.rows(rows) if params.rarer_than is not None else 0
    named = frozenset(params.without or ())
    return frozenset(item for item, count in counts.items() if count < least or item in named)


def without(column: Baskets, items: frozenset[str]) -> Baskets:
    """Return the sets without these items, of which not even the alphabet tells."""
    if not items:
        return column
    kept = pc.invert(pc.is_in(column.categories, value_set=pa.array(sorted(items), pa.string())))
    categories = column.categories.filter(kept)
    return column.mapped(placed(column.categories, categories), categories)


class LimitItems:
    """Keeps sets of ``min`` to ``max`` items, of those items that are not left out."""

    def __init__(self, params: LimitItemsParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Count what is left out, too long or too short.

        Raises PluginError where the column holds no plain sets, and where no set has an item that `without` names.
        """
        name = required(self.params.attribute, ctx.attributes)
        out, figures = frozenset[str](), {}
        if self.params.leaves_out:
            counts = supports(data, name)
            out = left_out(self.params, counts, ctx.attributes[name], data.row_count)
            gone = Figure(sum(counts[item] for item in out), "items", note="occurrences of items that are left out")
            figures = {"left_out": Figure(len(out), "items"), "left_out_occurrences": gone}
        sizes = np.zeros(1, dtype=np.int64)
        for part in data.partitions([name]):
            by_size = np.bincount(without(baskets(part, name), out).sizes)
            sizes = np.pad(sizes, (0, max(0, len(by_size) - len(sizes))))
            sizes[: len(by_size)] += by_size
        transform = LimitTransform(name, self._most, self.params.min, self.params.longer == "truncate", out)
        return Fitted(transform, figures=self._figures(sizes) | figures)

    @property
    def _most(self) -> int:
        return NO_LIMIT if self.params.max is None else self.params.max

    def _figures(self, sizes: npt.NDArray[np.int64]) -> dict[str, Figure]:
        rows = int(sizes.sum())
        number = np.arange(len(sizes))
        long, short = number > self._most, number < self.params.min
        above, below = int(sizes[long].sum()), int(sizes[short].sum())
        truncate = self.params.longer == "truncate"
        gone = below + (0 if truncate else above)
        lost = (sizes * number)[short].sum() + (sizes * (number - self._most * truncate))[long].sum()
        limit = "without a limit" if self.params.max is None else f"sets with more than {self.params.max} items"
        figures = {
            "longer": Figure(above, "rows", note=limit),
            "empty": Figure(int(sizes[0]), "rows", note="sets without items, before this step"),
            "longest": Figure(int(np.flatnonzero(sizes).max(initial=0)), "items"),
            "discarded": Figure(gone, "rows"),
            "truncated": Figure(above if truncate else 0, "rows"),
            "items_lost": Figure(int(lost), "items", note="occurrences of items that go no further"),
        }
        if self.params.min:
            figures["shorter"] = Figure(below, "rows", note=f"sets with fewer than {self.params.min} items")
        if rows:
            figures["discarded_share"] = Figure(gone / rows, "share")
        return figures


@dataclass(frozen=True, slots=True)
class LimitTransform(DeterministicTransform):
    """``attribute`` keeps sets of ``least`` to ``most`` items, without those that are ``left_out``."""

    attribute: str
    most: int
    least: int
    truncate: bool
    left_out: frozenset[str] = frozenset()

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Return the rows that stay, items left out, and long sets shortened where that is asked for."""
        column = without(baskets(part, self.attribute), self.left_out)
        if self.left_out:
            part = part.resettled({self.attribute: column})
        sizes = column.sizes
        stays = sizes >= self.least
        if not self.truncate:
            stays &= sizes <= self.most
        elif (sizes > self.most).any():
            part = part.resettled({self.attribute: _truncated(column, part.rows, self.most)})
        return part if stays.all() else part.take(stays)

    def describe(self) -> Mapping[str, Any]:
        """Return the limits, and how many items are left out."""
        longer = "truncated" if self.truncate else "discarded"
        most = {} if self.most == NO_LIMIT else {"max": self.most, "longer": longer}
        fewer = {"items_left_out": len(self.left_out)} if self.left_out else {}
        return {"attribute": self.attribute, **most, "min": self.least, **fewer}


def _truncated(column: Baskets, rows: RowNumbers, most: int) -> Baskets:
    """Keep the ``most`` items with the smallest hashes of each row."""
    from pandas.util import hash_array  # noqa: PLC0415  # slow to import, and only where a set is too large

    names = column.categories.to_numpy(zero_copy_only=False).astype(object)
    known = hash_array(names, hash_key="limit_items_2002", categorize=False)
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
