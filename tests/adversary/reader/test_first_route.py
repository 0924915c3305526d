"""The product's first route on the tables that were worked out elsewhere."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from adversary.reader.test_tables import TABLES
from tests.reader.by_group import by_first_route


@pytest.mark.slow
@pytest.mark.skipif(not TABLES, reason="the recorded tables are not on this machine")
def test_recorded_tables_have_their_figures() -> None:
    differing = {}
    for table in TABLES:
        wanted = {"verified": False} if "not verified" in table["figures"] else table["figures"]
        if (found := by_first_route(table)[0]) != pytest.approx(wanted, abs=1e-3):
            differing[table["name"]] = (found, wanted)
    assert not differing, json.dumps(differing, indent=1)
