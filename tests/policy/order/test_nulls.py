"""What the three readings of a missing value say of each other, requirement by requirement, against brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ppdm_flow.policy.order import PolicyRelation

NULLS = ("own_category", "wildcard", "exclude")
QI = ["q1", "q2"]
CLAUSES = {
    "k_anonymity": {"k_anonymity": {"k": 2}},
    "distinct": {"l_diversity": {"s": {"l": 2}}},
    "entropy": {"l_diversity": {"s": {"l": 1.8, "kind": "entropy"}}},
    "recursive": {"l_diversity": {"s": {"l": 2, "c": 1.5, "kind": "recursive"}}},
    "t_closeness": {"t_closeness": {"s": {"t": 0.3}}},
    "alpha_k": {"alpha_k": {"s": {"alpha": 0.6}}},
    "delta_disclosure": {"delta_disclosure": {"s": {"delta": 0.7}}},
    "beta_likeness": {"beta_likeness": {"s": {"beta": 0.7}}},
    "templates": {"templates": {"t": {"channel": QI, "sensitive": {"s": ["a"]}, "confidence": 0.6}}},
    "negated": {"templates": {"t": {"channel": QI, "sensitive": {"s": ["a"]}, "confidence": 0.6, "negated": True}}},
    "lkc": {"lkc": {"l": 2, "k": 2, "c": 0.6, "sensitive": {"s": ["a"]}}},
    "k_map": {"k_map": {"k": 2, "population": {"path": "people.csv"}}},
    "special_uniques": {"special_uniques": {"size": 2, "max_share": 0.3}},
}
PEOPLE = [{"q1": a, "q2": b} for a, b in (("x", "1"), ("x", "1"), ("x", "2"), ("y", "1"), ("x", None), ("x", None))]
OVERLAP = [("x", "1", "a"), ("x", "1", "a"), ("x", "2", "a"), ("x", "2", "a"), ("x", None, "b"), ("x", None, "c")]
"""Two crowds of four that share two rows: `a` is half of each, and two thirds of both together."""
HOLDS = dict.fromkeys(product(CLAUSES, [("own_category", "wildcard")]), True) | {
    (name, ("own_category", "exclude")): True for name in ("templates", "negated", "special_uniques")
}
"""Which reading implies which other one: crowds under wildcards are made of whole classes, complete rows keep theirs,
a template is content where no row is left to count, and a unique among known rows is unique among all.
All else has a counterexample."""


def policy(name, nulls):
    return {
        "version": 1,
        "name": "p",
        "attributes": {q: {"role": "quasi_identifier"} for q in QI} | {"s": {"role": "sensitive"}},
        "nulls": nulls,
        "privacy": CLAUSES[name],
        "releases": {"out": {"path": "out.csv"}},
    }


@pytest.fixture(scope="module")
def worlds(twin):
    """Small tables; many have rows that lack something, and few values."""
    rng = np.random.default_rng(11)
    columns = frozenset(("q1", "q2", "s"))
    found = [[dict(zip(("q1", "q2", "s"), row, strict=True)) for row in OVERLAP]]
    for _ in range(3000):
        missing = rng.choice([0.0, 0.3, 0.6])
        rows = [
            {
                "q1": None if rng.random() < missing else str(rng.choice(["x", "y"])),
                "q2": None if rng.random() < missing else str(rng.choice(["1", "2"])),
                "s": str(rng.choice(["a", "b", "b"])),
            }
            for _ in range(rng.integers(1, 4))
        ]
        found.append([dict(row) for row in rows for _ in range(rng.integers(1, 4))])
    return [twin.World(rows, rows, columns, columns, populations={"people.csv": PEOPLE}) for rows in found]


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("name", CLAUSES)
def test_a_reading_implies_another_just_where_no_table_says_otherwise(name, order, twin, worlds):
    holds = {n: np.array([all(f(w) for _, f in twin.requirements(policy(name, n))) for w in worlds]) for n in NULLS}
    for given, asked in product(NULLS, NULLS):
        if given == asked:
            continue
        implied = not (holds[given] & ~holds[asked]).any()
        assert implied == HOLDS.get((name, (given, asked)), False), (given, asked)
        relation = order(policy(name, given), policy(name, asked)).relation
        assert (relation in (PolicyRelation.EQUAL, PolicyRelation.WEAKER)) == implied, (given, asked)


def test_fewer_attributes_keep_sizes_under_wildcards_but_not_shares(order, twin, worlds):
    """Crowds grow, as classes do; but they overlap, so that a share may be higher in the larger one."""
    for name, kept in (("k_anonymity", True), ("distinct", True), ("alpha_k", False), ("templates", False)):
        both, one = policy(name, "wildcard"), policy(name, "wildcard")
        if name == "templates":
            one["privacy"] = {"templates": {"t": CLAUSES[name]["templates"]["t"] | {"channel": ["q1"]}}}
        else:
            one["attributes"] = one["attributes"] | {"q2": {"role": "insensitive"}}
        found = [np.array([all(f(w) for _, f in twin.requirements(p)) for w in worlds]) for p in (both, one)]
        assert (not (found[0] & ~found[1]).any()) is kept, name
        verdicts = {c.verdict.value for c in order(both, one).changes if c.clause.startswith("privacy")}
        assert (verdicts == {"weaker"}) is kept, (name, verdicts)
