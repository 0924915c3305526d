"""Small tables on which every set of known rows is tried: a sample of ``tests/campaigns/known_rows.py``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from adversary.known_rows import small
from adversary.known_rows_judging import Database, disagreements


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("seed", range(24))
def test_the_same_crowds_chances_and_groups_as_by_trying_everything(seed):
    assert disagreements(small(seed, 6), Database()) == []


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("seed", range(100, 104))
def test_the_same_with_up_to_twenty_rows_a_person(seed):
    assert disagreements(small(seed), Database()) == []


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("seed", range(200, 206))
def test_the_same_where_sql_looks_at_some_at_a_time(seed, monkeypatch):
    monkeypatch.setattr("ppdm_flow.mining.people.known_query._PART", 3)
    monkeypatch.setattr("ppdm_flow.mining.people.known_query._GROUP_PART", 3)
    monkeypatch.setattr("ppdm_flow.mining.people.known_query._AT_A_TIME", 2)
    assert disagreements(small(seed, 4), Database()) == []
