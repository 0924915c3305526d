"""How often a condition derived from the release fits exactly one person of the original.

To single a person out is to have a condition that fits that person and no other, without knowing who it is; the GDPR's
recital 26 counts it as identification. A condition may fit one person by chance: the same conditions are tried on as
many people held out of the data, and the naive attacker, who never saw a row, has a rate of success as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.audits.labels.covering import LabelCover, cover
from ppdm_flow.audits.labels.forms import are_dates, between, numbers
from ppdm_flow.audits.labels.released import hierarchy_of
from ppdm_flow.audits.labels.unreadable import UnreadableLabels, gate_nothing, of_release
from ppdm_flow.audits.records.columns import NO_HOLDOUT, ColumnPair, beside, truthful, uncontrolled
from ppdm_flow.audits.records.members import counts_people
from ppdm_flow.audits.records.person_samples import PersonSample, knows_people, original_people, released_people
from ppdm_flow.audits.records.proportions import ALARM, newcombe, one_sided, wilson
from ppdm_flow.audits.records.sampling import RecordSample, held_out, sampled, training
from ppdm_flow.audits.singling_out.spec import SinglingOutParams
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.compiled import compiled
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS
from ppdm_flow.tables.table import concat

Integers = npt.NDArray[np.int64]

KEY = 2023
ATTACKS = ("univariate", "multivariate")
FIGURES = ("success", "control", "baseline", "risk")
Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]


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
        if not known:  # no condition fits one row, with any meaning of the labels
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


# Released rows, and people in the data and outside of it, coded for conditions.


@dataclass(frozen=True, slots=True, eq=False)
class LabelLine:
    """One attribute: the labels that cover each value, and where both are numbers how large these are.

    ``low`` and ``high`` (labels,) are the ends of numeric labels, NaN for others; ``least`` and ``most`` (values,)
    those of the values, which are equal for numbers.
    """

    fits: LabelCover
    low: Floats
    high: Floats
    least: Floats
    most: Floats

    @property
    def numeric(self) -> bool:
        """Whether all values are numbers."""
        return len(self.least) > SPECIALS and not bool(np.isnan(self.least[SPECIALS:]).any())

    @property
    def released(self) -> LabelLine:
        """The labels as values of their own: a reader who has only the release takes each for itself."""
        every = np.arange(len(self.low), dtype=np.int64)
        none = np.zeros(len(every), dtype=np.bool_)
        same = LabelCover(np.arange(len(every) + 1, dtype=np.int64), every, none, none)
        return LabelLine(same, self.low, self.high, self.low, self.high)


@dataclass(frozen=True, slots=True, eq=False)
class AttackRows:
    """Dense codes (columns, rows): the ``released`` labels, and the values of people ``inside`` and ``outside``.

    ``whose`` are the numbers of the people whose rows these are, in the same order: of their own each, where rows are
    counted.
    """

    lines: tuple[LabelLine, ...]
    released: Integers
    inside: Integers
    outside: Integers | None
    whose: tuple[Integers, Integers, Integers]


def rows_of(
    columns: Sequence[ColumnPair], original: DataView, candidate: DataView, limit: int, ctx: AuditContext
) -> AttackRows:
    """Read at most ``limit`` rows of each group; as many inside as there are outside, if some are held out."""
    sources = list(dict.fromkeys(c.source for c in columns))
    mine = _released(candidate, [c.column for c in columns], limit, ctx)
    groups = _groups(original, sources, limit, ctx)
    both = concat(g.table for g in groups)
    lines, released, people = [], [], []
    for column in columns:
        left, right = mine.table[column.column].compact(), both[column.source].compact()
        own = hierarchy_of(column.column, ctx)
        fits = cover(left.categories, right.categories, own, ctx.nulls, ctx.home)
        read = np.concatenate([[np.nan] * SPECIALS, numbers(right.categories)])
        lines.append(LabelLine(fits, *_ends(left.categories, dates=are_dates(right.categories)), read, read))
        released.append(left.dense.astype(np.int64))
        people.append(right.dense.astype(np.int64))
    coded, first = np.stack(people), len(groups[0].table)
    others = np.ascontiguousarray(coded[:, first:]) if len(groups) > 1 and len(groups[1].table) else None
    whose = (mine.whose, groups[0].whose, groups[-1].whose)
    return AttackRows(tuple(lines), np.stack(released), np.ascontiguousarray(coded[:, :first]), others, whose)


def _released(candidate: DataView, columns: Sequence[str], limit: int, ctx: AuditContext) -> PersonSample:
    if counts_people(ctx) and ctx.pairs is not None:
        return released_people(ctx.pairs, columns, ctx, limit)
    return _each(sampled(candidate, columns, limit))


def _groups(original: DataView, sources: Sequence[str], limit: int, ctx: AuditContext) -> list[PersonSample]:
    """Return people in the data, and as many people held out of it, if there are any."""
    sides = (False,) if ctx.holdout is None else (False, True)
    if knows_people(original, ctx):
        groups = [original_people(original, sources, ctx, outside=side, most_rows=limit) for side in sides]
    elif ctx.holdout is None:
        groups = [_each(training(original, sources, limit, None))]
    else:
        groups = [_each(each(original, sources, limit, ctx.holdout)) for each in (training, held_out)]
    size = min(g.people for g in groups)
    return [g.fewer(size) for g in groups]


def _each(sample: RecordSample) -> PersonSample:
    """Return rows that are somebody's each."""
    return PersonSample(sample.table, np.arange(len(sample), dtype=np.int64), sample.available)


def _ends(labels: pa.StringArray, *, dates: bool) -> tuple[Floats, Floats]:
    low = np.concatenate([[np.nan] * SPECIALS, numbers(labels, dates=dates)])
    high = low.copy()
    odd = np.flatnonzero(np.isnan(low))
    for place in odd[odd >= SPECIALS].tolist():
        if (span := between(labels[place - SPECIALS].as_py(), dates=dates)) is not None:
            low[place], high[place] = span.low, span.high
    return low, high


# Conditions that an attacker reads off a release, or makes up: what they say, and whom they fit.
#
# Giomi et al. 2023, section 4.1. Univariate: values that occur once in the release, and numbers at least as large as
# the largest there, or as small as the smallest. Multivariate: what one released row says in some attributes, numbers
# from the median on read as bounds from below, others as bounds from above. The naive attacker draws the values of the
# same attributes from all that occur, each as likely, and never looks at a row.
#
# An attacker who has the release utters only what fits exactly one row of it: what fits several singles out nobody
# there.


EQUAL, AT_LEAST, AT_MOST = 0, 1, 2
_TRIES = 20
"""So many conditions are tried at most for each guess that is wanted."""
_WORK = 4_000_000_000
"""So many comparisons of conditions with released rows at most, unless that is fewer than two for each guess."""


@dataclass(frozen=True, slots=True, eq=False)
class Guesses:
    """Conditions (guesses, terms): the ``columns``, -1 for no further one, the ``signs`` and the ``labels``."""

    columns: Integers
    signs: Integers
    labels: Integers

    def __len__(self) -> int:
        return len(self.columns)

    def take(self, places: Integers) -> Guesses:
        """Return the guesses at ``places``."""
        return Guesses(self.columns[places], self.signs[places], self.labels[places])


@dataclass(frozen=True, slots=True, eq=False)
class GuessSearch:
    """``guesses`` that fit exactly one released row each, of ``tried`` conditions; ``complete`` where these are all."""

    guesses: Guesses
    tried: int
    complete: bool


def univariate(rows: AttackRows, attempts: int, rng: np.random.Generator) -> GuessSearch:
    """Return conditions on one attribute that fit one released row; at most ``attempts``, drawn from all there are."""
    by_column = []
    for column, labels in enumerate(rows.released):
        line = rows.lines[column]
        many = _holders(labels, rows.whose[0], len(line.low))
        many[:2] = 0
        by_column += [(column, EQUAL, label) for label in np.flatnonzero(many == 1).tolist()]
        known = np.flatnonzero((many > 0) & np.isfinite(line.low) & np.isfinite(line.high))
        if line.numeric and len(known):
            by_column.append((column, AT_LEAST, int(known[np.argmax(line.low[known])])))
            by_column.append((column, AT_MOST, int(known[np.argmin(line.high[known])])))
    every = np.array(by_column, dtype=np.int64).reshape(-1, 3)
    guesses = _isolating(rows, Guesses(every[:, :1], every[:, 1:2], every[:, 2:]))
    return GuessSearch(_some(guesses, attempts, rng), len(every), complete=True)


def multivariate(rows: AttackRows, attempts: int, combined: int, rng: np.random.Generator) -> GuessSearch:
    """Return conditions on ``combined`` attributes (all, if there are fewer) that fit one released row.

    Each is read off a row that is like no other in all attributes together, since any other row has its double. All
    are tried where they are few; else they are drawn, until ``attempts`` are found or enough were tried.
    """
    alone = _alone(rows.released, rows.whose[0])
    sets = list(combinations(range(len(rows.lines)), min(combined, len(rows.lines))))
    most = max(2 * attempts, min(_TRIES * attempts, _WORK // max(1, rows.released.shape[1])))
    if len(alone) * len(sets) <= most:
        columns = np.repeat(np.array(sets, dtype=np.int64).reshape(len(sets), -1), len(alone), axis=0)
        candidates = _read_off(rows, columns, np.tile(alone, len(sets)))
        return GuessSearch(_some(_isolating(rows, candidates), attempts, rng), len(candidates), complete=True)
    parts: list[Guesses] = []
    tried = 0
    while tried < most and sum(map(len, parts)) < attempts:
        columns = _drawn(len(rows.lines), attempts, combined, rng)
        parts.append(_isolating(rows, _read_off(rows, columns, _some_of_each(alone, rows.whose[0], attempts, rng))))
        tried += attempts
    guesses = Guesses(*(np.concatenate([getattr(f, n) for f in parts]) for n in ("columns", "signs", "labels")))
    return GuessSearch(_some(_distinct(guesses), attempts, rng), tried, complete=False)


def naive(rows: AttackRows, like: Guesses, rng: np.random.Generator) -> Guesses:
    """Return conditions on the same attributes with values drawn from all that occur."""
    labels = np.zeros_like(like.labels)
    for column, seen in enumerate(rows.released):
        here = like.columns == column
        known = np.unique(seen)
        labels[here] = rng.choice(known, int(here.sum()))
    signs = _signs(rows, like.columns, labels) if like.columns.shape[1] > 1 else like.signs
    return Guesses(like.columns, signs, labels)


def singled(lines: Sequence[LabelLine], guesses: Guesses, people: Integers, whose: Integers | None = None) -> Integers:
    """Return whom each guess fits, alone among the ``people``, codes (columns, rows); -1 for nobody or several.

    ``whose`` (rows,) are their numbers, where a person may have several rows.
    """
    owner = np.arange(people.shape[1], dtype=np.int64) if whose is None else whose
    values = np.concatenate([[0], np.cumsum([len(line.least) for line in lines])]).astype(np.int64)
    labels = np.concatenate([[0], np.cumsum([len(line.low) for line in lines])]).astype(np.int64)
    widths = np.array([len(line.low) for line in lines], dtype=np.int64)
    keys = [np.repeat(np.arange(len(line.least)), np.diff(line.fits.starts)) * w + line.fits.labels
            for line, w in zip(lines, widths.tolist(), strict=True)]  # fmt: skip
    places = np.concatenate([[0], np.cumsum([len(k) for k in keys])]).astype(np.int64)
    hits, who = np.zeros(len(guesses), dtype=np.int64), np.full(len(guesses), -1, dtype=np.int64)
    low, high, least, most = (
        np.concatenate([getattr(line, n) for line in lines]) for n in ("low", "high", "least", "most")
    )
    _count(guesses.columns, guesses.signs, guesses.labels, people, owner, values, labels, widths,
           np.concatenate([np.zeros(0, dtype=np.int64), *keys]), places,
           np.concatenate([line.fits.wide for line in lines]), low, high, least, most, hits, who)  # fmt: skip
    return np.where(hits == 1, who, -1)


def _isolating(rows: AttackRows, guesses: Guesses) -> Guesses:
    """Return those that fit exactly one released row."""
    if not len(guesses):
        return guesses
    lines = [line.released for line in rows.lines]
    return guesses.take(np.flatnonzero(singled(lines, guesses, rows.released, rows.whose[0]) >= 0))


def _holders(labels: Integers, whose: Integers, size: int) -> Integers:
    """Return how many people have each label (size,)."""
    people = int(whose.max(initial=-1)) + 1
    if people < len(whose):
        labels = np.unique(labels * people + whose) // people
    return np.bincount(labels, minlength=size).astype(np.int64)


def _some_of_each(alone: Integers, whose: Integers, attempts: int, rng: np.random.Generator) -> Integers:
    """Return rows of people that are drawn, each as likely; of who is drawn again another row, if there is one."""
    who, first, place = np.unique(whose[alone], return_index=True, return_inverse=True)
    rank = np.empty(len(who), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(who))
    order = np.argsort(rank[place.reshape(-1)], kind="stable")
    many = np.bincount(rank[place.reshape(-1)])
    drawn = rng.choice(len(who), attempts)
    begins = np.cumsum(many) - many
    return alone[order[begins[drawn] + np.arange(attempts) % many[drawn]]]


def _alone(released: Integers, whose: Integers) -> Integers:
    """Return the rows of codes (columns, rows) that are like no other, but rows of the same person."""
    keys = np.zeros(released.shape[1], dtype=np.int64)
    for codes in released:
        _, keys = np.unique(keys * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    return np.flatnonzero(_holders(keys, whose, int(keys.max(initial=-1)) + 1)[keys] == 1)


def _read_off(rows: AttackRows, columns: Integers, places: Integers) -> Guesses:
    """Return what the rows at ``places`` say in ``columns`` (guesses, terms), each condition once."""
    labels = rows.released[columns, places[:, None]]
    return _distinct(Guesses(columns, _signs(rows, columns, labels), labels))


def _distinct(guesses: Guesses) -> Guesses:
    every = np.unique(np.concatenate([guesses.columns, guesses.signs, guesses.labels], axis=1), axis=0)
    return Guesses(*np.split(every, 3, axis=1))


def _some(guesses: Guesses, most: int, rng: np.random.Generator) -> Guesses:
    if len(guesses) <= most:
        return guesses
    return guesses.take(np.sort(rng.permutation(len(guesses))[:most]))


def _drawn(many: int, attempts: int, combined: int, rng: np.random.Generator) -> Integers:
    """Draw distinct attributes for each guess, in ascending order."""
    order = np.argsort(rng.random((attempts, many)), axis=1)[:, : min(combined, many)]
    return np.sort(order, axis=1).astype(np.int64)


def _signs(rows: AttackRows, columns: Integers, labels: Integers) -> Integers:
    signs = np.zeros_like(columns)
    for column, line in enumerate(rows.lines):
        if not line.numeric:
            continue
        here = columns == column
        size = line.low[labels[here]]
        ends = np.isfinite(size) & np.isfinite(line.high[labels[here]])
        seen = line.low[rows.released[column]]
        seen = seen[np.isfinite(seen)]
        middle = np.median(seen) if len(seen) else 0.0
        signs[here] = np.where(ends, np.where(size >= middle, AT_LEAST, AT_MOST), EQUAL)
    return signs


@compiled
def _count(
    columns: Integers,
    signs: Integers,
    labels: Integers,
    people: Integers,
    whose: Integers,
    values: Integers,
    offsets: Integers,
    widths: Integers,
    keys: Integers,
    places: Integers,
    wide: Truths,
    low: Floats,
    high: Floats,
    least: Floats,
    most: Floats,
    hits: Integers,
    who: Integers,
) -> Any:
    """Count the people whom each guess fits, up to 2."""
    for g in range(len(columns)):
        for p in range(people.shape[1]):
            fit = True
            for t in range(columns.shape[1]):
                c = columns[g, t]
                label, value = labels[g, t], people[c, p]
                if signs[g, t] == AT_LEAST:
                    fit = least[values[c] + value] >= low[offsets[c] + label]
                elif signs[g, t] == AT_MOST:
                    fit = most[values[c] + value] <= high[offsets[c] + label]
                elif not wide[offsets[c] + label]:
                    key = value * widths[c] + label
                    first, last = places[c], places[c + 1]
                    while first < last:
                        middle = (first + last) // 2
                        if keys[middle] < key:
                            first = middle + 1
                        else:
                            last = middle
                    fit = first < places[c + 1] and keys[first] == key
                if not fit:
                    break
            if fit and (hits[g] == 0 or whose[p] != who[g]):
                hits[g] += 1
                who[g] = whose[p]
                if hits[g] > 1:
                    break
