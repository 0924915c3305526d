"""The linkage attack: rows that someone with a list of people and the release recognizes.

The attacker reads each released label as the values that it may hide (``476**``, ``[20, 30)``, ``>= 40``, a label of
the policy's hierarchy, a suppressed cell) and keeps the rows that fit a person. A single row that fits is the person's,
if the person is in the release; several rows with one sensitive value reveal that value (Sweeney 2002).

Where the policy counts people, see :mod:`ppdm_flow.audits.linkage.algorithm`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy.stats import binom

from ppdm_flow.audits.labels.covering import cover
from ppdm_flow.audits.labels.file import IDENTITY, known_columns, read
from ppdm_flow.audits.labels.joining import LabelIndex, Matches, look_up
from ppdm_flow.audits.labels.released import ReleasedClasses, classes, hierarchy_of
from ppdm_flow.audits.labels.unreadable import UnreadableLabels, gate_nothing, of_file, of_release
from ppdm_flow.audits.linkage.nearest import FEWEST, LOOKS, NearestRows, nearest
from ppdm_flow.audits.linkage.people import KindsOfPeople, file_of, linked_by, named_by, people_of
from ppdm_flow.audits.linkage.spec import LinkageParams
from ppdm_flow.audits.records.columns import quasi_identifiers, truthful
from ppdm_flow.audits.records.members import counts_people, refuse_rows, untold
from ppdm_flow.audits.records.proportions import ALARM, wilson
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.exposure.paired import paired_counts
from ppdm_flow.mining.releases.attributes import listed, released, source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.column import SPECIALS, Column
from ppdm_flow.tables.counts import Counts, count, merge
from ppdm_flow.tables.table import Table

NAMES = ("matched", "linked", "linked_share", "learned", "precision", "recall")
NEAREST = ("nearest_precision", "nearest_recall", "guessing")
NO_TRUTH = "nobody knows whose row is whose: rows cannot be paired, or `truth:` does not say by what"
Ints = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]


class LinkageAudit:
    """Looks everybody up."""

    def __init__(self, params: LinkageParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return how many people are found, what is learned of them, and how often that is right."""
        columns = quasi_identifiers(self.params.attributes, candidate, ctx)
        secrets = (
            candidate.schema.having(Role.SENSITIVE)
            if self.params.sensitive is None
            else released(self.params.sensitive, candidate, ctx)
        )
        columns = tuple(c for c in columns if c not in secrets)
        columns = linked_by(self.params, columns, original, ctx) if columns else ()
        if not columns:
            return _nothing("no quasi-identifier is released that the attacker knows")
        if counts_people(ctx):
            attack = attack_people(self.params, columns, secrets, original, candidate, ctx)
        else:
            attack = _carried_out(self.params, classes(candidate, columns, secrets), original, ctx)
        if attack is None:
            return _nothing("there are no rows or no people")
        outcome = AuditOutcome(
            _figures(attack, untold(ctx)), findings=findings(attack, self.params, ctx), charts=(chart(attack),)
        )
        outcome = gate_nothing(outcome, _unread(attack, self.params, original, ctx), ctx, "linkage")
        return refuse_rows(outcome, ctx)


def _carried_out(
    params: LinkageParams, known: ReleasedClasses, original: DataView, ctx: AuditContext
) -> LinkageAttack | None:
    people = people_of(params, known, original, ctx)
    if len(known) == 0 or people.total == 0:
        return None
    index = known.index(people.values, ctx)
    matches, weights = look_up(people.codes, people.persons, index)
    near = None
    if params.sample and people.own is not None and (people.own >= 0).any():
        labels, values = known.categories, people.values
        near = approximate(
            people, nearest(people.codes, people.persons, people.own, labels, values, index, params.sample)
        )
    return LinkageAttack(people, known, matches, weights, exact(people, matches, weights), near, known.total)


def _unread(
    attack: LinkageAttack, params: LinkageParams, original: DataView, ctx: AuditContext
) -> Iterator[UnreadableLabels | None]:
    """Yield what the attacker could not read, of the release and of the file."""
    known, people = attack.known, attack.people
    for column, labels, values in zip(known.columns, known.categories, people.values, strict=True):
        source, hierarchy = source_of(column, ctx), hierarchy_of(column, ctx)
        true = original.domain(source) if source in original.schema else values
        yield of_release(column, labels, true, hierarchy, ctx)
        if params.external is not None:
            fits = cover(labels, values, hierarchy, ctx.nulls, ctx.home)
            yield of_file(column, values, true, fits, hierarchy, ctx)


def _figures(attack: LinkageAttack, counted: str) -> dict[str, Figure]:
    matches, linked = attack.matches, attack.share(attack.matches.linked)
    some = attack.share(matches.rows > 0)
    sampled = "; ".join(n for n in ("" if linked.complete else "of the people looked up", counted) if n)
    single = "exactly one released row fits" if attack.unit == "rows" else "only rows of one person fit"
    figures = {
        "matched": some.figure("people whom some released row fits"),
        "linked": Figure(int(linked.hits), "people", sample=None if linked.complete else linked.size, note=sampled),
        "linked_share": linked.figure(f"people whom {single}"),
    }
    learned = {s: attack.share(matches.certain(i)) for i, s in enumerate(attack.known.secrets)}
    note = "people whom only rows with one value fit"
    figures |= {f"{s}.learned": share.figure(note) for s, share in learned.items()}
    worst = max(learned.values(), key=lambda s: s.hits, default=None)
    none = Figure(None, "share", note="no sensitive attribute is released")
    figures["learned"] = none if worst is None else worst.figure(note)
    return figures | _judged(attack)


def _judged(attack: LinkageAttack) -> dict[str, Figure]:
    figures = {n: Figure(None, "share", note=NO_TRUTH) for n in (*NAMES[4:], *NEAREST)}
    one = "row" if attack.unit == "rows" else "person"
    figures["guessing"] = Figure(1.0 / attack.released, "share", note=f"who picks any {one} is right so often")
    if attack.judged is not None:
        missing_reason = "" if attack.judged.claims else "nobody is linked"
        figures["precision"] = attack.judged.precision.figure(missing_reason)
        figures["recall"] = attack.judged.recall.figure("people with a released row who are linked to it")
    if attack.near is not None:
        missing_reason = "" if attack.near.claims else "nobody has a single nearest row"
        figures["nearest_precision"] = attack.near.precision.figure(missing_reason)
        figures["nearest_recall"] = attack.near.recall.figure("people whose single nearest row is theirs")
    return figures


def _nothing(why: str) -> AuditOutcome:
    return AuditOutcome({n: Figure(None, "share", note=why) for n in (*NAMES, *NEAREST)})


# The same attack where people are counted: somebody who has several rows is found by any of them.
#
# Each row of a person is looked up by itself. It finds the person where all rows that fit are one person's, however
# many these are. A value is learned where all rows that fit have it, or where it is the first of those that everybody
# has in each class that fits. With one row a person all figures are those of rows.


_PERSON = "\0person"
_EVERYBODY = 1 << 62


@dataclass(frozen=True, slots=True)
class RowsBySubject:
    """Released rows to be counted, by the ``subject`` as well, which is called ``_PERSON``."""

    candidate: DataView
    pairs: PairedView
    subject: str

    def counts(self, columns: Sequence[str]) -> Counts:
        """Return distinct combinations with their rows; the person may only come last."""
        if _PERSON not in columns:
            return self.candidate.counts(columns)
        counts = paired_counts(self.candidate, self.pairs, columns[:-1], [self.subject])
        return Counts(tuple(columns), counts.categories, counts.codes, counts.counts)


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """People whose rows the attacker knows: dense ``codes`` (kinds, columns) in ``values``.

    Pair i says that ``target[i]`` has a row of ``kind[i]``; targets are numbered by the first kind that they have.
    ``own`` (targets,) says who each is, ``whose`` (released people,) the same of the released people; None where nobody
    knows. ``names`` (targets,) are those of the file.
    """

    codes: Ints
    values: tuple[pa.StringArray, ...]
    kind: Ints
    target: Ints
    own: Ints | None
    whose: Ints | None
    names: Column | None = None

    @property
    def number(self) -> int:
        """How many people are known."""
        return int(self.target.max(initial=-1)) + 1

    def evenly(self, size: int, among: Ints) -> Ints:
        """Return which pairs belong to at most ``size`` of these targets, evenly spaced."""
        number = min(size, len(among))
        chosen = np.zeros(self.number, dtype=np.bool_)
        chosen[among[np.arange(number) * len(among) // max(1, number)]] = True
        return np.flatnonzero(chosen[self.target])


def attack_people(
    params: LinkageParams,
    columns: Sequence[str],
    secrets: Sequence[str],
    original: DataView,
    candidate: DataView,
    ctx: AuditContext,
) -> LinkageAttack | None:
    """Look everybody up; None where there is nobody or nothing. Raises DataError where the file cannot be used."""
    if ctx.people is None or ctx.pairs is None:
        raise ValueError("no column says whose the released rows are, so people cannot be counted")
    rows = RowsBySubject(candidate, ctx.pairs, ctx.people.subject)
    known = _classes(rows, columns, secrets)
    released = int((rows.counts((_PERSON,)).counts > 0).sum())
    persons = known.values[-1]
    if params.external is None:
        targets = _originals(columns, persons, ctx.pairs, ctx.people.subject, ctx)
    else:
        targets = _of_file(params, known, persons, original, ctx)
    if len(known) == 0 or targets.number == 0:
        return None
    index = known.index(targets.values, ctx)
    at, matches = _looked_up(targets, index)
    attack = _persons_judged(targets, known, at, matches, released)
    if (
        params.sample
        and targets.own is not None
        and targets.whose is not None
        and np.isin(targets.own, targets.whose).any()
    ):
        attack = replace(attack, near=_nearest(targets, known, index, params.sample))
    return attack


def _classes(rows: RowsBySubject, columns: Sequence[str], secrets: Sequence[str]) -> ReleasedClasses:
    """Return classes with their people for rows, and the person as a last secret."""
    known = classes(rows, columns, (*secrets, _PERSON))
    people = np.zeros(len(known), dtype=np.int64)
    counts = rows.counts((*columns, _PERSON))
    np.add.at(people, known.places(counts), (counts.counts > 0).astype(np.int64))
    for i, secret in enumerate(secrets):
        where, value = _everybodys(rows, known, people, (*columns, secret))
        known.low[i][where] = known.high[i][where] = value
    return replace(known, rows=people)


def _everybodys(rows: RowsBySubject, known: ReleasedClasses, people: Ints, columns: Sequence[str]) -> tuple[Ints, Ints]:
    """Return the classes where everybody has some value of the last column, and the first such value."""
    counts = rows.counts((*columns, _PERSON))
    place, codes = known.places(counts), counts.of(columns[-1]).astype(np.int64)
    shown = (codes >= 0) & (counts.counts > 0)
    pairs, holders = np.unique(np.stack([place[shown], codes[shown]], axis=1), axis=0, return_counts=True)
    pairs = pairs[holders == people[pairs[:, 0]]]
    where, first = np.unique(pairs[:, 0], return_index=True)
    names = counts.names(columns[-1])
    onto = pc.index_in(names, value_set=known.values[known.secrets.index(columns[-1])])
    code = onto.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return where, code[pairs[first, 1]] if len(code) else pairs[first, 1]


def _originals(
    columns: Sequence[str], persons: pa.StringArray, pairs: PairedView, subject: str, ctx: AuditContext
) -> Targets:
    """Return everybody who has a released row, by what the original says of these rows."""
    sources = [source_of(c, ctx) for c in columns]
    every = [*sources, subject]
    named = [f"\0{i}" for i in range(len(every))]
    parts = []
    for left, _ in pairs.pairs(list(dict.fromkeys(every)), []):
        parts.append(count(Table({n: left[s] for n, s in zip(named, every, strict=True)}, left.rows), named))
    counts = merge(parts) if parts else count(Table.of({n: [] for n in named}), named)
    kinds = counts.project(named[:-1])
    kind, _ = counts.groups(named[:-1])
    onto = pc.index_in(counts.names(named[-1]), value_set=persons).fill_null(-1)
    person = onto.to_numpy(zero_copy_only=False).astype(np.int64)[counts.of(named[-1])] if len(counts) else kind
    target, own = _numbered(person, kind)
    codes = np.stack([kinds.of(n).astype(np.int64) + SPECIALS for n in named[:-1]], axis=1)
    values = tuple(kinds.names(n) for n in named[:-1])
    return Targets(codes, values, kind, target, own, np.arange(len(persons), dtype=np.int64))


def _numbered(who: Ints, kind: Ints) -> tuple[Ints, Ints]:
    """Number people by the first kind that each has; return the number of each entry, and who each number is."""
    names, place = np.unique(who, return_inverse=True)
    first = np.full(len(names), np.iinfo(np.int64).max)
    np.minimum.at(first, place.reshape(-1), kind)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[place.reshape(-1)], names[order]


def _of_file(
    params: LinkageParams, known: ReleasedClasses, persons: pa.StringArray, original: DataView, ctx: AuditContext
) -> Targets:
    """Return the people of the file: lines of one identity are one person's."""
    file = file_of(params, ctx)
    table = read(file, known_columns(file, [(c, source_of(c, ctx)) for c in known.columns]))
    codes = np.stack([table[c].dense.astype(np.int64) for c in known.columns], axis=1)
    values = tuple(table[c].categories for c in known.columns)
    lines = np.arange(len(table), dtype=np.int64)
    if not params.identity:
        return Targets(codes, values, lines, lines, None, None)
    names = table[IDENTITY]
    who = np.where(names.codes >= 0, names.codes.astype(np.int64), len(names.categories) + lines)
    target, own = _numbered(who, lines)
    first = np.zeros(len(own), dtype=np.int64)
    first[target[::-1]] = lines[::-1]
    whose = _whose(params.truth, names, persons, original, ctx) if params.truth else None
    return Targets(codes, values, lines, target, own if whose is not None else None, whose, names.take(first))


def _whose(truth: str, names: Column, persons: pa.StringArray, original: DataView, ctx: AuditContext) -> Ints | None:
    """Return which identity of the file each released person is, -1 for none of them."""
    if ctx.pairs is None or ctx.people is None or truth not in original.schema:
        return None
    whose = np.full(len(persons), -1, dtype=np.int64)
    for left, _ in ctx.pairs.pairs(list(dict.fromkeys([truth, ctx.people.subject])), []):
        who = named_by(left[ctx.people.subject], persons)
        identity = named_by(left[truth], names.categories)
        some = (who >= 0) & (identity >= 0)
        whose[who[some][::-1]] = identity[some][::-1]
    return whose


def _looked_up(targets: Targets, index: LabelIndex) -> tuple[Ints, Matches]:
    """Return which pairs were looked up, and what fits each: all, or those of some people, evenly spaced."""
    many = np.bincount(targets.kind, minlength=len(targets.codes)).astype(np.int64)
    matches, weights = look_up(targets.codes, many, index)
    if (weights == many).all():
        at = np.arange(len(targets.kind), dtype=np.int64)
        return at, _taken(matches, targets.kind)
    size = max(1, int(weights.sum()) * targets.number // len(targets.kind))
    at = targets.evenly(size, np.arange(targets.number))
    kinds, place = np.unique(targets.kind[at], return_inverse=True)
    matches, _ = look_up(targets.codes[kinds], np.ones(len(kinds), dtype=np.int64), index, _EVERYBODY)
    return at, _taken(matches, place.reshape(-1))


def _taken(matches: Matches, places: Ints) -> Matches:
    sides = (side[:, places] for side in (matches.low, matches.high))
    return Matches(matches.rows[places], matches.kinds[places], matches.first[places], *sides)


def _persons_judged(
    targets: Targets, known: ReleasedClasses, at: Ints, matches: Matches, released: int
) -> LinkageAttack:
    """Bring together what fits the rows of each person: ``matches`` are those of the pairs ``at``."""
    number, target = targets.number, targets.target[at]
    linked = matches.certain(len(known.secrets) - 1)
    weights = np.zeros(number, dtype=np.int64)
    weights[target] = 1
    fewest = np.full(number, np.iinfo(np.int64).max)
    people = np.where(linked, 1, np.where(matches.rows == 1, 1, matches.rows))
    some = matches.rows > 0
    np.minimum.at(fewest, target[some], people[some])
    person_matches = Matches.nothing(number, len(known.secrets) - 1)
    person_matches.rows[:] = np.where(fewest == np.iinfo(np.int64).max, 0, fewest)
    person_matches.low[:] = person_matches.high[:] = -1
    for i in range(len(known.secrets) - 1):
        sure = np.flatnonzero(matches.certain(i))[::-1]
        person_matches.low[i][target[sure]] = person_matches.high[i][target[sure]] = matches.low[i][sure]
    everybody = KindsOfPeople(
        np.zeros((number, 0), dtype=np.int64), targets.values, np.ones(number, dtype=np.int64), None, targets.names
    )
    shown = replace(
        known, secrets=known.secrets[:-1], values=known.values[:-1], low=known.low[:-1], high=known.high[:-1]
    )
    judged = _quality(targets, target, linked, matches.low[-1], weights > 0)
    return LinkageAttack(everybody, shown, person_matches, weights, judged, None, released, "people")


def _quality(targets: Targets, target: Ints, claimed: Truths, who: Ints, looked_up: Truths) -> LinkQuality | None:
    """Judge claims that ``target[i]`` is the released person ``who[i]``; None where nobody knows."""
    if targets.own is None or targets.whose is None:
        return None
    there = looked_up & np.isin(targets.own, targets.whose)
    right = claimed & (targets.whose[np.where(claimed, who, 0)] == targets.own[target])
    claims, correct = (len(np.unique(target[which])) for which in (claimed, right))
    return LinkQuality(claims, correct, int(there.sum()), bool(looked_up.all()))


def _nearest(targets: Targets, known: ReleasedClasses, index: LabelIndex, sample: int) -> LinkQuality | None:
    """Judge the nearest rows that are all one person's, of some people who have a released row."""
    if targets.own is None or targets.whose is None:
        return None
    among = np.flatnonzero(np.isin(targets.own, targets.whose))
    most = max(FEWEST, LOOKS // max(1, index.classes.size))
    size = min(sample, most, len(among))
    at = targets.evenly(size, among)
    if len(at) > max(size, min(sample, most)):
        at = targets.evenly(max(1, size * min(sample, most) // len(at)), among)
    kinds, place = np.unique(targets.kind[at], return_inverse=True)
    ones = np.ones(len(kinds), dtype=np.int64)
    nearest_rows = nearest(
        targets.codes[kinds], ones, np.zeros(len(kinds), dtype=np.int64), known.categories, targets.values, index,
        len(kinds),
        (known.low[-1], known.high[-1]),
    )  # fmt: skip
    who = nearest_rows.who[place.reshape(-1)]
    looked_up = np.zeros(targets.number, dtype=np.bool_)
    looked_up[targets.target[at]] = True
    quality = _quality(targets, targets.target[at], who >= 0, who, looked_up)
    return None if quality is None else replace(quality, complete=quality.released == len(among))


# A linkage attack: links between people and released rows, counted, and judged where the truth is known.


@dataclass(frozen=True, slots=True)
class HitShare:
    """``hits`` of ``size`` persons; ``complete``: these are all persons, and no sample."""

    hits: float
    size: int
    complete: bool = True

    def figure(self, note: str = "", unit: str = "share") -> Figure:
        """Return the share, with its 95 % interval (Wilson) where it is of a sample."""
        if self.size == 0:
            return Figure(None, unit, note=note or "there is nobody to ask about")
        share = self.hits / self.size
        interval = None if self.complete else wilson(share, self.size)
        return Figure(share, unit, interval, None if self.complete else self.size, note)


@dataclass(frozen=True, slots=True)
class LinkQuality:
    """Of ``claims`` (persons with a single best row) ``correct`` are right; ``released`` persons have a row."""

    claims: int
    correct: int
    released: int
    complete: bool

    @property
    def precision(self) -> HitShare:
        """How many of the claims are right."""
        return HitShare(self.correct, self.claims, self.complete)

    @property
    def recall(self) -> HitShare:
        """How many of those who have a row are found."""
        return HitShare(self.correct, self.released, self.complete)

    def alarming(self, rows: int) -> bool:
        """Whether guessing one of all released rows would hardly ever be right so often."""
        if self.correct == 0 or rows == 0:
            return False
        return bool(binom.sf(self.correct - 1, self.claims, 1.0 / rows) < ALARM)


def exact(people: KindsOfPeople, matches: Matches, weights: Integers) -> LinkQuality | None:
    """Judge the rows that are the only ones that fit; None where nobody knows whose they are."""
    if people.own is None:
        return None
    linked, own = matches.linked, people.own
    right = linked & (matches.first == own)
    claims, correct, released = (int(weights[which].sum()) for which in (linked, right, own >= 0))
    return LinkQuality(claims, correct, released, bool((weights == people.persons).all()))


def approximate(people: KindsOfPeople, nearest_classes: NearestRows) -> LinkQuality:
    """Judge the rows that are the only nearest ones."""
    single = nearest_classes.rows == 1
    claims, correct = (int(nearest_classes.persons[which].sum()) for which in (single, single & nearest_classes.among))
    complete = bool(people.own is not None and nearest_classes.persons.sum() == people.persons[people.own >= 0].sum())
    return LinkQuality(claims, correct, int(nearest_classes.persons.sum()), complete)


@dataclass(frozen=True, slots=True, eq=False)
class LinkageAttack:
    """The result of one attack; ``weights`` (kinds,) persons of each kind were looked up.

    ``released`` are the rows of the release, or the people who have some: ``unit`` says which.
    """

    people: KindsOfPeople
    known: ReleasedClasses
    matches: Matches
    weights: Integers
    judged: LinkQuality | None
    near: LinkQuality | None
    released: int
    unit: str = "rows"

    @property
    def size(self) -> int:
        """How many persons were looked up."""
        return int(self.weights.sum())

    def share(self, which: npt.NDArray[np.bool_]) -> HitShare:
        """Return these kinds of people as a share of those looked up."""
        return HitShare(int(self.weights[which].sum()), self.size, self.size == self.people.total)


# What links mean, in sentences and a picture.


MOST = 5
"""People who are named, where values may be shown."""


_CROWDS = {
    "rows": "one row that fits is found; many that fit are a crowd to hide in",
    "people": "one person who fits is found; many who fit are a crowd to hide in. At most so many fit, by the row of"
    " each that fits fewest",
}


def findings(attack: LinkageAttack, params: LinkageParams, ctx: AuditContext) -> tuple[Finding, ...]:
    """Return what a reader should know. Links that are no better than guessing are no finding."""
    subject = f"{ctx.release}.linkage"
    if params.external is not None:
        subject += f".{params.external}"
    return tuple(Finding("PPF890", Severity.WARNING, text, s) for text, s in _texts(attack, params, ctx, subject))


def _texts(attack: LinkageAttack, params: LinkageParams, ctx: AuditContext, subject: str) -> Iterator[tuple[str, str]]:
    who = "the file" if params.external is not None else "the original"
    columns, size = attack.known.columns, attack.size
    linked = int(attack.weights[attack.matches.linked].sum())
    if linked and _true(columns, attack, ctx):
        right = ""
        if attack.judged is not None:
            right = f"; of these links {attack.judged.correct:,} are right"
        names = _names(attack, ctx)
        what = "exactly one released row" if attack.unit == "rows" else "released rows of one person only"
        theirs = "that row is theirs" if attack.unit == "rows" else "these are theirs"
        text = (
            f"a reader who knows {listed(columns)} finds {what} for {linked:,} of"
            f" {_people(size)} of {who}{right}: {theirs}, if they are in the release{names}"
        )
        yield text, subject
    for i, secret in enumerate(attack.known.secrets):
        learned = int((attack.weights * attack.matches.certain(i)).sum())
        if learned and truthful((*columns, secret), ctx):
            fit = "all released rows that fit them have" if attack.unit == "rows" else "everybody who fits them has"
            text = (
                f"`{secret}` is certain for {learned:,} of {_people(size)} of {who}: {fit} one"
                f" value{_values(attack, i, ctx)}"
            )
            yield text, f"{subject}.{secret}"
    if attack.near is not None and attack.near.alarming(attack.released) and not linked:
        text = (
            f"the released row nearest to a person is theirs for {attack.near.correct:,} of"
            f" {_people(attack.near.released)} asked about, far more often than by guessing"
        )
        yield text, f"{subject}.nearest"


def _true(columns: tuple[str, ...], attack: LinkageAttack, ctx: AuditContext) -> bool:
    """Whether links are more than chance: by the truth where it is known, else where labels say what is true."""
    if attack.judged is not None:
        return attack.judged.alarming(attack.released)
    return truthful(columns, ctx)


def _names(attack: LinkageAttack, ctx: AuditContext) -> str:
    """Name some of the people who were found, where values may be shown."""
    names = attack.people.identities
    if names is None or not ctx.show_values:
        return ""
    shown = names.take(np.flatnonzero(attack.matches.linked & (attack.weights > 0))[:MOST]).texts()
    return f" ({', '.join(t or 'somebody' for t in shown)})"


def _values(attack: LinkageAttack, secret: int, ctx: AuditContext) -> str:
    """Say which values are learned of which people, where values may be shown."""
    names = attack.people.identities
    if names is None or not ctx.show_values:
        return ""
    places = np.flatnonzero(attack.matches.certain(secret) & (attack.weights > 0))[:MOST]
    values = attack.known.values[secret].to_pylist()
    pairs = zip(names.take(places).texts(), attack.matches.low[secret][places].tolist(), strict=True)
    each = [f"{name or 'somebody'}: {values[value]}" for name, value in pairs]
    return f" ({'; '.join(each)})"


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def chart(attack: LinkageAttack) -> Chart:
    """Return bars: the share of the people by how many released rows fit them."""
    edges = (0, 1, 2, 5, 10, 50, 100)
    names = ("none", "1", "2 to 4", "5 to 9", "10 to 49", "50 to 99", "100 or more")
    place = np.searchsorted(edges, attack.matches.rows, side="right") - 1
    shares = np.bincount(place, attack.weights, len(edges)) / attack.size
    return Chart(
        id="fits",
        title=f"Released {attack.unit} that fit a known person",
        kind="bars",
        x=names,
        series=(FigureSeries("people", tuple(shares.tolist())),),
        x_label=f"released {attack.unit}",
        y_label="share of the people",
        note=_CROWDS[attack.unit],
    )
