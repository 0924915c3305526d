"""Overlaps of intervals, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_flow.mining.regression.fit import FittedTerms, likeness, overlaps

Z = 1.959963984540054


def of(values, errors, names="abcdef"):
    return FittedTerms(tuple((n, -1) for n in names[: len(values)]), np.array(values), np.array(errors), None)


@pytest.mark.parametrize(
    ("other", "overlap"),
    [((0.0, 1.0), 1.0), ((Z, 1.0), 0.5), ((3 * Z, 1.0), 0.0), ((0.0, 2.0), 0.75), ((0.0, 0.0), 0.5), ((9.0, 0.0), 0.0)],
)
def test_overlaps_by_hand(other, overlap):
    assert overlaps(of([0.0], [1.0]), of([other[0]], [other[1]]))[0] == pytest.approx(overlap)


def test_points_that_are_equal_overlap():
    assert overlaps(of([2.0], [0.0]), of([2.0], [0.0]))[0] == 1.0


def test_a_term_that_is_not_there_is_lost():
    alike = likeness(of([3.0, 5.0], [1.0, 1.0]), of([3.5], [1.0]))
    assert alike.lost == 1
    assert alike.worst == 1
    assert alike.difference.tolist() == [0.5, np.inf]
    assert alike.agrees.tolist() == [1.0, 0.0]


def test_the_same_conclusion_is_sign_and_significance():
    first = of([3.0, -3.0, 0.5, 3.0], [1.0] * 4)
    assert likeness(first, of([2.5, 3.0, -0.5, 1.0], [1.0] * 4)).agrees.tolist() == [1.0, 0.0, 1.0, 0.0]
