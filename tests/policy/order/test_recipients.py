"""`recipients: apart` takes back what releases are judged by together."""

from __future__ import annotations

import pytest

from ppdm_flow.policy.order import compare

POLICY = """version: 1
name: p
source: {path: t.csv}
attributes: {a: {role: quasi_identifier}, b: {role: quasi_identifier}}
privacy: {k_anonymity: {k: 5}}
releases: {one: {path: one.csv}, two: {path: two.csv}}
"""
APART = POLICY + "recipients: apart\n"
COMMON = "privacy: {k_anonymity: {k: 5}, cumulative_k: {k: 5}}"


@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [
        (POLICY, APART, "weaker"),
        (APART, POLICY, "stricter"),
        (APART, APART, "equal"),
        (POLICY, POLICY + "recipients: together\n", "equal"),
    ],
)
def test_order(written, old, new, relation):
    found = compare(written(old, "old.yaml"), written(new, "new.yaml"))
    assert found.relation.value == relation
    assert [c.clause for c in found.changes if c.verdict.value != "neutral"] == (
        [] if relation == "equal" else ["recipients"]
    )
    words = ["apart" if "apart" in text else "together" for text in (old, new)]
    assert [(c.old.text, c.new.text) for c in found.changes] == ([] if relation == "equal" else [tuple(words)])


def test_cumulative_k_of_a_run_is_stronger_than_none(written):
    asked = POLICY.replace("privacy: {k_anonymity: {k: 5}}", COMMON)
    assert compare(written(POLICY, "old.yaml"), written(asked, "new.yaml")).relation.value == "stricter"
    lower = asked.replace("cumulative_k: {k: 5}", "cumulative_k: {k: 4}")
    assert compare(written(asked, "old.yaml"), written(lower, "new.yaml")).relation.value == "weaker"


@pytest.mark.parametrize("policy", [POLICY.replace(", two: {path: two.csv}", ""), APART])
def test_cumulative_k_of_a_single_release_needs_a_ledger(written, policy):
    assert written(policy.replace("privacy: {k_anonymity: {k: 5}}", COMMON)) is None
