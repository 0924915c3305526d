"""The people on either side of each cut, against plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.mining.local_recoding.kernels import NONE, below_labels, count_people, count_records, held_people, room

ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6)), min_size=1, max_size=25)
"""Of each row: the person and its value."""


def people(rows):
    return len({p for p, _ in rows})


@examples(60)
@given(rows=ROWS, k=st.integers(1, 4), relaxed=st.booleans())
def test_people_by_value(rows, k, relaxed):
    rows = sorted(rows, key=lambda r: r[0])
    codes = np.array([[v] for _, v in rows], dtype=np.int32)
    persons = np.array([p for p, _ in rows])
    values = np.unique(codes)
    index, crowds = np.zeros(7, dtype=np.int64), room(7)
    ones, every = np.ones(len(rows), dtype=np.int64), np.arange(len(rows))
    count_people(codes, ones, every, persons, 0, values.astype(np.int64), index, k, relaxed, crowds)
    assert not index.any()
    for i, value in enumerate(values):
        left, right = ([r for r in rows if r[1] <= value], [r for r in rows if r[1] > value])
        assert (crowds.left[i], crowds.right[i]) == (people(left), people(right))
        before, here = [r for r in rows if r[1] < value], [r for r in rows if r[1] == value]
        good = [
            len(before) + t
            for t in range(1, len(here))
            if people(before + here[:t]) >= k and people(here[t:] + right) >= k
        ]
        expected = (good[0], good[-1]) if good and relaxed else (NONE, NONE)
        assert (crowds.least[i], crowds.most[i]) == expected


@examples(30)
@given(values=st.lists(st.integers(0, 6), min_size=1, max_size=25), k=st.integers(1, 4))
def test_one_row_a_person_is_as_records(values, k):
    codes = np.array([[v] for v in values], dtype=np.int32)
    value, weight = np.unique(values, return_counts=True)
    both = [room(7), room(7)]
    every, index = np.arange(len(values)), np.zeros(7, dtype=np.int64)
    ones = np.ones(len(values), dtype=np.int64)
    count_people(codes, ones, every, every, 0, value.astype(np.int64), index, k, True, both[0])
    count_records(weight.astype(np.int64), k, both[1])
    for i, n in enumerate(weight):
        assert (both[0].left[i], both[0].right[i]) == (both[1].left[i], both[1].right[i])
        before = int(weight[:i].sum())
        tried = [{t for t in (c.least[i], c.most[i]) if before < t < before + n} for c in both]
        assert tried[0] == tried[1]


@examples(30)
@given(rows=ROWS)
def test_people_below_labels(rows):
    rows = sorted(rows, key=lambda r: r[0])
    codes = np.array([[v] for _, v in rows], dtype=np.int32)
    persons = np.array([p for p, _ in rows])
    value, weight = np.unique(codes, return_counts=True)
    group = np.unique(value // 3, return_inverse=True)[1].astype(np.int64)
    groups = int(group.max()) + 1
    inside, outside = np.zeros(7, dtype=np.int64), np.zeros(7, dtype=np.int64)
    index, every = np.zeros(7, dtype=np.int64), np.arange(len(rows))
    told = group, groups, weight.astype(np.int64), index, value.astype(np.int64), inside, outside
    below_labels(codes, every, persons, 0, *told)
    own = {int(v): int(g) for v, g in zip(value, group, strict=True)}
    for g in range(groups):
        assert inside[g] == people([r for r in rows if own[r[1]] == g])
        assert outside[g] == people([r for r in rows if own[r[1]] != g])
    ends = np.array([len(rows)])
    assert held_people(persons, every, ends - len(rows), ends).tolist() == [people(rows)]
