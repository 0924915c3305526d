"""Personal data in columns that are declared to hold none: a finding, or what withholds, by audience."""

from __future__ import annotations

import json
from datetime import date

import pyarrow as pa
import pytest

import ppdm_flow as pf
from ppdm_flow import api

POLICY = """version: 1
name: shops
source: {path: table.csv}
attributes:
  town: {role: quasi_identifier}
  remark: {role: insensitive}
privacy: {k_anonymity: {k: 2}}
releases: {study: {path: study.csv, audience: public}}
"""
PHONES = [["ab"[i % 2], f"617-253-{i:04d}"] for i in range(30)]
WAIVER = """waivers:
  looked: {of: PPF649, AT reason: numbers of shops, owner: a@b.example, until: 2027-01-01}
"""


def of(outcome):
    return {(g.id, g.release): g for g in outcome.report.gates}


def codes(outcome):
    return [(f.code, f.subject) for f in outcome.report.findings if f.code == "PPF649"]


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("role", ["insensitive", "target", "sensitive"])
@pytest.mark.parametrize(
    ("audience", "verdict"), [("internal", "released"), ("partner", "withheld"), ("public", "withheld")]
)
def test_by_audience(bench, role, audience, verdict):
    bench.data(PHONES, "town,remark")
    policy = POLICY.replace("role: insensitive", f"role: {role}").replace("public", audience)
    outcome = bench.run(bench.plan(policy))
    assert outcome.report.verdict == verdict
    assert codes(outcome) == [("PPF649", "study.remark")]
    text = next(f.text for f in outcome.report.findings if f.code == "PPF649")
    assert text == f"`remark` is declared `{role}`, and looks like telephone numbers (30 rows)"
    assert "617" not in json.dumps([g.sentence for g in outcome.report.gates])
    assert bool(of(outcome)) is (audience != "internal")


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("partition_rows", [1, 7, 100_000])
def test_harmless_columns_are_released(bench, partition_rows):
    bench.data([["ab"[i % 2], f"{i * 37 % 911}.{i % 10}0"] for i in range(60)], "town,remark")
    outcome = bench.run(bench.plan(POLICY), partition_rows=partition_rows)
    assert (outcome.report.verdict, codes(outcome), of(outcome)) == ("released", [], {})


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("partition_rows", [1, 7, 100_000])
def test_rows_in_partitions(bench, partition_rows):
    bench.data([["ab"[i % 2], f"AB-{i * 7919:06d}"] for i in range(60)], "town,remark")
    outcome = bench.run(bench.plan(POLICY), partition_rows=partition_rows)
    assert codes(outcome) == [("PPF649", "study.remark")]


def test_quasi_identifiers_are_not_looked_at(bench):
    bench.data([[f"617-253-{i // 2:04d}", "none"] for i in range(60)], "town,remark")
    outcome = bench.run(bench.plan(POLICY))
    assert (outcome.report.verdict, codes(outcome)) == ("released", [])


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("partition_rows", [7, 100_000])
@pytest.mark.parametrize("kind", ["integer", "float"])
@pytest.mark.parametrize(
    ("number", "found"),
    [
        (lambda _: "4111111111111111", True),
        (lambda i: f"{491711234000 + i}", True),
        (lambda i: f"{i * 37 % 11 * 10**7}", False),
        (lambda i: f"{i % 9}", False),
        (lambda i: f"{i * 12_345.25}", False),
    ],
)
def test_numbers(bench, number, found, kind, partition_rows):
    if kind == "integer" and "." in number(1):
        pytest.skip("no whole numbers")
    bench.data([["ab"[i % 2], number(i)] for i in range(60)], "town,remark")
    policy = POLICY.replace("role: insensitive", f"role: insensitive, type: {kind}")
    outcome = bench.run(bench.plan(policy), partition_rows=partition_rows)
    assert codes(outcome) == [("PPF649", "study.remark")] * found


@pytest.mark.parametrize(("rows", "found"), [(lambda i: 1.5 + i * 0.37, True), (lambda i: 1.5 + i % 4, False)])
@pytest.mark.parametrize("role", ["weight", "sampling_weight"])
def test_weights(bench, role, rows, found):
    kind = "float" if role == "sampling_weight" else "integer"
    numbers = [rows(i) if kind == "float" else int(rows(i) * 100) for i in range(60)]
    bench.data([["ab"[i % 2], str(number)] for i, number in enumerate(numbers)], "town,remark")
    policy = POLICY.replace("role: insensitive", f"role: {role}, type: {kind}")
    assert codes(bench.run(bench.plan(policy))) == [("PPF649", "study.remark")] * found


@pytest.mark.parametrize(("item", "found"), [("jo@example.org", True), ("beer", False)])
def test_names_of_items(tmp_path, monkeypatch, item, found):
    monkeypatch.chdir(tmp_path)
    baskets = {"town": ["a", "b"] * 10, "bought": [["wine", item], ["bread"]] * 10}
    result = pf.run(BASKETS, pa.table(baskets))
    assert (result.verdict == "withheld") is found
    assert [f["subject"] for f in result.report["findings"] if f["code"] == "PPF649"] == ["study.bought"] * found


BASKETS = """version: 1
name: baskets
attributes: {town: {role: insensitive}, bought: {role: items}}
privacy: {km_anonymity: {k: 2, m: 1}}
releases: {study: {path: study.parquet, audience: public}}
"""


def test_released_cells_count_and_not_those_of_the_source(bench):
    bench.data(PHONES, "town,remark")
    masked = POLICY + "steps:\n  m: {use: mask, with: {attributes: {remark: {first: 3}}}}\n"
    outcome = bench.run(bench.plan(masked))
    assert (outcome.report.verdict, codes(outcome)) == ("released", [])
    rule = "{values: {x: jo@example.org}, keep_others: true}"
    made = POLICY + f"steps:\n  r: {{use: recode, with: {{attributes: {{remark: {rule}}}}}}}\n"
    bench.data([["a", "x"], ["a", "y"]], "town,remark")
    assert codes(bench.run(bench.plan(made))) == [("PPF649", "study.remark")]


@pytest.mark.parametrize("at", ["", "at: study.remark,"])
def test_a_waiver_lets_it_pass(bench, at):
    bench.data(PHONES, "town,remark")
    plan = bench.plan(POLICY + WAIVER.replace("AT", at))
    outcome = bench.run(plan, clock=lambda: date(2026, 11, 1))
    assert outcome.report.verdict == "released"
    assert of(outcome)["personal_data", "study"].waived_by == "looked"
    assert "PPF649 study.remark" in outcome.report.waivers[0].covers


def test_a_waiver_of_one_column_lets_no_other_pass(bench):
    bench.data([[*row, row[1]] for row in PHONES], "town,remark,more")
    both = POLICY.replace("privacy:", "  more: {role: insensitive}\nprivacy:")
    outcome = bench.run(bench.plan(both + WAIVER.replace("AT", "at: study.more,")), clock=lambda: date(2026, 11, 1))
    assert outcome.report.verdict == "withheld"
    assert not of(outcome)["personal_data", "study"].waived_by


def test_each_release_is_looked_at(bench):
    bench.data(PHONES, "town,remark")
    two = POLICY.replace("releases: {study", "releases: {own: {path: own.csv}, study")
    outcome = bench.run(bench.plan(two))
    assert sorted(codes(outcome)) == [("PPF649", "own.remark"), ("PPF649", "study.remark")]
    assert list(of(outcome)) == [("personal_data", "study")]


LINKED = """version: 1
name: linked
people: {known_rows: 1}
tables:
  people: {source: {path: people.csv}, key: who, attributes: {who: {role: subject}, state: {role: quasi_identifier}}}
  stays:
    source: {path: stays.csv}
    refers: {who: people}
    attributes: {who: {role: subject}, note: {role: insensitive}}
privacy: {k_anonymity: {k: 2}}
releases:
  people: {from: people, path: people.csv, audience: partner}
  stays: {from: stays, path: stays.csv, audience: partner}
"""


def linked(folder, note):
    (folder / "people.csv").write_text("who,state\n" + "".join(f"p{i},{'NM'[i % 2]}\n" for i in range(20)))
    (folder / "stays.csv").write_text("who,note\n" + "".join(f"p{i % 20},{note}\n" for i in range(40)))
    (folder / "linked.yaml").write_text(LINKED)


@pytest.mark.slow
@pytest.mark.parametrize(("note", "codes"), [("call 212-555-0123", ["PPF649"]), ("bed 12", [])])
def test_linked_tables(cli, tmp_path, note, codes):
    linked(tmp_path, note)
    done = cli("run", "linked.yaml", "--format", "json", cwd=tmp_path)
    assert done.returncode == bool(codes), done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert [f["code"] for f in report["findings"] if f["code"] == "PPF649"] == codes
    assert [(g["id"], g["release"]) for g in report["gates"]] == [("personal_data", "stays")] * len(codes)


def home(folder, audience="public"):
    (folder / "table.csv").write_text("town,remark\n" + "".join(f"{t},{r}\n" for t, r in PHONES))
    (folder / "policy.yaml").write_text(POLICY.replace("public", audience))


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("verb", ["check", "plan"])
def test_it_is_said_before_the_run(cli, tmp_path, verb):
    home(tmp_path)
    done = cli(verb, "policy.yaml", "--data", "table.csv", cwd=tmp_path)
    told = " ".join((done.stdout + done.stderr).split())
    assert "`remark` is declared `insensitive`, and looks like telephone numbers (30 rows): it would withhold" in told
    (tmp_path / "policy.yaml").write_text(POLICY + WAIVER.replace("AT", ""))
    done = cli(verb, "policy.yaml", "--data", "table.csv", cwd=tmp_path)
    assert "telephone" not in done.stdout + done.stderr


@pytest.mark.slow
def test_it_is_on_the_first_screen(cli, tmp_path):
    home(tmp_path, "internal")
    done = cli("run", "policy.yaml", "-q", cwd=tmp_path)
    assert done.returncode == 0
    assert "Undeclared personal data (PPF649) in `study.remark`" in " ".join(done.stdout.split())


@pytest.mark.slow
def test_a_file_of_another_tool(cli, tmp_path):
    home(tmp_path)
    done = cli("audit", "policy.yaml", "--original", "table.csv", "--released", "table.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert "`remark` is declared `insensitive`" in " ".join(done.stdout.split())


def test_a_policy_test_may_name_it(tmp_path):
    home(tmp_path)
    (tmp_path / "shops.test.yaml").write_text(
        "policy: policy.yaml\ntests:\n  phones:\n    data: {file: table.csv}\n"
        "    expect: {verdict: withheld, fails: [personal_data], findings: [PPF649]}\n"
    )
    outcome = api.run_tests([tmp_path / "shops.test.yaml"])
    assert outcome.exit_status == 0, outcome
