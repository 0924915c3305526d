"""The smallest crowd of who knows several rows: closed forms, people with very many rows, limits; and what it tells."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import combinations as sets_of
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.people import known_rows as limits
from ppdm_flow.mining.people.known_query import KnownRowsQuery
from ppdm_flow.mining.people.known_rows import crowds_of, profiles, smallest_crowd
from ppdm_flow.mining.people.known_rows_groups import combination_groups, group_counts, least_distinct, told_by_people

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from adversary.known_rows_judging import KNOWN, Database

DATABASE = Database()


def crowds(rows, known, chunk=1 << 20):
    """Rows are (person, class), all of them linked."""
    person, group = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    return smallest_crowd(person, group, np.ones(len(rows), dtype=bool), known, chunk)


def again(rows, known):
    person, group = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    table = pa.table({"person": person, "class": group, "linked": np.ones(len(rows), dtype=bool)})
    return KnownRowsQuery(DATABASE, table).smallest_crowd(known)


def of(**people):
    return [(i, ord(c) - ord("a")) for i, classes in enumerate(people.values()) for c in classes]


def test_pairs_of_classes_that_fewer_people_have_than_each_of_them():
    rows = of(one="ab", two="bc", three="ca")
    assert [crowds(rows, known).smallest for known in KNOWN] == [2, 1, 1, 1]
    assert crowds(rows, 2).combinations == 6


def test_two_rows_of_a_class_tell_more_than_one():
    rows = of(one="aa", two="a", three="aab")
    assert crowds(rows, 1).by_person.tolist() == [3, 3, 1]
    assert crowds(rows, 2).by_person.tolist() == [2, 3, 1]
    assert crowds(rows, None).by_person.tolist() == [1, 1, 1]


def test_all_known_rows_are_the_whole_multiset_and_not_part_of_a_larger_one():
    rows = of(one="abcd", two="abcd", three="abc", four="abc")
    assert [crowds(rows, known).smallest for known in KNOWN] == [2, 2, 2, 2]
    assert crowds(of(one="abcd", two="abcd", three="abc"), 3).by_person.tolist() == [2, 2, 3]
    assert crowds(of(one="abcd", two="abcd", three="abc"), None).by_person.tolist() == [2, 2, 1]


def test_people_and_rows_below_a_bound():
    found = crowds(of(one="ab", two="ab", three="b"), 2)
    assert (found.people_below(2), found.people_below(3), found.rows_below(3), found.rows_below(4)) == (0, 2, 4, 5)


def test_only_linked_rows_with_a_class_count():
    person, group = np.array([7, 7, 9, 9]), np.array([0, -1, 0, 1])
    linked = np.array([True, True, True, False])
    found = smallest_crowd(person, group, linked, 2)
    assert (found.smallest, found.people.tolist(), found.rows.tolist()) == (2, [7, 9], [1, 1])


@pytest.mark.parametrize("known", KNOWN)
def test_nobody_is_linked(known):
    nothing = np.zeros(3, dtype=np.int64)
    found = smallest_crowd(nothing, nothing, np.zeros(3, dtype=bool), known)
    assert (found.smallest, found.combinations, found.people_below(5)) == (None, 0, 0)
    assert list(combination_groups(nothing, nothing, np.zeros(3, dtype=bool), known)) == []
    table = pa.table({"person": nothing, "class": nothing, "linked": np.zeros(3, dtype=bool), "value": nothing})
    query = KnownRowsQuery(DATABASE, table)
    assert (query.smallest_crowd(known), query.shares(known), query.least_distinct(known)) == (None, (0.0, 0.0), None)


@pytest.mark.parametrize("known", [0, 4])
def test_so_many_known_rows_are_not_offered(known):
    with pytest.raises(ValueError, match="known_rows"):
        crowds(of(one="ab"), known)


def test_one_row_a_person_gives_the_sizes_of_classes():
    group = np.random.default_rng(3).integers(0, 9, 200)
    sizes = Counter(group.tolist())
    for known in KNOWN:
        found = crowds(list(enumerate(group.tolist())), known)
        assert found.by_person.tolist() == [sizes[g] for g in group.tolist()]


ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=24)


@pytest.mark.slow
@given(ROWS, st.integers(1, 40))
def test_more_known_rows_never_find_a_larger_crowd_and_chunks_change_nothing(rows, chunk):
    found = [crowds(rows, known, chunk) for known in KNOWN]
    for fewer, more in pairwise(found):
        assert (fewer.by_person >= more.by_person).all()
    for known, each in zip(KNOWN, found, strict=True):
        whole = crowds(rows, known)
        assert (whole.combinations, whole.by_person.tolist()) == (each.combinations, each.by_person.tolist())


@pytest.mark.slow
@given(ROWS)
def test_as_trying_every_set_of_rows(rows):
    have: dict[int, Counter[int]] = {}
    for person, group in rows:
        have.setdefault(person, Counter())[group] += 1
    for known in (1, 2, 3):
        expected = []
        for _, own in sorted(have.items()):
            chosen = {s for n in range(1, known + 1) for s in sets_of(sorted(own.elements()), n)}
            expected.append(min(sum(Counter(s) <= other for other in have.values()) for s in chosen))
        assert crowds(rows, known).by_person.tolist() == expected


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr("ppdm_flow.mining.people.known_rows.MOST_COMBINATIONS", 20)
    monkeypatch.setattr("ppdm_flow.mining.people.known_rows.MOST_COMBINATIONS", 20)
    monkeypatch.setattr("ppdm_flow.mining.people.known_query.MOST_COMBINATIONS", 20)


@pytest.mark.slow
def test_a_person_with_a_hundred_thousand_classes_is_a_crowd_of_one_at_once():
    rows = [(0, c) for c in range(100_000)] + [(p, c) for p in (1, 2) for c in range(p, 100_000, 2)]
    for known in (2, 3):
        found = crowds(rows, known)
        assert found.ended_early
        assert found.smallest == 1
    assert crowds(rows, None).smallest == 1


def test_a_rare_pair_of_classes_is_found_where_there_are_too_many_to_list(few):
    shared = [(p, c) for p in range(4) for c in range(10)]
    rows = [*shared, *((p, 10) for p in (0, 1, 2)), *((p, 11) for p in (2, 3, 0)), *((4 + p, 12) for p in range(3))]
    rows = [r for r in rows if r != (2, 0)]
    found = crowds(rows, 3)
    assert (found.smallest, found.ended_early) == (1, True)
    assert again(rows, 3) == 1


def test_more_combinations_than_are_looked_at_name_what_helps(few):
    rows = [(p, c) for p in range(10) for c in range(10) if c != p]
    for measure in (crowds, again):
        with pytest.raises(UnmeasuredError, match="`limit_rows`"):
            measure(rows, 3)
    person, group = np.array(rows).T
    with pytest.raises(UnmeasuredError, match="`limit_rows`"):
        list(combination_groups(person, group, np.ones(len(rows), dtype=bool), 3))
    assert crowds(rows, None).smallest == 1


def test_people_of_equal_classes_count_as_one_list_of_combinations(few):
    rows = [(p, c) for p in range(50) for c in range(4)]
    assert (crowds(rows, 3).smallest, crowds(rows, 3).ended_early) == (50, False)
    assert again(rows, 3) == 50
    more = [(p, c) for p in range(50) for c in range(9)]
    assert (crowds(more, 3).smallest, crowds(more, 3).ended_early) == (50, True)
    assert again(more, 3) == 50


def test_classes_beyond_what_one_key_holds(monkeypatch):
    rows = of(one="abcd", two="abd", three="acda", four="dbb")
    expected = [crowds(rows, known) for known in (2, 3)]
    monkeypatch.setattr(limits, "_PACKED", 10)
    for known, each in zip((2, 3), expected, strict=True):
        found = crowds(rows, known)
        assert (found.combinations, found.by_person.tolist()) == (each.combinations, each.by_person.tolist())


@pytest.mark.slow
def test_what_a_group_tells_by_hand():
    """Two people share classes; one has the value in one of two rows, the other in both."""
    person, group, value = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0, 1, 0, 0])
    held = profiles(person, group, np.ones(4, dtype=bool))
    told = told_by_people(held.holdings, person, np.arange(4), value, None, 2)
    for known in KNOWN:
        for counts in group_counts(held, told, known):
            assert set(counts.people) == {2}
            assert set(counts.share_of_people()) == {1.0}
            assert set(counts.share_of_rows()) == {0.75}
            assert counts.weights.count[:2].tolist() == [1.5, 0.5]
        assert least_distinct(held, told, known) == 1


def test_decoded_rows_add_up_to_at_most_one_person():
    person, group = np.array([0, 0, 1]), np.array([0, 0, 0])
    held = profiles(person, group, np.ones(3, dtype=bool))
    rows, values = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 1])
    told = told_by_people(held.holdings, person, rows, values, np.array([0.75, 0.25, 0.5, 0.5, 1.0]), 2)
    (counts,) = list(group_counts(held, told, 1))
    assert counts.having.count.tolist() == [1.0, 1.75]
    assert counts.with_value.count.tolist() == [1.25, 1.75]
    assert counts.weights.count.tolist() == [0.625, 1.375]


@pytest.mark.parametrize("known", KNOWN)
def test_what_people_may_have_is_matched_and_what_they_have_for_sure_is_not_lacking(known):
    """Three people whose cells hide any of three values; then one of them shows the first in another row."""
    person, group = np.array([0, 1, 2]), np.zeros(3, dtype=np.int64)
    held = profiles(person, group, np.ones(3, dtype=bool))
    rows, values = np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3)
    told = told_by_people(held.holdings, person, rows, values, np.full(9, 1 / 3), 3)
    assert least_distinct(held, told, known) == 3
    sure = told_by_people(held.holdings, person, np.arange(3), np.array([0, 0, 1]), None, 3)
    assert least_distinct(held, sure, known) == 2


def test_the_groups_of_one_chunk_are_bounded():
    rng = np.random.default_rng(1)
    person, group = rng.integers(0, 40, 300), rng.integers(0, 5, 300)
    sizes = [len(g.persons) for g in combination_groups(person, group, np.ones(300, dtype=bool), 2, chunk=100)]
    assert max(sizes) <= 100
    assert len(sizes) > 1


def test_crowds_of_profiles_are_those_of_rows():
    person, group = np.array([0, 0, 1]), np.array([0, 1, 0])
    assert crowds_of(profiles(person, group, np.ones(3, dtype=bool)), 2).by_person.tolist() == [1, 2]


def test_rows_that_are_not_linked_tell_nothing_of_groups():
    person, group = np.array([0, 0, 1]), np.array([0, 0, 0])
    held = profiles(person, group, np.array([True, False, True]))
    with pytest.raises(ValueError, match="linked"):
        told_by_people(held.holdings, person, np.arange(3), np.zeros(3, dtype=np.int64), None, 1)
    alone = profiles(person, group, np.array([True, False, False]))
    with pytest.raises(ValueError, match="linked"):
        told_by_people(alone.holdings, person, np.array([2]), np.zeros(1, dtype=np.int64), None, 1)


def test_two_rows_of_a_class_are_looked_at_where_there_are_too_many_to_list(few):
    rows = [(p, c) for p in (0, 1) for c in range(1_000)]
    assert crowds(rows, 3).smallest == 2
    for measure in (lambda r, known: crowds(r, known).smallest, again):
        assert measure([*rows, (0, 0), (1, 0), (0, 1)], 3) == 1


@pytest.mark.slow
@given(ROWS, st.randoms())
@examples(15)
def test_names_of_people_and_classes_and_the_order_of_rows_do_not_matter(rows, rng):
    people, groups = [rng.sample(range(10**12), 6) for _ in range(2)]
    renamed = [(people[p], groups[g]) for p, g in rows]
    rng.shuffle(renamed)
    for known in KNOWN:
        one, other = crowds(rows, known), crowds(renamed, known)
        assert (one.smallest, one.combinations) == (other.smallest, other.combinations)
        assert sorted(zip(one.by_person, one.rows, strict=True)) == sorted(
            zip(other.by_person, other.rows, strict=True)
        )
