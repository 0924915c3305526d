"""The largest matching of rows and values: one flow for all classes, one for each, and trying everything."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tiers import examples

from ppdm_flow.mining.exposure.query import largest_matching_sql
from ppdm_flow.requirements.l_diversity.algorithm import matched

CLASSES = st.lists(
    st.lists(st.tuples(st.integers(1, 3), st.sets(st.integers(0, 4), min_size=1, max_size=4)), min_size=1, max_size=3),
    min_size=1,
    max_size=4,
)


def by_trying(shown: list[tuple[int, set[int]]]) -> int:
    """Give values to rows in every order."""
    rows = [values for count, values in shown for _ in range(count)]
    best = 0
    for order in permutations(range(5)):
        taken = 0
        left = list(rows)
        for value in order:
            fitting = min(
                (i for i, values in enumerate(left) if value in values), key=lambda i: len(left[i]), default=None
            )
            if fitting is not None:
                left.pop(fitting)
                taken += 1
        best = max(best, taken)
    return best


@examples(20)
@given(CLASSES)
def test_three_ways_agree(classes):
    shown = [(number, *cell) for number, cells in enumerate(classes) for cell in cells]
    owner, rows = (np.array([cell[place] for cell in shown], dtype=np.int64) for place in (0, 1))
    behind = csr_array(np.array([[value in values for value in range(5)] for *_, values in shown], dtype=np.float64))
    found = matched(owner, rows, behind, len(classes)).tolist()
    assert found == [largest_matching_sql(shown) for shown in classes]
    assert found == [by_trying(shown) for shown in classes]
