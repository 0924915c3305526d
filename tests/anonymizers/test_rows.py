"""Sample and shuffle."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from ppdm_flow.anonymizers.sample.algorithm import Sample
from ppdm_flow.anonymizers.sample.spec import SampleParams
from ppdm_flow.anonymizers.shuffle_rows.algorithm import ShuffleRows
from ppdm_flow.anonymizers.shuffle_rows.spec import ShuffleParams
from ppdm_flow.core.draws import RunKey
from ppdm_flow.core.errors import PluginError
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.running import run
from ppdm_flow.testing.view import InMemoryView

CONTEXT = StepContext("s", {}, ())


def rows(count: int) -> Table:
    return Table.of({"x": [str(i) for i in range(count)]})


def sampled(table: Table, key: str = "k", **params) -> Table:
    fitted = Sample(SampleParams(**params)).fit(InMemoryView.of(table), CONTEXT)
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
