"""The control group: fixed by row numbers alone, of the share that was asked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.tables.table import Table


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.9])
def test_the_share_is_binomial_at_an_error_probability_of_one_in_a_million(share: float) -> None:
    rows = np.arange(200_000)
    found = int(Holdout(share).held_out(rows).sum())
    low, high = stats.binom.interval(1 - 1e-6, len(rows), share)
    assert low <= found <= high


def test_rows_are_chosen_one_by_one() -> None:
    rows = np.arange(10_000)
    whole = Holdout(0.3).held_out(rows)
    shuffled = np.random.default_rng(1).permutation(rows)
    assert np.array_equal(Holdout(0.3).held_out(shuffled), whole[shuffled])


def test_a_larger_share_holds_out_the_same_rows_and_more() -> None:
    rows = np.arange(10_000)
    small, large = Holdout(0.1).held_out(rows), Holdout(0.4).held_out(rows)
    assert not (small & ~large).any()


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan")])
def test_a_share_must_leave_both_groups(share: float) -> None:
    with pytest.raises(ValueError, match="share"):
        Holdout(share)


PERSONS = st.lists(st.integers(0, 12), min_size=1, max_size=60)


def parted(persons, size=7, start=0):
    every = Table.of({"who": [f"person {p}" for p in persons]}, start)
    return [every.take(np.arange(i, min(i + size, len(persons)))) for i in range(0, len(persons), size)]


@given(PERSONS, st.sampled_from([0.1, 0.5, 0.8]))
def test_all_rows_of_a_person_go_where_the_first_goes(persons: list[int], share: float) -> None:
    plain = Holdout(share).held_out(np.arange(len(persons)))
    found = Holdout(share).by_person(parted(persons), "who").held_out(np.arange(len(persons)))
    assert found.tolist() == [bool(plain[persons.index(p)]) for p in persons]
    one_each = Holdout(share).by_person(parted(range(len(persons))), "who")
    assert np.array_equal(one_each.held_out(np.arange(len(persons))), plain)


@given(PERSONS, st.data())
def test_who_is_known_already_stays_there(persons: list[int], data: st.DataObject) -> None:
    """A step saw some of the rows: the others of the same people follow, and nobody is on both sides."""
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(persons), max_size=len(persons))))
    some = [part.take(kept[part.rows]) for part in parted(persons)]
    step = Holdout(0.5).by_person(some, "who")
    found = step.by_person(parted(persons), "who").held_out(np.arange(len(persons)))
    sides = {p: {bool(f) for f, q in zip(found, persons, strict=True) if q == p} for p in persons}
    assert all(len(side) == 1 for side in sides.values())
    assert np.array_equal(step.held_out(np.flatnonzero(kept)), found[kept])
