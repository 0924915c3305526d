"""The order is of use: a change that tightens a clause is stronger, its reverse weaker."""

from __future__ import annotations

import copy

import pytest

from ppdm_flow.policy.order import ChangeVerdict, PolicyRelation
from ppdm_flow.policy.order.clauses import _moved

BASE = {
    "version": 1,
    "name": "p",
    "attributes": {
        "q1": {"role": "quasi_identifier"},
        "q2": {"role": "quasi_identifier"},
        "q3": {"role": "quasi_identifier"},
        "s": {"role": "sensitive"},
        "r": {"role": "sensitive"},
        "b": {"role": "items"},
        "i": {"role": "identifier"},
        "n": {"role": "insensitive", "type": "float"},
    },
    "nulls": "own_category",
    "audits": {"sizes": {"use": "class_sizes"}},
    "releases": {"study": {"path": "study.csv"}},
}
T = {"channel": ["q1", "q2"], "sensitive": {"s": ["a", "b"]}, "confidence": 0.5}
LKC = {"l": 2, "k": 3, "c": 0.5, "sensitive": {"s": ["a"]}}
POPULATION = {"path": "people.csv"}
ABSENT = {"values_absent": "allowed"}
HIV = {"r1": 0.1, "r2": 0.25}

PRIVACY = {
    "k": ({"k_anonymity": {"k": 5}}, {"k_anonymity": {"k": 6}}),
    "k over more": ({"k_anonymity": {"k": 5, "attributes": ["q1"]}}, {"k_anonymity": {"k": 5}}),
    "k at all": ({}, {"k_anonymity": {"k": 2}}),
    "distinct": ({"l_diversity": {"s": {"l": 2}}}, {"l_diversity": {"s": {"l": 3}}}),
    "entropy for distinct": (
        {"l_diversity": {"s": {"l": 2}}},
        {"l_diversity": {"s": {"l": 2.5, "kind": "entropy"}}},
    ),
    "recursive for distinct": (
        {"l_diversity": {"s": {"l": 2}}},
        {"l_diversity": {"s": {"l": 2, "kind": "recursive", "c": 3}}},
    ),
    "recursive c": (
        {"l_diversity": {"s": {"l": 2, "kind": "recursive", "c": 3}}},
        {"l_diversity": {"s": {"l": 2, "kind": "recursive", "c": 2}}},
    ),
    "entropy over more": (
        {"l_diversity": {"s": {"l": 2, "kind": "entropy", "attributes": ["q1"]}}},
        {"l_diversity": {"s": {"l": 2, "kind": "entropy"}}},
    ),
    "t": ({"t_closeness": {"s": {"t": 0.3}}}, {"t_closeness": {"s": {"t": 0.2}}}),
    "t over more": ({"t_closeness": {"s": {"t": 0.3, "attributes": ["q2"]}}}, {"t_closeness": {"s": {"t": 0.3}}}),
    "t by ranks": (
        {"t_closeness": {"s": {"t": 0.3, "distance": "ordered", "order": ["a", "b"]}}},
        {"t_closeness": {"s": {"t": 0.2, "distance": "ordered", "order": ["a", "b"]}}},
    ),
    "alpha": ({"alpha_k": {"s": {"alpha": 0.6}}}, {"alpha_k": {"s": {"alpha": 0.5}}}),
    "alpha of all values": ({"alpha_k": {"s": {"alpha": 0.5, "values": ["a"]}}}, {"alpha_k": {"s": {"alpha": 0.5}}}),
    "delta": ({"delta_disclosure": {"s": {"delta": 1.5}}}, {"delta_disclosure": {"s": {"delta": 1}}}),
    "beta": ({"beta_likeness": {"s": {"beta": 2}}}, {"beta_likeness": {"s": {"beta": 1}}}),
    "delta for beta": ({"beta_likeness": {"s": {"beta": 2}}}, {"delta_disclosure": {"s": {"delta": 1}}}),
    "beta for t": ({"t_closeness": {"s": {"t": 0.5}}}, {"beta_likeness": {"s": {"beta": 1}}}),
    "disclosed numbers": (
        {"interval_disclosure": {"n": {"width": {"sd": 0.1}, "max": 0.2}}},
        {"interval_disclosure": {"n": {"width": {"sd": 0.1}, "max": 0.1}}},
    ),
    "records found by numbers": (
        {"numeric_linkage": {"attributes": ["n"], "max": 0.2}},
        {"numeric_linkage": {"attributes": ["n"], "max": 0.1}},
    ),
    "records found among more candidates": (
        {"numeric_linkage": {"attributes": ["n"], "max": 0.2}},
        {"numeric_linkage": {"attributes": ["n"], "max": 0.2, "candidates": 5}},
    ),
    "numbers within a larger width": (
        {"interval_disclosure": {"n": {"width": {"relative": 0.1}, "max": 0.2}}},
        {"interval_disclosure": {"n": {"width": {"relative": 0.2}, "max": 0.2}}},
    ),
    "k-map": (
        {"k_map": {"k": 3, "population": POPULATION, "attributes": ["q1"]}},
        {"k_map": {"k": 4, "population": POPULATION}},
    ),
    "a smaller share of the largest": ({"dominance": {"n": {"share": 0.8}}}, {"dominance": {"n": {"share": 0.7}}}),
    "more of the largest": ({"dominance": {"n": {"share": 0.8}}}, {"dominance": {"n": {"share": 0.8, "n": 2}}}),
    "two of the largest for one and more": (
        {"dominance": {"n": {"share": 0.8, "n": 2}}},
        {"dominance": {"n": {"share": 0.3, "n": 1}}},
    ),
    "a larger p": ({"dominance": {"n": {"p": 10}}}, {"dominance": {"n": {"p": 15}}}),
    "a smaller q": ({"dominance": {"n": {"p": 10}}}, {"dominance": {"n": {"p": 10, "q": 50}}}),
    "more contributors": ({"dominance": {"n": {"contributors": 3}}}, {"dominance": {"n": {"contributors": 4}}}),
    "one rule more": ({"dominance": {"n": {"p": 10}}}, {"dominance": {"n": {"p": 10, "share": 0.99}}}),
    "a share for a p": ({"dominance": {"n": {"p": 24.9}}}, {"dominance": {"n": {"n": 2, "share": 0.8}}}),
    "a share for contributors": ({"dominance": {"n": {"contributors": 3}}}, {"dominance": {"n": {"share": 0.4}}}),
    "a p for contributors": ({"dominance": {"n": {"contributors": 4}}}, {"dominance": {"n": {"p": 110}}}),
    "totals of smaller groups": (
        {"dominance": {"n": {"p": 10, "attributes": ["q1"]}}},
        {"dominance": {"n": {"p": 10}}},
    ),
    "special uniques of more attributes": (
        {"special_uniques": {"size": 2, "max_share": 0.1, "attributes": ["q1"]}},
        {"special_uniques": {"size": 2, "max_share": 0.1}},
    ),
    "special uniques by more": ({"special_uniques": {"size": 2}}, {"special_uniques": {}}),
    "fewer special uniques": ({"special_uniques": {"max_share": 0.1}}, {"special_uniques": {"max_share": 0.05}}),
    "lkc k": ({"lkc": LKC}, {"lkc": LKC | {"k": 4}}),
    "lkc l": ({"lkc": LKC}, {"lkc": LKC | {"l": 3}}),
    "lkc c": ({"lkc": LKC}, {"lkc": LKC | {"c": 0.4}}),
    "lkc of values that have to be there": ({"lkc": LKC | ABSENT}, {"lkc": LKC}),
    "alpha of values that have to be there": (
        {"alpha_k": {"s": {"alpha": 0.5, "values": ["a"], **ABSENT}}},
        {"alpha_k": {"s": {"alpha": 0.5, "values": ["a"]}}},
    ),
    "alpha of all values for some that may be absent": (
        {"alpha_k": {"s": {"alpha": 0.5, "values": ["a"], **ABSENT}}},
        {"alpha_k": {"s": {"alpha": 0.5}}},
    ),
    "a template of values that have to be there": ({"templates": {"t": T | ABSENT}}, {"templates": {"t": T}}),
    "an order of values that have to be there": (
        {"t_closeness": {"s": {"t": 0.3, "distance": "ordered", "order": ["a", "b"], **ABSENT}}},
        {"t_closeness": {"s": {"t": 0.3, "distance": "ordered", "order": ["a", "b"]}}},
    ),
    "bounds of values that have to be there": (
        {"sensitivities": {"r": {"values": {"HIV": HIV}, **ABSENT}}},
        {"sensitivities": {"r": {"values": {"HIV": HIV}}}},
    ),
    "lkc of more values": ({"lkc": LKC}, {"lkc": LKC | {"sensitive": {"s": ["a", "b"]}}}),
    "alpha of all for lkc of two": (
        {"lkc": {"l": 2, "k": 2, "c": 0.5, "sensitive": {"s": ["a", "b"]}}},
        {"alpha_k": {"s": {"alpha": 0.25}}, "k_anonymity": {"k": 2}},
    ),
    "k for lkc": ({"lkc": {"l": 2, "k": 3}}, {"k_anonymity": {"k": 3}}),
    "lkc for k": ({"k_anonymity": {"k": 3, "attributes": ["q1", "q2"]}}, {"lkc": {"l": 2, "k": 3}}),
    "km k": ({"km_anonymity": {"k": 3}}, {"km_anonymity": {"k": 4}}),
    "km m": ({"km_anonymity": {"k": 3, "m": 2}}, {"km_anonymity": {"k": 3, "m": 3}}),
    "confidence": ({"templates": {"t": T}}, {"templates": {"t": T | {"confidence": 0.4}}}),
    "channel": ({"templates": {"t": T}}, {"templates": {"t": T | {"channel": ["q3", "q2", "q1"]}}}),
    "more values": ({"templates": {"t": T}}, {"templates": {"t": T | {"sensitive": {"s": ["a", "b", "c"]}}}}),
    "support": ({"templates": {"t": T}}, {"templates": {"t": T | {"min_support": 5}}}),
    "support by k": (
        {"templates": {"t": T | {"min_support": 5}}},
        {"k_anonymity": {"k": 5}, "templates": {"t": T | {"min_support": 2}}},
    ),
    "one more": ({"templates": {"t": T}}, {"templates": {"t": T, "u": T | {"negated": True}}}),
    "smaller r2": (
        {"sensitivities": {"r": {"values": {"HIV": HIV}}}},
        {"sensitivities": {"r": {"values": {"HIV": HIV | {"r2": 0.2}}}}},
    ),
    "larger r1": (
        {"sensitivities": {"r": {"values": {"HIV": HIV}}}},
        {"sensitivities": {"r": {"values": {"HIV": HIV | {"r1": 0.15}}}}},
    ),
    "other r1 and r2, smaller gamma": (
        {"sensitivities": {"r": {"values": {"HIV": {"r1": 0.25, "r2": 0.5}}}}},
        {"sensitivities": {"r": {"values": {"HIV": {"r1": 0.1, "r2": 0.2}}}}},
    ),
    "both directions": (
        {"sensitivities": {"r": {"directions": "upward", "values": {"HIV": HIV}}}},
        {"sensitivities": {"r": {"values": {"HIV": HIV}}}},
    ),
    "tolerance": (
        {"sensitivities": {"r": {"default": {"tolerance": 5}}}},
        {"sensitivities": {"r": {"default": {"tolerance": 4}}}},
    ),
    "default for all values": (
        {"sensitivities": {"r": {"values": {"HIV": HIV}}}},
        {"sensitivities": {"r": {"default": HIV}}},
    ),
    "a further bound": (
        {"sensitivities": {"r": {"values": {"HIV": HIV}}}},
        {"sensitivities": {"r": {"values": {"HIV": [HIV, {"r1": 0.2, "r2": 0.3}]}}}},
    ),
    "score": ({"anonymity_score": {"max": 0.5}}, {"anonymity_score": {"max": 0.4}}),
    "blend of none": (
        {"blend": {"min_support": 5, "max": 0.2}},
        {"blend": {"min_support": {"count": 6}, "max": 0}},
    ),
    "blend": (
        {"blend": {"min_support": 5, "max": 0.2}},
        {"blend": {"min_support": {"count": 5}, "max": 0.1}},
    ),
    "level": ({"itemset_breach": {"level": 0.5}}, {"itemset_breach": {"level": 0.4}}),
    "sizes": ({"itemset_breach": {"level": 0.5, "sizes": [1]}}, {"itemset_breach": {"level": 0.5, "sizes": [1, 2]}}),
}
REST = {
    "gate max": (
        {"gates": {"g": {"metric": "sizes.classes", "max": 9}}},
        {"gates": {"g": {"metric": "sizes.classes", "max": 8}}},
    ),
    "gate min": (
        {"gates": {"g": {"metric": "sizes.classes", "min": 2}}},
        {"gates": {"g": {"metric": "sizes.classes", "min": 3}}},
    ),
    "gate width": (
        {"gates": {"g": {"metric": "sizes.classes", "max": 9, "max_width": 0.3}}},
        {"gates": {"g": {"metric": "sizes.classes", "max": 9}}},
    ),
    "gate width below the default": (
        {"gates": {"g": {"metric": "sizes.classes", "max": 9}}},
        {"gates": {"g": {"metric": "sizes.classes", "max": 9, "max_width": 0.1}}},
    ),
    "gate both": (
        {"gates": {"g": {"metric": "sizes.classes", "min": 2}}},
        {"gates": {"g": {"metric": "sizes.classes", "min": 2, "max": 3}}},
    ),
    "kept apart": ({"source": {"keep_apart": ["case", "form"]}}, {"source": {"keep_apart": ["form"]}}),
    "kept apart at all": ({"source": {"keep_apart": ["blanks"]}}, {}),
    "undeclared": ({"undeclared": "drop"}, {"undeclared": "error"}),
    "audience": (
        {"releases": {"study": {"path": "study.csv", "audience": "partner"}}},
        {"releases": {"study": {"path": "study.csv", "audience": "internal"}}},
    ),
    "shuffle": ({"releases": {"study": {"path": "study.csv", "shuffle": False}}}, {}),
    "a release fewer": ({"releases": {"study": {"path": "study.csv"}, "more": {"path": "more.csv"}}}, {}),
    "sealed": ({"randomness": {"mode": "reproducible", "seed": "1"}}, {}),
    "hidden": ({"report": {"values": "show"}}, {"report": {"values": "hide"}}),
    "ledger": ({}, {"ledger": {"path": "ledger", "subject": "i"}}),
}


def policy(**more):
    return copy.deepcopy(BASE) | more


@pytest.mark.slow(quick=32)
@pytest.mark.parametrize(("old", "new"), PRIVACY.values(), ids=PRIVACY)
def test_requirements(order, old, new):
    old, new = policy(privacy=old), policy(privacy=new)
    assert order(old, new).relation is PolicyRelation.STRICTER
    assert order(new, old).relation is PolicyRelation.WEAKER


@pytest.mark.parametrize(("old", "new"), REST.values(), ids=REST)
def test_the_rest(order, old, new):
    old, new = policy(**old), policy(**new)
    assert order(old, new).relation is PolicyRelation.STRICTER
    assert order(new, old).relation is PolicyRelation.WEAKER


@pytest.mark.parametrize(
    ("before", "after"),
    [("insensitive", "quasi_identifier"), ("target", "sensitive"), ("quasi_identifier", "identifier")],
)
def test_roles(order, before, after):
    old, new = policy(), policy()
    old["attributes"]["q3"]["role"], new["attributes"]["q3"]["role"] = before, after
    assert order(old, new).relation is PolicyRelation.STRICTER
    assert order(new, old).relation is PolicyRelation.WEAKER


@pytest.mark.parametrize("other", ["insensitive", "quasi_identifier", "identifier"])
def test_with_sampling_weights_risks_are_estimated_for_another_population(order, other):
    old, new = policy(), policy()
    old["attributes"]["q3"]["role"], new["attributes"]["q3"]["role"] = other, "sampling_weight"
    assert order(old, new).relation is PolicyRelation.INCOMPARABLE
    assert order(new, old).relation is PolicyRelation.INCOMPARABLE


def test_a_role_counts_where_classes_form_by_it(order):
    old = policy(privacy={"k_anonymity": {"k": 5}})
    new = copy.deepcopy(old)
    new["attributes"]["q3"]["role"] = "insensitive"
    found = {c.clause: c.verdict for c in order(old, new).changes}
    assert found == {"attributes.q3.role": ChangeVerdict.WEAKER, "privacy.k_anonymity": ChangeVerdict.WEAKER}
    new["nulls"] = old["nulls"] = "exclude"
    found = {c.clause: c.verdict for c in order(old, new).changes}
    assert found["privacy.k_anonymity"] is ChangeVerdict.INCOMPARABLE


@pytest.mark.parametrize(
    ("field", "loose", "strict"),
    [
        ("domain", None, ["x", "y"]),
        ("domain", ["x", "y", "z"], ["y", "x"]),
        ("type", None, "integer"),
        ("determines", None, ["q2"]),
        ("determines", ["q2"], ["s", "q2"]),
    ],
)
def test_what_data_is_taken(order, field, loose, strict):
    old, new = policy(), policy()
    old["attributes"]["q1"] |= {field: loose} if loose else {}
    new["attributes"]["q1"][field] = strict
    assert order(old, new).relation is PolicyRelation.STRICTER
    assert order(new, old).relation is PolicyRelation.WEAKER


INCOMPARABLE = {
    "other attributes": (
        {"k_anonymity": {"k": 5, "attributes": ["q1"]}},
        {"k_anonymity": {"k": 5, "attributes": ["q2"]}},
    ),
    "more rows, fewer attributes": ({"k_anonymity": {"k": 5}}, {"k_anonymity": {"k": 6, "attributes": ["q2"]}}),
    "another support": ({"blend": {"min_support": 5, "max": 0.1}}, {"blend": {"min_support": 6, "max": 0.05}}),
    "another unit": ({"blend": {"min_support": 5}}, {"blend": {"min_support": {"ratio": 0.9}}}),
    "another order": (
        {"t_closeness": {"s": {"t": 0.3, "distance": "ordered", "order": ["a", "b", "c"]}}},
        {"t_closeness": {"s": {"t": 0.2, "distance": "ordered", "order": ["b", "a", "c"]}}},
    ),
    "ranks over more": (  # what is suppressed or missing makes the distance no convex one
        {"t_closeness": {"s": {"t": 0.3, "distance": "ordered", "order": ["a", "b"], "attributes": ["q1"]}}},
        {"t_closeness": {"s": {"t": 0.3, "distance": "ordered", "order": ["a", "b"]}}},
    ),
    "another population": (
        {"k_map": {"k": 3, "population": POPULATION}},
        {"k_map": {"k": 4, "population": {"path": "others.csv"}}},
    ),
    "tolerance and pair": (
        {"sensitivities": {"r": {"default": {"tolerance": 1.1}}}},
        {"sensitivities": {"r": {"default": HIV}}},
    ),
    "negated": ({"templates": {"t": T}}, {"templates": {"t": T | {"negated": True}}}),
}


@pytest.mark.parametrize(("old", "new"), INCOMPARABLE.values(), ids=INCOMPARABLE)
def test_incomparable(order, old, new):
    old, new = policy(privacy=old), policy(privacy=new)
    assert order(old, new).relation is PolicyRelation.INCOMPARABLE
    assert order(new, old).relation is PolicyRelation.INCOMPARABLE


def test_null_semantics(order):
    old = policy(privacy={"k_anonymity": {"k": 3}, "templates": {"t": T}})
    found = {}
    for nulls in ("wildcard", "exclude"):
        new = old | {"nulls": nulls}
        found[nulls] = {c.clause: c.verdict for c in order(old, new).changes}
    # rows that fit more groups have more neighbours; with every row left out k is 0, and no inference is there
    assert found["wildcard"]["privacy.k_anonymity"] is ChangeVerdict.WEAKER
    assert found["exclude"]["privacy.k_anonymity"] is ChangeVerdict.INCOMPARABLE
    assert {v["privacy.templates.t"] for v in found.values()} == {ChangeVerdict.WEAKER}
    assert {v["nulls"] for v in found.values()} == {ChangeVerdict.NEUTRAL}


def test_a_column_more_is_no_stricter_policy(order):
    new = policy()
    new["attributes"]["more"] = {"role": "insensitive"}
    assert order(policy(), new).relation is PolicyRelation.INCOMPARABLE
    assert order(new, policy()).relation is PolicyRelation.INCOMPARABLE


def test_steps_and_audits_are_means(order):
    new = policy(steps={"hide": {"use": "suppress", "with": {"attributes": ["q1"]}}})
    found = order(policy(), new)
    assert found.relation is PolicyRelation.EQUAL
    assert [c.clause for c in found.changes] == ["steps.hide"]


def test_a_gate_is_only_comparable_where_its_figure_is_measured_alike(order):
    old = policy(gates={"g": {"metric": "sizes.classes", "max": 9}})
    new = policy(gates={"g": {"metric": "sizes.classes", "max": 8}}, nulls="exclude")
    assert order(old, new).relation is PolicyRelation.INCOMPARABLE


TWO = {"study": {"from": "source", "path": "study.csv"}, "open": {"from": "hide", "path": "open.csv"}}
HIDE = {"hide": {"use": "suppress", "with": {"attributes": ["q1"]}}}


def gated(**more):
    releases = more.pop("of", TWO)
    audits = more.pop("audits", BASE["audits"])
    gate = {"metric": "sizes.classes", "max": 9} | more
    return policy(steps=HIDE, releases=releases, audits=audits, gates={"g": gate})


@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [
        ({}, {"releases": ["study"]}, PolicyRelation.WEAKER),
        ({}, {"releases": ["open", "study"]}, PolicyRelation.EQUAL),
        ({}, {"metric": "study/sizes.classes"}, PolicyRelation.WEAKER),
        ({"releases": ["study"]}, {"releases": ["study", "open"]}, PolicyRelation.STRICTER),
        ({"releases": ["study"]}, {"releases": ["open"]}, PolicyRelation.INCOMPARABLE),
        ({"releases": ["study"]}, {"metric": "study/sizes.classes"}, PolicyRelation.EQUAL),
        (
            {"releases": ["study"]},
            {"audits": {"sizes": {"use": "class_sizes", "release": "study"}}},
            PolicyRelation.EQUAL,
        ),
        ({}, {"audits": {"sizes": {"use": "class_sizes", "release": "study"}}}, PolicyRelation.WEAKER),
        ({}, {"releases": ["study"], "max": 8}, PolicyRelation.INCOMPARABLE),
        ({"releases": ["study"]}, {"releases": ["study"], "max": 8}, PolicyRelation.STRICTER),
    ],
)
def test_a_gate_is_as_strong_as_it_is_about_releases(order, old, new, relation):
    assert order(gated(**old), gated(**new)).relation is relation
    back = {PolicyRelation.WEAKER: PolicyRelation.STRICTER, PolicyRelation.STRICTER: PolicyRelation.WEAKER}.get(
        relation, relation
    )
    assert order(gated(**new), gated(**old)).relation is back


def test_data_that_a_gate_was_about_leaves_under_another_name(order):
    swapped = {"study": TWO["study"] | {"from": "hide"}, "open": TWO["open"] | {"from": "source"}}
    assert (
        order(gated(releases=["study"]), gated(releases=["study"], of=swapped)).relation is PolicyRelation.INCOMPARABLE
    )
    assert order(gated(), gated(of=swapped)).relation is PolicyRelation.EQUAL
    both = {name: release | {"from": "hide"} for name, release in TWO.items()}
    assert (
        order(gated(releases=["study"], of=both), gated(releases=["study"], of=both)).relation is PolicyRelation.EQUAL
    )


def test_floors_are_apart(order):
    old = policy(privacy={"k_anonymity": {"k": 5}}, floors={"privacy.k_anonymity.k": ">= 5"})
    new = policy(privacy={"k_anonymity": {"k": 5}}, floors={"privacy.k_anonymity.k": ">= 3"})
    found = order(old, new)
    assert found.relation is PolicyRelation.EQUAL
    assert [(c.clause, c.verdict) for c in found.governance] == [("floors.privacy.k_anonymity.k", ChangeVerdict.WEAKER)]


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (">= 5", ">= 5 and is 6", ChangeVerdict.STRONGER),
        (">= 5 and not weaker", "not weaker", ChangeVerdict.WEAKER),
        ("not weaker and >= 5", ">= 5 and not weaker", ChangeVerdict.NEUTRAL),
        (">= 5 and not weaker", "not weaker and >= 6", ChangeVerdict.STRONGER),
        (">= 5 and present", ">= 4 and present", ChangeVerdict.WEAKER),
        (">= 5", "present", ChangeVerdict.INCOMPARABLE),
    ],
)
def test_demands_of_a_floor_count_one_by_one(before, after, verdict):
    assert _moved(before, after)[0] is verdict


def test_another_kind_of_requirement_is_only_implied_by_itself():
    from ppdm_flow.policy.language.shape import policy_model
    from ppdm_flow.policy.order.claim import OpaqueClaim, opaque
    from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame

    frame = PolicyFrame(
        policy_model().model_validate({k: v for k, v in BASE.items() if k != "nulls"} | {"version": "1"})
    )
    between = ComparedPolicies(frame, frame)
    assert opaque(OpaqueClaim("new", "a"), OpaqueClaim("new", "a"), between)
    assert opaque(OpaqueClaim("new", "a"), OpaqueClaim("new", "b"), between) is None


def test_rules_know_every_field_of_the_language():
    """A new field makes policies incomparable until a rule judges it: here is where one learns of it."""
    from ppdm_flow.policy.language.kinds import built_in
    from ppdm_flow.policy.order.claim import order_of
    from ppdm_flow.policy.order.clauses import KNOWN

    empty = {
        s.name: s.requirement.model_construct(**{key: {} for key in s.requirement.model_fields}) for s in built_in()
    }
    kinds = {name: set(each.said()) - {"id", "name", "span", "releases"} for name, each in empty.items()}
    assert {kind: set(order_of(kind).fields) for kind in kinds} == kinds
    assert {model: set(known) for model, known in KNOWN.items()} == {m: set(m.model_fields) for m in KNOWN}


def test_another_database_is_another_history(order):
    old = policy(
        ledger={"url": "postgresql://one.example/ledger", "key": "ledger.key", "subject": "i"},
        privacy={"k_anonymity": {"k": 3}},
    )
    new = copy.deepcopy(old)
    new["ledger"]["url"] = "postgresql://two.example/ledger"
    assert order(old, new).relation is PolicyRelation.INCOMPARABLE


def test_what_no_rule_knows_is_incomparable(written, monkeypatch):
    from dataclasses import replace

    from ppdm_flow.policy.language.models import Release
    from ppdm_flow.policy.order import claim, clauses, compare

    old, new = written(policy(), "a.yaml"), written(policy(releases={"study": {"path": "other.csv"}}), "b.yaml")
    assert compare(old, new).relation is PolicyRelation.EQUAL
    monkeypatch.setitem(clauses.KNOWN, Release, clauses.KNOWN[Release] - {"path"})
    assert compare(old, new).relation is PolicyRelation.INCOMPARABLE
    old = written(policy(privacy={"k_anonymity": {"k": 3}}), "a.yaml")
    new = written(policy(privacy={"k_anonymity": {"k": 4}}), "b.yaml")
    assert compare(old, new).relation is PolicyRelation.STRICTER
    narrow = replace(claim.order_of("k_anonymity"), fields=frozenset({"attributes"}))
    monkeypatch.setattr(claim, "order_of", lambda _kind: narrow)
    assert compare(old, new).relation is PolicyRelation.INCOMPARABLE


@pytest.mark.parametrize(
    ("before", "after", "weighted", "verdict"),
    [
        (None, {"count": "count"}, False, ChangeVerdict.NEUTRAL),
        ({"count": "rows"}, {"count": "persons"}, False, ChangeVerdict.NEUTRAL),
        ({"count": "rows"}, {"count": "persons"}, True, ChangeVerdict.NEUTRAL),
        (None, "count", True, ChangeVerdict.INCOMPARABLE),
        ("count", None, True, ChangeVerdict.INCOMPARABLE),
    ],
)
def test_counted_records_are_the_same_rows(order, before, after, weighted, verdict):
    sides = []
    for collapse in (before, after):
        side = policy(privacy={"k_anonymity": {"k": 3}})
        side["releases"]["study"] |= {} if collapse is None else {"collapse": collapse}
        side["attributes"] |= {"w": {"role": "weight"}} if weighted else {}
        sides.append(side)
    found = {c.clause: c.verdict for c in order(*sides).changes}
    assert found == {"releases.study.collapse": verdict}
    same = PolicyRelation.EQUAL if verdict is ChangeVerdict.NEUTRAL else PolicyRelation.INCOMPARABLE
    assert order(*sides).relation is same
