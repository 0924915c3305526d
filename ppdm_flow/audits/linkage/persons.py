"""The same attack where people are counted: somebody who has several rows is found by any of them.

Each row of a person is looked up by itself. It finds the person where all rows that fit are one person's, however many
these are. A value is learned where all rows that fit have it, or where it is the first of those that everybody has in
each class that fits. With one row a person all figures are those of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.audits.labels.file import IDENTITY, known_columns, read
from ppdm_flow.audits.labels.joining import LabelIndex, Matches, look_up
from ppdm_flow.audits.labels.released import ReleasedClasses, classes
from ppdm_flow.audits.linkage.links import LinkageAttack, LinkQuality
from ppdm_flow.audits.linkage.nearest import FEWEST, LOOKS, nearest
from ppdm_flow.audits.linkage.people import KindsOfPeople, file_of, named_by
from ppdm_flow.audits.linkage.spec import LinkageParams
from ppdm_flow.mining.exposure.paired import paired_counts
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.column import SPECIALS, Column
from ppdm_flow.tables.counts import Counts, count, merge
from ppdm_flow.tables.table import Table

Ints = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

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
        raise ValueError("nothing says whose the released rows are")
    rows = RowsBySubject(candidate, ctx.pairs, ctx.people.subject)
    known = _classes(rows, columns, secrets)
    released = int((rows.counts((_PERSON,)).counts > 0).sum())
    persons = known.values[-1]
    if params.external is None:
        told = _originals(columns, persons, ctx.pairs, ctx.people.subject, ctx)
    else:
        told = _of_file(params, known, persons, original, ctx)
    if len(known) == 0 or told.number == 0:
        return None
    index = known.index(told.values, ctx)
    at, matches = _looked_up(told, index)
    attack = _judged(told, known, at, matches, released)
    if params.sample and told.own is not None and told.whose is not None and np.isin(told.own, told.whose).any():
        attack = replace(attack, near=_nearest(told, known, index, params.sample))
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


def _looked_up(told: Targets, index: LabelIndex) -> tuple[Ints, Matches]:
    """Return which pairs were looked up, and what fits each: all, or those of some people, evenly spaced."""
    many = np.bincount(told.kind, minlength=len(told.codes)).astype(np.int64)
    matches, weights = look_up(told.codes, many, index)
    if (weights == many).all():
        at = np.arange(len(told.kind), dtype=np.int64)
        return at, _taken(matches, told.kind)
    size = max(1, int(weights.sum()) * told.number // len(told.kind))
    at = told.evenly(size, np.arange(told.number))
    kinds, place = np.unique(told.kind[at], return_inverse=True)
    matches, _ = look_up(told.codes[kinds], np.ones(len(kinds), dtype=np.int64), index, _EVERYBODY)
    return at, _taken(matches, place.reshape(-1))


def _taken(matches: Matches, places: Ints) -> Matches:
    sides = (side[:, places] for side in (matches.low, matches.high))
    return Matches(matches.rows[places], matches.kinds[places], matches.first[places], *sides)


def _judged(told: Targets, known: ReleasedClasses, at: Ints, matches: Matches, released: int) -> LinkageAttack:
    """Bring together what fits the rows of each person: ``matches`` are those of the pairs ``at``."""
    number, target = told.number, told.target[at]
    linked = matches.certain(len(known.secrets) - 1)
    weights = np.zeros(number, dtype=np.int64)
    weights[target] = 1
    fewest = np.full(number, np.iinfo(np.int64).max)
    people = np.where(linked, 1, np.where(matches.rows == 1, 1, matches.rows))
    some = matches.rows > 0
    np.minimum.at(fewest, target[some], people[some])
    found = Matches.nothing(number, len(known.secrets) - 1)
    found.rows[:] = np.where(fewest == np.iinfo(np.int64).max, 0, fewest)
    found.low[:] = found.high[:] = -1
    for i in range(len(known.secrets) - 1):
        sure = np.flatnonzero(matches.certain(i))[::-1]
        found.low[i][target[sure]] = found.high[i][target[sure]] = matches.low[i][sure]
    everybody = KindsOfPeople(
        np.zeros((number, 0), dtype=np.int64), told.values, np.ones(number, dtype=np.int64), None, told.names
    )
    shown = replace(
        known, secrets=known.secrets[:-1], values=known.values[:-1], low=known.low[:-1], high=known.high[:-1]
    )
    judged = _quality(told, target, linked, matches.low[-1], weights > 0)
    return LinkageAttack(everybody, shown, found, weights, judged, None, released, "people")


def _quality(told: Targets, target: Ints, claimed: Truths, who: Ints, asked: Truths) -> LinkQuality | None:
    """Judge claims that ``target[i]`` is the released person ``who[i]``; None where nobody knows."""
    if told.own is None or told.whose is None:
        return None
    there = asked & np.isin(told.own, told.whose)
    right = claimed & (told.whose[np.where(claimed, who, 0)] == told.own[target])
    claims, correct = (len(np.unique(target[which])) for which in (claimed, right))
    return LinkQuality(claims, correct, int(there.sum()), bool(asked.all()))


def _nearest(told: Targets, known: ReleasedClasses, index: LabelIndex, sample: int) -> LinkQuality | None:
    """Judge the nearest rows that are all one person's, of some people who have a released row."""
    if told.own is None or told.whose is None:
        return None
    among = np.flatnonzero(np.isin(told.own, told.whose))
    most = max(FEWEST, LOOKS // max(1, index.classes.size))
    size = min(sample, most, len(among))
    at = told.evenly(size, among)
    if len(at) > max(size, min(sample, most)):
        at = told.evenly(max(1, size * min(sample, most) // len(at)), among)
    kinds, place = np.unique(told.kind[at], return_inverse=True)
    ones = np.ones(len(kinds), dtype=np.int64)
    found = nearest(
        told.codes[kinds], ones, np.zeros(len(kinds), dtype=np.int64), known.categories, told.values, index, len(kinds),
        (known.low[-1], known.high[-1]),
    )  # fmt: skip
    who = found.who[place.reshape(-1)]
    asked = np.zeros(told.number, dtype=np.bool_)
    asked[told.target[at]] = True
    quality = _quality(told, told.target[at], who >= 0, who, asked)
    return None if quality is None else replace(quality, complete=quality.released == len(among))
