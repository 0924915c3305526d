"""Several releases of people with several rows: k of each, of what they tell together, and of whom one lacks."""

from __future__ import annotations

from collections import Counter, defaultdict

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
people: {known_rows: KNOWN}
privacy: {k_anonymity: {k: 2}}
steps:
  named: {use: pseudonymize, with: {attributes: [patient], key_env: STUDY_KEY}}
  ages: {use: drop, with: {attributes: [zip]}}
  zips: {use: drop, input: named, with: {attributes: [age]}}
releases: {a: {path: a.csv, from: ages}, z: {path: z.csv, from: zips}}
"""


@pytest.fixture
def visits(bench, monkeypatch):
    monkeypatch.setenv("STUDY_KEY", "7f3a9c1e5b8d2046c1e8f7a3b5d90426")
    rng = np.random.default_rng(5)
    rows = [[f"p{rng.integers(60)}", *(str(rng.integers(3)) for _ in range(2)), str(i)] for i in range(150)]
    bench.data(rows, "patient,age,zip,day")
    return rows


def figures(bench, text):
    done = bench.run(bench.plan(text))
    return {(r.release, r.metric): r.measured for r in done.report.requirements}


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("known", ["1", "all"])
def test_people_are_found_by_both_releases_under_one_pseudonym(bench, visits, known):
    """The day of a visit is in both: a reader who knows an age and a zip code finds who has such a visit."""
    found = figures(bench, POLICY.replace("KNOWN", known))
    classes, profiles = defaultdict(set), defaultdict(Counter)
    for who, age, zip_, _ in visits:
        classes[age, zip_].add(who)
        profiles[who][age, zip_] += 1
    if known == "1":
        assert found["a", "privacy.k_anonymity.together_k"] == min(map(len, classes.values()))
    else:  # all visits of somebody, among those of others who may have more
        least = min(sum(own <= other for other in profiles.values()) for own in profiles.values())
        assert found["a", "privacy.k_anonymity.together_k"] <= least


@pytest.mark.slow
def test_people_whose_rows_one_release_lacks_are_found_by_that(bench, visits):
    """Each person's row that is left is drawn, so that nothing is told by a row that is not there."""
    few = "few: {use: limit_rows, input: named, with: {rows: 1}}"
    text = POLICY.replace("KNOWN", "1").replace("zips: {use: drop, input: named", f"{few}\n  zips: {{use: drop")
    text = text.replace("ages: {", "ages: {input: named, ")
    found = figures(bench, text)
    assert 1 <= found["a", "privacy.k_anonymity.together_k"] <= found["a", "privacy.k_anonymity.k"]
