"""The parts of the reader by themselves, against enumerations and figures that were worked out by hand."""

from __future__ import annotations

import math
import sys
from itertools import permutations, product
from pathlib import Path
from random import Random

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from adversary.reader import figures
from adversary.reader.cases import released, table
from adversary.reader.chances import complete_pairs, scale
from adversary.reader.files import HiddenCells, NotVerified, ReleasedColumn, prepare
from adversary.reader.guesses import steady_attributes
from adversary.reader.showing import ShownValues, can_hold, possible_values
from adversary.reader.view import CandidateGroup

pytestmark = pytest.mark.random(quick=1)


def test_joint_assignments_are_those_of_an_enumeration() -> None:
    draw = Random(1)
    holding = 0
    for _ in range(300):
        shown = []
        for _ in range(draw.randint(1, 4)):
            attributes = tuple(sorted(draw.sample("xyz", draw.choice((1, 2, 2)))))
            every = list(product((0, 1, 2), repeat=len(attributes)))
            shown.append(ShownValues(attributes, frozenset(draw.sample(every, draw.randint(1, min(4, len(every)))))))
        known = {"x": draw.randrange(3)} if draw.random() < 0.5 else {}
        assignments = [
            values
            for values in (dict(zip("xyz", v, strict=True)) for v in product((0, 1, 2), repeat=3))
            if all(tuple(values[a] for a in s.attributes) in s.combinations for s in shown)
            and all(values[a] == v for a, v in known.items())
        ]
        assert can_hold(shown, known) == bool(assignments)
        holding += bool(assignments)
        if "z" in {a for s in shown for a in s.attributes}:
            assert possible_values(shown, known, "z") == {values["z"] for values in assignments}
    assert 50 < holding < 250


def test_an_attribute_that_nothing_shows_may_have_any_value() -> None:
    shown = [ShownValues(("x",), frozenset({(1,)}))]
    assert possible_values(shown, {}, "y") is None
    assert possible_values(shown, {"y": 2}, "y") == {2}


def test_pairs_of_complete_pairings_are_those_of_an_enumeration() -> None:
    draw = Random(2)
    for _ in range(200):
        size = draw.randint(1, 5)
        possible = np.array([[draw.random() < 0.5 for _ in range(size)] for _ in range(size)])
        worlds = [p for p in permutations(range(size)) if all(possible[i, j] for i, j in enumerate(p))]
        pairs = complete_pairs(possible)
        if not worlds:
            assert pairs is None
            continue
        expected = np.zeros((size, size), dtype=bool)
        for world in worlds:
            expected[range(size), world] = True
        assert pairs is not None
        assert (pairs == expected).all()


def test_scaled_chances_sum_to_one() -> None:
    start = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    assert scale(start) == pytest.approx(np.eye(3))
    narrow = scale(np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]))
    assert narrow == pytest.approx(np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]))
    assert scale(np.array([[1.0, 0.0], [1.0, 0.0]])) is None


def group_of(groups: list[CandidateGroup], sought: int, file: str) -> CandidateGroup:
    """The group for a known row in a file, for a reader of all files."""
    (found,) = [g for g in groups if g.sought == sought and g.file == file and len(g.files) > 1]
    return found


def test_figures_by_weight_where_a_rare_value_joins_two_files() -> None:
    """X is the known row's for sure; each of the five F rows of a file pairs with each of the other by 1/5."""
    source = table("a b s", "a0 b0 X | a0 b0 F | a0 b1 F | a1 b0 F | a1 b1 F | a1 b1 F")
    files = [released("1", source, {"a": "a", "s": "s"}), released("2", source, {"b": "b", "s": "s"})]
    group = group_of(figures.find_groups(prepare(source, files), "ab", "s"), 0, "1")
    assert {c.row: c.weight for c in group.candidates} == pytest.approx({0: 1.0, 1: 0.4, 2: 0.4})
    assert figures.posterior_size(group) == pytest.approx(1.8)
    assert figures.share_of(group, {"X"}) == pytest.approx(5 / 9)
    assert figures.share_of(group, {"F"}) == pytest.approx(2 / 3)  # with equal weights
    assert figures.distinct_l(group) == 2
    worst = figures.worst_distribution
    assert worst([group], figures.equal_distance) == pytest.approx(5 / 9 - 1 / 6)
    assert worst([group], figures.ordered_distance(["X", "F"])) == pytest.approx(5 / 9 - 1 / 6)
    assert worst([group], figures.relative_gain) == pytest.approx(7 / 3)
    assert worst([group], figures.log_ratio) == pytest.approx(math.log(10 / 3))
    equal = math.exp(math.log(3) - 2 / 3 * math.log(2))
    assert worst([group], figures.entropy_l, min) == pytest.approx(equal)
    assert worst([group], figures.recursive_l(1.5), min) == 1
    assert worst([group], figures.recursive_l(3), min) == 2


def test_ordered_distance_moves_missing_values_first() -> None:
    distance = figures.ordered_distance()
    assert distance({1: 1.0}, {1: 0.5, 3: 0.5}) == pytest.approx(0.5)
    assert distance({1: 1.0}, {1: 0.5, 2: 0.25, 3: 0.25}) == pytest.approx(0.375)
    assert distance({None: 1.0}, {1: 0.5, 2: 0.5}) == pytest.approx(1.0)
    assert distance({None: 0.5, 1: 0.5}, {1: 0.5, 2: 0.5}) == pytest.approx(0.75)


def test_exchanged_values_count_as_they_were_and_as_they_are_shown() -> None:
    source = table("a s", "a0 x | a0 x | a1 y | a1 y")
    shown = dict(zip(map(id, source), "xyyx", strict=True))
    swapped = {"s"}, lambda row: shown[id(row)], {"kind": "exchanged"}
    prepared = prepare(source, [released("1", source, {"a": "a", "s": swapped})])
    assert figures.largest_share(figures.find_groups(prepared, "a", "s")) == pytest.approx(0.5)
    within = dict(zip(map(id, source), "xxyy", strict=True))
    same = {"s"}, lambda row: within[id(row)], {"kind": "exchanged"}
    prepared = prepare(source, [released("1", source, {"a": "a", "s": same})])
    assert figures.largest_share(figures.find_groups(prepared, "a", "s")) == 1.0


def test_cells_that_are_no_function_of_what_they_carry_are_not_verified() -> None:
    source = table("a n s", "a0 1 x | a0 1 y | a1 2 x")
    chosen = {"n"}, lambda row: "*" if row["s"] == "x" else row["n"]
    with pytest.raises(NotVerified, match="lineage"):
        figures.find_groups(prepare(source, [released("1", source, {"a": "a", "n": chosen})]), "a", "s")


def test_shown_cells_beside_hidden_ones_carry_what_decided_but_the_secret() -> None:
    hidden = HiddenCells(frozenset({"a", "b", "s"}), requirement="l", sensitive="s")
    column = ReleasedColumn("b", frozenset({"b"}), hidden=hidden)
    assert column.carried("*") == {"a", "b", "s"}
    assert column.carried("b0") == {"a", "b"}


def test_steady_attributes_differ_rarely_within_people_or_agree_often() -> None:
    source = table("person sex h z", "p1 f N z1 | p1 f S z1 | p2 m N z2 | p2 m S z2 | p3 f N z3 | p3 f S z4")
    assert steady_attributes(prepare(source, [], subject="person")) == {"person", "sex", "z"}
    once = table("person sex", "p1 f | p2 m | p3 f")
    assert steady_attributes(prepare(once, [], subject="person")) == {"person"}
    assert steady_attributes(prepare(once, [])) == set()


def test_known_rows_of_one_person_are_found_by_a_steady_column() -> None:
    source = table("person h z", "p1 N z1 | p1 S z1 | p2 N z2 | p2 N z2 | p3 N z3 | p3 N z3 | p4 S z4 | p4 S z4")
    prepared = prepare(source, [released("1", source, {"h": "h", "z": "z"})], subject="person")
    assert figures.smallest_size(figures.find_groups(prepared, "h", known_rows=1)) == 2
    assert figures.smallest_size(figures.find_groups(prepared, "h", known_rows=2)) == 1
    without = prepare(source, [released("1", source, {"h": "h"})], subject="person")
    assert figures.smallest_size(figures.find_groups(without, "h", known_rows=2)) == 2
