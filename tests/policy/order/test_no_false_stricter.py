"""The order against brute force: what is called stricter never lets through what the other withholds.

``satisfied`` of the twin reads raw maps by definition alone; it is itself held against the real audits in
``test_twin_against_audits.py``.
"""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from ppdm_flow.policy.order import PolicyRelation, compare

PAIRS, WORLDS = 500, 300
FORWARD = {PolicyRelation.EQUAL, PolicyRelation.STRICTER}
BACKWARD = {PolicyRelation.EQUAL, PolicyRelation.WEAKER}


class Judge:
    """Remembers which worlds of a pool satisfy a policy."""

    def __init__(self, twin, pool):
        self.twin, self.pool, self.known = twin, pool, {}

    def __call__(self, policy):
        key = json.dumps(policy, sort_keys=True)
        if key not in self.known:
            self.known[key] = np.array([self.twin.satisfied(policy, world) for world in self.pool])
        return self.known[key]


def pool_of(maker, twin, size):
    return [maker.world(twin) for _ in range(size)]


def held(relation, before, after):
    """No world that a stricter policy lets go is withheld by the other."""
    return not ((relation in FORWARD and (after & ~before).any()) or (relation in BACKWARD and (before & ~after).any()))


@pytest.mark.random
def test_random_pairs(twin, makers, written):
    maker = makers.Maker(np.random.default_rng(20261121))
    judge = Judge(twin, pool_of(maker, twin, WORLDS))
    tally = dict.fromkeys(PolicyRelation, 0)
    let_go = separated = done = 0
    while done < PAIRS:
        old = maker.policy()
        new = maker.changed(old) if maker.chance(0.85) else maker.policy()
        before, after = written(old, "old.yaml"), written(new, "new.yaml")
        if before is None or after is None:
            continue
        done += 1
        relation = compare(before, after).relation
        tally[relation] += 1
        if relation is PolicyRelation.INCOMPARABLE:
            continue
        worlds = judge(old), judge(new)
        assert held(relation, *worlds), (json.dumps(old), json.dumps(new), relation)
        let_go += int(worlds[0].sum())
        separated += bool((worlds[0] != worlds[1]).any())
    # the test has power: pairs are comparable, worlds are let go, and many pairs are told apart by one
    assert min(tally[PolicyRelation.STRICTER], tally[PolicyRelation.WEAKER], tally[PolicyRelation.EQUAL]) >= 40
    assert let_go >= 3_000
    assert separated >= 40


KINDS = (
    ("k_anonymity", ("k_anonymity", "lkc", "templates")),
    ("lkc", ("lkc", "k_anonymity")),
    ("alpha_k", ("alpha_k", "lkc")),
    ("l_diversity", ("l_diversity",)),
    ("t_closeness", ("t_closeness",)),
    ("delta_disclosure", ("delta_disclosure", "beta_likeness", "t_closeness")),
    ("beta_likeness", ("beta_likeness", "t_closeness")),
    ("templates", ("templates",)),
    ("k_map", ("k_map",)),
    ("special_uniques", ("special_uniques", "k_anonymity", "lkc")),
    ("km_anonymity", ("km_anonymity",)),
    ("sensitivities", ("sensitivities",)),
    ("anonymity_score", ("anonymity_score",)),
    ("blend", ("blend",)),
    ("itemset_breach", ("itemset_breach",)),
    ("cumulative_k", ("cumulative_k",)),
)


@pytest.mark.random(quick=1)
@pytest.mark.parametrize(("kind", "others"), KINDS, ids=[kind for kind, _ in KINDS])
def test_pairs_of_one_clause(twin, makers, written, kind, others):
    """Policies of a single requirement: nothing but its own rule can make one stricter."""
    maker = makers.Maker(np.random.default_rng(sum(map(ord, kind))))
    pool = pool_of(maker, twin, 250)
    comparable = 0
    for _ in range(60):
        old = bare(maker, kind)
        new = copy.deepcopy(old)
        old["privacy"] = {kind: maker.clause(kind)}
        new["privacy"] = copy.deepcopy(old["privacy"])
        other = maker.one(*others)
        if other == kind and maker.chance(0.6):
            maker.number(new)
        else:
            new["privacy"] = {other: maker.clause(other)}
        if maker.chance(0.4):
            new["nulls"] = maker.one(*makers.NULLS)
        old, new = (old, new) if maker.chance(0.5) else (new, old)
        before, after = written(old, "old.yaml"), written(new, "new.yaml")
        if before is None or after is None:
            continue
        relation = compare(before, after).relation
        comparable += relation is not PolicyRelation.INCOMPARABLE
        worlds = [
            np.array([all(f(world) for _, f in twin.requirements(policy)) for world in pool]) for policy in (old, new)
        ]
        assert held(relation, *worlds), (json.dumps(old), json.dumps(new), relation)
    assert comparable >= 8


def bare(maker, kind):
    """A policy without any requirement; cumulative k needs a ledger."""
    found = maker.policy()
    for key in ("privacy", "gates", "audits", "ledger"):
        found.pop(key, None)
    found["attributes"]["q3"]["role"] = "quasi_identifier"
    if kind == "cumulative_k":
        maker.ledger(found)
    return found
