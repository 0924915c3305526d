"""Operators and their documents."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.errors import DataError
from ppdm_flow.mining.transactions.operators import TransactionOperator, document, from_document


def pasted(size, cutoff, rho):
    """Return the law of |t ∩ t'| in exact fractions, from the definition of cut-and-paste."""
    law, rho = [Fraction(0)] * (size + 1), Fraction(rho)
    for drawn in range(cutoff + 1):
        cut = min(drawn, size)
        for back in range(size - cut + 1):
            chance = comb(size - cut, back) * rho**back * (1 - rho) ** (size - cut - back)
            law[cut + back] += chance / (cutoff + 1)
    return np.array([float(p) for p in law])


@pytest.mark.parametrize("size", [0, 1, 2, 5, 8])
@pytest.mark.parametrize(("cutoff", "rho"), [(0, "1/5"), (3, "1/5"), (5, "1/2"), (9, "1/100"), (40, "9/10")])
def test_law_of_cut_and_paste(size, cutoff, rho):
    operator = TransactionOperator.cut_and_paste({size: cutoff}, {size: float(Fraction(rho))}, 50)
    np.testing.assert_allclose(operator.law(size), pasted(size, cutoff, rho), atol=1e-13)


def test_law_of_large_transactions():
    law = TransactionOperator.cut_and_paste({2000: 7}, {2000: 0.3}, 5000).law(2000)
    assert law.sum() == pytest.approx(1.0, abs=1e-12)
    assert law @ np.arange(2001) == pytest.approx(3.5 + 0.3 * (2000 - 3.5), rel=1e-9)


def test_uniform_and_none():
    operator = TransactionOperator.uniform([0, 3], 0.2, 10)
    np.testing.assert_allclose(operator.law(3), [0.512, 0.384, 0.096, 0.008])
    assert operator.refills
    with pytest.raises(ValueError, match="no insertion probability"):
        operator.rho(3)
    assert TransactionOperator.none([2], 4).law(2).tolist() == [0, 0, 1]
    assert TransactionOperator.none([2], 4).rho(2) == 0


def test_laws_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        TransactionOperator.none([2], 4).law(2)[0] = 1


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: TransactionOperator.cut_and_paste({3: 2}, {3: 0.0}, 9), "insertion probability of size 3"),
        (lambda: TransactionOperator.cut_and_paste({3: 2}, {3: 1.0}, 9), "insertion probability of size 3"),
        (lambda: TransactionOperator.cut_and_paste({3: 2}, {3: float("nan")}, 9), "insertion probability"),
        (lambda: TransactionOperator.cut_and_paste({3: 2}, {3: True}, 9), "insertion probability"),
        (lambda: TransactionOperator.cut_and_paste({3: 2}, {3: "0.2"}, 9), "insertion probability"),
        (lambda: TransactionOperator.cut_and_paste({3: -1}, {3: 0.2}, 9), "cutoff K of size 3"),
        (lambda: TransactionOperator.cut_and_paste({3: 1.5}, {3: 0.2}, 9), "cutoff K of size 3"),
        (lambda: TransactionOperator.cut_and_paste({3: 2}, {2: 0.2}, 9), "needs both"),
        (lambda: TransactionOperator.cut_and_paste({}, {}, 9), "one transaction size"),
        (lambda: TransactionOperator.cut_and_paste({10: 2}, {10: 0.2}, 9), "do not fit an alphabet of 9"),
        (lambda: TransactionOperator.cut_and_paste({1: 10**30}, {1: 0.2}, 9), "not a whole number from 0 to 100000"),
        (lambda: TransactionOperator.cut_and_paste({-1: 2}, {-1: 0.2}, 9), "not a whole number from 0"),
        (lambda: TransactionOperator.cut_and_paste({10**9: 2}, {10**9: 0.2}, 10**10), "not supported"),
        (lambda: TransactionOperator.none([1], 0), "alphabet"),
        (lambda: TransactionOperator.none([1], None), "alphabet"),
        (lambda: TransactionOperator.none([1, 1], 3), "given twice"),
        (lambda: TransactionOperator.uniform([1], 1.0, 9), "between 0 and 1"),
        (lambda: TransactionOperator.uniform([1], 0, 9), "between 0 and 1"),
        (lambda: TransactionOperator.uniform([1], None, 9), "between 0 and 1"),
        (lambda: TransactionOperator.uniform([5], 0.5, 9), "need an alphabet of 10"),
        (lambda: TransactionOperator.uniform([5], 0.5, 12, 3), "need an alphabet of 13"),
        (lambda: TransactionOperator.uniform([5], 0.5, 12, -1), "inserted items"),
        (lambda: TransactionOperator.uniform([5], 0.5, 12, 1.5), "inserted items"),
        (lambda: TransactionOperator.select_a_size({2: [0.5, 0.5]}, {2: 0.1}, 9), "needs 3 probabilities"),
        (lambda: TransactionOperator.select_a_size({2: [0.5, 0.5, 0.1]}, {2: 0.1}, 9), "sum to 1"),
        (lambda: TransactionOperator.select_a_size({2: [0.5, -0.5, 1]}, {2: 0.1}, 9), "sum to 1"),
        (lambda: TransactionOperator.select_a_size({2: [0.5, np.nan, 1]}, {2: 0.1}, 9), "sum to 1"),
        (lambda: TransactionOperator.select_a_size({2: [0, 0, 1]}, {2: 0}, 9), "insertion"),
    ],
)
def test_bad_operators(build, words):
    with pytest.raises(ValueError, match=words):
        build()


def test_unknown_size():
    with pytest.raises(DataError, match="PPF777"):
        TransactionOperator.none([2, 5], 9).law(3)


OPERATORS = st.one_of(
    st.builds(
        lambda sizes, cutoff, rho: TransactionOperator.cut_and_paste(
            dict.fromkeys(sizes, cutoff), dict.fromkeys(sizes, rho), 60
        ),
        st.sets(st.integers(0, 20), min_size=1, max_size=4),
        st.integers(0, 30),
        st.floats(0.001, 0.999),
    ),
    st.builds(
        lambda sizes, keep, inserted: TransactionOperator.uniform(sizes, keep, 60, inserted),
        st.sets(st.integers(0, 20), min_size=1, max_size=4),
        st.floats(0.001, 0.999),
        st.integers(0, 20),
    ),
    st.builds(lambda sizes: TransactionOperator.none(sizes, 60), st.sets(st.integers(0, 20), min_size=1, max_size=4)),
    st.builds(
        lambda masses, rho: TransactionOperator.select_a_size(
            {len(masses) - 1: np.array(masses) / sum(masses)}, {len(masses) - 1: rho}, 60
        ),
        st.lists(st.integers(1, 9), min_size=1, max_size=9),
        st.floats(0.001, 0.999),
    ),
)


@examples(20)
@given(OPERATORS)
def test_documents_rebuild_their_operator(operator):
    read = from_document(json.loads(json.dumps(document(operator))))
    assert document(read) == document(operator)
    assert read.sizes == operator.sizes
    for size in operator.sizes:
        np.testing.assert_array_equal(read.law(size), operator.law(size))


@pytest.mark.parametrize(
    "read",
    [
        None,
        [],
        {},
        {"family": "none", "alphabet": 3},
        {"family": "none", "alphabet": 3, "sizes": []},
        {"family": "none", "alphabet": 3, "sizes": [1]},
        {"family": "none", "alphabet": "3", "sizes": [{"size": 1}]},
        {"family": "none", "alphabet": 3, "sizes": [{"size": True}]},
        {"family": "none", "alphabet": 3, "sizes": [{"size": 1}, {"size": 1}]},
        {"family": "other", "alphabet": 3, "sizes": [{"size": 1}]},
        {"family": ["none"], "alphabet": 3, "sizes": [{"size": 1}]},
        {"family": "uniform", "alphabet": 3, "sizes": [{"size": 1}]},
        {"family": "uniform_inserting", "alphabet": 5, "keep": 0.5, "insert": "1", "sizes": [{"size": 1}]},
        {"family": "uniform_inserting", "alphabet": 5, "keep": 0.5, "sizes": [{"size": 1}]},
        {"family": "cut_and_paste", "alphabet": 3, "sizes": [{"size": 1, "rho": 0.1}]},
        {"family": "cut_and_paste", "alphabet": 3, "sizes": [{"size": 1, "rho": "0.1", "cutoff": 1}]},
        {"family": "select_a_size", "alphabet": 3, "sizes": [{"size": 1, "rho": 0.1, "retained": "ab"}]},
        {"family": "select_a_size", "alphabet": 3, "sizes": [{"size": 1, "rho": 0.1, "retained": [[1], 0]}]},
    ],
)
def test_bad_documents(read):
    with pytest.raises(ValueError, match=r"[a-z]{2}"):
        from_document(read)
