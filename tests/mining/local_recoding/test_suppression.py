"""Local suppression against a plain one."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.mining.local_recoding.suppression import HOLE, MOST_SETS, sets, suppressed

STEADY = examples(60)


def plain(rows, k, costs):
    """``rows`` of codes, one a record. Returns the released rows, None for those that are lost."""
    d = len(costs)
    every = chain.from_iterable(combinations(range(d), n) for n in range(d + 1))
    out = [None] * len(rows)
    for chosen in sorted(every, key=lambda s: (sum(costs[j] for j in s), len(s), s)):
        trial = {
            i: tuple(HOLE if j in chosen else c for j, c in enumerate(row))
            for i, row in enumerate(rows)
            if out[i] is None
        }
        size = Counter(trial.values()) + Counter(r for r in out if r is not None)
        for i, row in trial.items():
            if size[row] >= k:
                out[i] = row
    return out


@STEADY
@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_as_plain(d, k, data) -> None:
    rows = data.draw(st.lists(st.tuples(*[st.integers(0, 3)] * d), min_size=1, max_size=25))
    costs = data.draw(st.lists(st.sampled_from([0.5, 1.0, 4.0]), min_size=d, max_size=d))
    distinct, inverse, weights = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    found = suppressed(distinct.astype(np.int64), weights, k, costs)
    inverse = np.ravel(inverse)
    released = [None if found.lost[i] else tuple(found.codes[i].tolist()) for i in inverse]
    assert released == plain(rows, k, costs)
    assert all(n >= k for n in Counter(r for r in released if r is not None).values())
    size = Counter(rows)
    assert [bool(found.risky[i]) for i in inverse] == [size[r] < k for r in rows]


def test_important_attributes_are_spared() -> None:
    rows = np.array([[1, 1], [1, 2], [2, 1], [2, 2]])
    ones = np.ones(4, dtype=np.int64)
    assert (suppressed(rows, ones, 2, [1.0, 5.0]).codes[:, 0] == HOLE).all()
    assert (suppressed(rows, ones, 2, [5.0, 1.0]).codes[:, 1] == HOLE).all()


def test_many_attributes_have_fewer_sets() -> None:
    found = sets([1.0] * 30)
    assert len(found) <= MOST_SETS + 1
    assert found[-1] == list(range(30))
    assert len(sets([1.0] * 12)) == 4095
