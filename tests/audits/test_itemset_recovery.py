"""What a recipient finds: against a plain count of both sides, and where there is nothing to find."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from pydantic import ValidationError
from quest import Quest, quest

from ppdm_flow.audits.discoverable_support.algorithm import DiscoverableSupportAudit
from ppdm_flow.audits.discoverable_support.spec import SPEC, DiscoverableSupportParams
from ppdm_flow.audits.itemset_recovery.algorithm import ItemsetRecoveryAudit, buckets
from ppdm_flow.audits.itemset_recovery.spec import ItemsetRecoveryParams
from ppdm_flow.audits.records.attributes import named_sets
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.roles import Role
from ppdm_flow.core.supports import SupportBound
from ppdm_flow.mining.transactions.discoverable import lowest_supports
from ppdm_flow.mining.transactions.operators import TransactionOperator, document
from ppdm_flow.mining.transactions.randomize import randomize, seeded
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.set_operator import SetOperator
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.sets import Baskets, SetColumn
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.view import InMemoryView

SIZES = range(1, 7)


def view(sets: SetColumn, name: str = "basket") -> InMemoryView:
    table = Table({}, np.arange(len(sets)), {name: sets})
    return InMemoryView.of(table, {name: Role.ITEMS}, partition_rows=7000)


def context(operator: TransactionOperator | None, **inputs: InMemoryView) -> AuditContext:
    facts = {"basket": AttributeFacts("basket", Role.ITEMS, source="basket")}
    known = {} if operator is None else {"basket": SetOperator("basket", document(operator), "mix")}
    return AuditContext("public", facts, facts, set_operators=known, operator_inputs=inputs)


@pytest.fixture(scope="module")
def data() -> Baskets:
    (found,) = quest(Quest(20_000, 30, 3.0, 6, 30, 2.0), 5)
    return found


@pytest.fixture(scope="module")
def operator() -> TransactionOperator:
    return TransactionOperator.cut_and_paste(dict.fromkeys(SIZES, 4), dict.fromkeys(SIZES, 0.125), 30)


@pytest.fixture(scope="module")
def released(data, operator):
    draws = Draws(RunKey.from_seed("recovery").step("mix"), randomize.draws_per_row(operator))
    return randomize.randomize(data, operator, draws, np.arange(len(data)))


def frequent(sets: Baskets, least: int, size: int) -> set[tuple[str, ...]]:
    counts = Counter(s for row in sets.texts() for s in combinations(sorted(row), size))
    return {s for s, n in counts.items() if n >= least}


def values(outcome) -> dict[str, float | None]:
    return {name: figure.value for name, figure in outcome.figures.items()}


def test_plain_sets_are_compared_by_counting(data):
    """A sample of plain sets: true positives, false drops and positives as plain Python counts them."""
    some = data.take(np.arange(0, len(data), 3))
    audit = ItemsetRecoveryAudit(ItemsetRecoveryParams(min_support=SupportBound(ratio=0.05), precision=0.0))
    found = values(audit.measure(view(data), view(some), context(None)))
    for size in (1, 2, 3):
        true = frequent(data, 1000, size)
        there = frequent(some, math.ceil(0.05 * len(some)), size)
        assert found[f"frequent.{size}"] == len(true)
        assert found[f"true_positives.{size}"] == len(true & there)
        assert found[f"false_drops.{size}"] == len(true - there)
        assert found[f"false_positives.{size}"] == len(there - true)
    assert found["frequent.2"]


def test_what_is_released_as_it_was_is_found(data):
    outcome = ItemsetRecoveryAudit(ItemsetRecoveryParams(min_support=SupportBound(count=500))).measure(
        view(data), view(data), context(None)
    )
    found = values(outcome)
    assert (found["recovered"], found["genuine"], found["interval_coverage"]) == (1.0, 1.0, 1.0)
    predicted, true = outcome.charts
    assert predicted.series == true.series
    assert all(series.y[:-1] == (0.0, 0.0, 0.0) for series in true.series)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("form", ["packed", "seeded"])
def test_randomized_sets(data, operator, released, form):
    if form == "seeded":
        draws = Draws(RunKey.from_seed("recovery").step("seeds"), seeded.draws_per_row(operator))
        released = seeded.seed(data, operator, draws, np.arange(len(data)))
    audit = ItemsetRecoveryAudit(ItemsetRecoveryParams(min_support=SupportBound(ratio=0.05)))
    outcome = audit.measure(view(data), view(released), context(operator, basket=view(data)))
    found = values(outcome)
    for size in (1, 2, 3):
        assert found[f"frequent.{size}"] == len(frequent(data, 1000, size))
        assert found[f"true_positives.{size}"] + found[f"false_drops.{size}"] == found[f"frequent.{size}"]
    assert found["recovered"] > 0.8
    assert found["genuine"] > 0.8
    assert found["interval_coverage"] > 0.75  # of about 60 intervals of 95 %: fewer by chance once in 10^7 keys
    predicted, true = outcome.charts
    by_size = {series.name: series.y for series in predicted.series}
    for size, name in ((1, "1 item"), (2, "2 items")):
        assert sum(by_size[name]) == found[f"frequent.{size}"]
    for series, size in zip(true.series, (1, 2, 3), strict=False):
        assert series.y[-1] == found[f"true_positives.{size}"]
        assert sum(series.y[:-1]) == found[f"false_positives.{size}"]


def test_a_wrong_operator_shows(data, released):
    """The planted fault: an operator that keeps more than what was kept makes estimates too low."""
    wrong = TransactionOperator.cut_and_paste(dict.fromkeys(SIZES, 6), dict.fromkeys(SIZES, 0.25), 30)
    audit = ItemsetRecoveryAudit(ItemsetRecoveryParams(min_support=SupportBound(ratio=0.05)))
    found = values(audit.measure(view(data), view(released), context(wrong, basket=view(data))))
    assert found["interval_coverage"] < 0.3


def test_items_that_could_not_be_released_are_lost(data, operator):
    """The original has an item that the operator's alphabet lacks: its sets are no true ones of that item."""
    fewer = data.mapped(np.array([-1, *range(29)], dtype=np.int32), data.categories.slice(1))
    audit = ItemsetRecoveryAudit(ItemsetRecoveryParams(min_support=SupportBound(ratio=0.05), max_length=1))
    small = TransactionOperator.none(range(7), 29)
    found = values(audit.measure(view(data), view(fewer), context(small, basket=view(data))))
    assert found["false_drops.1"] == 0
    assert found["recovered"] == 1.0


def test_nothing_to_compare(data, operator, released):
    audit = ItemsetRecoveryAudit(ItemsetRecoveryParams(min_support=SupportBound(count=30_000)))
    cases = [
        (audit, view(data), view(released), context(operator)),
        (ItemsetRecoveryAudit(ItemsetRecoveryParams()), view(data), view(released), context(None)),
        (ItemsetRecoveryAudit(ItemsetRecoveryParams(attribute="cart")), view(data), view(data), context(None)),
        (
            ItemsetRecoveryAudit(ItemsetRecoveryParams()),
            view(data),
            view(released),
            context(TransactionOperator.none(SIZES, 29)),
        ),
        (
            ItemsetRecoveryAudit(ItemsetRecoveryParams(max_length=2)),
            view(data),
            view(released),
            context(TransactionOperator.cut_and_paste(dict.fromkeys(SIZES, 0), dict.fromkeys(SIZES, 0.5), 30)),
        ),
    ]
    for audit, before, after, ctx in cases:
        outcome = audit.measure(before, after, ctx)
        assert all(figure.value is None and figure.note for figure in outcome.figures.values()), outcome.figures
    table = InMemoryView.of(Table.of({"age": ["3"]}))
    assert values(audit.measure(table, table, context(None)))["recovered"] is None
    nothing = Baskets.of([[], []])
    found = values(ItemsetRecoveryAudit(ItemsetRecoveryParams()).measure(view(nothing), view(nothing), context(None)))
    assert found["recovered"] is None


def test_buckets():
    supports = np.array([0.0, 0.0009, 0.001, 0.0014, 0.0015, 0.0019, 0.002, 0.5, -0.1])
    assert buckets(supports, 0.002) == (3, 2, 2, 2)
    assert buckets(np.zeros(0), 0.002) == (0, 0, 0, 0)


@pytest.mark.slow
def test_lowest_discoverable_support(data, operator, released):
    audit = DiscoverableSupportAudit(DiscoverableSupportParams(level=0.7))
    outcome = audit.measure(view(data), view(released), context(operator, basket=view(data)))
    rows = len(data)
    largest = [
        max(Counter(s for row in data.texts() for s in combinations(sorted(row), k)).values()) / rows for k in (1, 2, 3)
    ]
    found = values(outcome)
    assert [found[f"largest_support.{k}"] for k in (1, 2, 3)] == pytest.approx(largest)
    numbers = {int(m): float(n) for m, n in zip(*np.unique(data.sizes, return_counts=True), strict=True)}
    wanted = lowest_supports(operator, numbers, (1, 2, 3), largest)
    assert [found[f"lowest.{k}"] for k in (1, 2, 3)] == pytest.approx(list(wanted.values()))
    charts = {chart.id: chart for chart in outcome.charts}
    assert set(charts) == {"over_numbers", "over_lengths", "over_levels"}
    own = {s.name: s.y for s in charts["over_numbers"].series}["this release, 2 items"]
    place = charts["over_numbers"].x.index("20 k")
    assert own[place] == pytest.approx(wanted[2])
    assert list(own) == sorted(own, reverse=True)
    assert "70%" in charts["over_levels"].x
    assert all(math.isfinite(y) for chart in outcome.charts for series in chart.series for y in series.y)


def test_maxima_may_be_given(data, operator, released):
    audit = DiscoverableSupportAudit(DiscoverableSupportParams(sizes=(2,), max_supports=(0.3, 0.1)))
    found = values(audit.measure(view(data), view(released), context(operator)))
    numbers = {int(m): float(n) for m, n in zip(*np.unique(data.sizes, return_counts=True), strict=True)}
    assert found["lowest.2"] == pytest.approx(lowest_supports(operator, numbers, (2,), (0.3, 0.1))[2])
    assert found["largest_support.1"] == 0.3


@pytest.mark.slow
def test_where_nothing_is_discoverable(data, operator, released):
    few = view(released.take(slice(0, 3)))
    outcome = DiscoverableSupportAudit(DiscoverableSupportParams()).measure(view(data), few, context(operator))
    assert outcome.figures["lowest.2"].value is None
    assert "none is discoverable" in outcome.figures["lowest.2"].note
    plain = DiscoverableSupportAudit(DiscoverableSupportParams()).measure(view(data), view(data), context(None))
    assert plain.figures["lowest.1"].value is None
    lost = TransactionOperator.cut_and_paste(dict.fromkeys(SIZES, 0), dict.fromkeys(SIZES, 0.5), 30)
    found = DiscoverableSupportAudit(DiscoverableSupportParams()).measure(view(data), view(released), context(lost))
    assert found.figures["lowest.1"].value is None


@pytest.mark.parametrize(
    "wrong", [{"sizes": [2, 1]}, {"sizes": []}, {"max_supports": [0.1, 0.2]}, {"level": 1.0}, {"max_supports": []}]
)
def test_parameters_that_make_no_sense(wrong):
    with pytest.raises(ValidationError):
        SPEC.params.model_validate(wrong)


def test_the_attribute_is_known_before_the_run():
    facts = {"basket": AttributeFacts("basket", Role.ITEMS, source="items"), "age": AttributeFacts("age", Role.TARGET)}
    scope = Scope("recovery", facts, ())
    for name, problems in (("basket", 0), ("items", 0), (None, 0), ("age", 1), ("baskets", 1)):
        found = named_sets(ItemsetRecoveryParams(attribute=name), scope).problems
        assert len(found) == problems
    (problem,) = named_sets(ItemsetRecoveryParams(attribute="baskets"), scope).problems
    assert problem.hint == "did you mean `basket`?"


@pytest.mark.slow
def test_no_item_is_told(data, operator, released):
    names = pa.array([f"canary{i}" for i in range(30)])
    before = Baskets(data.offsets, data.items, names)
    after = type(released)(released.words, released.sizes, names)
    for audit in (ItemsetRecoveryAudit(ItemsetRecoveryParams()), DiscoverableSupportAudit(DiscoverableSupportParams())):
        assert "canary" not in repr(audit.measure(view(before), view(after), context(operator, basket=view(before))))
