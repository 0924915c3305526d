"""What is the same in all rows of a person, and which of these rows are known."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ppdm_flow.reader.files import SourceRows
from ppdm_flow.reader.people import choices, steady_of_people, usually_steady
from ppdm_flow.reader.query.query_reader import QueryReader
from ppdm_flow.reader.row_kinds import ReaderQuestion
from tests.reader.database import database


def source_of(unit: list[int], **codes: list[int]) -> SourceRows:
    """Return a source whose subject is ``who``."""
    every = {"who": np.array(unit), **{name: np.array(values) for name, values in codes.items()}}
    return SourceRows(every, np.array(unit), np.ones(len(unit), dtype=np.int64), "who")


def usually_steady_by_pairs(source: SourceRows) -> set[str]:
    """Return what differs a quarter as often within people, or agrees four times as often, as pairs of rows say."""
    pairs = list(combinations(range(len(source)), 2))
    within = [(i, j) for i, j in pairs if source.unit[i] == source.unit[j]]
    between = [(i, j) for i, j in pairs if source.unit[i] != source.unit[j]]
    steady = {"who"}
    for name, values in source.codes.items() if within and between else ():
        inside, outside = (Fraction(sum(values[i] != values[j] for i, j in p), len(p)) for p in (within, between))
        if len(set(values.tolist())) > 1 and (
            4 * inside <= outside or (inside < 1 and 1 - inside >= 4 * (1 - outside))
        ):
            steady.add(name)
    return steady


def steady_by_both_routes(source: SourceRows) -> set[str]:
    """Return what is steady, and check each person's own."""
    steady = set(usually_steady(source))
    sets, number = steady_of_people(source)
    of_people = {u: sets[number[u]] for u in np.unique(source.unit).tolist()}
    for unit, own in of_people.items():
        mine = {a for a in steady if len(set(source.codes[a][source.unit == unit].tolist())) == 1}
        assert own == mine
    reader = QueryReader(database(), source, [], ReaderQuestion(()), by_row=False)
    rows = reader.base.rows(f"SELECT unit, s FROM {reader.steady_of_units}")
    assert {unit: reader.steady[s] for unit, s in rows} == of_people
    return steady


@pytest.mark.parametrize(
    ("unit", "values", "steady"),
    [
        ([0, 0, 1, 1], [0, 0, 1, 1], True),
        ([0, 0, 1, 1], [0, 1, 0, 1], False),
        ([0, 0, 1, 1], [0, 0, 0, 0], False),
        ([0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 4, 5], False),
        ([0, 1, 2], [0, 1, 2], False),
        ([0, 0, 0], [0, 1, 0], False),
        ([0, 0, 0, 0, 1], [0, 0, 0, 1, 1], False),
        ([0, 0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 2, 3, 3], True),
        ([0, 1, 1, 2, 2, 2, 2, 3], [1, 2, 1, 1, 1, 1, 1, 3], True),  # one of 7 pairs differs within, 4 of 7 between
        ([0, 0, 1, 1, 2, 2], [1, 2, 3, 3, 2, 0], True),  # one of 3 pairs agrees within, one of 12 between
    ],
)
def test_an_attribute_is_steady_by_pairs_of_rows(unit: list[int], values: list[int], *, steady: bool) -> None:
    """Values that are another in each row, or the same in all, are not; nor is any if no person has several rows."""
    source = source_of(unit, a=values)
    assert usually_steady_by_pairs(source) == {"who", *("a" if steady else "")}
    assert steady_by_both_routes(source) == {"who", *("a" if steady else "")}


@pytest.mark.parametrize("seed", range(8))
def test_steady_attributes_of_random_sources(seed: int) -> None:
    random = Random(seed)
    size = random.randint(8, 16)
    unit = sorted(random.randrange(size // 2) for _ in range(size))
    unit = [sorted(set(unit)).index(u) for u in unit]
    codes = {}
    for n, domain in enumerate((2, 3, 5, 5, 9, 9)):
        own = [random.randrange(domain) for _ in range(size)]
        codes[f"a{n}"] = [random.randrange(domain) if random.random() < n / 12 else own[u] for u in unit]
    source = source_of(unit, **codes)
    assert steady_by_both_routes(source) == usually_steady_by_pairs(source)


def test_choices_of_known_rows() -> None:
    """Two people; the first has three rows, of which the first two lie in one row of a file and two are alike."""
    unit, known = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 0, 0, 1, -1])
    files = [
        SimpleNamespace(place=np.array([0, 0, 1, 2, 3, -1])),
        SimpleNamespace(place=np.array([-1, -1, 0, 1, 1, 2])),
    ]
    search: Any = SimpleNamespace(source=source_of(unit.tolist()), known_of=known, files=files)
    steady = np.array([0, 1, 0])
    every = [sorted(map(tuple, t.astype(int).to_numpy().tolist())) for t in choices(search, steady, "all")]
    assert every == [
        [(0, 0, 2), (0, 1, 1), (1, 0, 1), (1, 1, 1)],
        [(0, 0, 0, 0, 0, 1), (0, 0, 1, 1, 0, 1), (0, 1, 0, 0, 0, 1), (1, 0, 1, 0, 1, 1)],
        [(0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1)],
    ]
    assert [len(list(choices(search, steady, most))) for most in (1, 2, 3, 4)] == [1, 2, 3, 3]
    columns = [list(t.columns) for t in choices(search, steady, 2)]
    assert columns == [["steady", "row0", "many"], ["steady", "row0", "row1", "same0_0_1", "same1_0_1", "many"]]
