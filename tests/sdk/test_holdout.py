"""The control group: fixed by row numbers alone, of the share that was asked."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ppdm_flow.sdk.holdout import Holdout


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
