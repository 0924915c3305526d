"""Runs that are described to other programs: two releases with awkward columns, one that was withheld."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from ppdm_flow import api
from ppdm_flow.api.report import judgement
from ppdm_flow.report.forms import PORTABLE

POLICY = """version: 1
name: wages
description: what zqsecret people earn
source: {path: zqsource.csv}
attributes:
  name: {role: identifier}
  job: {role: quasi_identifier, description: what they do}
  "home town/region": {role: quasi_identifier}
  "wage in €": {role: sensitive, type: float}
  children: {role: sensitive, type: integer}
  since: {role: sensitive, type: date}
  seen: {role: sensitive, type: timestamp}
  note: {role: target}
privacy:
  k_anonymity: {k: KKK}
steps:
  recode: {use: mondrian}
  fewer: {use: drop, with: {attributes: [seen, note]}}
releases:
  public: {from: recode, path: wages.csv, description: Wages by job and place}
  partner: {from: fewer, path: wages.parquet}
"""
ROWS = 157


def table() -> str:
    """Return invented people as CSV; each name and each town holds the canary."""
    dice = random.Random(5)
    lines = ["name,job,home town/region,wage in €,children,since,seen,note"]
    for i in range(ROWS):
        wage = "" if i % 11 == 0 else f"{dice.uniform(900, 9000):.2f}"
        children = "" if i % 13 == 0 else str(dice.randint(0, 5))
        day = f"20{dice.randint(10, 24)}-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}"
        note = dice.choice(('"said ""no"", twice"', "plain", "ü"))
        job, town = dice.choice(("cook", "nurse", "tailor")), f"zqtown{dice.randint(1, 3)}"
        lines.append(f"zqname{i},{job},{town},{wage},{children},{day},{day}T12:{i % 60:02}:00,{note}")
    return "\n".join(lines) + "\n"


def run_of(folder: Path, *, k: int = 3, policy: str = POLICY) -> Path:
    """Carry out the policy in a folder; return the run's directory."""
    home = folder / "zqfolder"
    home.mkdir()
    (home / "zqsource.csv").write_text(table(), encoding="utf-8")
    (home / "policy.yaml").write_text(policy.replace("KKK", str(k)), encoding="utf-8")
    return api.run(home / "policy.yaml", out=home / "runs").run_dir


@pytest.fixture(scope="session")
def released(tmp_path_factory) -> Path:
    return run_of(tmp_path_factory.mktemp("released"))


@pytest.fixture(scope="session")
def withheld(tmp_path_factory) -> Path:
    steps = "  recode: {use: mondrian}\n"
    policy = POLICY.replace(steps, "  recode: {use: rename, with: {attributes: {note: remark}}}\n").replace(
        "seen, note", "seen"
    )
    run = run_of(tmp_path_factory.mktemp("withheld"), k=ROWS + 1, policy=policy)
    assert json.loads((run / "manifest.json").read_text())["verdict"] == "withheld"
    return run


def text(run: Path, form: str, *releases: str, public: bool = False) -> str:
    """Return a run in one of the forms."""
    return PORTABLE[form].render(judgement(run, public=public, portable=True, releases=releases))


def document(run: Path, form: str, *releases: str, public: bool = False) -> dict:
    """Return it as a document."""
    return json.loads(text(run, form, *releases, public=public))
