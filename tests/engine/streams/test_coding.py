"""Columns without the categories that do not occur."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.engine.streams.coding import without_unused
from ppdm_flow.tables.column import MISSING, SUPPRESSED, Column

NAMES = pa.array(["d", "a", "c", "b", "e", "é", ""])


@given(codes=st.lists(st.integers(SUPPRESSED, len(NAMES) - 1), max_size=2 * len(NAMES)))
def test_only_what_occurs_stays_in_its_order(codes):
    column = Column(np.array(codes, dtype=np.int32), NAMES)
    kept = without_unused(column)
    assert kept.texts() == column.texts()
    assert kept.codes.dtype == np.int32
    assert kept.categories.to_pylist() == [NAMES[c].as_py() for c in sorted({c for c in codes if c >= 0})]


@pytest.mark.parametrize("codes", [[], [MISSING], [SUPPRESSED, MISSING, SUPPRESSED]])
def test_nothing_may_occur(codes):
    kept = without_unused(Column(np.array(codes, dtype=np.int32), NAMES))
    assert kept.codes.tolist() == codes
    assert len(kept.categories) == 0
