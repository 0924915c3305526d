"""A fixed sample of the campaign `tests/campaigns/engines.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adversary import policies
from adversary.engines import faults
from adversary.persons import policies as of_persons


@pytest.mark.parametrize("start", [0, 4, 8])
def test_spark_decides_as_the_engine_of_one_machine(start: int) -> None:
    ended = {number: faults(policies.case(number)) for number in range(start, start + 4)}
    assert {number: differences for number, (_, differences) in ended.items() if differences} == {}
    assert {verdict for verdict, _ in ended.values()} > {"withheld"}


def test_spark_counts_people_as_the_engine_of_one_machine() -> None:
    assert [faults(of_persons.case(number))[1] for number in range(4)] == [[]] * 4
