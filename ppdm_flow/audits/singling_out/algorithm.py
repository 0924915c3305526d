"""How often a condition read off the release fits exactly one person of the original.

To single somebody out is to have a condition that fits one person and no other, without knowing who it is; the GDPR's
recital 26 counts it as identification. A condition may fit one person by chance: the same conditions are tried on as
many people held out of the data, and the naive attacker, who never saw a row, has a rate of success as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.labels.released import hierarchy_of
from ppdm_flow.audits.labels.unreadable import UnreadableLabels, gate_nothing, of_release
from ppdm_flow.audits.records.columns import NO_HOLDOUT, ColumnPair, beside, truthful, uncontrolled
from ppdm_flow.audits.records.proportions import ALARM, newcombe, one_sided, wilson
from ppdm_flow.audits.singling_out.guesses import GuessSearch, multivariate, naive, singled, univariate
from ppdm_flow.audits.singling_out.rows import AttackRows, rows_of
from ppdm_flow.audits.singling_out.spec import SinglingOutParams
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

Integers = npt.NDArray[np.int64]

KEY = 2023
ATTACKS = ("univariate", "multivariate")
FIGURES = ("success", "control", "baseline", "risk")


@dataclass(frozen=True, slots=True)
class GuessShares:
    """Shares of ``size`` guesses that single out somebody in the data, outside of it, and of naive guesses.

    Guesses that single out one and the same person stand or fall together: ``independent`` is as many independent
    guesses as would vary as much.
    """

    size: int
    independent: float
    success: float
    control: float | None
    baseline: float

    def compared(self, z: float | None = None) -> tuple[float, tuple[float, float]]:
        """Return the risk, (success - other) / (1 - other), with its interval; other: control, or else the baseline."""
        other = self.baseline if self.control is None else self.control
        low, high = newcombe(self.success, self.independent, other, self.independent, z)
        scale = max(1.0 - other, 1.0 / self.size)
        risk, *ends = (max(-1.0, min(1.0, d / scale)) for d in (self.success - other, low, high))
        return risk, (ends[0], ends[1])

    @property
    def severity(self) -> tuple[float, float]:
        """The risk, and of two that are alike the lower end of its interval."""
        risk, (low, _) = self.compared()
        return risk, low


class SinglingOutAudit:
    """Guesses, with a fixed key, and counts."""

    def __init__(self, params: SinglingOutParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the rates of success of both kinds of guesses, and the risk beyond the control group's."""
        columns = beside(original, candidate, ctx, self._chosen(candidate, ctx))
        rows = rows_of(columns, original, candidate, self.params.reference, ctx) if columns else None
        if rows is None or not rows.released.shape[1] or not rows.inside.shape[1]:
            return _nothing("the release has no attribute of the original, or there are no rows")
        rng = np.random.default_rng(KEY)
        searches = {
            "univariate": univariate(rows, self.params.attempts, rng),
            "multivariate": multivariate(rows, self.params.attempts, self.params.combined, rng),
        }
        known = {name: _tried(rows, search, rng) for name, search in searches.items() if len(search.guesses)}
        each = {n: _figures(known[n]) if n in known else _no_guess(searches[n]) for n in ATTACKS}
        figures = {f"{n}.{f}": figure for n in ATTACKS for f, figure in each[n].items()}
        worst = max(known, key=lambda n: known[n].severity, default=ATTACKS[-1])
        figures["risk"] = each[worst]["risk"]
        own = truthful([c.column for c in columns], ctx)
        findings = tuple(_finding(n, o, ctx) for n, o in known.items() if _alarming(o, own))
        if rows.outside is None:
            findings = (*findings, *uncontrolled(ctx, "singling_out"))
        outcome = AuditOutcome(figures, findings=findings, charts=(_chart(known),) if known else ())
        if not known:  # whatever labels mean: no condition on them fits one row
            return outcome
        unread = (_unread(c, original, candidate, ctx) for c in columns)
        return gate_nothing(outcome, unread, ctx, "singling_out")

    def _chosen(self, candidate: DataView, ctx: AuditContext) -> Sequence[str] | None:
        """Return the attributes of the conditions, None for all."""
        if self.params.attributes is not None or ctx.holdout is not None:
            return self.params.attributes
        return candidate.schema.having(Role.QUASI_IDENTIFIER) or None


def _unread(beside: ColumnPair, original: DataView, candidate: DataView, ctx: AuditContext) -> UnreadableLabels | None:
    labels, values = candidate.domain(beside.column), original.domain(beside.source)
    return of_release(beside.column, labels, values, hierarchy_of(beside.column, ctx), ctx)


def _tried(rows: AttackRows, search: GuessSearch, rng: np.random.Generator) -> GuessShares:
    guesses = search.guesses
    blind = naive(rows, guesses, rng)
    _, own, others = rows.whose
    inside, chance = (singled(rows.lines, each, rows.inside, own) for each in (guesses, blind))
    outside = None if rows.outside is None else singled(rows.lines, guesses, rows.outside, others)
    together = max(_together(hits) for hits in (inside, chance, outside) if hits is not None)
    shares = [None if hits is None else float((hits >= 0).mean()) for hits in (inside, outside, chance)]
    return GuessShares(len(guesses), len(guesses) / together, shares[0] or 0.0, shares[1], shares[2] or 0.0)


def _together(who: Integers) -> float:
    """Return by how much the variance grows since some guesses single out the same person; -1 is nobody."""
    many = np.bincount(who[who >= 0]) if (who >= 0).any() else np.ones(1)
    return float((many**2).sum() / many.sum())


def _alarming(attack: GuessShares, true: bool) -> bool:
    """Whether chance would hardly ever do so well; without a control group only where released rows are true."""
    if attack.control is None and not true:
        return False
    return attack.compared(one_sided(ALARM / len(ATTACKS)))[1][0] > 0


def _no_guess(search: GuessSearch) -> dict[str, Figure]:
    """Return the figures of an attack that has nothing to say: no condition that was tried fits one released row."""
    why = "no condition on the release fits exactly one of its rows"
    reach = None if search.complete else (0.0, wilson(0.0, search.tried)[1])
    if not search.complete:
        why = f"none of {search.tried:,} conditions read off the release fits exactly one of its rows"
    nothing = Figure(0.0, "share", reach, None if search.complete else search.tried, why)
    others = Figure(None, "share", note=why)
    return {"success": nothing, "control": others, "baseline": others, "risk": nothing}


def _figures(attack: GuessShares) -> dict[str, Figure]:
    size = attack.size
    risk, reach = attack.compared()
    than = "people outside of the data" if attack.control is not None else f"the naive attacker: {NO_HOLDOUT}"
    control = Figure(None, "share", note=NO_HOLDOUT)
    if attack.control is not None:
        control = Figure(
            attack.control,
            "share",
            wilson(attack.control, attack.independent),
            size,
            "of people outside of the data",
        )
    return {
        "success": Figure(
            attack.success, "share", wilson(attack.success, attack.independent), size, "guesses that fit one person"
        ),
        "control": control,
        "baseline": Figure(
            attack.baseline, "share", wilson(attack.baseline, attack.independent), size, "of the naive attacker"
        ),
        "risk": Figure(risk, "share", reach, size, f"success beyond that of {than}"),
    }


def _finding(name: str, attack: GuessShares, ctx: AuditContext) -> Finding:
    other = (
        f"{attack.baseline:.1%} of guesses made without the release"
        if attack.control is None
        else f"{attack.control:.1%} of the same guesses on people outside of the data"
    )
    text = (
        f"{attack.success:.1%} of {attack.size:,} {name} conditions read off the release fit exactly one person of the"
        f" original, against {other}; chance does this in fewer than {ALARM:g} of all releases"
    )
    return Finding("PPF897", Severity.WARNING, text, f"{ctx.release}.singling_out.{name}")


def _chart(outcomes: dict[str, GuessShares]) -> Chart:
    def series(name: str, shares: list[tuple[float, float]]) -> FigureSeries:
        ends = [wilson(share, size) for share, size in shares]
        return FigureSeries(name, tuple(s for s, _ in shares), tuple(e[0] for e in ends), tuple(e[1] for e in ends))

    every = list(outcomes.values())
    lines = [series("in the data", [(o.success, o.independent) for o in every])]
    if all(o.control is not None for o in every):
        lines.append(series("outside of the data", [(o.control or 0.0, o.independent) for o in every]))
    lines.append(series("naive guesses", [(o.baseline, o.independent) for o in every]))
    return Chart(
        id="attacks",
        title="Conditions that fit exactly one person",
        kind="bars",
        x=tuple(outcomes),
        series=tuple(lines),
        y_label="share of the guesses",
    )


def _nothing(why: str) -> AuditOutcome:
    names = ("risk", *(f"{a}.{f}" for a in ATTACKS for f in FIGURES))
    return AuditOutcome({n: Figure(None, "share", note=why) for n in names})
