"""Verbs on policies of linked tables: what lets one expect, tests, sweeps, comparisons, locks."""

from __future__ import annotations

import pytest

from ppdm_flow import api
from ppdm_flow.core.errors import PolicyError, UsageError

POLICY = """version: 1
name: clinic
tables:
  patients:
    source: {path: patients.csv}
    key: patient
    attributes:
      patient: {role: subject}
      born: {role: quasi_identifier}
  visits:
    source: {path: visits.csv}
    refers: {patient: patients}
    attributes:
      hospital: {role: quasi_identifier}
      diagnosis: {role: sensitive}
people: {known_rows: 1}
privacy: {k_anonymity: {k: 2}, alpha_k: {visits.diagnosis: {alpha: 0.6}}}
steps:
  pseudonyms: {use: pseudonymize, input: patients, with: {attributes: [patient], key_env: CLINIC_KEY}}
releases:
  patients: {from: pseudonyms, path: patients.csv}
  visits: {from: visits, path: visits.csv}
"""
TESTS = """policy: policy.yaml
tables:
  patients: |
    patient,born
    p1,1960
    p2,1960
  visits:
    csv: visits.csv
tests:
  two-alike:
    expect:
      verdict: released
      holds: ["patients + visits/privacy.k_anonymity"]
      releases: {visits: {columns: [hospital, diagnosis, patient], rows: 2}}
  one-alone:
    tables:
      patients: [[patient, born], [p1, "1960"], [p2, "1960"], [p3, "1970"], [p4, "1970"]]
      visits: [[patient, hospital, diagnosis], [p1, n, flu], [p2, n, hiv], [p3, n, flu], [p4, s, hiv], [p1, s, flu]]
    expect: {verdict: withheld, fails: {include: ["patients + visits/privacy.k_anonymity"]}}
  nobody:
    tables:
      patients: [[patient, born], [p1, "1960"], [p2, "1960"]]
      visits: [[patient, hospital, diagnosis], [p1, n, flu], [p9, n, hiv]]
    expect: {verdict: refused, code: PPF700}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CLINIC_KEY", "0123456789abcdef0011223344556677")
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "patients.csv").write_text("patient,born\np1,1960\np2,1960\n", encoding="utf-8")
    (tmp_path / "visits.csv").write_text("patient,hospital,diagnosis\np1,n,flu\np2,n,hiv\n", encoding="utf-8")
    return tmp_path


def relation_of(folder, other, **more):
    (pair,) = api.diff(str(folder / "policy.yaml"), str(other), **more).document["pairs"]
    return pair["relation"]


def outcomes(folder, text):
    file = folder / "policy.test.yaml"
    file.write_text(text, encoding="utf-8")
    return {result.name: result for result in api.run_tests([file]).results}


@pytest.mark.slow
def test_policy_tests_have_a_table_for_each(folder):
    results = outcomes(folder, TESTS)
    assert {name: result.outcome.value for name, result in results.items()} == {
        "two-alike": "passed",
        "one-alone": "passed",
        "nobody": "passed",
    }


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ("data: [[patient], [p1]]\n", "PPF146"),
        ("tables: {patients: [[patient, born], [p1, x]]}\n", "PPF146"),
        ("tables: {patients: {csv: nowhere.csv}, visits: {csv: visits.csv}}\n", "PPF149"),
        ("data: [[a], [b]]\ntables: {patients: [[patient, born], [p1, x]]}\n", "PPF146"),
    ],
    ids=["one table", "one of two", "a file that is not there", "both"],
)
def test_other_tables_are_a_fault_of_the_test(folder, data, code):
    text = f"policy: policy.yaml\n{data}tests: {{a: {{expect: {{verdict: released}}}}}}\n"
    try:
        (result,) = outcomes(folder, text).values()
        faults = result.failures
    except PolicyError as error:  # the file is at fault, not the data that it has
        faults = error.diagnostics
    assert code in {fault.code for fault in faults}


def test_a_policy_of_one_table_takes_no_tables(folder):
    (folder / "policy.yaml").write_text(
        "version: 1\nname: one\nsource: {path: patients.csv}\nattributes: {born: {role: quasi_identifier}}\n"
        "privacy: {k_anonymity: {k: 2}}\nundeclared: drop\nreleases: {out: {path: out.csv}}\n",
        encoding="utf-8",
    )
    text = "policy: policy.yaml\ntables: {a: [[born], [x]]}\ntests: {a: {expect: {verdict: released}}}\n"
    (result,) = outcomes(folder, text).values()
    assert "PPF146" in {failure.code for failure in result.failures}


def test_a_plan_is_held_against_a_folder(folder):
    drawn = api.plan(folder / "policy.yaml", data=folder).picture("text")
    assert "patients + visits  joined by person" in drawn
    assert "data    4 rows" in drawn


@pytest.mark.slow
def test_a_comparison_measures_both(folder):
    weaker = folder / "weaker.yaml"
    weaker.write_text(POLICY.replace("alpha: 0.6", "alpha: 0.7"), encoding="utf-8")
    assert relation_of(folder, weaker, data=folder) == "weaker"


@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [
        ("k: 2", "k: 3", "stricter"),
        ("source: {path: visits.csv}", "source: {path: other.csv}", "equal"),
        ("refers: {patient: patients}", "refers: {whose: patients}", "incomparable"),
        # over fewer attributes people can be found who were not: the other ones may link the rows of a person
        ("hospital: {role: quasi_identifier}", "hospital: {role: insensitive}", "incomparable"),
        ("known_rows: 1", "known_rows: 2", "stricter"),
        (
            "{visits.diagnosis: {alpha: 0.6}}",
            "{visits.diagnosis: {alpha: 0.6, attributes: [patients.born]}}",
            "incomparable",
        ),
        ("{visits.diagnosis: {alpha: 0.6}}", "{visits.diagnosis: {alpha: 0.7}}", "weaker"),
    ],
)
def test_what_linked_policies_are_to_each_other(folder, old, new, relation):
    assert old in POLICY
    other = folder / "other.yaml"
    other.write_text(POLICY.replace(old, new), encoding="utf-8")
    assert relation_of(folder, other) == relation


@pytest.mark.slow
def test_files_of_a_run_are_judged_as_another_tools(folder):
    result = api.run(folder / "policy.yaml", out=folder / "runs")
    assert api.verify(result.run_dir).holds
    assert api.audit(folder / "policy.yaml", folder, result.run_dir / "released").holds


def test_files_of_linked_tables_are_judged_together(folder):
    with pytest.raises(UsageError) as error:
        api.audit(folder / "policy.yaml", folder, folder, "visits")
    assert error.value.diagnostics[0].code == "PPF694"


@pytest.mark.slow
def test_a_run_is_made_and_measured_again(folder):
    run = api.run(folder / "policy.yaml", out=folder / "runs")
    outcome = api.verify(run.run_dir, data=folder)
    assert outcome.holds
    assert outcome.remeasured.unknown == {}
    assert outcome.remeasured.requirements == len(run.document["requirements"])
    assert {name: same for name, (same, _) in outcome.remeasured.made.items()} == {"patients": True, "visits": True}


@pytest.mark.slow
def test_other_data_is_seen(folder):
    run = api.run(folder / "policy.yaml", out=folder / "runs")
    (folder / "visits.csv").write_text("patient,hospital,diagnosis\np1,n,flu\np2,n,flu\n", encoding="utf-8")
    outcome = api.verify(run.run_dir, data=folder)
    assert not outcome.holds
    assert not outcome.remeasured.same_input
    assert any("on patients + visits" in name for name in outcome.remeasured.unknown)


@pytest.mark.slow
def test_the_report_counts_the_rows_of_all_tables(folder):
    run = api.run(folder / "policy.yaml", out=folder / "runs")
    page = (run.run_dir / "report.html").read_text(encoding="utf-8")
    assert "<dt>rows read</dt><dd>4</dd>" in page
    assert {name: table["rows_used"] for name, table in run.document["run"]["input"]["tables"].items()} == {
        "patients": 2,
        "visits": 2,
    }
