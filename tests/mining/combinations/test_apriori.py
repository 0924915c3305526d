"""Apriori anonymization: against its twin, by brute force, and on owners of very many codes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from apriori_twin import Twin, supports

from ppdm_flow.mining.combinations.apriori import NoCutError, generalized
from ppdm_flow.mining.combinations.cut import CHEAPER, LEAVE_OUT, ROLL_UP, ROLL_UP_FIRST
from ppdm_flow.mining.combinations.owners import Owners, flat, tree_of
from ppdm_flow.mining.combinations.search import TooManyCombinationsError, rare, smallest

WAYS = (ROLL_UP, LEAVE_OUT, CHEAPER, ROLL_UP_FIRST)


def example(seed):
    """Random bags or sets, with weights or of people with several, below a random tree."""
    draw = Random(seed)
    width, repeated = draw.randint(1, 8), draw.random() < 0.4
    bags = [Counter(draw.choices(range(width), k=draw.randint(0, 6))) for _ in range(draw.randint(0, 14))]
    bags = bags if repeated else [Counter(set(b)) for b in bags]
    persons = sorted(draw.randint(0, len(bags) // 2) for _ in bags) if draw.random() < 0.5 else None
    weights = [draw.randint(0, 3) if draw.random() < 0.3 and persons is None else 1 for _ in bags]
    groups, tops = draw.randint(1, 4), draw.randint(1, 2)
    parents = [width + draw.randrange(groups) for _ in range(width)]
    parents += [width + groups + draw.randrange(tops) for _ in range(groups)]
    parents += [width + groups + tops] * tops + [-1]
    values = [1] * width + [0] * (groups + tops + 1)
    for leaf in range(width):
        node = parents[leaf]
        while node != -1:
            values[node] += 1
            node = parents[node]
    twin = Twin(bags, weights, parents, list(range(width)), values, width, repeated, persons)
    owned = Owners.of_bags(bags, width, weights)
    whose = None if persons is None else np.array(persons, dtype=np.int64)
    owned = replace(owned, persons=whose)
    if not repeated:
        owned = Owners.of_sets(owned.begins, owned.codes, owned.weights, width, whose)
    return draw, twin, owned


@pytest.mark.parametrize("seed", range(150))
def test_rare_combinations_are_those_of_enumeration(seed):
    draw, twin, owned = example(seed)
    least = draw.randint(1, 4)
    for size in (1, 2, 3, 4):
        found = supports(twin.bags, twin.weights, size, twin.repeated, twin.persons)
        codes, owners = rare(owned, size, least)
        listed = {tuple(c): n for c, n in zip(codes.tolist(), owners.tolist(), strict=True)}
        assert listed == {c: n for c, n in found.items() if n < least}
        assert len(codes) == len(listed)
        assert smallest(owned, size) == min(found.values(), default=0)


@pytest.mark.slow(quick=93)
@pytest.mark.parametrize("seed", range(250))
def test_the_cut_is_that_of_the_twin_and_leaves_nothing_rare(seed):
    draw, twin, owned = example(seed)
    least, most, way = draw.randint(2, 4), draw.randint(1, 3), WAYS[seed % 4]
    tree = tree_of(twin.parents, twin.leaf, twin.values, twin.whole)
    expected = twin.run(least, most, way)
    if expected is None:
        assert way == ROLL_UP
        with pytest.raises(NoCutError):
            generalized(owned, tree, least, most, way)
        return
    assert generalized(owned, tree, least, most, way).node.tolist() == expected
    for size in range(1, most + 1):
        assert all(n >= least for n in supports(twin.now(), twin.weights, size, twin.repeated, twin.persons).values())


def test_codes_without_a_hierarchy_are_left_out():
    bags = [Counter("ab"), Counter("ab"), Counter("ac"), Counter("a")]
    owned = Owners.of_bags([{"abc".index(c): 1 for c in b} for b in bags], 3)
    assert generalized(owned, flat(3), 2, 2, LEAVE_OUT).node.tolist() == [0, 1, -1]
    with pytest.raises(NoCutError):
        generalized(owned, flat(3), 2, 2, ROLL_UP)


def test_a_class_that_somebody_has_twice():
    owned = Owners.of_bags([{0: 2}, {0: 2, 1: 1}, {0: 1, 1: 1}], 2)
    codes, owners = rare(owned, 2, 3)
    assert sorted(zip(map(tuple, codes.tolist()), owners.tolist(), strict=True)) == [((0, 0), 2), ((0, 1), 2)]
    tree = tree_of([2, 2, -1], [0, 1], [1, 1, 2], 2)
    assert generalized(owned, tree, 3, 2, ROLL_UP).node.tolist() == [2, 2]  # each has two of the coarser class


def test_an_owner_of_very_many_codes_is_found_alone_at_once():
    many = 100_000
    begins = np.array([0, many, *(many + np.arange(1, many + 1))], dtype=np.int64)
    codes = np.concatenate([np.arange(many), np.arange(many)]).astype(np.int32)
    owned = Owners.of_sets(begins, codes, np.ones(many + 1, dtype=np.int64), many)
    for size in (2, 3):
        assert smallest(owned, size, steps=10_000_000) == 1
    assert (generalized(owned, flat(many), 2, 1, LEAVE_OUT, 10_000_000).node >= 0).all()


def test_what_cannot_be_counted_is_refused():
    owned = Owners.of_bags([dict.fromkeys(range(60), 1)] * 3, 60)
    with pytest.raises(TooManyCombinationsError):
        generalized(owned, flat(60), 3, 3, LEAVE_OUT, 1000)
    with pytest.raises(TooManyCombinationsError):
        rare(owned, 3, 3, steps=1000)
    with pytest.raises(TooManyCombinationsError):
        smallest(owned, 3, steps=1000)


def test_what_is_no_tree():
    with pytest.raises(ValueError, match="above itself"):
        tree_of([1, 0], [0], [1, 1], 1)
    with pytest.raises(ValueError, match="one node"):
        tree_of([-1], [0, 0], [1], 1)
    with pytest.raises(ValueError, match="span"):
        Owners.of_sets(np.array([0, 2]), np.zeros(1, np.int32), np.ones(1, np.int64), 1)
    with pytest.raises(ValueError, match="weight"):
        Owners.of_sets(np.array([0, 1]), np.zeros(1, np.int32), np.ones(2, np.int64), 1)
    for persons, weights in (([1, 0], [1, 1]), ([0], [1, 1]), ([0, 0], [1, 2])):
        with pytest.raises(ValueError, match="persons"):
            Owners.of_sets(
                np.array([0, 1, 2]), np.zeros(2, np.int32), np.array(weights), 1, np.array(persons, dtype=np.int64)
            )
