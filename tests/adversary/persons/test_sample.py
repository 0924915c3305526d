"""A fixed sample of the campaign `tests/campaigns/about_people.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from adversary.persons.judging import compare
from adversary.persons.policies import KINDS, MAKERS, case

COUNT, BLOCK = 40, 20


@pytest.mark.parametrize("start", range(0, COUNT, BLOCK))
def test_engine_and_oracle_agree(start: int) -> None:
    found = [compare(case(n)) for n in range(start, start + BLOCK)]
    assert {c.number: c.faults for c in found if c.faults} == {}
    assert {"released", "withheld"} <= {c.verdict for c in found}


def test_the_sample_has_every_step_and_requirement() -> None:
    drawn = [case(n).policy for n in range(COUNT)]
    assert set(MAKERS) <= {s["use"] for p in drawn for s in p["steps"].values()}
    assert set(KINDS) <= {kind for p in drawn for kind in p["privacy"]}
    assert {p["people"]["known_rows"] for p in drawn} == {"1", "2", "3", "all"}
