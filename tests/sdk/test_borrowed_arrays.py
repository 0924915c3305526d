"""Arrays that kernels borrow: the same values, written to in place, and none that is given away."""

from __future__ import annotations

import gc
import sys
from typing import NamedTuple

import numpy as np
import pytest

from ppdm_flow.sdk.compiled import borrowed, compiled


class Inner(NamedTuple):
    words: np.ndarray
    names: np.ndarray


class Mixed(NamedTuple):
    inner: Inner
    matrix: np.ndarray
    number: int


@compiled
def add_up(mixed, more):
    mixed = borrowed(mixed)
    more = borrowed(more)
    total = mixed.number + more[0]
    row = mixed.matrix[1]
    for i in range(len(row)):
        total += row[i]
        row[i] = i
    part = mixed.inner.words[1:3]
    part[:] = 7
    for value in mixed.inner.names:
        total += value
    return total + part.shape[0] * 1000 + mixed.matrix.shape[1] * 10_000


@compiled
def give_away(array):
    return borrowed(array)


@compiled
def give_a_view_away(array):
    return borrowed(array)[1:]


@compiled
def write_to(array):
    array = borrowed(array)
    array[0] = 1
    return 0


def example(order="C"):
    matrix = np.asarray(np.arange(6).reshape(2, 3), order=order)
    inner = Inner(np.zeros(5, dtype=np.uint64), np.array([1, 2], dtype=np.int32))
    return Mixed(inner, matrix, 100), np.array([5, 6], dtype=np.int64)[::2]


@pytest.mark.parametrize("order", ["C", "F"])
def test_compiled_code_reads_and_writes_what_python_does(order):
    one, two = example(order), example(order)
    assert add_up(*one) == add_up.py_func(*two) == 100 + 5 + 12 + 3 + 2000 + 30_000
    for mixed in (one[0], two[0]):
        assert mixed.matrix.tolist() == [[0, 1, 2], [0, 1, 2]]
        assert mixed.inner.words.tolist() == [0, 7, 7, 0, 0]


@pytest.mark.slow
def test_nothing_is_counted_and_nothing_is_freed():
    given = example()
    arrays = [given[0].matrix, *given[0].inner, given[1]]
    before = [sys.getrefcount(array) for array in arrays]
    for _ in range(200):
        add_up(*given)
    gc.collect()
    assert [sys.getrefcount(array) for array in arrays] == before
    assert given[0].inner.names.tolist() == [1, 2]


@pytest.mark.parametrize("kernel", [give_away, give_a_view_away])
def test_a_kernel_that_returns_borrowed_memory_is_refused(kernel):
    with pytest.raises(NotImplementedError, match="a kernel may not return borrowed"):
        kernel(np.arange(3))
    assert kernel.py_func(np.arange(3)) is not None


def test_what_may_not_be_written_to_still_may_not():
    from numba.core.errors import TypingError

    array = np.arange(3)
    array.flags.writeable = False
    with pytest.raises(TypingError, match=r"read-?only|Cannot modify"):
        write_to(array)
    assert array.tolist() == [0, 1, 2]
