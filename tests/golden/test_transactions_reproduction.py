"""The script that reproduces randomized transactions runs, keeps the level it says, and finds what is discoverable."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

SCRIPT = Path(__file__).parents[1] / "reproductions/transactions.py"


def rows(folder: Path, *words: str) -> tuple[dict[str, dict], str]:
    out = folder / "rows.json"
    done = subprocess.run([sys.executable, SCRIPT, "--json", out, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {row["id"]: row for row in json.loads(out.read_text())}, done.stdout


def test_a_twentieth_of_mailorder(tmp_path):
    found, said = rows(tmp_path, "--only", "mailorder", "--scale", "0.05", "--runs", "1")
    value = {name: row["measured"] for name, row in found.items()}
    assert found["mailorder.worst_breach"]["paper"] == 0.554
    assert found["mailorder.2.true_positives"]["paper"] == 212
    for k in (1, 2, 3):
        drops, hits = value[f"mailorder.{k}.false_drops"], value[f"mailorder.{k}.true_positives"]
        assert drops + hits == value[f"mailorder.{k}.true_itemsets"]
        assert sum(value[f"mailorder.{k}.predicted.{b}"] for b in ("low", "half", "near", "frequent")) == drops + hits
    assert value["mailorder.1.true_positives"] >= 0.9 * value["mailorder.1.true_itemsets"]
    # what the operator says of an itemset, and what the two tables have: 145,000 rows
    assert value["mailorder.worst_breach"] == pytest.approx(value["mailorder.worst_breach.exact"], abs=0.03)
    assert value["mailorder.promise.worst_breach.by_size.exact"] <= 0.5
    assert value["mailorder.worst_breach"] <= 0.56 < value["mailorder.overall.worst_breach.by_size.exact"]
    assert "mailorder.promise. nobody who knows sizes exceeds 50%" in said
    assert "recovered of 1, 2, 3 items" in said


def test_the_plots(tmp_path):
    found, _ = rows(tmp_path, "--only", "lds", "--plot", str(tmp_path / "plot.svg"))
    lowest = [found[f"lds.number.{n}.2"]["measured"] for n in ("100000", "1e+06", "1e+07")]
    assert lowest[0] / lowest[2] == pytest.approx(10, rel=0.1)  # about as one over the root of N
    assert lowest[0] > lowest[1] > lowest[2]
    levels = [found[f"lds.level.{level}.2"]["measured"] for level in ("0.25", "0.55", "0.95")]
    assert levels == sorted(levels, reverse=True)
    drawn = ET.parse(tmp_path / "plot.svg").getroot()
    assert len([e for e in drawn if e.tag.endswith("}g")]) == 3


def test_public_baskets(tmp_path, data):
    found, _ = rows(tmp_path, "--only", "bms1", "--runs", "1", "--data", str(data))
    value = {name: row["measured"] for name, row in found.items()}
    lowest = max(value[f"bms1.{k}.discoverable"] for k in (1, 2, 3))
    assert lowest <= value["bms1.min_support"] <= 1.1 * lowest
    assert value["bms1.1.true_positives"] >= 0.75 * value["bms1.1.true_itemsets"]
    assert value["bms1.promise.worst_breach.by_size.exact"] <= 0.5
