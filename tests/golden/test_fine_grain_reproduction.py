"""The script that reproduces Chaytor and Wang's figures gives them, to four decimals."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

SCRIPT = Path(__file__).parents[1] / "reproductions/fine_grain.py"


def rows(folder: Path, *words: str) -> dict[str, dict]:
    out = folder / "rows.json"
    done = subprocess.run([sys.executable, SCRIPT, "--json", out, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {row["id"]: row for row in json.loads(out.read_text())}


def test_the_example(tmp_path):
    found = rows(tmp_path, "--only", "example")
    given = [row for row in found.values() if row["paper"] is not None]
    assert len(given) >= 20
    for row in given:
        assert row["measured"] == pytest.approx(row["paper"], abs=5e-7), row["id"]
    assert found["example.record_utility"]["paper"] == 0.4375
    assert found["example.both"]["paper"] == 0.34375


def test_zipf(tmp_path):
    found = rows(tmp_path, "--only", "zipf", "--runs", "3", "--plot", str(tmp_path / "plot.svg"))
    given = [row for row in found.values() if row["paper"] is not None]
    assert len(given) == 8
    for row in given:
        assert row["measured"] == pytest.approx(row["paper"], abs=5e-5), row["id"]
    for theta in (20, 30, 40, 50):
        assert found[f"zipf.{theta}.aggregate.fine_grain"]["low"] > 0.990  # as in every cell of Figure 5
        assert found[f"zipf.{theta}.aggregate.uniform"]["low"] > 0.990
        utility = {k: found[f"zipf.{theta}.aggregate.{k}"] for k in ("fine_grain", "uniform", "least_error")}
        assert utility["fine_grain"]["measured"] < utility["uniform"]["measured"]  # the paper's finding
        assert utility["least_error"]["measured"] > utility["fine_grain"]["measured"]
        assert utility["uniform"]["low"] <= utility["uniform"]["measured"] <= utility["uniform"]["high"]
        assert found[f"zipf.{theta}.least_error"]["measured"] > found[f"zipf.{theta}.uniform"]["measured"]
    drawn = ET.parse(tmp_path / "plot.svg").getroot()
    assert len([e for e in drawn if e.tag.endswith("}g")]) == 2


def test_faers(tmp_path, data):
    found = rows(tmp_path, "--only", "faers", "--runs", "2", "--data", str(data))
    assert len(found) == 4 * 11
    for theta in (5, 10, 15, 20):
        gain = found[f"faers.{theta}.fine_grain"]["measured"] / found[f"faers.{theta}.uniform"]["measured"] - 1
        assert 0.08 < gain < 0.25  # 10 % to 20 % on the paper's data
        fine, uniform = (found[f"faers.{theta}.aggregate.{k}"] for k in ("fine_grain", "uniform"))
        assert min(fine["low"], uniform["low"]) > 0.990
        assert abs(fine["measured"] - uniform["measured"]) < 0.001  # "almost the same": neither is below by much
