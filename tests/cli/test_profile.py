"""``ppdm-flow profile`` as a command."""

from __future__ import annotations

import io

import pytest

FORMS = ("yaml", "json", "text")


@pytest.fixture
def people(tmp_path):
    rows = "".join(f"P{i:04},{20 + i % 50},ill{i % 4}\n" for i in range(200))
    (tmp_path / "people.csv").write_text("patient_id,age,illness\n" + rows)
    return tmp_path


def test_a_policy_for_a_folder_below(here, people):
    (people / "policies").mkdir()
    done = here("profile", "people.csv", "--out", "policies/new.yaml", cwd=people)
    assert done.returncode == 0, done.stderr
    assert "path: ../people.csv" in (people / "policies" / "new.yaml").read_text().replace('"', "")
    assert here("check", "policies", "--strict", cwd=people).returncode == 0
    again = here("profile", "people.csv", "--out", "policies/new.yaml", cwd=people)
    assert again.returncode == 2
    assert "PPF673" in again.stderr


@pytest.mark.parametrize("form", FORMS)
def test_forms(here, people, form):
    done = here("profile", "people.csv", "--format", form, cwd=people)
    assert done.returncode == 0
    assert "illness" in done.stdout


def test_a_file_without_a_header_is_told(here, tmp_path):
    (tmp_path / "x.csv").write_text("1,a\n" * 9)
    done = here("profile", "x.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert "columns are numbered" in done.stderr
    assert "numbered" not in here("profile", "x.csv", "--no-header", cwd=tmp_path).stderr


def test_what_was_found_out_is_told_and_can_be_said_otherwise(here, tmp_path):
    (tmp_path / "x.csv").write_text("note;age\n" + '"18\\"; new";30\n"20\\"";31\n' * 5)
    done = here("profile", "x.csv", cwd=tmp_path)
    assert "read as: cells parted by semicolons, encoding utf-8, `\\` before quotes inside of quotes" in done.stderr
    assert """with: {delimiter: ";", escape: "\\\\"}""" in done.stdout
    words = ("--delimiter", ";", "--escape", "backslash", "--encoding", "cp1252", "--columns", "a, b")
    done = here("profile", "x.csv", *words, cwd=tmp_path)
    assert "columns: [a, b]" in done.stdout
    assert "encoding: cp1252" in done.stdout
    assert "PPF490" in here("profile", "x.csv", "--escape", "ab", cwd=tmp_path).stderr
    assert "PPF490" in here("profile", "x.csv", "--encoding", "klingon", cwd=tmp_path).stderr


def test_faults(here, tmp_path):
    assert here("profile", "nowhere.csv", cwd=tmp_path).returncode == 2


def test_a_steward_is_asked(here, people, monkeypatch):
    def asked(answers):
        monkeypatch.setattr("sys.stdin", io.StringIO(answers))
        return here("profile", "people.csv", "--ask", cwd=people)

    done = asked("partner\nage, illness\n\nillness\n")
    assert done.returncode == 0, done.stderr
    assert "Who receives it?" in done.stderr
    assert "audience: partner" in done.stdout
    assert "Nobody said whether a person has several rows" in done.stdout
    silent = asked("")
    assert silent.returncode == 0
    assert "audience: public" in silent.stdout
    wrong = asked("nobody\n")
    assert wrong.returncode == 2
    assert wrong.stderr.count("is one of internal, partner, public") == 1  # nobody there who could answer again


def test_the_format_that_is_advised_is_taken(here, tmp_path):
    (tmp_path / "x.foo").write_text("a,b\na,b,c,d\na\n" * 9)
    for verb in (("profile", "x.foo"), ("mine", "x.foo", "--min-support", "5")):
        refused = here(*verb, cwd=tmp_path)
        assert refused.returncode == 2
        assert "PPF407" in refused.stderr
        assert "`--input-format" in refused.stderr
        done = here(*verb, "--input-format", "baskets", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
