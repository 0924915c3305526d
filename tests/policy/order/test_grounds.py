"""A tighter number is stronger only where both clauses are about the same columns, rows and files."""

from __future__ import annotations

import copy

import pytest

from ppdm_flow.policy.order import ChangeVerdict

QI = ["q1", "q2"]
CLAUSES = {
    "k_anonymity": ({"k": 3}, {"k": 5}),
    "l_diversity": ({"S": {"l": 2}}, {"S": {"l": 3}}),
    "t_closeness": ({"S": {"t": 0.4}}, {"S": {"t": 0.2}}),
    "alpha_k": ({"S": {"alpha": 0.6}}, {"S": {"alpha": 0.4}}),
    "delta_disclosure": ({"S": {"delta": 1.0}}, {"S": {"delta": 0.5}}),
    "beta_likeness": ({"S": {"beta": 1.0}}, {"S": {"beta": 0.5}}),
    "templates": (
        {"t": {"channel": QI, "sensitive": {"s": ["x"]}, "confidence": 0.6}},
        {"t": {"channel": QI, "sensitive": {"s": ["x"]}, "confidence": 0.4}},
    ),
    "k_map": ({"k": 3, "population": {"path": "p.csv"}}, {"k": 5, "population": {"path": "p.csv"}}),
    "lkc": (
        {"l": 1, "k": 2, "c": 0.6, "sensitive": {"S": ["x"]}},
        {"l": 2, "k": 3, "c": 0.5, "sensitive": {"S": ["x"]}},
    ),
    "sensitivities": (
        {"R": {"values": {"x": {"r1": 0.1, "r2": 0.6}}}},
        {"R": {"values": {"x": {"r1": 0.1, "r2": 0.5}}}},
    ),
    "special_uniques": ({"size": 1, "max_share": 0.2}, {"size": 2, "max_share": 0.1}),
    "dominance": (
        {"S": {"n": 1, "share": 0.8, "p": 10, "contributors": 3}},
        {"S": {"n": 2, "share": 0.7, "p": 20, "contributors": 4}},
    ),
    "anonymity_score": ({"max": 0.6}, {"max": 0.4}),
    "blend": ({"min_support": 3, "max": 0.6}, {"min_support": 3, "max": 0.4}),
    "interval_disclosure": (
        {"S": {"width": {"sd": 0.1}, "max": 0.6}},
        {"S": {"width": {"sd": 0.2}, "max": 0.4}},
    ),
    "numeric_linkage": (
        {"attributes": ["s"], "max": 0.6},
        {"attributes": ["s"], "max": 0.4, "candidates": 2},
    ),
}
DEFAULTS = (
    {"R": {"default": {"tolerance": 3}}},
    {"R": {"default": {"tolerance": 2}}},
)
SETS = {
    "km_anonymity": ({"k": 2, "m": 2}, {"k": 3, "m": 2}),
    "itemset_breach": ({"level": 0.6, "sizes": [1, 2]}, {"level": 0.4, "sizes": [1, 2]}),
}
KEYED = ("l_diversity", "t_closeness", "alpha_k", "delta_disclosure", "beta_likeness", "sensitivities", "lkc")
KEYED += ("interval_disclosure", "dominance")
NUMERIC = ("interval_disclosure", "numeric_linkage", "dominance")
GROUPED = ("k_anonymity", "l_diversity", "t_closeness", "alpha_k", "delta_disclosure", "beta_likeness", "k_map", "lkc")
GROUPED += ("special_uniques", "dominance")
UNKEYED = ("k_anonymity", "k_map", "lkc", "special_uniques")


def clause(kind, index, keyed="s", perturbed="r"):
    """One of the two clauses of a kind, about the attributes of these names."""
    given = {**CLAUSES, **SETS}[kind][index]

    def named(value):
        if isinstance(value, dict):
            return {{"S": keyed, "R": perturbed}.get(key, key): named(item) for key, item in value.items()}
        return value

    return named(copy.deepcopy(given))


def policy(kind, body, **attributes):
    declared = {"q1": "quasi_identifier", "q2": "quasi_identifier", "s": "sensitive", "r": "sensitive", **attributes}
    if kind in SETS:
        declared = {"basket": "items", **attributes}
    numbers = {"s": {"type": "float"}} if kind in NUMERIC else {}
    return {
        "version": 1,
        "name": "p",
        "attributes": {
            name: role
            if isinstance(role, dict)
            else {"role": role, **({"domain": ["x", "y"]} if name[0] == "r" else {}), **numbers.get(name[0], {})}
            for name, role in declared.items()
            if role
        },
        "privacy": {kind: body},
        "steps": {"redraw": {"use": "fine_grain_perturbation"}} if kind == "sensitivities" else {},
        "releases": {"out": {"path": "out.csv"}},
    }


@pytest.fixture
def judged(order):
    """Return the verdicts on the clauses of a kind."""

    def found(old, new, kind):
        return {c.verdict for c in order(old, new).changes if c.clause.startswith(f"privacy.{kind}")}

    return found


@pytest.mark.parametrize("kind", [*CLAUSES, *SETS])
def test_on_the_same_ground(judged, kind):
    weak, strong = (policy(kind, clause(kind, i)) for i in (0, 1))
    assert judged(weak, strong, kind) == {ChangeVerdict.STRONGER}
    assert judged(strong, weak, kind) == {ChangeVerdict.WEAKER}


@pytest.mark.parametrize("kind", KEYED)
def test_a_pattern_that_means_other_columns(judged, kind):
    """`s*` is every column that fits and that no other line declares: in the new policy one less."""
    declared = {"s": "", "s*": "sensitive", "r": "", "r*": "sensitive"}
    weak, strong = (policy(kind, clause(kind, i, "s*", "r*"), **declared) for i in (0, 1))
    assert judged(weak, strong, kind) == {ChangeVerdict.STRONGER}
    other = policy(kind, clause(kind, 1, "s*", "r*"), **declared, s_note="insensitive", r_note="insensitive")
    assert not judged(weak, other, kind) & {ChangeVerdict.STRONGER, ChangeVerdict.NEUTRAL}
    assert not judged(other, weak, kind) & {ChangeVerdict.WEAKER, ChangeVerdict.NEUTRAL}


@pytest.mark.parametrize("kind", GROUPED)
@pytest.mark.parametrize("nulls", ["own_category", "wildcard", "exclude"])
def test_grouped_by_a_pattern_that_means_other_columns(judged, kind, nulls):
    declared = {"q2": "", "q*": "quasi_identifier"}
    for inner in (False, True):  # whether the clause writes the names down
        bodies = [clause(kind, i) for i in (0, 1)]
        if inner:
            for body in bodies:
                (body if kind in UNKEYED else body["s"])["attributes"] = ["q*"]
        weak, strong = ({**policy(kind, body, **declared), "nulls": nulls} for body in bodies)
        assert judged(weak, strong, kind) == {ChangeVerdict.STRONGER}
        other = {**policy(kind, bodies[1], **declared, q_note="insensitive"), "nulls": nulls}
        assert not judged(weak, other, kind) & {ChangeVerdict.STRONGER, ChangeVerdict.NEUTRAL}


@pytest.mark.parametrize("kind", CLAUSES)
@pytest.mark.parametrize("nulls", ["own_category", "wildcard", "exclude"])
def test_rows_that_count_otherwise(judged, kind, nulls):
    weak = policy(kind, clause(kind, 0)) | {"nulls": nulls}
    strong = policy(kind, clause(kind, 1), n={"role": "weight", "type": "integer"}) | {"nulls": nulls}
    assert not judged(weak, strong, kind) & {ChangeVerdict.STRONGER, ChangeVerdict.NEUTRAL}


@pytest.mark.parametrize("kind", SETS)
def test_sets_of_another_name(judged, kind):
    weak, strong = policy(kind, clause(kind, 0)), policy(kind, clause(kind, 1), basket="", cart="items")
    assert judged(weak, strong, kind) == {ChangeVerdict.INCOMPARABLE}


@pytest.mark.parametrize("kind", ["itemset_breach", "anonymity_score", "blend", *NUMERIC])
def test_an_original_that_is_read_otherwise(judged, kind):
    weak, strong = policy(kind, clause(kind, 0)), policy(kind, clause(kind, 1))
    strong["source"] = {"missing": ["?"]}
    assert judged(weak, strong, kind) == {ChangeVerdict.INCOMPARABLE}


def test_a_tolerance_is_relative_to_the_data(judged):
    weak, strong = (policy("sensitivities", {"r": body["R"]}) for body in DEFAULTS)
    assert judged(weak, strong, "sensitivities") == {ChangeVerdict.STRONGER}
    strong["source"] = {"missing": ["?"]}
    assert judged(weak, strong, "sensitivities") == {ChangeVerdict.INCOMPARABLE}


@pytest.mark.parametrize("change", [{"sizes": [1]}, {"sizes": [2, 3]}, {"level": 0.7, "sizes": [1, 2]}])
def test_fewer_sizes_or_a_higher_level_are_not_stronger(judged, change):
    old = policy("itemset_breach", clause("itemset_breach", 0))
    new = policy("itemset_breach", {**clause("itemset_breach", 0), **change})
    assert not judged(old, new, "itemset_breach") & {ChangeVerdict.STRONGER, ChangeVerdict.NEUTRAL}
