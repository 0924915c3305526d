"""Audits that take released rows for draws from a crowd."""

from __future__ import annotations

import pytest

POLICY = """attributes:
  age: {role: insensitive, type: integer}
  sex: {role: insensitive}
  grade: {role: sensitive, domain: [A, B, C, D]}
privacy:
  sensitivities: {grade: {default: {r1: 0.1, r2: 0.25}}}
steps:
  perturb: {use: fine_grain_perturbation}
  less: {use: drop, with: {attributes: [sex]}}
  one: {use: sample, with: {by: [age], rows: 1}}
audits:
  knowing: {use: corruption, with: {sampled: 3}}
gates:
  in-a-crowd: {metric: one.smallest_group, min: 3}
releases:
  study: {path: study.csv}
"""

ALSO_PERTURBED = POLICY.replace("  sex: {role: insensitive}", "  sex: {role: ROLE}").replace(
    "  less: {use: drop, with: {attributes: [sex]}}", "  less: {use: pram, with: {attribute: sex, retain: 0.999}}"
)
"""A second perturbed attribute, which the groups of the sample do not keep together."""


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("", "", False),
        ("min: 3", "min: 2", True),
        ("rows: 1", "rows: 2", True),
        ("by: [age], rows: 1", "size: 10", True),
        ("  less: {use: drop, with: {attributes: [sex]}}\n", "", True),
        ("study.csv}", "study.csv, from: less}", True),
        ("sampled: 3", "corrupted: 3", False),
        ("study.csv}", "study.csv}\n  all: {path: all.csv, from: less}", True),
        ("study.csv}", "study.csv}\n  all: {path: all.csv, from: less}\nrecipients: apart", False),
        ("study.csv}", "study.csv}\n  same: {path: same.csv}", False),
        ("study.csv}", "study.csv}\nwaivers: {w: {of: gates.in-a-crowd, WHY}}", True),
        ("study.csv}", "study.csv}\n  other: {path: o.csv}\nwaivers: {w: {of: gates.other, WHY}}", False),
    ],
)
def test_a_crowd_is_made_by_a_step_and_held_by_a_gate(compiled, old, new, wrong):
    why = "reason: a test, owner: me, until: 2026-12-24"
    found = compiled(
        POLICY.replace(old, new.replace("WHY", why)).replace("{use: corruption,", "{use: corruption, release: study,")
    )
    assert ("PPF539" in [each.code for each in found.diagnostics]) is wrong


@pytest.mark.parametrize(
    ("role", "wrong"), [("quasi_identifier", True), ("insensitive", True), ("target", True), ("sensitive", False)]
)
def test_what_is_kept_with_999_in_1000_tells_people_apart_unless_nobody_knows_it_before(compiled, role, wrong):
    found = compiled(ALSO_PERTURBED.replace("ROLE", role))
    assert ("PPF539" in [each.code for each in found.diagnostics]) is wrong
