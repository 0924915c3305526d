"""A ledger is made once, none of its entries is lost or changed unseen, and runs know one that is older than they."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ppdm_flow import api
from ppdm_flow.core.errors import DataError, RunError, UsageError
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.ledger.fields import PENDING, RELEASED
from ppdm_flow.engine.ledger.ledger import RunLedger

POLICY = """
version: 1
name: ward
source: {path: one.csv}
ledger: {LEDGER, key: releases.key, subject: patient}
attributes: {patient: {role: identifier}, zip: {role: quasi_identifier}}
privacy: {k_anonymity: {k: 5}}
releases: {public: {path: ward.csv}}
"""


@dataclass
class Home:
    """A folder with data and a policy that expects a ledger at ``place``; ``sql`` changes that behind its back."""

    folder: Path
    place: str
    sql: Callable[[str], Any]

    @property
    def key(self) -> Path:
        return self.folder / "releases.key"

    def run(self, out: str = "runs") -> bool:
        return api.run(self.folder / "policy.yaml", out=self.folder / out).released

    def look(self, **words: Any) -> Any:
        return api.ledger(self.place, self.key, **words)

    def states(self) -> list[tuple[int, str]]:
        return [(e.number, e.state) for e in self.look().entries]

    def runs(self) -> list[Path]:
        return sorted((self.folder / "runs/ward").glob("*/"))


def _write(folder: Path, words: str) -> None:
    (folder / "policy.yaml").write_text(POLICY.replace("LEDGER", words))
    lines = "".join(f"p{i},{'low' if i < 10 else 'high'}\n" for i in range(20))
    (folder / "one.csv").write_text(f"patient,zip\n{lines}")


def _filed(folder: Path) -> Home:
    def sql(text: str) -> None:
        with sqlite3.connect(folder / "releases.ledger") as opened:
            opened.executescript(text)
        opened.close()

    return Home(folder, str(folder / "releases.ledger"), sql)


def _served(folder: Path, server: Any) -> Home:
    name = server.database()
    _write(folder, f"url: '{server.url(name)}'")
    return Home(folder, server.url(name), lambda text: server.sql(name, f"SET search_path = ppdm_flow; {text}"))


@pytest.fixture(params=["file", pytest.param("server", marks=pytest.mark.server)])
def bare(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    """No ledger yet."""
    if request.param == "server":
        return _served(tmp_path, request.getfixturevalue("postgres"))
    _write(tmp_path, "path: releases.ledger")
    return _filed(tmp_path)


@pytest.fixture
def home(bare: Home) -> Home:
    api.create_ledger(bare.place, bare.key)
    return bare


@pytest.fixture
def filed(tmp_path: Path) -> Home:
    _write(tmp_path, "path: releases.ledger")
    home = _filed(tmp_path)
    api.create_ledger(home.place, home.key)
    return home


@pytest.fixture
def served(tmp_path: Path, postgres: Any) -> Home:
    home = _served(tmp_path, postgres)
    api.create_ledger(home.place, home.key)
    return home


def test_a_ledger_that_is_not_there_is_an_error_that_says_how_to_make_one(bare: Home) -> None:
    with pytest.raises(DataError, match="PPF911") as caught:
        bare.run()
    help_ = str(caught.value.diagnostics[0].help)
    assert "ppdm-flow ledger" in help_
    assert "--create" in help_
    assert f"--key {bare.key}" in help_
    assert "://" not in f"{caught.value} {help_}"
    assert not bare.key.exists()
    assert bare.runs() == []
    assert [p.name for p in bare.folder.glob("*.lock")] == []
    assert api.create_ledger(bare.place, bare.key).checked
    assert bare.run()
    assert bare.states() == [(1, RELEASED)]


def test_where_the_key_is_there_the_ledger_is_asked_for(bare: Home) -> None:
    bare.key.write_text("00" * 32 + "\n")
    bare.key.chmod(0o600)
    with pytest.raises(DataError, match="PPF911") as caught:
        bare.run()
    assert "put the ledger back" in str(caught.value.diagnostics[0].help)
    api.create_ledger(bare.place, bare.key)
    assert bare.key.read_text() == "00" * 32 + "\n"
    assert bare.run()


def test_a_ledger_is_made_once(home: Home) -> None:
    key = home.key.read_text()
    assert home.run()
    with pytest.raises(UsageError, match="PPF687"):
        api.create_ledger(home.place, home.key)
    assert home.key.read_text() == key
    assert home.states() == [(1, RELEASED)]


@pytest.mark.slow
def test_the_verb_makes_one_beside_its_key(tmp_path: Path, cli: Any, root: Path) -> None:
    done = cli("ledger", "releases.ledger", "--create", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "nothing was released yet" in done.stdout
    assert (tmp_path / "releases.ledger.key").stat().st_mode & 0o777 == 0o600
    assert cli("ledger", "releases.ledger", "--create", cwd=tmp_path).returncode == 2
    assert cli("ledger", "releases.ledger", "--create", "--repair", cwd=tmp_path).returncode == 2
    assert cli("ledger", "nowhere/releases.ledger", "--create", cwd=tmp_path).returncode == 2
    shown = cli("ledger", "releases.ledger", "--format", "json", cwd=tmp_path)
    found = json.loads(shown.stdout)
    jsonschema.validate(found, json.loads((root / "schemas/ledger.v1.json").read_text()))
    assert (found["version"], found["checked"]) == (1, True)
    (tmp_path / "releases.ledger.key").rename(tmp_path / "other.key")
    shown = cli("ledger", "releases.ledger", cwd=tmp_path)
    assert (shown.returncode, "was not checked" in shown.stdout) == (0, True)
    assert "was not checked" not in cli("ledger", "releases.ledger", "--key", "other.key", cwd=tmp_path).stdout
    assert cli("ledger", "releases.ledger", "--repair", cwd=tmp_path).returncode == 2


@pytest.mark.server
def test_a_database_needs_its_key_said(postgres: Any) -> None:
    url = postgres.url(postgres.database())
    with pytest.raises(UsageError, match="PPF687"):
        api.create_ledger(url)


WHOLE = "DELETE FROM cell WHERE release = {0}; DELETE FROM member WHERE release = {0}; DELETE FROM event WHERE release = {0}; DELETE FROM release WHERE number = {0};"  # noqa: E501
TAMPERING = {
    "first release": (WHOLE.format(1), "release no. 1"),
    "middle release": (WHOLE.format(2), "release no. 2"),
    "last release": (WHOLE.format(3), "release no. 3"),
    "last release, and the last number": (WHOLE.format(3) + "UPDATE ledger SET last = 2", "after entry 4"),
    "first entry": ("DELETE FROM event WHERE position = 1", "entry 1"),
    "middle entry": ("DELETE FROM event WHERE position = 3", "entry 3"),
    "last entry": ("DELETE FROM event WHERE position = 6", "after entry 5"),
    "moved up": (("DELETE FROM event WHERE position = 2; UPDATE event SET position = position - 100 WHERE position > 2;"
                 "UPDATE event SET position = position + 99 WHERE position < 1"), "entry 2"),
    "everything": ("DELETE FROM cell; DELETE FROM member; DELETE FROM event; DELETE FROM release", "release no. 1"),
    "everything, and the last number": (
        "DELETE FROM cell; DELETE FROM member; DELETE FROM event; DELETE FROM release; UPDATE ledger SET last = 0",
        "after entry 0"),
    "a time": ("UPDATE release SET time = '1999' WHERE number = 2", "release no. 2"),
    "a file": ("UPDATE release SET file = manifest WHERE number = 1", "release no. 1"),
    "people": ("DELETE FROM member WHERE release = 2; UPDATE release SET people = NULL, members = '' WHERE number = 2",
               "release no. 2"),
    "people alone": ("DELETE FROM member WHERE release = 2", "release no. 2"),
    "never was": ("UPDATE event SET state = 'dropped' WHERE position = 4; DELETE FROM member WHERE release = 2",
                  "release no. 2"),
    "an unknown state": ("UPDATE event SET state = 'other' WHERE position = 4", "entry 4, of release no. 2"),
    "order of entries": (
        ("UPDATE event SET position = 99 WHERE position = 3; UPDATE event SET position = 3 WHERE position = 5;"
        "UPDATE event SET position = 5 WHERE position = 99"), "entry 3"),
    "two rows exchanged": (
        ("CREATE TABLE x AS SELECT * FROM release; UPDATE release SET time ="
        " (SELECT time FROM x WHERE x.number = 3 - release.number), run ="
        " (SELECT run FROM x WHERE x.number = 3 - release.number), manifest ="
        " (SELECT manifest FROM x WHERE x.number = 3 - release.number) WHERE number < 3; DROP TABLE x"),
        "release no. 1"),
    "one put in": ("INSERT INTO event SELECT 7, 2, 'dropped', chain FROM event WHERE position = 6", "entry 7"),
    "a release put in": (
        ("INSERT INTO release SELECT 4, policy, name, audience, time, plan, folder, run, manifest, file, rows, columns,"
        " NULL, generated, '', '' FROM release WHERE number = 1; UPDATE ledger SET last = 4"), "release no. 4"),
    "a seal": ("UPDATE ledger SET seal = 'x'", "after entry 6"),
}  # fmt: skip


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a policy has released three times."""
    folder = tmp_path_factory.mktemp("three")
    _write(folder, "path: releases.ledger")
    home = _filed(folder)
    api.create_ledger(home.place, home.key)
    assert [home.run() for _ in range(3)] == [True] * 3
    return folder


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("how", TAMPERING)
def test_an_entry_that_is_changed_or_taken_out_is_found_and_named(three: Path, tmp_path: Path, how: str) -> None:
    home = _filed(tmp_path / "copy")
    shutil.copytree(three, home.folder)
    assert home.look().checked
    _refused(home, *TAMPERING[how])


@pytest.mark.server
@pytest.mark.parametrize("how", ["middle release", "last release", "a time", "order of entries"])
def test_so_it_is_in_a_database(served: Home, how: str) -> None:
    assert [served.run() for _ in range(3)] == [True] * 3
    assert served.look().checked
    _refused(served, *TAMPERING[how])


def _refused(home: Home, statements: str, named: str) -> None:
    before = home.runs()
    home.sql(statements)
    with pytest.raises(DataError, match="PPF912") as caught:
        home.look()
    assert named in caught.value.diagnostics[0].message
    with pytest.raises(DataError, match="PPF912"):
        home.run()
    with pytest.raises(DataError, match="PPF912"):
        home.look(repair=True)
    assert home.runs() == before


@pytest.mark.slow
def test_nothing_is_added_after_entries_were_taken_out_meanwhile(filed: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between a run's check and its own entry; else the new seal would hide it."""
    assert filed.run()
    assert filed.run()
    real = RunLedger.announce

    def meddle(self: RunLedger, *arguments: Any) -> Any:
        filed.sql(WHOLE.format(2) + "UPDATE ledger SET last = 1")
        return real(self, *arguments)

    monkeypatch.setattr(RunLedger, "announce", meddle)
    with pytest.raises(DataError, match="PPF912"):
        filed.run()
    assert len(filed.runs()) == 2


@pytest.mark.slow
def test_the_manifest_names_the_ledger_and_fits_its_schema(home: Home, root: Path) -> None:
    assert home.run()
    assert home.run()
    schema = json.loads((root / "schemas/manifest.v1.json").read_text())
    found = [json.loads((run / "manifest.json").read_text()) for run in home.runs()]
    for each in found:
        jsonschema.validate(each, schema)
    assert [(f["ledger"]["position"], f["ledger"]["releases"]) for f in found] == [(0, [1]), (2, [2])]


@pytest.mark.slow
def test_an_older_copy_of_a_ledger_is_found_by_the_runs_beside_it(filed: Home, cli: Any) -> None:
    assert filed.run()
    copy = shutil.copy(filed.place, filed.folder / "old.ledger")
    assert filed.run()
    newest = shutil.copy(filed.place, filed.folder / "new.ledger")
    shutil.copy(copy, filed.place)
    assert filed.look().checked  # by itself it is whole
    with pytest.raises(DataError, match="PPF913") as caught:
        filed.run()
    assert filed.runs()[1].name in caught.value.diagnostics[0].message
    looked = filed.look(runs=filed.folder / "runs")
    assert (looked.runs, [w.run for w in looked.strangers]) == (2, [filed.runs()[1]])
    words = ("ledger", filed.place, "--key", str(filed.key), "--runs", str(filed.folder / "runs"))
    done = cli(*words)
    assert done.returncode == 1
    assert filed.runs()[1].name in done.stdout
    shutil.copy(newest, filed.place)
    assert cli(*words).returncode == 0
    assert filed.run()


@pytest.mark.slow
def test_an_older_copy_that_went_its_own_way_is_found(filed: Home) -> None:
    """The run that saw the later entries is moved away while the copy is used, and comes back."""
    assert filed.run()
    copy = shutil.copy(filed.place, filed.folder / "old.ledger")
    assert filed.run()
    moved = shutil.move(filed.runs()[1], filed.folder / "elsewhere")
    shutil.copy(copy, filed.place)
    assert filed.run()  # nothing tells: the run that knows is not looked at
    assert filed.run("other")
    looked = filed.look(runs=filed.folder)
    assert [w.run for w in looked.strangers] == [Path(moved)]
    shutil.move(moved, filed.folder / "runs/ward/20200101T000000Z-0123456789ab")
    with pytest.raises(DataError, match="PPF913"):
        filed.run()


@pytest.mark.slow
def test_runs_with_another_ledger_or_none_say_nothing(filed: Home, tmp_path: Path) -> None:
    assert filed.run()
    for name, text in (("a", "{"), ("b", "{}"), ("c", '{"ledger": {"key": "x", "position": "9"}}')):
        (filed.folder / "runs/ward" / name).mkdir()
        (filed.folder / "runs/ward" / name / "manifest.json").write_text(text)
    assert filed.run()
    filed.key.unlink()
    Path(filed.place).unlink()
    api.create_ledger(filed.place, filed.key)
    assert filed.run()  # begun anew, with a key of its own
    looked = filed.look(runs=filed.folder)
    assert (looked.runs, looked.strangers) == (1, ())


def died(home: Home, monkeypatch: pytest.MonkeyPatch, *, published: bool) -> Path:
    """A run that is killed once it is in the ledger, before or after it is published."""
    real = RunDirectory.publish
    kept: list[Path] = []

    def dies(self: RunDirectory) -> None:
        if published:
            real(self)
        kept.append(self.home)
        raise SystemError("killed")

    monkeypatch.setattr(RunDirectory, "publish", dies)
    monkeypatch.setattr(RunDirectory, "discard", RunDirectory._unlock)
    monkeypatch.setattr(RunLedger, "withdraw", lambda *_: None)
    with pytest.raises(SystemError):
        home.run()
    monkeypatch.undo()
    return kept[0]


@pytest.mark.slow
def test_repair_drops_what_never_was_published(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    run = died(home, monkeypatch, published=False)
    assert home.states() == [(1, PENDING)]
    assert api.verify(run).verdict == "not published"
    looked = home.look(repair=True)
    assert (looked.confirmed, looked.dropped) == ((), (1,))
    assert not run.exists()
    assert home.look().entries == ()
    assert home.look(repair=True).dropped == ()
    assert home.run()
    assert home.states() == [(2, RELEASED)]


@pytest.mark.slow
def test_repair_confirms_what_was_published(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    run = died(home, monkeypatch, published=True)
    assert home.states() == [(1, PENDING)]
    assert api.verify(run).holds
    assert home.look(repair=True).confirmed == (1,)
    assert home.look(repair=True).confirmed == ()
    assert home.states() == [(1, RELEASED)]
    assert home.run()


@pytest.mark.slow
def test_repair_finds_a_run_that_has_another_name_now(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    run = died(home, monkeypatch, published=True)
    run.rename(run.with_name("final"))
    assert home.look(repair=True).confirmed == (1,)


@pytest.mark.slow
def test_the_next_run_leaves_enough_to_settle_by(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    run = died(home, monkeypatch, published=False)
    assert home.run()
    assert not (run / "candidate/public/ward.csv").exists()
    assert home.states() == [(1, PENDING), (2, RELEASED)]
    assert home.look(repair=True).dropped == (1,)
    assert home.states() == [(2, RELEASED)]


def test_a_run_that_lives_is_left_alone_by_repair(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    run = died(home, monkeypatch, published=False)
    handle = os.open(run, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        looked = home.look(repair=True)
        assert (looked.confirmed, looked.dropped) == ((), ())
        with pytest.raises(UsageError, match="its run goes on"):
            home.look(forget=[1])
    finally:
        os.close(handle)
    assert home.states() == [(1, PENDING)]
    assert home.look(repair=True).dropped == (1,)


def test_a_run_that_was_moved_away_stays_pending(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    run = died(home, monkeypatch, published=True)
    away = shutil.move(run, home.folder / "away")
    looked = home.look(repair=True)
    assert (looked.confirmed, looked.dropped) == ((), ())
    shutil.move(away, run)
    (run / "released").rename(home.folder / "taken")
    looked = home.look(repair=True)
    assert (looked.confirmed, looked.dropped) == ((), ())
    assert home.look(forget=[1]).dropped == (1,)


@pytest.mark.slow
def test_repair_that_is_killed_can_be_done_again(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    run = died(home, monkeypatch, published=False)
    monkeypatch.setattr("ppdm_flow.engine.ledger.repair.remove", lambda _: (_ for _ in ()).throw(SystemError))
    with pytest.raises(SystemError):
        home.look(repair=True)
    monkeypatch.undo()
    assert run.exists()
    assert home.look(repair=True).entries == ()
    assert home.run()


def test_a_ledger_that_is_reached_by_a_link_has_one_lock(filed: Home) -> None:
    (filed.folder / "sub").mkdir()
    link = filed.folder / "sub/link.ledger"
    link.symlink_to(filed.place)
    assert filed.run()
    assert [(e.number, e.state) for e in api.ledger(link, filed.key, repair=True).entries] == [(1, RELEASED)]
    assert not list((filed.folder / "sub").glob("*.lock"))


@pytest.mark.slow
def test_a_run_that_cannot_be_renamed_is_withdrawn(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunDirectory, "publish", lambda _: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(RunError, match="PPF730"):
        home.run()
    assert home.states() == []
    assert home.runs() == []
    monkeypatch.undo()
    assert home.run()
    assert home.states() == [(2, RELEASED)]


@pytest.mark.slow
def test_runs_may_lie_on_another_file_system_behind_a_link(filed: Home) -> None:
    if not Path("/dev/shm").is_dir() or Path("/dev/shm").stat().st_dev == filed.folder.stat().st_dev:
        pytest.skip("there is no other file system here")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as elsewhere:
        (filed.folder / "runs").symlink_to(elsewhere)
        assert filed.run()
        assert filed.run()
        assert [api.verify(run).holds for run in filed.runs()] == [True, True]
        assert filed.look(runs=filed.folder / "runs").strangers == ()
        assert filed.states() == [(1, RELEASED), (2, RELEASED)]


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system")
def test_a_ledger_on_a_full_disk(filed: Home) -> None:
    small = filed.folder / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "none", small], check=False).returncode:
        pytest.skip("this container may not mount")
    try:
        text = (filed.folder / "policy.yaml").read_text()
        (filed.folder / "policy.yaml").write_text(text.replace("path: releases.ledger", "path: small/releases.ledger"))
        filed.key.unlink()
        api.create_ledger(small / "releases.ledger", filed.key)
        with contextlib.suppress(OSError), (small / "filler").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        with pytest.raises(RunError, match=r"PPF730|PPF693"):
            filed.run()
        assert filed.runs() == []
        (small / "filler").unlink()
        assert filed.run()
        assert [e.state for e in api.ledger(small / "releases.ledger", filed.key).entries] == [RELEASED]
    finally:
        subprocess.run(["umount", small], check=True)
