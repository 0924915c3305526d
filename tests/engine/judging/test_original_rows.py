"""Requirements on whole rows, in real runs: both routes over real files, copies withheld, other rows released."""

from __future__ import annotations

import pytest

POLICY = """version: 1
name: clinic
source: {path: table.csv, missing: ["?", ""]}
attributes:
  name: {role: identifier}
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 40, 120]}}
  town: {role: quasi_identifier}
  illness: {role: insensitive}
  score: {role: insensitive}
privacy:
  anonymity_score: {max: 0.5}
  blend: {min_support: {count: 3}}
"""
COPY = "releases: {study: {path: study.csv}, other: {path: other.parquet}}\n"
RENAMED = "steps: {new: {use: rename, with: {attributes: {town: place, age: years}}}}\n"


def results(outcome, release="study"):
    return {r.id: r for r in outcome.report.requirements if r.release == release}


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("steps", ["", RENAMED])
def test_copies_are_withheld(bench, tools, steps):
    data = [*tools.rows(300), ["x", "?", "", "", "0"], ["y", "", "?", "", "0"]]
    path = bench.data(data)
    outcome = bench.run(bench.plan(POLICY + steps + COPY, path), path)
    assert outcome.report.verdict == "withheld"
    for release in ("study", "other"):
        found = results(outcome, release)
        assert found["privacy.anonymity_score"].measured == 1.0
        assert found["privacy.blend"].measured == 1.0
    assert "study/privacy.blend.exact.share" in outcome.report.metrics
    assert tools.CANARY not in repr(outcome.report.findings)


def test_rows_that_hide_in_crowds_are_released(bench, tools):
    """Three towns, four of everyone: nobody is rare, and `blend` holds of copies; the score does not."""
    data = [["x", "30", f"t{i % 3}", "flu", "1"] for i in range(12)]
    path = bench.data(data)
    found = results(bench.run(bench.plan(POLICY + COPY, path), path))
    assert found["privacy.blend"].measured == 0.0
    assert found["privacy.blend"].holds
    assert not found["privacy.anonymity_score"].holds


def test_weights_count_people(bench, tools):
    policy = POLICY.replace("score: {role: insensitive}", "score: {role: weight}")
    data = [["x", "30", "a", "flu", "5"], ["y", "30", "b", "flu", "1"], ["z", "30", "c", "flu", "0"]]
    path = bench.data(data)
    outcome = bench.run(bench.plan(policy + "releases: {study: {path: study.csv}}\n", path), path)
    metrics = outcome.report.metrics
    assert metrics["privacy.blend.exact.rare_released"].value == 1
    assert metrics["privacy.anonymity_score.exact.as_of_original"].value == 1.2
    assert metrics["privacy.anonymity_score.exact.distinct"].value == 2


def test_nothing_to_compare_is_withheld(bench, tools):
    policy = POLICY[: POLICY.index("  age:")] + "  age: {role: quasi_identifier, type: integer}\nundeclared: drop\n"
    policy += POLICY[POLICY.index("privacy:") :]
    policy += "steps: {g: {use: generalize, with: {attributes: {age: {intervals: [0, 40, 120]}}}}}\n"
    path = bench.data(tools.rows(20))
    outcome = bench.run(bench.plan(policy + "releases: {study: {path: study.csv}}\n", path), path)
    assert outcome.report.verdict == "withheld"
    assert [r.measured for r in outcome.report.requirements] == [None, None]
    assert "nothing can be said" in outcome.report.requirements[0].sentence
