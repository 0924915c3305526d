"""Audits of risks in a run where people are counted: on the released file, and by both routes."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

POLICY = """version: 1
name: visits
source: {path: table.csv}
attributes:
  patient: {role: subject}
  age: {role: quasi_identifier}
  zip: {role: quasi_identifier}
  day: {role: insensitive}
people: {known_rows: 2}
privacy: {k_anonymity: {k: 2}}
steps:
  named: {use: pseudonymize, with: {attributes: [patient], key_env: STUDY_KEY}}
audits:
  sizes: {use: class_sizes}
  risk: {use: reidentification_risk}
releases: {a: {path: a.csv, from: LAST}}
"""


@pytest.fixture
def visits(bench, monkeypatch):
    monkeypatch.setenv("STUDY_KEY", "7f3a9c1e5b8d2046c1e8f7a3b5d90426")
    rng = np.random.default_rng(5)
    rows = [[f"p{rng.integers(40)}", *(str(rng.integers(3)) for _ in range(2)), "d"] for i in range(150)]
    bench.data(rows, "patient,age,zip,day")
    return rows


def metrics(bench, text):
    return bench.run(bench.plan(text)).report.metrics


def test_the_file_is_counted_by_people(bench, visits):
    text = POLICY.replace("LAST", "tidy").replace(
        "steps:", "steps:\n  tidy: {use: drop, with: {attributes: [patient]}}"
    )
    text = text.replace("  named: {use: pseudonymize, with: {attributes: [patient], key_env: STUDY_KEY}}\n", "")
    found = metrics(bench, text)
    classes = defaultdict(set)
    for who, age, zip_, _ in visits:
        classes[age, zip_].add(who)
    sizes = [len(own) for own in classes.values()]
    assert found["sizes.smallest"].value == min(sizes)
    assert found["sizes.smallest"].unit == "people"
    assert found["risk.prosecutor_highest"].value == pytest.approx(1 / min(sizes))


def test_a_pseudonym_tells_more(bench, visits):
    found = metrics(bench, POLICY.replace("LAST", "named"))
    assert found["risk.prosecutor_highest"].value > 1 / found["sizes.smallest"].value
