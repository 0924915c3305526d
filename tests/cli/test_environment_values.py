"""A value from the environment: no description, domain or list of any verb and form brings it back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ppdm_flow.report.forms import CHECK, JUDGED

CANARY = "zqcanary"
VARIABLES = {
    "ZQ_WHY": f"{CANARY}why we do it",
    "ZQ_ILLS": f"flu,{CANARY}ill",
    "ZQ_ILL": f"{CANARY}ill",
    "ZQ_K": "3",
    "ZQ_FILE": "data.csv",
}
POLICY = """version: 1
name: env
description: "about ${params.why}"
owner: "owned by ${params.why}"
params:
  why: {from_env: ZQ_WHY}
  ills: {type: list, from_env: ZQ_ILLS}
  ill: {from_env: ZQ_ILL}
  k: {type: integer, from_env: ZQ_K}
  file: {from_env: ZQ_FILE}
source: {path: "${params.file}", missing: ["${params.ill}x", "?"]}
attributes:
  job: {role: quasi_identifier, description: "${params.why}"}
  ill: {role: sensitive, domain: "${params.ills}", description: "${params.why}"}
privacy:
  k_anonymity: {k: "${params.k}"}
  templates: {t: {channel: [job], sensitive: {ill: ["${params.ill}"]}, confidence: 0.95}}
  alpha_k: {ill: {alpha: 0.99, values: ["${params.ill}"]}}
steps:
  again: {use: recode, with: {attributes: {job: {values: {cook: "${params.why}"}, keep_others: true}}}}
releases:
  study: {path: study.csv, description: "for ${params.why}"}
report: {values: show}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "p.yaml").write_text(POLICY)
    (tmp_path / "other.yaml").write_text(POLICY.replace("0.95", "0.9").replace("about", "on"))
    (tmp_path / "bad.yaml").write_text(POLICY.replace("sensitive: {ill", "sensitive: {il").replace("job:", "jobs:"))
    rows = [f"{('cook', 'smith')[i % 2]},{('flu', CANARY + 'ill')[i // 2 % 2]}" for i in range(40)]
    (tmp_path / "data.csv").write_text("job,ill\n" + "\n".join(rows) + "\n")
    (tmp_path / "off.csv").write_text("job,ill\n" + "\n".join(rows) + "\ncook,gout\n")
    return tmp_path


def silent(done) -> None:
    assert CANARY not in done.stdout + done.stderr, done.stdout + done.stderr


VERBS = [
    ("show",),
    ("show", "--origin"),
    *(("plan", "--format", form) for form in ("text", "mermaid", "dot", "svg", "json")),
    *(("plan", "--data", "data.csv", "--format", form) for form in ("text", "json")),
    *(("check", "--format", form) for form in CHECK),
]


@pytest.mark.slow(quick=8)
@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_verbs_that_read_a_policy(here, folder, words):
    done = here(words[0], "p.yaml", *words[1:], cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    silent(done)
    for file in ("bad.yaml", "other.yaml"):
        silent(here(words[0], file, *words[1:], cwd=folder))


@pytest.mark.slow
def test_comparing(here, folder):
    for form in ("text", "json", "markdown"):
        silent(here("diff", "p.yaml", "other.yaml", "--format", form, cwd=folder))
    silent(here("diff", "p.yaml", "other.yaml", "--data", "data.csv", cwd=folder))


@pytest.mark.slow
def test_a_run_and_its_documents(here, folder):
    done = here("run", "p.yaml", "--out", "out", "-v", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    silent(done)
    run = next(p.parent for p in folder.glob("out/*/*/manifest.json"))
    told = {"study.csv", "policy.resolved.yaml"}  # the data, and what a later `verify --data` compiles again
    leaks = [p.name for p in run.rglob("*") if p.is_file() and CANARY in p.read_text(encoding="utf-8")]
    assert set(leaks) <= told
    for form in JUDGED:
        silent(here("report", run, "--format", form, cwd=folder))
        silent(here("report", run, "--public", "--format", form, cwd=folder))
    for words in ((), ("--data", "data.csv")):
        done = here("verify", run, *words, cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr
        silent(done)
    released = next(run.rglob("study.csv"))
    done = here("audit", "p.yaml", "--original", "data.csv", "--released", released, cwd=folder)
    silent(done)


def test_data_that_does_not_fit(here, folder):
    done = here("run", "p.yaml", "--data", "off.csv", "--out", "out", cwd=folder)
    assert done.returncode == 2
    silent(done)


def test_names_and_bounds_are_shown(here, folder):
    shown = here("show", "p.yaml", cwd=folder).stdout
    assert "k: 3" in shown
    document = json.loads(here("plan", "p.yaml", "--format", "json", cwd=folder).stdout)
    assert document["requirements"][0]["k"] == 3
    assert document["source"]["path"] == "data.csv"


def test_what_the_policy_writes_itself_is_shown(here, folder):
    own = POLICY.replace("{from_env: ZQ_WHY}", "{default: ours}").replace("{from_env: ZQ_ILL}", "{default: cold}")
    (folder / "own.yaml").write_text(own.replace("type: list, from_env: ZQ_ILLS", "type: list, default: [flu, cold]"))
    shown = here("show", "own.yaml", cwd=folder).stdout
    assert "for ours" in shown
    assert "[flu, cold]" in shown
