"""Bytes counted by sorting, against NumPy's own count."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.tables import counts as module
from ppdm_flow.tables.counts import byte_counts


@given(octets=st.binary(max_size=60), few=st.sampled_from([0, 10, 1 << 13]))
def test_few_bytes_and_many(octets, few):
    array = np.frombuffer(octets, dtype=np.uint8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FEW", few)
        counts = byte_counts(array)
    assert counts.dtype == np.int64
    assert counts.tolist() == [octets.count(value) for value in range(256)]


@pytest.mark.parametrize("low", [0, 200, 255])
def test_as_many_as_a_partition_has(low):
    array = np.random.default_rng(3).integers(low, 256, 100_000).astype(np.uint8)
    before = array.copy()
    assert (byte_counts(array) == np.bincount(array, minlength=256)).all()
    assert (array == before).all()
