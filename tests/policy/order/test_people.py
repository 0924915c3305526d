"""What clauses say of each other where people are counted: no union of classes is bounded by its parts."""

from __future__ import annotations

import pytest

from ppdm_flow.policy.order import PolicyRelation
from ppdm_flow.policy.order.clauses import ChangeVerdict

LKC = {"l": 2, "k": 2, "c": 0.5, "sensitive": {"s": ["a"]}}
FEWER = {"attributes": ["q1"]}
ONLY_BY_ROWS = {
    "k over fewer": ({"k_anonymity": {"k": 2} | FEWER}, {"k_anonymity": {"k": 2}}),
    "alpha over fewer": ({"alpha_k": {"s": {"alpha": 0.5} | FEWER}}, {"alpha_k": {"s": {"alpha": 0.5}}}),
    "a channel of fewer": tuple(
        {"templates": {"t": {"channel": channel, "sensitive": {"s": ["a"]}, "confidence": 0.5}}}
        for channel in (["q1"], ["q1", "q2"])
    ),
    "k for lkc": ({"lkc": {"l": 2, "k": 2}}, {"k_anonymity": {"k": 3}}),
    "k and alpha for lkc": ({"lkc": LKC}, {"k_anonymity": {"k": 2}, "alpha_k": {"s": {"alpha": 0.5}}}),
}
"""(the weaker clause, the stricter one): people can find what no class over more attributes shows."""
ALSO_BY_PEOPLE = {
    "k": ({"lkc": LKC}, {"lkc": LKC | {"k": 3}}),
    "l": ({"lkc": LKC | {"l": 1}}, {"lkc": LKC}),
    "c": ({"lkc": LKC}, {"lkc": LKC | {"c": 0.4}}),
    "values": ({"lkc": LKC}, {"lkc": LKC | {"sensitive": {"s": ["a", "b"]}}}),
    "attributes": ({"lkc": LKC | FEWER | {"l": 1}}, {"lkc": LKC | {"l": 1}}),
    "lkc for k": ({"k_anonymity": {"k": 2}}, {"lkc": {"l": 2, "k": 3}}),
}
"""A bound for a reader who may know more of the same, or infer more values, bounds at least as much."""


def policy(privacy, unit):
    roles = {"who": "subject", "q1": "quasi_identifier", "q2": "quasi_identifier", "s": "sensitive"}
    return {
        "version": 1,
        "name": "p",
        "attributes": {name: {"role": role} for name, role in roles.items()},
        "people": {"unit": "rows"} if unit == "rows" else {"known_rows": 1},
        "privacy": privacy,
        "steps": {"d": {"use": "drop", "with": {"attributes": ["who"]}}},
        "releases": {"out": {"path": "out.csv"}},
    }


@pytest.mark.parametrize("name", ONLY_BY_ROWS)
def test_classes_over_more_attributes_do_not_bound_people(name, order):
    weaker, stricter = ONLY_BY_ROWS[name]
    by_rows = order(policy(weaker, "rows"), policy(stricter, "rows")).relation
    assert by_rows is PolicyRelation.STRICTER
    assert order(policy(weaker, "people"), policy(stricter, "people")).relation is PolicyRelation.INCOMPARABLE


def test_shares_of_people_bound_no_shares_of_rows(order):
    """Fifty ill rows of one person are one person in a hundred."""
    privacy = {"t_closeness": {"s": {"t": 0.2}}}
    for before, after in (("rows", "people"), ("people", "rows")):
        assert order(policy(privacy, before), policy(privacy, after)).relation is PolicyRelation.INCOMPARABLE
    assert order(policy(privacy, "rows"), policy(privacy, "rows")).relation is PolicyRelation.EQUAL


@pytest.mark.parametrize("unit", ["rows", "people"])
@pytest.mark.parametrize("name", ALSO_BY_PEOPLE)
def test_more_known_and_lower_bounds_are_stricter_for_people_too(name, unit, order):
    weaker, stricter = ALSO_BY_PEOPLE[name]
    assert order(policy(weaker, unit), policy(stricter, unit)).relation is PolicyRelation.STRICTER


def test_an_identifier_and_a_subject_are_different_things(order):
    """Neither leaves, but a subject tells whose rows are whose: requirements count otherwise by it."""
    before, after = policy({"k_anonymity": {"k": 2}}, "people"), policy({"k_anonymity": {"k": 2}}, "people")
    before["attributes"]["other"], after["attributes"]["other"] = {"role": "identifier"}, {"role": "identifier"}
    before["steps"] = after["steps"] = {"d": {"use": "drop", "with": {"attributes": ["who", "other"]}}}
    after["attributes"] |= {"who": {"role": "identifier"}, "other": {"role": "subject"}}
    found = {each.clause: each.verdict for each in order(before, after).changes}
    assert found["attributes.who.role"] is ChangeVerdict.INCOMPARABLE
    assert found["attributes.other.role"] is ChangeVerdict.INCOMPARABLE
