"""No diagnostic, log, report or manifest holds a raw value: canaries in every column, every output searched."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

COLUMNS = ("name", "age", "town", "illness", "result")
CANARY = "zqcanary"

POLICY = """version: 1
name: canaries
source: {path: table.csv}
attributes:
  name: {role: identifier}
  age: {role: quasi_identifier}
  town: {role: quasi_identifier}
  illness: {role: sensitive}
  result: {role: target}
privacy:
  k_anonymity: {k: KKK}
  sensitivities:
    illness: {default: {tolerance: 4}}
steps:
  perturb: {use: fine_grain_perturbation}
audits:
  classes: {use: classification_error, with: {target: result, repeats: 2}}
releases:
  study: {path: study.csv}
"""


def table(rows: int = 60) -> list[list[str]]:
    """Every cell of every column holds the canary."""
    return [
        [f"{CANARY}{column}{i if column == 'name' else i % (2 + c)}" for c, column in enumerate(COLUMNS)]
        for i in range(rows)
    ]


def write(folder: Path, rows: list[list[str]], *, k: int = 2, policy: str = POLICY) -> Path:
    lines = [",".join(COLUMNS), *(",".join(row) for row in rows)]
    (folder / "table.csv").write_text("\n".join(lines) + "\n")
    path = folder / "canaries.yaml"
    path.write_text(policy.replace("KKK", str(k)))
    return path


def leaks(folder: Path, but: tuple[str, ...] = ()) -> list[str]:
    """Files below ``folder`` that hold the canary in text or gzip, or in their name."""
    found = []
    for path in folder.rglob("*"):
        if path.name in but or not path.is_file():
            continue
        content = path.read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        if CANARY in path.name or CANARY.encode() in content:
            found.append(str(path.relative_to(folder)))
    return found


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("k", [2, 50])
def test_released_and_withheld_runs(cli, tmp_path, k):
    policy = write(tmp_path, table(), k=k)
    out = tmp_path / "out"
    done = cli("run", policy, "--out", out, "-v")
    assert done.returncode == (0 if k == 2 else 1), done.stdout + done.stderr
    assert CANARY not in done.stdout + done.stderr
    # the released table and the operator's domain are what the recipient is given: nothing else may hold values
    assert leaks(out, but=("study.csv", "operator.json")) == []
    run = next(p.parent for p in out.glob("*/*/manifest.json"))
    for form in ("md", "json", "html"):
        shown = cli("report", run, "--format", form)
        assert shown.returncode == 0, shown.stderr
        assert CANARY not in shown.stdout + shown.stderr


BROKEN = {
    "ragged": lambda rows: [*rows[:7], rows[7][:-1], *rows[8:]],
    "long row": lambda rows: [*rows[:7], rows[7] + [f"{CANARY}extra"], *rows[8:]],
    "only header": lambda rows: [],
    "open quote": lambda rows: [*rows[:7], [f'"{CANARY}', *rows[7][1:]], *rows[8:]],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", BROKEN)
def test_broken_tables(cli, tmp_path, kind):
    policy = write(tmp_path, BROKEN[kind](table()))
    done = cli("run", policy, "--out", tmp_path / "out", "-v")
    assert done.returncode == 2, done.stdout + done.stderr
    assert CANARY not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "out").rglob("released")) if (tmp_path / "out").exists() else True


REFUSED = {
    "domain": POLICY.replace("illness: {role: sensitive}", "illness: {role: sensitive, domain: [a, b]}"),
    "type": POLICY.replace("age: {role: quasi_identifier}", "age: {role: quasi_identifier, type: integer}"),
    "undeclared": POLICY.replace("  result: {role: target}\n", "").replace("target: result", "target: illness"),
    "suppressed": POLICY,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", REFUSED)
def test_tables_that_do_not_match(cli, tmp_path, kind):
    rows = table()
    if kind == "suppressed":
        rows[5][2] = "⊥"
    policy = write(tmp_path, rows, policy=REFUSED[kind])
    done = cli("run", policy, "--out", tmp_path / "out", "-v")
    assert done.returncode == 2, done.stdout + done.stderr
    assert CANARY not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_planning_with_data(cli, tmp_path):
    policy = write(tmp_path, table())
    for form in ("text", "mermaid", "json"):
        done = cli("plan", policy, "--data", tmp_path / "table.csv", "--format", form)
        assert done.returncode in (0, 1), done.stderr
        assert CANARY not in done.stdout + done.stderr


@pytest.mark.slow
def test_judging_another_tools_release(cli, tmp_path):
    policy = write(tmp_path, table())
    released = tmp_path / "theirs.csv"
    lines = (tmp_path / "table.csv").read_text().splitlines()
    released.write_text("\n".join(line.partition(",")[2] for line in lines) + "\n")
    done = cli("audit", policy, "--original", tmp_path / "table.csv", "--released", released)
    assert done.returncode == 1, done.stdout + done.stderr  # no operator is known: unverifiable, so no
    assert CANARY not in done.stdout + done.stderr
