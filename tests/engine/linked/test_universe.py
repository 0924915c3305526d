"""The join of tables by person against all combinations, one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.engine.linked.joining import NOWHERE, RowsInTurn, TooManyRowsError, Universe

NAMES = ("people", "visits", "claims")


@st.composite
def tables(draw):
    """Whose the rows of two or three tables are, and which of them left."""
    count = draw(st.integers(1, 5))
    names = NAMES[: draw(st.integers(2, 3))]
    people = {name: draw(st.lists(st.integers(0, count - 1), max_size=6)) for name in names}
    left = {name: draw(st.lists(st.booleans(), min_size=len(p), max_size=len(p))) for name, p in people.items()}
    return count, people, left


def combined(count, people, left):
    """Each combination of each person's rows, with nothing where there is none in a table."""
    joined = []
    for person in range(count):
        own = [
            [i for i, p in enumerate(rows) if p == person and left[name][i]] or [NOWHERE]
            for name, rows in people.items()
        ]
        joined += [(person, *each) for each in product(*own) if set(each) != {NOWHERE}]
    return sorted(joined)


def arrays(people):
    return {name: np.array(rows, dtype=np.int64) for name, rows in people.items()}


@examples(120)
@given(tables())
def test_the_join_has_every_combination_once(example):
    count, people, left = example
    universe = Universe.of(arrays(people), count)
    everything = {name: [True] * len(rows) for name, rows in people.items()}
    whole = zip(universe.person.tolist(), *(universe.places[n].tolist() for n in people), strict=True)
    assert sorted(whole) == combined(count, people, everything)
    rows, places = universe.released({name: np.array(mask, dtype=bool) for name, mask in left.items()})
    some = zip(universe.person[rows].tolist(), *(places[n].tolist() for n in people), strict=True)
    assert sorted(some) == combined(count, people, left)


def test_too_many_rows_are_refused_before_they_are_made():
    people = arrays({"visits": [0] * 100, "claims": [0] * 100})
    assert len(Universe.of(people, 1, most=10_000).person) == 10_000
    with pytest.raises(TooManyRowsError):
        Universe.of(people, 1, most=9_999)


@examples(90)
@given(tables())
def test_rows_in_turn_are_each_there_once(example):
    count, _, left = example
    people = {**example[1], "people": sorted(set(example[1]["people"]))}
    left = {name: mask[: len(people[name])] for name, mask in left.items()}
    own = {p: i for i, p in enumerate(people["people"]) if left["people"][i]}
    expected = [
        (p, own.get(p, NOWHERE), *(i if other == name else NOWHERE for other in list(people)[1:]))
        for name in list(people)[1:]
        for i, p in enumerate(people[name])
        if left[name][i]
    ]
    there = {row[0] for row in expected}
    expected += [(p, i, *[NOWHERE] * (len(people) - 1)) for p, i in own.items() if p not in there]
    turns = RowsInTurn.of(arrays(people), count, list(people)[1:])
    rows, places = turns.released({name: np.array(mask, dtype=bool) for name, mask in left.items()})
    some = zip(turns.person[rows].tolist(), *(places[n].tolist() for n in people), strict=True)
    assert sorted(some) == sorted(expected)
