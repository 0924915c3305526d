"""A value or a column that looks like the one that the policy means must not slip past it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ppdm_flow.core.errors import DataError
from ppdm_flow.tables.spelling import respelled

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
TEMPLATE = "templates: {hidden: {channel: [job], sensitive: {illness: [%s]}, confidence: 0.5}}"
ALPHA = "alpha_k: {illness: {alpha: 0.5, values: [%s], attributes: [job]}}"
LKC = "lkc: {l: 1, k: 2, c: 0.5, sensitive: {illness: [%s]}}"
BOUND = "sensitivities: {illness: {values: {%s: {r1: 0.1, r2: 0.3}}}}"
RELEASED = ["a", "HIV"], ["a", "HIV"], ["a", "HIV"], ["a", "flu"], ["b", "flu"], ["b", "flu"]


def rows(value: str) -> list[list[str]]:
    return [[job, value if ill == "HIV" else ill] for job, ill in RELEASED]


@pytest.mark.slow(quick=12)
@pytest.mark.parametrize("requirement", [TEMPLATE, BOUND, ALPHA, LKC])
@pytest.mark.parametrize(
    ("written", "there"),
    [
        ("HIV", "hiv"),
        ("HIV", "HIV "),
        ("HIV", "\u00a0HIV"),
        ("HIV", "H\u200bIV"),
        ("HIV", "\uff28\uff29\uff36"),
        ("H\u00e9patite", "He\u0301patite"),
        ("He\u0301patite", "H\u00e9patite"),
        ("Hepatitis B", "Hepatitis  b"),
    ],
)
def test_a_requirement_whose_value_is_spelled_otherwise_in_the_data(bench, requirement, written, there):
    bench.data(rows(there), "job,illness")
    error = bench.fails(bench.plan(POLICY.replace("REQUIREMENT", requirement % written)))
    assert isinstance(error, DataError)
    assert [d.code for d in error.diagnostics] == ["PPF726"]
    assert error.diagnostics[0].message.startswith("row 1: column `illness`")
    assert there not in error.diagnostics[0].message or there in written


def test_every_spelling_named_or_declared_is_in_order(bench):
    bench.data([*rows("HIV"), ["b", "hiv"], ["b", "x"], ["b", "y"]], "job,illness")
    apart = POLICY.replace("path: table.csv", "path: table.csv, keep_apart: [case]")
    named = bench.run(bench.plan(apart.replace("REQUIREMENT", TEMPLATE % "HIV, hiv")))
    assert named.report.verdict == "withheld"  # three of four
    domain = apart.replace("role: sensitive", "role: sensitive, domain: [HIV, hiv, flu, x, y]")
    bench.run(bench.plan(domain.replace("REQUIREMENT", TEMPLATE % "HIV")))


def test_folding_keeps_different_words_apart():
    texts = pa.array(["flu", "flue", "HIV-1", "HIV-2", "caf\u00e9", "cafe", "\u22a5", ""])
    assert len(respelled(texts).unique()) == len(texts)


GLOBS = """version: 1
name: clinic
source: {path: table.csv}
attributes:
  name: {role: identifier}
  "*": {role: insensitive}
releases:
  study: {path: study.csv}
"""


@pytest.mark.parametrize("double", ["Name", "name ", "na\u00adme"])
def test_a_double_of_an_identifier_does_not_fall_under_a_pattern(bench, double):
    bench.data([["Ann", "Ann", "1"], ["Bea", "Bea", "2"]], f"name,{double},score")
    error = bench.fails(bench.plan(GLOBS))
    assert [d.code for d in error.diagnostics] == ["PPF727"]
    bench.data([["Ann", "1"], ["Bea", "2"]], "name,score")
    assert bench.run(bench.plan(GLOBS)).report.verdict == "released"
