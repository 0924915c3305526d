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


MAPS = """version: 1
name: NAME
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
privacy: {k_anonymity: {k: 2}}
steps:
  recode: {input: patients, use: recode, with: {attributes: {born: {values: MAP}}}}
  patients_named: {use: pseudonymize, with: {attributes: [patient], key_file: key}}
  visits_named: {input: visits, use: pseudonymize, with: {attributes: [who], key_file: key}}
releases:
  patients: {from: patients_named, path: patients.csv}
"""
EVEN = "{1960: even, 1961: odd, 1970: even, 1971: odd}"
EARLY = "{1960: early, 1961: early, 1970: late, 1971: late}"


@pytest.mark.parametrize(("later", "is_released"), [(EARLY, False), (EVEN, True)])
def test_a_join_is_held_against_earlier_releases_of_its_tables(clinic, run, tmp_path, later, is_released):
    """Years by two maps in two runs are years, and with the hospital of the later one each of eight people is alone."""
    api.create_ledger(tmp_path / "clinic.ledger")
    (tmp_path / "key").write_text("0123456789abcdef" * 4)
    (tmp_path / "key").chmod(0o600)
    years = [1960, 1961, 1970, 1971]
    patients = [{"patient": f"p{n}", "born": years[n % 4]} for n in range(8)]
    visits = [{"who": f"p{n}", "hospital": "ns"[n // 4]} for n in range(8)]
    first = MAPS.replace("NAME", "first").replace("MAP", EVEN)
    assert run(clinic(first, patients=patients, visits=visits)).released
    second = MAPS.replace("NAME", "second").replace("MAP", later)
    second += "  visits: {from: visits_named, path: visits.csv}\n"
    ran = run(clinic(second, patients=patients, visits=visits))
    assert ran.released is is_released
    joined = {r["metric"] for r in ran.document["requirements"] if not r["holds"] and "+" in r["release"]}
    assert joined == (set() if is_released else {"privacy.k_anonymity.together_earlier"})
