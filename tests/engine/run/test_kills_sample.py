"""A fixed sample of ``tests/campaigns/kills.py``, which says how its points are chosen; the whole has 200 a ledger."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def tally(root: Path, *words: str) -> dict[str, int]:
    done = subprocess.run(
        [sys.executable, str(root / "tests/campaigns/kills.py"), *words],
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
        cwd=root,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2_000:]
    return {what: int(count) for count, what in re.findall(r"^ *(\d+) (.+)$", done.stdout, re.MULTILINE)}


@pytest.mark.kill
def test_kills_around_publishing(root: Path) -> None:
    found = tally(root, "--points", "12", "--ledger", "file")
    assert found["faults"] == 0
    assert found["killed"] == 12
    assert sum(count for what, count in found.items() if "in the ledger" in what) == 12
    assert found["not published, in the ledger unknown"] >= 1
    assert sum(count for what, count in found.items() if what.endswith("in the ledger pending")) >= 2


@pytest.mark.kill
@pytest.mark.server
def test_kills_with_the_ledger_in_a_database(root: Path, postgres: Any) -> None:
    found = tally(root, "--points", "2", "--ledger", "server")
    assert (found["faults"], found["killed"]) == (0, 2)


@pytest.mark.kill
@pytest.mark.parametrize("words", [("--points", "2", "--ledger", "none")])
def test_kills_without_a_ledger(root: Path, words: tuple[str, ...]) -> None:
    found = tally(root, *words)
    assert (found["faults"], found["killed"]) == (0, 2)
