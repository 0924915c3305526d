"""Patterns mean columns that nobody has read yet; waivers say what need not hold for a while."""

from __future__ import annotations

import copy

import pytest

from ppdm_flow.policy.order import ChangeVerdict, PolicyRelation

PATTERNS = """\
version: 1
name: p
attributes:
  "addr_*": {role: quasi_identifier}
  "addr_z*": {role: quasi_identifier}
  age: {role: quasi_identifier}
  "diag_*": {role: sensitive}
privacy:
  k_anonymity: {k: 3}
  l_diversity: {"diag_*": {l: 2}}
releases: {r: {path: r.csv}}
"""


def test_patterns_compare_where_the_same_are_declared(order):
    tighter = PATTERNS.replace("k: 3", "k: 4").replace("l: 2", "l: 3")
    assert order(PATTERNS, tighter).relation is PolicyRelation.STRICTER
    assert order(tighter, PATTERNS).relation is PolicyRelation.WEAKER


@pytest.mark.parametrize(
    "change",
    [
        ('  "addr_z*": {role: quasi_identifier}\n', '  "addr_z*": {role: insensitive}\n'),
        ('  "addr_z*": {role: quasi_identifier}\n', ""),
        ('  l_diversity: {"diag_*": {l: 2}}', '  l_diversity: {"diag_*": {l: 2}, diag_1: {l: 5}}'),
    ],
)
def test_other_patterns_are_never_stricter(order, change):
    other = PATTERNS.replace(*change)
    assert other != PATTERNS
    found = order(PATTERNS, other), order(other, PATTERNS)
    assert all(f.relation is not PolicyRelation.EQUAL for f in found)
    assert not {f.relation for f in found} <= {PolicyRelation.STRICTER}


def test_patterns_in_another_order(order):
    first, second = ('  "addr_*": {role: quasi_identifier}\n', '  "addr_z*": {role: quasi_identifier}\n')
    other = PATTERNS.replace(first + second, second + first)
    assert order(PATTERNS, other).relation is PolicyRelation.INCOMPARABLE


BASE = {
    "version": 1,
    "name": "p",
    "attributes": {"a": {"role": "quasi_identifier"}, "s": {"role": "sensitive"}},
    "privacy": {
        "k_anonymity": {"k": 3},
        "templates": {
            "one": {"channel": ["a"], "sensitive": {"s": ["x"]}, "confidence": 0.4},
            "two": {"channel": ["a"], "sensitive": {"s": ["x"]}, "confidence": 0.5},
        },
    },
    "releases": {"r": {"path": "r.csv"}},
}


def waived(of, until="2026-12-31"):
    return {"of": of, "until": until, "reason": "known", "owner": "someone"}


def test_waivers_are_weaker(loaded_tree):
    from ppdm_flow.policy.order import compare

    plain, one = loaded_tree(BASE, {}), loaded_tree(BASE, {"w": waived("privacy.k_anonymity")})
    longer = loaded_tree(BASE, {"w": waived("privacy.k_anonymity", "2027-01-31")})
    for old, new in ((plain, one), (one, longer), (plain, longer)):
        assert compare(old, new).relation is PolicyRelation.WEAKER
        assert compare(new, old).relation is PolicyRelation.STRICTER
    assert compare(plain, loaded_tree(BASE, {"w": waived("PPF822")})).relation is PolicyRelation.WEAKER
    renamed = loaded_tree(BASE, {"w": waived("PPF876")}), loaded_tree(BASE, {"w": waived("PPF822")})
    assert compare(*renamed).relation is PolicyRelation.EQUAL
    other = loaded_tree(BASE, {"w": waived("privacy.templates.one")})
    assert compare(one, other).relation is PolicyRelation.INCOMPARABLE


def test_what_is_waived_implies_nothing_that_is_not(loaded_tree):
    """`one` implies `two`; where `one` may fail, `two` is not implied by it any more."""
    from ppdm_flow.policy.order import compare

    less = copy.deepcopy(BASE)
    less["privacy"]["templates"].pop("two")
    assert compare(loaded_tree(BASE, {}), loaded_tree(less, {})).relation is PolicyRelation.EQUAL
    both = {"w": waived("privacy.templates.one")}
    found = compare(loaded_tree(BASE, both), loaded_tree(less, both))
    assert found.relation is PolicyRelation.WEAKER
    assert [c.clause for c in found.changes if c.verdict is ChangeVerdict.WEAKER] == ["privacy.templates.two"]


@pytest.fixture
def loaded_tree(written):
    """Load a policy, and put waivers into its tree."""
    from dataclasses import replace

    def load(policy, waivers):
        loaded = written(policy)
        return replace(loaded, tree={**loaded.tree, "waivers": waivers})

    return load


def test_a_pattern_by_role_is_not_the_same_pattern_in_a_clause(order):
    """Written in a clause, `addr_*` takes in `addr_note`, which is no quasi-identifier."""
    text = """\
version: 1
name: p
attributes:
  addr_note: {role: insensitive}
  "addr_*": {role: quasi_identifier}
privacy:
  k_anonymity: {k: 3}
releases: {r: {path: r.csv}}
"""
    named = text.replace("k: 3", 'k: 3, attributes: ["addr_*"]')
    assert order(named, text).relation is PolicyRelation.INCOMPARABLE
    assert order(text, named).relation is PolicyRelation.INCOMPARABLE
    assert order(named, named.replace("k: 3", "k: 4")).relation is PolicyRelation.STRICTER


def test_long_lists_are_compared_to_their_end(order):
    columns = [f"a_column_with_a_long_name_{i}" for i in range(12)]
    text = "version: 1\nname: p\nsource: {columns: [%s]}\nattributes: {%s}\nreleases: {r: {path: r.csv}}\n"
    attributes = ", ".join(f"{name}: {{role: insensitive}}" for name in columns)
    old = text % (", ".join(columns), attributes)
    new = text % (", ".join([*columns[:-2], *columns[:-3:-1]]), attributes)
    assert order(old, new).relation is PolicyRelation.INCOMPARABLE
