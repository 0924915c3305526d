"""Sampling weights are numbers of people above 0, count nothing, and are not taken for numbers of rows."""

from __future__ import annotations

import pytest

from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.run.preview import preview

POLICY = """version: 1
name: survey
source: {path: table.csv}
attributes:
  job: {role: quasi_identifier}
  w: {role: sampling_weight}
  wage: {role: sensitive}
privacy: {k_anonymity: {k: 3}}
releases:
  study: {path: study.csv}
"""
HEADER = "job,w,wage"
ROWS = [["clerk", "118.5", "low"], ["clerk", ".25", "high"], ["clerk", "1e3", "low"], ["clerk", "7", "low"]]


@pytest.mark.parametrize("type_", ["", ", type: float"])
def test_weights_are_released_as_any_column_and_count_nothing(bench, tools, type_):
    bench.data(ROWS, HEADER)
    report = bench.run(bench.plan(POLICY.replace("sampling_weight", f"sampling_weight{type_}")))
    assert report.report.verdict == "released"
    (k,) = [r for r in report.report.requirements if r.id == "privacy.k_anonymity"]
    assert k.measured == len(ROWS)
    assert b"118.5" in tools.released(report.run_dir)["study/study.csv"]


def test_a_respondent_with_a_large_weight_is_no_crowd(bench):
    bench.data([*ROWS, ["astronaut", "5000", "high"]], HEADER)
    report = bench.run(bench.plan(POLICY)).report
    assert report.verdict == "withheld"
    assert [r.measured for r in report.requirements] == [1]


BAD = ["0", "-3", "1,5", "inf", "nan", "many", "0x10", "1e13", "0.000"]


@pytest.mark.parametrize("weight", ["", *BAD])
@pytest.mark.parametrize("rows", [1, 1000])
def test_what_is_no_weight_is_told_by_its_row(bench, weight, rows):
    bench.data([*ROWS, ["pilot", f'"{weight}"' if "," in weight else weight, "low"]], HEADER)
    error = bench.fails(bench.plan(POLICY), partition_rows=rows)
    assert isinstance(error, DataError)
    (fault,) = error.diagnostics
    assert fault.code == "PPF715"
    assert fault.message.startswith("row 5: column `w`")
    assert ("missing" in fault.message) is (not weight)
    assert "pilot" not in fault.message
    assert weight not in {"-3", "many"} or weight not in fault.message


def test_rows_that_the_policy_drops_need_no_weight(bench):
    bench.data([*ROWS, ["pilot", "", "low"]], HEADER)
    text = POLICY.replace("{path: table.csv}", "{path: table.csv, incomplete_rows: drop}")
    assert bench.run(bench.plan(text)).report.verdict == "released"


COUNTED = POLICY.replace("sampling_weight", "weight")


def warned(bench, weights):
    """Whether the preview and the report warn of these weights of rows."""
    bench.data([["clerk", str(w), "low"] for w in weights], HEADER)
    plan = bench.plan(COUNTED)
    before = [d.message for d in preview(plan, None).diagnostics if d.code == "PPF859"]
    after = [f.text for f in bench.run(plan).report.findings if f.code == "PPF859"]
    assert before == after
    return bool(before)


@pytest.mark.slow
def test_row_counts_that_look_like_survey_weights(bench):
    assert warned(bench, [118, 96, 240, 77] * 10)
    assert not warned(bench, [118, 96, 240, 77] * 4)  # too few rows to tell
    assert not warned(bench, [118, 96, 240, 77] * 10 + [1])  # a row that occurs once
    assert not warned(bench, [5, 6, 9, 12] * 10)  # classes of a small table


def test_many_partitions_are_added_up(bench):
    bench.data([["clerk", str(w), "low"] for w in [118, 96, 240, 77] * 10], HEADER)
    report = bench.run(bench.plan(COUNTED), partition_rows=7).report
    (finding,) = [f for f in report.findings if f.code == "PPF859"]
    assert "40 rows" in finding.text
    assert "133 on average" in finding.text


def test_row_counts_with_decimals_are_told_of_the_other_role(bench):
    bench.data(ROWS, HEADER)
    (fault,) = bench.fails(bench.plan(COUNTED)).diagnostics
    assert fault.code == "PPF715"
    assert "sampling_weight" in str(fault.help)
