"""Numbers by hashing, against numbers by sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.tables.numbering import joined, numbered

TEXTS = st.lists(st.sampled_from([b"a", b"b", b"ab", b"longer", b""]), max_size=9)
CODES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=30)


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_equal_texts_of_all_lists_have_one_number(lists: list[list[bytes]]) -> None:
    codes, distinct = numbered(*(np.array(each, dtype=f"S{2 + i}") for i, each in enumerate(lists)))
    whole = [text[: 2 + i] for i, each in enumerate(lists) for text in each]
    assert [len(c) for c in codes] == [len(each) for each in lists]
    assert distinct[np.concatenate(codes)].tolist() == whole
    assert distinct.tolist() == list(dict.fromkeys(whole))


@pytest.mark.parametrize("factor", [1, 1000])
@given(CODES)
def test_pairs_are_numbered_in_their_order(factor: int, pairs: list[tuple[int, int]]) -> None:
    one, other = (np.array([p[side] * factor for p in pairs], dtype=np.int64) for side in (0, 1))
    every = sorted(set(pairs))
    assert joined(one, other).tolist() == [every.index(p) for p in pairs]
