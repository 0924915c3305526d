"""Classes of people with several rows, from the policy to the verdict."""

from __future__ import annotations

import numpy as np
import pytest

POLICY = """version: 1
name: visits
source: {path: table.csv}
attributes:
  patient: {role: subject}
  age: {role: quasi_identifier, type: integer}
  town: {role: quasi_identifier}
  ill: {role: sensitive}
  ward: {role: insensitive}
people: {known_rows: %s}
privacy:
  k_anonymity: {k: 4}%s
steps:
%s
releases:
  study: {path: study.csv}
"""
OTHERS = """
  l_diversity: {ill: {l: 2}}
  alpha_k: {ill: {alpha: 0.9}}
  t_closeness: {ill: {t: 0.4}}"""
GONE = "  gone: {use: drop, with: {attributes: [patient]}}"


@pytest.fixture
def visits(bench, monkeypatch):
    """300 patients of one to nine visits, a third of which in wards of their own."""
    monkeypatch.setenv("STUDY_KEY", "7f3a9c1e5b8d2046c1e8f7a3b5d90426")
    rng = np.random.default_rng(3)
    rows = []
    for patient in range(300):
        age, town = int(rng.integers(18, 90)), str(rng.choice(list("ABCDE")))
        for _ in range(int(rng.choice([1, 1, 2, 3, 5, 9]))):
            ill = str(rng.choice(["flu", "cold", "hiv", "ok", "ok"]))
            ward = f"w{patient}" if rng.random() < 0.3 else str(rng.choice(list("xyz")))
            rows.append([f"patient-{patient}-canary", str(age), town, ill, ward])
    bench.data(rows, "patient,age,town,ill,ward")
    return rows


def run(bench, known, others, *steps):
    return bench.run(bench.plan(POLICY % (known, others, "\n".join(steps)))).report


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("known", [1, 2, 3])
@pytest.mark.usefixtures("visits")
def test_without_linked_rows_classes_are_all_that_is_told(bench, known):
    unlink = "  unlink: {use: suppress, with: {small: keep, linked: drop}}"
    report = run(bench, known, OTHERS, unlink, "  recode: {use: mondrian}", GONE)
    assert report.verdict == "released"
    assert {r.id for r in report.requirements} >= {"privacy.k_anonymity", "privacy.t_closeness.ill"}


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("known", [1, 2, "all"])
@pytest.mark.usefixtures("visits")
def test_suppress_finishes_the_job_of_the_classes(bench, known):
    steps = "  recode: {use: mondrian}", "  rest: {use: suppress}", GONE
    assert run(bench, known, "", steps[0], steps[2]).verdict == "withheld"
    report = run(bench, known, "", *steps)
    assert report.verdict == "released"


@pytest.mark.slow
@pytest.mark.usefixtures("visits")
def test_pseudonyms_link_all_rows(bench):
    steps = (
        "  codes: {use: pseudonymize, with: {attributes: [patient], key_env: STUDY_KEY}}",
        "  plain: {use: drop, with: {attributes: [ward]}}",
        "  recode: {use: mondrian}",
        "  rest: {use: suppress}",
    )
    report = run(bench, 2, "", *steps)
    assert report.verdict == "released"
    assert any(r.metric.endswith("known_rows_k") and r.measured >= 4 for r in report.requirements)
    assert report.metrics["rest.suppressed_rows"].value < 600
    assert run(bench, 2, "", *steps[:3]).verdict == "withheld"


@pytest.mark.parametrize("step", ["recode: {use: mondrian}", "rest: {use: suppress}"])
@pytest.mark.usefixtures("visits")
def test_who_is_counted_must_reach_the_step(bench, step):
    with pytest.raises(AssertionError, match="PPF780"):
        bench.plan(POLICY % (1, "", f"{GONE}\n  {step}"))


@pytest.mark.slow
@pytest.mark.usefixtures("visits")
def test_the_same_bytes_for_any_partitions(bench, tools):
    """The cut of the table does not decide who comes first."""
    steps = (
        "  unlink: {use: suppress, with: {small: keep, linked: drop}}",
        "  recode: {use: mondrian, with: {partitioning: relaxed}}",
        "  rest: {use: suppress, with: {small: rows}}",
        GONE,
    )
    policy = POLICY.replace("version: 1", "version: 1\nrandomness: {mode: reproducible, seed: 3}")
    plan = bench.plan(policy % (2, "", "\n".join(steps)))
    files = [
        tools.released(bench.run(plan, partition_rows=rows, workers=workers).run_dir)["study/study.csv"]
        for rows, workers in ((1 << 18, 2), (97, 1), (11, 2))
    ]
    assert files[0] == files[1] == files[2]
