"""The script that reproduces Vreeken, van Leeuwen and Siebes's table and figures comes to their figures."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

FOLDER = Path(__file__).parents[1] / "reproductions"
DATA = Path(os.environ.get("PPDM_DATA", Path(__file__).parents[3] / "shared/data"))
SMALL = ("iris", "led7", "pageblocks", "pima")
NAS = {"iris": 0.72, "led7": 0.66, "pageblocks": 0.77, "pima": 0.64}
EQUAL = {"iris": (83, 8), "led7": (89, 3), "pageblocks": (75, 5), "pima": (60, 5)}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Table 1 and the figures on the four small datasets, which take a second a run."""
    if not (DATA / "lucs_krimp_db").is_dir():
        pytest.skip("the discretised UCI data is not at hand (PPDM_DATA)")
    out = tmp_path_factory.mktemp("krimp")
    only = [word for name in SMALL for word in ("--only", name)]
    words = ["--data", DATA, *only, "--runs", "10", "--workers", "1", "--json", out / "rows.json"]
    command = [sys.executable, FOLDER / "krimp.py", *words, "--plot", out / "plot.svg"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {row["id"]: row for row in json.loads((out / "rows.json").read_text())}, done.stdout, out / "plot.svg"


@pytest.mark.parametrize("name", SMALL)
def test_table_1(ran, name):
    found, said, _ = ran
    assert round(found[f"{name}.bits"]["measured"]) == found[f"{name}.bits"]["paper"]
    assert found[f"{name}.non_singletons"]["measured"] == found[f"{name}.non_singletons"]["paper"]
    assert found[f"{name}.nas"]["measured"] == pytest.approx(NAS[name], abs=0.05)
    share, spread = EQUAL[name]
    assert found[f"{name}.equal_itemsets"]["measured"] == pytest.approx(share, abs=spread)
    assert "NOT WITHIN" not in said


@pytest.mark.parametrize("name", SMALL)
def test_figures(ran, name):
    found, _, _ = ran
    assert found[f"{name}.uncorrelated"]["low"] > found[f"{name}.dissimilarity"]["high"]  # Figure 2
    moved = [row["measured"] for i, row in found.items() if i.startswith(f"{name}.moved.")]
    assert moved == sorted(moved)  # Figure 3
    assert moved[-1] > 0.999
    nas = [row["measured"] for i, row in found.items() if i.startswith(f"figure4.{name}.") and i.endswith(".nas")]
    assert len(nas) == 2


def test_the_drawing_has_three_panels(ran):
    tree = ET.parse(ran[2])
    assert len(tree.findall(".//{*}polyline")) == 3 + len(SMALL)
    assert len(tree.findall("{*}g")) == 3


def test_a_row_without_an_item_in_some_column_is_refused(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    from lucs import Table

    for rows, fine in (("2: 0 2\n2: 1 2\n", True), ("2: 0 2\n2: 0 1\n", False)):
        with gzip.open(tmp_path / "x.db.gz", "wt") as file:
            file.write(f"fic-1.5\nmi: nR=2\nab: 0 1 2\ncd: 0 1, 2\ncl: 2\n{rows}")
        if fine:
            assert Table.read(tmp_path / "x.db.gz").cells.tolist() == [[0, 2], [1, 2]]
        else:
            with pytest.raises(ValueError, match="without an item"):
                Table.read(tmp_path / "x.db.gz")
