"""True and found itemsets of one size, matched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.set_sides import NoSidesError, Sides
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.transactions.apriori.apriori import MinedItemsets, SearchBounds, mine
from ppdm_flow.mining.transactions.apriori.levels import NOWHERE, Level, counted, exact, places
from ppdm_flow.mining.transactions.counting.counting import partial_support_counts
from ppdm_flow.mining.transactions.counting.vertical import columns
from ppdm_flow.mining.transactions.estimates import QuantityEstimates, supports
from ppdm_flow.tables.sets import Baskets, SeededSets

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ItemsetMatches:
    """Itemsets of ``size`` items. ``true`` (t,) are the frequent ones' supports in the original.

    ``predicted`` are the estimates of these, None where they cannot be recovered; ``hit`` (t,) says which of them were
    found. ``found_true`` (f,) are the original supports of all that was found.
    """

    size: int
    true: Floats
    hit: Bools
    predicted: QuantityEstimates | None
    found_true: Floats

    @property
    def true_positives(self) -> int:
        """Frequent ones that were found."""
        return int(self.hit.sum())

    @property
    def false_drops(self) -> int:
        """Frequent ones that were not found."""
        return len(self.hit) - self.true_positives

    @property
    def false_positives(self) -> int:
        """Found ones that are not frequent."""
        return len(self.found_true) - self.true_positives


@dataclass(frozen=True, slots=True, eq=False)
class Recovery:
    """Sizes from 1 up, ``rows`` of either side, the minimum ``share``, and why mining the release ``stopped``."""

    sizes: tuple[ItemsetMatches, ...]
    rows: int
    released: int
    share: float
    stopped: str
    reached: int


def recovery(sides: Sides, least: int, rows: int, length: int, precision: float) -> Recovery:
    """Mine both sides and match. ``least`` of ``rows`` original sets. Raises PluginError, NoSidesError."""
    before = sides.before()
    truth = exact(before, least, length)
    try:
        mined = mine(sides.after, sides.operator, least / rows, SearchBounds(length=length, precision=precision), 2)
    except PluginError as error:
        if error.diagnostics[0].code != "PPF869":
            raise
        raise NoSidesError("supports cannot be recovered: the operator keeps too few items") from None
    matched = tuple(_matched(sides, before, size, truth, mined) for size in range(1, length + 1))
    return Recovery(matched, rows, int(mined.rows.sum()), least / rows, mined.stopped, len(mined.by_size))


def _matched(sides: Sides, before: Baskets, size: int, truth: list[Level], mined: MinedItemsets) -> ItemsetMatches:
    true, counts = _frequent(truth, size)
    frequent = _mined_frequent(mined, size)
    at = (
        places(mined.levels, true, sides.operator.alphabet)
        if size <= len(mined.by_size)
        else np.full(len(true), NOWHERE)
    )
    hit = at != NOWHERE
    if hit.any():
        hit[hit] = mined.by_size[size - 1].frequent[at[hit]]
    rows = max(1, len(before))
    return ItemsetMatches(size, counts / rows, hit, _predicted(sides, true), counted(lambda: [before], frequent) / rows)


def _frequent(truth: list[Level], size: int) -> tuple[Integers, Integers]:
    if size > len(truth):
        return np.zeros((0, size), dtype=np.int64), np.zeros(0, dtype=np.int64)
    return truth[size - 1].itemsets, truth[size - 1].counts[:, 0]


def _mined_frequent(mined: MinedItemsets, size: int) -> Integers:
    if size > len(mined.by_size):
        return np.zeros((0, size), dtype=np.int64)
    return mined.by_size[size - 1].itemsets[mined.by_size[size - 1].frequent]


def _predicted(sides: Sides, itemsets: Integers) -> QuantityEstimates | None:
    """Estimate the supports of itemsets (n, k) directly; None for none, or where they cannot be recovered."""
    if not len(itemsets) or any(k < itemsets.shape[1] for k in _spares(sides)):
        return None
    items, lines = np.unique(itemsets, return_inverse=True)
    lines = lines.reshape(itemsets.shape)
    total: dict[int, Integers] = {}
    for part in sides.after():
        here = columns(part, items)
        by_class = partial_support_counts(here, lines)
        for c, m in enumerate(here.sizes.tolist()):
            total[m] = total.get(m, 0) + by_class[:, c]
    try:
        return supports(sides.operator, total)
    except PluginError:  # the operator keeps too few items for itemsets of this size
        return None


def _spares(sides: Sides) -> Iterator[int]:
    """Yield up to how many items seeds can say something of."""
    for part in sides.after():
        if isinstance(part, SeededSets):
            yield part.expansion.spare
        return
