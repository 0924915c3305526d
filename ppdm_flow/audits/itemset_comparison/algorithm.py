"""The share of the original's frequent itemsets that mining the release finds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ppdm_flow.audits.itemset_comparison.spec import ItemsetComparisonParams
from ppdm_flow.audits.records.columns import NO_RECORD, ColumnPair, beside
from ppdm_flow.audits.records.counting import Databases, databases
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries
from ppdm_flow.mining.comparison import PatternComparison, compare_itemsets, supports_in_both
from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.itemsets.mine import mine
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

SHARES = (
    "equal_itemsets",
    "support_difference",
    "support_difference_p95",
    "support_difference_highest",
    "chance_difference",
    "new_support",
    "lost_support",
    "share_beyond_delta",
)
COUNTS = ("original_itemsets", "released_itemsets")

_Z = 1.96
"""Standard errors on either side of an interval of 95 %."""

EDGES = (0.0, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 1.0)


def chart(compared: PatternComparison) -> tuple[Chart, ...]:
    """Return bars: the share of equal itemsets by how far their support moved; none where there are no equal ones."""
    moved = compared.differences
    if not len(moved):
        return ()
    place = np.clip(np.searchsorted(EDGES, moved, side="left") - 1, 0, len(EDGES) - 2)
    shares = np.bincount(place, minlength=len(EDGES) - 1) / len(moved)
    used = int(np.flatnonzero(shares)[-1]) + 1
    names = [f"up to {100 * edge:g} %" for edge in EDGES[1:]]
    bars = Chart(
        id="differences",
        title="How far the supports of equal itemsets moved",
        kind="bars",
        x=tuple(names[:used]),
        series=(FigureSeries("equal itemsets", tuple(shares[:used].tolist())),),
        x_label="difference of supports, of the rows",
        y_label="share of equal itemsets",
    )
    return (bars,)


class ItemsetComparisonAudit:
    """Mines both sides at one minimum support, and matches what was found."""

    def __init__(self, params: ItemsetComparisonParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the share of itemsets that stayed, how far supports moved, and the support of new and lost ones."""
        columns = beside(original, candidate, ctx, self.params.attributes)
        both = databases(original, candidate, columns, self.params.sample) if columns else None
        if both is None:
            why = "there are no rows to compare" if columns else "the release has no attribute of the original"
            figures = {n: Figure(None, "share", note=why) for n in SHARES}
            return AuditOutcome(figures | {n: Figure(None, "count", note=why) for n in COUNTS})
        share = self.params.min_support.rows(both.available) / both.available
        before, after = (self._mined(d, share) for d in (both.original, both.released))
        compared = compare_itemsets(before, after, both.original.rows, both.released.rows)
        figures = _figures(compared, both) | _numbers(len(before), len(after), share)
        dropped = self._dropped(original, columns)
        figures["share_beyond_delta"] = (
            Figure(None, "share", note=f"the release lacks {dropped} of the attributes that are compared")
            if dropped
            else _beyond(before, after, both, self.params.delta)
        )
        return AuditOutcome(figures, charts=chart(compared))

    def _dropped(self, original: DataView, columns: Sequence[ColumnPair]) -> int:
        """Return how many attributes of the original have itemsets that no released one can have."""
        kept, chosen = {column.source for column in columns}, self.params.attributes
        names = (field.name for field in original.schema if field.role not in NO_RECORD)
        return sum(name not in kept and (chosen is None or name in chosen) for name in names)

    def _mined(self, database: ItemDatabase, share: float) -> ItemsetCollection:
        least = max(1, math.ceil(share * database.rows * (1 - 1e-12)))
        p = self.params
        return mine(database, least, only_closed=p.itemsets == "closed", max_length=p.max_length, most=p.most)


def _numbers(before: int, after: int, share: float) -> dict[str, Figure]:
    note = f"with a support of at least {100 * share:.3g} % of the rows"
    return {n: Figure(number, "count", note=note) for n, number in zip(COUNTS, (before, after), strict=True)}


def _figures(compared: PatternComparison, both: Databases) -> dict[str, Figure]:
    moved, sample = compared.differences, both.sample
    chance = _by_chance(compared, both.original.rows, both.released.rows)
    known = {
        "equal_itemsets": (compared.equal, "of the original's itemsets, those that the release has too"),
        "support_difference": (_mean(moved), "mean over equal itemsets, of the rows"),
        "support_difference_p95": (
            float(np.quantile(moved, 0.95)) if len(moved) else None,
            "19 of 20 equal itemsets moved by no more",
        ),
        "support_difference_highest": (float(moved.max()) if len(moved) else None, "of any equal itemset"),
        "chance_difference": (chance, "the mean difference of two samples of such sizes from one population"),
        "new_support": (_mean(compared.new), "mean over itemsets that only the release has, of its rows"),
        "lost_support": (_mean(compared.lost), "mean over itemsets that only the original has, of its rows"),
    }
    of_sample = f"; of at most {sample:,} rows of each side, so chance is part of it" if sample else ""
    return {
        n: Figure(value, "share", sample=sample, note=f"{note}{of_sample}" if value is not None else "there are none")
        for n, (value, note) in known.items()
    }


def _beyond(before: ItemsetCollection, after: ItemsetCollection, both: Databases, delta: float | None) -> Figure:
    """Return the share of itemsets, of either side, whose support moved by more than delta (equation 3).

    Of samples the interval counts every itemset by the nearer and the farther end of its difference's own interval.
    """
    if delta is None:
        return Figure(None, "share", note="the audit has no `delta`")
    x, y = both.original, both.released
    p, q = supports_in_both(before, after, x, y, delta)
    if not len(p):
        return Figure(None, "share", note="there are none")
    moved, sample = np.abs(p - q), both.sample
    share = float((moved > delta).mean())
    note = f"of {len(p):,} itemsets that either side has, those whose support moved by more than {delta:g}"
    if sample is None:
        return Figure(share, "share", note=note)
    reach = _Z * np.sqrt(p * (1 - p) / x.rows + q * (1 - q) / y.rows)
    interval = (float((moved - reach > delta).mean()), float((moved + reach > delta).mean()))
    return Figure(share, "share", interval, sample, f"{note}; of at most {sample:,} rows of each side")


def _mean(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float | None:
    return float(values.mean()) if len(values) else None


def _by_chance(compared: PatternComparison, rows: int, others: int) -> float | None:
    """Return the mean of E|p - q| = sqrt(2 / pi) sd(p - q) for supports of two independent samples."""
    if not len(compared.before):
        return None
    pooled = (compared.before * rows + compared.after * others) / (rows + others)
    spread = np.sqrt(np.maximum(pooled * (1 - pooled), 0.0) * (1 / rows + 1 / others))
    return math.sqrt(2 / math.pi) * float(spread.mean())
