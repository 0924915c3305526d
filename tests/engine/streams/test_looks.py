"""Looks that threads take in apart from the order of rows, and those that need it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.streams.multiset import MultisetHash
from ppdm_flow.engine.streams.reading import PartitionCheck
from ppdm_flow.engine.streams.stream import Looks
from ppdm_flow.engine.streams.tallying import SetCounts
from ppdm_flow.tables.table import Table

FIRST, SECOND = Table.of({"a": ["x", "y"]}), Table.of({"a": ["z"]}, start=2)


@dataclass
class Numbers:
    """Remembers the row numbers in the order in which they come: no other order will do."""

    seen: list[int] = field(default_factory=list)

    def look(self, table: Table) -> None:
        self.seen += table.rows.tolist()


def test_what_was_seen_apart_is_added_in_the_order_of_rows():
    whole, numbers, hashed = MultisetHash("k" * 16), Numbers(), MultisetHash("k" * 16)
    looks = Looks([hashed, numbers], apart=True)
    seen = {2: looks.aside(SECOND), 1: looks.aside(FIRST)}  # threads end in any order
    assert (hashed.rows, numbers.seen) == (0, [])
    looks.take(FIRST, seen[1])
    looks.take(SECOND, seen[2])
    for table in (FIRST, SECOND):
        whole.look(table)
    assert hashed.value == whole.value
    assert numbers.seen == [0, 1, 2]


def test_a_fault_is_raised_with_its_partition_and_not_before():
    def refuse(table: Table) -> None:
        if "z" in table["a"].categories.to_pylist():
            raise data_fault("PPF711", "refused")

    numbers = Numbers()
    looks = Looks([PartitionCheck(refuse), numbers], apart=True)
    late, early = looks.aside(SECOND), looks.aside(FIRST)
    looks.take(FIRST, early)
    with pytest.raises(DataError, match="refused"):
        looks.take(SECOND, late)
    assert numbers.seen == [0, 1]


def test_without_threads_every_look_waits_for_its_turn():
    hashed = MultisetHash("k" * 16)
    looks = Looks([hashed], apart=False)
    seen = looks.aside(FIRST)
    assert seen.looks == ()
    looks.take(FIRST, seen)
    assert hashed.rows == 2


def test_counts_of_sets_are_taken_in_order():
    looks = Looks([SetCounts("items")], apart=True)
    assert looks.aside(FIRST).looks == ()
