"""Minimal sample uniques against a search that tries everything, scores by hand, and the DIS of a known sample."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.uniques.special import (
    match_probabilities,
    match_probability,
    minimal_sample_uniques,
    weights_of_sizes,
)
from ppdm_flow.tables.counts import count
from ppdm_flow.tables.table import Table

CELLS = st.sampled_from([None, "⊥", "a", "b", "c"])
NAMES = "pqrst"


def alike(one, other, chosen, nulls):
    """Whether `other` may be `one` for who knows the chosen cells of `one`."""
    return all(other[i] == one[i] or (nulls is Nulls.WILDCARD and other[i] is None) for i in chosen)


def twin(rows, size, nulls):
    """For each row its minimal sets of places."""
    found = []
    for one in range(len(rows)):
        sets = []
        for level in range(1, size + 1):
            for chosen in combinations(range(len(rows[0])), level):
                told = [r for r in rows if nulls is not Nulls.EXCLUDE or all(r[i] is not None for i in chosen)]
                if nulls is Nulls.EXCLUDE and any(rows[one][i] is None for i in chosen):
                    continue
                unique = sum(alike(rows[one], other, chosen, nulls) for other in told) == 1
                if unique and not any(set(s) <= set(chosen) for s in sets):
                    sets.append(chosen)
        found.append(sets)
    return found


def counted(rows, columns, weights=None):
    table = {n: [r[i] for r in rows] for i, n in enumerate(NAMES[:columns])}
    if weights is not None:
        table["w"] = [str(w) for w in weights]
    return count(Table.of(table), NAMES[:columns], None if weights is None else "w")


def rows_of(counts):
    every = [counts.names(c).to_pylist() for c in counts.columns]
    special = {-1: None, -2: "⊥"}
    return [
        tuple(special.get(code, names[code] if code >= 0 else None) for code, names in zip(row, every, strict=True))
        for row in counts.codes.tolist()
    ]


TABLES = st.integers(1, 5).flatmap(lambda m: st.lists(st.tuples(*[CELLS] * m), min_size=1, max_size=14))


@examples(150)
@given(rows=TABLES, size=st.integers(1, 5), nulls=st.sampled_from(Nulls), data=st.data())
def test_every_set_is_tried(rows, size, nulls, data):
    columns = len(rows[0])
    weights = data.draw(st.none() | st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    counts = counted(rows, columns, weights)
    written_out = rows if weights is None else [r for r, w in zip(rows, weights, strict=True) for _ in range(w)]
    found = minimal_sample_uniques(counts, [(n,) for n in counts.columns], size, nulls)
    sets = dict(zip(written_out, twin(written_out, min(size, columns), nulls), strict=True)) if written_out else {}
    kept = [r for r, n in zip(rows_of(counts), counts.counts.tolist(), strict=True) if n > 0]
    assert found.rows == len(written_out)
    by_size = [[sum(len(s) == level for s in sets[r]) for level in range(1, found.size + 1)] for r in kept]
    assert found.by_row.tolist() == by_size
    containing = Counter((i, len(s)) for r in kept for s in sets[r] for i in s)
    assert found.by_attribute.tolist() == [
        [containing[i, level] for level in range(1, found.size + 1)] for i in range(columns)
    ]
    for level in range(1, found.size + 1):
        assert found.single(level) == sum(any(len(s) <= level for s in sets[r]) for r in kept)


@examples(20)
@given(rows=st.lists(st.tuples(*[CELLS] * 4), min_size=1, max_size=14), nulls=st.sampled_from(Nulls))
def test_all_columns_of_an_attribute_are_known_at_once(rows, nulls):
    """One attribute that two columns depend on is one column of pairs, and one column may depend on two attributes."""
    counts = counted(rows, 4)
    carriers = [("p", "q"), ("r",), ("s", "r")]
    found = minimal_sample_uniques(counts, carriers, 3, nulls)

    def unique(row, chosen):
        places = sorted({"pqrs".index(c) for i in chosen for c in carriers[i]})
        if nulls is Nulls.EXCLUDE and any(row[i] is None for i in places):
            return False
        told = [r for r in rows if nulls is not Nulls.EXCLUDE or all(r[i] is not None for i in places)]
        return sum(alike(row, other, places, nulls) for other in told) == 1

    for row, many in zip(rows_of(counts), found.by_row.tolist(), strict=True):
        sets = []
        for level in (1, 2, 3):
            for chosen in combinations(range(3), level):
                if unique(row, chosen) and not any(set(s) <= set(chosen) for s in sets):
                    sets.append(chosen)
        assert many == [sum(len(s) == level for s in sets) for level in (1, 2, 3)]


def test_a_row_that_counts_twice_is_not_unique():
    rows = [("a", "a"), ("b", "a")]
    assert minimal_sample_uniques(counted(rows, 2), [("p",), ("q",)], 2, Nulls.OWN_CATEGORY).single(2) == 2
    assert minimal_sample_uniques(counted(rows, 2, [2, 1]), [("p",), ("q",)], 2, Nulls.OWN_CATEGORY).single(2) == 1
    assert minimal_sample_uniques(counted(rows, 2, [2, 1]), [("p",), ("q",)], 2, Nulls.OWN_CATEGORY).share(1) == 1 / 3
    assert minimal_sample_uniques(counted(rows, 2, [2, 0]), [("p",), ("q",)], 2, Nulls.OWN_CATEGORY).single(2) == 0


def test_no_attributes_and_no_rows_single_out_nobody():
    counts = counted([("a",)], 1)
    assert minimal_sample_uniques(counts.project(()), [], 3, Nulls.OWN_CATEGORY).single(3) == 0
    nothing = count(Table.of({"p": []}), ("p",))
    assert minimal_sample_uniques(nothing, [("p",)], 3, Nulls.OWN_CATEGORY).share(3) == 0


@pytest.mark.parametrize("attributes", range(1, 7))
def test_a_set_adds_the_ways_in_which_it_grows_to_the_largest_size(attributes):
    for size in range(1, attributes + 1):
        ways = [
            sum(1 for _ in permutations(range(attributes - s), size - s)) if size >= s else 0
            for s in range(1, size + 1)
        ]
        assert weights_of_sizes(size, attributes).tolist() == ways
        assert ways == [prod(attributes - i for i in range(s, size)) for s in range(1, size + 1)]


def test_score_of_a_table_by_hand():
    """Four attributes: the fifth row has a value of its own (3 * 2 = 6 of sizes up to 3), and a pair of values (2)."""
    rows = [("a", "x", "1", "m"), ("a", "y", "1", "m"), ("b", "x", "1", "m"), ("b", "y", "2", "m")]
    rows += [("a", "x", "1", "m"), ("a", "y", "1", "m"), ("b", "x", "1", "m")]
    found = minimal_sample_uniques(counted(rows, 4), [(n,) for n in "pqrs"], 3, Nulls.OWN_CATEGORY)
    assert found.by_row.sum(axis=0).tolist() == [1, 1, 0]
    assert found.scores().tolist() == [3 * 2 + 2]
    assert found.contributions().tolist() == [0.5, 0.5, 0.5, 0]


def test_probability_of_a_correct_match():
    assert match_probability(10, 0, 0.01) == 1
    assert match_probability(0, 10, 0.5) == 0
    assert match_probability(100, 40, 0.1) == pytest.approx(10 / (10 + 36))
    assert match_probability(5, 40, 1.0) == 1


def test_probability_of_a_correct_match_against_samples():
    """Over samples of a known population, uniques that match are correct as often as estimated (Skinner, Elliot)."""
    rng = np.random.default_rng(5)
    sizes = np.repeat([1, 2, 3, 5], [600, 500, 300, 200])
    people = np.repeat(np.arange(len(sizes)), sizes)
    estimates, uniques, matching = [], 0, 0
    for _ in range(300):
        seen = np.bincount(people[rng.random(len(people)) < 0.2], minlength=len(sizes))
        estimates.append((int((seen == 1).sum()), 2 * int((seen == 2).sum())))
        uniques += int((seen == 1).sum())
        matching += int(sizes[seen == 1].sum())
    total = np.sum(estimates, axis=0)
    assert match_probability(int(total[0]), int(total[1]), 0.2) == pytest.approx(uniques / matching, rel=0.02)


def test_probabilities_of_rows_average_to_that_of_the_file():
    scores = np.array([2.0, 6.0, 24.0])
    each = match_probabilities(scores, 0.3)
    assert (np.diff(each) > 0).all()
    assert 1 / np.mean(1 / each) == pytest.approx(0.3)
    odds = each / (1 - each)
    assert (odds / odds[0]).tolist() == pytest.approx([1, 3, 12])
    assert match_probabilities(np.full(4, 7.0), 0.3).tolist() == pytest.approx([0.3] * 4)
    assert match_probabilities(np.zeros(0), 0.3).tolist() == []
