from __future__ import annotations

import numpy as np
import pytest

from ppdm_flow.anonymizers.fine_grain_perturbation.channel import bounds_of, slack_of
from ppdm_flow.core.roles import Directions
from ppdm_flow.requirements.sensitivities.requirement import BoundOfValue, Sensitivity


def requirement(*bounds: BoundOfValue, tolerance=None, default=None) -> Sensitivity:
    return Sensitivity.of_bounds("d", bounds, Directions.BOTH, tolerance=tolerance, default=default)


def test_the_papers_gammas(papers):
    domain = ("H1N1", "HIV", "SARS", "cancer")
    bounds = bounds_of(papers.disease(), domain, np.full(4, 0.25))
    assert bounds.gamma == pytest.approx([9.5, 3.0, 1.5, 18.0], rel=1e-14)
    assert bounds.r2 == pytest.approx([19 / 35, 1 / 4, 1 / 7, 18 / 25])


def test_tolerance_takes_the_frequency_as_prior():
    frequency = np.array([0.0, 0.01, 0.1, 0.2, 0.69])
    bounds = bounds_of(requirement(tolerance=5.0), ("a", "b", "c", "d", None), frequency)
    assert bounds.gamma[0] == pytest.approx(5.0)  # the limit at f = 0
    for f, gamma in zip(frequency[1:3], bounds.gamma[1:3], strict=True):
        assert gamma == pytest.approx(5 * f * (1 - f) / (f * (1 - 5 * f)))
    assert np.isinf(bounds.slack[3:]).all()  # f = 1/theta, and above
    assert np.isnan(bounds.r2[3:]).all()


def test_own_bounds_win_over_the_default_and_the_missing_value_takes_the_default():
    wanted = requirement(BoundOfValue("a", 0.1, 0.25), default=(0.2, 0.5))
    bounds = bounds_of(wanted, ("a", "b", None), np.full(3, 1 / 3))
    assert bounds.gamma == pytest.approx([3.0, 4.0, 4.0])


def test_without_bound_and_default_a_value_is_free():
    bounds = bounds_of(requirement(BoundOfValue("a", 0.1, 0.25)), ("a", "b", None), np.full(3, 1 / 3))
    assert np.isinf(bounds.slack).tolist() == [False, True, True]


def test_close_bounds_lose_no_digits():
    r1, r2 = 0.1, 0.1 + 1e-13
    assert slack_of(r1, r2) == pytest.approx((r2 - r1) / (0.1 * 0.9), rel=1e-12)


@pytest.mark.parametrize(("r1", "r2"), [(0.3, 0.2), (0.2, 0.2), (0.0, 0.5), (0.5, 1.0), (float("nan"), 0.5)])
def test_impossible_bounds_are_refused(r1, r2):
    with pytest.raises(ValueError, match="r1 < r2"):
        slack_of(r1, r2)
