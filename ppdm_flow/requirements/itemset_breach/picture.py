"""Predicted and measured posteriors, by size of itemset and by length of the original."""

from __future__ import annotations

from ppdm_flow.core.results import Chart, Figure, FigureSeries
from ppdm_flow.requirements.itemset_breach.assessment import BreachAssessment
from ppdm_flow.requirements.itemset_breach.figures import measured_of, most

GROUP = "itemset_breach"


def charts(assessment: BreachAssessment) -> tuple[Chart, ...]:
    """Return both pictures."""
    return (_by_size(assessment), _by_length(assessment))


def _by_size(assessment: BreachAssessment) -> Chart:
    sizes = tuple(assessment.within)
    predicted = tuple(most(assessment.within[k]).level for k in sizes)
    beside = tuple(most(assessment.beside[k]).level for k in sizes)
    series = [
        FigureSeries("item of the itemset, predicted", predicted),
        FigureSeries("another item, predicted", beside),
    ]
    seen = [measured_of(assessment, most(assessment.within[k])) for k in sizes]
    if all(figure.value is not None and figure.interval is not None for figure in seen):
        values = tuple(float(figure.value or 0.0) for figure in seen)
        low, high = (tuple(_end(figure, i) for figure in seen) for i in (0, 1))
        series.insert(1, FigureSeries("item of the itemset, measured", values, low, high))
    return Chart(
        id=f"{assessment.requirement.id}.by_size",
        title="Worst posteriors by size of the itemset",
        kind="bars",
        x=tuple(f"{k} item{'s' * (k > 1)}" for k in sizes),
        series=tuple(series),
        x_label="size of the itemset seen in a released set",
        y_label="probability that the original has the item",
        note=f"The level asked for is {assessment.requirement.level:.1%}. Measured with its 95 % interval, where the"
        " itemset is in enough released sets: over all lengths that are judged together.",
        group=GROUP,
    )


def _by_length(assessment: BreachAssessment) -> Chart:
    lengths = [e.size for e in next(iter(assessment.within.values()))]
    series = tuple(
        FigureSeries(f"{k} item{'s' * (k > 1)}", tuple(e.level for e in each)) for k, each in assessment.within.items()
    )
    return Chart(
        id=f"{assessment.requirement.id}.by_length",
        title="Worst posteriors by length of the original set",
        kind="lines",
        x=tuple(str(m) for m in lengths),
        series=series,
        x_label="items of the original set",
        y_label="probability that the original has the item",
        group=GROUP,
    )


def _end(figure: Figure, which: int) -> float:
    return figure.interval[which] if figure.interval is not None else 0.0
