"""What someone learns who knows that nothing was generalized without need (the minimality attack).

The attacker knows everybody's quasi-identifiers, and so which groups were merged into a class; that they were merged
says that some group held too much of a sensitive value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ppdm_flow.audits.inference.secrets import secrets_of, summarized
from ppdm_flow.audits.minimality.merged import MergedClasses, merged, posteriors
from ppdm_flow.audits.minimality.spec import MinimalityParams
from ppdm_flow.audits.records.columns import NOT_TRUE, truthful
from ppdm_flow.audits.records.proportions import wilson
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Figure, Finding
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

NAMES = {"breached": "share", "worst_posterior": "probability", "worst_before": "probability"}
NO_GROUPS = "rows cannot be paired with those of the original, so nobody knows what was merged"


@dataclass(frozen=True, slots=True)
class Breaches:
    """Of ``people`` looked at ``breached`` are known beyond the bound, which their class keeps.

    ``before`` and ``after`` are the highest probabilities of a value; ``left_out`` classes were too large to look at.
    """

    people: int = 0
    breached: int = 0
    before: float = 0.0
    after: float = 0.0
    left_out: int = 0
    sampled: bool = False


class MinimalityAudit:
    """Looks at every sensitive released column; a bare figure is the worst over them."""

    def __init__(self, params: MinimalityParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the share of people known beyond the bound, and the highest posterior with and without the attack."""
        del original
        of = secrets_of(self.params.attributes, self.params.sensitive, candidate, ctx)
        figures: dict[str, dict[str, Figure]] = {}
        findings = []
        for secret in of.secrets:
            true = truthful((*of.beside(secret), secret), ctx)
            groups = merged(of.beside(secret), secret, ctx) if true else None
            undone = None if groups is None else _attacked(groups, self._protected(groups, secret, ctx), self.params)
            figures[secret] = _figures(undone, NO_GROUPS if true else NOT_TRUE)
            if undone is not None and undone.breached:
                findings.append(_finding(secret, undone, self.params, ctx))
        return AuditOutcome(summarized(figures, NAMES), findings=tuple(findings))

    def _protected(self, groups: MergedClasses, secret: str, ctx: AuditContext) -> list[int]:
        """Return the codes of the protected values."""
        named = self.params.values.get(secret, self.params.values.get(source_of(secret, ctx)))
        return [i for i, name in enumerate(groups.names) if named is None or name in named]


def _attacked(merged: MergedClasses, protected: list[int], params: MinimalityParams) -> Breaches:
    """Attack the classes one by one; evenly spaced ones where there are many."""
    chosen = np.flatnonzero(np.isin(merged.value, protected))
    classes = np.unique(merged.of[chosen])
    most = max(1, int(params.sample * len(classes) / max(1, len(chosen))))
    picked = classes if len(classes) <= most else classes[np.arange(most) * len(classes) // most]
    result = Breaches(sampled=len(picked) < len(classes))
    order = chosen[np.argsort(merged.of[chosen], kind="stable")]
    starts = np.searchsorted(merged.of[order], picked)
    ends = np.searchsorted(merged.of[order], picked, side="right")
    for number, first, last in zip(picked.tolist(), starts.tolist(), ends.tolist(), strict=True):
        result = _with(result, merged, number, merged.holders[order[first:last]].tolist(), params)
    if not result.sampled:
        result = replace(result, people=int(merged.sizes.sum()))
    return result


def _with(
    so_far: Breaches, merged: MergedClasses, number: int, holders: list[int], params: MinimalityParams
) -> Breaches:
    groups, size = np.sort(merged.groups_of(number)), int(merged.sizes[number])
    if size > params.largest:
        return replace(so_far, left_out=so_far.left_out + 1, people=so_far.people + size)
    before = max(h / size for h in holders)
    after = before
    known = np.zeros(len(groups), dtype=np.bool_)
    if len(groups) > 1 and groups.min() >= params.k:
        for own in (h for h in holders if h / size <= params.confidence):
            each = np.array(posteriors(tuple(groups.tolist()), own, params.confidence))
            known |= each > params.confidence + 1e-9
            after = max(after, float(each.max()))
    return replace(
        so_far,
        people=so_far.people + size,
        breached=so_far.breached + int(groups[known].sum()),
        before=max(so_far.before, before),
        after=max(so_far.after, after),
    )


def _figures(undone: Breaches | None, none: str) -> dict[str, Figure]:
    if undone is None or undone.people == 0:
        return {n: Figure(None, u, note=none) for n, u in NAMES.items()}
    share = undone.breached / undone.people
    sample = undone.people if undone.sampled else None
    note = f"{undone.left_out:,} classes are too large to look at" if undone.left_out else ""
    interval = wilson(share, undone.people) if undone.sampled else None
    return {
        "breached": Figure(share, "share", interval, sample, note),
        "worst_posterior": Figure(undone.after, "probability", sample=sample, note=note),
        "worst_before": Figure(undone.before, "probability", sample=sample, note="from the shares in the classes"),
    }


def _finding(secret: str, undone: Breaches, params: MinimalityParams, ctx: AuditContext) -> Finding:
    text = (
        f"if groups are merged only where a value of `{secret}` has more than {params.confidence:.0%} of one, that"
        f" tells on {undone.breached:,} of {undone.people:,} people: whoever knows everybody's quasi-identifiers gives"
        f" them a value with a probability of up to {undone.after:.1%}, which the classes bound by"
        f" {params.confidence:.0%}"
    )
    return Finding("PPF895", Severity.WARNING, text, f"{ctx.release}.minimality.{secret}")
