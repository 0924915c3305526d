"""`analyses:` asks nothing of a release: another one is no stricter. Gates on it are on another figure."""

from __future__ import annotations

import pytest

from ppdm_flow.policy.order import compare

POLICY = """version: 1
name: p
attributes:
  age: {role: quasi_identifier, type: integer}
  wage: {role: insensitive, type: float}
privacy: {k_anonymity: {k: 5}}
releases: {one: {path: one.csv}}
"""
WAGE = POLICY + "analyses: {wage: {regression: wage, on: [age]}}\n"
MEAN = POLICY + "analyses: {wage: {mean: wage}}\n"
MORE = WAGE.replace("]}}", "]}, pay: {mean: wage}}")
GATE = "gates: {g: {metric: analyses.wage.least_overlap, min: %s}}\n"
ANY = "gates: {g: {metric: analyses.worst_overlap, min: 0.5}}\n"


@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [
        (POLICY, WAGE, "equal"),
        (WAGE, POLICY, "equal"),
        (WAGE, MEAN, "equal"),
        (WAGE, WAGE + GATE % 0.5, "stricter"),
        (WAGE + GATE % 0.5, WAGE + GATE % 0.6, "stricter"),
        (WAGE + GATE % 0.6, MORE + GATE % 0.5, "weaker"),
        (WAGE + GATE % 0.5, MORE + GATE % 0.5, "equal"),
        (WAGE + GATE % 0.5, MEAN + GATE % 0.5, "incomparable"),
        (WAGE + ANY, MORE + ANY, "incomparable"),
    ],
)
def test_order(written, old, new, relation):
    found = compare(written(old, "old.yaml"), written(new, "new.yaml"))
    assert found.relation.value == relation


def test_what_changed_is_said(written):
    changes = compare(written(WAGE, "old.yaml"), written(MORE, "new.yaml")).changes
    assert [(c.clause, c.verdict.value) for c in changes] == [("analyses.pay", "neutral")]
    changes = compare(written(WAGE, "old.yaml"), written(MEAN, "new.yaml")).changes
    assert [(c.clause, c.verdict.value) for c in changes] == [("analyses.wage", "neutral")]
