"""The reader's figures on tables that were worked out elsewhere, and one small table of each kind of our own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from adversary.reader.figures import (
    find_groups,
    largest_share,
    smallest_distinct_l,
    smallest_posterior_size,
    smallest_size,
)
from adversary.reader.files import HiddenCells, NotVerified, ReleasedColumn, ReleasedFile, ReleasedRow, prepare

ROOT = Path(__file__).resolve().parents[3]
RECORDED = ROOT.parent / "shared" / "research" / "prototypes" / "reader_tables.json"
TABLES = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else []


@pytest.mark.random(quick=3)
@pytest.mark.skipif(not TABLES, reason="the recorded tables are not on this machine")
@pytest.mark.parametrize("table", TABLES, ids=lambda t: t["name"])
def test_recorded_table_has_its_figures(table: dict[str, Any]) -> None:
    figures, verdict = measured(table)
    assert verdict == table["verdict"]
    if "not verified" in table["figures"]:
        assert figures is None
    else:
        assert figures == pytest.approx(table["figures"], abs=1e-4)


def measured(table: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The figures and the verdict of a recorded table; no figures if it is not verified."""
    source = [dict(zip(table["source"]["attributes"], row, strict=True)) for row in table["source"]["rows"]]
    files = [recorded_file(f) for f in table["files"]]
    try:
        prepared = prepare(source, files, subject=table["subject"])
        groups = find_groups(
            prepared, table["grouping"], table["sensitive"], known_rows=table["known_rows"], nulls=table["nulls"]
        )
    except NotVerified:
        return None, "withheld"
    figures = {
        "k": smallest_size(groups),
        "l": smallest_distinct_l(groups),
        "alpha": largest_share(groups),
        "posterior": smallest_posterior_size(groups),
    }
    holds = {"k": figures["k"], "l": figures["l"], "alpha": figures["alpha"]}
    for name, bound in table["bound"].items():
        figure = holds[name]
        if figure is not None and (figure > bound + 1e-6 if name == "alpha" else figure < bound):
            return figures, "withheld"
    return figures, "released"


def recorded_file(f: dict[str, Any]) -> ReleasedFile:
    columns = []
    for c in f["columns"]:
        h = c.get("hidden")
        hidden = h and HiddenCells(
            frozenset(h["carries"]), h.get("cell", "*"), h.get("requirement"), h.get("sensitive")
        )
        columns.append(ReleasedColumn(c["name"], frozenset(c["carries"]), c["kind"], c.get("key"), hidden))
    origins = [tuple(o) if isinstance(o, list) else (o,) for o in f["of"]]
    rows = [ReleasedRow(o, {c["name"]: c["cells"][i] for c in f["columns"]}) for i, o in enumerate(origins)]
    present = f.get("present")
    return ReleasedFile(
        f["name"],
        columns,
        rows,
        f.get("absent", []),
        None if present is None else frozenset(present),
        f.get("sampled", False),
        f.get("shuffled", True),
        tuple(f.get("moved", ())),
        f.get("table", ""),
        tuple(f.get("refers", ())),
    )
