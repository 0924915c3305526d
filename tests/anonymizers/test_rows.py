"""Sample and shuffle."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from ppdm_flow.anonymizers.sample.algorithm import SampleTransform
from ppdm_flow.anonymizers.sample.spec import SampleParams
from ppdm_flow.anonymizers.shuffle_rows.algorithm import ShuffleRows
from ppdm_flow.anonymizers.shuffle_rows.spec import ShuffleParams
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.draws import RunKey
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.registry import load
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.conformance import run
from ppdm_flow.testing.view import InMemoryView

CONTEXT = StepContext("s", {}, ())


def rows(count: int) -> Table:
    return Table.of({"x": [str(i) for i in range(count)]})


def sampled(table: Table, key: str = "k", **params) -> Table:
    fitted = SampleTransform(SampleParams(**params)).fit(InMemoryView.of(table), CONTEXT)
    return run(fitted.transform, table, RunKey.from_seed(key))[""]


def shuffled(table: Table, key: str = "k") -> Table:
    fitted = ShuffleRows(ShuffleParams()).fit(InMemoryView.of(table), CONTEXT)
    return run(fitted.transform, table, RunKey.from_seed(key), partition_rows=3)[""]


def test_a_fraction_keeps_about_its_share_and_rows_keep_their_numbers():
    table = rows(20_000)
    kept = sampled(table, fraction=0.3)
    assert stats.binomtest(len(kept), 20_000, 0.3).pvalue > 1e-6
    assert kept["x"].texts() == [str(r) for r in kept.rows]
    assert len(sampled(table, fraction=1.0)) == 20_000


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_size_is_exact_and_keeps_the_order(size):
    kept = sampled(rows(100), size=size)
    assert len(kept) == size
    assert (np.diff(kept.rows) > 0).all()


def test_every_subset_is_equally_likely():
    """Three of five rows, 3,000 keys: ten subsets, chi-square at an error of 1e-6."""
    table = rows(5)
    subsets = dict.fromkeys(itertools.combinations(range(5), 3), 0)
    for i in range(3000):
        subsets[tuple(sampled(table, f"key {i}", size=3).rows.tolist())] += 1
    assert stats.chisquare(list(subsets.values())).pvalue > 1e-6


def grouped(sizes: list[int]) -> Table:
    return Table.of(
        {"g": [f"g{g}" for g, n in enumerate(sizes) for _ in range(n)], "x": list(map(str, range(sum(sizes))))}
    )


@pytest.mark.slow
def test_rows_of_each_group_are_equally_likely():
    """Two of four, one of one, and both of two: six ways, chi-square at an error of 1e-6."""
    table, ways = grouped([4, 1, 2]), dict.fromkeys(itertools.combinations(range(4), 2), 0)
    for i in range(3000):
        kept = sampled(table, f"key {i}", by=["g"], rows=2).rows.tolist()
        assert kept[2:] == [4, 5, 6]
        ways[tuple(kept[:2])] += 1
    assert stats.chisquare(list(ways.values())).pvalue > 1e-6


def test_missing_and_suppressed_cells_are_groups_of_their_own():
    table = Table.of({"g": ["a", None, None, "⊥", "⊥", "a"], "h": ["u"] * 6})
    kept = sampled(table, by=["g", "h"], rows=1)
    assert sorted(min(r, {1: 1, 2: 1, 3: 3, 4: 3}.get(r, 0)) for r in kept.rows.tolist()) == [0, 1, 3]


def test_what_a_sample_of_groups_counts():
    fitted = SampleTransform(SampleParams(by=["g"], rows=2)).fit(InMemoryView.of(grouped([4, 1, 2])), CONTEXT)
    assert {n: f.value for n, f in fitted.figures.items()} == {"groups": 3, "smallest_group": 1, "certain_rows": 3}
    empty = SampleTransform(SampleParams(by=["g"], rows=1)).fit(InMemoryView.of(grouped([])), CONTEXT)
    assert empty.figures["smallest_group"].value is None


def test_what_check_says_of_groups():
    spec = load("anonymizers", "sample")
    known = {
        "g": AttributeFacts("g", Role.QUASI_IDENTIFIER),
        "s": AttributeFacts("s", Role.SENSITIVE, changes=(("perturb", Change.PERTURBED),)),
    }

    def said(facts=known, **params):
        effect = spec.effect(spec.params(**params), Scope("one", facts, ()))
        return [(p.code, p.path) for p in effect.problems]

    assert said(by=["g"], rows="1") == []
    assert said(by=["g"]) == said(rows="1", fraction="0.5") == [("PPF782", ())]
    assert said(rows="1") == [("PPF782", ("rows",))]
    assert said(by=["g"], fraction="0.5") == [("PPF782", ("by",))]
    assert said(by=["g", "s"], rows="1") == [("PPF783", ("by", "1"))]
    assert said(by=["*"], rows="1") == [("PPF783", ("by", "0"))]
    assert [code for code, _ in said(by=["town"], rows="1")] == ["PPF606"]
    weight = {**known, "w": AttributeFacts("w", Role.WEIGHT)}
    assert said(weight, by=["g"], rows="1") == [("PPF782", ("by",))]
    effect = spec.effect(spec.params(by=["g"], rows="1"), Scope("one", known, ()))
    assert (effect.reads, effect.rows, effect.by_others) == (("g",), "fewer", True)
    assert not spec.effect(spec.params(size="1"), Scope("one", known, ())).by_others


def test_the_sample_does_not_depend_on_the_order_of_rows():
    table = rows(50)
    other = table.take(np.random.default_rng(0).permutation(50))
    assert set(sampled(table, size=20).rows.tolist()) == set(sampled(other, size=20).rows.tolist())


def test_too_many_rows_and_clashing_parameters_are_refused():
    with pytest.raises(PluginError, match="PPF792"):
        sampled(rows(5), size=6)
    for params in ({}, {"fraction": 0.5, "size": 2}):
        with pytest.raises(PluginError, match="PPF782"):
            sampled(rows(5), **params)


@pytest.mark.slow
def test_every_order_is_equally_likely():
    """Four rows, 4,800 keys: 24 permutations, chi-square at an error of 1e-6."""
    table = rows(4)
    orders = dict.fromkeys(itertools.permutations(range(4)), 0)
    for i in range(4800):
        orders[tuple(shuffled(table, f"key {i}").rows.tolist())] += 1
    assert stats.chisquare(list(orders.values())).pvalue > 1e-6


def test_shuffling_keeps_rows_together():
    released = shuffled(rows(1000))
    assert released["x"].texts() == [str(r) for r in released.rows]
    assert sorted(released.rows.tolist()) == list(range(1000))
    assert abs(stats.spearmanr(np.arange(1000), released.rows).statistic) < 0.16  # 5 sigma
