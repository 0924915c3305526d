"""What the data lets one expect of a plan, before any step runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.requirement import within
from ppdm_flow.engine.context import RunContext
from ppdm_flow.engine.reading.original import Opening, Original
from ppdm_flow.engine.reading.repeating import warnings
from ppdm_flow.engine.run.cost import Cost, estimates, set_sizes
from ppdm_flow.engine.steps.feasibility import unreachable_requirements
from ppdm_flow.engine.streams.set_counts import SetCounts, SetSize
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.plan.definition import Plan
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.requirements.templates.requirement import Template
from ppdm_flow.tables.column import MISSING


@dataclass(frozen=True, slots=True)
class Preview:
    """``rows`` in the file, ``used`` without incomplete and weightless ones, ``people`` the sum of weights."""

    rows: int
    used: int
    people: int
    diagnostics: tuple[Diagnostic, ...]
    costs: tuple[Cost, ...]
    sets: tuple[SetCounts, ...] = ()
    sizes: tuple[SetSize, ...] = ()

    @property
    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "rows": self.rows,
            "rows_used": self.used,
            "people": self.people,
            "findings": [{"code": d.code, "severity": d.severity.value, "text": d.message} for d in self.diagnostics],
            "costs": [{"step": c.step, "passes": c.passes, "seconds": c.seconds} for c in self.costs],
            **self._sets(),
        }

    def _sets(self) -> dict[str, Any]:
        if not self.sets:
            return {}
        sizes = [{"release": s.release, "form": s.form, "bytes": s.octets} for s in self.sizes]
        return {"sets": [s.document() for s in self.sets], "sizes": sizes}


def preview(plan: Plan, data: Path | None) -> Preview:
    """Read the data once and hold the requirements against its frequencies. Raises DataError."""
    context = RunContext(plan)
    original = Opening(context, data).open()
    view = StreamView(original.stream)
    people = view.counts([]).total
    diagnostics = [*_few(plan, people), *_infeasible(plan, view, people), *_known_too_well(plan, view, people)]
    diagnostics += warnings(original.repeats)
    diagnostics += unreachable_requirements(plan, original, context.options.partition_rows, context.stop)
    stream = original.stream
    return Preview(stream.rows_read, stream.row_count, people, tuple(diagnostics), *_costs(plan, original))


def _costs(plan: Plan, original: Original) -> tuple[tuple[Cost, ...], tuple[SetCounts, ...], tuple[SetSize, ...]]:
    return estimates(plan, original.stream), original.sets, set_sizes(plan, original.sets)


def _few(plan: Plan, people: int) -> Iterator[Diagnostic]:
    for requirement in plan.requirements:
        if isinstance(requirement, KAnonymity) and people < requirement.k:
            text = f"k = {requirement.k} cannot hold: there are {people} rows in all"
            yield Diagnostic("PPF740", text, requirement.span)


def _infeasible(plan: Plan, view: StreamView, people: int) -> Iterator[Diagnostic]:
    """Find templates that even the most suppressed table breaks (Wang, Fung, Yu 2005, Lemma 3.3).

    With every channel attribute suppressed, the confidence is the value's frequency (negated: that of all else), and
    the only group has all rows. Each template that fails does so by itself, and all the others can hold together.
    """
    for requirement in plan.requirements:
        if not isinstance(requirement, Template):
            continue
        if people < requirement.min_support:
            text = f"template `{requirement.name}` cannot hold: there are {people} rows in all"
            yield Diagnostic("PPF740", text, requirement.span)
        for attribute, value in requirement.sensitive:
            share = _share(view, attribute, value, people)
            if share is None:
                continue
            confidence = 1.0 - share if requirement.negated else share
            if not within(confidence, requirement.confidence, at_most=True):
                yield _impossible(requirement, attribute, value, confidence)


def _impossible(template: Template, attribute: str, value: str, confidence: float) -> Diagnostic:
    what = f"anything but `{value}`" if template.negated else f"`{value}`"
    text = f"template `{template.name}` cannot hold: {what} is {confidence:.1%} of `{attribute}`, above the"
    lowest = math.ceil(confidence * 1e6 - 1e-6) / 1e6
    note = f"it fails by itself, whatever else is asked for; the lowest confidence that it could have is {lowest:g}"
    return Diagnostic(
        "PPF740",
        f"{text} confidence of {template.confidence:.1%} even where every channel attribute is suppressed",
        template.span,
        notes=(note,),
    )


def _known_too_well(plan: Plan, view: StreamView, people: int) -> Iterator[Diagnostic]:
    for requirement in plan.requirements:
        if not isinstance(requirement, Sensitivity):
            continue
        for bound in requirement.bounds:
            if bound.given:  # about some people only: the share among all says nothing of them
                continue
            share = _share(view, requirement.attribute, bound.value, people)
            if share is not None and share > bound.r2:
                text = (
                    f"`{bound.value}` is {share:.1%} of `{requirement.attribute}`, above r2 = {bound.r2:.1%}:"
                    " it is known too well beforehand; where the prior exceeds r2, no posterior bound can be breached"
                )
                yield Diagnostic("PPF741", text, bound.span or requirement.span, Severity.WARNING)
        yield from _others_known_too_well(requirement, view, people)


def _others_known_too_well(requirement: Sensitivity, view: StreamView, people: int) -> Iterator[Diagnostic]:
    """Count the values above the default's r2, which the policy does not name; a tolerance is never below a share."""
    if requirement.default is None or requirement.attribute not in view.schema or not people:
        return
    counts = view.counts([requirement.attribute])
    own = {b.value for b in requirement.bounds}
    names = counts.names(requirement.attribute).to_pylist()
    codes = counts.of(requirement.attribute).tolist()
    shares = (counts.counts / people).tolist()
    many = sum(
        share > requirement.default[1] and (code < 0 or names[code] not in own)
        for code, share in zip(codes, shares, strict=True)
        if code >= MISSING
    )
    if many:
        text = (
            f"{many} value{'s' * (many > 1)} of `{requirement.attribute}` without a bound of"
            f" {'their' if many > 1 else 'its'} own: more frequent than the default's"
            f" r2 = {requirement.default[1]:.1%}, so known too well beforehand"
        )
        yield Diagnostic("PPF741", text, requirement.span, Severity.WARNING)


def _share(view: StreamView, attribute: str, value: str, people: int) -> float | None:
    if attribute not in view.schema or not people:
        return None
    counts = view.counts([attribute])
    code = counts.code(attribute, value)
    if code is None:
        return 0.0
    return float(counts.counts[counts.of(attribute) == code].sum() / people)
