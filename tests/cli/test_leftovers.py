"""`ppdm-flow doctor` names what killed runs left, and removes it if asked to; what is in use is not touched."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ppdm_flow.api.doctor import leftovers
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.spark import work_folders

PLACE = "20240102T030405Z-0123456789ab"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """No folder of this machine's own is looked at."""
    for name in ("tmp", "spark"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))


def names(out: Path, *, clean: bool = False) -> dict[str, tuple[bool, bool]]:
    """Return by name whether a leftover is of a live run, and whether it was removed."""
    return {each.path.name: (each.alive, each.removed) for each in leftovers(out, clean=clean)}


def dead(out: Path, name: str, **files: str) -> Path:
    folder = out / "ward" / name
    (folder / "candidate").mkdir(parents=True)
    (folder / "candidate" / "study.csv").write_text("x")
    for file, text in files.items():
        (folder / f"{file}.json").write_text(text)
    return folder


@pytest.mark.kill
def test_a_killed_run_is_named_and_removed(root, tmp_path, cli):
    out = tmp_path / "runs"
    run = subprocess.Popen(
        [sys.executable, "-m", "ppdm_flow", "run", str(root / "pipelines/hospital.yaml"), "--out", str(out)],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert next(line for line in run.stderr if line.startswith("source"))
    run.send_signal(signal.SIGKILL)
    run.communicate()
    (left,) = (out / "hospital").iterdir()
    first = cli("doctor", "--out", out)
    assert first.returncode == 0, first
    assert f"folder {left}: a killed run left this, which was not published: `--clean` removes it" in first.stdout
    assert left.is_dir()
    second = cli("doctor", "--out", out, "--clean")
    assert second.returncode == 0, second
    assert f"folder {left}: a killed run left this: removed" in second.stdout
    assert not list((out / "hospital").iterdir())
    assert "folder" not in cli("doctor", "--out", out).stdout.replace("working folder", "")


def test_a_live_run_is_not_touched(tmp_path):
    alive = RunDirectory(tmp_path / "runs" / "ward")
    left = dead(tmp_path / "runs", ".tmp-1-00c0ffee")
    seen = names(tmp_path / "runs", clean=True)
    assert seen == {alive.home.name: (True, False), left.name: (False, True)}
    assert alive.home.is_dir()
    alive.discard()
    assert names(tmp_path / "runs") == {}


def test_what_cannot_be_locked_may_be_alive(tmp_path, monkeypatch):
    """A shared folder that gives no locks does not tell whether a process of another machine works there."""
    left = dead(tmp_path / "runs", ".tmp-1-00c0ffee")

    def no_locks(_handle, _how):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    assert names(tmp_path / "runs", clean=True) == {left.name: (True, False)}
    assert left.is_dir()


def test_only_folders_of_runs_are_looked_at(tmp_path):
    out = tmp_path / "runs"
    (out / "ward" / ".tmp-browser").mkdir(parents=True)
    (out / "ward" / PLACE / "released").mkdir(parents=True)
    (out / "ward" / PLACE / "manifest.json").write_text("{}")
    (out / "ward" / ".tmp-2-00c0ffee").symlink_to(tmp_path)
    moved = dead(out, f"{PLACE}-2", manifest="{}")
    assert names(out, clean=True) == {moved.name: (False, True)}
    assert sorted(p.name for p in (out / "ward").iterdir()) == [".tmp-2-00c0ffee", ".tmp-browser", PLACE]
    assert names(tmp_path / "nowhere") == {}


def test_what_a_ledger_may_know_is_left_to_its_repair(tmp_path):
    left = dead(tmp_path / "runs", PLACE, manifest=json.dumps({"ledger": {}}))
    (each,) = leftovers(tmp_path / "runs", clean=True)
    assert (each.path, each.in_ledger, each.removed) == (left, True, False)
    assert sorted(p.name for p in left.iterdir()) == ["candidate", "manifest.json"]
    assert not list((left / "candidate").iterdir())


def test_copies_of_objects_are_leftovers_too(tmp_path):
    own = tmp_path / "tmp" / f"ppdm-flow-{os.getuid()}"
    places = [own / ".tmp-1-00c0ffee", tmp_path / "runs" / ".ppdm-flow" / ".tmp-2-00c0ffee"]
    for place in places:
        (place / "read-0").mkdir(parents=True)
    assert set(names(tmp_path / "runs", clean=True)) == {place.name for place in places}
    assert not any(place.exists() for place in places)


def test_folders_of_executors_are_marked_and_removed(tmp_path):
    work = tmp_path / "spark" / "work"
    (work / "app-of-others" / "0").mkdir(parents=True)
    (work / "app-dead" / "0").mkdir(parents=True)
    (work / "app-dead" / work_folders.SIGN).touch()
    with work_folders.marked_folder("app-live"):
        (work / "app-live" / "0").mkdir()
        assert names(tmp_path / "runs") == {"app-dead": (False, False)}
        assert names(tmp_path / "runs", clean=True) == {"app-dead": (False, True)}
        assert sorted(p.name for p in work.iterdir()) == ["app-live", "app-of-others"]
    assert sorted(p.name for p in work.iterdir()) == ["app-of-others"]
