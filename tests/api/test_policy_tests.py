"""Policy tests: what they measure is what a run measures, and nothing of it ever leaves."""

from __future__ import annotations

import csv
import json
import pickle
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from signers import signers_text

from ppdm_flow import api
from ppdm_flow.api.test.files import matching
from ppdm_flow.api.test.judging import bounds, meets
from ppdm_flow.api.test.test import PolicyTestJob, _here, _outcome, workers_for
from ppdm_flow.core.errors import PolicyError, UsageError
from ppdm_flow.policy.test import ExpectedFigure, load
from ppdm_flow.report.test import PolicyTestOutcome, as_json, as_junit, coverage, document, failure

POLICY = """version: 1
name: clinic
params:
  k: {type: integer, default: 2, min: 2}
source: {path: nowhere.csv, missing: ["?", ""]}
attributes:
  name: {role: identifier}
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 30, 50, 120]}}
  job: {role: quasi_identifier}
  illness: {role: sensitive, domain: [flu, cold, HIV]}
privacy:
  k_anonymity: {k: "${params.k}"}
  templates:
    no-hiv: {channel: [age, job], sensitive: {illness: [HIV]}, confidence: 0.5}
steps:
  intervals: {use: generalize, with: {attributes: {age: {}}}}
  suppress: {use: progressive_disclosure}
releases:
  study: {path: clinic.csv}
"""
ROWS = [
    ("Ada", 43, "pilot", "HIV"),
    ("Ben", 44, "pilot", "HIV"),
    ("Cem", 45, "pilot", "flu"),
    ("Dina", 46, "nurse", "flu"),
    ("Eve", 47, "nurse", "flu"),
    ("Finn", 48, "nurse", "cold"),
    ("Gus", 61, "clerk", "flu"),
    ("Hana", 62, "clerk", "cold"),
]
TABLE = "name,age,job,illness\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS)
RANDOM = """version: 1
name: drawn
source: {path: nowhere.csv}
attributes:
  id: {role: identifier}
  illness: {role: sensitive, domain: [flu, cold, HIV]}
privacy:
  sensitivities: {illness: {default: {tolerance: 3}}}
steps:
  perturb: {use: fine_grain_perturbation}
releases:
  r: {path: r.csv}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder with the policy, and a place of its own for temporary files."""
    (tmp_path / "clinic.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "table.csv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "drawn.yaml").write_text(RANDOM, encoding="utf-8")
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    return tmp_path


def carried_out(folder, text, **more):
    (folder / "a.test.yaml").write_text(text, encoding="utf-8")
    return api.run_tests(["a.test.yaml"], **more)


def only(folder, expect, data="{csv: table.csv}", policy="clinic.yaml", rest="", **more):
    """Return the result of the one test that expects this."""
    text = f"policy: {policy}\ntests:\n  t:\n    data: {data}\n    expect: {expect}\n{rest}"
    (result,) = carried_out(folder, text, **more).results
    return result


def told(result):
    return [d.message for d in result.failures]


@pytest.mark.slow
def test_a_test_measures_what_a_run_measures(folder):
    """The independent way: the released file of a real run, read back with nothing but a CSV reader."""
    ran = api.run(Path("clinic.yaml"), data=Path("table.csv"), out=folder / "runs")
    result = only(folder, "{verdict: released}", every_figure=True)
    assert result.outcome is PolicyTestOutcome.PASSED
    assert result.verdict == ran.report.verdict
    assert result.metrics == {name: figure.value for name, figure in ran.report.metrics.items()}
    assert [(j.id, j.holds, j.measured) for j in result.judged] == [
        (r.id, r.holds, r.measured) for r in (*ran.report.requirements, *ran.report.gates)
    ]
    with (ran.run_dir / "released" / "study" / "clinic.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    values = {c: sorted({row[c] for row in rows}) for c in rows[0]}
    hidden = {job: sum(j == job for _, _, j, _ in ROWS) - sum(r["job"] == job for r in rows) for _, _, job, _ in ROWS}
    assert set(hidden.values()) > {0}  # some jobs are suppressed, and some are not
    everywhere = [job for job, gone in hidden.items() if gone == sum(j == job for _, _, j, _ in ROWS)]
    nowhere = [job for job, gone in hidden.items() if not gone]
    expect = {
        "rows": len(rows),
        "columns": list(rows[0]),
        "released_values": values,
        "suppressed": {"job": {"everywhere": everywhere, "nowhere": nowhere}},
    }
    assert told(only(folder, json.dumps(expect, ensure_ascii=False))) == []


@pytest.mark.slow
def test_a_weaker_policy_fails_its_test(folder):
    """What tests are for: someone takes the requirement away, or the step that serves it."""
    expect = "{verdict: released, holds: [privacy.templates.no-hiv], suppressed: {job: [pilot]}}"
    assert only(folder, expect).outcome is PolicyTestOutcome.PASSED
    text = POLICY.replace("  suppress: {use: progressive_disclosure}\n", "")
    (folder / "clinic.yaml").write_text(text, encoding="utf-8")
    found = only(folder, expect)
    assert found.outcome is PolicyTestOutcome.FAILED
    assert told(found) == [
        "expected `released`, and the verdict is `withheld`",
        "`privacy.templates.no-hiv` is expected to hold, and it fails",
        "`pilot` is suppressed in none of its 3 rows",
    ]
    (folder / "clinic.yaml").write_text(POLICY.replace("confidence: 0.5", "confidence: 0.9"), encoding="utf-8")
    assert told(only(folder, expect)) == ["`pilot` is suppressed in none of its 3 rows"]


@pytest.mark.slow
def test_waivers_count_as_in_a_run(folder):
    """What does not hold and is waived is no failure, and a test can expect just that."""
    until = (datetime.now(UTC) + timedelta(days=30)).date()
    gates = "audits: {sizes: {use: class_sizes}}\ngates: {large: {metric: sizes.smallest, min: 1000}}\n"
    waiver = f"waivers: {{w: {{of: gates.large, reason: small table, owner: me, until: {until}}}}}\n"
    (folder / "clinic.yaml").write_text(POLICY + gates + waiver, encoding="utf-8")
    assert api.run(Path("clinic.yaml"), data=Path("table.csv"), out=folder / "runs").report.verdict == "released"
    assert told(only(folder, "{verdict: released, fails: [], waived: [gates.large]}")) == []
    assert told(only(folder, "{waived: [privacy.k_anonymity]}")) == [
        "`privacy.k_anonymity` is expected to fail and be waived, and it holds"
    ]
    (folder / "clinic.yaml").write_text(POLICY + gates, encoding="utf-8")
    assert told(only(folder, "{fails: [gates.large], waived: []}")) == []
    assert told(only(folder, "{verdict: withheld, waived: [gates.large]}")) == [
        "`gates.large` is expected to fail and be waived, and no waiver covers it"
    ]


@pytest.mark.slow
def test_what_holds_and_has_to_be_approved_is_held(folder):
    """A test says `held`: it fails when somebody takes the approvals away, and `released` fails when they come."""
    approved = POLICY + "approvals: {roles: [data-owner], signers: signers.yaml}\n"
    (folder / "signers.yaml").write_text(signers_text({"alice": "author", "bob": "data-owner"}), encoding="utf-8")
    released = "    released: {csv: theirs.csv}\n"
    rows = "age,job,illness\n" + '"[30, 50)",nurse,flu\n' * 2
    (folder / "theirs.csv").write_text(rows, encoding="utf-8")
    for policy, verdict, other in ((approved, "held", "released"), (POLICY, "released", "held")):
        (folder / "clinic.yaml").write_text(policy, encoding="utf-8")
        for given in ("", released):
            found = only(folder, f"{{verdict: {verdict}}}", rest=given)
            assert (found.verdict, told(found)) == (verdict, [])
            wrong = only(folder, f"{{verdict: {other}}}", rest=given)
            assert told(wrong) == [f"expected `{other}`, and the verdict is `{verdict}`"]
            assert "approvals" in wrong.failures[0].notes[0]
    text = approved.replace("  suppress: {use: progressive_disclosure}\n", "")
    (folder / "clinic.yaml").write_text(text, encoding="utf-8")
    assert told(only(folder, "{verdict: withheld, fails: {include: [privacy.templates.no-hiv]}}")) == []
    (folder / "signers.yaml").unlink()
    assert told(only(folder, "{verdict: held}")) == ["the policy cannot be run: it has errors (PPF350)"]
    assert told(only(folder, "{code: PPF350, verdict: refused}")) == []


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("released", [True, False])
def test_a_given_release_is_judged_as_audit_does(folder, released):
    rows = "age,job,illness\n" + "".join(f'"[30, 50)",{"nurse" if released else job},flu\n' for job in ("nurse", "x"))
    (folder / "theirs.csv").write_text(rows, encoding="utf-8")
    judged = api.audit(Path("clinic.yaml"), Path("table.csv"), Path("theirs.csv"))
    rest = "    released: {csv: theirs.csv}\n"
    result = only(
        folder, "{verdict: " + ("released}" if released else "withheld, fails: [privacy.k_anonymity]}"), rest=rest
    )
    assert told(result) == []
    assert [(j.id, j.measured, j.holds) for j in result.judged] == [
        (r.id, r.measured, r.holds) for r in judged.report.requirements
    ]


@pytest.mark.slow
def test_sealed_randomness_comes_out_the_same_every_time_and_differs_by_name(folder):
    table = "|\n      id,illness\n" + "".join(f"      p{i},{('flu', 'flu', 'cold', 'HIV')[i % 4]}\n" for i in range(80))
    text = f"policy: drawn.yaml\ndata: {table.replace('      ', '  ')}tests:\n"
    for name in ("one", "two"):
        text += f"  {name}: {{expect: {{verdict: released}}}}\n"
    first, second = (carried_out(folder, text, every_figure=True).results for _ in range(2))
    figures = [dict(r.metrics) for r in first]
    assert [r.outcome for r in first] == [PolicyTestOutcome.PASSED] * 2
    assert figures == [dict(r.metrics) for r in second]
    assert figures[0] != figures[1]


@pytest.mark.slow
def test_repetitions_draw_anew_and_each_must_be_as_expected(folder):
    table = "|\n      id,illness\n" + "".join(f"      p{i},{('flu', 'flu', 'cold', 'HIV')[i % 4]}\n" for i in range(80))
    name = "distributions.illness.total_variation"
    seen = only(folder, "{verdict: released}", table, "drawn.yaml", every_figure=True).metrics[name]
    rest = "    repeat: 6\n"
    found = only(folder, f"{{metrics: {{{name}: {{equals: {seen}}}}}}}", table, "drawn.yaml", rest)
    assert found.outcome is PolicyTestOutcome.FAILED
    assert found.runs == 6
    (fault,) = found.failures
    assert fault.notes[-1].startswith("in ")
    assert "of 6 repetitions; this is number 2" in fault.notes[-1]  # the first draws as a single one does
    assert (
        only(folder, f"{{metrics: {{{name}: {{max: 1}}}}}}", table, "drawn.yaml", rest).outcome
        is PolicyTestOutcome.PASSED
    )


@pytest.mark.slow
def test_a_reproducible_policy_draws_from_its_own_seed(folder):
    text = RANDOM + "randomness: {mode: reproducible, seed: abc}\n"
    (folder / "drawn.yaml").write_text(text, encoding="utf-8")
    table = "id,illness\n" + "".join(f"p{i},{('flu', 'flu', 'cold', 'HIV')[i % 4]}\n" for i in range(80))
    (folder / "t.csv").write_text(table, encoding="utf-8")
    ran = api.run(Path("drawn.yaml"), data=Path("t.csv"), out=folder / "runs")
    result = only(folder, "{verdict: released}", "{csv: t.csv}", "drawn.yaml", every_figure=True)
    assert result.metrics == {name: figure.value for name, figure in ran.report.metrics.items()}


@pytest.mark.slow
def test_nothing_is_left_behind(folder):
    before = {p.name for p in folder.iterdir()} | {"a.test.yaml"}
    for expect in ("{verdict: released}", "{verdict: withheld}", "{verdict: refused}"):
        only(folder, expect)
    only(folder, "{verdict: refused}", '"name,age\\nAda,x\\n"')
    assert {p.name for p in folder.iterdir()} == before
    assert list((folder / "tmp").iterdir()) == []


@pytest.mark.slow
def test_a_ledger_is_neither_read_nor_written(folder):
    text = POLICY.replace("name: {role: identifier}", "name: {role: identifier}").replace(
        "steps:", "ledger: {path: people.ledger, subject: name}\nsteps:"
    )
    (folder / "clinic.yaml").write_text(text, encoding="utf-8")
    assert only(folder, "{verdict: released, holds: [privacy.cumulative_k]}").outcome is PolicyTestOutcome.PASSED
    assert not list(folder.glob("people*"))
    (folder / "people.ledger").write_text("no ledger at all", encoding="utf-8")
    assert only(folder, "{verdict: released}").outcome is PolicyTestOutcome.PASSED
    assert (folder / "people.ledger").read_text(encoding="utf-8") == "no ledger at all"


CANARY = "Quetzalcoatlus"


@pytest.mark.slow
def test_values_of_other_files_are_never_told(folder):
    table = TABLE.replace("pilot", CANARY).replace("clerk", CANARY)
    (folder / "table.csv").write_text(table, encoding="utf-8")
    expect = (
        "{verdict: withheld, fails: [privacy.k_anonymity], rows: 1, columns: [x],"
        " released_values: {job: [nurse], age: []}, suppressed: {job: {nowhere: [nurse]}}, metrics: {suppress.x: 1}}"
    )
    tests = f"policy: clinic.yaml\ntests:\n  t:\n    data: {{csv: table.csv}}\n    expect: {expect}\n"
    tests = tests.replace("columns: [x], ", "").replace("columns: [x],", "")
    outcome = carried_out(folder, tests, measure_coverage=True)
    shown = as_json(outcome) + as_junit(outcome) + failure(outcome.results[0]) + coverage(outcome, 200)
    assert len(outcome.results[0].failures) >= 5
    assert CANARY not in shown
    written = tests.replace("{csv: table.csv}", "|\n      " + table.replace("\n", "\n      ").rstrip())
    assert CANARY in failure(carried_out(folder, written).results[0])


@pytest.mark.slow
def test_missing_values_and_other_ways_to_read_are_the_source_s(folder):
    rows = "[[name, age, job, illness], [Ada, 43, ~, flu], [Ben, 44, '?', flu], [Cem, 45, '', flu], [D, 46, x, flu],"
    rows += " [E, 47, x, flu]]"
    assert told(only(folder, '{released_values: {job: ["", x]}}', rows)) == []
    text = POLICY.replace("nowhere.csv, missing", 'nowhere.tsv, with: {delimiter: ";", header: false}, '
        "columns: [name, age, job, illness], missing").replace("nowhere.tsv", "nowhere.csv")  # fmt: skip
    (folder / "clinic.yaml").write_text(text, encoding="utf-8")
    assert only(folder, "{verdict: released}").outcome is PolicyTestOutcome.PASSED  # a CSV with a header all the same
    (folder / "raw.csv").write_text(TABLE.partition("\n")[2].replace(",", ";"), encoding="utf-8")
    assert only(folder, "{verdict: released, rows: 8}", "{file: raw.csv}").outcome is PolicyTestOutcome.PASSED


def test_one_column_with_a_missing_value(folder):
    text = RANDOM.replace("  id: {role: identifier}\n", "").replace(
        "sensitivities: {illness: {default: {tolerance: 3}}}", "k_anonymity: {k: 2, attributes: [illness]}"
    )
    text = text.replace("steps:\n  perturb: {use: fine_grain_perturbation}\n", "")
    text = text.replace("role: sensitive", "role: quasi_identifier")
    (folder / "drawn.yaml").write_text(text, encoding="utf-8")
    rows = "[[illness], [flu], [~], [flu], [~]]"
    expect = '{verdict: released, rows: 4, released_values: {illness: [flu, ""]}}'
    assert told(only(folder, expect, rows, "drawn.yaml")) == []


def test_weighted_rows_count_as_often_as_they_say(folder):
    text = POLICY.replace("  illness:", "  n: {role: weight, type: integer}\n  illness:")
    (folder / "clinic.yaml").write_text(text, encoding="utf-8")
    rows = "[[name, age, job, illness, n], [a, 43, pilot, HIV, 3], [b, 44, pilot, flu, 1], [c, 46, nurse, flu, 9]]"
    expect = "{verdict: released, rows: 3, suppressed: {job: [pilot]}, metrics: {privacy.k_anonymity.k: 13}}"
    assert told(only(folder, expect, rows)) == []


def test_sets_are_written_as_the_source_has_them(folder):
    policy = """version: 1
name: baskets
source: {path: nowhere.baskets}
attributes:
  items: {role: items}
privacy:
  km_anonymity: {k: 2, m: 2}
releases:
  r: {path: r.baskets}
"""
    (folder / "clinic.yaml").write_text(policy, encoding="utf-8")
    lines = "|\n      milk,bread\n      milk,bread\n      beer,milk\n"
    assert told(only(folder, "{verdict: withheld, fails: [privacy.km_anonymity], rows: 3}", lines)) == []
    assert told(only(folder, "{verdict: released}", lines.replace("beer", "bread"))) == []
    with pytest.raises(PolicyError) as caught:
        only(folder, "{verdict: released}", "[[items], [milk]]")
    assert [d.code for d in caught.value.diagnostics] == ["PPF146"]


def test_a_policy_with_errors_fails_its_tests_unless_they_are_expected(folder):
    (folder / "clinic.yaml").write_text(POLICY.replace("channel: [age, job]", "channel: [age, illness]"), "utf-8")
    assert told(only(folder, "{verdict: released}")) == ["the policy cannot be run: it has errors (PPF501)"]
    assert told(only(folder, "{verdict: refused}")) == ["the policy cannot be run: it has errors (PPF501)"]
    assert told(only(folder, "{verdict: refused, code: PPF501}")) == []
    text = (
        "policy: clinic.yaml\ntests:\n  t: {expect: {check: [PPF501]}}\n  u: {expect: {check: {exclude: [PPF501]}}}\n"
    )
    assert [r.outcome.value for r in carried_out(folder, text).results] == ["passed", "failed"]
    former = text.replace("PPF501", "PPF581")
    assert [r.outcome.value for r in carried_out(folder, former).results] == ["passed", "failed"]
    assert told(only(folder, "{verdict: refused, code: PPF581}")) == []


def test_a_code_that_was_merged_is_expected_under_its_old_name(folder):
    strict = (folder / "clinic.yaml").read_text("utf-8").replace("confidence: 0.5", "confidence: 0.1")
    (folder / "clinic.yaml").write_text(strict, "utf-8")
    for code in ("PPF784", "PPF740", "PPF881"):
        assert told(only(folder, f"{{verdict: refused, code: {code}}}")) == []
    assert "not with PPF785" in told(only(folder, "{verdict: refused, code: PPF785}"))[0]


def test_a_failure_of_the_tool_is_an_error_with_its_status(folder, monkeypatch):
    def broken(*_words, **_more):
        raise ValueError(CANARY)

    monkeypatch.setattr("ppdm_flow.api.test.cases.run_in_scratch", broken)
    outcome = carried_out(folder, "policy: clinic.yaml\ntests:\n  t: {data: {csv: table.csv}, expect: {rows: 8}}\n")
    (result,) = outcome.results
    assert (result.outcome, result.exit_status, outcome.exit_status) == (PolicyTestOutcome.ERROR, 3, 3)
    assert CANARY not in as_json(outcome) + as_junit(outcome)
    assert list((folder / "tmp").iterdir()) == []


@pytest.mark.slow
def test_processes_give_what_one_gives(folder):
    text = "policy: clinic.yaml\ndata: {csv: table.csv}\ntests:\n"
    text += "".join(f"  t{i}: {{set: {{k: {2 + i % 2}}}, expect: {{verdict: released}}}}\n" for i in range(6))
    text += "  bad: {expect: {rows: 3}}\n"
    alone, apart = carried_out(folder, text), carried_out(folder, text, workers=2)
    assert [(r.name, r.outcome, r.metrics, r.failures) for r in alone.results] == [
        (r.name, r.outcome, r.metrics, r.failures) for r in apart.results
    ]
    assert (alone.workers, apart.workers) == (1, 2)
    assert pickle.loads(pickle.dumps(alone.results[-1])) == alone.results[-1]


def test_a_process_that_ends_is_an_error(folder):
    (folder / "a.test.yaml").write_text("policy: clinic.yaml\ntests:\n  t: {expect: {check: []}}\n", encoding="utf-8")
    future: Future = Future()
    future.set_exception(BrokenProcessPool("gone"))
    result = _outcome(future, PolicyTestJob(load(folder / "a.test.yaml"), "t"))
    assert (result.outcome, result.exit_status, result.failures[0].code) == (PolicyTestOutcome.ERROR, 3, "PPF654")
    assert result.line == 3


def test_results_are_told_in_the_order_of_the_tests(folder, monkeypatch):
    text = "policy: clinic.yaml\ntests:\n" + "".join(f"  t{i}: {{expect: {{check: []}}}}\n" for i in range(4))
    monkeypatch.setattr(
        "ppdm_flow.api.test.test._apart",
        lambda jobs, workers, wanted: reversed(list(_here(jobs, wanted))),
    )
    told = []
    outcome = carried_out(folder, text, workers=2, tell=lambda *each: told.append(each))
    assert [(r.name, done, total) for r, done, total in told] == [(f"t{i}", i + 1, 4) for i in range(4)]
    assert [r.name for r in outcome.results] == ["t0", "t1", "t2", "t3"]


def test_processes_are_made_where_they_pay():
    assert [workers_for(jobs, 8) for jobs in (0, 1, 7, 8, 16, 1000)] == [1, 1, 1, 2, 4, 8]
    assert workers_for(1000, 1) == 1


@pytest.mark.slow
def test_coverage_tells_what_no_test_exercises(folder):
    text = "policy: clinic.yaml\ntests:\n  t: {data: {csv: table.csv}, expect: {verdict: released}}\n"
    first = carried_out(folder, text, measure_coverage=True)
    (covered,) = first.coverage
    found = {i.id: (i.exercised, i.challenged) for i in covered.items}
    assert found == {
        "privacy.k_anonymity": (True, False),
        "privacy.templates.no-hiv": (True, False),
        "privacy.templates.no-hiv: illness = HIV": (True, None),
        "steps.intervals": (True, None),
        "steps.suppress": (True, None),
    }
    assert first.percent == pytest.approx(100 * 5 / 7)
    assert "clinic.yaml:12  privacy.k_anonymity  never fails" in coverage(first, 200)
    more = text + "  u: {data: {csv: table.csv}, set: {k: 9}, expect: {fails: [privacy.k_anonymity]}}\n"
    more = more.replace("clinic.yaml", "plain.yaml")
    (folder / "plain.yaml").write_text(POLICY.replace("  suppress: {use: progressive_disclosure}\n", ""), "utf-8")
    second = carried_out(folder, more, measure_coverage=True)
    found = {i.id: (i.exercised, i.challenged) for c in second.coverage for i in c.items}
    assert found["privacy.k_anonymity"] == (True, True)
    assert found["privacy.templates.no-hiv"] == (False, True)
    same = text.replace("table.csv", "same.csv")
    rows = "name,age,job,illness\n" + "".join(f"p{i},43,nurse,flu\n" for i in range(4))
    (folder / "same.csv").write_text(rows, encoding="utf-8")
    found = {i.id: i.exercised for c in carried_out(folder, same, measure_coverage=True).coverage for i in c.items}
    assert not found["steps.suppress"]  # it ran, and there was nothing to suppress
    assert not found["privacy.templates.no-hiv: illness = HIV"]


def test_coverage_counts_a_template_once_and_names_policies_without_tests(folder):
    (folder / "house.yaml").write_text(
        "floors: {}\nprivacy: {k_anonymity: {k: 2}}\n".replace("floors: {}\n", ""), "utf-8"
    )
    child = POLICY.replace("name: clinic\n", "name: NAME\nextends: house.yaml\n").replace(
        '  k_anonymity: {k: "${params.k}"}\n', ""
    )
    for name in ("one", "two"):
        (folder / f"{name}.yaml").write_text(child.replace("NAME", name), encoding="utf-8")
    (folder / "a.test.yaml").write_text(
        "policy: one.yaml\ntests:\n  t: {data: {csv: table.csv}, expect: {rows: 8}}\n", encoding="utf-8"
    )
    outcome = api.run_tests(["."], measure_coverage=True)
    text = coverage(outcome, 200)
    assert "of which in templates:\n  house.yaml  50 %" in text
    assert "two.yaml: no test names this policy" in text
    assert {c.policy: c.tests for c in outcome.coverage} == {
        "clinic.yaml": 0, "drawn.yaml": 0, "one.yaml": 1, "two.yaml": 0,
    }  # fmt: skip


@pytest.mark.slow
def test_too_little_coverage_fails(folder):
    text = "policy: clinic.yaml\ntests:\n  t: {data: {csv: table.csv}, expect: {verdict: released}}\n"
    assert carried_out(folder, text, fail_under=90).exit_status == 1
    assert carried_out(folder, text, fail_under=71.4).exit_status == 0


def test_nothing_found_and_nothing_meant(folder):
    with pytest.raises(UsageError) as caught:
        api.run_tests(["."])
    assert caught.value.diagnostics[0].code == "PPF690"
    (folder / "a.test.yaml").write_text("policy: clinic.yaml\ntests:\n  t: {expect: {check: []}}\n", encoding="utf-8")
    assert api.list_tests(["."]) == ("a.test.yaml::t",)
    with pytest.raises(UsageError) as caught:
        api.run_tests(["."], ["nothing"])
    assert caught.value.diagnostics[0].code == "PPF651"
    (folder / "b.test.yaml").write_text("policy: clinic.yaml\ntests:\n  t: {expect: {chek: []}}\n", encoding="utf-8")
    with pytest.raises(PolicyError):
        api.run_tests(["."])


@pytest.mark.parametrize(
    ("patterns", "meant"),
    [([], True), (["rare"], True), (["RARE"], True), (["other", "age"], True), (["tests/"], True), (["rare*"], True),
     (["rare"[:2] + "*"], True), (["age*"], False), (["nothing"], False)],
)  # fmt: skip
def test_patterns(patterns, meant):
    assert matching(patterns, "tests/a.test.yaml::rare-ages") is meant


@pytest.mark.parametrize(
    ("figure", "value", "met", "words"),
    [
        ({"equals": 3}, 3, True, "3"),
        ({"equals": 3}, 3.0000000001, True, "3"),
        ({"equals": 3}, 3.001, False, "3"),
        ({"equals": 3, "tolerance": 0.01}, 3.001, True, "3 ± 0.01"),
        ({"equals": 0, "tolerance": 0}, 0, True, "0"),
        ({"min": 1}, 0.5, False, "at least 1"),
        ({"min": 1, "max": 2}, 2, True, "at least 1 and at most 2"),
        ({"max": 0.5}, 0.50001, False, "at most 0.5"),
        ({"max": 0.5}, None, False, "at most 0.5"),
    ],
)
def test_figures(figure, value, met, words):
    assert meets(ExpectedFigure(**figure), value) is met
    assert bounds(ExpectedFigure(**figure)) == words


@pytest.mark.slow
def test_the_document_counts_what_it_holds(folder):
    text = "policy: clinic.yaml\ndata: {csv: table.csv}\ntests:\n  t: {expect: {rows: 8}}\n  u: {expect: {rows: 9}}\n"
    found = document(carried_out(folder, text, measure_coverage=True))
    assert (found["passed"], found["failed"], found["errors"], len(found["tests"])) == (1, 1, 0, 2)
    assert found["tests"][1]["failures"][0]["line"] == 5
    assert found["coverage"]["policies"][0]["tests"] == 2
    assert json.loads(json.dumps(found)) == found
