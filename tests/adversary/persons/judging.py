"""Engine and oracle compared on one case that counts people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from adversary.crowds import Crowd, Question, crowds, kept, readings, split
from adversary.groups import Alone
from adversary.judging import Compared
from adversary.lineage import grouping, sensitive
from adversary.numbers.judging import compared
from adversary.oracle import Judged, _judged, _nothing_told
from adversary.persons.crowds import ALL, SUBJECT, People, Told
from adversary.policies import Case, Policy
from adversary.shares import entropy_l, recursive_l, total
from adversary.trial import Tried

NAMED, OTHER = "\0named", "\0other"


def compare(case: Case) -> Compared:
    """Carry out a case and hold every figure against the oracle's."""
    return compared(case, expected)


def expected(case: Case, tried: Tried) -> list[Judged]:
    """Return what the oracle makes of the release."""
    said = case.policy["people"]["known_rows"]
    found = []
    for name, release in (tried.releases or {}).items():
        who = [case.rows[o][SUBJECT] for o in release.origins]
        people = People(release, who, None if said == ALL else int(said))
        found += [replace(j, release=name) for j in _judge(case.policy, people)]
    return found


def _judge(policy: Policy, people: People) -> Iterator[Judged]:
    privacy = policy["privacy"]
    if "k_anonymity" in privacy:
        clause = privacy["k_anonymity"]
        question = Question(tuple(grouping(clause, policy)), tuple(sensitive(policy)))
        yield from _size(float(clause["k"]), question, people)
    for name, clause in privacy.get("l_diversity", {}).items():
        yield from _diversity(name, clause, policy, people)
    for name, clause in privacy.get("alpha_k", {}).items():
        yield from _alpha(name, clause, policy, people)
    for name, clause in privacy.get("templates", {}).items():
        yield from _template(name, clause, people)
    if "lkc" in privacy:
        yield from _lkc(privacy["lkc"], policy, people)


def _size(bound: float, question: Question, people: People) -> Iterator[Judged]:
    id_ = "privacy.k_anonymity"
    rows = kept(people.release, question)
    if _untellable(question, people, rows):
        yield _judged(id_, "k", None, bound, at_most=False)
        return
    yield _judged(id_, "k", _least(question, people), bound, at_most=False)
    known = people.found(question, rows)
    if known:
        yield _judged(id_, "known_rows_k", min(map(len, known)), bound, at_most=False)


def _least(question: Question, people: People) -> int | None:
    if people.release.nulls == "wildcard" and split(people.release, question)[1]:
        return None
    every = crowds(people.release, question, kept(people.release, question))
    return min((len(people.rows_of(c.rows)) for c in every), default=0)


def _untellable(question: Question, people: People, rows: Sequence[int], *, chances: bool = False) -> bool:
    """Whether several rows of one person tell something that nobody can work out."""
    mixed = bool(split(people.release, question)[1])
    several = bool(rows) and (bool(people.linked(question, rows)) or (chances and people.known != 1))
    return (several and (mixed or people.release.nulls == "wildcard")) or (mixed and people.release.nulls == "wildcard")


def _told(question: Question, name: str, people: People) -> list[tuple[Told, list[Crowd]]]:
    """Return each reading of a secret, with the crowds of its rows."""
    return [
        (r.rows, list(crowds(people.release, question, list(r.rows)))) for r in readings(people.release, question, name)
    ]


def _diversity(name: str, clause: Mapping[str, Any], policy: Policy, people: People) -> Iterator[Judged]:
    id_, bound = f"privacy.l_diversity.{name}", float(clause["l"])
    question = Question(tuple(grouping(clause, policy)), (name,))
    view = Alone(people.release)
    if not view.carries(name):
        yield _nothing_told(id_, "l", bound, at_most=False)
        return
    every = [] if view.blind(question, name) else _told(question, name, people)
    if not every or any(_untellable(question, people, list(told)) for told, _ in every):
        yield _judged(id_, "l", None, bound, at_most=False)
        return
    alone, known = [], []
    for told, here in every:
        alone += [_l_of_crowd(told, crowd, clause, people) for crowd in here]
        known += [_l(told, [i for own in f for i in own], clause, people) for f in people.found(question, list(told))]
    yield _judged(id_, "l", min(alone, default=None), bound, at_most=False)
    if known:
        yield _judged(id_, "known_rows_l", min(known), bound, at_most=False)


def _l_of_crowd(told: Told, crowd: Crowd, clause: Mapping[str, Any], people: People) -> float:
    found = _l(told, crowd.rows, clause, people)
    if clause.get("kind", "distinct") != "entropy":
        return found
    return min(found, entropy_l(total((w, people.distribution(told, part)) for w, part in crowd.parts)))


def _l(told: Told, rows: Sequence[int], clause: Mapping[str, Any], people: People) -> float:
    kind = clause.get("kind", "distinct")
    if kind == "distinct":
        return people.distinct(told, rows)
    shares = people.distribution(told, rows)
    return entropy_l(shares) if kind == "entropy" else recursive_l(shares, Fraction(clause["c"]))


def _alpha(name: str, clause: Mapping[str, Any], policy: Policy, people: People) -> Iterator[Judged]:
    id_, bound = f"privacy.alpha_k.{name}", float(clause["alpha"])
    question = Question(tuple(grouping(clause, policy)), (name,))
    view = Alone(people.release)
    if not view.carries(name):
        yield _nothing_told(id_, "alpha", bound, at_most=True)
        return
    every = [] if view.blind(question, name) else _told(question, name, people)
    if not every or any(_untellable(question, people, list(told), chances=True) for told, _ in every):
        yield _judged(id_, "alpha", None, bound, at_most=True)
        return
    alone, known = [], []
    for told, here in every:
        for value in clause.get("values") or sorted({v for each in told.values() for v in each}):
            one, two = _confidences(question, told, here, value, people)
            alone += one
            known += two
    yield _judged(id_, "alpha", max(alone, default=None), bound, at_most=True)
    if known:
        yield _judged(id_, "known_rows_alpha", max(known), bound, at_most=True)


def _confidences(
    question: Question, told: Told, here: Sequence[Crowd], value: str, people: People
) -> tuple[list[Fraction], list[Fraction]]:
    """Return the confidences in a value for one known row of a person, and for several known rows."""
    alone = [people.confidence(told, crowd.rows, value) for crowd in here]
    alone += [sum((w * people.confidence(told, p, value) for w, p in c.parts), Fraction(0)) for c in here]
    rows = list(told)
    known = [people.confidence(told, [i for o in own for i in o], value) for own in people.found(question, rows)]
    if people.known != 1 and len(people.linked(question, rows)) < len(rows):
        known.append(max(people.chance(question, told, value), _of_both(question, told, value, people)))
    return alone, known


def _of_both(question: Question, told: Told, value: str, people: People) -> Fraction:
    """Return the bound for a reader who knows linked and other rows of one person, one at least of each."""
    rows = list(told)
    linked = people.linked(question, rows)
    if not any(linked & set(own) and set(own) - linked for own in people.rows_of(rows).values()):
        return Fraction(0)
    fewer = replace(people, known=None if people.known is None else people.known - 1)
    groups = [[i for own in crowd for i in own] for crowd in fewer.found(question, rows)]
    share = max(people.confidence(told, group, value) for group in groups)
    return 1 - (1 - share) * (1 - fewer.chance(question, told, value))


def _template(name: str, clause: Mapping[str, Any], people: People) -> Iterator[Judged]:
    id_, bound = f"privacy.templates.{name}", float(clause["confidence"])
    question = Question(tuple(clause["channel"]), tuple(clause["sensitive"]), missing_counts=True)
    view = Alone(people.release)
    there = [a for a in question.secret if view.carries(a)]
    if not there:
        yield _nothing_told(id_, "confidence", bound, at_most=True)
        return
    rows = kept(people.release, question)
    blind = any(view.blind(question, a) for a in there) or _untellable(question, people, rows, chances=True)
    alone, known = [], []
    for attribute in [] if blind else there:
        for told, here in _told(question, attribute, people):
            for value in clause["sensitive"][attribute]:
                meant = _but(told, value) if clause.get("negated") == "true" else told
                one, two = _confidences(question, meant, here, _asked(clause, value), people)
                alone += one
                known += two
    yield _judged(id_, "confidence", None if blind else max(alone, default=Fraction(0)), bound, at_most=True)
    if known:
        yield _judged(id_, "known_rows_confidence", max(known), bound, at_most=True)
    if "min_support" in clause:
        least = None if blind else _least(question, people)
        yield _judged(id_, "smallest_group", least, float(clause["min_support"]), at_most=False)


def _lkc(clause: Mapping[str, Any], policy: Policy, people: People) -> Iterator[Judged]:
    """Judge everything that at most l attributes of each known row reveal; an attribute's values count as one."""
    id_, known, values = "privacy.lkc", grouping(clause, policy), clause.get("sensitive", {})
    secret = tuple(values) or tuple(sensitive(policy))
    bound, most = float(clause["k"]), int(clause["l"])
    view = Alone(people.release)
    there = [a for a in values if view.carries(a)]
    asked = [Question(x, secret) for n in range(most + 1) for x in combinations(known, n)]
    if any(
        _least(q, people) is None
        or _untellable(q, people, kept(people.release, q), chances=bool(there))
        or any(view.blind(q, a) for a in there)
        for q in asked
    ):
        yield _judged(id_, "k", None, bound, at_most=False)
        if "c" in clause:
            yield _judged(id_, "confidence", None, float(clause["c"]), at_most=True)
        return
    yield _judged(id_, "k", min(_least(q, people) or 0 for q in asked), bound, at_most=False)
    linked = [len(f) for q in asked for f in people.found(q, kept(people.release, q))]
    if linked:
        yield _judged(id_, "known_rows_k", min(linked), bound, at_most=False)
    if "c" not in clause:
        return
    alone, further = [], []
    for question in asked:
        for attribute in there:
            for told, here in _told(question, attribute, people):
                one, two = _confidences(question, _any_of(told, values[attribute]), here, NAMED, people)
                alone += one
                further += two
    yield _judged(id_, "confidence", max(alone, default=Fraction(0)), float(clause["c"]), at_most=True)
    if further:
        yield _judged(id_, "known_rows_confidence", max(further), float(clause["c"]), at_most=True)


def _any_of(told: Told, values: Sequence[str]) -> dict[int, dict[str, Fraction]]:
    """Return what rows reveal of having any of some values, and none of them."""
    share = {i: sum((shares.get(v, Fraction(0)) for v in values), Fraction(0)) for i, shares in told.items()}
    return {i: {v: s for v, s in ((NAMED, own), (OTHER, 1 - own)) if s} for i, own in share.items()}


def _asked(clause: Mapping[str, Any], value: str) -> str:
    return OTHER if clause.get("negated") == "true" else value


def _but(told: Told, value: str) -> dict[int, dict[str, Fraction]]:
    """Return what rows reveal of having another value."""
    return {i: {OTHER: 1 - shares.get(value, Fraction(0))} for i, shares in told.items()}
