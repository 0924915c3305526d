"""Attribute disclosure: whether a release reveals more of its own people's sensitive values than of other people's.

The attacker knows some attributes of a person, looks up the released rows that have them (the closest ones where none
has), and guesses the sensitive value that most of these have. Guesses on people whom the generator never saw are the
control: what succeeds there is the use of the data, what succeeds beyond it on people in the data is disclosure. A
Laplace correction mixes values into every group of released rows: how many, in the exact matches, is the l of
l-diversity. Where the policy counts people, one row of each person is attacked, so that guesses are as many as people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ppdm_flow.audits.attribute_disclosure.spec import AttributeDisclosureParams
from ppdm_flow.audits.labels.unreadable import gate_nothing
from ppdm_flow.audits.records.columns import NO_HOLDOUT, ColumnPair, beside, uncontrolled
from ppdm_flow.audits.records.distances import RecordPoints, guesses
from ppdm_flow.audits.records.gathering import GatheredRecords, Integers, Records, affordable, distinct, gather
from ppdm_flow.audits.records.person_samples import knows_people, original_people
from ppdm_flow.audits.records.proportions import ALARM, newcombe, one_sided, wilson
from ppdm_flow.audits.records.sampling import RecordSample
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS

# The attack: look up what is known of a person among the released rows, and guess what most of those have.


@dataclass(frozen=True, slots=True, eq=False)
class Success:
    """Guesses on ``people`` persons: ``right`` ones, ``prior`` right ones by the most frequent value alone.

    Of the ``groups`` of persons with equal known values that the release has too, ``least_values`` is the smallest
    number of sensitive values in one, ``homogeneous`` the number of those with a single one; ``exact`` counts the
    persons in them.
    """

    people: int
    right: int
    prior: int
    exact: int
    groups: int
    homogeneous: int
    least_values: int | None

    @property
    def rate(self) -> float:
        """The share of right guesses."""
        return self.right / self.people

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the rate."""
        return wilson(self.rate, self.people)


Attacked = dict[str, tuple[Success, Success | None]]


def chart(attacked: Mapping[str, tuple[Success, Success | None]]) -> Chart:
    """Return bars for each sensitive attribute: people in the data, people held out, the most frequent value."""
    every = [success for success, _ in attacked.values()]
    control = [c for _, c in attacked.values() if c is not None]
    series = [_series("people in the data", every)]
    if len(control) == len(every):
        series.append(_series("people held out", control))
    prior = [s.prior / s.people for s in every]
    ends = [wilson(p, s.people) for p, s in zip(prior, every, strict=True)]
    series.append(
        FigureSeries("most frequent value", tuple(prior), tuple(e[0] for e in ends), tuple(e[1] for e in ends))
    )
    return Chart(
        id="guesses",
        title="Right guesses of sensitive attributes",
        kind="bars",
        x=tuple(attacked),
        series=tuple(series),
        y_label="share of right guesses",
    )


def _series(name: str, guesses: list[Success]) -> FigureSeries:
    ends = [s.interval for s in guesses]
    return FigureSeries(name, tuple(s.rate for s in guesses), tuple(e[0] for e in ends), tuple(e[1] for e in ends))


class AttributeDisclosureAudit:
    """Attacks each sensitive attribute, of people in the data and of people held out."""

    def __init__(self, params: AttributeDisclosureParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the rates of right guesses on people in the data and outside of it, and the risk made of them."""
        columns = beside(original, candidate, ctx)
        wanted = [i for i, c in enumerate(columns) if self._wanted(c, original)]
        if not wanted:
            return _nothing("the release has no sensitive attribute of the original")
        groups = self._people(original, columns, ctx)
        data = gather(original, candidate, ctx, columns, self.params.sample, self.params.reference, groups)
        attacked = {}
        for i in wanted:
            known = self._known(i, columns, original)
            tried = _attacked(data, known, i) if known else None
            if tried is not None:
                attacked[columns[i].column] = tried
        if not attacked:
            return _nothing("there is no row, or nothing known, to attack")
        outcome = AuditOutcome(_figures(attacked, data), findings=_findings(attacked, ctx), charts=(chart(attacked),))
        return gate_nothing(outcome, data.unread, ctx, "attribute_disclosure")

    def _people(self, original: DataView, columns: Sequence[ColumnPair], ctx: AuditContext) -> list[RecordSample]:
        """Return a drawn row of each person in the data and of each held out; none where rows are counted."""
        if not knows_people(original, ctx):
            return []
        sources = [c.source for c in columns]
        sides = (False,) if ctx.holdout is None else (False, True)
        people = [
            original_people(original, sources, ctx, outside=side, most_people=self.params.sample, known_rows=1)
            for side in sides
        ]
        return [RecordSample(each.table, each.available) for each in people]

    def _wanted(self, column: ColumnPair, original: DataView) -> bool:
        if self.params.sensitive is None:
            return original.schema[column.source].role is Role.SENSITIVE
        return column.column in self.params.sensitive or column.source in self.params.sensitive

    def _known(self, wanted: int, columns: Sequence[ColumnPair], original: DataView) -> list[int]:
        others = [i for i in range(len(columns)) if i != wanted]
        if self.params.known is not None:
            return [i for i in others if {columns[i].column, columns[i].source} & set(self.params.known)]
        role = [i for i in others if original.schema[columns[i].source].role is Role.QUASI_IDENTIFIER]
        return role or others


def _attacked(gathered: GatheredRecords, known: Sequence[int], wanted: int) -> tuple[Success, Success | None] | None:
    groups = (gathered.released, gathered.training, *((gathered.holdout,) if gathered.holdout is not None else ()))
    codes = max(int(g.coarse[:, wanted].max(initial=0)) for g in groups) + 1
    knowledge = learn(gathered.released, known, wanted, codes)
    if knowledge is None:
        return None
    success, *control = (attack(affordable(g, 2 * len(knowledge.points)), knowledge) for g in groups[1:])
    return None if success is None else (success, control[0] if control else None)


def _figures(attacked: Attacked, gathered: GatheredRecords) -> dict[str, Figure]:
    risks = {name: risk(s, c) for name, (s, c) in attacked.items()}
    worst = max(risks, key=lambda name: risks[name].value)
    figures = {"risk": _risk(risks[worst], f"of `{worst}`", attacked[worst][1])}
    for name, (success, control) in attacked.items():
        own = _of_success(success, gathered)
        own["control"] = _control(control)
        own["risk"] = _risk(risks[name], "of this attribute", control)
        figures |= {f"{name}.{key}": figure for key, figure in own.items()}
    return figures


def _of_success(success: Success, gathered: GatheredRecords) -> dict[str, Figure]:
    people, prior = success.people, success.prior / success.people
    part = "" if gathered.released.complete else f", in a sample of {len(gathered.released):,} released rows"
    groups = f"of {success.groups:,} groups of people whose known values the release has{part}"
    uniform = success.homogeneous / success.groups if success.groups else None
    return {
        "success": Figure(success.rate, "share", success.interval, people, "right guesses on people in the data"),
        "baseline": Figure(prior, "share", wilson(prior, people), people, "right guesses by the most frequent value"),
        "exact_matches": Figure(
            success.exact / people,
            "share",
            wilson(success.exact / people, people),
            people,
            f"people whose known values the release has{part}; of the others the closest rows are looked up",
        ),
        "smallest_l": Figure(
            success.least_values, "count", sample=people, note=f"sensitive values in the least diverse {groups}"
        ),
        "homogeneous": Figure(
            uniform,
            "share",
            wilson(uniform, success.groups) if uniform is not None else None,
            people,
            f"{groups}, those with a single sensitive value",
        ),
    }


def _control(control: Success | None) -> Figure:
    if control is None:
        return Figure(None, "share", note=NO_HOLDOUT)
    return Figure(control.rate, "share", control.interval, control.people, "right guesses on people held out")


def _risk(risk: DisclosureRisk, what: str, control: Success | None) -> Figure:
    note = f"{what}: of the guesses that fail on others, the share that a person's presence in the data mends"
    if control is None:
        note = f"{what}: of the guesses that the most frequent value gets wrong, the share that the release mends"
        note += f"; {NO_HOLDOUT.partition(',')[0]}, so what is true of people in general counts too"
    return Figure(risk.value, "share", risk.interval, note=note)


def _findings(attacked: Attacked, ctx: AuditContext) -> tuple[Finding, ...]:
    controlled = {n: (s, c) for n, (s, c) in attacked.items() if c is not None}
    if not controlled:
        return uncontrolled(ctx, "attribute_disclosure")
    findings = []
    for name, (success, control) in controlled.items():
        if alarming(success, control, len(controlled), ALARM):
            text = (
                f"`{name}` is guessed right of {success.rate:.1%} of the people in the data, of {control.rate:.1%} of"
                f" those outside; chance does this in fewer than {ALARM:g} of all releases"
            )
            findings.append(Finding("PPF863", Severity.WARNING, text, f"{ctx.release}.{name}"))
    return tuple(findings)


def _nothing(why: str) -> AuditOutcome:
    return AuditOutcome({"risk": Figure(None, "share", note=why)})


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """The release as a table to look up in: ``points`` of the known columns, ``labels`` by descending frequency.

    ``label_of`` turns a code of the sensitive column into a label; -1 where the release does not have it.
    """

    known: tuple[int, ...]
    wanted: int
    points: RecordPoints
    weights: Integers
    labels: Integers
    label_of: Integers


def learn(released: Records, known: Sequence[int], wanted: int, codes: int) -> Knowledge | None:
    """Return what the release teaches of column ``wanted``, of ``codes`` codes; None where it holds no value of it.

    A sensitive number is wanted as its declared interval.
    """
    secret = released.coarse[:, wanted]
    valued = np.flatnonzero(secret >= SPECIALS)
    if not len(valued):
        return None
    first, copies, _ = distinct(np.column_stack([released.cells[valued][:, list(known)], secret[valued]]))
    rows = valued[first]
    share = np.bincount(secret[valued], minlength=codes)
    order = np.argsort(-share, kind="stable")[: np.count_nonzero(share)]
    label_of = np.full(codes, -1, dtype=np.int64)
    label_of[order] = np.arange(len(order))
    return Knowledge(tuple(known), wanted, released.take(rows).points(known), copies, label_of[secret[rows]], label_of)


def attack(people: Records, knowledge: Knowledge) -> Success | None:
    """Attack each person whose sensitive value is known; None where there are none."""
    secret = people.coarse[:, knowledge.wanted]
    valued = np.flatnonzero(secret >= SPECIALS)
    if not len(valued):
        return None
    chosen = people.take(valued)
    first, copies, place = distinct(chosen.cells[:, list(knowledge.known)])
    points = chosen.take(first).points(knowledge.known)
    far, label, kinds = guesses(points, knowledge.points, knowledge.weights, knowledge.labels)
    truth = knowledge.label_of[secret[valued]]
    exact = far == 0
    return Success(
        people=len(chosen),
        right=int((label[place] == truth).sum()),
        prior=int((truth == 0).sum()),
        exact=int(copies[exact].sum()),
        groups=int(exact.sum()),
        homogeneous=int((kinds[exact] == 1).sum()),
        least_values=int(kinds[exact].min()) if exact.any() else None,
    )


@dataclass(frozen=True, slots=True)
class DisclosureRisk:
    """(success - other) / (1 - other): of the guesses that fail otherwise, how many the release mends.

    The other is the success on people held out, of whom the release knows nothing; without any, that of guessing the
    most frequent value.
    """

    value: float
    interval: tuple[float, float]


def risk(success: Success, control: Success | None) -> DisclosureRisk:
    """Return the risk, its interval by that of the difference; 0 where nothing fails otherwise."""
    other, people = success.prior / success.people, success.people
    if control is not None:
        other, people = control.rate, control.people
    room = 1 - other
    if room <= 0:
        return DisclosureRisk(0.0, (0.0, 0.0))
    low, high = newcombe(success.rate, success.people, other, people)
    return DisclosureRisk((success.rate - other) / room, (low / room, min(1.0, high / room)))


def alarming(success: Success, control: Success, attacks: int, error: float) -> bool:
    """Whether so much better a rate is too rare by chance in any of ``attacks``."""
    z = one_sided(error / attacks)
    return newcombe(success.rate, success.people, control.rate, control.people, z)[0] > 0
