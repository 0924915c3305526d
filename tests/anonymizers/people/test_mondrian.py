"""Mondrian where people count: every released class keeps what is claimed, and one row a person changes nothing."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from adversary.people_trials import broken, case_of, of_mondrian, released, trial


@pytest.mark.slow(quick=30)
@pytest.mark.parametrize("seed", range(60))
def test_released_classes_keep_what_is_claimed(seed):
    rng = random.Random(seed)
    told = trial(rng)
    case = case_of("mondrian", of_mondrian(rng), told)
    assert {p.code for p in case.effect.problems} <= {"PPF606"}, "labels of what is not recoded"
    assert len(case.effect.serves) == len(told.requirements)
    rows = released(case, told)
    assert rows is None or broken(case, told, rows) == []
    assert rows is None or len(rows) == len(told.rows)


@pytest.mark.parametrize("seed", range(20))
def test_one_row_a_person_is_as_rows(seed):
    rng = random.Random(1000 + seed)
    told = trial(rng, once=True)
    given = of_mondrian(rng)
    both = [released(case_of("mondrian", given, told, counted=counted), told) for counted in (True, False)]
    assert both[0] == both[1]
