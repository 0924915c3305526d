"""The figures of a judgement."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.stats import beta

from ppdm_flow.core.results import Figure
from ppdm_flow.mining.transactions.breaches import exchangeable, level, likelihoods
from ppdm_flow.mining.transactions.exposure import WorstExposure
from ppdm_flow.mining.transactions.hardest import privacy_challenging
from ppdm_flow.requirements.itemset_breach.fit import ERROR
from ppdm_flow.requirements.itemset_breach.judged import Judged, level_of

LEVEL = 0.95


def figures_of(judged: Judged, released: int) -> dict[str, Figure]:
    """Return the figures; ``released`` are the released sets with the worst itemset."""
    worst = judged.worst
    told = {
        "worst_posterior": _probability(worst.level),
        "prior_of_worst": _probability(worst.prior),
        "released_with_worst": Figure(released, "rows", note="released sets that hold the worst itemset"),
        "measured": measured_of(judged, worst),
    }
    for k, each in judged.within.items():
        told[f"within.{k}"] = _probability(most(each).level)
        told[f"measured.{k}"] = measured_of(judged, most(each))
        told[f"paper.{k}"] = _paper(judged, k)
    told |= {f"beside.{k}": _probability(most(each).level) for k, each in judged.beside.items()}
    told |= {
        "larger": Figure(judged.larger.level, "probability", note="itemsets of one item more than the policy names"),
        "absence": Figure(judged.absent.level, "probability", note="where a released set has no item of the itemset"),
    }
    for number, exposed in judged.known.items():
        note = (
            f"for who knows {number} other item{'s' * (number > 1)} of the set, {exposed.prior:.1%} before it is seen"
        )
        told[f"knowing.{number}"] = Figure(exposed.level, "probability", note=note)
    told["rest"] = Figure(judged.rest, "probability", note="no itemset that was not counted exceeds this")
    told["bound"] = (
        Figure(None, "probability", note="the policy gives no maximal supports")
        if judged.bound is None
        else Figure(judged.bound, "probability", note="no data with the policy's maximal supports exceed this")
    )
    told["fit"] = Figure(judged.fit.p, "probability", sample=judged.fit.rows, note=f"rejected below {ERROR:g}")
    told["itemsets"] = Figure(judged.counted_itemsets, "itemsets")
    told["epsilon"] = (
        Figure(judged.epsilon, "nats", note="for one item replaced by another")
        if math.isfinite(judged.epsilon)
        else Figure(None, "nats", note="unbounded")
    )
    return told


def most(each: Sequence[WorstExposure]) -> WorstExposure:
    """Return the worst of all lengths."""
    return max(each, key=level_of)


def measured_of(judged: Judged, exposed: WorstExposure) -> Figure:
    """Return which share of the released sets with the itemset came from sets with the item, with its interval."""
    if judged.seen is None:
        return Figure(None, "probability", note="original and released rows cannot be matched")
    seen, hits = judged.measured(exposed)
    if not seen:
        return Figure(None, "probability", note="no released set holds the itemset")
    return Figure(hits / seen, "probability", interval(hits, seen), seen)


def interval(hits: int, seen: int) -> tuple[float, float]:
    """Return the 95 % interval of Clopper and Pearson."""
    tail = 0.5 * (1.0 - LEVEL)
    low = float(beta.ppf(tail, hits, seen - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1.0 - tail, hits + 1, seen - hits)) if hits < seen else 1.0
    return low, high


def _paper(judged: Judged, length: int) -> Figure:
    """Return the level of the paper's privacy-challenging itemset: all maximal supports at once, items alike."""
    levels = []
    maxima = judged.counted.maxima()
    for place, pool in enumerate(judged.counted.pools):
        for m in pool.sizes:
            supports = privacy_challenging(tuple(maxima[:, place]), length, m)
            if supports is not None:
                found = level(likelihoods(judged.found.operator, m, length), supports, exchangeable(supports))
                levels.append(float(found))
    if not levels:
        return Figure(None, "probability", note="no itemset can have all maximal supports at once")
    return Figure(max(levels), "probability", note="of an itemset with all maximal supports at once")


def _probability(value: float) -> Figure:
    return Figure(value, "probability")
