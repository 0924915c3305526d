"""The figures of a judgement."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.stats import beta

from ppdm_flow.core.results import Figure
from ppdm_flow.mining.transactions.breaches import epsilon, exchangeable, level, likelihoods
from ppdm_flow.mining.transactions.exposure import WorstExposure
from ppdm_flow.mining.transactions.hardest import privacy_challenging
from ppdm_flow.requirements.itemset_breach.assessment import BreachAssessment, level_of
from ppdm_flow.requirements.itemset_breach.clients import ClientAssessment
from ppdm_flow.requirements.itemset_breach.fit import ERROR

LEVEL = 0.95


def figures_of(assessment: BreachAssessment, released: int) -> dict[str, Figure]:
    """Return the figures; ``released`` are the released sets with the worst itemset."""
    worst = assessment.worst
    figures = {
        "worst_posterior": _probability(worst.level),
        "prior_of_worst": _probability(worst.prior),
        "released_with_worst": Figure(released, "rows", note="released sets that hold the worst itemset"),
        "measured": measured_of(assessment, worst),
    }
    for k, each in assessment.within.items():
        figures[f"within.{k}"] = _probability(most(each).level)
        figures[f"whole.{k}"] = _whole(most(assessment.whole[k]))
        figures[f"measured.{k}"] = measured_of(assessment, most(each))
        figures[f"paper.{k}"] = _paper(assessment, k)
    figures |= {f"beside.{k}": _probability(most(each).level) for k, each in assessment.beside.items()}
    figures |= {
        "larger": Figure(
            assessment.larger.level, "probability", note="itemsets of one item more than the policy names"
        ),
        "absence": Figure(
            assessment.absent.level, "probability", note="where a released set has no item of the itemset"
        ),
    }
    for number, exposed in assessment.known.items():
        note = (
            f"for who knows {number} other item{'s' * (number > 1)} of the set, {exposed.prior:.1%} before it is seen"
        )
        figures[f"knowing.{number}"] = Figure(exposed.level, "probability", note=note)
    figures["rest"] = Figure(assessment.rest, "probability", note="no itemset that was not counted exceeds this")
    figures["bound"] = (
        Figure(None, "probability", note="the policy gives no maximal supports")
        if assessment.bound is None
        else Figure(assessment.bound, "probability", note="no data with the policy's maximal supports exceed this")
    )
    figures["fit"] = Figure(
        assessment.fit.p, "probability", sample=assessment.fit.rows, note=f"rejected below {ERROR:g}"
    )
    figures["itemsets"] = Figure(assessment.counted_itemsets, "itemsets")
    figures["epsilon"] = _epsilon(assessment.epsilon)
    return figures


def client_figures(assessment: ClientAssessment) -> dict[str, Figure]:
    """Return the figures of sets that clients randomized: all of them from the operator alone, but for the fit."""
    note = f"over all data within the policy's maximal supports, and {len(assessment.operator.sizes)} lengths"
    figures = {"worst_posterior": Figure(assessment.worst.level, "probability", note=note)}
    for k in assessment.requirement.sizes:
        for name, inside in (("within", True), ("beside", False)):
            levels = [case.level for case in assessment.cases if (case.length, case.inside) == (k, inside)]
            figures[f"{name}.{k}"] = Figure(max(levels, default=0.0), "probability", note=note)
        figures[f"whole.{k}"] = Figure(assessment.whole(k), "probability", note=note)
    figures["bound"] = Figure(assessment.worst.level, "probability", note=note)
    rows = sum(assessment.numbers.values())
    figures["fit"] = Figure(
        assessment.fit, "probability", sample=rows, note=f"of numbers of items alone; rejected below {ERROR:g}"
    )
    largest = max((epsilon(assessment.operator, m, 1) for m in assessment.operator.sizes if m), default=0.0)
    figures["epsilon"] = _epsilon(largest)
    return figures


def most(each: Sequence[WorstExposure]) -> WorstExposure:
    """Return the worst of all lengths."""
    return max(each, key=level_of)


def measured_of(assessment: BreachAssessment, exposed: WorstExposure) -> Figure:
    """Return which share of the released sets with the itemset came from sets with the item, with its interval."""
    if assessment.seen is None:
        return Figure(None, "probability", note="original and released rows cannot be matched")
    seen, hits = assessment.measured(exposed)
    if not seen:
        return Figure(None, "probability", note="no released set holds the itemset")
    return Figure(hits / seen, "probability", interval(hits, seen), seen)


def interval(hits: int, seen: int) -> tuple[float, float]:
    """Return the 95 % interval of Clopper and Pearson."""
    tail = 0.5 * (1.0 - LEVEL)
    low = float(beta.ppf(tail, hits, seen - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1.0 - tail, hits + 1, seen - hits)) if hits < seen else 1.0
    return low, high


def _paper(assessment: BreachAssessment, length: int) -> Figure:
    """Return the level of the paper's privacy-challenging itemset: all maximal supports at once, items alike."""
    levels = []
    maxima = assessment.counted.maxima()
    for place, pool in enumerate(assessment.counted.pools):
        for m in pool.sizes:
            supports = privacy_challenging(tuple(maxima[:, place]), length, m)
            if supports is not None:
                posterior = level(
                    likelihoods(assessment.material.operator, m, length), supports, exchangeable(supports)
                )
                levels.append(float(posterior))
    if not levels:
        return Figure(None, "probability", note="no itemset can have all maximal supports at once")
    return Figure(max(levels), "probability", note="of an itemset with all maximal supports at once")


def _whole(exposed: WorstExposure) -> Figure:
    return Figure(exposed.level, "probability", note=f"all items of it together, {exposed.prior:.2%} before")


def _epsilon(nats: float) -> Figure:
    if not math.isfinite(nats):
        return Figure(None, "nats", note="unbounded")
    return Figure(nats, "nats", note="for one item replaced by another")


def _probability(value: float) -> Figure:
    return Figure(value, "probability")
