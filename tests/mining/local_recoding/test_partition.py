"""Partitions against plain recursion, and the models of every class."""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.mining.local_recoding.kernels import edges, partition_sizes, walked
from ppdm_flow.mining.local_recoding.partition import SplitOptions, WeightedItems, partition
from ppdm_flow.mining.local_recoding.scales import OrderedScale, RecodedForm, flat
from ppdm_flow.requirements.alpha_k.algorithm import AlphaBounded
from ppdm_flow.requirements.l_diversity.algorithm import DistinctDiverse, EntropyDiverse
from ppdm_flow.requirements.t_closeness.algorithm import CloseClass

_SPEC = importlib.util.spec_from_file_location("plain_partition", Path(__file__).with_name("plain.py"))
plain = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(plain)
STEADY = examples(45)


def tree(groups):
    """Two levels above the leaves; ``groups`` are the sizes of the first."""
    size = sum(groups)
    middle = [g for g, n in enumerate(groups) for _ in range(n)]
    return [list(range(size)), middle, [0] * size]


def scale_of(form, size, extra, marks):
    if form == "interval":
        return OrderedScale(RecodedForm.INTERVAL, size, marks, position=np.array(extra, dtype=float))
    if form == "set":
        return OrderedScale(RecodedForm.SET, size, marks)
    covered = [np.bincount(m)[m] for m in extra]
    prices = np.stack([(c - 1) / max(1, size - 1) for c in covered])
    return OrderedScale(RecodedForm.ANCESTOR, size, marks, maps=np.array(extra, dtype=np.int64), prices=prices)


@st.composite
def scales(draw):
    form, marks = draw(st.sampled_from(["interval", "set", "ancestor"])), draw(st.integers(0, 2))
    if form == "ancestor":
        extra = tree(draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
        return (form, len(extra[0]), extra), marks
    size = draw(st.integers(1, 5))
    if form == "set":
        return (form, size, size + marks), marks
    steps = draw(st.lists(st.integers(1, 3), min_size=size, max_size=size))
    position = np.cumsum(steps) - steps[0]
    return (form, size, (position / max(1, position[-1])).tolist()), marks


@st.composite
def tables(draw):
    found = draw(st.lists(scales(), min_size=1, max_size=3))
    row = st.tuples(*(st.integers(0, own[1] + marks - 1) for own, marks in found))
    rows = draw(st.lists(row, min_size=1, max_size=25))
    return rows, [own for own, _ in found], tuple(scale_of(*own, marks) for own, marks in found)


@STEADY
@given(tables(), st.integers(1, 4), st.booleans(), st.booleans(), st.data())
def test_the_same_classes_as_plain_recursion(table, k, by_gain, relaxed, drawn) -> None:
    rows, plainly, own = table
    assume(len(rows) >= k)
    records = [(r, i) for i, r in enumerate(rows)]
    importance = [drawn.draw(st.sampled_from([1.0, 1.0, 0.3, 7.0])) for _ in own]
    own = tuple(replace(scale, importance=weight) for scale, weight in zip(own, importance, strict=True))
    expected = plain.mondrian(records, plainly, k, by_gain=by_gain, relaxed=relaxed, importance=importance)
    if relaxed:
        codes, weights, inverse = np.array(rows, dtype=np.int32), np.ones(len(rows), dtype=np.int64), range(len(rows))
    else:
        codes, inverse, weights = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    items = WeightedItems(np.ascontiguousarray(codes, dtype=np.int32), np.asarray(weights), own)
    found = partition(items, SplitOptions(k, by_gain, relaxed))
    groups = defaultdict(list)
    for record, item in enumerate(np.ravel(inverse)):
        groups[int(found.classes[item])].append(record)
    assert sorted(groups.values()) == expected
    if not relaxed:
        np.testing.assert_array_equal(walked(items.codes, found.cuts, found.after), found.classes)


@STEADY
@given(tables(), st.integers(1, 3), st.sampled_from(["l", "t", "alpha", "entropy"]), st.booleans(), st.data())
def test_every_class_keeps_the_models(table, k, model, relaxed, data) -> None:
    rows, _, own = table
    sensitive = data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    asked = {
        "l": DistinctDiverse(0, 2),
        "t": CloseClass(0, 0.3),
        "alpha": AlphaBounded(0, 0.6),
        "entropy": EntropyDiverse(0, 1.5),
    }[model]
    cells, weights = np.unique(np.column_stack([rows, sensitive]), axis=0, return_counts=True)
    if relaxed:
        cells, weights = np.column_stack([rows, sensitive]), np.ones(len(rows), dtype=np.int64)
    codes = np.ascontiguousarray(cells[:, :-1], dtype=np.int32)
    items = WeightedItems(codes, weights, own, (np.ascontiguousarray(cells[:, -1], dtype=np.int32),), (3,))
    found = partition(items, SplitOptions(k, True, relaxed), [asked])
    base = np.bincount(sensitive, minlength=3) / len(rows)
    if found is None:
        assert len(rows) < k or not keeps(model, np.bincount(sensitive, minlength=3), base)
        return
    for c in range(len(found)):
        inside = found.classes == c
        counts = np.bincount(cells[inside, -1], weights[inside], 3)
        assert counts.sum() >= k
        assert keeps(model, counts, base)


def keeps(model, counts, base) -> bool:
    share = counts / counts.sum()
    some = share[share > 0]
    return {
        "l": np.count_nonzero(counts) >= 2,
        "t": np.abs(share - base).sum() / 2 <= 0.3 + 1e-9,
        "alpha": share.max() <= 0.6 + 1e-9,
        "entropy": np.exp(-(some * np.log(some)).sum()) >= 1.5 - 1e-9,
    }[model]


def test_items_too_heavy_to_divide_stay_together() -> None:
    items = WeightedItems(
        np.array([[0], [0], [1]], dtype=np.int32), np.array([9, 2, 1]), (OrderedScale(RecodedForm.SET, 2),)
    )
    found = partition(items, SplitOptions(5, relaxed=True))
    assert partition_sizes(items.weights, found.order, found.begins, found.ends).min() >= 5


def test_what_no_class_can_keep_is_refused() -> None:
    items = WeightedItems(np.array([[0], [1]], dtype=np.int32), np.array([2, 2]), (OrderedScale(RecodedForm.SET, 2),))
    assert partition(items, SplitOptions(5)) is None
    with pytest.raises(ValueError, match="differ in length"):
        WeightedItems(items.codes, items.weights[:1], items.scales)


def test_records_without_weight_are_covered_by_their_label() -> None:
    items = WeightedItems(
        np.array([[0], [1], [4]], dtype=np.int32), np.array([3, 3, 0]), (OrderedScale(RecodedForm.SET, 5),)
    )
    found = partition(items, SplitOptions(3))
    low, high, cost = edges(items.codes, found.order, found.begins, found.ends, flat(items.scales))
    at = found.classes[2]
    assert low[at, 0] <= 4 <= high[at, 0]
    assert cost[at, 0] > 0


@pytest.mark.parametrize("form", ["interval", "set", "ancestor"])
@pytest.mark.parametrize("by_gain", [True, False])
def test_important_attributes_are_cut_rather_than_others(form, by_gain) -> None:
    """Of two attributes alike, the labels of the important one are narrower, and the other's wider."""
    groups = (2, 3, 3)
    extra = {"interval": [i / 7 for i in range(8)], "set": 8, "ancestor": tree(groups)}[form]
    lost = {weight: np.zeros(2) for weight in (1.0, 20.0)}
    for seed in range(8):
        codes = np.random.default_rng(seed).integers(0, 8, (60, 2)).astype(np.int32)
        for weight, sums in lost.items():
            first, second = (replace(scale_of(form, 8, extra, 0), importance=w) for w in (weight, 1.0))
            items = WeightedItems(codes, np.ones(60, dtype=np.int64), (first, second))
            found = partition(items, SplitOptions(5, by_gain))
            _, _, cost = edges(codes, found.order, found.begins, found.ends, flat((first, second)))
            sums += (found.ends - found.begins) @ cost
    assert lost[20.0][0] < 0.8 * lost[1.0][0]
    assert lost[20.0][1] > lost[1.0][1]
