"""A fixed sample of the campaign `tests/campaigns/adversary.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adversary.judging import compare
from adversary.lineage import released, sensitive
from adversary.policies import Case, case

BLOCK = 20


def plain(asked: Case) -> bool:
    """Whether every column is of one attribute, each attribute in one column, and secrets are as they were."""
    secret = set(sensitive(asked.policy))
    for columns in released(asked.policy).values():
        for column in columns.values():
            others = [c for c in columns.values() if c is not column and c.computed & column.computed]
            if others or column.drawn or (column.computed & secret and len(column.way) > 1):
                return False
    return asked.policy["nulls"] != "wildcard"


@pytest.mark.parametrize("start", range(0, 200, BLOCK))
def test_engine_and_oracle_agree(start: int) -> None:
    cases = [c for c in (case(n, most_releases=1) for n in range(start, start + BLOCK)) if plain(c)]
    wrong = {c.number: c.faults for c in map(compare, cases) if c.faults}
    assert cases
    assert not wrong
