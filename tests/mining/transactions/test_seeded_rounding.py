"""Rounded insertion probabilities: exact in few bits, and no breach is worse for them."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_flow.mining.transactions.breaches import level, likelihoods
from ppdm_flow.mining.transactions.operators import TransactionOperator
from ppdm_flow.mining.transactions.randomize.randomize import insertion_levels
from ppdm_flow.mining.transactions.randomize.seeded import expansion, rounded_up


def test_rounding_is_upwards_and_short() -> None:
    operator = TransactionOperator.cut_and_paste({1: 3, 2: 5, 3: 7}, {1: 1e-5, 2: 0.3, 3: 0.999}, 50)
    found = rounded_up(operator)
    assert dict(found.insertion) == {1: 1 / 256, 2: 77 / 256, 3: 1023 / 1024}
    assert dict(found.cutoffs) == dict(operator.cutoffs)
    assert insertion_levels(found)[1] == 10
    assert expansion(found).insertion[2] == 77 / 256
    assert dict(rounded_up(found, 10).insertion) == dict(found.insertion)


def test_other_families() -> None:
    law = [0.25, 0.25, 0.5]
    found = rounded_up(TransactionOperator.select_a_size({2: law}, {2: 0.4}, 9), 4)
    assert (found.law(2).tolist(), found.rho(2)) == (law, 7 / 16)
    none = TransactionOperator.none([1], 9)
    assert rounded_up(none) is none


@pytest.mark.slow(quick=7)
@pytest.mark.parametrize("size", [1, 2, 4, 7])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_no_breach_is_worse(size: int, length: int) -> None:
    rng = np.random.default_rng(size)
    supports = rng.dirichlet(np.full(min(size, length) + 1, 0.5), 200)
    supports = np.pad(supports, ((0, 0), (0, length - min(size, length))))
    with_item = supports * np.arange(length + 1) / length
    for cutoff in range(1, 2 * size + 3):
        for rho in (0.003, 0.1, 0.24, 0.41, 0.7):
            before = TransactionOperator.cut_and_paste({size: cutoff}, {size: rho}, 60)
            worst = level(likelihoods(before, size, length), supports, with_item)
            after = level(likelihoods(rounded_up(before, 6), size, length), supports, with_item)
            assert (after <= worst + 1e-12).all()


@pytest.mark.parametrize(("rho", "bits"), [(0.5, 0), (0.5, 17), (0.999999, 8)])
def test_refusals(rho: float, bits: int) -> None:
    with pytest.raises(ValueError, match="insertion probabilit"):
        rounded_up(TransactionOperator.cut_and_paste({1: 1}, {1: rho}, 5), bits)
