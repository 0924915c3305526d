"""Files of linked tables that another tool made: what is not whole is refused, and what the join tells is found."""

from __future__ import annotations

import pytest

from ppdm_flow import api
from ppdm_flow.core.errors import DataError
from ppdm_flow.report.forms import JUDGED

POLICY = """version: 1
name: clinic
tables:
  patients:
    source: {path: patients.csv}
    key: patient
    attributes: {patient: {role: subject}, born: {role: quasi_identifier}}
  visits:
    source: {path: visits.csv}
    refers: {patient: patients}
    attributes: {hospital: {role: quasi_identifier}, diagnosis: {role: sensitive}}
people: {known_rows: 1}
privacy: {k_anonymity: {k: 2}}
steps:
  names: {use: pseudonymize, input: patients, with: {attributes: [patient], key_env: CLINIC_KEY}}
releases:
  patients: {from: names, path: patients.csv}
  visits: {from: visits, path: visits.csv}
"""
BORN = {"p1": "1960", "p2": "1960", "p3": "1970", "p4": "1970"}
VISITS = [("p1", "n"), ("p2", "n"), ("p3", "s"), ("p4", "s"), ("p4", "s")]
NAMES = {"p1": "a", "p2": "b", "p3": "c", "p4": "d"}


@pytest.fixture
def written(clinic, tmp_path):
    """Write files of another tool, people's years by their pseudonym and visits as pairs; return what judges them."""

    def write(born, visits, policy=POLICY):
        file = clinic(
            policy,
            patients=[{"patient": p, "born": year} for p, year in BORN.items()],
            visits=[{"patient": p, "hospital": h, "diagnosis": "flu"} for p, h in VISITS],
        )
        theirs = tmp_path / "theirs"
        theirs.mkdir()
        lines = ["patient,born", *(f"{p},{year}" for p, year in born)]
        (theirs / "patients.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        lines = ["patient,hospital,diagnosis", *(f"{p},{h},flu" for p, h in visits)]
        (theirs / "visits.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return file, tmp_path, theirs

    return write


@pytest.fixture
def judged(written):
    return lambda *tables: api.audit(*written(*tables))


def k_by_release(result) -> dict[str, int | None]:
    document = result.judgement(100).document
    return {r["release"]: r["measured"] for r in document["requirements"] if r["metric"].endswith("k_anonymity.k")}


@pytest.mark.slow
def test_whole_files_hold(judged):
    result = judged([(NAMES[p], year) for p, year in BORN.items()], [(NAMES[p], h) for p, h in VISITS])
    assert result.holds
    assert k_by_release(result) == {"patients": 2, "visits": 2, "patients + visits": 2}
    assert "pseudonyms in `patients` and `visits`" in JUDGED["text"].write(result.judgement(100))


@pytest.mark.slow
def test_each_file_holds_and_their_join_does_not(judged):
    born = [(NAMES[p], year) for p, year in BORN.items()]
    result = judged(born, [("a", "n"), ("c", "n"), ("b", "s"), ("d", "s"), ("d", "s")])
    assert not result.holds
    assert k_by_release(result) == {"patients": 2, "visits": 2, "patients + visits": 1}


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize(
    ("born", "visits"),
    [
        # the rows of one person have two pseudonyms: she seems to be a crowd of two
        ([(n, BORN[p]) for p, n in NAMES.items()], [("a", "n"), ("b", "n"), ("c", "s"), ("d", "s"), ("e", "s")]),
        # other pseudonyms in each file: nothing could be joined
        ([(n, BORN[p]) for p, n in NAMES.items()], [(NAMES[p] * 2, h) for p, h in VISITS]),
        # two people under one pseudonym
        ([("a", "1960"), ("a", "1960"), ("c", "1970"), ("d", "1970")], [("a", "n"), ("a", "n"), ("c", "s")]),
        # somebody has no row among the people
        ([("a", "1960"), ("c", "1970"), ("d", "1970")], [(NAMES[p], h) for p, h in VISITS]),
        # a row without a pseudonym
        ([(n, BORN[p]) for p, n in NAMES.items()], [("a", "n"), ("", "n"), ("c", "s"), ("d", "s")]),
    ],
    ids=["split", "by file", "merged", "nobody", "without"],
)
def test_keys_that_are_not_whole_are_refused(judged, born, visits):
    with pytest.raises(DataError) as error:
        judged(born, visits)
    assert error.value.diagnostics[0].code == "PPF700"


@pytest.mark.slow
def test_whose_rows_refer_to_nobody_may_be_left_out_by_a_step(judged):
    some = "  some: {use: sample, input: patients, with: {fraction: 0.8}}\n  names: {use: pseudonymize, "
    policy = POLICY.replace("  names: {use: pseudonymize, input: patients, ", some)
    born = [("a", "1960"), ("b", "1960"), ("c", "1970")]
    result = judged(born, [(NAMES[p], h) for p, h in VISITS], policy)
    assert k_by_release(result) == {"patients": 1, "visits": 2, "patients + visits": 1}


def test_the_subject_itself_is_refused(judged):
    with pytest.raises(DataError) as error:
        judged(list(BORN.items()), VISITS)
    assert error.value.diagnostics[0].code == "PPF728"


def test_a_missing_file_is_named(written):
    policy, original, theirs = written([], [])
    (theirs / "patients.csv").unlink()
    with pytest.raises(DataError) as error:
        api.audit(policy, original, theirs)
    assert error.value.diagnostics[0].code == "PPF701"
    assert "patients" in error.value.diagnostics[0].message


def test_files_are_given_as_a_folder(written):
    policy, original, theirs = written([], [])
    with pytest.raises(DataError) as error:
        api.audit(policy, original, theirs / "visits.csv")
    assert error.value.diagnostics[0].code == "PPF722"


@pytest.mark.slow
def test_several_files_of_one_table_leave_the_join_unmeasured(written):
    twice = POLICY + "  again: {from: visits, path: again.csv}\n"
    born = [(NAMES[p], year) for p, year in BORN.items()]
    policy, original, theirs = written(born, [(NAMES[p], h) for p, h in VISITS], twice)
    (theirs / "again.csv").write_bytes((theirs / "visits.csv").read_bytes())
    result = api.audit(policy, original, theirs)
    assert not result.holds
    assert "PPF917" in [f.code for f in result.report.findings]
    assert k_by_release(result)["visits"] == 2


@pytest.mark.slow(quick=1)
def test_files_that_share_more_than_the_key_are_not_verified(clinic, tmp_path):
    day = POLICY.replace("hospital: {", "day: {role: insensitive}, hospital: {").replace(
        "born: {", "day: {role: insensitive}, born: {"
    )
    patients = [{"patient": p, "born": year, "day": f"d{p}"} for p, year in BORN.items()]
    visits = [{"patient": p, "hospital": h, "diagnosis": "flu", "day": f"d{p}"} for p, h in VISITS]
    file = clinic(day, patients=patients, visits=visits)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "patients.csv").write_text("patient,born,day\na,1960,dp1\nb,1960,dp2\nc,1970,dp3\nd,1970,dp4\n")
    lines = [f"{NAMES[p]},{h},flu,d{p}" for p, h in VISITS]
    (theirs / "visits.csv").write_text("\n".join(["patient,hospital,diagnosis,day", *lines]) + "\n")
    result = api.audit(file, tmp_path, theirs)
    assert not result.holds
    findings = result.judgement(100).document["findings"]
    assert "PPF917" in [f["code"] for f in findings]
