"""Rows found among known ones, for any widths."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_flow.mining.recoding.kernels import places_of


@pytest.mark.parametrize("width", [3, 2**31 - 2])
def test_places(width) -> None:
    rng = np.random.default_rng(1)
    known = np.unique(rng.integers(0, 3, (40, 4)), axis=0).astype(np.int32)
    known[known == 2] = width - 1
    rows = np.concatenate([known[::-1], np.full((1, 4), -1)]).astype(np.int32)
    expected = [*range(len(known) - 1, -1, -1), -1]
    assert places_of(rows, known).tolist() == expected
    assert places_of(rows, known[:0]).tolist() == [-1] * len(rows)
