"""What the report is told of a suppression."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.anonymizers.progressive_disclosure.outcome import Outcome
from ppdm_flow.anonymizers.progressive_disclosure.problem import Problem
from ppdm_flow.anonymizers.progressive_disclosure.search import Disclosure
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Chart, Figure, Finding, Series
from ppdm_flow.sdk.anonymizer import StepContext

_BARS = 40


def figures(outcomes: Sequence[Outcome], problem: Problem) -> dict[str, Figure]:
    """Return how much was suppressed, over all suppressible attributes and for each."""
    cells = sum(o.cells for o in outcomes)
    every = problem.total * len(outcomes)
    figures = {
        "suppressed_cells": Figure(cells, "cells"),
        "suppressed_share": Figure(cells / every if every else 0.0, "share"),
        "disclosed_values": Figure(sum(o.disclosed for o in outcomes), "values"),
        "suppressed_values": Figure(sum(o.hidden for o in outcomes), "values"),
    }
    if any(o.coarse for o in outcomes):
        coarse = sum(o.coarse_cells for o in outcomes)
        figures["generalized_cells"] = Figure(coarse, "cells")
        figures["generalized_share"] = Figure(coarse / every if every else 0.0, "share")
        figures["generalized_values"] = Figure(sum(o.coarse for o in outcomes), "values")
    for o in outcomes:
        figures[f"{o.attribute}.suppressed_share"] = Figure(o.cells / problem.total if problem.total else 0.0, "share")
    return figures


def charts(
    outcomes: Sequence[Outcome], problem: Problem, disclosures: Sequence[Disclosure], ctx: StepContext
) -> tuple[Chart, ...]:
    """Return the search, the share of suppressed cells by attribute, and by value where the policy names the values."""
    by_value = (c for o in outcomes if (c := _by_value(o, ctx)))
    return (*_search(problem, disclosures, ctx), _by_attribute(outcomes, problem, ctx.step), *by_value)


def named(outcomes: Sequence[Outcome], ctx: StepContext) -> dict[str, tuple[str, ...]]:
    """Return, for each attribute, the suppressed values that may be named."""
    return {o.attribute: tuple(v for v, _ in o.suppressed if ctx.may_show(o.attribute, v)) for o in outcomes}


def redundant(ids: Sequence[str]) -> tuple[Finding, ...]:
    """Return a finding for each template that the search left out, since others imply it (Lemma 3.1)."""
    return tuple(
        Finding("PPF771", Severity.INFO, f"`{name}` was left out of the search: other templates imply it", name)
        for name in ids
    )


def _search(problem: Problem, disclosures: Sequence[Disclosure], ctx: StepContext) -> tuple[Chart, ...]:
    """Return what each disclosure was chosen for, in their order; values are named where all of an attribute may be."""
    if not disclosures:
        return ()
    named = [all(ctx.may_show(a.name, v) for v in a.tree.labels if v is not None) for a in problem.attributes]
    first = disclosures[:_BARS]
    x = []
    for number, each in enumerate(first, 1):
        attribute = problem.attributes[each.attribute]
        value = attribute.tree.labels[each.node]
        of = f" {'missing' if value is None else value}" if named[each.attribute] else ""
        x.append(f"{number}. {attribute.name}{of}")
    kept = "information gain" if problem.classes is not None else "entropy"
    series = (
        Series("score", tuple(each.score for each in first)),
        Series(kept, tuple(each.gain for each in first)),
        Series("privacy loss", tuple(each.loss for each in first)),
    )
    note = f"score = {kept} / (privacy loss + 1)"
    if len(disclosures) > _BARS:
        note += f"; the first {_BARS} of {len(disclosures):,}"
    title = "Disclosures in the order of the search"
    return (Chart(f"{ctx.step}-search", title, "lines", tuple(x), series, note=note),)


def _by_attribute(outcomes: Sequence[Outcome], problem: Problem, step: str) -> Chart:
    rows = problem.total
    suppressed = tuple(o.cells / rows if rows else 0.0 for o in outcomes)
    coarse = tuple(o.coarse_cells / rows if rows else 0.0 for o in outcomes)
    return Chart(
        id=f"{step}-suppressed",
        title="Suppressed cells by attribute",
        kind="bars",
        x=tuple(o.attribute for o in outcomes),
        series=(Series("suppressed", suppressed), *((Series("generalized", coarse),) if any(coarse) else ())),
        y_label="share of rows",
    )


def _by_value(outcome: Outcome, ctx: StepContext) -> Chart | None:
    """Only where each suppressed value may be named: a few names among numbers would tell which the others are."""
    if not outcome.suppressed or not all(ctx.may_show(outcome.attribute, v) for v, _ in outcome.suppressed):
        return None
    largest = sorted(outcome.suppressed, key=lambda pair: (-pair[1], pair[0].encode()))[:_BARS]
    return Chart(
        id=f"{ctx.step}-suppressed-{outcome.attribute}",
        title=f"Suppressed values of {outcome.attribute}",
        kind="bars",
        x=tuple(v for v, _ in largest),
        series=(Series("rows", tuple(float(n) for _, n in largest)),),
        y_label="rows",
        note=f"the {_BARS} most frequent of {len(outcome.suppressed)}" if len(outcome.suppressed) > _BARS else "",
    )
