"""Membership inference: whether the release reveals who was in the data.

The attacker holds the records of people, some of them in the data that the generator learned from, some not, and
scores each against the released rows. If members score higher, the release depends on them. Which attack is best, and
from which score on a person is taken for a member, is chosen on one half of the people and measured on the other, so
that the figures are not made better by the choice.

Where the policy counts people, somebody is in with all rows or out with all, and scored by the mean of as many of the
rows as may be known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from ppdm_flow.audits.labels.unreadable import UnreadableLabels, gate_nothing
from ppdm_flow.audits.membership_inference.spec import MembershipInferenceParams
from ppdm_flow.audits.records.columns import NO_HOLDOUT, ColumnPair, beside, uncontrolled
from ppdm_flow.audits.records.distances import nearest, within
from ppdm_flow.audits.records.gathering import Records, distinct, gather
from ppdm_flow.audits.records.gathering import affordable_rows as gathering_affordable_rows
from ppdm_flow.audits.records.person_samples import PersonSample, knows_people, original_people
from ppdm_flow.audits.records.proportions import ALARM, deviate, newcombe, one_sided
from ppdm_flow.audits.records.sampling import RecordSample, held_out, training
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.mining.comparison import LAPLACE, SLIM, CodeTableSearch, affordable_rows, row_bits
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.krimp.compress import MOST_PAIRED
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

Floats = npt.NDArray[np.float64]

NAMES = ("auc", "advantage", "advantage_at_1_percent")
FEWEST = 8
"""People of a group below which nothing is estimated."""

KEY = 1988
Ints = npt.NDArray[np.int64]


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


# The scores of the attack, and how well they tell members from others: area under the curve, and thresholds.


FALSE_POSITIVES = 0.01

MOST_CODED = 100_000
"""Released rows that the code table is found on, evenly spaced; fewer of wide tables."""


@dataclass(frozen=True, slots=True)
class Area:
    """``value``: the probability that a member scores higher than another person, ties half.

    ``error`` is its standard error, ``chance`` what that would be if the scores told nothing.
    """

    value: float
    error: float
    chance: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval."""
        reach = deviate() * self.error
        return max(0.0, self.value - reach), min(1.0, self.value + reach)

    def exceeds(self, z: float) -> bool:
        """Whether it lies farther above 1/2 than scores that tell nothing would, at this normal deviate."""
        return self.value - 0.5 > z * max(self.error, self.chance)


def area(members: Floats, others: Floats) -> Area:
    """Return the area under the ROC curve with DeLong's standard error; higher scores speak for membership.

    DeLong, DeLong, Clarke-Pearson, Biometrics 44 (1988), by midranks (Sun, Xu 2014). Perfect separation has an error
    of 0 there; half a person's weight is put in its place. Beside it the error of the Mann-Whitney statistic, with its
    correction for ties, where members are like others.
    """
    m, n = len(members), len(others)
    ranks = stats.rankdata(np.concatenate([members, others]))
    above = (ranks[:m] - stats.rankdata(members)) / n  # share of others below each member
    below = 1 - (ranks[m:] - stats.rankdata(others)) / m
    value = float(above.mean())
    variance = sum(float(v.var(ddof=1)) / len(v) for v in (above, below) if len(v) > 1)
    return Area(value, math.sqrt(max(variance, 0.25 / (m * n))), _by_chance(ranks, m, n))


def _by_chance(ranks: Floats, m: int, n: int) -> float:
    _, ties = np.unique(ranks, return_counts=True)
    total = m + n
    tied = float((ties.astype(np.float64) ** 3 - ties).sum()) / (total * (total - 1))
    return math.sqrt(max(total + 1 - tied, 0.0) / (12 * m * n))


@dataclass(frozen=True, slots=True)
class Advantage:
    """The share of members minus that of others who score at least the threshold; ``hits`` the first of the two."""

    value: float
    interval: tuple[float, float]
    hits: float


def threshold(members: Floats, others: Floats, most_false: float = 1.0) -> float:
    """Return the score from which on members outnumber others most, with at most ``most_false`` of the others."""
    levels = np.unique(np.concatenate([members, others]))
    hits = 1 - np.searchsorted(np.sort(members), levels, side="left") / len(members)
    false = 1 - np.searchsorted(np.sort(others), levels, side="left") / len(others)
    allowed = false <= most_false
    if not allowed.any():
        return math.inf
    return float(levels[allowed][np.argmax((hits - false)[allowed])])


def advantage(members: Floats, others: Floats, level: float) -> Advantage:
    """Return what a threshold that was chosen on other people gains."""
    hits, false = float((members >= level).mean()), float((others >= level).mean())
    return Advantage(hits - false, newcombe(hits, len(members), false, len(others)), hits)


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of each person, by attack, in the order of ``people``; ``radius`` is the one used, in attributes."""

    by_attack: dict[str, Floats]
    radius: float


def scores(people: Records, released: Records, columns: int, radius: float | None) -> Scores:
    """Score each person against the released records."""
    every = range(columns)
    first, copies, _ = distinct(released.cells)
    cells, _, place = distinct(people.cells)
    reference, queries = released.take(first).points(every), people.take(cells).points(every)
    far, _ = nearest(queries, reference)
    reach = float(np.median(far[place])) if radius is None else radius * columns
    values = {
        "distance": -far[place],
        "density": within(queries, reference, copies, reach)[place].astype(np.float64),
    }
    rows = min(len(released), affordable_rows(columns, MOST_CODED))
    likely = _likelihood(people.coarse, released.take(np.arange(rows) * len(released) // rows).coarse)
    return Scores(values | ({"likelihood": likely} if likely is not None else {}), reach)


def _likelihood(people: npt.NDArray[np.int32], released: npt.NDArray[np.int32]) -> Floats | None:
    """Return how many bits correlations save on each person; None for more values than a code table can pair."""
    widths = np.maximum(people.max(axis=0), released.max(axis=0)).astype(np.int64) + 1
    begin = np.concatenate([[0], np.cumsum(widths)])
    item, place = _items(begin, (people, released))
    if len(place) > MOST_PAIRED:
        return None
    mine, theirs = (item[cells + begin[:-1]] for cells in (people, released))
    known = CodeTableSearch(2, SLIM, pruning=False).encoded(ItemDatabase.of_cells(theirs, place))
    alone = known.database.supports + LAPLACE
    single = np.log2(alone.sum()) - np.log2(alone)
    saved: Floats = single[mine].sum(axis=1) - row_bits(mine, known)
    return saved


def _items(
    begin: npt.NDArray[np.int64], groups: tuple[npt.NDArray[np.int32], ...]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Number the cells that occur; return the number of each cell and the column of each number."""
    used = np.zeros(int(begin[-1]), dtype=np.bool_)
    for cells in groups:
        used[cells + begin[:-1]] = True
    item = (np.cumsum(used) - 1).astype(np.int32)
    return item, (np.searchsorted(begin, np.flatnonzero(used), side="right") - 1).astype(np.int32)


# The records that the attacker holds: of people in the data, and of people outside of it.


@dataclass(frozen=True, slots=True, eq=False)
class KnownRecords:
    """``records`` of ``whose`` each (records,): numbers of people, first ``members`` in the data, then ``others``."""

    records: Records
    whose: Ints
    members: int
    others: int
    released: Records
    unread: tuple[UnreadableLabels, ...]

    @property
    def people(self) -> int:
        """How many people there are."""
        return self.members + self.others

    def by_person(self, score: Floats) -> Floats:
        """Return the mean score of each person's records (people,)."""
        return np.asarray(np.bincount(self.whose, score, self.people) / np.bincount(self.whose, minlength=self.people))


def read(
    original: DataView,
    candidate: DataView,
    ctx: AuditContext,
    columns: Sequence[ColumnPair],
    params: MembershipInferenceParams,
) -> KnownRecords | None:
    """Read both groups, as many people as can be compared with the release; None where a group or it is empty."""
    samples = [_people(original, [c.source for c in columns], ctx, params, outside=side) for side in (False, True)]
    groups = [RecordSample(s.table, s.available) for s in samples]
    gathered = gather(original, candidate, ctx, columns, params.sample, params.reference, groups)
    if gathered.holdout is None or not len(gathered.released):
        return None
    (members, who), (others, whom) = (
        _affordable(records, sample.whose, 4 * len(gathered.released))
        for records, sample in zip((gathered.training, gathered.holdout), samples, strict=True)
    )
    many, more = (int(each.max(initial=-1)) + 1 for each in (who, whom))
    records = Records(
        np.concatenate([members.cells, others.cells]),
        members.numbers,
        members.intervals,
        members.available + others.available,
    )
    return KnownRecords(records, np.concatenate([who, whom + many]), many, more, gathered.released, gathered.unread)


def _people(
    original: DataView, sources: Sequence[str], ctx: AuditContext, params: MembershipInferenceParams, *, outside: bool
) -> PersonSample:
    """Return people with as many of their rows as the attacker knows; rows, where these are counted."""
    if ctx.people is not None and knows_people(original, ctx):
        return original_people(
            original, sources, ctx, outside=outside, most_people=params.sample, known_rows=ctx.people.known_rows
        )
    if ctx.holdout is None:
        raise ValueError("nobody is held out")
    sample = (held_out if outside else training)(original, sources, params.sample, ctx.holdout)
    return PersonSample(sample.table, np.arange(len(sample), dtype=np.int64), sample.available)


def _affordable(records: Records, whose: Ints, known: int) -> tuple[Records, Ints]:
    """Return as many of the people as can be compared with ``known`` records, evenly spaced, with all their records."""
    people, most = int(whose.max(initial=-1)) + 1, gathering_affordable_rows(records, known)
    if len(records) <= most:
        return records, whose
    fewer = max(1, most * people // len(records))
    number = np.full(people, -1, dtype=np.int64)
    number[np.arange(fewer) * people // fewer] = np.arange(fewer)
    rows = np.flatnonzero(number[whose] >= 0)
    return records.take(rows), number[whose[rows]]
