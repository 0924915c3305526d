"""The largest matching of rows and values: the compiled search, a maximum flow, and trying everything."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.mining.exposure.matching_query import largest_matching
from ppdm_flow.requirements.l_diversity.matching_kernel import matched

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


@examples(60)
@given(CLASSES)
def test_three_ways_agree(classes):
    begins, cell, rows, first, behind = [0], [], [], [0], []
    for shown in classes:
        for count, values in shown:
            cell.append(len(cell))
            rows.append(count)
            behind.extend(sorted(values))
            first.append(len(behind))
        begins.append(len(cell))
    arrays = (np.array(a, dtype=np.int64) for a in (begins, cell, rows, first, behind))
    found = matched(*arrays, 5).tolist()
    assert found == [largest_matching(shown) for shown in classes]
    assert found == [by_trying(shown) for shown in classes]
