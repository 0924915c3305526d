"""The script on the modified anonymity model and on attacks comes to what the paper states."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "reproductions/anonymity.py"
STATED = {
    "table1.students", "table1.violations", "ids.encoded.106", "ids.encoded.257", "ids.encoded.3000", "ids.recovered",
    "ids.beyond_12_bits_refused", "clusters.within.class_frequency_change", "hospital.linked", "homogeneity.bob",
    "hospital.andre_has_heart_disease", "hospital.linked.dan_at_02174", "background.carl", "unsorted.found",
    "complementary.found", "temporal.found",
}  # fmt: skip


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    out = tmp_path_factory.mktemp("anonymity")
    command = [sys.executable, SCRIPT, "--json", out / "rows.json", "--plot", out / "plot.svg"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (out / "plot.svg").read_text().startswith("<svg")
    return {row["id"]: row for row in json.loads((out / "rows.json").read_text())}, done.stdout


def test_every_stated_figure_is_reproduced(ran):
    rows, said = ran
    assert rows.keys() >= STATED
    told = {n: r for n, r in rows.items() if r["paper"] is not None}
    assert told.keys() >= STATED
    assert {n: r["measured"] for n, r in told.items()} == {n: pytest.approx(r["paper"]) for n, r in told.items()}
    assert "OFF" not in said


def test_a_safe_release_gives_nothing(ran):
    safe = {n: r["measured"] for n, r in ran[0].items() if ".safe" in n}
    assert len(safe) == 7
    assert not any(safe.values())
