"""The paper's Table 1 through a policy and the command line (Wang, Fung, Yu, ICDM 2005)."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

TWO_TEMPLATES = """
  templates:
    job-country:
      channel: [job, country]
      sensitive: {bankruptcy: [Discharged]}
      confidence: 0.5
    job-child:
      channel: [job, child]
      sensitive: {bankruptcy: [Discharged]}
      confidence: 0.5
"""


def rows_of(path: Path) -> Counter[tuple[str, ...]]:
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    return Counter(
        {
            key: sum(int(r["weight"]) for r in lines if tuple(r[c] for c in r if c != "weight") == key)
            for key in {tuple(r[c] for c in r if c != "weight") for r in lines}
        }
    )


def test_table_2_is_released(cli, root, tmp_path, only_run, report_of):
    done = cli("run", root / "pipelines/bank_credit.yaml", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    run = only_run(tmp_path)
    report = report_of(run)
    assert report["verdict"] == "released"

    released = rows_of(run / "released/study/bank_credit.csv")
    assert released == Counter(
        {
            ("Cook", "US", "No", "Current", "Bad"): 4,
            ("Artist", "France", "No", "Current", "Good"): 1,
            ("Artist", "France", "No", "Current", "Bad"): 3,
            ("Doctor", "US", "Yes", "Never", "Good"): 4,
            ("Doctor", "US", "Yes", "Never", "Bad"): 2,
            ("⊥", "⊥", "No", "Discharged", "Good"): 5,
            ("⊥", "⊥", "No", "Never", "Good"): 5,
        }
    )
    (requirement,) = report["requirements"]
    assert requirement["id"] == "privacy.templates.no-discharged"
    assert requirement["measured"] == pytest.approx(0.5)
    assert requirement["bound"] == 0.75
    assert requirement["holds"] is True
    metrics = report["metrics"]
    assert metrics["privacy.templates.no-discharged.confidence_before"]["value"] == pytest.approx(0.8)


def test_two_templates_end_at_one_half(cli, root, tmp_path, only_run, report_of):
    text = (root / "pipelines/bank_credit.yaml").read_text()
    head, _, tail = text.partition("  templates:\n")
    _, _, after = tail.partition("steps:\n")
    policy = tmp_path / "two.yaml"
    policy.write_text(head.replace("bank-credit", "two") + TWO_TEMPLATES.lstrip("\n") + "\nsteps:\n" + after)
    data = root / "pipelines/data/bank_credit.csv"
    done = cli("run", policy, "--data", data, "--out", tmp_path / "runs")
    assert done.returncode == 0, done.stderr
    run = only_run(tmp_path / "runs")
    report = report_of(run)
    assert {r["id"]: r["measured"] for r in report["requirements"]} == {
        "privacy.templates.job-country": pytest.approx(0.5),
        "privacy.templates.job-child": pytest.approx(0.5),
    }
    rows = rows_of(run / "released/study/bank_credit.csv")
    seen = {column: {key[i] for key in rows} for i, column in enumerate(("job", "country", "child"))}
    assert seen == {
        "job": {"Cook", "Artist", "Doctor", "⊥"},
        "country": {"US", "France", "⊥"},
        "child": {"No", "Yes"},
    }


def test_an_unsuppressed_table_is_withheld(cli, root, tmp_path, only_run, report_of):
    policy = tmp_path / "raw.yaml"
    text = (root / "pipelines/bank_credit.yaml").read_text()
    policy.write_text(text.replace("steps:\n  suppress:\n    use: progressive_disclosure\n", ""))
    done = cli("run", policy, "--data", root / "pipelines/data/bank_credit.csv", "--out", tmp_path / "runs")
    assert done.returncode == 1, done.stderr
    run = only_run(tmp_path / "runs")
    assert not (run / "released").exists()
    report = report_of(run)
    assert report["verdict"] == "withheld"
    assert report["requirements"][0]["measured"] == pytest.approx(0.8)
    assert report["requirements"][0]["holds"] is False
