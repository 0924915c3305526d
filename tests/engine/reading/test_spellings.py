"""Two spellings of one person, of one id of a ledger or of one sensitive value: refused, merged, or kept apart."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdm_flow.api.ledger import create_ledger
from ppdm_flow.core.errors import DataError

PEOPLE = """version: 1
name: visits
people: {known_rows: 1}
source: {path: table.csv}
attributes:
  pid: {role: subject}
  ward: {role: quasi_identifier}
privacy: {k_anonymity: {k: 2}}
releases: {study: {path: study.csv}}
"""
ILLNESS = """version: 1
name: visits
source: {path: table.csv}
attributes:
  ward: {role: quasi_identifier}
  illness: {role: sensitive}
privacy: {l_diversity: {illness: {l: 2}}}
releases: {study: {path: study.csv}}
"""
PAIRS = [
    ("P1", "p1", "case"),
    ("P1", "P1 ", "blanks"),
    ("P1", "P\u200b1", "blanks"),
    ("Jos\u00e9", "Jose\u0301", "form"),
    ("P1", "\uff301", "form"),
    ("P1", "p\uff11\u00a0", "case, blanks, form"),
    ("Stra\u00dfe", "STRASSE", "case"),
    ("\u0130zmir", "izmir", "case"),
    *(
        ("P1", f"P1{unseen}", "blanks")
        for unseen in "\u034f\u115f\u1160\u17b4\u2065\u2800\u3164\ufe0f\ufff0\ufffc\U000e0fff"
    ),
]


def lines(outcome):
    """Return the rows of the released file, in order."""
    return sorted((outcome.run_dir / "released/study/study.csv").read_text().splitlines()[1:])


def stopped(bench, policy):
    error = bench.fails(bench.plan(policy))
    assert isinstance(error, DataError)
    assert [d.code for d in error.diagnostics] == ["PPF932"]
    return error.diagnostics[0]


@pytest.mark.parametrize(("one", "other", "words"), PAIRS)
def test_one_person_in_two_spellings(bench, one, other, words):
    bench.data([["P8", "v"], [one, "u"], [one, "u"], ["P9", "v"], [other, "u"]], "pid,ward")
    said = stopped(bench, PEOPLE)
    assert said.message.startswith("rows 2 and 5: two values of `pid` differ in")
    assert said.message.endswith("would count as two people")
    assert f"normalize: [{words}]" in said.help
    assert f"keep_apart: [{words}]" in said.help
    assert one not in said.message + said.help


@pytest.mark.parametrize(("one", "other", "words"), PAIRS)
def test_one_value_in_two_spellings(bench, one, other, words):
    bench.data([["u", one], ["u", other], ["v", one], ["v", "flu"]], "ward,illness")
    said = stopped(bench, ILLNESS)
    assert said.message.startswith("rows 1 and 2: two values of `illness`")
    assert f"normalize: [{words}]" in said.help
    assert "`recode`" in said.help


@pytest.mark.slow
def test_different_values_are_no_spellings(bench):
    bench.data([["P1", "u"], ["P2", "u"], ["P8", "v"], ["P\u00e91", "v"], ["P-1", "v"]], "pid,ward")
    assert bench.run(bench.plan(PEOPLE)).report.verdict == "released"
    bench.data([["P1", "u"], ["P\u28011", "u"], ["\uac001", "v"], ["\ufffd1", "v"]], "pid,ward")
    assert bench.run(bench.plan(PEOPLE)).report.verdict == "released"
    bench.data([["u", "HIV-1"], ["u", "HIV-2"], ["v", "caf\u00e9"], ["v", "cafe"]], "ward,illness")
    assert bench.run(bench.plan(ILLNESS)).report.verdict == "released"


def test_numbers_and_other_attributes_may_have_several(bench):
    bench.data([["1", "U"], ["01", "U"], ["2", "u"], ["3", "u"]], "pid,ward")
    policy = PEOPLE.replace("role: subject", "role: subject, type: integer")
    assert bench.run(bench.plan(policy)).report.verdict == "withheld"  # 1 and 01 are one person


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_spellings_in_different_partitions(bench, rows):
    bench.data([[f"q{i}", "u"] for i in range(9)] + [["Q3", "u"]], "pid,ward")
    error = bench.fails(bench.plan(PEOPLE), partition_rows=rows)
    assert error.diagnostics[0].message.startswith("rows 4 and 10:")


def test_the_first_pair_is_told(bench):
    bench.data([["a", "u"], ["b", "u"], ["B", "u"], ["A", "u"]], "pid,ward")
    assert stopped(bench, PEOPLE).message.startswith("rows 1 and 4:")


@pytest.mark.slow
def test_kept_apart_they_are_two(bench):
    bench.data([["P1", "u"], ["p1", "u"], ["P8", "v"], ["P9", "v"]], "pid,ward")
    apart = PEOPLE.replace("path: table.csv", "path: table.csv, keep_apart: [case]")
    assert bench.run(bench.plan(apart)).report.verdict == "released"
    bench.data([["P1", "u"], ["p1 ", "u"], ["P8", "v"], ["P9", "v"]], "pid,ward")
    assert bench.run(bench.plan(apart)).report.verdict == "released"


def test_what_is_not_kept_apart_is_still_one(bench):
    bench.data([["P1", "u"], ["p1", "u"], ["P1 ", "v"], ["P9", "v"]], "pid,ward")
    apart = PEOPLE.replace("path: table.csv", "path: table.csv, keep_apart: [case]")
    said = stopped(bench, apart)
    assert said.message.startswith("rows 1 and 3:")
    assert "keep_apart: [blanks]" in said.help


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(("one", "other", "words"), PAIRS)
def test_normalized_they_are_one(bench, one, other, words):
    bench.data([[one, "u"], [other, "u"], ["P8", "v"], ["P9", "v"]], "pid,ward")
    policy = PEOPLE.replace("path: table.csv", f"path: table.csv, normalize: [{words}]")
    outcome = bench.run(bench.plan(policy))
    assert (outcome.report.verdict, outcome.report.metrics["privacy.k_anonymity.k"].value) == ("withheld", 1)
    assert sorted(outcome.report.plan["source"]["normalize"]) == sorted(words.split(", "))


def test_normalized_values_leave_in_one_spelling(bench):
    bench.data([["U ", "HIV"], ["u", "flu"], ["U", "hiv\u00a0"], ["u", "Flu"]], "ward,illness")
    policy = ILLNESS.replace("path: table.csv", "path: table.csv, normalize: [form, blanks, case]")
    assert lines(bench.run(bench.plan(policy))) == ["u,flu", "u,flu", "u,hiv", "u,hiv"]


def test_marks_of_missing_values_are_met_after_that(bench):
    bench.data([["u", " N/A"], ["u", "flu"], ["u", "hiv"]], "ward,illness")
    policy = ILLNESS.replace("path: table.csv", 'path: table.csv, normalize: [blanks], missing: ["N/A"]')
    assert "u," in lines(bench.run(bench.plan(policy)))


def test_a_step_that_recodes_them_merges_them(bench):
    bench.data([["u", "HIV"], ["u", "hiv"], ["u", "flu"]], "ward,illness")
    step = "steps:\n  one: {use: recode, with: {attributes: {illness: {values: {hiv: HIV}, keep_others: true}}}}\n"
    outcome = bench.run(bench.plan(ILLNESS + step))
    assert lines(outcome) == ["u,HIV", "u,HIV", "u,flu"]


def test_a_step_that_recodes_others_does_not(bench):
    bench.data([["u", "HIV"], ["u", "hiv"], ["u", "flu"], ["u", "Flu"]], "ward,illness")
    step = "steps:\n  one: {use: recode, with: {attributes: {illness: {values: {hiv: HIV}, keep_others: true}}}}\n"
    assert stopped(bench, ILLNESS + step).message.startswith("rows 3 and 4:")


def test_a_release_before_that_step_is_no_release_of_it(bench):
    bench.data([["u", "HIV"], ["u", "hiv"], ["u", "flu"]], "ward,illness")
    step = "steps:\n  one: {use: recode, with: {attributes: {illness: {values: {hiv: HIV}, keep_others: true}}}}\n"
    both = ILLNESS.replace("study: {path: study.csv}", "study: {path: study.csv}, raw: {from: source, path: r.csv}")
    assert stopped(bench, both + step).message.startswith("rows 1 and 2:")


def test_ids_of_a_ledger(bench):
    bench.data([["P1", "u"], ["p1", "u"], ["P2", "u"]], "pid,ward")
    ledger = PEOPLE.replace("people: {known_rows: 1}\n", "ledger: {path: ledger, subject: pid}\n")
    ledger = (
        ledger.replace("role: subject", "role: identifier") + "steps:\n  d: {use: drop, with: {attributes: [pid]}}\n"
    )
    create_ledger(bench.folder / "ledger")
    assert stopped(bench, ledger).message.startswith("rows 1 and 2: two values of `pid`")


def test_a_typed_source_is_respelled_too(bench):
    table = pa.table(
        {
            "ward": pa.array(["U", "u ", "v", "V", "v"]).dictionary_encode(),
            "illness": ["A", "B", None, "C", "D "],
            "n": [1, 2, 3, 4, 5],
        }
    )
    pq.write_table(table, bench.folder / "table.parquet")
    policy = ILLNESS.replace("path: table.csv", "path: table.parquet, normalize: [case, blanks]")
    policy = policy.replace(
        "illness: {role: sensitive}", "illness: {role: sensitive}\n  n: {role: insensitive, type: integer}"
    )
    outcome = bench.run(bench.plan(policy), data=bench.folder / "table.parquet")
    assert lines(outcome) == ["u,a,1", "u,b,2", "v,,3", "v,c,4", "v,d,5"]
