"""Databases from tables and from transactions."""

from __future__ import annotations

from collections import Counter

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.mining.itemsets.database import ItemDatabase, weight_common, weight_planes
from ppdm_flow.mining.itemsets.tabular import tabular
from ppdm_flow.tables.counts import count
from ppdm_flow.tables.table import Table


@numba.njit
def weigh(rows, planes, ends):
    return weight_common(rows, rows, planes, ends)


CELLS = st.sampled_from(["a", "b", "c", None, "⊥"])


@given(st.lists(st.frozensets(st.integers(0, 200), max_size=90), min_size=1, max_size=20))
def test_transactions(rows):
    database = ItemDatabase.of_lists(rows, 201)
    assert database.rows == len(rows)
    back = Counter()
    for cells, weight in zip(database.cells, database.weights, strict=True):
        items = [i for i in cells if i >= 0]
        assert all(cells[database.place[i]] == i for i in items)
        back[frozenset(items)] += weight
    assert back == Counter(rows)
    assert database.supports.tolist() == [sum(i in row for row in rows) for i in range(201)]
    assert (np.diff(database.weights) <= 0).all()


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=30))
def test_tables(rows):
    found = tabular(count(Table.of({"x": [r[0] for r in rows], "y": [r[1] for r in rows]}), ["x", "y"]))
    database = found.database
    assert database.cells.shape[1] == 2
    assert database.rows == len(rows)
    names = {-1: None, -2: "⊥"} | dict(enumerate(sorted({v for r in rows for v in r if v and v != "⊥"})))
    wanted = Counter((place, value) for row in rows for place, value in enumerate(row))
    columns = [sorted({r[p] for r in rows if r[p] and r[p] != "⊥"}) for p in range(2)]
    got = {}
    for item, support in enumerate(database.supports.tolist()):
        place, code = int(found.attribute[item]), int(found.code[item])
        got[place, columns[place][code] if code >= 0 else names[code]] = support
    assert got == wanted
    assert (np.diff(database.supports) <= 0).all()


@given(st.lists(st.integers(1, 300), min_size=1, max_size=200))
def test_weights_as_bits(weights):
    weights = np.sort(np.array(weights, dtype=np.int64))[::-1].copy()
    planes, ends = weight_planes(weights)
    chosen = np.zeros(planes.shape[1], dtype=np.uint64)
    rows = np.arange(0, len(weights), 3)
    np.bitwise_or.at(chosen, rows >> 6, np.uint64(1) << (rows & 63).astype(np.uint64))
    assert weigh(chosen, planes, ends) == weights[rows].sum()


def test_what_cannot_be_a_database():
    with pytest.raises(ValueError, match="without rows"):
        ItemDatabase.of_lists([])
    with pytest.raises(ValueError, match="alphabet"):
        ItemDatabase.of_lists([[3]], 3)
    with pytest.raises(ValueError, match="below 1"):
        ItemDatabase.of_cells(
            np.zeros((1, 1), dtype=np.int32), np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int64)
        )
