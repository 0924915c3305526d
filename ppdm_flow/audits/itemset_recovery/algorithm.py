"""The share of the original sets' frequent itemsets that mining the randomized sets finds.

Source: Evfimievski, Srikant, Agrawal, Gehrke (KDD 2002), section 7: true positives, false drops, false positives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.itemset_recovery.spec import ItemsetRecoveryParams
from ppdm_flow.audits.set_sides import NoSidesError, Sides, sides
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries
from ppdm_flow.mining.transactions.apriori import (
    NOWHERE,
    PRECISION,
    Level,
    MinedItemsets,
    SearchBounds,
    counted,
    exact,
    mine,
    places,
)
from ppdm_flow.mining.transactions.counting.vertical import columns, partial_support_counts
from ppdm_flow.mining.transactions.estimates import QuantityEstimates, supports
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.sets import Baskets, SeededSets

OVERALL = {"recovered": "share", "genuine": "share", "interval_coverage": "share", "largest_itemset": "items"}

PARTS = (0.5, 0.75, 1.0)
"""Ends of the buckets, as parts of the minimum support: 0.1, 0.15 and 0.2 % in the talk."""
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def buckets(supports: npt.NDArray[np.float64], share: float) -> tuple[int, ...]:
    """Return how many supports lie below each end, from the one before on, and how many at or above the last."""
    ends = np.array(PARTS) * share
    return tuple(np.bincount(np.searchsorted(ends, supports, side="right"), minlength=len(ends) + 1).tolist())


def charts(result: Recovery) -> tuple[Chart, ...]:
    """Return both tables; without those that have nothing in them."""
    predicted = _chart(
        "predicted",
        "Predicted supports of truly frequent itemsets",
        result,
        lambda one: None if one.predicted is None else one.predicted.value,
        "All in the last bucket would be all found; itemsets are also missed where a part of them was dropped.",
    )
    true = _chart(
        "true",
        "True supports of itemsets that are found",
        result,
        lambda one: one.found_true,
        "All in the last bucket would be no false positive.",
    )
    return tuple(chart for chart in (predicted, true) if chart is not None)


def _chart(
    name: str,
    title: str,
    result: Recovery,
    values: Callable[[ItemsetMatches], npt.NDArray[np.float64] | None],
    note: str,
) -> Chart | None:
    series = [(one.size, here) for one in result.sizes if (here := values(one)) is not None and len(here)]
    if not series:
        return None
    return Chart(
        id=name,
        title=title,
        kind="bars",
        x=_labels(result.share),
        series=tuple(_series(size, buckets(here, result.share)) for size, here in series),
        x_label="support",
        y_label="itemsets",
        note=note,
        group="itemset_recovery",
    )


def _series(size: int, counts: Sequence[int]) -> FigureSeries:
    return FigureSeries(f"{size} item{'s' * (size > 1)}", tuple(float(n) for n in counts))


def _labels(share: float) -> tuple[str, ...]:
    ends = [f"{100 * part * share:.3g}" for part in PARTS]
    between = [f"{low} to {high} %" for low, high in pairwise(ends)]
    return (f"below {ends[0]} %", *between, f"{ends[-1]} % or more")


class ItemsetRecoveryAudit:
    """Mines the sets that went into the operator exactly, and the released ones as a recipient would."""

    def __init__(self, params: ItemsetRecoveryParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return true positives, false drops and false positives by size, and their supports as pictures."""
        try:
            both = sides(original, candidate, ctx, self.params.attribute)
            rows = both.view.row_count
            least = self.params.min_support.rows(rows)
            if least > rows:
                raise NoSidesError(f"the minimum support is more than the {rows:,} sets")
            result = recovery(both, least, rows, self.params.max_length, self.params.precision)
        except NoSidesError as error:
            return AuditOutcome({name: Figure(None, unit, note=str(error)) for name, unit in OVERALL.items()})
        figures = _overall(result)
        for one in result.sizes:
            figures |= _of(one, result)
        return AuditOutcome(figures, charts=charts(result))


def _overall(result: Recovery) -> dict[str, Figure]:
    true = sum(len(one.true) for one in result.sizes)
    hits = sum(one.true_positives for one in result.sizes)
    mined = sum(len(one.found_true) for one in result.sizes)
    at = f"with at least {100 * result.share:.3g} % of the sets, up to {len(result.sizes)} items"
    why = ": larger ones are lost in noise" if result.stopped == PRECISION else ""
    return {
        "recovered": _share(hits, true, f"of the frequent itemsets {at}, those that are found", "none is frequent"),
        "genuine": _share(hits, mined, f"of the itemsets found {at}, those that are frequent", "none is found"),
        "interval_coverage": _coverage(result),
        "largest_itemset": Figure(
            result.reached, "items", note=f"of itemsets that were looked for in the release{why}"
        ),
    }


def _share(part: int, total: int, note: str, nothing: str) -> Figure:
    return Figure(part / total, "share", note=note) if total else Figure(None, "share", note=nothing)


def _coverage(result: Recovery) -> Figure:
    """Return how many of the 95 % intervals of truly frequent itemsets hold the true support."""
    known = [(one.predicted, one.true) for one in result.sizes if one.predicted is not None]
    total = sum(len(true) for _, true in known)
    if not total:
        return Figure(None, "share", note="there is no frequent itemset to estimate")
    slack = 1e-12
    inside = sum(int(np.sum((p.low - slack <= t) & (t <= p.high + slack))) for p, t in known)
    return Figure(inside / total, "share", note="of the frequent itemsets' 95 % intervals, those that hold the truth")


def _of(one: ItemsetMatches, result: Recovery) -> dict[str, Figure]:
    size = f"of {one.size} item{'s' * (one.size > 1)}"
    figures = {
        f"frequent.{one.size}": Figure(len(one.true), "itemsets", note=f"{size}, in the original"),
        f"true_positives.{one.size}": Figure(one.true_positives, "itemsets", note=f"{size}: frequent, and found"),
        f"false_drops.{one.size}": Figure(one.false_drops, "itemsets", note=f"{size}: frequent, and not found"),
        f"false_positives.{one.size}": Figure(one.false_positives, "itemsets", note=f"{size}: found, and not frequent"),
    }
    if one.false_positives:
        worst = float(one.found_true.min())
        note = f"{size}; the least true support of one that is found, at a minimum of {100 * result.share:.3g} %"
        figures[f"worst_false_positive.{one.size}"] = Figure(worst, "share", note=note)
    if one.predicted is not None:
        error = float(np.sqrt(np.mean((one.predicted.value - one.true) ** 2)))
        note = f"{size}: root mean square of estimated less true support, over the frequent ones"
        figures[f"support_error.{one.size}"] = Figure(error, "share", note=note)
    return figures


# True and found itemsets of one size, matched.


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
