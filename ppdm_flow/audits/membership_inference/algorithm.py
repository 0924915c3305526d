"""Whether the release tells who was in the data.

The attacker holds the records of people, some of them in the data that the generator learned from, some not, and
scores each against the released rows. If members score higher, the release depends on them. Which attack is best, and
from which score on a person is taken for a member, is chosen on one half of the people and measured on the other, so
that the figures are not made better by the choice.

Where the policy counts people, somebody is in with all rows or out with all, and scored by the mean of as many of the
rows as may be known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.labels.unreadable import gate_nothing
from ppdm_flow.audits.membership_inference.known import read
from ppdm_flow.audits.membership_inference.scores import (
    FALSE_POSITIVES,
    Advantage,
    Area,
    advantage,
    area,
    scores,
    threshold,
)
from ppdm_flow.audits.membership_inference.spec import MembershipInferenceParams
from ppdm_flow.audits.records.columns import NO_HOLDOUT, beside, uncontrolled
from ppdm_flow.audits.records.proportions import ALARM, one_sided
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

Floats = npt.NDArray[np.float64]

NAMES = ("auc", "advantage", "advantage_at_1_percent")
FEWEST = 8
"""People of a group below which nothing is estimated."""

KEY = 1988


def chart(areas: Mapping[str, Area]) -> Chart:
    """Return bars: the area under the curve of each attack, with its interval."""
    bars = list(areas.values())
    ends = [a.interval for a in bars]
    low, high = tuple(e[0] for e in ends), tuple(e[1] for e in ends)
    return Chart(
        id="attacks",
        title="How well members are told from others",
        kind="bars",
        x=tuple(areas),
        series=(FigureSeries("area under the curve", tuple(a.value for a in bars), low, high),),
        y_label="pairs in which the member scores higher",
        note="50 % is guessing",
    )


@dataclass(frozen=True, slots=True)
class ScoreAttack:
    """One score: its area on all people, on the half that chooses and on the other, and what thresholds gain there.

    ``best`` is for the threshold of the largest advantage, ``careful`` for that with 1 % of false alarms.
    """

    area: Area
    first: Area
    second: Area
    best: Advantage
    careful: Advantage


class MembershipInferenceAudit:
    """Attacks people in the data and people held out."""

    def __init__(self, params: MembershipInferenceParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return how well each score, and the best of them, tells members from others."""
        if ctx.holdout is None:
            return _nothing(NO_HOLDOUT, uncontrolled(ctx, "membership_inference"))
        columns = beside(original, candidate, ctx, self.params.attributes)
        if not columns:
            return _nothing("the release has no attribute of the original")
        known = read(original, candidate, ctx, columns, self.params)
        if known is None or min(known.members, known.others) < FEWEST:
            return _nothing(f"there are fewer than {FEWEST} people in a group")
        scored = scores(known.records, known.released, len(columns), self.params.radius)
        member = np.arange(known.people) < known.members
        attacks = {name: _attack(known.by_person(score), member) for name, score in scored.by_attack.items()}
        figures = _best(attacks, known.people) | _each(attacks, known.people)
        if "likelihood" not in attacks:
            figures["likelihood.auc"] = Figure(None, "probability", note="the attributes have too many values")
        charts = (chart({n: a.area for n, a in attacks.items()}),)
        outcome = AuditOutcome(figures, findings=_findings(attacks, ctx), charts=charts)
        return gate_nothing(outcome, known.unread, ctx, "membership_inference")


def _attack(score: Floats, member: npt.NDArray[np.bool_]) -> ScoreAttack:
    inside, outside = _halves(score[member])
    strangers, others = _halves(score[~member])
    best, careful = threshold(inside, strangers), threshold(inside, strangers, FALSE_POSITIVES)
    return ScoreAttack(
        area(score[member], score[~member]),
        area(inside, strangers),
        area(outside, others),
        advantage(outside, others, best),
        advantage(outside, others, careful),
    )


def _halves(score: Floats) -> tuple[Floats, Floats]:
    """Return the scores of two random halves of a group: the same people for every score."""
    first = np.random.default_rng(KEY).permutation(len(score)) % 2 == 0
    return score[first], score[~first]


def _best(attacks: Mapping[str, ScoreAttack], people: int) -> dict[str, Figure]:
    name = max(attacks, key=lambda n: attacks[n].first.value)
    attack, note = attacks[name], f"of `{name}`, the best attack on one half of the people, measured on the other"
    half = people // 2
    return {
        "auc": Figure(attack.second.value, "probability", attack.second.interval, half, f"{note}; 50 % is guessing"),
        "advantage": Figure(attack.best.value, "share", attack.best.interval, half, f"{note}; 0 is guessing"),
        "advantage_at_1_percent": _careful(attack.careful, half, note),
    }


def _each(attacks: Mapping[str, ScoreAttack], people: int) -> dict[str, Figure]:
    figures = {}
    for name, one in attacks.items():
        figures[f"{name}.auc"] = Figure(one.area.value, "probability", one.area.interval, people, "on all people")
        figures[f"{name}.advantage"] = Figure(
            one.best.value, "share", one.best.interval, people // 2, "threshold chosen on the other half"
        )
    return figures


def _careful(advantage: Advantage, half: int, note: str) -> Figure:
    text = f"{note}; members found minus others taken for members, at a threshold with 1 % of those; 0 is guessing"
    return Figure(advantage.value, "share", advantage.interval, half, text)


def _findings(attacks: Mapping[str, ScoreAttack], ctx: AuditContext) -> tuple[Finding, ...]:
    z = one_sided(ALARM / len(attacks))
    findings = []
    for name, attack in attacks.items():
        if attack.area.exceeds(z):
            text = (
                f"the attack by `{name}` scores a person in the data higher than one outside in"
                f" {attack.area.value:.1%} of pairs, where 50 % is guessing; chance does this in fewer than {ALARM:g}"
                " of all releases"
            )
            findings.append(Finding("PPF862", Severity.WARNING, text, f"{ctx.release}.{name}"))
    return tuple(findings)


def _nothing(why: str, findings: tuple[Finding, ...] = ()) -> AuditOutcome:
    units = {"auc": "probability", "advantage": "share", "advantage_at_1_percent": "share"}
    return AuditOutcome({n: Figure(None, units[n], note=why) for n in NAMES}, findings=findings)
