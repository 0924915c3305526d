"""What the data lets one expect of sensitivities."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.sdk.view import DataView
from ppdm_flow.sdk.view_shares import share_of
from ppdm_flow.tables.column import MISSING


def foresee(requirement: Sensitivity, view: DataView, people: int) -> Iterator[Diagnostic]:
    """Yield which values are known too well beforehand."""
    for bound in requirement.bounds:
        if bound.given:  # about some people only: the share among all says nothing of them
            continue
        share = share_of(view, requirement.attribute, bound.value, people)
        if share is not None and share > bound.r2:
            text = (
                f"`{bound.value}` is {share:.1%} of `{requirement.attribute}`, above r2 = {bound.r2:.1%}:"
                " it is known too well beforehand; where the prior exceeds r2, no posterior bound can be breached"
            )
            yield Diagnostic("PPF741", text, bound.span or requirement.span, Severity.WARNING)
    yield from _others(requirement, view, people)


def _others(requirement: Sensitivity, view: DataView, people: int) -> Iterator[Diagnostic]:
    """Count the values above the default's r2, which the policy does not name; a tolerance is never below a share."""
    if requirement.fixed is None or requirement.attribute not in view.schema or not people:
        return
    counts = view.counts([requirement.attribute])
    own = {b.value for b in requirement.bounds}
    names = counts.names(requirement.attribute).to_pylist()
    codes = counts.of(requirement.attribute).tolist()
    shares = (counts.counts / people).tolist()
    many = sum(
        share > requirement.fixed[1] and (code < 0 or names[code] not in own)
        for code, share in zip(codes, shares, strict=True)
        if code >= MISSING
    )
    if many:
        text = (
            f"{many} value{'s' * (many > 1)} of `{requirement.attribute}` without a bound of"
            f" {'their' if many > 1 else 'its'} own: more frequent than the default's"
            f" r2 = {requirement.fixed[1]:.1%}, so known too well beforehand"
        )
        yield Diagnostic("PPF741", text, requirement.span, Severity.WARNING)
