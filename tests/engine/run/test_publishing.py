"""One rename publishes a run: what was hashed when it was judged leaves, and before that nothing is a release."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from pathlib import Path

import pytest

from ppdm_flow import api
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.verify.verify import verify

PLACE = "20240102T030405Z-0123456789ab"


def written(report, verdict=None):
    return {"report.json": json.dumps({"verdict": verdict or report.verdict})}


def test_until_the_one_rename_nothing_is_called_released(bench, tools, monkeypatch):
    real, seen = RunDirectory.publish, []

    def look(self):
        found = verify(self.home, None, None)
        seen.append((self.home.name, {p.name for p in self.home.rglob("*")}, found.holds, found.text))
        real(self)

    monkeypatch.setattr(RunDirectory, "publish", look)
    bench.data(tools.rows(200))
    run = bench.run(bench.plan()).run_dir
    ((name, names, holds, text),) = seen
    assert name == run.name
    assert "released" not in names
    assert {"candidate", "manifest.json", "study.csv"} <= names
    assert not holds
    assert "not published" in text
    found = verify(run, None, None)
    assert found.holds
    assert found.verdict == "released"


def test_every_event_of_a_run_sees_no_release(bench, tools):
    bench.data(tools.rows(200))
    seen: list[Path] = []
    run = bench.run(bench.plan(), listener=lambda _: seen.extend(bench.out.rglob("released"))).run_dir
    assert not seen
    assert (run / "released").is_dir()


@pytest.mark.slow
def test_what_is_changed_between_judging_and_publishing_is_not_published(bench, tools):
    """Same length, same time, same inode: only the bytes tell."""

    def meddle(report):
        file = next(bench.out.glob("*/.tmp-*/candidate/study/study.csv"))
        before, content = file.stat(), file.read_bytes()
        with file.open("r+b") as opened:
            opened.write(content.replace(b"canary", b"kanary"))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        return written(report)

    bench.data(tools.rows(200))
    error = bench.fails(bench.plan(), documents=meddle)
    assert [d.code for d in error.diagnostics] == ["PPF903"]
    assert error.exit_status == 3


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("what", ["report.json", "manifest.json", "candidate/study/dictionary.json"])
def test_documents_that_change_before_they_are_published(bench, tools, monkeypatch, what):
    real = RunDirectory.move

    def meddle(self, *arguments):
        with (self.home / what).open("a") as file:
            file.write("\n")
        return real(self, *arguments)

    monkeypatch.setattr(RunDirectory, "move", meddle)
    bench.data(tools.rows(200))
    error = bench.fails(bench.plan(), documents=written)
    assert [d.code for d in error.diagnostics] == ["PPF903"]


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("how", ["file", "link to a file", "link to a folder", "another release", "one less"])
def test_files_that_come_or_go_before_they_are_published(bench, tools, monkeypatch, how):
    real = RunDirectory.move

    def meddle(self, *arguments):
        match how:
            case "file":
                (self.home / "candidate/more.csv").write_text("x")
            case "link to a file":
                (self.home / "candidate/more.csv").symlink_to(bench.folder / "table.csv")
            case "link to a folder":
                (self.home / "released").symlink_to(bench.folder)
            case "another release":
                (self.home / "released").mkdir()
                (self.home / "released/x").write_text("x")
            case _:
                (self.home / "plan.mmd").unlink()
        return real(self, *arguments)

    monkeypatch.setattr(RunDirectory, "move", meddle)
    bench.data(tools.rows(200))
    error = bench.fails(bench.plan())
    assert [d.code for d in error.diagnostics] == ["PPF904"]
    assert (bench.folder / "table.csv").exists()


@pytest.mark.slow
def test_a_link_in_place_of_the_judged_file(bench, tools, monkeypatch):
    real = RunDirectory.move

    def meddle(self, *arguments):
        file = self.home / "candidate/study/study.csv"
        shutil.copy(file, bench.folder / "copy.csv")
        file.unlink()
        file.symlink_to(bench.folder / "copy.csv")
        return real(self, *arguments)

    monkeypatch.setattr(RunDirectory, "move", meddle)
    bench.data(tools.rows(200))
    assert [d.code for d in bench.fails(bench.plan()).diagnostics] == ["PPF903"]


@pytest.mark.slow
def test_a_report_with_another_verdict_publishes_nothing(bench, tools):
    bench.data(tools.rows(200))
    error = bench.fails(bench.plan(), documents=lambda report: written(report, "withheld"))
    assert [d.code for d in error.diagnostics] == ["PPF910"]
    assert error.exit_status == 3
    strict = bench.plan(tools.POLICY.replace("k: 2", "k: 150"))
    assert [d.code for d in bench.fails(strict, documents=lambda r: written(r, "released")).diagnostics] == ["PPF910"]
    assert bench.run(strict, documents=written).report.verdict == "withheld"
    assert bench.run(bench.plan(), documents=written).report.verdict == "released"


@pytest.mark.slow
def test_the_exit_status_is_that_of_the_report_on_disk(bench, tools, monkeypatch, cli):
    bench.data(tools.rows(200))
    bench.plan()
    real = RunDirectory.publish

    def meddle(self):
        real(self)
        file = self.home / "report.json"
        file.write_text(file.read_text().replace('"verdict": "released"', '"verdict": "withheld"', 1))

    ran = api.run(bench.folder / "policy.yaml", out=bench.out)
    assert ran.released
    monkeypatch.setattr(RunDirectory, "publish", meddle)
    ran = api.run(bench.folder / "policy.yaml", out=bench.out)
    assert ran.report.verdict == "released"
    assert not ran.released
    assert not api.verify(ran.run_dir).holds


def dead(folder: Path, name: str, **files: str) -> Path:
    """What a run that was killed leaves."""
    for path, text in {"candidate/study/study.csv": "x", "manifest.json": "{}", **files}.items():
        (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / name / path).write_text(text)
    return folder / name


@pytest.mark.slow
def test_a_run_that_died_at_its_place_is_removed_by_the_next_one(bench, tools):
    bench.data(tools.rows(200))
    plan = bench.plan()
    folder = bench.out / plan.policy
    gone = dead(folder, PLACE)
    assert verify(gone, None, None).verdict == "not published"
    others = [dead(folder, "mine"), dead(folder, f"{PLACE}-copy"), folder / f"{PLACE}-2"]
    (others[-1] / "released").mkdir(parents=True)
    (folder / f"{PLACE}-3").symlink_to(dead(bench.folder, PLACE))
    run = bench.run(plan).run_dir
    assert {p.name for p in folder.iterdir()} == {run.name, f"{PLACE}-3", *(p.name for p in others)}
    assert (bench.folder / PLACE / "candidate/study/study.csv").exists()


@pytest.mark.slow
def test_one_that_is_in_a_ledger_leaves_its_manifest_and_no_data(bench, tools):
    bench.data(tools.rows(200))
    plan = bench.plan()
    text = json.dumps({"ledger": {}})
    gone = dead(bench.out / plan.policy, PLACE, **{"manifest.json": text, "report.json": "{}"})
    bench.run(plan)
    assert {p.relative_to(gone).as_posix() for p in gone.rglob("*")} == {"candidate", "manifest.json"}


@pytest.mark.slow
def test_one_that_lives_is_left_alone(bench, tools):
    bench.data(tools.rows(200))
    plan = bench.plan()
    alive = dead(bench.out / plan.policy, PLACE)
    handle = os.open(alive, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        bench.run(plan)
        assert (alive / "candidate/study/study.csv").exists()
    finally:
        os.close(handle)
    bench.run(plan)
    assert not alive.exists()


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("manifest", [None, "{", '{"version": 1, "verdict": "released", "files": {}}'])
def test_verify_takes_nothing_else_for_a_release(bench, tools, cli, manifest):
    for name in (".tmp-1-ab", PLACE):
        home = dead(bench.out / "clinic", name)
        (home / "manifest.json").unlink()
        if manifest:
            (home / "manifest.json").write_text(manifest)
        if name.startswith("."):
            (home / "candidate").rename(home / "released")  # as earlier versions left it
        done = cli("verify", str(home))
        assert (done.returncode, done.stdout.count("not published")) == (1, 2), done.stdout + done.stderr


@pytest.mark.slow
def test_a_release_whose_folder_is_gone(bench, tools):
    bench.data(tools.rows(200))
    run = bench.run(bench.plan()).run_dir
    shutil.move(run / "released", bench.folder / "released")
    found = verify(run, None, None)
    assert not found.holds
    assert "not published" in found.text
    (run / "released").symlink_to(bench.folder / "released")
    assert not verify(run, None, None).holds


@pytest.mark.slow
def test_an_interruption_at_the_rename_leaves_a_release_or_nothing(bench, tools, monkeypatch):
    real = RunDirectory.publish
    bench.data(tools.rows(200))
    plan = bench.plan()
    for before in (True, False):

        def dies(self, before=before):
            if before:
                raise KeyboardInterrupt
            real(self)
            raise KeyboardInterrupt

        monkeypatch.setattr(RunDirectory, "publish", dies)
        with pytest.raises(KeyboardInterrupt):
            bench.run(plan)
        runs = tools.left(bench.out)
        assert len(runs) == (0 if before else 1)
    assert verify(runs[0], None, None).holds
