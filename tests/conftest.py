"""What all tests share: the command line in a process of its own, and the public datasets where they are at hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import configuration, settings

ROOT = Path(__file__).resolve().parents[1]

configuration.set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "ppdm-flow-hypothesis")
settings.register_profile("ppdm", deadline=None, derandomize=True, database=None)
settings.load_profile("ppdm")

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def cli() -> Cli:
    """Run ``ppdm-flow`` with these words; returns the finished process."""

    def run(
        *words: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "ppdm_flow", *map(str, words)],
            cwd=cwd or ROOT,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "120", **(env or {})},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    return run


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public datasets: ``PPDM_DATA``, or ``../shared/data`` beside the checkout."""
    folder = Path(os.environ.get("PPDM_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the public datasets are not at hand: set PPDM_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def only_run() -> Callable[[Path], Path]:
    """The one run directory below ``--out``."""

    def find(out: Path) -> Path:
        runs = [p.parent for p in out.glob("*/*/manifest.json")]
        assert len(runs) == 1, runs
        return runs[0]

    return find


@pytest.fixture(scope="session")
def report_of() -> Callable[[Path], dict[str, Any]]:
    """Read ``report.json`` of a run directory."""
    return lambda run: json.loads((run / "report.json").read_text())
