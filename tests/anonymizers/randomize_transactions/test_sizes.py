"""What is stated of a release's size beforehand is what the step then does."""

from __future__ import annotations

import pytest

from ppdm_flow.anonymizers.randomize_transactions import spec
from ppdm_flow.anonymizers.randomize_transactions.algorithm import as_seeds, packed_bytes, seeded_bytes
from ppdm_flow.mining.transactions.operators import NONE, UNIFORM, TransactionOperator
from ppdm_flow.mining.transactions.randomize import seeded
from ppdm_flow.sdk.spec import SetShape
from ppdm_flow.tables.sets.seeded import LEVELS


def test_the_light_figures_are_those_of_the_algorithm() -> None:
    assert spec.SPARE == seeded.SPARE
    assert spec.MOST_ITEMS == LEVELS
    assert set(spec.SEEDLESS) == {UNIFORM, NONE}


@pytest.mark.parametrize("asked", ["auto", "packed", "seeded"])
@pytest.mark.parametrize(
    ("rows", "items", "longest"),
    [(1000, 96, 7), (2_900_000, 96, 7), (6_500_000, 11_000, 10), (30_000_000, 64, 10), (300_000, 70_000, 5)],
)
def test_the_form_that_is_stated_is_the_one_that_is_written(asked: str, rows: int, items: int, longest: int) -> None:
    operator = TransactionOperator.cut_and_paste({longest: 2 * longest}, {longest: 0.25}, items)
    form, size = spec.stored("cut_and_paste", asked, SetShape(rows, items, longest))
    if asked == "seeded" and items > LEVELS:
        return
    seeds = as_seeds(asked, operator, rows)
    assert form == ("seeds" if seeds else "bits")
    assert size == (seeded_bytes(operator, rows) if seeds else packed_bytes(operator, rows))


def test_operators_without_seeds_are_written_as_bits() -> None:
    shape = SetShape(6_500_000, 11_000, 10)
    assert spec.stored("uniform", "auto", shape)[0] == "bits"
    assert not as_seeds("auto", TransactionOperator.uniform([10], 0.5, 11_000), shape.rows)
