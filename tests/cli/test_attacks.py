"""Attacks by name in a policy, from end to end: a safe release goes out, one with planted leaks is withheld."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

POLICY = Path(__file__).parents[1] / "examples" / "good" / "attacks.yaml"
CONDITIONS = ("flu", "bronchitis", "gastritis", "ulcer", "cut", "burn")
SEED = "randomness: {mode: reproducible, seed: attacks}\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attacks")
    people = [(f"P{i}", f"476{i % 2}{i % 10}", str((i * 37) % 90), CONDITIONS[(i * 7) % 6]) for i in range(240)]
    lines = [",".join(p) for p in people]
    (folder / "patients.csv").write_text("\n".join(["name,zip,age,condition", *lines]) + "\n")
    known = [f"{name},{code},{age}" for name, code, age, _ in people[:60]]
    (folder / "voters.csv").write_text("\n".join(["name,postcode,age", *known]) + "\n")
    earlier = [f"47{i % 2},{'young' if i % 3 else 'old'},{c}" for i, (*_, c) in enumerate(people)]
    (folder / "spring.csv").write_text("\n".join(["zip,age,condition", *earlier]) + "\n")
    text = POLICY.read_text() + SEED
    (folder / "safe.yaml").write_text(text)
    leaky = text.replace("{attributes: {zip: {}, age: {}}}", "{attributes: {zip: {}}}")
    leaky = leaky.replace("{path: patients.csv}\nrandom", "{path: patients.csv, shuffle: false}\nrandom")
    leaky = leaky.replace("name: attacks", "name: leaky")
    (folder / "leaky.yaml").write_text(leaky)
    return folder


def report(cli, home, name, status):
    done = cli("run", f"{name}.yaml", "--out", f"out-{name}", cwd=home)
    assert done.returncode == status, done.stderr + done.stdout
    (found,) = (home / f"out-{name}").glob("*/*/report.json")
    return json.loads(found.read_text()), found.with_name("report.html").read_text()


@pytest.mark.slow
def test_a_safe_release_withstands(cli, home):
    found, page = report(cli, home, "safe", 0)
    codes = {f["code"] for f in found["findings"]}
    assert not codes & {"PPF890", "PPF892", "PPF893", "PPF894", "PPF895", "PPF896", "PPF897"}
    assert found["metrics"]["voters.linked"]["value"] == 0
    assert found["metrics"]["voters.matched"]["value"] == 1
    assert "Released rows that fit a known person" in page


def test_planted_leaks_are_found(cli, home):
    """Exact ages and the order of the source: people are linked, rightly, and rows stand side by side."""
    found, page = report(cli, home, "leaky", 1)
    codes = {f["code"] for f in found["findings"]}
    assert {"PPF890", "PPF892", "PPF894"} <= codes
    failed = {g["id"].removeprefix("gates.") for g in found["gates"] if not g["holds"]}
    assert {"nobody-certain", "in-no-order"} <= failed
    assert found["metrics"]["order.age.agreement"]["value"] == 1
    assert "P17" not in page
