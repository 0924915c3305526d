"""People with several rows, from the source to the verdict: the same bytes however the run is cut, and ways around."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

POLICY = """version: 1
name: visits
source: {path: table.csv}
attributes:
  patient: {role: subject}
  age: {role: insensitive}
  ill: {role: sensitive, domain: [flu, cold, HIV, ok]}
people: {known_rows: 1}
privacy:
  sensitivities: {ill: {values: {HIV: {r1: 0.05, r2: 0.25}}}}
steps:
  STEPS
releases:
  study: {path: study.csv}
"""
FINE = "p: {use: fine_grain_perturbation}"
ILLS = ("flu", "cold", "HIV", "ok")


@pytest.fixture
def visits(bench):
    """400 patients, of whom every fourth has two illnesses; each illness is in one to nine rows, in any order."""
    rng = np.random.default_rng(3)
    rows = []
    for i in range(400):
        for ill in rng.choice(ILLS, 2 if i % 4 == 0 else 1, replace=False):
            rows += [[f"p{1000 + i}", str(20 + i % 7), str(ill)]] * int(rng.integers(1, 10))
    found = [rows[i] for i in rng.permutation(len(rows))]
    bench.data(found, "patient,age,ill")
    return found


def outcome(bench, *steps: str, **options):
    return bench.run(bench.plan(POLICY.replace("STEPS", "\n  ".join(steps))), **options)


def verdict(bench, *steps: str) -> tuple[str, str]:
    report = outcome(bench, *steps).report
    return report.verdict, report.requirements[0].sentence


@pytest.mark.slow
@pytest.mark.usefixtures("visits")
@pytest.mark.parametrize("step", [FINE, "p: {use: pram}"])
def test_the_same_bytes_for_any_partitions_and_workers(bench, tools, step):
    files = []
    for rows, workers in ((1 << 18, 2), (97, 1), (11, 2)):
        done = outcome(bench, step, partition_rows=rows, workers=workers)
        assert done.report.verdict == "released"
        files.append({k: v for k, v in tools.released(done.run_dir).items() if k.endswith((".csv", "operator.json"))})
    assert files[0] == files[1] == files[2]
    (text,) = (v.decode() for k, v in files[0].items() if k.endswith(".csv"))
    (operator,) = (v.decode() for k, v in files[0].items() if k.endswith("operator.json"))
    assert "patient" not in text
    assert '"values_per_person":2' in operator.replace(" ", "")


@pytest.mark.usefixtures("visits")
def test_a_pseudonym_beside_a_perturbed_value_shows_one_draw_a_value(bench, tools, monkeypatch):
    monkeypatch.setenv("STUDY_KEY", "7f3a9c1e5b8d2046c1e8f7a3b5d90426")
    done = outcome(bench, "k: {use: pseudonymize, with: {attributes: [patient], key_env: STUDY_KEY}}", FINE)
    assert done.report.verdict == "released"
    (text,) = (v.decode() for k, v in tools.released(done.run_dir).items() if k.endswith(".csv"))
    shown: dict[str, set[str]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        shown.setdefault(row["patient"], set()).add(row["ill"])
    assert len(shown) == 400
    assert max(map(len, shown.values())) == 2


@pytest.mark.slow(quick=2)
@pytest.mark.usefixtures("visits")
@pytest.mark.parametrize(
    ("steps", "why"),
    [
        (["d: {use: drop, with: {attributes: [patient]}}", FINE], "drawn apart"),
        (
            [
                "m: {use: mask, with: {attributes: {patient: {first: 2}}}}",
                FINE,
                "d: {use: drop, with: {attributes: [patient]}}",
            ],
            "share draws",
        ),
        (["p: {use: pram, with: {attribute: ill, retain: 0.6}}"], "can become one of"),
    ],
)
def test_ways_around_are_withheld(bench, steps, why):
    found, sentence = verdict(bench, *steps)
    assert found == "withheld"
    assert why in sentence


@pytest.mark.slow
def test_a_sample_and_missing_values(bench, visits):
    bench.data([[who, age, "" if i % 11 == 0 else ill] for i, (who, age, ill) in enumerate(visits)], "patient,age,ill")
    assert verdict(bench, "s: {use: sample, with: {fraction: 0.5}}", FINE)[0] == "released"
    assert verdict(bench, FINE, "s: {use: sample, with: {fraction: 0.5}}")[0] == "released"


def test_a_row_of_nobody_ends_the_run(bench, visits):
    bench.data([*visits, ["", "30", "HIV"]], "patient,age,ill")
    bench.fails(lambda: bench.plan(POLICY.replace("STEPS", FINE)))
