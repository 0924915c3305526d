"""Faults planted into releases, through the command line: the audit finds each, and lets faithful releases pass.

``run`` cannot make such releases, so a faithful one is tampered with and handed to ``audit``. A faithful release is
refused once in a million; the keys are fixed by seeds.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

POLICY = """version: 1
name: planted
source: {{path: table.csv}}
attributes:
  age: {{role: quasi_identifier}}
  disease: {{role: sensitive, domain: [SARS, HIV, H1N1, cancer]}}
  income: {{role: sensitive, domain: [low, middle, high]}}
privacy:
  sensitivities:
    income: {{default: {{r1: 0.2, r2: 0.4}}}}
    disease:
      groups:
        stigma: {{values: [HIV, SARS], r1: 0.1, r2: {r2}}}
      values:
        cancer: [{{r1: 0.2, r2: 0.5}}, {{r1: 0.4, r2: 0.75, given: patients of the ward}}]
steps:
  perturb: {{use: fine_grain_perturbation, with: {{attributes: [income, disease]}}}}
audits:
  attack: {{use: corruption}}
releases:
  study: {{path: study.csv, audience: {audience}{shuffle}}}
{randomness}
"""
DOMAIN = np.array(["SARS", "HIV", "H1N1", "cancer"])
ROWS = 6000


def table() -> pa.Table:
    rng = np.random.default_rng(12)
    return pa.table(
        {
            "age": rng.integers(20, 60, ROWS).astype(str),
            "disease": rng.choice(DOMAIN, ROWS, p=[0.1, 0.2, 0.5, 0.2]),
            "income": rng.choice(["low", "middle", "high"], ROWS),
        }
    )


class Bench:
    """One faithful release, and what is needed to make others of it."""

    def __init__(self, cli, folder: Path) -> None:
        self.cli, self.folder = cli, folder
        pc.write_csv(table(), folder / "table.csv")

    def policy(self, r2: float = 0.4, seed: str | None = "planted", **more: str) -> Path:
        randomness = f"randomness: {{mode: reproducible, seed: {seed}}}" if seed else ""
        words = {"audience": "internal", "shuffle": "", **more}
        path = self.folder / f"policy-{r2}-{seed}-{len(words['shuffle'])}-{words['audience']}.yaml"
        path.write_text(POLICY.format(r2=r2, randomness=randomness, **words))
        return path

    def run(self, policy: Path) -> tuple[Path, dict]:
        """Run, and return ``released/study`` with the report."""
        out = self.folder / policy.stem
        if not out.exists():
            done = self.cli("run", policy, "--out", out)
            assert done.returncode == 0, done.stdout + done.stderr
        (run,) = (p.parent for p in out.glob("*/*/manifest.json"))
        return run / "released/study", json.loads((run / "report.json").read_text())

    def audit(self, policy: Path, released: Path, operator: Path) -> tuple[int, dict]:
        words = ("--original", self.folder / "table.csv", "--released", released, "--operator", operator)
        done = self.cli("audit", policy, *words, "--format", "json")
        assert done.returncode in (0, 1), done.stderr
        return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def bench(cli, tmp_path_factory) -> Bench:
    return Bench(cli, tmp_path_factory.mktemp("planted"))


def codes(report: dict) -> list[str]:
    return [f["code"] for f in report["findings"]]


def tampered(bench: Bench, name: str, released: Path, change) -> Path:
    """Write the release with another disease column."""
    cells = pc.read_csv(released)
    disease = pa.array(change(np.array(cells["disease"].to_pylist())))
    path = bench.folder / f"{name}.csv"
    pc.write_csv(cells.set_column(cells.schema.get_field_index("disease"), "disease", disease), path)
    return path


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("seed", ["planted", "other", None])
def test_a_faithful_release_raises_no_alarm(bench, seed):
    policy = bench.policy(seed=seed)
    folder, report = bench.run(policy)
    alarms = {"PPF810", "PPF811", "PPF812", "PPF816", "PPF851", "PPF850"}
    assert alarms.isdisjoint(codes(report))
    assert ("PPF817" in codes(report)) is (seed is not None)
    if seed is not None:  # a 95 % interval misses once in twenty: only fixed keys may be held to it
        counted = report["metrics"]["privacy.sensitivities.disease.measured_at_own_prior"]
        predicted = report["metrics"]["privacy.sensitivities.disease.highest_at_own_prior"]["value"]
        assert counted["interval"][0] <= predicted <= counted["interval"][1]
    status, again = bench.audit(policy, folder / "study.csv", folder / "operator.json")
    assert status == 0
    assert alarms.isdisjoint(codes(again))


@pytest.mark.slow
def test_a_wrong_operator(bench):
    policy, other = bench.policy(), bench.policy(r2=0.2)
    released, _ = bench.run(policy)
    wrong, _ = bench.run(other)
    status, report = bench.audit(policy, released / "study.csv", wrong / "operator.json")
    assert status == 1
    assert "PPF811" in codes(report)


@pytest.mark.slow
def test_a_column_perturbed_with_the_operator_of_another_key(bench):
    """The operator file is right, the bytes come from a run with other bounds (and another seed)."""
    policy = bench.policy()
    released, _ = bench.run(policy)
    other, _ = bench.run(bench.policy(r2=0.2, seed="other"))
    status, report = bench.audit(policy, other / "study.csv", released / "operator.json")
    assert status == 1
    assert "PPF811" in codes(report)
    assert not report["metrics"].keys() & {"privacy.sensitivities.disease.recovered_from_seed"}


@pytest.mark.slow
def test_a_value_left_unperturbed(bench):
    """Every HIV of the source is released as HIV; all else as the operator made it."""
    policy = bench.policy(shuffle=", shuffle: false")
    released, _ = bench.run(policy)
    original = np.array(table()["disease"].to_pylist())
    path = tampered(bench, "kept", released / "study.csv", lambda cells: np.where(original == "HIV", original, cells))
    status, report = bench.audit(policy, path, released / "operator.json")
    assert status == 1
    assert "PPF811" in codes(report)


@pytest.mark.slow
def test_an_unperturbed_column(bench):
    policy = bench.policy(shuffle=", shuffle: false")
    released, _ = bench.run(policy)
    original = np.array(table()["disease"].to_pylist())
    path = tampered(bench, "raw", released / "study.csv", lambda _cells: original)
    status, report = bench.audit(policy, path, released / "operator.json")
    assert status == 1
    assert "PPF811" in codes(report)


@pytest.mark.slow
@pytest.mark.parametrize("shuffle", ["", ", shuffle: false"])
def test_the_seed_in_the_policy_undoes_the_perturbation(bench, shuffle):
    """Shuffled or not, by the run and by a person with policy, original and release."""
    policy = bench.policy(shuffle=shuffle)
    released, report = bench.run(policy)
    operators = json.loads((released / "operator.json").read_text())["operators"]
    (operator,) = (o for o in operators if o["attribute"] == "disease")
    retention = dict(zip(operator["domain"], operator["retention"], strict=True))
    values, counts = np.unique(np.array(table()["disease"].to_pylist()), return_counts=True)
    kept = sum(retention[v] * n for v, n in zip(values, counts, strict=True)) / ROWS
    _, again = bench.audit(policy, released / "study.csv", released / "operator.json")
    for found in (report, again):
        share = found["metrics"]["privacy.sensitivities.disease.recovered_from_seed"]["value"]
        assert share > 0.9 * kept
        assert "PPF817" in codes(found)
    first, second = (
        r["metrics"]["privacy.sensitivities.disease.recovered_from_seed"]["value"] for r in (report, again)
    )
    assert first == second


@pytest.mark.slow
def test_another_seed_recovers_nothing(bench):
    released, _ = bench.run(bench.policy(seed=None))
    _, report = bench.audit(bench.policy(seed="guess"), released / "study.csv", released / "operator.json")
    assert "PPF817" not in codes(report)
    assert "privacy.sensitivities.disease.recovered_from_seed" not in report["metrics"]


@pytest.mark.slow
def test_a_public_release_refuses_the_seed(bench, cli):
    done = cli("run", bench.policy(audience="public"), "--out", bench.folder / "refused")
    assert done.returncode == 2
    assert "PPF512" in done.stderr


def test_the_attack_is_in_the_report(bench):
    _, report = bench.run(bench.policy())
    metrics = report["metrics"]
    assert metrics["attack.disease.worst_posterior"] == metrics["attack.disease.worst_after_corruption"]
    assert metrics["attack.certain_after_corruption"]["value"] == 0
    assert metrics["attack.independence_p"]["value"] > 1e-4
