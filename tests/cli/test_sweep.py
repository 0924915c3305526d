"""``ppdm-flow sweep`` from end to end."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
from xml.etree import ElementTree as ET

import jsonschema
import pytest

POLICY = """version: 1
name: small
source: {path: t.csv}
attributes:
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 30, 60, 100]}}
  ill: {role: sensitive, domain: [flu, cold, hiv]}
privacy:
  k_anonymity: {k: 3}
  sensitivities: {ill: {default: {tolerance: 3}}}
steps:
  coarsen: {use: generalize, with: {attributes: {age: {}}}}
  perturb: {use: fine_grain_perturbation}
audits:
  shapes: {use: distributions}
releases:
  r: {path: r.csv}
"""
OVER = ("--over", "privacy.sensitivities.ill.default.tolerance=2,3", "--over", "privacy.k_anonymity.k=3,150")
METRICS = ("--metrics", "perturb.record_utility,privacy.sensitivities.ill")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("sweep")
    rows = [f"{(i * 37) % 90},{('flu', 'flu', 'cold', 'hiv')[i % 4]}" for i in range(400)]
    (home / "t.csv").write_text("age,ill\n" + "\n".join(rows) + "\n")
    (home / "small.yaml").write_text(POLICY)
    return home


@pytest.fixture(scope="module")
def swept(folder, cli):
    """One sweep in a process of its own."""
    done = cli("sweep", "small.yaml", *OVER, *METRICS, "--picture", "f.svg", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
def test_a_table_progress_and_a_directory(swept, folder):
    lines = swept.stdout.splitlines()
    assert lines[0].startswith("small: 4 points, measured in ")
    assert lines[1].startswith("The points differ in what they promise (tolerance, k), so none is recommended")
    points = [line.removeprefix("*").split() for line in lines[4:8]]
    verdicts = ["released", "withheld"] * 2
    assert [p[:4] for p in points] == [[str(i + 1), "2233"[i], ("3", "150")[i % 2], verdicts[i]] for i in range(4)]
    assert "withheld because of: privacy.k_anonymity" in lines
    assert len(re.findall(r"^\d of 4: tolerance=[23], k=\d+: ", swept.stderr, re.MULTILINE)) == 4
    (home,) = (folder / "sweeps/small").iterdir()
    assert f"table and picture: sweeps/small/{home.name}/sweep.html" in swept.stderr
    assert "hiv" not in swept.stdout + swept.stderr
    assert list(folder.rglob("r.csv")) == []


@pytest.mark.slow
def test_the_document_fits_its_schema_and_says_what_the_table_says(swept, folder, root):
    (home,) = (folder / "sweeps/small").iterdir()
    found = json.loads((home / "sweep.json").read_text())
    jsonschema.validate(found, json.loads((root / "schemas/sweep.v1.json").read_text()))
    assert [p["values"]["privacy.k_anonymity.k"] for p in found["points"]] == ["3", "150", "3", "150"]
    assert [p["verdict"] for p in found["points"]] == ["released", "withheld"] * 2
    assert found["points"][1]["failing"] == ["privacy.k_anonymity"]
    assert found["metrics"][0]["direction"] == "max"


def test_the_picture(swept, folder):
    assert ET.fromstring((folder / "f.svg").read_text()).tag.endswith("svg")


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("form", ["json", "csv", "md", "text"])
def test_forms(here, folder, tmp_path, form):
    words = ("sweep", "small.yaml", "--over", "privacy.k_anonymity.k=3", "--out", tmp_path / "s", "--format", form)
    done = here(*words, "-q", cwd=folder)
    assert done.returncode == 0
    assert done.stderr == ""
    if form == "json":
        assert json.loads(done.stdout)["points"][0]["number"] == 1
    if form == "csv":
        (row,) = csv.DictReader(io.StringIO(done.stdout))
        assert row["verdict"] == "released"
    if form == "md":
        assert done.stdout.startswith("## Sweep of small\n")
    again = here(*words, "-o", tmp_path / "file", "--picture", tmp_path / "p.html", cwd=folder)
    assert again.stdout == ""
    assert (tmp_path / "file").read_text()
    assert (tmp_path / "p.html").read_text().startswith("<!doctype html>")


@pytest.mark.slow
def test_repetitions(here, folder, tmp_path):
    words = ("--metrics", "shapes.mean_total_variation", "--repeat", "3", "--out", tmp_path, "--format", "json", "-q")
    done = here("sweep", "small.yaml", "--over", "steps.perturb.objective=record", *words, cwd=folder)
    (point,) = json.loads(done.stdout)["points"]
    (figure,) = point["metrics"].values()
    assert len(figure["values"]) == point["runs"] == 3
    assert figure["interval"][0] <= figure["value"] <= figure["interval"][1]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--over", "privacy.k_anonymity.k"), "PPF120"),
        (("--over", "steps.pertub.objective=record"), "PPF121"),
        (("--over", "privacy.k_anonymity.k=1..40", "--over", "params.x=1..40"), "PPF122"),
        (("--over", "privacy.k_anonymity.k=3", "--metrics", "shape.mean"), "PPF615"),
        (("--over", "privacy.k_anonymity.k=3", "--metrics", "shapes.mean:up"), "PPF120"),
        (("--over", "privacy.k_anonymity.k=1"), "PPF204"),
        (("--over", "privacy.k_anonymity.k=3", "--picture", "f.png"), "PPF693"),
        (("--over", "privacy.k_anonymity.k=3", "--picture", "nowhere/f.svg"), "PPF693"),
        (("--over", "privacy.k_anonymity.k=3", "--data", "nowhere.csv"), "PPF701"),
    ],
)
def test_what_cannot_be_swept(here, folder, tmp_path, words, code):
    done = here("sweep", "small.yaml", *words, "--out", tmp_path / "s", cwd=folder)
    assert done.returncode == 2
    assert f"[{code}]" in done.stderr
    assert done.stdout == ""
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_without_anything_to_vary(here, folder):
    assert here("sweep", "small.yaml", cwd=folder).returncode == 2


def test_a_figure_that_is_not_there_is_told(here, folder, tmp_path):
    words = ("--metrics", "shapes.mean_total_variaton,privacy.k_anonymity", "--out", tmp_path)
    done = here("sweep", "small.yaml", "--over", "privacy.k_anonymity.k=3", *words, cwd=folder)
    assert done.returncode == 0
    assert "warning[PPF125]" in done.stderr
    assert "did you mean `shapes.mean_total_variation`?" in done.stderr


def _interruptible():
    """Take back what a shell does to background jobs: they ignore SIGINT, and so would what they start."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.slow
def test_an_interruption_ends_it_with_130(folder, tmp_path):
    words = ["sweep", "small.yaml", "--over", "privacy.k_anonymity.k=2..40", "--out", str(tmp_path / "s")]
    with subprocess.Popen(
        [sys.executable, "-m", "ppdm_flow", *words],
        cwd=folder,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=_interruptible,  # noqa: PLW1509  # the test itself has no threads
    ) as process:
        assert any(line.startswith("1 of 39") for line in process.stderr)  # kernels may be compiled before
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
    assert process.returncode == 130
    assert out == ""
    assert not [p for p in (tmp_path / "s").rglob("*") if p.is_file()]


@pytest.mark.slow
def test_on_a_terminal_there_are_colours_and_no_lines_of_progress(folder, tmp_path):
    words = ["sweep", "small.yaml", "--over", "privacy.k_anonymity.k=3,150", "--out", str(tmp_path / "s")]
    ours, theirs = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-m", "ppdm_flow", *words],
        cwd=folder,
        stdout=theirs,
        stderr=theirs,
        env=environment | {"TERM": "xterm-256color", "COLUMNS": "140"},
    ) as process:
        os.close(theirs)
        text = _read(ours)
    assert process.returncode == 0
    assert "\x1b[" in text
    assert "withheld" in text
    assert "1 of 2: " not in text


def _read(descriptor):
    found = b""
    with contextlib.suppress(OSError):  # the other side has hung up
        while piece := os.read(descriptor, 65536):
            found += piece
    os.close(descriptor)
    return found.decode()
