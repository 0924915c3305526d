"""The confidence of the inferences that privacy templates forbid, before and after.

A template <IC -> pi, h> holds if no group over the channel IC lets one infer pi with more confidence than h; several
sensitive values are several templates (Wang, Fung, Yu 2005, section 3). A negated one is about not having the value:
its confidence is the share of rows without it. A support bounds the rows of the smallest group over the channel.
Channel attributes that are not released drop out, and where the sensitive attribute is not released there is nothing
to infer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ppdm_flow.core.results import AuditOutcome, Chart, Figure, Finding, Measured
from ppdm_flow.mining.classes.wording import as_they_are, intersected, unmeasured, unrepeated
from ppdm_flow.mining.exposure.columns import made_of
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.exposure.joint_sizes import beside_all, beside_all_sql, findings_of_unaccounted, unaccounted
from ppdm_flow.requirements.templates.known_rows import known_confidence, known_sql
from ppdm_flow.requirements.templates.query import InferenceQuery
from ppdm_flow.requirements.templates.released_template import (
    ReleasedTemplate,
    figures_sql,
    originals_of,
    released_template,
    smallest_sql,
    survey_of,
    together_confidence,
    together_sql,
)
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.requirements.templates.sentences import absent, chart, choice, recoded, sentence, support
from ppdm_flow.requirements.templates.survey import TemplateSurvey, TemplateTarget, by_attribute, survey
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


class UnchosenError(UnmeasuredError):
    """The sensitive values of a template still wait for data."""

    code = "PPF492"


class TemplatesAudit:
    """Counts channel and sensitive attribute together, in the original and in the release."""

    def __init__(self, params: Any) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the worst confidence, and how many inferences exceed the template's, for each template."""
        figures: dict[str, Figure] = {}
        measured: list[Measured] = []
        findings: list[Finding] = []
        charts: list[Chart] = []
        for template in _own(ctx):
            if template.awaits_data:
                fault = UnchosenError("its sensitive values were not chosen from the data")
                measured.extend(_unmeasured(template, fault))
                findings.append(unmeasured(template.id, fault))
                continue
            released = released_template(template, original, candidate, ctx)
            channel, targets = released.columns.every, released.targets
            try:
                after = survey_of(released, candidate, ctx)
                known = known_confidence(released.columns, released.targets, template, candidate, ctx)
            except UnmeasuredError as fault:
                measured.extend(_unmeasured(template, fault))
                findings.append(unmeasured(template.id, fault))
                continue
            before = _before(template, original, ctx)
            own = _figures(template, before, after)
            figures |= own
            name = f"{template.id}.confidence"
            text = sentence(template, channel, before, after) + made_of(_columns(released), ctx)
            measured.append(Measured(template.id, name, own[name], template.confidence, at_most=True, sentence=text))
            beside = _together(released, candidate, ctx)
            findings.extend(findings_of_unaccounted(beside))
            further = [*known, *beside]
            figures |= {m.metric: m.figure for m in further}
            measured.extend(further)
            if template.smallest_group > 1 and targets:
                least = beside_all(
                    template.id, "together_smallest_group", template.smallest_group, template.channel, ctx
                )
                figures |= {m.metric: m.figure for m in least}
                measured.extend(least)
                findings.extend(findings_of_unaccounted(least))
                unaffected = after.repeated == 0 and candidate.row_count > 0
                bounded = _support(template, own, support(template, channel, after))
                measured.append(unrepeated(template.id) if unaffected else bounded)
                figures[measured[-1].metric] = measured[-1].figure
            findings.extend((*choice(template), *recoded(template, after), *absent(template, original)))
            secret = tuple(by_attribute(template))
            findings.extend(as_they_are(template.id, (*template.channel, *secret), secret, candidate, ctx))
            charts.append(chart(template, before, after))
        return AuditOutcome(figures, tuple(measured), tuple(findings), tuple(charts))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Count again, in SQL over the released file and the original."""
        figures: dict[str, float | int | None] = {}
        if ctx.sql is None:
            return figures
        for template in _own(ctx):
            if template.awaits_data:
                continue
            released = released_template(template, original, candidate, ctx)
            before = InferenceQuery(
                ctx.sql, "original", original.schema, _channel_before(template, original), ctx.nulls
            )
            try:
                after = figures_sql(released, candidate, ctx, ctx.sql)
                known = known_sql(released.columns, released.targets, template, candidate, ctx, ctx.sql)
            except UnmeasuredError:
                continue
            figures |= {f"{template.id}.{name}": value for name, value in after.items()}
            figures |= known
            with suppress(UnmeasuredError):
                if together_confidence(released, candidate, ctx) is not None:
                    figures[f"{template.id}.together_confidence"] = together_sql(released, candidate, ctx, ctx.sql)
            if template.smallest_group > 1:
                figures[f"{template.id}.smallest_group"] = smallest_sql(released, candidate, ctx, ctx.sql)
                if released.targets:
                    name = f"{template.id}.together_smallest_group"
                    figures |= beside_all_sql(name, template.channel, ctx)
                originals = originals_of(released, candidate, ctx)
                repeated = 1 if originals is None else originals.again(released.columns.every)
                if repeated == 0 and released.targets and candidate.row_count > 0:
                    figures[f"{template.id}.repeated"] = 0
                figures[f"{template.id}.smallest_group_before"] = before.smallest()
            earlier = _targets_before(template, original)
            for name, value in before.figures(earlier, template.confidence, negated=template.negated).items():
                figures[f"{template.id}.{name}_before"] = value
        return figures


def _together(released: ReleasedTemplate, candidate: DataView, ctx: AuditContext) -> list[Measured]:
    """Judge what the run's other releases leave of possible values; nothing where they tell nothing of it."""
    template = released.template
    metric, bound = f"{template.id}.together_confidence", template.confidence
    try:
        joint = together_confidence(released, candidate, ctx)
    except UnmeasuredError as fault:
        return [unaccounted(template.id, metric, "probability", bound, fault, at_most=True)]
    if joint is None:
        return []
    worst, names = joint
    text = intersected("the confidence", worst, f"at most {bound:.1%} is accepted", 0, names)
    return [Measured(template.id, metric, Figure(worst, "probability"), bound, at_most=True, sentence=text)]


def _own(ctx: AuditContext) -> list[InferenceTemplate]:
    return [r for r in ctx.requirements if isinstance(r, InferenceTemplate)]


def _columns(released: ReleasedTemplate) -> tuple[str, ...]:
    return (*released.columns.every, *(c for _, ways in released.targets for way in ways for c in way.shown))


def _unmeasured(template: InferenceTemplate, fault: UnmeasuredError) -> Iterator[Measured]:
    """Yield what cannot be said of it."""
    bounds = {"confidence": (template.confidence, "probability", True)}
    if template.smallest_group > 1:
        bounds["smallest_group"] = (float(template.smallest_group), "rows", False)
    for name, (bound, unit, at_most) in bounds.items():
        figure = Figure(None, unit, note=fault.text)
        yield Measured(template.id, f"{template.id}.{name}", figure, bound, at_most, fault.text, verifiable=False)


def _targets_before(template: InferenceTemplate, original: DataView) -> tuple[TemplateTarget, ...]:
    return tuple(
        TemplateTarget(attribute, attribute, {v: frozenset((v,)) for v in values})
        for attribute, values in by_attribute(template).items()
        if attribute in original.schema
    )


def _channel_before(template: InferenceTemplate, original: DataView) -> tuple[str, ...]:
    return tuple(c for c in dict.fromkeys(template.channel) if c in original.schema)


def _before(template: InferenceTemplate, original: DataView, ctx: AuditContext) -> TemplateSurvey:
    targets = _targets_before(template, original)
    return survey(template, original, _channel_before(template, original), targets, ctx.nulls)


def _support(template: InferenceTemplate, own: Mapping[str, Figure], text: str) -> Measured:
    name = f"{template.id}.smallest_group"
    return Measured(template.id, name, own[name], float(template.smallest_group), at_most=False, sentence=text)


def _figures(template: InferenceTemplate, before: TemplateSurvey, after: TemplateSurvey) -> dict[str, Figure]:
    figures: dict[str, Figure] = {}
    for suffix, surveyed in (("", after), ("_before", before)):
        groups, rows = surveyed.groups(template.confidence)
        figures[f"{template.id}.confidence{suffix}"] = Figure(surveyed.worst, "probability")
        figures[f"{template.id}.inferences{suffix}"] = Figure(surveyed.inferences(template.confidence), "inferences")
        figures[f"{template.id}.violating_groups{suffix}"] = Figure(groups, "groups")
        figures[f"{template.id}.violating_rows{suffix}"] = Figure(rows, "rows")
        if template.smallest_group > 1:
            figures[f"{template.id}.smallest_group{suffix}"] = Figure(surveyed.smallest, "rows")
    return figures
