"""What the data lets one expect of inference templates."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.requirement import within
from ppdm_flow.requirements.templates.requirement import InferenceTemplate, chosen
from ppdm_flow.sdk.view import DataView
from ppdm_flow.sdk.view_shares import share_of


def foresee(requirement: InferenceTemplate, view: DataView, people: int) -> Iterator[Diagnostic]:
    """Yield why even the most suppressed table breaks it (Wang, Fung, Yu 2005, Lemma 3.3).

    With every channel attribute suppressed, the confidence is the value's frequency (negated: that of all else), and
    the only group has all rows. Each template that fails does so by itself, and all the others can hold together.
    """
    if requirement.chosen_from_data:
        text = f"template `{requirement.name}` protects values that were chosen from the data: {chosen(requirement)}"
        yield Diagnostic("PPF492", text, requirement.span, Severity.INFO)
    if people < requirement.smallest_group:
        text = f"template `{requirement.name}` cannot hold: there are {people} rows in all"
        yield Diagnostic("PPF784", text, requirement.span)
    for attribute, value in requirement.pairs:
        share = share_of(view, attribute, value, people)
        if share is None:
            continue
        confidence = 1.0 - share if requirement.negated else share
        if not within(confidence, requirement.confidence, at_most=True):
            yield _impossible(requirement, attribute, value, confidence)


def _impossible(template: InferenceTemplate, attribute: str, value: str, confidence: float) -> Diagnostic:
    named = "a value that was chosen" if template.chosen_from_data else f"`{value}`"
    what = f"anything but {named}" if template.negated else named
    text = f"template `{template.name}` cannot hold: {what} is {confidence:.1%} of `{attribute}`, above the"
    lowest = math.ceil(confidence * 1e6 - 1e-6) / 1e6
    note = f"it fails by itself, whatever else is asked for; the lowest confidence that it could have is {lowest:g}"
    return Diagnostic(
        "PPF784",
        f"{text} confidence of {template.confidence:.1%} even where every channel attribute is suppressed",
        template.span,
        notes=(note,),
    )
