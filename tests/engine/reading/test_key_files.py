"""Key files that lie open are refused before anything is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.run.finishing import execute
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load

POLICY = """\
version: 1
name: study
source: {path: data.csv}
attributes:
  person: {role: identifier}
  city: {role: insensitive}
steps:
  codes: {use: pseudonymize, with: {attributes: [person], key_file: study.key}}
releases: {study: {path: study.csv}}
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "data.csv").write_text("person,city\nann,Rom\nbob,Rom\n")
    (tmp_path / "study.key").write_text("0123456789abcdef0123456789abcdef\n")
    return tmp_path


def run(home: Path) -> bool:
    plan = compile_policy(load(home / "policy.yaml"), digested=False).plan
    assert plan is not None
    return execute(plan, None, home / "runs").report.verdict == "released"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o604, 0o602])
def test_a_key_that_others_may_read_or_write_is_refused(home: Path, mode: int) -> None:
    (home / "study.key").chmod(mode)
    with pytest.raises(DataError) as caught:
        run(home)
    (told,) = caught.value.diagnostics
    assert (told.code, caught.value.exit_status) == ("PPF920", 2)
    assert told.help == f"chmod 600 {home / 'study.key'}"
    assert told.span is not None
    assert not list(home.glob("runs/*/*"))


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_private_key_is_used(home: Path, mode: int) -> None:
    (home / "study.key").chmod(mode)
    assert run(home)


def test_a_link_is_as_private_as_its_file(home: Path) -> None:
    (home / "study.key").rename(home / "real.key")
    (home / "study.key").symlink_to("real.key")
    (home / "real.key").chmod(0o600)
    assert run(home)
    (home / "real.key").chmod(0o644)
    with pytest.raises(DataError, match="PPF920"):
        run(home)


def test_a_key_that_is_missing_is_told_as_such(home: Path) -> None:
    (home / "study.key").unlink()
    with pytest.raises(Exception, match="PPF790"):
        run(home)
