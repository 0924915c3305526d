"""People with several rows: what one release tells of them, what several do together, and of whom one lacks."""

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


ALIKE = """version: 1
name: visits
source: {path: table.csv}
attributes:
  patient: {role: subject}
  age: {role: quasi_identifier}
  ill: {role: sensitive}
people: {known_rows: KNOWN}
privacy:
  beta_likeness: {ill: {beta: 0.5}}
  t_closeness: {ill: {t: 0.2, distance: equal}}
steps:
  named: STEP
releases: {study: {path: study.csv}}
"""
NAMED = "{use: pseudonymize, with: {attributes: [patient], key_env: STUDY_KEY}}"
DROPPED = "{use: drop, with: {attributes: [patient]}}"


@pytest.mark.parametrize(
    ("step", "known", "beta", "t"),
    [(NAMED, "1", 0, 0), (NAMED, "2", 1, 0.5), (NAMED, "all", 1, 0.5), (DROPPED, "2", None, None)],
)
def test_rows_that_are_known_together_are_judged_one_by_one(bench, monkeypatch, step, known, beta, t):
    """Whose ages are 12 and 18 has a cold at 12, though a cold is half of all that is seen at 12, and of such people.

    Each of the three pairs of ages is that of two people, so nothing is told by one row alone.
    """
    monkeypatch.setenv("STUDY_KEY", "7f3a9c1e5b8d2046c1e8f7a3b5d90426")
    pairs = [("12", "18"), ("25", "12"), ("18", "25")]
    rows = [
        [f"p{number}{ill}", age, each]
        for number, (cold, other) in enumerate(pairs)
        for ill in ("flu", "hiv")
        for age, each in ((cold, "cold"), (other, ill))
    ]
    bench.data(rows, "patient,age,ill")
    done = bench.run(bench.plan(ALIKE.replace("KNOWN", known).replace("STEP", step)))
    found = {r.metric: r.measured for r in done.report.requirements}
    assert found.get("privacy.beta_likeness.ill.known_rows_beta") == (None if beta is None else pytest.approx(beta))
    assert found.get("privacy.t_closeness.ill.known_rows_t") == (None if t is None else pytest.approx(t))
    alone = [m for name, m in found.items() if "known_rows" not in name]
    assert alone == pytest.approx([0] * len(alone))
