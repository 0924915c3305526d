"""Progressive disclosure that serves k-anonymity alone, through policies and the command line."""

from __future__ import annotations

import json
from collections import Counter
from importlib import import_module
from pathlib import Path

import pyarrow.parquet as pq
import pytest

POLICY = """version: 1
name: alone
source: {path: table.csv, missing: ["?"]}
attributes:
ATTRIBUTES
privacy:
  k_anonymity: {k: K}
steps:
  suppress: {use: progressive_disclosure}
releases:
  out: {path: out.parquet}
"""


def write(folder: Path, roles: dict[str, str], k: int) -> None:
    lines = [f"  {name}: {{role: {role}}}" for name, role in roles.items()]
    (folder / "policy.yaml").write_text(POLICY.replace("ATTRIBUTES", "\n".join(lines)).replace("K}", f"{k}}}"))


def released(cli, folder: Path) -> tuple[dict, list[tuple]]:
    done = cli("run", "policy.yaml", "--out", "runs", cwd=folder)
    assert done.returncode == 0, done.stderr
    (run,) = (folder / "runs/alone").iterdir()
    table = pq.read_table(run / "released/out/out.parquet")
    return json.loads((run / "report.json").read_text()), list(zip(*table.to_pydict().values(), strict=True))


@pytest.mark.parametrize("target", ["target", "insensitive"])
def test_a_small_table(cli, tmp_path, target):
    rows = ["x,u,1,a"] * 5 + ["x,v,0,b"] * 4 + ["y,u,1,a"] * 3 + ["z,v,0,b"]
    (tmp_path / "table.csv").write_text("\n".join(["A,B,T,N", *rows]) + "\n")
    write(tmp_path, {"A": "quasi_identifier", "B": "quasi_identifier", "T": target, "N": "insensitive"}, 3)
    assert cli("check", "policy.yaml", cwd=tmp_path).returncode == 0
    report, found = released(cli, tmp_path)
    assert report["verdict"] == "released"
    assert [(r["id"], r["holds"]) for r in report["requirements"]] == [("privacy.k_anonymity", True)]
    assert report["requirements"][0]["measured"] == min(Counter(r[:2] for r in found).values()) >= 3
    assert {r[0] for r in found} - {"⊥"}


def test_too_few_rows_for_k_are_said_before_anything_is_written(cli, tmp_path):
    (tmp_path / "table.csv").write_text("A,T\nx,1\ny,0\n")
    write(tmp_path, {"A": "quasi_identifier", "T": "target"}, 3)
    done = cli("run", "policy.yaml", "--out", "runs", cwd=tmp_path)
    assert done.returncode == 2
    assert "PPF784" in done.stderr
    assert "smallest group has 2 rows" in done.stderr


def test_adult(cli, tmp_path, data, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "reproductions"))
    frame = import_module("uci").adult(data).frame
    frame.to_csv(tmp_path / "table.csv", index=False)
    names = [str(n) for n in frame]
    write(tmp_path, dict.fromkeys(names[:-1], "quasi_identifier") | {names[-1]: "target"}, 25)
    report, found = released(cli, tmp_path)
    groups = Counter(r[:-1] for r in found)
    assert report["requirements"][0]["measured"] == min(groups.values()) >= 25
    assert len(found) == len(frame)
    assert report["metrics"]["suppress.suppressed_share"]["value"] < 0.9
    assert report["metrics"]["suppress.disclosed_values"]["value"] > 5
