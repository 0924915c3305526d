"""The search of little data beside the compiled one: the same itemsets in the same order, or nothing at all."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_forms import bits
from tiers import examples

from ppdm_flow.mining.itemsets import closed, frequent, little, search
from ppdm_flow.mining.itemsets.database import Database
from ppdm_flow.mining.itemsets.mine import _room
from ppdm_flow.mining.itemsets.search import prepare
from ppdm_flow.sdk import compiled
from ppdm_flow.sdk.compiled import Kernel, TooMuchWorkError

KERNELS: dict[str, Kernel] = {"all": frequent.search.__wrapped__, "closed": closed.search.__wrapped__}


def fresh(kernel: Kernel) -> Kernel:
    """Return the kernel as it is in a process that has compiled nothing."""
    return Kernel(kernel.py_func, kernel.steps, kernel._plain)


PLAIN = {"all": little.frequent, "closed": little.closed}


@examples(120)
@given(
    seed=st.integers(0, 999),
    rows=st.integers(1, 700),
    density=st.sampled_from([0.1, 0.3, 0.6]),
    share=st.sampled_from([0.0, 0.02, 0.1]),
    longest=st.integers(1, 9),
    most=st.sampled_from([0, 5, 40, 10_000]),
    with_bits=st.booleans(),
    repeated=st.booleans(),
    alike=st.booleans(),
    which=st.sampled_from(["all", "closed"]),
)
def test_the_same_sets_in_the_same_order(seed, rows, density, share, longest, most, with_bits, repeated, alike, which):
    draw = np.random.default_rng(seed)
    baskets = [np.flatnonzero(draw.random(9) < density).tolist() for _ in range(rows)]
    if alike:  # items that imply others: closures are larger than their cores
        baskets = [sorted({*basket, *(item // 2 for item in basket)}) for basket in baskets]
    with pytest.MonkeyPatch.context() as patch:
        if not with_bits:
            patch.setattr(search, "MOST_BITS", 0)
        database = Database.of_lists(baskets * 3 if repeated else baskets, 9)
        least = max(1, int(share * rows))
        if not (database.supports >= least).any():
            return
        data, _ = prepare(database, least, longest)
    assert bits(PLAIN[which](data, _room(most))) == bits(KERNELS[which].dispatcher(data, _room(most)))


@pytest.mark.parametrize("which", ["all", "closed"])
def test_the_same_where_rare_items_go_on_with_lists_and_others_with_bits(monkeypatch, which):
    monkeypatch.setattr(little, "STEPS", 100_000_000)
    draw = np.random.default_rng(7)
    rare = [draw.choice(900, 3, replace=False) for _ in range(3000)]
    baskets = [sorted({*pair.tolist(), *(900 + np.flatnonzero(draw.random(4) < 0.5)).tolist()}) for pair in rare]
    database = Database.of_lists(baskets, 904)
    data, _ = prepare(database, 2, 12)
    words_a_row = (data.ranks - 1 - np.arange(data.ranks)) * data.bits.shape[1] / np.sort(database.supports)
    assert 10 < (words_a_row >= search.WORDS_A_ROW).sum() < data.ranks - 10
    found = PLAIN[which](data, _room(100_000))
    assert bits(found) == bits(KERNELS[which].dispatcher(data, _room(100_000)))
    assert found.used[0] > 1000


@pytest.mark.parametrize("which", ["all", "closed"])
def test_too_much_work_changes_nothing_and_is_compiled(monkeypatch, which):
    draw = np.random.default_rng(2)
    database = Database.of_lists([np.flatnonzero(draw.random(12) < 0.6).tolist() for _ in range(400)], 12)
    data, _ = prepare(database, 1, 12)
    monkeypatch.setattr(little, "STEPS", 500)
    out = _room(100_000)
    before = copy.deepcopy(out)
    with pytest.raises(TooMuchWorkError):
        PLAIN[which](data, out)
    assert bits(tuple(out)) == bits(tuple(before))
    monkeypatch.setattr(little, "STEPS", 10_000_000)
    assert bits(KERNELS[which](data, out)) == bits(PLAIN[which](data, before))


def test_steps_that_were_not_needed_are_given_back(monkeypatch):
    """Only to those who took them: a plain form that is called by itself gives nothing back."""
    monkeypatch.setattr(compiled, "PLAIN_STEPS", little.STEPS)
    monkeypatch.setattr(compiled._PlainWork, "done", 0.0)
    database = Database.of_lists([[0, 1, 2], [1, 2], [2]], 3)
    data, _ = prepare(database, 1, 3)
    kernel = fresh(KERNELS["closed"])
    kernel(data, _room(100))
    done = compiled._PlainWork.done
    assert 0 < done < 100
    little.closed(data, _room(100))
    assert compiled._PlainWork.done == done
    assert compiled.python_takes(kernel, 2 * little.STEPS, 5) == little.STEPS * compiled._LONG - done
    assert compiled.python_takes(kernel, little.STEPS, 5) == 0


def test_what_has_no_bit_vectors_for_its_size_gets_none_here(monkeypatch):
    monkeypatch.setattr(little._Search, "_by_row", lambda _self: pytest.fail("a matrix of rows times ranks"))
    ranks, rows = 1 << 13, 1 << 18
    assert not search.fits(ranks, rows + 64)
    none = np.zeros(0, dtype=np.int32)
    begin = np.zeros(rows + 65, dtype=np.int64)
    bits_, planes = np.zeros((0, 1), dtype=np.uint64), np.zeros((1, 1), dtype=np.uint64)
    data = search.Data(begin, none, np.ones(rows + 64), bits_, planes, np.zeros(1), ranks, 1, 9, 8)
    with pytest.raises(TooMuchWorkError):
        little.frequent(data, _room(5))
    with pytest.raises(TooMuchWorkError):
        little.closed(data, _room(5))
