"""The order of approvals against a plain reading: which signatures let a run go."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from ppdm_flow.policy.order import ChangeVerdict, PolicyRelation, compare
from ppdm_flow.policy.order.clauses import _moved

PEOPLE = ("alice", "bob", "carol", "dora")
ROLES = ("data-owner", "privacy-officer", "press")
BASE = {
    "version": 1,
    "name": "p",
    "source": {"path": "t.csv"},
    "attributes": {"a": {"role": "quasi_identifier"}},
    "privacy": {"k_anonymity": {"k": 5}},
    "audits": {"sizes": {"use": "class_sizes"}},
    "gates": {"g": {"metric": "sizes.classes", "max": 9}},
    "releases": {"one": {"path": "one.csv"}},
}


def policy(roles=(), *, distinct=True, signed_by="", waived=False, signers="signers.yaml"):
    """A policy with approvals by roles; without any it has none."""
    made = dict(BASE)
    if roles:
        made["approvals"] = {"roles": sorted(roles), "distinct": distinct, "signers": signers}
    if waived:
        waiver = {"of": "gates.g", "reason": "r", "owner": "o", "until": "2027-03-31"}
        made["waivers"] = {"w": waiver | ({"signed_by": signed_by} if signed_by else {})}
    return made


def lets_go(asked, signatures, *, holds) -> bool:
    """Whether a run leaves: ``signatures`` are pairs of person and role, ``holds`` says whether its gate does.

    The policy is read as it is written down, role for role and person for person.
    """
    waivers = asked.get("waivers", {})
    if not holds and not waivers:
        return False
    approvals = asked.get("approvals")
    if approvals is None:
        return True
    needed = {*approvals["roles"], *(() if holds else (w["signed_by"] for w in waivers.values() if "signed_by" in w))}
    authors = {person for person, role in signatures if role == "author"}
    for author in authors:
        able = [[p for p, role in signatures if role == asked_role and p != author] for asked_role in sorted(needed)]
        for chosen in product(*able):
            if not approvals["distinct"] or len(set(chosen)) == len(chosen):
                return True
    return False


def worlds(rng, number=60):
    """Sets of signatures: all small ones of two people, and random larger ones."""
    every = [(p, r) for p in PEOPLE for r in ("author", *ROLES)]
    few = [(p, r) for p in PEOPLE[:2] for r in ("author", *ROLES)]
    for size in range(4):
        yield from combinations(few, size)
    for _ in range(number):
        yield tuple(each for each in every if rng.random() < 0.45)


def random_policy(rng):
    roles = [r for r in ROLES if rng.random() < 0.45]
    distinct = bool(rng.random() < 0.6)
    waived = bool(rng.random() < 0.4)
    signed_by = str(rng.choice(ROLES)) if waived and roles and rng.random() < 0.6 else ""
    return policy(roles, distinct=distinct, signed_by=signed_by, waived=waived)


@pytest.mark.slow(quick=21)
@pytest.mark.parametrize("seed", range(120))
def test_never_stricter_than_it_is(written, seed):
    """A policy that is said to be as strict lets nothing go that the old one held; and the other way round."""
    rng = np.random.default_rng(seed)
    old, new = random_policy(rng), random_policy(rng)
    found = compare(written(old, "old.yaml"), written(new, "new.yaml"))
    forward = found.relation in (PolicyRelation.STRICTER, PolicyRelation.EQUAL)
    backward = found.relation in (PolicyRelation.WEAKER, PolicyRelation.EQUAL)
    for signatures, holds in product(worlds(rng), (True, False)):
        before, after = lets_go(old, signatures, holds=holds), lets_go(new, signatures, holds=holds)
        assert not forward or before or not after, (signatures, holds)
        assert not backward or after or not before, (signatures, holds)


CHANGES = {
    "none": (policy(), policy(["press"]), "approvals"),
    "a role more": (policy(["press"]), policy(["press", "data-owner"]), "approvals.roles"),
    "distinct": (policy(ROLES, distinct=False), policy(ROLES), "approvals.distinct"),
    "a signed waiver": (
        policy(["press"], waived=True),
        policy(["press"], waived=True, signed_by="data-owner"),
        "waivers of gates.g signed by",
    ),
    "no waiver": (policy(["press"], waived=True, signed_by="data-owner"), policy(["press"]), "waivers of gates.g"),
}


@pytest.mark.parametrize(("old", "new", "clause"), CHANGES.values(), ids=CHANGES)
def test_which_way_is_stricter(order, old, new, clause):
    found = order(old, new)
    assert found.relation is PolicyRelation.STRICTER
    assert clause in [c.clause for c in found.changes]
    assert order(new, old).relation is PolicyRelation.WEAKER
    assert order(old, old).relation is order(new, new).relation is PolicyRelation.EQUAL


@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [
        (policy(["press"]), policy(["data-owner"]), PolicyRelation.INCOMPARABLE),
        (
            policy(["press"]),
            policy(["press"], distinct=False),
            PolicyRelation.EQUAL,
        ),  # one role takes one person anyway
        (policy(["press"]), policy(["press", "data-owner"], distinct=False), PolicyRelation.STRICTER),
        (policy(["press", "data-owner"]), policy(ROLES, distinct=False), PolicyRelation.INCOMPARABLE),
        (policy(["press"], waived=True, signed_by="press"), policy(["press"], waived=True), PolicyRelation.EQUAL),
        (
            policy(["press"], waived=True, signed_by="data-owner"),
            policy(["press", "data-owner"], waived=True),
            PolicyRelation.STRICTER,
        ),
    ],
)
def test_what_signatures_come_to(order, old, new, relation):
    assert order(old, new).relation is relation


def test_another_signers_file_is_for_people_to_judge(written):
    old, new = written(policy(["press"]), "old.yaml"), written(policy(["press"], signers="own.yaml"), "new.yaml")

    def contents(**digests):
        return lambda path: digests.get(path.removesuffix(".yaml"))

    for given, asked, verdict in (
        ({}, {}, ChangeVerdict.INCOMPARABLE),
        ({"own": "ab"}, {"signers": "cd"}, ChangeVerdict.INCOMPARABLE),
        ({"own": "ab"}, {}, ChangeVerdict.INCOMPARABLE),
        ({"own": "ab"}, {"signers": "ab"}, ChangeVerdict.NEUTRAL),
    ):
        found = compare(old, new, contents=(contents(**asked), contents(**given)))
        assert found.relation is PolicyRelation.EQUAL
        assert [(c.clause, c.verdict) for c in found.governance] == [("approvals.signers", verdict)]
    same = compare(old, old, contents=(contents(signers="ab"), contents(signers="cd")))
    assert [c.verdict for c in same.governance] == [ChangeVerdict.INCOMPARABLE]
    assert [s.text for c in same.governance for s in (c.old, c.new)] == [
        "signers.yaml (sha256 ab…)",
        "signers.yaml (sha256 cd…)",
    ]
    assert compare(old, old, contents=(contents(signers="ab"),) * 2).governance == ()


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ("contains [a, b]", "contains [a]", ChangeVerdict.WEAKER),
        ("contains [a]", "contains [b, a]", ChangeVerdict.STRONGER),
        ("contains [a, b]", "contains [b, a]", ChangeVerdict.NEUTRAL),
        ("contains [a]", "contains [b]", ChangeVerdict.INCOMPARABLE),
        ("one of [a, b]", "one of [a]", ChangeVerdict.STRONGER),
        ("only [a]", "only [a, b]", ChangeVerdict.WEAKER),
        ("is a", "one of [a, b]", ChangeVerdict.WEAKER),
        ("contains [a]", "only [a, b]", ChangeVerdict.INCOMPARABLE),
        ("is a", "is b", ChangeVerdict.INCOMPARABLE),
        ("contains [a, b] and present", "contains [a] and present", ChangeVerdict.WEAKER),
    ],
)
def test_floors_on_names_have_a_harder_side(before, after, verdict):
    assert _moved(before, after)[0] is verdict


def test_a_floor_that_demands_fewer_roles_is_lowered(order):
    one, other = (policy(["a", "b"]) | {"floors": {"approvals.roles": f"contains [{t}]"}} for t in ("a, b", "a"))
    assert [(c.clause, c.verdict) for c in order(one, other).governance] == [
        ("floors.approvals.roles", ChangeVerdict.WEAKER)
    ]
