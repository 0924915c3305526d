"""Cells that a spreadsheet would run: escaped in files for the public, and undone wherever the file is read back."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.tables.formulas import escaped, unescaped

EVIL = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx", "'=x", "''@y", "＝1", "-", "- none"]
FINE = ["-3.5", "+7", "-1e5", "-,5", "a=b", "'quoted'", "x-1", " =1", "", "0", "(-5, 3]", "⊥"]
POLICY = """version: 1
name: sheets
source: {path: data.csv}
attributes:
  "=name": {role: quasi_identifier}
  ill: {role: sensitive}
privacy:
  k_anonymity: {k: 2}
  templates: {t: {channel: ["=name"], sensitive: {ill: ["=1+1"]}, confidence: 0.9}}
  l_diversity: {ill: {l: 2}}
releases: {study: {path: study.csv, AUDIENCE}}
"""


def arrow(texts):
    return pa.array(texts, pa.string())


def test_what_is_escaped_and_what_is_not():
    assert escaped(arrow(EVIL)).to_pylist() == [f"'{text}" for text in EVIL]
    assert escaped(arrow(FINE)).to_pylist() == FINE
    assert unescaped(escaped(arrow([*EVIL, *FINE]))).to_pylist() == [*EVIL, *FINE]
    assert escaped(arrow([None])).to_pylist() == [None]


@given(st.lists(st.text(alphabet="'=+-@\t\r\n＝0159.,eEx ", max_size=6)))
def test_it_is_always_undone_exactly(texts):
    found = escaped(arrow(texts))
    assert unescaped(found).to_pylist() == texts
    assert len(set(found.to_pylist())) == len(set(texts))
    assert not [t for t in found.to_pylist() if t[:1] in ("=", "@", "\t", "\r", "\n", "＝")]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    cells = [*EVIL, "-3.5"]
    with (tmp_path / "data.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["=name", "ill"])
        for name in cells:
            out.writerows([[name, ill] for ill in ("=1+1", "'=1+1", "flu", "-4")])
    return tmp_path


def run(cli, home: Path, audience: str) -> Path:
    (home / "p.yaml").write_text(POLICY.replace("AUDIENCE", audience))
    done = cli("run", "p.yaml", "--out", "out", cwd=home)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = (p.parent for p in home.glob("out/*/*/manifest.json"))
    return found


def rows(file: Path) -> list[list[str]]:
    with file.open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    ("audience", "escapes"),
    [
        ("audience: public", True),
        ("audience: public, with: {formulas: keep}", False),
        ("audience: internal", False),
        ("audience: partner, with: {formulas: escape}", True),
    ],
)
def test_files_and_what_is_said_of_them(cli, home, audience, escapes):
    found = run(cli, home, audience)
    head, *cells = rows(found / "released/study/study.csv")
    evil = {c for row in (head, *cells) for c in row if c[:1] in "=+-@\t＝" and c not in ("-3.5", "-4")}
    assert bool(evil) is not escapes
    assert ("'=name" in head) is escapes
    assert {"-3.5", "-4"} <= {c for row in cells for c in row}
    dictionary = json.loads((found / "released/study/dictionary.json").read_text())
    assert ("formulas" in dictionary) is escapes
    assert dictionary["attributes"][0]["name"] == "=name"
    again = cli("verify", found, "--data", home / "data.csv", cwd=home)
    assert again.returncode == 0, again.stdout + again.stderr
    judged = cli(
        "audit", "p.yaml", "--original", "data.csv", "--released", found / "released/study/study.csv", cwd=home
    )
    assert judged.returncode == 0, judged.stdout + judged.stderr
    report = json.loads((found / "report.json").read_text())
    measured = {r["id"]: r["measured"] for r in report["requirements"]}
    assert measured["privacy.templates.t"] == pytest.approx(0.25), "its value is found in the file"


@pytest.mark.slow
def test_a_recipient_undoes_it(cli, home):
    found = run(cli, home, "audience: public")
    cells = rows(found / "released/study/study.csv")[1:]
    undone = unescaped(arrow([c for row in cells for c in row])).to_pylist()
    assert sorted(undone) == sorted(c for row in rows(home / "data.csv")[1:] for c in row)
    (home / "q.yaml").write_text(
        POLICY.replace("AUDIENCE", "audience: internal").replace(
            "{path: data.csv}", f"{{path: {found}/released/study/study.csv, with: {{formulas: escape}}}}"
        )
    )
    done = cli("run", "q.yaml", "--out", "second", cwd=home)
    assert done.returncode == 0, done.stdout + done.stderr
    second = next(home.glob("second/*/*/released/study/study.csv"))
    assert sorted(rows(second)[1:]) == sorted(rows(home / "data.csv")[1:])
