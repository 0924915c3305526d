"""Runs of linked tables: what leaves, what is withheld since readers join both tables, and whole keys."""

from __future__ import annotations

import csv

import pytest

from ppdm_flow import api
from ppdm_flow.core.errors import DataError, PolicyError

TABLES = """version: 1
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
"""
PSEUDONYMS = """steps:
  pseudonyms: {use: pseudonymize, input: patients, with: {attributes: [patient], key_env: CLINIC_KEY}}
"""
RELEASES = """releases:
  patients: {from: pseudonyms, path: patients.csv}
  visits: {from: visits, path: visits.csv}
"""
K = "privacy: {k_anonymity: {k: 5}}\n"


def person(i: int, born: int, hospital: str, diagnosis: str = "flu"):
    name = f"zq{i:03d}"
    return {"patient": name, "born": born}, {"patient": name, "hospital": hospital, "diagnosis": diagnosis}


def tables(people):
    patients, visits = zip(*people, strict=True)
    return {"patients": patients, "visits": visits}


def crowds(alone: bool = True):
    """Five born in each year and more in each hospital; where ``alone``, one who was born in 1970 was in the south."""
    many = [person(i, 1960 if i < 6 else 1970, "north") for i in range(12)]
    south = [person(20 + i, 1960, "south") for i in range(5)]
    return [*many, *south, person(30, 1970, "south" if alone else "north")]


def released(result: api.RunResult, name: str, file: str):
    folder = "released" if result.released else "withheld"
    with (result.run_dir / folder / name / file).open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.slow
@pytest.mark.parametrize("steps", ["", PSEUDONYMS])
def test_a_table_is_released_as_it_stands(clinic, run, steps):
    """Nothing lies between the table and its release, not even a shuffle; a key is changed there all the same."""
    releases = (
        "releases: {patients: {from: patients, path: p.csv, shuffle: false}, visits: {from: visits, path: v.csv}}\n"
    )
    if steps:
        releases = releases.replace("{patients:", "{named: {from: pseudonyms, path: n.csv}, patients:", 1)
    result = run(clinic(TABLES + K.replace("5", "2") + steps + releases, **tables(crowds(alone=False))))
    assert result.exit_status in (0, 1)
    rows = released(result, "patients", "p.csv")
    assert [row["born"] for row in rows] == [str(person["born"]) for person, _ in crowds(alone=False)]
    assert all(not row.get("patient", "").startswith("zq") for row in rows)


def failed(result: api.RunResult):
    return [(r["id"], r["release"]) for r in result.document["requirements"] if not r["holds"]]


@pytest.mark.slow
def test_tables_that_are_safe_alone_are_withheld_where_the_join_singles_one_out(clinic, run):
    result = run(clinic(TABLES + K + PSEUDONYMS + RELEASES, **tables(crowds())))
    assert not result.released
    assert set(failed(result)) == {("privacy.k_anonymity", "patients + visits")}
    (sentence,) = {
        r["sentence"]
        for r in result.document["requirements"]
        if r["id"].startswith("privacy.k") and not r["holds"] and r["metric"].endswith(".k")
    }
    assert "`patients`" in sentence
    assert "`visits`" in sentence
    assert "join" in sentence


@pytest.mark.slow
def test_and_are_released_where_it_singles_out_nobody(clinic, run):
    assert run(clinic(TABLES + K + PSEUDONYMS + RELEASES, **tables(crowds(alone=False)))).released


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    "policy",
    [
        TABLES + K + "recipients: apart\n" + PSEUDONYMS + RELEASES,
        TABLES + K + "steps:\n  bare: {use: drop, input: visits, with: {attributes: [patient]}}\n"
        "  names: {use: pseudonymize, input: patients, with: {attributes: [patient], key_env: CLINIC_KEY}}\n"
        "releases:\n  patients: {from: names, path: patients.csv}\n  visits: {from: bare, path: visits.csv}\n",
        TABLES + K + "releases:\n  patients: {from: patients, path: p.csv}\n  visits: {from: visits, path: v.csv}\n",
    ],
    ids=["nobody has both", "one without the key", "both without the key"],
)
def test_and_where_nobody_can_join_them(clinic, run, policy):
    result = run(clinic(policy, **tables(crowds())))
    assert result.released
    assert {r["release"] for r in result.document["requirements"]} == {"patients", "visits"}


@pytest.mark.slow
def test_a_secret_of_one_table_is_judged_by_what_another_tells(clinic, run):
    """Everybody in the north has one of two diagnoses, everybody born in 1970 as well, and both together have one."""
    people = [
        person(i, 1960 if i % 2 else 1970, "north" if i < 10 else "south", "flu" if (i < 10) == i % 2 else "hiv")
        for i in range(20)
    ]
    privacy = "privacy: {alpha_k: {visits.diagnosis: {alpha: 0.6}}, k_anonymity: {k: 5}}\n"
    result = run(clinic(TABLES + privacy + PSEUDONYMS + RELEASES, **tables(people)))
    assert set(failed(result)) == {("privacy.alpha_k.visits.diagnosis", "patients + visits")}


@pytest.mark.slow
def test_keys_change_alike_and_nothing_else_names_anybody(clinic, run):
    result = run(clinic(TABLES + K + PSEUDONYMS + RELEASES, **tables(crowds(alone=False))))
    patients, visits = released(result, "patients", "patients.csv"), released(result, "visits", "visits.csv")
    assert {row["patient"] for row in visits} == {row["patient"] for row in patients}
    assert all(len(row["patient"]) == 24 and "zq" not in row["patient"] for row in (*patients, *visits))
    for path in result.run_dir.rglob("*"):
        assert not path.is_file() or b"zq0" not in path.read_bytes()


@pytest.mark.slow
def test_keys_of_another_name_change_alike_in_a_shared_scope(clinic, run):
    policy = (TABLES + K + PSEUDONYMS + RELEASES).replace("refers: {patient: patients}", "refers: {who: patients}")
    people = tables(crowds(alone=False))
    visits = [{"who": row["patient"], **{k: v for k, v in row.items() if k != "patient"}} for row in people["visits"]]
    file = clinic(policy, patients=people["patients"], visits=visits)
    with pytest.raises(PolicyError) as error:
        run(file)
    assert "PPF633" in [d.code for d in error.value.diagnostics]
    file.write_text(policy.replace("key_env: CLINIC_KEY", "key_env: CLINIC_KEY, scope: shared"), encoding="utf-8")
    result = run(file)
    assert {row["who"] for row in released(result, "visits", "visits.csv")} == {
        row["patient"] for row in released(result, "patients", "patients.csv")
    }


def broken(fault: str):
    people = tables(crowds())
    patients, visits = list(people["patients"]), list(people["visits"])
    match fault:
        case "nobody":
            visits[3] = {**visits[3], "patient": "zqnobody"}
        case "twice":
            patients[4] = {**patients[4], "patient": patients[2]["patient"]}
        case "no key":
            patients[4] = {**patients[4], "patient": ""}
        case "no reference":
            visits[3] = {**visits[3], "patient": ""}
    return {"patients": patients, "visits": visits}


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("nobody", ("PPF700", "(rows 4)")),
        ("twice", ("PPF700", "(rows 3, 5)")),
        ("no key", ("", "")),
        ("no reference", ("", "")),
    ],
)
def test_keys_are_whole_or_the_run_ends_with_the_numbers_of_the_rows(clinic, run, fault, said):
    with pytest.raises(DataError) as error:
        run(clinic(TABLES + K + PSEUDONYMS + RELEASES, **broken(fault)))
    (diagnostic,) = error.value.diagnostics
    assert said[0] in diagnostic.code
    assert said[1] in diagnostic.message
    assert "zq" not in diagnostic.message


@pytest.mark.slow
def test_other_data_is_a_folder_with_the_same_file_names(clinic, run, tmp_path):
    file = clinic(TABLES + K + PSEUDONYMS + RELEASES, **tables(crowds()))
    other = tmp_path / "other"
    other.mkdir()
    for name, rows in tables(crowds(alone=False)).items():
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        (other / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert not run(file).released
    assert run(file, data=other).released
    with pytest.raises(DataError):
        run(file, data=other / "visits.csv")
