"""A column that repeats like a person's id is told: k rows may be fewer people."""

from __future__ import annotations

import pytest

from ppdm_flow.engine.run.preview import preview
from ppdm_flow.report.run.document import document
from ppdm_flow.report.run.forms import render

POLICY = """version: 1
name: visits
source: {path: table.csv}
attributes:
  patient: {role: identifier}
  job: {role: quasi_identifier}
  visit: {role: insensitive}
privacy: {k_anonymity: {k: 5}}
releases:
  study: {path: study.csv}
"""
SAME = [[f"p{i % 2}", "nurse", f"v{i}"] for i in range(40)]
OWN = [[f"p{i}", "nurse", f"v{i}"] for i in range(40)]


def warned(bench, text, rows, header="patient,job,visit"):
    """What the preview warns of and what the report finds: the same, and no value of it."""
    bench.data(rows, header)
    plan = bench.plan(text)
    told = [d.message for d in preview(plan, None).diagnostics if d.code == "PPF857"]
    report = bench.run(plan).report
    assert [f.text for f in report.findings if f.code == "PPF857"] == told
    assert all(row[0] not in text for row in rows for text in told)
    said = " ".join(render(document(report)).split())
    assert all(text.split(". ")[0] in said for text in told)
    return told


def test_visits_are_not_patients(bench):
    (text,) = warned(bench, POLICY, SAME)
    assert "40 rows have 2 different values, the most frequent of them 20 times" in text
    assert warned(bench, POLICY, OWN) == []


def test_two_of_many_people_may_have_one_name(bench):
    names = [[f"p{i}", "nurse", str(i)] for i in range(300)]
    assert warned(bench, POLICY, [*names, names[0]]) == []
    assert len(warned(bench, POLICY, [*names, *names[:10]])) == 1


@pytest.mark.parametrize(("name", "told"), [("patient_id", True), ("visit", False), ("job_title", False)])
def test_columns_that_are_named_like_ids(bench, name, told):
    text = POLICY.replace("visit:", f"{name}:")
    rows = [[f"p{i}", "nurse", f"v{i % 10}"] for i in range(40)]
    assert bool(warned(bench, text, rows, f"patient,job,{name}")) is told


def test_missing_ids_and_weighted_tables(bench):
    blank = [["", "nurse", f"v{i}"] for i in range(40)]
    assert warned(bench, POLICY, blank) == []
    weighted = POLICY.replace("visit: {role: insensitive}", "visit: {role: weight}")
    assert warned(bench, weighted, [[p, j, "1"] for p, j, _ in SAME]) == []


def test_many_partitions(bench):
    bench.data(SAME, "patient,job,visit")
    found = bench.run(bench.plan(POLICY), partition_rows=7).report.findings
    assert [f.code for f in found if f.code == "PPF857"] == ["PPF857"]


def test_an_identifier_is_not_held_against_its_type(bench):
    """It is only counted: nobody reads it but for that."""
    text = POLICY.replace("role: identifier", "role: identifier, type: integer")
    assert len(warned(bench, text, SAME)) == 1
