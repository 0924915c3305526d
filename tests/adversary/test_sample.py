"""A fixed sample of the campaign `tests/campaigns/adversary.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adversary.judging import compare
from adversary.policies import EVERY, PLACE, SETS, Policy, case
from adversary.steps import FURTHER, WEIGHTS

COUNT, BLOCK = 500, 25


@pytest.mark.parametrize("start", range(0, COUNT, 8 * BLOCK))
def test_engine_and_oracle_agree(start: int) -> None:
    found = [compare(case(n)) for n in range(start, start + BLOCK)]
    assert {c.number: c.faults for c in found if c.faults} == {}
    assert {"released", "withheld"} <= {c.verdict for c in found}


def test_the_sample_has_every_step_and_the_further_requirements() -> None:
    drawn = [case(n).policy for n in range(COUNT)]
    assert {s["use"] for p in drawn for s in p["steps"].values()} == {*WEIGHTS, *FURTHER, "vertical_partition"}
    assert {"km_anonymity", "cumulative_k"} <= {kind for p in drawn for kind in p["privacy"]}
    further = [p for p in drawn[PLACE::EVERY] if "cumulative_k" in p["privacy"] or _uses(p) & set(FURTHER)]
    assert len(further) > COUNT / EVERY * 0.8
    assert all(not _uses(p) & set(SETS) for i, p in enumerate(drawn) if i % EVERY != PLACE)


def _uses(policy: Policy) -> set[str]:
    return {s["use"] for s in policy["steps"].values()}


@pytest.mark.parametrize("number", [139, 171, 389, 3157, 3467, 3482])
def test_cases_that_were_wrong_before(number: int) -> None:
    assert compare(case(number, most_releases=1)).faults == ()


@pytest.mark.parametrize("number", [30, 40, 45, 94, 141, 145, 227, 369, 410, 451, 467])
def test_cases_of_two_releases_that_were_wrong_before(number: int) -> None:
    assert compare(case(number)).faults == ()


@pytest.mark.parametrize("number", [603, 643, 703])
def test_cases_of_generated_rows_that_failed_before(number: int) -> None:
    assert compare(case(number)).faults == ()
