"""Itemset breaches: what a released set tells of its original, from the operator and the original's own supports.

Pr[z in t | A in t'] for every itemset A of the sizes asked for and every item z, in A or not: exactly for those that
were counted, and a bound for the rarer ones. The bytes are tested to come from the operator, at an error probability of
one in a million. Source: Evfimievski, Srikant, Agrawal, Gehrke, KDD 2002, section 4.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ppdm_flow.core.results import AuditOutcome, Figure, Measured
from ppdm_flow.mining.exposure.columns import beside
from ppdm_flow.mining.releases.attributes import namesakes
from ppdm_flow.mining.transactions.counting.counting import support_counts
from ppdm_flow.mining.transactions.counting.vertical import columns
from ppdm_flow.requirements.itemset_breach.assessment import BreachAssessment, assess
from ppdm_flow.requirements.itemset_breach.clients import ClientAssessment, outcome_of
from ppdm_flow.requirements.itemset_breach.figures import client_figures, figures_of
from ppdm_flow.requirements.itemset_breach.material import UnknownOperatorError, material
from ppdm_flow.requirements.itemset_breach.picture import charts
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach
from ppdm_flow.requirements.itemset_breach.second_route import posterior, released
from ppdm_flow.requirements.itemset_breach.sentences import findings, no_operator, sentence, unknown
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


class ItemsetBreachAudit:
    """Judges each requirement on every released column that carries its attribute; the worst one counts."""

    def __init__(self, params: Any) -> None:
        self.params = params
        self._worst: dict[str, BreachAssessment] = {}
        self._clients: dict[str, ClientAssessment] = {}

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:  # noqa: ARG002 - what went into the operator counts
        """Return the posteriors, and how well the bytes fit, for each requirement."""
        outcomes = [self._of(requirement, candidate, ctx) for requirement in _own(ctx)]
        return AuditOutcome(
            figures={name: figure for each in outcomes for name, figure in each.figures.items()},
            measured=tuple(m for each in outcomes for m in each.measured),
            findings=tuple(f for each in outcomes for f in each.findings),
            charts=tuple(c for each in outcomes for c in each.charts),
        )

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:  # noqa: ARG002
        """Count the worst itemset again, in SQL or row by row, and its posterior from what defines the operator."""
        figures: dict[str, float | int | None] = {}
        for name, sent in self._clients.items():
            figures[f"{name}.worst_posterior"] = sent.by_programs()
        for name, assessment in self._worst.items():
            worst = assessment.worst
            if worst.itemset:
                lengths = assessment.counted.pools[worst.pool].sizes
                again = posterior(assessment.material, lengths, worst.size, worst.itemset, worst.item, ctx.sql)
                figures[f"{name}.worst_posterior"] = again
                figures[f"{name}.released_with_worst"] = released(assessment.material, lengths, worst.itemset, ctx.sql)
            else:
                figures[f"{name}.worst_posterior"] = 0.0
        return figures

    def _of(self, requirement: ItemsetBreach, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        carrying = namesakes(requirement.attribute, candidate, ctx)
        sent = [c for c in carrying if (known := ctx.set_operators.get(c)) is not None and known.by_clients]
        if sent:
            return self._of_clients(requirement, sent[0], candidate, ctx)
        every: list[BreachAssessment] = []
        why = "it is computed from the sets by another way than their operator"
        faults = [(column, why) for column in beside(requirement.attribute, candidate, ctx)]
        for column in carrying:
            try:
                every.append(assess(requirement, material(column, candidate, ctx)))
            except UnknownOperatorError as error:
                faults.append((column, str(error)))
        if faults or not carrying:
            return _without(requirement, faults, ctx)
        worst = max(every, key=lambda each: each.worst.level)
        self._worst[requirement.id] = worst
        figures = figures_of(worst, _released(worst))
        holds = all(each.reliable for each in every)
        return AuditOutcome(
            figures={f"{requirement.id}.{name}": figure for name, figure in figures.items()},
            measured=(_measured(requirement, figures["worst_posterior"], sentence(worst, ctx), verifiable=holds),),
            findings=tuple(f for each in every for f in findings(each, ctx)),
            charts=charts(worst),
        )

    def _of_clients(
        self, requirement: ItemsetBreach, column: str, candidate: DataView, ctx: AuditContext
    ) -> AuditOutcome:
        """Judge sets that clients randomized; the source has one column of them."""
        try:
            assessment = ClientAssessment.of(requirement, column, ctx.set_operators[column], candidate)
        except UnknownOperatorError as error:
            return _without(requirement, [(column, str(error))], ctx)
        self._clients[requirement.id] = assessment
        return outcome_of(assessment, client_figures(assessment), ctx)


def _without(requirement: ItemsetBreach, faults: list[tuple[str, str]], ctx: AuditContext) -> AuditOutcome:
    """Return the outcome where no set is released, or nobody knows how they were randomized."""
    figure = Figure(None, "probability", note="no operator is known") if faults else Figure(0.0, "probability")
    text = unknown(*faults[0]) if faults else f"The sets of `{requirement.attribute}` are not released."
    return AuditOutcome(
        figures={f"{requirement.id}.worst_posterior": figure},
        measured=(_measured(requirement, figure, text, verifiable=not faults),),
        findings=tuple(no_operator(column, why, ctx) for column, why in faults),
    )


def _measured(requirement: ItemsetBreach, figure: Figure, text: str, *, verifiable: bool) -> Measured:
    return Measured(
        requirement=requirement.id,
        metric=f"{requirement.id}.worst_posterior",
        figure=figure,
        bound=requirement.level,
        at_most=True,
        sentence=text,
        verifiable=verifiable,
    )


def _own(ctx: AuditContext) -> list[ItemsetBreach]:
    return [r for r in ctx.requirements if isinstance(r, ItemsetBreach)]


def _released(assessment: BreachAssessment) -> int:
    """Count the released sets with the worst itemset, among the lengths that are judged together."""
    worst = assessment.worst
    if not worst.itemset:
        return 0
    lengths = np.array(assessment.counted.pools[worst.pool].sizes)
    items = np.array(sorted(worst.itemset), dtype=np.int64)
    total = 0
    for part in assessment.material.sets():
        here = columns(part, items)
        total += int(support_counts(here, np.arange(len(items))[None, :])[0, np.isin(here.sizes, lengths)].sum())
    return total
