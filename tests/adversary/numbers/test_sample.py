"""A fixed sample of the campaign `tests/campaigns/about_numbers.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from adversary.numbers.judging import compare
from adversary.numbers.policies import case
from adversary.numbers.requirements import KINDS
from adversary.numbers.steps import MAKERS

COUNT, BLOCK = 50, 25


@pytest.mark.parametrize("start", range(0, COUNT, BLOCK))
def test_engine_and_oracle_agree(start: int) -> None:
    found = [compare(case(n)) for n in range(start, start + BLOCK)]
    assert {c.number: c.faults for c in found if c.faults} == {}
    assert {"released", "withheld"} <= {c.verdict for c in found}


def test_the_sample_has_every_step_and_requirement() -> None:
    drawn = [case(n).policy for n in range(COUNT)]
    assert {use for use, _, _ in MAKERS.values()} <= {s["use"] for p in drawn for s in p["steps"].values()}
    assert set(KINDS) <= {kind for p in drawn for kind in p["privacy"]}
    assert any("with" in p["releases"]["a"] for p in drawn)
