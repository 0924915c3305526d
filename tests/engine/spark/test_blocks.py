"""Blocks of the sort: rows that are cut and put together again come as from one sort by (key, row number)."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.errors import RunError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.engine.local.partitions import order_of
from ppdm_flow.engine.local.spilling import FixedLengthPiece
from ppdm_flow.engine.local.spilling import SpilledBlock as Arrays
from ppdm_flow.engine.spark import engine
from ppdm_flow.engine.spark.engine import cut, in_order
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.sets import Baskets
from ppdm_flow.tables.table import Table

KEYS = st.one_of(st.integers(0, 3), st.integers(0, (1 << 64) - 1), st.sampled_from([0, 1 << 63, (1 << 64) - 1]))
CELL = st.sampled_from(["a", "b", "c", None, "⊥"])
ROW = st.tuples(KEYS, CELL, st.integers(-5, 300), st.sets(st.sampled_from("xyz")))
FRAGMENT = st.lists(ROW, min_size=1, max_size=9)


def table_of(rows, first: int) -> Table:
    cells = Table.of({"cell": [cell for _, cell, _, _ in rows]}, first)
    numbers = NumericColumn(np.array([n for _, _, n, _ in rows], dtype=np.int64), AttributeType.INTEGER)
    sets = Baskets.of([sorted(items) for *_, items in rows])
    return Table({**cells.columns, "number": numbers}, cells.rows, {"items": sets})


def content(table: Table):
    lists = [sorted(items) for items in table.sets["items"].texts()]
    return list(zip(table["cell"].texts(), table["number"].texts(), lists, strict=True))


@examples(20)
@given(
    fragments=st.lists(FRAGMENT, min_size=1, max_size=4),
    bits=st.integers(0, 9),
    together=st.integers(1, 7),
    backwards=st.booleans(),
)
def test_parts_one_after_the_other_are_one_sort(fragments, bits, together, backwards):
    parts: dict[int, list[engine.RowBlock]] = {}
    plain, first = [], 0
    for rows in fragments:
        table, keys = table_of(rows, first), np.array([key for key, *_ in rows], dtype=np.uint64)
        plain += zip(keys.tolist(), table.rows.tolist(), content(table), strict=True)
        if backwards:  # a step may hand over rows in any order
            table, keys = table.take(np.arange(len(table))[::-1]), keys[::-1]
        for number, block in cut(table, keys, bits):
            parts.setdefault(number, []).append(pickle.loads(pickle.dumps(block, protocol=5)))
        first += len(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_TOGETHER", together)
        tables = [t for number in sorted(parts) for t in in_order(parts[number], ["cell", "number", "items"])]
    assert max(map(len, tables)) <= together
    assert [row for table in tables for row in content(table)] == [each for _, _, each in sorted(plain, key=by_key)]


def by_key(row):
    return row[0], row[1]


def test_numbers_in_one_fragment_and_labels_in_another_are_an_error():
    rows = [(1, "a", 4, set())]
    keys = np.array([1], dtype=np.uint64)
    numbers = table_of(rows, 0).select(["number"])
    labels = Table.of({"number": ["4"]}, 1)
    sent = [block for table in (numbers, labels) for _, block in cut(table, keys, 0)]
    with pytest.raises(RunError, match="numbers and labels in one column"):
        list(in_order(sent, ["number"]))


@given(keys=st.lists(KEYS, min_size=1, max_size=40))
def test_the_order_is_the_plain_one(keys):
    found = np.array(keys, dtype=np.uint64)
    numbers = np.arange(len(keys))[::-1].copy()
    order = order_of(Arrays((FixedLengthPiece.of(found), FixedLengthPiece.of(numbers))))
    assert order.tolist() == sorted(range(len(keys)), key=lambda i: (keys[i], numbers[i]))


def test_the_order_of_many_rows_is_the_plain_one():
    draw = np.random.default_rng(5)
    for low, high in ((0, 1 << 63), (7 << 40, 8 << 40), (0, 9)):
        keys = draw.integers(low, high, 100_000)
        block = Arrays((FixedLengthPiece.of(keys.astype(np.uint64)), FixedLengthPiece.of(np.arange(len(keys)))))
        assert (order_of(block) == np.argsort(keys, kind="stable")).all()
