"""A ledger of linked tables: one history of people, over the releases of all tables."""

from __future__ import annotations

import pytest

from ppdm_flow import api

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
    refers: {who: patients}
    attributes:
      hospital: {role: quasi_identifier}
people: {known_rows: 1}
ledger: {path: clinic.ledger}
privacy: {k_anonymity: {k: 2}, cumulative_k: {k: 2}}
releases:
  patients: {from: patients, path: patients.csv}
  visits: {from: visits, path: visits.csv}
"""


@pytest.fixture
def ward(clinic, run, tmp_path):
    def carried_out(*people):
        patients = [{"patient": name, "born": born} for name, born, _ in people]
        visits = [{"who": name, "hospital": hospital} for name, _, hospitals in people for hospital in hospitals]
        return run(clinic(POLICY, patients=patients, visits=visits))

    api.create_ledger(tmp_path / "clinic.ledger")
    return carried_out


def failed(result):
    return {(r["id"], r["release"]) for r in result.document["requirements"] if not r["holds"]}


def test_tables_of_one_run_are_held_against_each_other_without_any_key(ward):
    """Two were born in each year and two went to each hospital, and each of the four is alone in both."""
    crossed = ward(("a", 1960, "n"), ("b", 1960, "s"), ("c", 1970, "n"), ("d", 1970, "s"))
    assert failed(crossed) == {("privacy.cumulative_k", "visits")}
    assert ward(("a", 1960, "n"), ("b", 1960, "n"), ("c", 1970, "s"), ("d", 1970, "s")).released


@pytest.mark.slow
def test_and_runs_against_earlier_ones(ward, tmp_path):
    assert ward(("a", 1960, "n"), ("b", 1960, "n"), ("c", 1970, "s"), ("d", 1970, "s")).released
    assert [entry.name for entry in api.ledger(tmp_path / "clinic.ledger").entries] == ["patients", "visits"]
    again = ward(("a", 1960, "n"), ("b", 1960, "n"), ("c", 1970, "s"), ("d", 1970, "s"))
    assert again.released
    moved = ward(("a", 1960, "n"), ("b", 1960, "s"), ("c", 1970, "s"), ("d", 1970, "n"))
    assert ("privacy.cumulative_k", "visits") in failed(moved)
