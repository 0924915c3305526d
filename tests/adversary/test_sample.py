"""A fixed sample of the campaign `tests/campaigns/adversary.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adversary.judging import compare
from adversary.policies import case

COUNT, BLOCK = 500, 25


@pytest.mark.parametrize("start", range(0, COUNT, BLOCK))
def test_engine_and_oracle_agree(start: int) -> None:
    found = [compare(case(n)) for n in range(start, start + BLOCK)]
    assert {c.number: c.faults for c in found if c.faults} == {}
    assert {"released", "withheld"} <= {c.verdict for c in found}


@pytest.mark.parametrize("number", [139, 171, 389, 3157, 3467, 3482])
def test_cases_that_were_wrong_before(number: int) -> None:
    assert compare(case(number, most_releases=1)).faults == ()


@pytest.mark.parametrize("number", [30, 40, 45, 94, 141, 145, 227, 369, 410, 451, 467])
def test_cases_of_two_releases_that_were_wrong_before(number: int) -> None:
    assert compare(case(number)).faults == ()
