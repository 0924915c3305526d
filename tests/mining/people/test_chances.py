"""The chance that one of a few known rows has a value: hypergeometric, best choices, decoded counts."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import hypergeom

from ppdm_flow.mining.people.known import chances_of, choices, largest_chances
from ppdm_flow.mining.people.known_query import chances_sql
from ppdm_flow.mining.recoding.grouping import ClassCells

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from adversary.known_rows_judging import Database


def told(*people, sizes):
    """Each person's classes, and the rows of each class."""
    rows = [(p, c) for p, classes in enumerate(people) for c in classes]
    person, group = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    return choices(person, group, sizes=np.array(sizes))


def one_value(having):
    classes = np.flatnonzero(having)
    begins = np.searchsorted(classes, np.arange(len(having) + 1)).astype(np.int64)
    return ClassCells(begins, np.zeros(len(classes), dtype=np.int32), np.asarray(having)[classes])


@pytest.mark.parametrize("known", [1, 2, 3, None])
def test_rows_of_one_class_are_hypergeometric(known):
    many = 5 if known is None else known
    chance = chances_of(told([0] * 5, sizes=[40]), np.array([7]), known)
    assert chance == pytest.approx(1 - hypergeom.pmf(0, 40, 7, many))


def test_one_known_row_gives_the_share_of_rows():
    chance = chances_of(told([0, 1], [1], sizes=[10, 4]), np.array([5, 1]), 1)
    assert chance == pytest.approx([0.5, 0.25])


def test_all_rows_of_classes_multiply():
    chance = chances_of(told([0, 0, 1], sizes=[10, 4]), np.array([5, 1]), None)
    assert chance == pytest.approx([1 - (5 * 4 / 90) * 0.75])


def test_two_rows_of_one_class_may_tell_more_than_the_best_of_two_classes():
    """Of two rows, half of which have the value, both rows give certainty; the row of the better class does not."""
    chance = chances_of(told([0, 0, 1], sizes=[2, 100]), np.array([1, 60]), 2)
    assert chance == pytest.approx([1.0])


def test_three_rows_in_every_partition():
    having = np.array([1.0, 1.0, 1.0])
    alone = chances_of(told([0, 1, 2], sizes=[4, 4, 4]), having, 3)
    assert alone == pytest.approx([1 - 0.75**3])
    pair = chances_of(told([0, 0, 1], sizes=[4, 4, 4]), having, 3)
    assert pair == pytest.approx([1 - 0.5 * 0.75])
    three = chances_of(told([0, 0, 0, 1], sizes=[4, 4, 4]), having, 3)
    assert three == pytest.approx([1 - 0.25])


def test_fewer_rows_than_are_known():
    assert chances_of(told([0], sizes=[4]), np.array([1]), 3) == pytest.approx([0.25])


def test_nobody_has_the_value():
    assert chances_of(told([0, 0], sizes=[4]), np.array([0]), 2).tolist() == [0.0]
    assert largest_chances(told([0], sizes=[4]), one_value([0]), None, 3).tolist() == [0.0, 0.0, 0.0]


def test_rows_that_nobody_may_know_count_in_their_class():
    person, group = np.array([0, 0, 1]), np.array([0, 0, 0])
    some = choices(person, group, np.array([True, False, False]))
    assert chances_of(some, np.array([1]), None) == pytest.approx([1 / 3])


def test_decoded_counts_bound_the_chance_from_above():
    """Each of four rows has the value with a chance of its own: every world is tried."""
    shares, rows, known = [0.3, 0.6, 0.1, 0.5], 4, 2
    exact = 0.0
    for world in product((0, 1), repeat=rows):
        weight = np.prod([p if w else 1 - p for p, w in zip(shares, world, strict=True)])
        exact += weight * (1 - hypergeom.pmf(0, rows, sum(world), known))
    bound = chances_of(told([0, 0], sizes=[rows]), np.array([sum(shares)]), known)[0]
    assert exact <= bound
    assert bound == pytest.approx(1 - (2.5 / 4) * (1.5 / 3))


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="sizes"):
        told([0, 0], sizes=[1])
    with pytest.raises(ValueError, match="classes"):
        largest_chances(told([0], sizes=[4]), one_value([1, 1]), 1, 1)
    with pytest.raises(ValueError, match="known_rows"):
        chances_of(told([0], sizes=[4]), np.array([1]), 4)


@pytest.mark.slow
def test_a_person_with_very_many_rows_in_classes_takes_no_time():
    rng = np.random.default_rng(5)
    group = np.concatenate([np.arange(100_000), np.arange(100_000)])
    person = np.concatenate([np.zeros(100_000, dtype=np.int64), rng.integers(1, 50_000, 100_000)])
    having = rng.integers(0, 2, 100_000)
    for known in (1, 2, 3):
        assert chances_of(choices(person, group), having, known)[0] == pytest.approx(1 - 0.5**known)
    assert chances_of(choices(person, group), having, None)[0] == pytest.approx(1.0)


@pytest.mark.parametrize("known", [1, 2, 3, None])
def test_a_table_without_rows_and_one_of_a_single_row(known):
    nothing = np.zeros(0, dtype=np.int64)
    assert largest_chances(choices(nothing, nothing), one_value([]), known, 2).tolist() == [0.0, 0.0]
    one = np.zeros(1, dtype=np.int64)
    assert largest_chances(choices(one, one), one_value([1]), known, 1).tolist() == [1.0]


@pytest.mark.parametrize("known", [2, 3, None])
def test_more_known_rows_and_more_rows_with_the_value_never_lower_the_chance(known):
    rng = np.random.default_rng(11)
    person, group = rng.integers(0, 30, 400), rng.integers(0, 12, 400)
    told_all = choices(person, group)
    having = (told_all.sizes * rng.random(12)).astype(np.int64)
    fewer = chances_of(told_all, having, 1 if known == 2 else 2 if known == 3 else 3)
    assert (chances_of(told_all, having, known) >= fewer - 1e-12).all()
    assert (chances_of(told_all, having + 0.5, known) >= chances_of(told_all, having, known) - 1e-12).all()
    assert (chances_of(told_all, told_all.sizes, known) == 1.0).all()


@pytest.mark.parametrize("having", [3, 3.0, 3.0 + 1e-12])
def test_many_known_rows_of_a_large_class_are_exact(having):
    many = 5_000
    chance = chances_of(told([0] * many, sizes=[1_000_000]), np.array([having]), None)
    none = Fraction(995_000 * 994_999 * 994_998, 1_000_000 * 999_999 * 999_998)
    assert chance == pytest.approx([float(1 - none)], rel=1e-9)


@pytest.mark.slow(quick=7)
@pytest.mark.parametrize("known", [1, 2, 3, None])
@pytest.mark.parametrize("seed", range(5))
def test_decoded_counts_and_rows_that_nobody_may_know_by_sql(known, seed):
    rng = np.random.default_rng(seed)
    person, group, some = rng.integers(0, 9, 60), rng.integers(-1, 6, 60), rng.random(60) < 0.7
    told_some = choices(person, group, some)
    having = told_some.sizes[:, None] * rng.dirichlet([0.3, 0.3, 0.3, 0.3], len(told_some.sizes))
    classes, values = np.nonzero(having)
    begins = np.searchsorted(classes, np.arange(len(having) + 1)).astype(np.int64)
    first = largest_chances(told_some, ClassCells(begins, values.astype(np.int32), having[classes, values]), known, 4)
    rows = pa.table({"person": person, "class": pa.array(group, mask=group < 0), "known": some})
    cells = pa.table({"class": classes, "value": values, "n": having[classes, values]})
    again = chances_sql(Database(), rows, cells, known)
    assert [again.get(v, 0.0) for v in range(4)] == pytest.approx(first.tolist(), abs=1e-12)
    assert all(chances_of(told_some, having[:, v], known).max() == pytest.approx(first[v]) for v in range(4))
