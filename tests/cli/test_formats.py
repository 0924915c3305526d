"""Several formats at once: which file belongs to which, what shares stdout, and that the answer stays the same."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.api import files
from ppdm_flow.api.outputs import FILE, FORMAT, STEP_SUMMARY, outputs
from ppdm_flow.core.errors import UsageError
from ppdm_flow.report.forms import CHECK

GOOD = """version: 1
name: good
source: {path: t.csv}
attributes: {age: {role: quasi_identifier}}
privacy: {k_anonymity: {k: 3}}
releases: {r: {path: r.csv}}
"""
BAD = GOOD.replace("k: 3", "k: one")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    (tmp_path / ".git").mkdir()
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "good.yaml").write_text(GOOD)
    (tmp_path / "policies" / "bad.yaml").write_text(BAD)
    (tmp_path / "t.csv").write_text("age\n" + "1\n" * 5 + "2\n" * 3)
    return tmp_path


def test_every_format_into_its_own_file(here, folder):
    words = [w for name in CHECK for w in ("--format", name, "--output-file", f"out.{name}")]
    done = here("check", "policies", *words, cwd=folder)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == "2 policies checked: 1 error, 0 warnings\n"
    for name in CHECK:
        assert (folder / f"out.{name}").read_text(), name
    (found,) = json.loads((folder / "out.sarif").read_text())["runs"][0]["results"]
    place = found["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "policies/bad.yaml", "uriBaseId": "%SRCROOT%"}
    assert ET.parse(folder / "out.junit").getroot().get("failures") == "1"
    assert not [p for p in folder.iterdir() if p.suffix == ".part"]


def test_paths_are_those_of_the_repository_wherever_it_runs(here, folder):
    words = ["--format", "gitlab", "--output-file", "gl.json", "--format", "github"]
    done = here("check", folder / "policies" / "good.yaml", "bad.yaml", *words, cwd=folder / "policies")
    assert done.stdout.startswith("::error file=policies/bad.yaml,line=5,")
    (found,) = json.loads((folder / "policies" / "gl.json").read_text())
    assert found["location"]["path"] == "policies/bad.yaml"


def test_lines_for_a_log_share_stdout(here, folder):
    done = here("check", "policies", "--format", "text", "--format", "github", "--format=concise", cwd=folder)
    assert next(line[:8] for line in done.stdout.splitlines() if line) == "error[PP"
    assert "::error file=" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("policies/bad.yaml:5:")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--format", "sarif", "--format", "github"], "PPF661"),
        (["--format", "sariff"], "PPF692"),
        (["--format", "html"], "PPF692"),
        (["-o", "a", "--format", "text", "--format", "json", "-o", "b"], "PPF661"),
        (["--format", "json", "-o", "a", "-o", "b"], "PPF661"),
        (["--format", "json", "-o", "a", "--format", "text", "-o", "./a"], "PPF661"),
        (["--format", "json", "-o", "nowhere/a"], "PPF693"),
        (["--format", "json", "-o", "policies"], "PPF693"),
        (["--format", "json", "-o", "t.csv/x"], "PPF693"),
        (["--format", "json", "-o", "policies/bad.yaml"], "PPF664"),
    ],
)
def test_what_is_not_clear_is_refused_before_anything_is_done(here, folder, words, code):
    done = here("check", "policies", *words, cwd=folder)
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"error[{code}]" in done.stderr
    assert "checked" not in done.stderr
    assert sorted(p.name for p in folder.iterdir()) == [".git", "policies", "t.csv"]


@pytest.mark.parametrize("words", [["-o", "a", "--format", "json"], ["--format", "json", "-oa"], ["--output-file=a"]])
def test_one_file_and_one_format_belong_together(here, folder, words):
    done = here("check", "policies", *words, cwd=folder)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "PPF203" in (folder / "a").read_text()


@pytest.mark.parametrize(
    ("words", "status"),
    [(["bad.yaml"], 0), (["good.yaml"], 0), (["nowhere.yaml"], 2), (["bad.yaml", "--format", "x"], 2)],
)
def test_exit_zero_is_about_findings_alone(here, folder, words, status):
    assert here("check", *words, "--exit-zero", cwd=folder / "policies").returncode == status


def test_a_full_disk(here, folder):
    done = here("check", "policies/good.yaml", "--format", "json", "-o", "/dev/full", cwd=folder)
    assert done.returncode == 3
    assert "error[PPF698]: cannot write `/dev/full`: No space left on device" in done.stderr


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "out"
    target.write_text("before")

    def broken(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(Exception, match="PPF698"):
        files.write(target, "after")
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_links_and_modes_stay(tmp_path):
    real = tmp_path / "real"
    real.write_text("before")
    (tmp_path / "link").symlink_to(real)
    files.write(tmp_path / "link", "after")
    assert (tmp_path / "link").is_symlink()
    assert real.read_text() == "after"
    plain = tmp_path / "plain"
    plain.touch()
    files.write(tmp_path / "new", "x")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


class TestStepSummary:
    def test_it_is_appended_where_github_asks_for_it(self, here, folder, monkeypatch):
        file = folder / "summary.md"
        file.write_text("earlier\n")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
        assert here("check", "policies", "--format", "github", cwd=folder).returncode == 1
        assert file.read_text().startswith("earlier\n\n## ❌ Policies: 1 error\n")
        before = file.read_text()
        assert here("check", "policies", "--format", "text", cwd=folder).returncode == 1
        assert file.read_text() == before

    @pytest.mark.slow(quick=1)
    @pytest.mark.parametrize("taken", [STEP_SUMMARY - 5_000, STEP_SUMMARY - 10, 2 * STEP_SUMMARY])
    def test_it_never_makes_the_file_too_long(self, here, folder, monkeypatch, taken):
        file = folder / "summary.md"
        file.write_text("x" * taken)
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
        many = "".join(f"  k{i}: 1\n" for i in range(200))
        (folder / "policies" / "bad.yaml").write_text(GOOD.replace(" {k_anonymity: {k: 3}}", "\n" + many))
        assert here("check", "policies", "--format", "github", cwd=folder).returncode == 1
        assert file.stat().st_size <= max(taken, STEP_SUMMARY)

    def test_where_it_cannot_be_written(self, here, folder, monkeypatch):
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "no" / "where"))
        assert here("check", "policies/good.yaml", "--format", "github", cwd=folder).returncode == 2


class TestRuns:
    def test_a_withheld_release_in_every_format(self, here, folder):
        (folder / "policies" / "good.yaml").write_text(GOOD.replace("k: 3", "k: 4"))
        words = ["--format", "github", "--format", "junit", "-o", "j.xml", "--format", "markdown", "-o", "c.md"]
        words += ["--format", "json", "-o", "r.json"]
        done = here("run", "policies/good.yaml", "--data", "t.csv", *words, cwd=folder)
        assert done.returncode == 1, done.stderr
        assert "::error file=policies/good.yaml,line=5,endLine=5,col=" in done.stdout
        assert ET.parse(folder / "j.xml").getroot().get("failures") == "1"
        assert (folder / "c.md").read_text().startswith("## ❌ Withheld: good\n")
        assert json.loads((folder / "r.json").read_text())["verdict"] == "withheld"

    def test_where_nothing_goes_to_stdout_the_verdict_does(self, here, folder, only_run):
        words = ["run", "policies/good.yaml", "--data", "t.csv", "--format", "junit", "-o", "j.xml", "-q"]
        done = here(*words, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("RELEASED  good\n")
        assert done.stdout.splitlines()[-1] == str(only_run(Path("runs")))

    def test_an_error_reaches_ci_too(self, here, folder):
        words = ["--format", "github", "--format", "junit", "-o", "j.xml", "--format", "html", "-o", "r.html"]
        done = here("run", "policies/bad.yaml", *words, cwd=folder)
        assert done.returncode == 2
        assert done.stdout.startswith("::error file=policies/bad.yaml,line=5,")
        assert ET.parse(folder / "j.xml").getroot().get("errors") == "1"
        assert not (folder / "r.html").exists()

    @pytest.mark.slow
    def test_audit_and_report_and_verify(self, here, folder, only_run):
        junit = ["--format", "junit", "-o", "j.xml"]
        assert here("run", "policies/good.yaml", "--data", "t.csv", "-q", cwd=folder).returncode == 0
        run = only_run(folder / "runs")
        assert here("report", run, *junit, "--format", "markdown", cwd=folder).stdout.startswith("## ✅ Released: good")
        assert ET.parse(folder / "j.xml").getroot().get("tests") == "1"
        words = ["policies/good.yaml", "--original", "t.csv", "--released", run / "released" / "r" / "r.csv"]
        done = here("audit", *words, *junit, cwd=folder)
        assert done.stdout.startswith("HOLDS  good")
        assert here("verify", run, *junit, cwd=folder).returncode == 0
        assert ET.parse(folder / "j.xml").getroot().get("skipped") == "1"
        assert here("verify", run, "--data", "t.csv", *junit, cwd=folder).returncode == 0
        assert ET.parse(folder / "j.xml").getroot().get("skipped") == "0"
        (run / "report.md").write_text("other")
        done = here("verify", run, *junit, "--format", "github", cwd=folder)
        assert done.returncode == 1
        assert done.stdout == "::error title=file report.md::changed since the run\n"
        assert ET.parse(folder / "j.xml").getroot().get("failures") == "1"
        assert here("verify", folder, *junit, cwd=folder).returncode == 2
        assert ET.parse(folder / "j.xml").getroot().get("errors") == "1"


NAMES = st.sampled_from([*CHECK, "nonsense"])


@given(
    st.lists(
        st.one_of(st.tuples(st.just(FORMAT), NAMES), st.tuples(st.just(FILE), st.sampled_from("abcd"))), max_size=7
    )
)
def test_every_command_line_is_paired_or_refused(tmp_path_factory, words):
    folder = tmp_path_factory.getbasetemp()
    placed = [(kind, word if kind == FORMAT else str(folder / f"{word}.out")) for kind, word in words]
    try:
        found = outputs(placed, CHECK, "text")
    except UsageError:
        return
    names = [word for kind, word in placed if kind == FORMAT]
    assert [o.form.name for o in found] == (names or ["text"])
    written = [str(o.file) for o in found if o.file]
    assert written == [word for kind, word in placed if kind == FILE]
    assert len(set(written)) == len(written)
    shared = [o.form for o in found if o.file is None]
    assert len(shared) <= 1 or all(form.log for form in shared)
    for output in found:
        if output.file is not None and len(placed) > 2:
            place = placed.index((FILE, str(output.file)))
            assert placed[place - 1] == (FORMAT, output.form.name)
