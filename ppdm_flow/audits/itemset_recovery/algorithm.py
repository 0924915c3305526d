"""What mining the randomized sets finds of what was frequent in the original ones.

Source: Evfimievski, Srikant, Agrawal, Gehrke (KDD 2002), section 7: true positives, false drops, false positives.
"""

from __future__ import annotations

import numpy as np

from ppdm_flow.audits.itemset_recovery.matching import Matched, Recovery, recovery
from ppdm_flow.audits.itemset_recovery.picture import charts
from ppdm_flow.audits.itemset_recovery.spec import ItemsetRecoveryParams
from ppdm_flow.audits.set_sides import NoSidesError, sides
from ppdm_flow.core.results import AuditOutcome, Figure
from ppdm_flow.mining.transactions.apriori.apriori import PRECISION
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

OVERALL = {"recovered": "share", "genuine": "share", "interval_coverage": "share", "largest_itemset": "items"}


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
            found = recovery(both, least, rows, self.params.max_length, self.params.precision)
        except NoSidesError as error:
            return AuditOutcome({name: Figure(None, unit, note=str(error)) for name, unit in OVERALL.items()})
        figures = _overall(found)
        for one in found.sizes:
            figures |= _of(one, found)
        return AuditOutcome(figures, charts=charts(found))


def _overall(found: Recovery) -> dict[str, Figure]:
    true = sum(len(one.true) for one in found.sizes)
    hits = sum(one.true_positives for one in found.sizes)
    mined = sum(len(one.found_true) for one in found.sizes)
    at = f"with at least {100 * found.share:.3g} % of the sets, up to {len(found.sizes)} items"
    why = ": larger ones are lost in noise" if found.stopped == PRECISION else ""
    return {
        "recovered": _share(hits, true, f"of the frequent itemsets {at}, those that are found", "none is frequent"),
        "genuine": _share(hits, mined, f"of the itemsets found {at}, those that are frequent", "none is found"),
        "interval_coverage": _coverage(found),
        "largest_itemset": Figure(found.reached, "items", note=f"of itemsets that were looked for in the release{why}"),
    }


def _share(part: int, whole: int, note: str, nothing: str) -> Figure:
    return Figure(part / whole, "share", note=note) if whole else Figure(None, "share", note=nothing)


def _coverage(found: Recovery) -> Figure:
    """Return how many of the 95 % intervals of truly frequent itemsets hold the true support."""
    known = [(one.predicted, one.true) for one in found.sizes if one.predicted is not None]
    total = sum(len(true) for _, true in known)
    if not total:
        return Figure(None, "share", note="there is no frequent itemset to estimate")
    slack = 1e-12
    inside = sum(int(np.sum((p.low - slack <= t) & (t <= p.high + slack))) for p, t in known)
    return Figure(inside / total, "share", note="of the frequent itemsets' 95 % intervals, those that hold the truth")


def _of(one: Matched, found: Recovery) -> dict[str, Figure]:
    size = f"of {one.size} item{'s' * (one.size > 1)}"
    figures = {
        f"frequent.{one.size}": Figure(len(one.true), "itemsets", note=f"{size}, in the original"),
        f"true_positives.{one.size}": Figure(one.true_positives, "itemsets", note=f"{size}: frequent, and found"),
        f"false_drops.{one.size}": Figure(one.false_drops, "itemsets", note=f"{size}: frequent, and not found"),
        f"false_positives.{one.size}": Figure(one.false_positives, "itemsets", note=f"{size}: found, and not frequent"),
    }
    if one.false_positives:
        worst = float(one.found_true.min())
        note = f"{size}; the least true support of one that is found, at a minimum of {100 * found.share:.3g} %"
        figures[f"worst_false_positive.{one.size}"] = Figure(worst, "share", note=note)
    if one.predicted is not None:
        error = float(np.sqrt(np.mean((one.predicted.value - one.true) ** 2)))
        note = f"{size}: root mean square of estimated less true support, over the frequent ones"
        figures[f"support_error.{one.size}"] = Figure(error, "share", note=note)
    return figures
