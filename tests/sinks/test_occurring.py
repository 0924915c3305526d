"""The dictionary of a row group: what occurs, in the order of rows, whichever way it is found."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.sinks.parquet import algorithm

CELLS = st.lists(st.sampled_from(["a", "b", "c", "", None]), max_size=12)
NAMES = st.permutations(["a", "b", "c", "", "never"])


@given(pieces=st.lists(st.tuples(CELLS, NAMES), min_size=1, max_size=4), head=st.integers(1, 9), few=st.integers(0, 9))
def test_nothing_but_what_occurs_in_the_order_of_rows(pieces, head, few):
    arrays = [
        pa.DictionaryArray.from_arrays(
            pa.array([None if c is None else names.index(c) for c in cells], pa.int32()), names
        )
        for cells, names in pieces
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(algorithm, "_HEAD", head)
        patch.setattr(algorithm, "_BYTE", few)
        found = algorithm._occurring(arrays)
    rows = [cell for cells, _ in pieces for cell in cells]
    assert found.to_pylist() == rows
    assert found.dictionary.to_pylist() == list(dict.fromkeys(cell for cell in rows if cell is not None))
    assert found.indices.null_count == rows.count(None)
