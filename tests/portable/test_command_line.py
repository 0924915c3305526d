"""`report` in the forms for other programs, as it is typed."""

from __future__ import annotations

import json

import pytest


@pytest.mark.slow
def test_several_forms_go_to_a_file_each(cli, released, tmp_path):
    words = [w for form in ("croissant", "odcs") for w in ("--format", form, "--output-file", tmp_path / form)]
    done = cli("report", released, "--release", "public", *words, "--format", "text")
    assert (done.returncode, done.stderr) == (0, "")
    assert "RELEASED" in done.stdout
    assert json.loads((tmp_path / "croissant").read_text())["name"] == "wages-public"
    assert json.loads((tmp_path / "odcs").read_text())["kind"] == "DataContract"


@pytest.mark.slow
def test_a_release_is_chosen_by_its_name(cli, released):
    several = cli("report", released, "--format", "croissant")
    assert (several.returncode, several.stdout) == (2, "")
    assert "choose by `--release`: `public` and `partner`" in several.stderr
    unknown = cli("report", released, "--format", "odcs", "--release", "publik")
    assert unknown.returncode == 2
    assert "did you mean `public`?" in unknown.stderr
    other = cli("report", released, "--release", "public")
    assert other.returncode == 2
    assert "croissant, ro-crate, openlineage, odcs" in other.stderr


def test_two_documents_do_not_share_stdout(cli, released):
    done = cli("report", released, "--release", "public", "--format", "croissant", "--format", "odcs")
    assert (done.returncode, done.stdout) == (2, "")
    assert "PPF661" in done.stderr


@pytest.mark.slow
def test_of_what_was_withheld_nothing_is_written(cli, withheld, tmp_path):
    done = cli("report", withheld, "--format", "croissant", "--output-file", tmp_path / "c.json", "--release", "public")
    assert done.returncode == 2
    assert "PPF985" in done.stderr
    assert not (tmp_path / "c.json").exists()
