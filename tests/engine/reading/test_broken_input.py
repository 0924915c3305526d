"""Input that is not in order: exit status 2, a message without values, nothing left behind."""

from __future__ import annotations

import gzip
import os
import shutil

import pytest

from ppdm_flow.core.errors import DataError

NUMBER = "score: {role: insensitive"
DOMAIN = "town: {role: quasi_identifier"


def typed(policy: str, kind: str) -> str:
    return policy.replace(NUMBER, f"{NUMBER}, type: {kind}")


def message(error, code: str) -> str:
    assert isinstance(error, DataError)
    assert error.exit_status == 2
    assert {d.code for d in error.diagnostics} == {code}
    return " ".join(d.message for d in error.diagnostics)


def test_a_value_outside_its_declared_domain_is_named_by_row_and_column(bench, tools):
    found = tools.rows(300)
    found[250][2] = "zqcanaryelsewhere"
    bench.data(found)
    towns = ", ".join(f"zqcanarytown{i}" for i in range(4))
    plan = bench.plan(tools.POLICY.replace(DOMAIN, f"{DOMAIN}, domain: [{towns}]"))
    error = bench.fails(plan)
    assert message(error, "PPF711") == "row 251: column `town` has a value outside its declared domain"
    assert error.diagnostics[0].span is not None


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("integer", ["1", "-2", "+3", "007", "?"], ["1.0", "zqcanary", "1e3", "١"]),
        ("float", ["1", "-2.5", ".5", "5.", "1e3"], ["nan", "inf", "-Infinity", "1e999", "1,5", "zqcanary", "0x1p3"]),
        (
            "date",
            ["2024-02-29", "2024-01-01", "1999-12-31"],
            ["2024-02-30", "1/2/2024", "20240101", "zqcanary", "2024-01-01T10:00:00"],
        ),
        (
            "timestamp",
            ["2024-02-29", "2024-01-01T10:00:00", "1999-12-31 23:59:59.5", "2024-01-01T10:00"],
            ["2024-02-30", "2024-01-01T25:00:00", "2024-01-01T10:00:00.1234567", "zqcanary", "2024-01-01T10:00:00Z"],
        ),
    ],
)
def test_a_value_that_its_type_does_not_know(bench, tools, kind, good, bad):
    found = tools.rows(40)
    for i, row in enumerate(found):
        row[4] = good[i % len(good)]
    bench.data(found)
    plan = bench.plan(typed(tools.POLICY, kind))
    assert bench.run(plan).report.steps[0].rows_in == 40
    for value in bad:
        for row in bench.out.glob("*/*"):
            shutil.rmtree(row)
        found[33][4] = value if "," not in value else f'"{value}"'
        bench.data(found)
        assert message(bench.fails(plan), "PPF712").startswith(
            "row 34: column `score` has a value that is not a valid "
        )


@pytest.mark.slow
def test_the_sign_of_suppressed_cells_in_the_source(bench, tools):
    found = tools.rows(30)
    found[6][3] = "⊥"
    bench.data(found)
    assert message(bench.fails(bench.plan()), "PPF713").startswith("row 7: column `illness`")
    policy = tools.POLICY.replace('["?", ""]', '["?", "", "⊥"]')
    assert bench.run(bench.plan(policy)).report.verdict in ("released", "withheld")


def test_columns_that_are_missing_since_the_plan_was_made(bench, tools):
    found = tools.rows(30)
    bench.data(found)
    plan = bench.plan()
    bench.data([[r[0], r[1], r[3]] for r in found], "name,age,ilness")
    text = message(bench.fails(plan), "PPF708")
    assert "`town`" in text
    assert "`illness`" in text


@pytest.mark.slow
def test_columns_that_nobody_declared(bench, tools):
    found = tools.rows(300)
    bench.data(found)
    plan = bench.plan()
    bench.data([[*r, "zqcanary"] for r in found], "name,age,town,illness,score,extra")
    assert "`extra`" in message(bench.fails(plan), "PPF709")
    policy = tools.POLICY + "undeclared: drop\n"
    run = bench.run(bench.plan(policy)).run_dir
    assert b"extra" not in tools.released(run)["study/study.csv"]


def test_a_file_without_a_header_where_one_is_expected_shows_no_value(bench, tools):
    found = tools.rows(30)
    bench.data(found)
    plan = bench.plan()
    bench.data(found[1:], ",".join(found[0]))
    error = bench.fails(plan)
    message(error, "PPF708")
    assert "header" in str(error.diagnostics[0].help)


@pytest.mark.slow
def test_the_wrong_number_of_columns_without_a_header(bench, tools):
    names = "[name, age, town, illness, score]"
    policy = tools.POLICY.replace("path: table.csv,", f"path: table.csv, columns: {names},")
    found = tools.rows(30)
    bench.data(found[1:], ",".join(found[0]))
    plan = bench.plan(policy)
    assert bench.run(plan).report.steps[0].rows_in == 30
    shutil.rmtree(bench.out)
    bench.data([r[:4] for r in found[1:]], ",".join(found[0][:4]))
    assert message(bench.fails(plan), "PPF710") == "the file has 4 columns, and `source.columns` names 5"


def test_another_delimiter_than_the_one_that_is_said(bench):
    (bench.folder / "table.csv").write_text("30;A\n30;A\n")
    policy = (
        "version: 1\nname: p\nsource: {path: table.csv, columns: [age, town]}\n"
        "attributes: {age: {role: quasi_identifier}, town: {role: quasi_identifier}}\n"
        "privacy: {k_anonymity: {k: 2}}\nreleases: {study: {path: study.tsv}}\n"
    )
    error = bench.fails(lambda: bench.plan(policy))
    assert [(d.code, "delimiter" in (d.help or "")) for d in error.diagnostics] == [("PPF710", True)]
    told = policy.replace("columns:", "with: {delimiter: ';'}, columns:")
    assert bench.run(bench.plan(told)).report.verdict == "released"


@pytest.mark.parametrize("given", ["", ", format: csv", ', with: {delimiter: ","}'])
def test_a_tsv_is_parted_by_tabs(bench, tools, given):
    """The source and the sink; what the policy says goes before the ending."""
    mark = "," if "with" in given else "\t"
    (bench.folder / "table.tsv").write_text(
        "".join(f"{a}{mark}{b}\n" for a, b in [("age", "town"), *[("30", "A")] * 4])
    )
    policy = (
        f"version: 1\nname: p\nsource: {{path: table.tsv{given}}}\n"
        "attributes: {age: {role: quasi_identifier}, town: {role: quasi_identifier}}\n"
        f"privacy: {{k_anonymity: {{k: 2}}}}\nreleases: {{study: {{path: study.tsv{given}}}}}\n"
    )
    done = bench.run(bench.plan(policy))
    assert tools.released(done.run_dir)["study/study.tsv"].splitlines()[0] == f"age{mark}town".encode()


def test_columns_without_a_name_are_named_by_their_place(bench):
    (bench.folder / "table.csv").write_text("age,,town\n30,x,A\n")
    policy = (
        "version: 1\nname: p\nsource: {path: table.csv}\n"
        "attributes: {age: {role: quasi_identifier}, town: {role: quasi_identifier}}\n"
        "privacy: {k_anonymity: {k: 2}}\nreleases: {study: {path: study.csv}}\n"
    )
    with pytest.raises(DataError) as caught:
        bench.run(bench.plan(policy))
    (found,) = caught.value.diagnostics
    assert found.code == "PPF709"
    assert found.help.startswith("column 2: ")


def test_two_columns_of_one_name(bench, tools):
    found = tools.rows(10)
    bench.data(found)
    plan = bench.plan()
    bench.data([[*r, r[4]] for r in found], "name,age,town,illness,score,score")
    assert "columns 5 and 6" in message(bench.fails(plan), "PPF707")


def test_a_table_without_rows(bench, tools):
    bench.data([])
    assert "no rows" in message(bench.fails(bench.plan()), "PPF714")


def test_a_table_in_which_every_row_is_incomplete(bench, tools):
    bench.data([["zqcanary", "1", "?", "?", "?"]] * 12)
    policy = tools.POLICY.replace('missing: ["?", ""]', 'missing: ["?", ""], incomplete_rows: drop')
    assert "all 12 rows" in message(bench.fails(bench.plan(policy)), "PPF714")


@pytest.mark.parametrize(
    ("name", "spoil", "code", "words"),
    [
        ("ragged", lambda t: t + b"zqcanary,1\n", "PPF703", "row 61 "),
        ("encoding", lambda t: t + b"zqcanary,1,\xff,x,y\n", "PPF704", "row 61 "),
        ("nul", lambda t: t + b"zqcanary,1,t\0,x,y\n", "PPF706", "row 61 "),
        ("quote", lambda t: t + b'zqcanary,1,t,x,"y\n', "PPF716", "row 61 of"),
        ("gzip", lambda t: gzip.compress(t * 50)[:-9], "PPF705", "damaged"),
        ("empty", lambda t: b"", "PPF702", "empty"),
    ],
)
def test_files_that_are_not_in_order(bench, tools, name, spoil, code, words):
    path = bench.data(tools.rows(60))
    plan = bench.plan()
    path.write_bytes(spoil(path.read_bytes()))
    assert words in message(bench.fails(plan), code)


def test_a_file_that_is_not_there_is_a_folder_or_is_no_file(bench, tools, tmp_path):
    bench.data(tools.rows(10))
    plan = bench.plan()
    assert "no such file" in message(bench.fails(plan, tmp_path / "none.csv"), "PPF701")
    (tmp_path / "folder.csv").mkdir()
    assert "has no files" in message(bench.fails(plan, tmp_path / "folder.csv"), "PPF460")
    os.mkfifo(tmp_path / "pipe.csv")
    assert "not a regular file" in message(bench.fails(plan, tmp_path / "pipe.csv"), "PPF701")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(bench, tools):
    path = bench.data(tools.rows(10))
    plan = bench.plan()
    path.chmod(0)
    assert "permission" in message(bench.fails(plan), "PPF701")


@pytest.mark.parametrize("weight", ["-1", "1.5", "zqcanary", "", "?"])
def test_what_is_no_weight(bench, tools, weight):
    policy = tools.POLICY.replace("score: {role: insensitive}", "score: {role: weight}")
    found = tools.rows(30)
    for row in found:
        row[4] = "2"
    found[20][4] = weight
    bench.data(found)
    assert message(bench.fails(bench.plan(policy)), "PPF715").startswith("row 21: column `score`")


@pytest.mark.slow
def test_data_that_changes_during_the_run(bench, tools):
    path = bench.data(tools.rows(200))
    plan = bench.plan()

    def meddle(event) -> None:
        if type(event).__name__ == "RequirementJudged":
            with path.open("a") as file:
                file.write("zqcanary,1,a,b,c\n")

    assert "changed" in message(bench.fails(plan, listener=meddle), "PPF724")


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("change", ["append", "add", "remove", "nothing"])
@pytest.mark.parametrize("when", ["RequirementJudged", "RowProgress"])
def test_a_folder_that_changes_during_the_run(bench, tools, change, when):
    found = tools.rows(200)
    folder = bench.folder / "parts"
    folder.mkdir()
    for number in range(4):
        bench.data(found[number * 50 : number * 50 + 50], name=f"parts/{number}.csv")
    plan = bench.plan(tools.POLICY.replace("path: table.csv", "path: parts/, format: csv"))

    def meddle(event) -> None:
        if type(event).__name__ == when:
            if change == "append":
                with (folder / "1.csv").open("a") as file:
                    file.write("zqcanary,1,a,b,c\n")
            elif change == "add":
                bench.data(found[:1], name="parts/9.csv")
            elif change == "remove":
                (folder / "3.csv").unlink(missing_ok=True)
            else:
                (folder / "_log").touch()

    if change == "nothing":
        assert bench.run(plan, listener=meddle)
    else:
        assert bench.fails(plan, listener=meddle).diagnostics[0].code in {"PPF724", "PPF701"}


# unusual, and in order


@pytest.mark.slow
def test_one_row(bench, tools):
    bench.data(tools.rows(1))
    outcome = bench.run(bench.plan())
    assert outcome.report.verdict == "withheld"
    assert {r.measured for r in outcome.report.requirements if r.id == "privacy.k_anonymity"} == {1}


@pytest.mark.slow
def test_columns_that_are_all_missing(bench, tools):
    bench.data([[r[0], "", "?", r[3], ""] for r in tools.rows(50)])
    run = bench.run(bench.plan(), keep_withheld=True).run_dir
    [folder] = [p.name for p in run.iterdir() if p.is_dir()]
    lines = tools.released(run, folder)["study/study.csv"].decode().splitlines()
    assert lines[0] == "age,town,illness,score"
    assert all(line.startswith(",,zqcanaryill") and line.endswith(",") for line in lines[1:])


@pytest.mark.slow
def test_two_thousand_columns(bench, tools):
    names = [f"c{i}" for i in range(2_000)]
    found = [[str((i * j) % 3) for j in range(2_000)] for i in range(1, 31)]
    bench.data(found, ",".join(names))
    policy = """version: 1
name: wide
source: {path: table.csv}
attributes: {"c*": {role: insensitive}}
releases:
  all: {path: all.csv}
"""
    plan = bench.plan(policy)
    outcome = bench.run(plan)
    assert outcome.report.verdict == "released"
    lines = tools.released(outcome.run_dir)["all/all.csv"].decode().splitlines()
    assert lines[0] == ",".join(names)
    assert sorted(lines[1:]) == sorted(",".join(r) for r in found)


@pytest.mark.slow
def test_a_cell_of_ten_megabytes(bench, tools):
    found = tools.rows(20)
    found[11][4] = "x" * 10_000_000
    bench.data(found)
    run = bench.run(bench.plan(), keep_withheld=True).run_dir
    folder = "released" if (run / "released").exists() else "withheld"
    assert b"x" * 10_000_000 in tools.released(run, folder)["study/study.csv"]


@pytest.mark.slow
def test_every_value_that_a_csv_file_can_hold_survives_the_way(bench, tools):
    nasty = ['a"b', "a,b", "a\nb", "a\r\nb", " a ", "NULL", "'", "é", "#", "a\tb", "=1+1"]
    found = [
        [r[0], r[1], r[2], r[3], '"' + nasty[i % len(nasty)].replace('"', '""') + '"']
        for i, r in enumerate(tools.rows(110))
    ]
    bench.data(found)
    outcome = bench.run(bench.plan(), keep_withheld=True)
    import pandas as pd

    path = next(outcome.run_dir.glob("*/study/study.csv"))
    back = pd.read_csv(path, keep_default_na=False, dtype=str)
    assert sorted(back["score"]) == sorted(nasty * 10)
