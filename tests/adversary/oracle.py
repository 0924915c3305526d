"""What a policy's requirements come to on a release, and whether the policy has to be refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from adversary.crowds import Question
from adversary.groups import Figure, Group, View, worst_count, worst_share
from adversary.lineage import Columns, grouping, identifies, sensitive
from adversary.shares import (
    Shares,
    UnrankedError,
    alpha,
    beta,
    delta,
    entropy_l,
    equal_t,
    matching,
    ordered_t,
    recursive_l,
    total,
)

TOLERANCE = 1e-9
Policy = Mapping[str, Any]


@dataclass(frozen=True)
class Judged:
    """A figure against its bound; ``measured`` is None where nothing is told, or nobody can tell."""

    id: str
    metric: str
    measured: float | None
    bound: float
    at_most: bool
    holds: bool
    release: str = ""


def judge(policy: Policy, view: View) -> list[Judged]:
    """Judge every requirement on what somebody may see of the releases."""
    privacy = policy["privacy"]
    found = list(_sizes(privacy, policy, view))
    for kind, each in SENSITIVE.items():
        for name, clause in privacy.get(kind, {}).items():
            found.append(_sensitive(kind, name, clause, each, policy, view))
    for name, clause in privacy.get("templates", {}).items():
        found += _template(name, clause, view)
    if "lkc" in privacy:
        found += _lkc(privacy["lkc"], policy, view)
    if "km_anonymity" in privacy and view.counts_people:
        found.append(_km(privacy["km_anonymity"], view))
    return found


def refusals(policy: Policy, releases: Mapping[str, Columns]) -> list[str]:
    """Return why the policy must be refused before any data is read."""
    found = []
    columns = [(name, c) for name, every in releases.items() for c in every.values()]
    for name, column in columns:
        found += [f"identifier {a} in {name}" for a in sorted(column.bare) if identifies(a, policy)]
    drawn = {a for _, c in columns if c.drawn for a in c.computed - c.true}
    for name, column in columns:
        found += [f"around the operator of {a} in {name}" for a in sorted(drawn & column.true)]
    return found


def _sizes(privacy: Mapping[str, Any], policy: Policy, view: View) -> Iterator[Judged]:
    if "k_anonymity" in privacy and view.counts_people:
        clause = privacy["k_anonymity"]
        question = Question(tuple(grouping(clause, policy)), tuple(sensitive(policy)))
        yield _judged("privacy.k_anonymity", "k", view.size(question), float(clause["k"]), at_most=False)


def _judged(id_: str, metric: str, measured: float | Fraction | None, bound: float, *, at_most: bool) -> Judged:
    value = None if measured is None else float(measured)
    slack = TOLERANCE * max(1.0, abs(bound))
    holds = value is not None and (value <= bound + slack if at_most else value >= bound - slack)
    return Judged(id_, f"{id_}.{metric}", value, bound, at_most, holds)


def _nothing_told(id_: str, metric: str, bound: float, *, at_most: bool) -> Judged:
    return Judged(id_, f"{id_}.{metric}", None, bound, at_most, True)


def _sensitive(kind: str, name: str, clause: Mapping[str, Any], each: Any, policy: Policy, view: View) -> Judged:
    metric, key, at_most, measure = each
    id_, bound = f"privacy.{kind}.{name}", float(clause[key])
    question = Question(tuple(grouping(clause, policy)), (name,))
    if not view.carries(name):
        return _nothing_told(id_, metric, bound, at_most=at_most)
    if view.blind(question, name):
        return _judged(id_, metric, None, bound, at_most=at_most)
    groups = view.groups(question, name)
    if not groups and not view.whole:
        return _nothing_told(id_, metric, bound, at_most=at_most)
    return _judged(id_, metric, measure(groups, name, clause, policy), bound, at_most=at_most)


Groups = Sequence[Group]


def _l(groups: Groups, _name: str, clause: Mapping[str, Any], _policy: Policy) -> Any:
    kind = clause.get("kind", "distinct")
    if kind == "entropy":
        return worst_share(groups, lambda p, _q: entropy_l(p), min)
    if kind == "recursive":
        c = Fraction(clause["c"])
        return worst_count(groups, lambda rows: recursive_l(total((Fraction(1), r) for r in rows), c))
    return worst_count(groups, lambda rows: matching([list(r) for r in rows]))


def _t(groups: Groups, name: str, clause: Mapping[str, Any], policy: Policy) -> Any:
    if clause.get("distance", "equal") == "equal":
        return worst_share(groups, equal_t, max)
    kind = policy["attributes"][name].get("type", "text")
    order = clause.get("order", policy["attributes"][name].get("domain", []) if kind == "text" else [])
    try:
        return worst_share(groups, lambda p, q: ordered_t(p, q, order, kind), max)
    except UnrankedError:
        return None


def _alpha(groups: Groups, _name: str, clause: Mapping[str, Any], _policy: Policy) -> Any:
    return worst_share(groups, lambda p, _q: alpha(p, clause.get("values", [])), max)


def _of(figure: Figure) -> Any:
    return lambda groups, _name, _clause, _policy: worst_share(groups, figure, max)


SENSITIVE = {
    "l_diversity": ("l", "l", False, _l),
    "t_closeness": ("t", "t", True, _t),
    "alpha_k": ("alpha", "alpha", True, _alpha),
    "delta_disclosure": ("delta", "delta", True, _of(delta)),
    "beta_likeness": ("beta", "beta", True, _of(beta)),
}
"""Of each requirement on one sensitive attribute: its metric, its bound, the side, and how it is measured."""


def _template(name: str, clause: Mapping[str, Any], view: View) -> Iterator[Judged]:
    id_, bound = f"privacy.templates.{name}", float(clause["confidence"])
    question = Question(tuple(clause["channel"]), tuple(clause["sensitive"]), missing_counts=True)
    there = [a for a in question.secret if view.carries(a)]
    if not there:
        yield _nothing_told(id_, "confidence", bound, at_most=True)
        return
    blind = any(view.blind(question, a) for a in there)
    shares = [] if blind else [_confidence(view, question, a, v, clause) for a in there for v in clause["sensitive"][a]]
    yield _judged(id_, "confidence", None if blind else max(shares), bound, at_most=True)
    if "min_support" in clause and view.counts_people:
        least = None if blind else view.size(question)
        yield _judged(id_, "smallest_group", least, float(clause["min_support"]), at_most=False)


def _confidence(view: View, question: Question, attribute: str, value: str, clause: Mapping[str, Any]) -> Any:
    negated = clause.get("negated") == "true"
    meant = view.texts(attribute, value, negated=negated)

    def share(shares: Shares, _base: Shares) -> Fraction:
        has = sum((shares.get(v, Fraction(0)) for v in meant), Fraction(0))
        return 1 - has if negated else has

    found = worst_share(view.groups(question, attribute), share, max)
    return Fraction(0) if found is None else found


def _lkc(clause: Mapping[str, Any], policy: Policy, view: View) -> Iterator[Judged]:
    """Judge everything that at most l attributes of a person reveal."""
    known, most = grouping(clause, policy), int(clause["l"])
    values: Mapping[str, Sequence[str]] = clause.get("sensitive", {})
    secret = tuple(values) or tuple(sensitive(policy))
    fewest, told = 0, [a for a in known if view.carries(a)]
    if view.of_nobody and told:  # known attributes find nobody where the release does not reveal them
        fewest, known = 1, told
    asked = [Question(x, secret) for n in range(fewest, most + 1) for x in combinations(known, n)]
    if view.counts_people:
        sizes = [view.size(q) for q in asked]
        least = None if None in sizes else min(s for s in sizes if s is not None)
        yield _judged("privacy.lkc", "k", least, float(clause["k"]), at_most=False)
    if "c" not in clause:
        return
    there = [a for a in values if view.carries(a)]
    bound = float(clause["c"])
    if any(view.blind(q, a) for q in asked for a in there):
        yield _judged("privacy.lkc", "confidence", None, bound, at_most=True)
        return
    shares = [_union(view, q, a, values[a]) for q in asked for a in there]
    yield _judged("privacy.lkc", "confidence", max(shares, default=Fraction(0)), bound, at_most=True)


def _km(clause: Mapping[str, Any], view: View) -> Judged:
    """Judge the fewest sets that share at most m items that some set has: no set says nothing."""
    id_, bound = "privacy.km_anonymity", float(clause["k"])
    if not view.carries("basket"):
        return _nothing_told(id_, "k", bound, at_most=False)
    found = []
    for sets in view.sets("basket"):
        if sets is None:
            return _judged(id_, "k", None, bound, at_most=False)
        known = {c for s in sets for n in range(1, int(clause["m"]) + 1) for c in combinations(sorted(s), n)}
        found += [sum(set(c) <= s for s in sets) for c in known]
    return _judged(id_, "k", min(found, default=0), bound, at_most=False)


def _union(view: View, question: Question, attribute: str, values: Sequence[str]) -> Any:
    """Return the share of rows that have one of the values."""
    groups = view.groups(question, attribute)
    found = worst_share(groups, lambda p, _q: sum((p.get(v, Fraction(0)) for v in values), Fraction(0)), max)
    return Fraction(0) if found is None else found
