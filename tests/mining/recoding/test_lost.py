"""What a class surely loses is never more than what any part of it that keeps the model leaves out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdm_flow.mining.recoding.grouping import ClassCells, RowGrouping
from ppdm_flow.mining.recoding.models import KAnonymous
from ppdm_flow.requirements.alpha_k.algorithm import AlphaBounded
from ppdm_flow.requirements.beta_likeness.algorithm import BetaLike
from ppdm_flow.requirements.delta_disclosure.algorithm import DeltaDisclosing
from ppdm_flow.requirements.l_diversity.algorithm import DistinctDiverse, EntropyDiverse, RecursiveDiverse
from ppdm_flow.requirements.lkc.algorithm import UnionBounded
from ppdm_flow.requirements.t_closeness.algorithm import CloseClass

MODELS = {
    "k": st.builds(KAnonymous, st.integers(1, 6)),
    "distinct": st.builds(DistinctDiverse, st.just(0), st.integers(1, 3)),
    "entropy": st.builds(EntropyDiverse, st.just(0), st.floats(1.0, 3.0)),
    "recursive": st.builds(RecursiveDiverse, st.just(0), st.floats(0.5, 4.0), st.integers(1, 3)),
    "equal": st.builds(CloseClass, st.just(0), st.floats(0.05, 0.9)),
    "ordered": st.builds(CloseClass, st.just(0), st.floats(0.05, 0.9), st.just(True)),
    "alpha": st.builds(AlphaBounded, st.just(0), st.floats(0.2, 0.95)),
    "alpha_of": st.builds(AlphaBounded, st.just(0), st.floats(0.2, 0.95), st.just((0, 2))),
    "union": st.builds(UnionBounded, st.just(0), st.floats(0.2, 0.95), st.just((0, 2))),
    "delta": st.builds(DeltaDisclosing, st.just(0), st.floats(0.1, 3.0)),
    "beta": st.builds(BetaLike, st.just(0), st.floats(0.1, 3.0)),
}


def grouping(histograms):
    """One class for each row of counts (classes, values)."""
    owner, value = np.nonzero(histograms)
    begins = np.searchsorted(owner, np.arange(len(histograms) + 1)).astype(np.int64)
    cells = ClassCells(begins, value.astype(np.int32), histograms[owner, value].astype(np.int64))
    sizes = histograms.sum(axis=1).astype(np.int64)
    return RowGrouping((0,), np.zeros(len(histograms), dtype=np.int64), sizes, (cells,))


def moved(base, drift):
    """The distribution, and others as far from it as ``drift`` in total variation lets one value's share go."""
    yield base
    for i, j in itertools.permutations(range(len(base)), 2):
        other = base.copy()
        amount = min(drift, other[i])
        other[i] -= amount
        other[j] += amount
        yield other


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("name", MODELS)
def test_a_part_that_keeps_the_model_leaves_out_at_least_so_much(name) -> None:
    told = {"less": 0, "all": 0}

    @settings(max_examples=150)
    @given(
        model=MODELS[name],
        counts=st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any),
        rest=st.lists(st.integers(0, 12), min_size=3, max_size=3),
        drift=st.sampled_from([0.0, 0.1, 0.3]),
    )
    def sound(model, counts, rest, drift) -> None:
        whole = np.array([counts])
        base = (whole[0] + rest) / (whole[0] + rest).sum()
        lost = float(model.lost(grouping(whole), base, drift)[0])
        assert 0.0 <= lost <= 1.0
        told["less"] += 0.0 < lost < 1.0
        told["all"] += lost == 1.0
        parts = np.array([p for p in itertools.product(*(range(c + 1) for c in counts)) if any(p)])
        out = 1.0 - parts.sum(axis=1) / whole.sum()
        for other in moved(base, drift):
            kept = model.keeps(grouping(parts), other)
            assert (lost <= out[kept] + 1e-9).all()

    sound()
    assert told["less"] + told["all"] >= 8  # a bound of nothing would be as sound
