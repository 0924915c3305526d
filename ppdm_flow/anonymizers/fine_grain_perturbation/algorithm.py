"""Fine-grain perturbation: find the operators from the requirements and the frequencies."""

from __future__ import annotations

from ppdm_flow.anonymizers.fine_grain_perturbation.account import artifact, figures
from ppdm_flow.anonymizers.fine_grain_perturbation.bounds import bounds_of
from ppdm_flow.anonymizers.fine_grain_perturbation.channel import PerturbationChannel, RetentionChoice, findings
from ppdm_flow.anonymizers.fine_grain_perturbation.histogram import histogram_of
from ppdm_flow.anonymizers.fine_grain_perturbation.people import values_of_people
from ppdm_flow.anonymizers.fine_grain_perturbation.spec import FineGrainParams
from ppdm_flow.anonymizers.fine_grain_perturbation.transform import PerturbTransform
from ppdm_flow.anonymizers.fine_grain_perturbation.worth import BoundWorth
from ppdm_flow.anonymizers.naming import carried, subject_of
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.sdk.anonymizer import Fitted, Operator, StepContext
from ppdm_flow.sdk.view import DataView


class FineGrainPerturbation:
    """Keeps value i with probability p_i, else draws uniformly; p is the best there is under (r1, r2).

    Source: Chaytor, Wang, "Fine grain perturbation for privacy preserving data publishing", sections 3 and 4, with
    the downward constraints that their Theorem 1 leaves out.
    """

    def __init__(self, params: FineGrainParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Find one operator an attribute. Raises PluginError for suppressed cells and values outside the domain."""
        wanted = {r.attribute: r for r in carried(Sensitivity, ctx.requirements, ctx.attributes)}
        chosen = self.params.chosen(tuple(wanted.values()))
        unbound = [a for a in chosen if a not in wanted]
        if unbound or not chosen:
            names = ", ".join(f"`{a}`" for a in unbound) or "this table"
            raise PluginError(Diagnostic("PPF780", f"no `sensitivities` requirement says how to perturb {names}"))
        subject = subject_of(ctx.attributes)
        channels = tuple(self._channel(data, wanted[a], ctx.step, subject) for a in chosen)
        every_worth = [BoundWorth.of(c) for c in channels]
        worths = {w.channel.operator.attribute: w for w in every_worth if w is not None}
        dearest = [w.finding() for w in worths.values()]
        return Fitted(
            transform=PerturbTransform(ctx.step, tuple(c.operator for c in channels), subject),
            figures=figures(channels, worths),
            artifacts={"operator.json": artifact(channels)},
            operators={c.operator.attribute: c.operator for c in channels},
            findings=(*(f for c in channels for f in findings(c)), *(f for f in dearest if f is not None)),
            charts=tuple(w.chart() for w in worths.values()),
        )

    def _channel(self, data: DataView, requirement: Sensitivity, step: str, subject: str | None) -> PerturbationChannel:
        counted = histogram_of(data, requirement.attribute, requirement.domain)
        frequency = counted.frequency
        people = values_of_people(data, subject, requirement.attribute, counted)
        bounds = bounds_of(requirement, counted.domain, people.share, people.most)
        choice = RetentionChoice.of(self.params, frequency, bounds.slack, requirement.directions)
        operator = Operator(requirement.attribute, counted.domain, choice.chosen, step, people.most)
        rows = int(counted.counts.sum())
        return PerturbationChannel(requirement, operator, self.params.operator, frequency, bounds, choice, rows)
