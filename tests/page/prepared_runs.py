"""Runs that the engine makes once for all tests of a process: each test has a copy."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from signed_runs import POLICY, small_run


def prepared_run(runs: Path, policy: str = POLICY, rows: int = 60) -> Path:
    """Return a released run of a policy below a folder of runs; that of the same policy and rows is always the same."""
    made = _made(policy, rows)
    return shutil.copytree(made, runs / made.parent.name / made.name, dirs_exist_ok=True)


@cache
def _made(policy: str, rows: int) -> Path:
    return small_run(Path(tempfile.mkdtemp(dir=_folder())), policy, rows)


@cache
def _folder() -> str:
    folder = tempfile.mkdtemp(prefix="ppdm-runs-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
