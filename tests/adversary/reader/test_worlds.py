"""Sizes and shares against a reader who enumerates every source and every pairing that the files allow."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from itertools import chain, permutations, product
from pathlib import Path
from random import Random
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from adversary.reader import figures
from adversary.reader.cases import random_source, released
from adversary.reader.files import prepare
from adversary.reader.view import CandidateGroup


def pairings_as_worlds(pairs: list[list[bool]]) -> list[list[int]]:
    """Every complete pairing of the rows of two files."""
    return [list(p) for p in permutations(range(len(pairs))) if all(pairs[i][j] for i, j in enumerate(p))]


def posteriors(group: CandidateGroup) -> dict[int, float]:
    total = sum(c.weight for c in group.candidates)
    return {c.row: c.weight / total for c in group.candidates}


@pytest.mark.random(quick=1)
@pytest.mark.parametrize("part", range(10))
def test_files_that_share_one_attribute_have_the_posteriors_of_all_pairings(part: int) -> None:
    """One file shows x or a map of it, the other x: posteriors are exact."""
    for number in range(15 * part, 15 * part + 15):
        draw = Random(number)
        source = random_source(draw, draw.randint(4, 6), extra=("x",))
        for row in source:
            row["x"] = draw.choice("pqr")
        labels = (
            {"p": "L", "q": draw.choice("LM"), "r": draw.choice("LM")} if draw.random() < 0.6 else {v: v for v in "pqr"}
        )
        second = list(range(len(source)))
        draw.shuffle(second)
        files = [
            released("1", source, {"a": "a", "x": ({"x"}, lambda row, own=labels: own[row["x"]]), "s": "s"}),
            released("2", source, {"b": "b", "x": "x"}, second),
        ]
        prepared = prepare(source, files)
        if prepared.names != {a: a for a in source[0]}:
            continue
        pairs = [[labels[source[i]["x"]] == labels[source[j]["x"]] for j in second] for i in range(len(source))]
        worlds = pairings_as_worlds(pairs)
        for group in figures.find_groups(prepared, "ab", "s"):
            if len(group.files) == 1 or group.file != "1":
                continue
            known = source[group.sought]
            chance: Counter[int] = Counter()
            for world in worlds:
                for i, j in enumerate(world):
                    chance[i] += source[i]["a"] == known["a"] and source[second[j]]["b"] == known["b"]
            expected = {i: n / chance.total() for i, n in chance.items() if n}
            assert posteriors(group) == pytest.approx(expected, abs=1e-5), number
            assert figures.posterior_size(group) == pytest.approx(1 / max(expected.values()), abs=1e-4), number
            shares: Counter[Any] = Counter()
            for i, p in expected.items():
                shares[source[i]["s"]] += p
            assert figures.share_of(group, {known["s"]}) >= shares[known["s"]] - 1e-5, number


@pytest.mark.random(quick=1)
@pytest.mark.parametrize("part", range(10))
def test_a_mixed_column_has_the_posteriors_of_all_sources(part: int) -> None:
    """A file shows a and an id made of b and s: which row has which b and s is open among rows of one id."""
    for number in range(15 * part, 15 * part + 15):
        draw = Random(number)
        source = random_source(draw, draw.randint(4, 6))
        ids = {pair: draw.choice("LM") for pair in product(["b0", "b1", "b2"], ["s0", "s1", "s2"])}
        column = {"b", "s"}, lambda row, own=ids: own[row["b"], row["s"]]
        prepared = prepare(source, [released("1", source, {"a": "a", "m": column})])
        if prepared.names != {a: a for a in source[0]}:
            continue
        rows = defaultdict(list)
        for i, row in enumerate(source):
            rows[ids[row["b"], row["s"]]].append(i)
        orders = product(*(list(permutations(numbers)) for numbers in rows.values()))
        places = [i for numbers in rows.values() for i in numbers]
        worlds = [{i: source[k]["b"] for i, k in zip(places, chain(*order), strict=True)} for order in orders]
        for group in figures.find_groups(prepared, "ab", "s"):
            known = source[group.sought]
            chance = Counter(i for b in worlds for i in b if source[i]["a"] == known["a"] and b[i] == known["b"])
            expected = {i: n / chance.total() for i, n in chance.items()}
            assert posteriors(group) == pytest.approx(expected), number


@pytest.mark.random(quick=1)
@pytest.mark.parametrize("part", range(10))
def test_overlapping_labels_come_near_the_posteriors_of_all_pairings(part: int) -> None:
    """Each file shows another coarse label of x: pairs are scaled, and sizes stay near those of all pairings."""
    deviations = []
    for number in range(15 * part, 15 * part + 15):
        draw = Random(number)
        source = random_source(draw, draw.randint(4, 6))
        for row in source:
            row["x"] = draw.choice("pqr")
        labels = [{"p": "L", "q": "L", "r": "M"}, {"p": "N", "q": "O", "r": "O"}]
        files = [
            released(str(n), source, {known: known, "x": ({"x"}, lambda row, own=own: own[row["x"]])})
            for n, (known, own) in enumerate(zip("ab", labels, strict=True))
        ]
        prepared = prepare(source, files)
        if prepared.names != {a: a for a in source[0]}:
            continue
        shown = [{own: {r["x"] for r in source if o[r["x"]] == own} for own in o.values()} for o in labels]
        pairs = [[bool(shown[0][labels[0][r["x"]]] & shown[1][labels[1][t["x"]]]) for t in source] for r in source]
        worlds = pairings_as_worlds(pairs)
        for group in figures.find_groups(prepared, "ab"):
            if len(group.files) == 1 or group.file != "0":
                continue
            known = source[group.sought]
            chance: Counter[int] = Counter()
            for world in worlds:
                for i, j in enumerate(world):
                    chance[i] += source[i]["a"] == known["a"] and source[j]["b"] == known["b"]
            expected = chance.total() / max(chance.values())
            assert {c.row for c in group.candidates} == {i for i, n in chance.items() if n}, number
            deviations.append(figures.posterior_size(group) / expected - 1)
    assert max(deviations) < 0.25
    assert min(deviations) > -0.25
    assert sum(abs(d) for d in deviations) / len(deviations) < 0.05
