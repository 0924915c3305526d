"""Escapes for a terminal and bidirectional marks, in every name of a policy: all are made visible."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ppdm_flow.core.texts import json_text, visible, visible_colored
from ppdm_flow.policy import load

FORGED = re.compile(r"^\s*must hold: nothing", re.MULTILINE)
"""A line that a value would like to have in the output."""

RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
EVIL = r"\x1b]0;own\x07\x1b[31m\u202Egnp\u2066\x9b2J\x85\u2028\n  must hold: nothing"
"""In YAML's escapes; the file itself is plain ASCII."""

POLICY = f"""version: 1
name: evil
description: "what {EVIL} is"
owner: "who {EVIL}"
params:
  k: {{type: integer, default: 2, help: "how {EVIL}"}}
source: {{path: "da{EVIL}ta.csv"}}
attributes:
  "job{EVIL}": {{role: quasi_identifier, description: "a {EVIL} b", domain: ["x{EVIL}", "y"]}}
  ill: {{role: sensitive, domain: [flu, "HIV{EVIL}"]}}
privacy:
  k_anonymity: {{k: "${{params.k}}"}}
  templates:
    t: {{channel: ["job{EVIL}"], sensitive: {{ill: ["HIV{EVIL}"]}}, confidence: 0.99}}
steps:
  again: {{use: rename, with: {{attributes: {{ill: "sick{EVIL}"}}}}}}
releases:
  study: {{path: study.csv, description: "for {EVIL} you"}}
"""


def real(text: str) -> str:
    return json.loads('"' + re.sub(r"\\x(..)", r"\\u00\1", text) + '"')


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("evil")
    (home / "evil.yaml").write_text(POLICY)
    (home / "other.yaml").write_text(POLICY.replace("default: 2", "default: 3").replace("HIV", "AIDS"))
    (home / "broken.yaml").write_text(
        POLICY.replace("use: rename", f'use: "ren{EVIL}ame"').replace("{path: study", f'{{"pa{EVIL}": study')
    )
    data = home / f"da{real(EVIL)}ta.csv".replace("/", "_")
    evil = real(EVIL)
    cells = [(f"x{evil}" if i % 2 else "y", "flu" if i % 4 < 2 else f"HIV{evil}") for i in range(40)]
    rows = "".join(f'"{job}","{ill}"\n' for job, ill in cells)
    data.write_text(f'"job{evil}",ill\n{rows}', encoding="utf-8", newline="")
    (home / "plain.csv").write_text(data.read_text(encoding="utf-8"), encoding="utf-8")
    return home


VERBS = [
    ("plan", "evil.yaml"),
    *(("plan", "evil.yaml", "--format", form) for form in ("mermaid", "dot", "svg", "json")),
    *(("plan", "evil.yaml", "--data", "plain.csv", "--format", form) for form in ("text", "json")),
    ("show", "evil.yaml"),
    ("show", "evil.yaml", "--origin"),
    *(
        ("check", each, "--format", form)
        for each in ("evil.yaml", "broken.yaml")
        for form in ("text", "concise", "json", "github", "gitlab", "sarif", "junit", "markdown")
    ),
    *(("diff", "evil.yaml", "other.yaml", "--format", form) for form in ("text", "json", "markdown", "github")),
    ("explain", real(EVIL)),
    ("explain", "k" + real(EVIL)),
    ("plan", "broken.yaml"),
    ("profile", "plain.csv"),
    ("profile", "plain.csv", "--format", "text"),
    ("profile", "plain.csv", "--format", "json"),
    ("test", "."),
]


@pytest.mark.slow(quick=20)
@pytest.mark.parametrize("words", VERBS, ids=lambda words: re.sub(r"[^\w. -]", "_", " ".join(words)))
def test_nothing_is_sent_raw(here, folder, words):
    done = here(*words, cwd=folder)
    sound = "broken.yaml" not in words and words[0] not in ("explain", "diff", "test")
    assert done.returncode in ((0,) if sound else (0, 1, 2)), done.stderr
    assert done.stdout + done.stderr
    assert RAW.search(done.stdout) is None, ascii(done.stdout)
    assert FORGED.search(done.stdout + done.stderr) is None
    assert RAW.search(done.stderr) is None, ascii(done.stderr)


FORMS = ("text", "json", "html", "md", "markdown", "junit", "github", "gitlab", "sarif")


@pytest.fixture(scope="module")
def run(folder: Path, cli) -> Path:
    done = cli("run", "evil.yaml", "--data", "plain.csv", "--out", "runs", "-v", cwd=folder)
    assert done.returncode == 0, done.stderr
    check(done.stdout + done.stderr)
    return next(p.parent for p in folder.glob("runs/*/*/manifest.json"))


def check(text: str, *, lines: bool = True) -> None:
    """Markup, where a line end is a blank, may keep the line ends of a text."""
    assert RAW.search(text) is None, ascii(text)
    assert not lines or FORGED.search(text) is None


@pytest.mark.slow
def test_nothing_that_a_run_writes_has_it_but_the_data(run):
    files = [p for p in run.rglob("*") if p.is_file() and p.suffix != ".csv"]
    assert {"report.html", "report.md", "report.json", "plan.mmd", "dictionary.json"} <= {p.name for p in files}
    for file in files:
        check(file.read_text(encoding="utf-8"), lines=file.suffix != ".html")


def test_the_data_is_as_it_was(run, folder):
    (released,) = run.rglob("study.csv")
    assert real(EVIL) in released.read_bytes().decode()


@pytest.mark.parametrize("form", FORMS)
def test_reports_of_a_run(here, folder, run, form):
    done = here("report", run, "--format", form, cwd=folder)
    assert done.returncode in (0, 2)
    check(done.stdout + done.stderr, lines=form not in ("html", "junit"))


def test_our_own_colours_stay():
    assert visible_colored("\x1b[1;31merror\x1b[0m: \x1b]0;own\x07 \u202e") == "\x1b[1;31merror\x1b[0m: �]0;own� �"
    assert visible("tabs\tand lines\nstay, so do é, 漢字, עברית and 👩\u200d🔬") == (
        "tabs\tand lines\nstay, so do é, 漢字, עברית and 👩\u200d🔬"
    )


def test_json_reads_back_as_it_was():
    assert json.loads(json_text({real(EVIL): [real(EVIL)]})) == {real(EVIL): [real(EVIL)]}


def test_a_shown_policy_reads_back_as_it_was(here, folder):
    first = here("show", "evil.yaml", cwd=folder).stdout
    (folder / "shown.yaml").write_text(first, encoding="utf-8")
    assert here("show", "shown.yaml", cwd=folder).stdout == first
    assert load(folder / "shown.yaml").tree == load(folder / "evil.yaml").tree
