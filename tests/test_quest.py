"""Quest data: reproducible block by block, within their bounds, with the associations they are made for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from quest import BLOCK, MAILORDER, SOCCER, Quest, quest

from ppdm_flow.mining.transactions.apriori import SearchBounds, mine
from ppdm_flow.mining.transactions.operators import TransactionOperator

SMALL = Quest(70_000, 50, 3.0, 6, 20, 2.0, popularity=0.5)


def test_blocks_are_sets_within_bounds() -> None:
    blocks = list(quest(SMALL, 3))
    assert [len(b) for b in blocks] == [BLOCK, 70_000 - BLOCK]
    for block in blocks:
        assert block.valid()
        assert len(block.categories) == 50
        assert block.sizes.min() >= 1
        assert block.sizes.max() <= 6


@pytest.mark.slow
def test_the_key_and_no_more_decides() -> None:
    first = next(quest(SMALL, 3))
    again = next(quest(replace(SMALL, rows=100), 3))
    assert (again.offsets == first.offsets[:101]).all()
    assert (again.items == first.items[: again.offsets[-1]]).all()
    other = next(quest(replace(SMALL, rows=100), 4))
    assert other.items.tolist() != again.items.tolist()


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(("preset", "key", "wanted"), [(MAILORDER, 263, (65, 228, 22)), (SOCCER, 693, (266, 217, 48))])
def test_presets_have_about_as_many_frequent_itemsets(preset: Quest, key: int, wanted: tuple[int, int, int]) -> None:
    """At 0.2 %, counted on few rows: near what Evfimievski et al. report, with room for the sample."""
    blocks = list(quest(replace(preset, rows=2 * BLOCK), key))
    sizes = range(1, preset.longest + 1)
    mined = mine(lambda: blocks, TransactionOperator.none(sizes, preset.items), 0.002, SearchBounds(length=3))
    found = np.array([int(one.frequent.sum()) for one in mined.by_size])
    assert (np.abs(found - wanted) <= 0.2 * np.array(wanted)).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"rows": 0},
        {"items": 3},
        {"patterns": 0},
        {"length": 0.0},
        {"pattern_length": 0.5},
        {"correlation": 1.0},
        {"corruption": 0.0},
    ],
)
def test_refusals(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="Quest data"):
        replace(SMALL, **wrong)  # type: ignore[arg-type]
