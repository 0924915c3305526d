"""Set-valued columns: three forms, held against Python's own sets."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.tables.sets import Baskets, Expansion, PackedSets, SeededSets, gathered, stacked
from ppdm_flow.tables.table import Table, concat

_ITEMS = [f"i{n:03d}" for n in range(150)]
_ROWS = st.lists(st.sets(st.sampled_from(_ITEMS), max_size=6), max_size=12)
_QUICK = examples(20)


def _sets(column: Baskets | PackedSets) -> list[set[str]]:
    baskets = column.baskets() if isinstance(column, PackedSets) else column
    return [set(row) for row in baskets.texts()]


@given(rows=_ROWS, data=st.data())
@_QUICK
def test_taking_rows_is_what_python_takes(rows: list[set[str]], data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, max(0, len(rows) - 1)), max_size=8)) if rows else []
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))), dtype=bool)
    for column in (Baskets.of(rows), PackedSets.of(Baskets.of(rows))):
        assert _sets(column.take(np.array(places, dtype=np.int64))) == [rows[p] for p in places]
        assert _sets(column.take(mask)) == [r for r, m in zip(rows, mask, strict=True) if m]
        assert _sets(column.take(slice(1, 5))) == rows[1:5]
        assert column.take(mask).valid()


@given(rows=_ROWS, more=_ROWS, seed=st.integers(0, 99))
@_QUICK
def test_alphabets_change_and_sets_do_not(rows: list[set[str]], more: list[set[str]], seed: int) -> None:
    wider = list(np.random.default_rng(seed).permutation(_ITEMS))
    column = Baskets.of(rows)
    alphabet = pa.array(wider, pa.string())
    for found in (column.onto(alphabet), PackedSets.of(column).onto(alphabet)):
        assert _sets(found) == rows
        assert found.valid()
        assert found.categories.equals(alphabet)
        assert _sets(found.onto(column.categories)) == rows
    assert column.onto(alphabet).compact().categories.equals(column.categories)
    both = stacked([column, Baskets.of(more)])
    assert isinstance(both, Baskets)
    assert _sets(both) == rows + more
    assert both.valid()
    bits = stacked([PackedSets.of(column), PackedSets.of(Baskets.of(more))])
    assert isinstance(bits, PackedSets)
    assert _sets(bits) == rows + more


def test_an_item_in_use_cannot_leave_the_alphabet() -> None:
    column = Baskets.of([["a", "b"]])
    for form in (column, PackedSets.of(column)):
        with pytest.raises(KeyError):
            form.onto(pa.array(["a"]))


def test_items_merge_into_one() -> None:
    column = Baskets.of([["a", "b", "c"], [], ["c"], ["b"]])
    merged = column.mapped(np.array([1, 1, 0], dtype=np.int32), pa.array(["x", "y"]))
    assert merged.texts() == [["x", "y"], [], ["x"], ["y"]]
    assert column.mapped(np.array([0, -1, -1], dtype=np.int32), pa.array(["x"])).texts() == [["x"], [], [], []]


def test_pairs_in_any_order_and_repeated_items() -> None:
    rows, items = np.array([2, 0, 2, 0, 2]), np.array([1, 0, 0, 0, 1])
    baskets, twice = gathered(rows, items, 3, pa.array(["a", "b"]))
    assert baskets.texts() == [["a"], [], ["a", "b"]]
    assert twice.tolist() == [True, False, True]


def test_bits_lie_where_the_contract_says() -> None:
    packed = PackedSets.of(Baskets.of([["i000", "i063"], ["i064", "i149"]], _ITEMS))
    assert packed.words.shape == (2, 3)
    assert packed.words[0].tolist() == [1 | 1 << 63, 0, 0]
    assert packed.words[1].tolist() == [0, 1, 1 << (149 - 128)]
    assert packed.sizes.tolist() == [2, 2]
    bad = PackedSets(np.full((1, 3), 1 << 60, dtype=np.uint64), np.array([1], dtype=np.int32), packed.categories)
    assert not bad.valid()


def test_seeds_keep_their_alphabet() -> None:
    expansion = Expansion((0.0, 0.125, 0.25), spare=1)
    sizes = np.array([1, 2], dtype=np.int32)
    column = SeededSets(np.array([[5, 6, 0], [7, 8, 9]], dtype=np.uint16), sizes, pa.array(["a", "b"]), expansion)
    assert column.valid()
    assert stacked([column, column]).take(np.array([3])).seeds.tolist() == [[7, 8, 9]]  # type: ignore[union-attr]
    assert not SeededSets(column.seeds, sizes[::-1], column.categories, expansion).valid()
    assert not SeededSets(column.seeds, sizes + 1, column.categories, expansion).valid()
    assert not SeededSets(column.seeds[:1] * 0, sizes[:1] * 0, column.categories, expansion).valid()
    with pytest.raises(KeyError):
        column.onto(pa.array(["a", "c"]))
    other = Expansion((0.0, 0.5, 0.5), spare=1)
    with pytest.raises(ValueError, match="one alphabet"):
        stacked([column, SeededSets(column.seeds, column.sizes, column.categories, other)])
    for wrong in (1.5, 0.1, 1.0):
        with pytest.raises(ValueError, match="multiples"):
            Expansion((wrong,))
    with pytest.raises(ValueError, match="do not fit"):
        SeededSets(column.seeds[:, :2], sizes, column.categories, expansion)


def test_tables_carry_sets_along() -> None:
    table = Table.of({"age": ["1", "2", None]}).resettled({"basket": Baskets.of([["a"], ["b", "c"], []])})
    assert table.names == ("age", "basket")
    assert table.select(["basket"]).names == ("basket",)
    taken = table.take(np.array([2, 1]))
    both = concat([taken, table])
    basket = both.sets["basket"]
    assert isinstance(basket, Baskets)
    assert basket.texts() == [[], ["b", "c"], ["a"], ["b", "c"], []]
    assert table.replaced({"age": table["age"]}).sets.keys() == {"basket"}
    with pytest.raises(ValueError, match="partitions must have the same columns"):
        concat([table, table.select(["age"])])
    with pytest.raises(ValueError, match="cells"):
        Table({}, np.zeros(2, dtype=np.int64), {"basket": Baskets.of([])})


def test_shapes_that_do_not_fit_are_refused() -> None:
    names = pa.array(["a", "b"])
    with pytest.raises(ValueError, match="offsets"):
        Baskets(np.array([0, 1]), np.zeros(2, dtype=np.int32), names)
    with pytest.raises(ValueError, match="fit"):
        PackedSets(np.zeros((1, 2), dtype=np.uint64), np.zeros(1, dtype=np.int32), names)
    assert not Baskets(np.array([0, 2]), np.array([1, 0], dtype=np.int32), names).valid()
    assert not Baskets(np.array([0, 1]), np.array([2], dtype=np.int32), names).valid()
    assert Baskets(np.array([0, 1, 1, 2]), np.array([1, 0], dtype=np.int32), names).valid()
