"""Identifiers that only an audit asks for are read for it, and leave no trace in a release."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppdm_flow import api
from ppdm_flow.core.errors import PolicyError

POLICY = """
version: 1
name: hospital
source: {path: patients.csv}
attributes:
  name: {role: identifier}
  card: {role: identifier}
  zip: {role: quasi_identifier}
  disease: {role: sensitive}
audits:
  voters: {use: linkage, with: {external: voters.csv, identity: who, truth: name}}
releases:
  public: {path: out.csv}
"""
PATIENTS = [(f"p{i}", f"c{i}", f"z{i}", "flu" if i % 2 else "cold") for i in range(6)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "patients.csv").write_text("name,card,zip,disease\n" + "".join(",".join(r) + "\n" for r in PATIENTS))
    (tmp_path / "voters.csv").write_text("who,zip\np0,z0\np1,z1\np2,z3\nnobody,z9\n")
    return tmp_path


def test_the_truth_is_known_although_no_step_reads_it(home: Path) -> None:
    ran = api.run(home / "policy.yaml", out=home / "runs")
    found = {n: f.value for n, f in ran.report.metrics.items()}
    assert found["voters.linked"] == 3
    assert found["voters.precision"] == pytest.approx(2 / 3)  # p2 was taken for p3
    released = (ran.run_dir / "released/public/out.csv").read_text()
    assert released.splitlines()[0] == "zip,disease"
    assert not any(p[0] in released or p[1] in released for p in PATIENTS)
    for document in ("report.json", "report.html", "report.md", "plan.json", "events.jsonl"):
        assert "p3" not in (ran.run_dir / document).read_text().split('"')


def test_a_truth_that_the_source_lacks_is_found_beforehand(home: Path) -> None:
    (home / "policy.yaml").write_text(POLICY.replace("truth: name", "truth: nmae"))
    with pytest.raises(PolicyError, match="PPF861") as refused:
        api.run(home / "policy.yaml", out=home / "runs")
    (fault,) = (d for d in refused.value.diagnostics if d.code == "PPF861")
    assert fault.hint == "did you mean `name`?"
    assert fault.span is not None
