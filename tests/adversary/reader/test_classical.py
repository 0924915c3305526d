"""On one file of maps the reader's figures are those of the papers, by direct formulas."""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from adversary.reader import figures as reader
from adversary.reader.cases import random_map, random_source, released, table
from adversary.reader.files import prepare
from adversary.reader.guesses import steady_attributes

pytestmark = pytest.mark.random(quick=1)


class Classes:
    """The classes of one file whose columns are maps of a, b and s, and what the class of each row reveals of s."""

    def __init__(
        self, source: list[dict[str, Any]], columns: dict[str, Any], known: tuple[str, ...], nulls: str
    ) -> None:
        self.cells = [{n: make(row) for n, (_, make) in columns.items()} for row in source]
        self.people = [row.get("person", i) for i, row in enumerate(source)]
        shown = [n for n in columns if n in known]
        self.rows = [
            i for i, c in enumerate(self.cells) if nulls != "exclude" or None not in [c[n] for n in (*shown, *"s")]
        ]
        decoded = defaultdict(Counter)
        for i in self.rows:
            decoded[self.cells[i]["s"]][source[i]["s"]] += 1
        self.told = {
            i: {v: Fraction(n, decoded[self.cells[i]["s"]].total()) for v, n in decoded[self.cells[i]["s"]].items()}
            for i in self.rows
        }
        self.classes = [[i for i in self.rows if self._fits(i, k, shown, nulls)] for k in self.rows]

    def _fits(self, row: int, k: int, shown: list[str], nulls: str) -> bool:
        pairs = [(self.cells[row][n], self.cells[k][n]) for n in shown]
        return all(cell == own or (nulls == "wildcard" and cell is None) for cell, own in pairs)

    def size(self) -> int:
        return min(len({self.people[i] for i in c}) for c in self.classes)

    def share(self, rows: list[int], values: set[Any]) -> Fraction:
        by_row = [sum((self.told[i].get(v, 0) for v in values), Fraction(0)) for i in rows]
        people: Counter[Any] = Counter()
        for i, p in zip(rows, by_row, strict=True):
            people[self.people[i]] += p
        by_person = sum(min(Fraction(1), p) for p in people.values()) / len(people)
        return max(sum(by_row) / len(rows), by_person)

    def values(self) -> set[Any]:
        return {v for told in self.told.values() for v in told}

    def alpha(self) -> Fraction:
        return max(self.share(c, {v}) for c in self.classes for v in self.values())

    def distribution(self, rows: list[int]) -> dict[Any, Fraction]:
        number = Counter(self.people[i] for i in rows)
        found: Counter[Any] = Counter()
        for i in rows:
            for v, p in self.told[i].items():
                found[v] += p / number[self.people[i]] / len(number)
        return dict(found)

    def worst(self, figure: Any, worst: Any = max) -> float:
        base = self.distribution(self.rows)
        return worst(float(figure(self.distribution(c), base)) for c in self.classes)

    def distinct(self, rows: list[int]) -> int:
        people: defaultdict[Any, set[Any]] = defaultdict(set)
        certain: Counter[Any] = Counter()
        chances: defaultdict[Any, Counter[Any]] = defaultdict(Counter)
        for i in rows:
            people[self.people[i]] |= set(self.told[i])
            for v, p in self.told[i].items():
                chances[v][self.people[i]] += p
        for v, own in chances.items():
            certain[v] = sum(p >= 1 for p in own.values())
        values = sorted({v for own in people.values() for v in own}, key=str)
        hall = (
            len(people) - len(some) + len({v for p in some for v in people[p]})
            for n in range(len(people) + 1)
            for some in combinations(people, n)
        )
        return min(*hall, *(1 + len(people) - certain[v] for v in values))


def entropy(p: dict[Any, Fraction], q: object) -> float:
    return math.exp(-sum(float(x) * math.log(x) for x in p.values()))


def recursive(p: dict[Any, Fraction], q: object) -> int:
    r = sorted(p.values(), reverse=True)
    return max((n for n in range(1, len(r) + 1) if r[0] < 2 * sum(r[n - 1 :])), default=0)


def equal(p: dict[Any, Fraction], q: dict[Any, Fraction]) -> Fraction:
    return sum(abs(p.get(v, 0) - q.get(v, 0)) for v in q) / 2


def ordered(p: dict[Any, Fraction], q: dict[Any, Fraction]) -> Fraction:
    values = sorted(q)
    heads = [values[:n] for n in range(1, len(values))]
    return sum(abs(sum(p.get(v, 0) - q[v] for v in head)) for head in heads) / max(1, len(values) - 1)


def beta(p: dict[Any, Fraction], q: dict[Any, Fraction]) -> Fraction:
    return max(p[v] / q[v] - 1 for v in p)


def delta(p: dict[Any, Fraction], q: dict[Any, Fraction]) -> float:
    return max(abs(math.log(p[v] / q[v])) if v in p else math.inf for v in q)


def random_file(number: int) -> tuple[Random, list[dict[str, Any]], dict[str, Any], str]:
    draw = Random(number)
    nulls = draw.choice(("own_category", "own_category", "exclude", "wildcard"))
    source = random_source(draw, draw.randint(4, 9), people=draw.random() < 0.5, missing=draw.random() < 0.4)
    columns = {n: random_map(draw, n, source) for n in "abs" if n == "s" or draw.random() < 0.8}
    return draw, source, columns, nulls


@pytest.mark.random(quick=3)
@pytest.mark.parametrize("part", range(10))
def test_one_file_of_maps_has_the_classical_figures(part: int) -> None:
    compared = 0
    for number in range(50 * part, 50 * part + 50):
        _, source, columns, nulls = random_file(number)
        prepared = prepare(
            source, [released("1", source, columns)], subject="person" if "person" in source[0] else None
        )
        groups = reader.find_groups(prepared, "ab", "s", nulls=nulls)
        classes = Classes(source, columns, ("a", "b"), nulls)
        if prepared.names != {a: a for a in source[0]} or not classes.rows:
            continue  # equal attributes are one attribute, which the formulas do not know
        compared += 1
        assert reader.smallest_size(groups) == classes.size(), number
        assert reader.smallest_posterior_size(groups) == pytest.approx(classes.size()), number
        assert reader.largest_share(groups) == pytest.approx(float(classes.alpha())), number
        assert reader.smallest_distinct_l(groups) == min(map(classes.distinct, classes.classes)), number
        pairs = [
            (reader.entropy_l, entropy, min),
            (reader.recursive_l(2), recursive, min),
            (reader.equal_distance, equal, max),
            (reader.relative_gain, beta, max),
            (reader.log_ratio, delta, max),
        ]
        if None not in classes.values():
            pairs.append((reader.ordered_distance(), ordered, max))
        for figure, formula, worst in pairs:
            measured = reader.worst_distribution(groups, figure, worst)
            assert measured == pytest.approx(classes.worst(formula, worst)), (number, formula.__name__)
    assert compared > 35


@pytest.mark.random(quick=1)
@pytest.mark.parametrize("part", range(4))
def test_sets_of_known_attributes_have_the_classical_figures(part: int) -> None:
    for number in range(25 * part, 25 * part + 25):
        draw, source, columns, _ = random_file(number)
        subject = "person" if "person" in source[0] else None
        prepared = prepare(source, [released("1", source, columns)], subject=subject)
        if prepared.names != {a: a for a in source[0]}:
            continue
        values = {v for v in {row["s"] for row in source} if draw.random() < 0.6}
        known = [Classes(source, columns, k, "own_category") for k in ((), ("a",), ("b",))]
        k, c = reader.lkc_figures(prepared, "ab", 1, "s", values)
        assert k == min(own.size() for own in known), number
        assert c == pytest.approx(float(max(own.share(rows, values) for own in known for rows in own.classes))), number
        known.append(Classes(source, columns, ("a", "b"), "own_category"))
        alone = {
            own.people[i]
            for own in known[1:]
            for i, rows in zip(own.rows, own.classes, strict=True)
            if len({own.people[j] for j in rows}) == 1
        }
        people = {row.get("person", i) for i, row in enumerate(source)}
        assert reader.unique_share(prepared, "ab", 2) == pytest.approx(len(alone) / len(people)), number


@pytest.mark.random(quick=1)
@pytest.mark.parametrize("part", range(4))
def test_several_known_rows_that_nobody_can_link_have_the_chance_of_drawing_them(part: int) -> None:
    compared = 0
    for number in range(25 * part, 25 * part + 25):
        draw = Random(number)
        source = random_source(draw, draw.randint(4, 7), people=True)
        columns = {n: ({n}, lambda row, n=n: row[n]) for n in "as"}
        prepared = prepare(source, [released("1", source, columns)], subject="person")
        if steady_attributes(prepared) != {"person"} or prepared.names != {a: a for a in source[0]}:
            continue
        compared += 1
        groups = reader.find_groups(prepared, "a", "s", known_rows=2)
        classes = Classes(source, columns, ("a",), "own_category")
        best = classes.alpha()
        for one, other in combinations(range(len(source)), 2):
            if source[one]["person"] == source[other]["person"]:
                for v in classes.values():
                    best = max(best, _chance(source, one, other, v))
        assert reader.smallest_size(groups) == classes.size(), number
        assert reader.largest_share(groups) == pytest.approx(float(best)), number
    assert compared


def _chance(source: list[dict[str, Any]], one: int, other: int, value: Any) -> Fraction:
    """That one of two rows has a value, of all rows that look like them."""
    rows = [[i for i, r in enumerate(source) if r["a"] == source[k]["a"]] for k in (one, other)]
    chosen = [(i, j) for i in rows[0] for j in rows[1] if i != j]
    return Fraction(sum(value in (source[i]["s"], source[j]["s"]) for i, j in chosen), len(chosen))


def test_templates_count_each_value_alone_and_lkc_their_union() -> None:
    source = table("a s", "a0 x | a0 y | a0 z | a0 z")
    prepared = prepare(source, [released("1", source, {"a": "a", "s": "s"})])
    groups = reader.find_groups(prepared, "a", "s")
    assert reader.largest_share(groups, ["x", "y"]) == 0.25
    assert reader.largest_share_of_others(groups, ["x"]) == 0.75
    assert reader.lkc_figures(prepared, "a", 1, "s", ["x", "y"]) == (4, 0.5)


@pytest.mark.random(quick=1)
@pytest.mark.parametrize("part", range(4))
def test_a_weight_is_so_many_rows(part: int) -> None:
    for number in range(25 * part, 25 * part + 25):
        draw, source, columns, nulls = random_file(1000 + number)
        source = [{n: v for n, v in row.items() if n != "person"} for row in source[:6]]
        weights = [draw.choice((1, 1, 2)) for _ in source]
        one = prepare(source, [released("1", source, columns)], weights=weights)
        repeated = [row for row, n in zip(source, weights, strict=True) for _ in range(n)]
        other = prepare(repeated, [released("1", repeated, columns)])
        found = [reader.find_groups(p, "ab", "s", nulls=nulls) for p in (one, other)]
        for figure in (reader.smallest_size, reader.largest_share, reader.smallest_distinct_l):
            assert figure(found[0]) == figure(found[1]), number


def test_a_weight_beside_a_release_that_was_expanded() -> None:
    source = table("a b n", "a0 b0 2 | a0 b1 1 | a1 b0 1")
    numbered = {"a": "a", "n": "n"}
    expanded = released("2", source, {"b": "b", "n": "n"}, [0, 0, 1, 2])
    together = prepare(source, [released("1", source, numbered), expanded], weights=[2, 1, 1])
    assert reader.smallest_size(reader.find_groups(together, "ab")) == 1
    assert reader.smallest_size(reader.find_groups(together, "ab", apart=True)) == 1
    apart = prepare(source, [released("1", source, {"a": "a"})], weights=[2, 1, 1])
    assert reader.smallest_size(reader.find_groups(apart, "ab")) == 1


@pytest.mark.random(quick=1)
@pytest.mark.parametrize("part", range(4))
def test_pseudonyms_show_all_values_of_a_person(part: int) -> None:
    for number in range(25 * part, 25 * part + 25):
        draw = Random(number)
        source = random_source(draw, draw.randint(5, 9), people=True)
        pseudonym = {"person"}, lambda row: f"K{row['person']}", {"kind": "keyed", "key": "K"}
        prepared = prepare(source, [released("1", source, {"p": pseudonym, "a": "a", "s": "s"})], subject="person")
        if prepared.names != {a: a for a in source[0]}:
            continue
        groups = reader.find_groups(prepared, "a", "s")
        classes = Classes(source, {n: ({n}, lambda row, n=n: row[n]) for n in "as"}, ("a",), "own_category")
        best = float(classes.alpha())
        for rows in classes.classes:
            people = {classes.people[i] for i in rows}
            for v in classes.values():
                having = {row["person"] for row in source if row["s"] == v}
                by_row = sum(classes.people[i] in having for i in rows) / len(rows)
                best = max(best, len(people & having) / len(people), by_row)
        assert reader.smallest_size(groups) == classes.size(), number
        assert reader.largest_share(groups) == pytest.approx(best), number
