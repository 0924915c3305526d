"""Templates that no suppression can satisfy (Wang, Fung, Yu, ICDM 2005, Lemma 3.3)."""

from __future__ import annotations

from collections.abc import Iterable

from ppdm_flow.anonymizers.progressive_disclosure.groups import Groups
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.requirements import within


def infeasible(channels: Iterable[Groups]) -> tuple[Diagnostic, ...]:
    """Return a diagnostic for each template that the most suppressed table violates."""
    worst: dict[str, tuple[float, float]] = {}
    for groups in channels:
        for template, confidence in zip(groups.templates, groups.confidence.tolist(), strict=True):
            if not within(confidence, template.confidence, at_most=True):
                known = worst.get(template.id, (0.0, 0.0))[0]
                worst[template.id] = (max(confidence, known), template.confidence)
    return tuple(_diagnostic(name, *found) for name, found in worst.items())


def _diagnostic(name: str, confidence: float, bound: float) -> Diagnostic:
    return Diagnostic(
        "PPF784",
        f"`{name}` cannot be satisfied: with everything suppressed, its confidence is {confidence:.6g},"
        f" above {bound:.6g}",
        help="raise the template's confidence, or let the step suppress more attributes of its channel",
    )
