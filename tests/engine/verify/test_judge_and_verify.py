"""Judging files of any origin, and verifying finished runs."""

from __future__ import annotations

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdm_flow.core.errors import DataError, UsageError
from ppdm_flow.engine.verify.judge_files import judge
from ppdm_flow.engine.verify.verify import verify


@pytest.fixture
def done(bench, tools):
    data = bench.data(tools.rows(2_000))
    plan = bench.plan()
    from ppdm_flow.report.run.document import document

    report = {}

    def documents(found):
        report["x"] = document(found)
        return {"report.json": json.dumps(report["x"])}

    outcome = bench.run(plan, documents=documents, policy_text="version: 1\n")
    return plan, data, outcome


def figures(report) -> dict:
    return {(r.id, r.metric): r.measured for r in report.requirements}


@pytest.mark.slow
def test_a_release_of_our_own_is_judged_as_the_run_did(done):
    plan, data, outcome = done
    for name, path in (("study", "study/study.csv"), ("other", "other/sub/other.parquet")):
        report = judge(plan, data, outcome.run_dir / "released" / path, name)
        assert report.verdict == "released"
        of_file = [r for r in outcome.report.requirements if r.release == name and "together" not in r.metric]
        assert figures(report) == pytest.approx({(r.id, r.metric): r.measured for r in of_file})
        assert report.releases[name]["rows"] == 2_000
        assert report.steps == ()


@pytest.mark.slow
def test_without_its_operator_a_perturbed_release_is_unverifiable(done, tmp_path):
    plan, data, outcome = done
    alone = tmp_path / "alone.csv"
    shutil.copy(outcome.run_dir / "released/study/study.csv", alone)
    assert judge(plan, data, alone, "study").verdict == "withheld"
    operator = outcome.run_dir / "released/study/operator.json"
    assert judge(plan, data, alone, "study", operator).verdict == "released"


@pytest.mark.slow
def test_the_original_itself_is_refused(done, bench, tmp_path):
    plan, data, _ = done
    lines = [line.split(",") for line in data.read_text().splitlines()]
    raw = tmp_path / "raw.csv"
    raw.write_text("\n".join(",".join(r[1:]) for r in lines) + "\n")
    report = judge(plan, data, raw, "study")
    assert report.verdict == "withheld"
    assert not next(r for r in report.requirements if r.id == "privacy.k_anonymity").holds


@pytest.mark.slow
def test_columns_may_come_in_another_order_and_another_format(done, tmp_path):
    plan, data, outcome = done
    source = pq.read_table(outcome.run_dir / "released/other/sub/other.parquet")
    file = tmp_path / "theirs.jsonl"
    rows = source.select(["score", "town", "age"]).to_pylist()
    file.write_text("".join(json.dumps(r) + "\n" for r in rows))
    report = judge(plan, data, file, "other")
    assert report.verdict == "released"
    typed = tmp_path / "typed.parquet"
    pq.write_table(source.append_column("x", pa.array(range(2_000))).drop(["x"]), typed)
    assert figures(judge(plan, data, typed, "other")) == figures(report)


@pytest.mark.slow
def test_files_that_do_not_fit_the_release(done, tmp_path):
    plan, data, outcome = done
    own = (outcome.run_dir / "released/study/study.csv").read_text().splitlines()
    cases = {
        "more": ([f"{line},zqcanary" for line in own], "PPF709"),
        "less": ([line.rsplit(",", 1)[0] for line in own], "PPF708"),
        "none": (own[:1], "PPF714"),
    }
    for name, (lines, code) in cases.items():
        file = tmp_path / f"{name}.csv"
        file.write_text("\n".join(lines) + "\n")
        with pytest.raises(DataError) as caught:
            judge(plan, data, file, "study")
        assert caught.value.diagnostics[0].code == code
        assert "zqcanary" not in str(caught.value)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("text", ["", "[]", "{}", '{"operators": [{"form": "x"}]}', '{"operators": 1}', "zqcanary"])
def test_what_is_no_operator(done, tmp_path, text):
    plan, data, outcome = done
    file = tmp_path / "op.json"
    file.write_text(text)
    with pytest.raises(DataError) as caught:
        judge(plan, data, outcome.run_dir / "released/study/study.csv", "study", file)
    assert caught.value.diagnostics[0].code == "PPF736"
    assert "zqcanary" not in str(caught.value)
    with pytest.raises(DataError) as caught:
        judge(plan, data, outcome.run_dir / "released/study/study.csv", "study", tmp_path / "none.json")
    assert caught.value.diagnostics[0].code == "PPF701"


def never(_policy, _data):
    raise AssertionError("no plan is needed")


@pytest.mark.slow
def test_a_run_as_it_was(done):
    _, _, outcome = done
    found = verify(outcome.run_dir, None, never)
    assert found.holds
    assert found.files == sum(p.is_file() for p in outcome.run_dir.rglob("*")) - 1
    assert "is as it was" in found.text


@pytest.mark.slow
def test_files_that_were_changed_added_or_removed(done):
    _, _, outcome = done
    run = outcome.run_dir
    with (run / "released/study/study.csv").open("a") as file:
        file.write("x")
    (run / "plan.mmd").unlink()
    (run / "released/study/more.csv").write_text("x")
    (run / "link").symlink_to("/etc/hostname")
    found = verify(run, None, never)
    assert not found.holds
    assert found.changed == ("released/study/study.csv",)
    assert found.missing == ("plan.mmd",)
    assert found.extra == ("link", "released/study/more.csv")
    for word in ("changed: released/study/study.csv", "missing: plan.mmd", "not in the manifest: link", "NOT"):
        assert word in found.text


@pytest.mark.slow
def test_a_file_that_became_a_link_is_changed(done, tmp_path):
    _, _, outcome = done
    file = outcome.run_dir / "plan.json"
    shutil.move(file, tmp_path / "plan.json")
    file.symlink_to(tmp_path / "plan.json")
    assert verify(outcome.run_dir, None, never).changed == ("plan.json",)


@pytest.mark.slow
def test_with_the_data_every_requirement_is_measured_again(done, bench):
    plan, data, outcome = done
    asked = []

    def loader(policy, given):
        asked.append((policy, given))
        return plan

    found = verify(outcome.run_dir, data, loader)
    assert found.holds, found.text
    assert asked == [(outcome.run_dir / "policy.resolved.yaml", data)]
    together = [r for r in outcome.report.requirements if "together" in r.metric]
    assert found.remeasured.requirements == len(outcome.report.requirements) - len(together)
    unknown = {f"{r.id} on {r.release}" for r in together}
    assert set(found.remeasured.unknown) == unknown  # by the scores of few, which draws made
    assert found.remeasured.made["other"] == (
        True,
        "its steps, carried out again, make the same rows, whose order is drawn",
    )
    assert found.remeasured.same_input


@pytest.mark.slow
def test_other_data_and_other_figures_are_told(done, bench, tools, tmp_path):
    plan, data, outcome = done
    report = json.loads((outcome.run_dir / "report.json").read_text())
    report["requirements"][0]["measured"] += 1
    (outcome.run_dir / "report.json").write_text(json.dumps(report))
    manifest = tools.manifest(outcome.run_dir)
    import hashlib

    manifest["files"]["report.json"]["sha256"] = hashlib.sha256(
        (outcome.run_dir / "report.json").read_bytes()
    ).hexdigest()
    (outcome.run_dir / "manifest.json").write_text(json.dumps(manifest))
    found = verify(outcome.run_dir, data, lambda p, d: plan)
    assert not found.holds
    assert len(found.remeasured.differences) == 1
    assert "measured otherwise: privacy.k_anonymity" in found.text
    other = bench.data(tools.rows(2_000, seed=9), name="other.csv")
    found = verify(outcome.run_dir, other, lambda p, d: plan)
    assert not found.remeasured.same_input
    assert "not the data of this run" in found.text


@pytest.mark.parametrize(
    "text", [None, "", "{}", "[]", '{"version": 2, "files": {}}', '{"version": 1, "files": {"a": 1}}']
)
def test_what_is_no_run(tmp_path, text):
    if text is not None:
        (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(UsageError) as caught:
        verify(tmp_path, None, never)
    assert caught.value.diagnostics[0].code == "PPF750"
    assert caught.value.exit_status == 2


@pytest.mark.slow
def test_a_withheld_run_that_was_not_kept_is_verified_by_its_hashes(bench, tools):
    data = bench.data(tools.rows(200))
    plan = bench.plan(tools.POLICY.replace("k: 2", "k: 99"))
    from ppdm_flow.report.run.document import document

    run = bench.run(plan, documents=lambda r: {"report.json": json.dumps(document(r))}).run_dir
    found = verify(run, data, lambda p, d: plan)
    assert found.holds
    assert found.remeasured.skipped == ("study", "other")


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("rename", [False, True])
def test_a_verdict_that_was_turned_round_in_the_manifest(bench, tools, rename):
    bench.data(tools.rows(40))
    outcome = bench.run(
        bench.plan(tools.POLICY.replace("k: 2", "k: 39")),
        keep_withheld=True,
        documents=lambda report: {"report.json": json.dumps({"verdict": report.verdict})},
    )
    run = outcome.run_dir
    content = (run / "manifest.json").read_text().replace('"verdict": "withheld"', '"verdict": "released"')
    if rename:
        content = content.replace('"withheld/', '"released/')
        (run / "withheld").rename(run / "released")
    (run / "manifest.json").write_text(content)
    found = verify(run, None, never)
    assert not found.holds
    assert "the manifest says released, and `report.json` says withheld" in found.text


def test_a_link_to_a_folder_is_not_part_of_a_run(bench, tools):
    bench.data(tools.rows(200))
    run = bench.run(bench.plan()).run_dir
    (run / "released" / "study" / "more").symlink_to("/etc")
    assert verify(run, None, never).extra == ("released/study/more",)


GROUPED = """version: 1
name: clinic
source: {path: table.csv}
attributes:
  age: {role: quasi_identifier, domain: [a, b]}
  illness: {role: sensitive}
privacy:
  PRIVACY
releases:
  study: {path: study.csv}
"""
DRAWN = {"attribute": "age", "form": "fine_grain", "domain": ["a", "b"], "retention": [0.4, 0.4]}


@pytest.mark.parametrize(
    ("privacy", "refused"), [("l_diversity: {illness: {l: 2}}", True), ("k_anonymity: {k: 2}", False)]
)
def test_groups_by_an_attribute_that_an_operator_randomizes(bench, tmp_path, privacy, refused):
    """The file shows l-diverse groups; a reader who inverts the operator finds the true ones."""
    data = bench.data([["ab"[i % 2], f"i{i // 2 % 2}"] for i in range(40)], header="age,illness")
    plan = bench.plan(GROUPED.replace("PRIVACY", privacy))
    operator = tmp_path / "from-elsewhere.json"
    operator.write_text(json.dumps(DRAWN), encoding="utf-8")
    assert judge(plan, data, data, "study").verdict == "released"
    if refused:
        with pytest.raises(DataError) as refusal:
            judge(plan, data, data, "study", operator)
        assert [d.code for d in refusal.value.diagnostics] == ["PPF569"]
    else:
        assert judge(plan, data, data, "study", operator).verdict == "released"
