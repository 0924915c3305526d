"""What a run leaves: its files, its manifest, its report."""

from __future__ import annotations

import hashlib
import json

import jsonschema
import pyarrow.parquet as pq
import pytest

from ppdm_flow.api.documents import SCHEMAS
from ppdm_flow.engine.events import RowProgress, RunFinished, StepFinished, StepStarted


@pytest.fixture
def done(bench, tools):
    bench.data(tools.rows(2_000))
    plan = bench.plan()
    seen = []
    documents = {"report.json": '{"verdict": "released"}', "report.html": "<p>", "report.md": "#"}
    outcome = bench.run(plan, listener=seen.append, documents=lambda _: documents, policy_text="version: 1\n")
    return plan, outcome, seen


@pytest.mark.slow
def test_the_files_of_a_released_run(done):
    plan, outcome, _ = done
    assert outcome.report.verdict == "released"
    names = {p.relative_to(outcome.run_dir).as_posix() for p in outcome.run_dir.rglob("*") if p.is_file()}
    assert names == {
        "manifest.json",
        "policy.resolved.yaml",
        "plan.json",
        "plan.mmd",
        "report.json",
        "report.html",
        "report.md",
        "events.jsonl",
        "released/study/study.csv",
        "released/study/dictionary.json",
        "released/study/operator.json",
        "released/other/sub/other.parquet",
        "released/other/dictionary.json",
    }
    assert outcome.run_dir.name.endswith(plan.digest[:12])
    assert outcome.run_dir.parent.name == plan.policy
    assert json.loads((outcome.run_dir / "plan.json").read_text())["digest"] == plan.digest


def test_the_manifest_hashes_everything_and_fits_its_schema(done, tools):
    _, outcome, _ = done
    found = tools.manifest(outcome.run_dir)
    jsonschema.validate(found, SCHEMAS["manifest"]())
    listed = {n: a["sha256"] for n, a in found["files"].items()}
    real = {
        p.relative_to(outcome.run_dir).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in outcome.run_dir.rglob("*")
        if p.is_file() and p.name != "manifest.json"
    }
    assert listed == real
    assert found["verdict"] == "released"
    assert found["checks"] == {"total": len(outcome.report.requirements), "failed": 0, "waived": 0}


@pytest.mark.slow
def test_events_are_written_and_told(done):
    _, outcome, seen = done
    lines = [json.loads(line) for line in (outcome.run_dir / "events.jsonl").read_text().splitlines()]
    assert len(lines) == len(seen)
    assert {line["event"] for line in lines} == {"started", "finished", "progress", "judged", "verdict"}
    assert all(line["peak_mb"] > 0 and line["at"] >= 0 for line in lines)
    begun = [e.name for e in seen if isinstance(e, StepStarted)]
    assert sorted(begun) == sorted(e.name for e in seen if isinstance(e, StepFinished))
    assert begun[0] == "source"
    assert any(isinstance(e, RowProgress) and e.rows == 2_000 for e in seen)
    assert isinstance(seen[-1], RunFinished)


@pytest.mark.slow
def test_no_value_is_anywhere_but_in_what_the_recipient_gets(done, tools):
    _, outcome, seen = done
    for file in outcome.run_dir.rglob("*"):
        if file.is_file() and file.name not in ("study.csv", "other.parquet", "operator.json"):
            assert tools.CANARY.encode() not in file.read_bytes(), file
    assert tools.CANARY not in repr(seen)
    assert b"zqcanaryname" not in b"".join(tools.released(outcome.run_dir).values())


@pytest.mark.slow
def test_the_dictionary_says_what_was_done_to_each_column(done):
    _, outcome, _ = done
    found = json.loads((outcome.run_dir / "released/study/dictionary.json").read_text())
    assert found["rows"] == 2_000
    assert [a["name"] for a in found["attributes"]] == ["age", "town", "illness", "score"]
    changes = {a["name"]: [d["change"] for d in a["done"]] for a in found["attributes"]}
    assert changes == {"age": ["generalized"], "town": [], "illness": ["perturbed"], "score": []}
    how = {a["name"]: (a["computed_from"], a["how"]) for a in found["attributes"]}
    assert how == {
        "age": (["age"], "value_map"),
        "town": (["town"], "unchanged"),
        "illness": (["illness"], "drawn"),
        "score": (["score"], "unchanged"),
    }


@pytest.mark.slow
def test_the_operator_lies_beside_the_release_that_it_describes(done):
    _, outcome, _ = done
    found = json.loads((outcome.run_dir / "released/study/operator.json").read_text())
    [operator] = found["operators"]
    assert operator["attribute"] == "illness"
    assert len(operator["domain"]) == len(operator["retention"]) == 6


@pytest.mark.slow
def test_the_report_counts_rows_and_hashes_releases(done):
    _, outcome, _ = done
    report = outcome.report
    assert [(s.name, s.rows_in, s.rows_out) for s in report.steps] == [(s.name, 2_000, 2_000) for s in report.steps]
    for name, about in report.releases.items():
        file = outcome.run_dir / "released" / about["path"]
        assert about["rows"] == 2_000
        assert about["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
        assert about["bytes"] == file.stat().st_size
        assert about["path"].startswith(f"{name}/")
    assert report.run["input"]["rows_read"] == 2_000
    assert report.run["randomness"]["mode"] == "sealed"
    assert pq.read_table(outcome.run_dir / "released/other/sub/other.parquet").num_rows == 2_000


@pytest.mark.slow
def test_metrics_of_several_releases_carry_their_names(done):
    _, outcome, _ = done
    names = outcome.report.metrics.keys()
    assert "study/privacy.k_anonymity.k" in names
    assert "other/privacy.k_anonymity.k" in names
    assert "perturb.record_utility" in names
    assert {c.release for c in outcome.report.charts} == {"study", "other"}


def test_metrics_of_one_release_do_not(bench, tools):
    bench.data(tools.rows(300))
    policy = tools.POLICY.replace("  other: {from: bare, path: sub/other.parquet}\n", "")
    report = bench.run(bench.plan(policy)).report
    assert "privacy.k_anonymity.k" in report.metrics
    assert "distributions.worst_distance" in report.metrics or any(
        n.startswith("distributions.") for n in report.metrics
    )
    assert {c.release for c in report.charts} == {""}


@pytest.mark.slow
def test_a_withheld_candidate_is_deleted_or_kept_apart(bench, tools):
    bench.data(tools.rows(100))
    plan = bench.plan(tools.POLICY.replace("k: 2", "k: 90"))
    gone, kept = bench.run(plan), bench.run(plan, keep_withheld=True)
    assert gone.report.verdict == kept.report.verdict == "withheld"
    assert not [p for p in gone.run_dir.rglob("*") if p.is_dir()]
    assert b"zqcanary" not in b"".join(p.read_bytes() for p in gone.run_dir.iterdir())
    assert sorted(p.name for p in kept.run_dir.iterdir() if p.is_dir()) == ["withheld"]
    assert tools.manifest(kept.run_dir)["files"].keys() >= {"withheld/study/study.csv"}
    assert tools.manifest(gone.run_dir)["verdict"] == "withheld"


@pytest.mark.slow
def test_rows_leave_in_another_order_and_without_identifiers(done):
    _, outcome, _ = done
    lines = (outcome.run_dir / "released/study/study.csv").read_text().splitlines()[1:]
    scores = [int(line.rsplit("zqcanary", 1)[1]) for line in lines]
    assert sorted(scores) == sorted(i % 97 for i in range(2_000))
    assert scores != [i % 97 for i in range(2_000)]


@pytest.mark.slow
def test_runs_within_one_second_have_places_of_their_own(bench, tools, monkeypatch):
    from datetime import UTC, datetime

    from ppdm_flow.engine.run import finishing as module

    monkeypatch.setattr(module, "utc_now", lambda: datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC))
    bench.data(tools.rows(50))
    plan = bench.plan()
    names = [bench.run(plan).run_dir.name for _ in range(3)]
    first = f"20240102T030405Z-{plan.digest[:12]}"
    assert names == [first, f"{first}-2", f"{first}-3"]
