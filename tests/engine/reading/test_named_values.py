"""A value that a requirement names, and that nobody has, disarms it: it is refused before the run."""

from __future__ import annotations

import shutil

import pytest

from ppdm_flow.core.errors import DataError

POLICY = """version: 1
name: clinic
source: {path: table.csv}
attributes:
  job: {role: quasi_identifier}
  illness: {role: sensitive}
privacy:
  REQUIREMENT
releases:
  study: {path: study.csv}
"""
CLAUSES = {
    "template": "templates: {hidden: {channel: [job], sensitive: {illness: [%s]}, confidence: 0.6ABSENT}}",
    "alpha_k": "alpha_k: {illness: {alpha: 0.6, values: [%s], attributes: [job]ABSENT}}",
    "lkc": "lkc: {l: 1, k: 2, c: 0.6, sensitive: {illness: [%s]}ABSENT}",
    "order": "t_closeness: {illness: {t: 0.9, distance: ordered, order: [flu, HIV, %s]ABSENT}}",
}
VALUES = "sensitivities: {illness: {default: {tolerance: 3}, values: {%s: {r1: 0.3, r2: 0.7}}ABSENT}}"
GROUPS = "sensitivities: {illness: {groups: {bad: {values: [HIV, %s], r1: 0.3, r2: 0.7}}ABSENT}}"
PERTURB = """steps:
  perturb: {use: fine_grain_perturbation, with: {attribute: illness}}
releases:
  study: {from: perturb, path: study.csv}
"""
ROWS = [["a", "HIV"], ["a", "flu"], ["b", "HIV"], ["b", "flu"]] * 100


def policy(clause, value, *, absent="", text=POLICY):
    said = f", values_absent: {absent}" if absent else ""
    return text.replace("REQUIREMENT", (clause % value).replace("ABSENT", said))


def perturbing(text):
    return text.replace("releases:\n  study: {path: study.csv}\n", PERTURB)


def refusal(bench, text):
    shutil.rmtree(bench.out, ignore_errors=True)
    error = bench.fails(bench.plan(text))
    assert isinstance(error, DataError)
    assert {d.code for d in error.diagnostics} == {"PPF631"}
    return error.diagnostics


def illnesses(bench, text):
    run = bench.run(bench.plan(text))
    assert run.report.verdict == "released"
    (file,) = run.run_dir.rglob("study.csv")
    return {line.split(",")[1] for line in file.read_text().splitlines()[1:]}


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize("clause", CLAUSES.values(), ids=CLAUSES)
def test_a_value_that_nobody_has(bench, clause):
    bench.data([*ROWS, ["a", "gout"], ["b", "gout"]] if "order" in clause else ROWS, "job,illness")
    (fault,) = refusal(bench, policy(clause, "HIVV"))
    assert "`HIVV`" in fault.message
    assert fault.span is not None
    known = "gout" if "order" in clause else "flu"
    assert bench.run(bench.plan(policy(clause, known))).report.verdict == "released"


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("clause", [CLAUSES["template"], CLAUSES["alpha_k"], CLAUSES["lkc"]])
def test_a_value_that_may_be_absent(bench, clause):
    bench.data(ROWS, "job,illness")
    assert bench.run(bench.plan(policy(clause, "plague", absent="allowed"))).report.verdict == "released"
    refusal(bench, policy(clause, "plague", absent="error"))
    declared = POLICY.replace("role: sensitive", "role: sensitive, domain: [HIV, flu, plague]")
    assert bench.run(bench.plan(policy(clause, "plague", text=declared))).report.verdict == "released"


@pytest.mark.parametrize("clause", [VALUES, GROUPS])
def test_randomization_invents_no_value(bench, clause):
    bench.data(ROWS, "job,illness")
    refusal(bench, perturbing(policy(clause, "HIVV")))
    assert illnesses(bench, perturbing(policy(clause, "plague", absent="allowed"))) == {"HIV", "flu"}
    declared = POLICY.replace("role: sensitive", "role: sensitive, domain: [HIV, flu, plague]")
    assert illnesses(bench, perturbing(policy(clause, "plague", text=declared))) == {"HIV", "flu", "plague"}


def test_only_what_the_policy_says_is_hinted_at(bench):
    bench.data([["a", "hepatitis"], ["b", "gastritis"]] * 3, "job,illness")
    clause = CLAUSES["alpha_k"]
    (fault,) = refusal(bench, policy(clause, "hepatitits"))
    assert "hepatitis" not in f"{fault.message}{fault.hint}{fault.help}"
    (fault,) = refusal(bench, policy(clause, "hepatitits, hepatitis"))
    assert fault.hint == "did you mean `hepatitis`?"
    (fault,) = refusal(bench, policy(clause, "hepatitits") + "report: {values: show}\n")
    assert fault.hint == "did you mean `hepatitis`?"
    (fault,) = refusal(bench, policy(clause, "hepatitits, hepatitiss, hepatitis"))[1:]
    assert fault.hint == "did you mean `hepatitis`?"


def test_values_of_dropped_rows_are_spelled_right(bench):
    bench.data([*ROWS, ["", "plague"]], "job,illness")
    text = POLICY.replace("{path: table.csv}", "{path: table.csv, incomplete_rows: drop}")
    assert bench.run(bench.plan(policy(CLAUSES["alpha_k"], "plague", text=text))).report.verdict == "released"
    refusal(bench, policy(CLAUSES["alpha_k"], "plagues", text=text))
    text = perturbing(policy(VALUES, "plague", text=text))
    assert illnesses(bench, text) == {"HIV", "flu"}


def test_values_that_a_step_makes_are_not_the_sources(bench):
    """A requirement speaks of the source: what a step calls its values is named by the values that it is made of."""
    step = """steps:
  call: {use: recode, with: {attributes: {illness: {values: {HIV: viral, flu: viral}}}}}
releases:
  study: {from: call, path: study.csv}
"""
    bench.data(ROWS, "job,illness")
    text = policy(CLAUSES["template"], "viral").replace("releases:\n  study: {path: study.csv}\n", step)
    refusal(bench, text)


def test_values_from_params_and_many_partitions(bench):
    bench.data([*ROWS, ["a", "plague"]], "job,illness")
    text = policy(CLAUSES["alpha_k"], "${params.bad}") + "params: {bad: {default: plague}}\n"
    assert bench.run(bench.plan(text)).report.verdict == "released"
    refusal(bench, text.replace("plague", "plage"))
