"""Groups of records against plain ones: MDAV by lists, one axis by trying every division."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.mining.local_recoding.groups import axis, grouped, mdav, slices

STEADY = examples(45)


def squared(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def plain_mdav(points, k):
    """Domingo-Ferrer and Torra, section 3, on unit weights. Groups as sets of places."""
    left, groups = list(range(len(points))), []

    def far(origin):
        return max(left, key=lambda i: (squared(points[i], origin), -i))

    def take(seed):
        near = sorted((i for i in left if i != seed), key=lambda i: (squared(points[i], points[seed]), i))[: k - 1]
        groups.append({seed, *near})
        left[:] = [i for i in left if i not in groups[-1]]

    def mean():
        return [sum(points[i][j] for i in left) / len(left) for j in range(len(points[0]))]

    while len(left) >= 3 * k:
        r = far(mean())
        take(r)
        take(far(points[r]))
    if len(left) >= 2 * k:
        take(far(mean()))
    if left:
        groups.append(set(left))
    return groups


# powers of two and few items: sums are exact, so that ties are the same ones
coordinates = st.integers(-8, 8).map(float)


@STEADY
@given(st.lists(st.tuples(coordinates, coordinates), min_size=2, max_size=30, unique=True), st.integers(2, 4))
def test_mdav_as_plain(points, k) -> None:
    assume(len(points) >= k)
    found = mdav(np.array(points), np.ones(len(points), dtype=np.int64), k)
    groups = [set(np.flatnonzero(found == g).tolist()) for g in range(found.max() + 1)]
    assert all(len(g) >= k for g in groups)
    expected = plain_mdav(points, k)
    if groups != expected:  # only means that are equal but for rounding may decide otherwise
        assert sorted(map(len, groups)) == sorted(map(len, expected))
        assert rounding_may_decide(points, k)


def rounding_may_decide(points, k) -> bool:
    """Whether two points are equally far from the mean of some rest that plain MDAV looks at."""
    left = set(range(len(points)))
    for group in plain_mdav(points, k):
        mean = [sum(points[i][j] for i in left) / len(left) for j in range(2)]
        away = sorted((squared(points[i], mean) for i in left), reverse=True)
        if len(away) > 1 and away[0] - away[1] < 1e-9:
            return True
        left -= group
    return False


@STEADY
@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 4)), min_size=1, max_size=10, unique_by=lambda p: p[0]),
    st.integers(1, 4),
)
def test_one_axis_is_optimal(items, k) -> None:
    points, weights = (np.array(c) for c in zip(*sorted(items), strict=True))
    assume(weights.sum() >= k)
    found = grouped(points[:, None].astype(float), weights, k, 100).group
    some = weights > 0
    cost, n = loss(points[some], weights[some], found[some]), some.sum()
    least = np.inf
    for size in range(n):
        for cuts in combinations(range(1, n), size):
            division = np.searchsorted(cuts, np.arange(n), side="right")
            if np.bincount(division, weights[some]).min() >= k:
                least = min(least, loss(points[some], weights[some], division))
    assert cost == pytest.approx(least, abs=1e-9)
    assert np.bincount(found, weights).min() >= k


def loss(points, weights, group) -> float:
    total = np.bincount(group, weights)
    mean = np.bincount(group, weights * points) / np.maximum(total, 1)
    return float((weights * (points - mean[group]) ** 2).sum())


@STEADY
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 6)), min_size=1, max_size=40), st.data())
def test_every_group_has_k_records(rows, data) -> None:
    cells = np.array(rows)
    k, most = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 40))
    assume(cells[:, 2].sum() >= k)
    found = grouped(cells[:, :2].astype(float), cells[:, 2], k, most)
    assert found.group.min() >= 0
    assert found.size == found.group.max() + 1
    assert np.bincount(found.group, cells[:, 2], found.size).min() >= k


def test_slices_follow_the_longest_axis() -> None:
    points = np.column_stack([np.arange(100.0), np.tile([0.0, 1.0], 50)])
    weights = np.ones(100, dtype=np.int64)
    assert abs(axis(points, weights)[0]) > 0.99
    parts = slices(points, weights, 3, 30)
    assert [len(p) for p in parts] == [25] * 4
    assert all((np.diff(p) == 1).all() for p in parts)


def test_too_few_records() -> None:
    with pytest.raises(ValueError, match="fewer records"):
        grouped(np.zeros((2, 1)), np.ones(2, dtype=np.int64), 3, 10)
