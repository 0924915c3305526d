"""What the confidences of a template mean, in sentences, findings and a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.requirement import within
from ppdm_flow.core.results import Chart, FigureSeries, Finding
from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.requirements.templates.requirement import InferenceTemplate, chosen
from ppdm_flow.requirements.templates.survey import TemplateSurvey, by_attribute
from ppdm_flow.sdk.view import DataView

LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def sentence(template: InferenceTemplate, channel: Sequence[str], before: TemplateSurvey, after: TemplateSurvey) -> str:
    """Return the sentence for the report; it names values that the policy names, and none that the data chose."""
    missing = [a for a in by_attribute(template) if a not in {t.attribute for t in after.targets}]
    gone = f" {listed(missing)} {'is' if len(missing) == 1 else 'are'} not released." if missing else ""
    if not after.targets:
        return f"There is nothing to infer.{gone}"
    pair = after.worst_pair
    if pair is None and template.negated:
        return f"Every row of the release has the value: nobody is without it.{gone}"
    if pair is None:
        return f"No group that counts holds a sensitive value of this template.{gone}"
    knowing = f"Whoever knows {listed(channel)}" if channel else "Whoever knows nothing of a person"
    relation = "≠" if template.negated else "="
    value = "a value that was chosen" if template.chosen_from_data else f"`{pair[1]}`"
    sure = f"{knowing} can infer `{pair[0]}` {relation} {value} with a confidence of at most {after.worst:.1%}"
    change = f" (before: {before.worst:.1%} for the worst value); at most {template.confidence:.1%} is accepted."
    if within(after.worst, template.confidence, at_most=True):
        return sure + change + gone
    groups, rows = after.groups(template.confidence)
    return f"{sure}{change} {counted(rows, 'row')} in {counted(groups, 'group')} allow more.{gone}"


def support(template: InferenceTemplate, channel: Sequence[str], after: TemplateSurvey) -> str:
    """Return the sentence on the smallest group."""
    if not after.smallest:
        return "There is no row to measure, so nothing can be said of it."
    among = f"equal {listed(channel)}" if channel else "nothing to tell them apart"
    rows = "row" if after.repeated is None else "original row"
    text = f"The smallest group of people with {among} has {counted(after.smallest, rows)}"
    return f"{text}; at least {template.smallest_group:,} are required."


def choice(template: InferenceTemplate) -> Iterator[Finding]:
    """Yield what was chosen from the data, by numbers."""
    if template.chosen_from_data:
        text = f"its sensitive values were chosen from the data: {chosen(template)}"
        yield Finding("PPF492", Severity.INFO, text, template.id)


def recoded(template: InferenceTemplate, after: TemplateSurvey) -> Iterator[Finding]:
    """Yield a finding for each sensitive attribute with values that only a run could decode."""
    for target in after.targets:
        if any(len(image) > 1 for image in target.images.values()):
            yield Finding(
                "PPF820",
                Severity.WARNING,
                f"`{target.attribute}` has values in the release that it has not in the original, and rows cannot be"
                " paired here: each of them is counted as each sensitive value",
                f"{template.id}.{target.attribute}",
            )


def absent(template: InferenceTemplate, original: DataView) -> Iterator[Finding]:
    """Yield a finding for each sensitive attribute some of whose values, as the policy writes them, never occur."""
    for attribute, values in by_attribute(template).items():
        if attribute not in original.schema or template.values_absent is ValuesAbsent.ALLOWED:
            continue
        known = pc.is_in(pa.array(values, pa.string()), original.domain(attribute)).to_pylist()
        never = [v for v, occurs in zip(values, known, strict=True) if not occurs]
        if never:
            which = f"{len(never)} chosen" if template.chosen_from_data else listed(never)
            yield Finding(
                "PPF821",
                Severity.WARNING,
                f"{which} of `{attribute}` never occurs in the original: check the spelling in the policy",
                f"{template.id}.{attribute}",
            )


def chart(template: InferenceTemplate, before: TemplateSurvey, after: TemplateSurvey) -> Chart:
    """Return the number of inferences above each level of confidence, before and after."""
    return Chart(
        id=f"{template.id}.inferences",
        title=f"Inferences of the template {template.name} above a confidence",
        kind="bars",
        x=tuple(f"> {level:.0%}" for level in LEVELS),
        series=tuple(
            FigureSeries(name, tuple(float(survey.inferences(level)) for level in LEVELS))
            for name, survey in (("original", before), ("released", after))
        ),
        x_label="confidence",
        y_label="inferences",
        note=f"{template.confidence:.1%} is accepted",
        group=template.id,
    )
