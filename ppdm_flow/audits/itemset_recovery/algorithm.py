"""What mining the randomized sets finds of what was frequent in the original ones.

Source: Evfimievski, Srikant, Agrawal, Gehrke (KDD 2002), section 7: true positives, false drops, false positives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.itemset_recovery.matching import ItemsetMatches, Recovery, recovery
from ppdm_flow.audits.itemset_recovery.spec import ItemsetRecoveryParams
from ppdm_flow.audits.set_sides import NoSidesError, sides
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries
from ppdm_flow.mining.transactions.apriori.apriori import PRECISION
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

OVERALL = {"recovered": "share", "genuine": "share", "interval_coverage": "share", "largest_itemset": "items"}

PARTS = (0.5, 0.75, 1.0)
"""Ends of the buckets, as parts of the minimum support: 0.1, 0.15 and 0.2 % in the talk."""


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
