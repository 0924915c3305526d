"""What LKC-privacy found, in sentences with the figures that they are about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Figure, Measured
from ppdm_flow.mining.classes.wording import known_by, unrepeated
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.people.wording import KNOWN, holding_all, knowing, known_sentence
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.requirements.lkc.survey import LkcSurvey
from ppdm_flow.sdk.audit import AuditContext

CONFIDENCE = "confidence"
"""Figures that bound how sure somebody is end so."""


def unit_of(ctx: AuditContext) -> str:
    """Return what is counted."""
    return "rows" if ctx.people is None else "people"


def not_measured(requirement: LKC, fault: UnmeasuredError, ctx: AuditContext) -> Iterator[Measured]:
    """Yield what cannot be said of it."""
    names = ["k"] if requirement.c is None else ["k", CONFIDENCE]
    for name, bound in zip(names, (float(requirement.k), requirement.c), strict=False):
        unit, at_most = (unit_of(ctx), False) if name == "k" else ("probability", True)
        figure = Figure(None, unit, note=fault.text)
        metric = f"{requirement.id}.{name}"
        yield Measured(requirement.id, metric, figure, bound or 0.0, at_most, fault.text, verifiable=False)


def held(
    requirement: LKC,
    survey: LkcSurvey,
    shown: Sequence[str],
    figures: Mapping[str, Figure],
    end: str,
    ctx: AuditContext,
) -> list[Measured]:
    """Return what whoever knows at most L attributes finds and infers; ``shown`` are the attributes that are told."""
    name = f"{requirement.id}.k"
    row = "row" if survey.repeated is None else "original row"
    if survey.k == 0:
        text = "There is no row to measure, so nothing can be said of it."
    else:
        many = counted(survey.k, row if ctx.people is None else "person")
        text = (
            f"Whoever knows at most {counted(requirement.l, 'quasi-identifier')} of somebody finds at least"
            f" {many} that fit ({_by(survey.fewest)}); {requirement.k:,} are required.{end}"
        )
    results = [Measured(requirement.id, name, figures[name], float(requirement.k), at_most=False, sentence=text)]
    if survey.repeated == 0:
        results = [unrepeated(requirement.id)]
    if requirement.c is not None:
        name = f"{requirement.id}.{CONFIDENCE}"
        what = listed(shown)
        who = known_by(survey.surest) if survey.surest or survey.combinations == 1 else "Anyone"
        text = (
            f"{who} can infer one of the sensitive values of {what} with a confidence of at most"
            f" {survey.confidence:.4g}, and no other combination of as few tells more; at most {requirement.c:g} is"
            f" allowed.{end}"
            if shown
            else "None of the sensitive attributes is released, so nothing can be inferred of them."
        )
        results.append(Measured(requirement.id, name, figures[name], requirement.c, at_most=True, sentence=text))
    return results


def of_known_rows(requirement: LKC, survey: LkcSurvey, ctx: AuditContext) -> Iterator[Measured]:
    """Yield what whoever knows several rows of a person finds and infers; nothing where rows are counted."""
    if ctx.people is None:
        return
    if survey.known_k is not None:
        figure = Figure(survey.known_k, "people")
        text = (
            f"{knowing(ctx.people)}, of each at most {counted(requirement.l, 'quasi-identifier')}, finds at least"
            f" {holding_all(survey.known_k)}; {requirement.k:,} are required.{survey.linked}"
        )
        yield Measured(requirement.id, f"{requirement.id}.{KNOWN}k", figure, float(requirement.k), False, text)
    if survey.known_confidence is not None and requirement.c is not None:
        figure = Figure(survey.known_confidence, "probability")
        text = known_sentence("a confidence", figure, requirement.c, ctx.people, at_most=True) + survey.linked
        yield Measured(requirement.id, f"{requirement.id}.{KNOWN}{CONFIDENCE}", figure, requirement.c, True, text)


def _by(columns: tuple[str, ...]) -> str:
    return f"fewest by {listed(columns)}" if columns else "no quasi-identifier is released"
