"""A fixed sample of the campaign `tests/campaigns/diff_mutants.py`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mutants.judging import judge, remembering

SAMPLE = [n for n in range(45) if n % 5 in (0, 2)]
"""Without the policy that trains a classifier (3), whose mutants take most of the time."""


def test_what_lets_more_out_does_not_pass_diff() -> None:
    runs = remembering(tables=1)
    found = [judge(number, runs) for number in SAMPLE]
    assert [(j.number, j.more) for j in found if j.fault] == []
    assert sum(bool(j.more) for j in found) >= 5
    assert sum(j.valid and not j.more and not j.forbidden for j in found) >= 5
