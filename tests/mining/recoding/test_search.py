"""The optimum of the search is that of looking at every node, for every model and every cost."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.anonymizers.full_domain_recoding import spec
from ppdm_flow.mining.class_people.seen import OfHoldings
from ppdm_flow.mining.recoding import costs
from ppdm_flow.mining.recoding.costs import RecodingCost
from ppdm_flow.mining.recoding.grouping import Levels, WeightedRows
from ppdm_flow.mining.recoding.models import ClassModel, HereditaryModel, KAnonymous
from ppdm_flow.mining.recoding.search import optimum
from ppdm_flow.policy.language.kinds import built_in
from ppdm_flow.requirements.alpha_k.algorithm import AlphaBounded
from ppdm_flow.requirements.beta_likeness.algorithm import BetaLike
from ppdm_flow.requirements.delta_disclosure.algorithm import DeltaDisclosing
from ppdm_flow.requirements.dominance.algorithm import UndominatedClass
from ppdm_flow.requirements.dominance.requirement import Dominance
from ppdm_flow.requirements.k_map.algorithm import KMapped
from ppdm_flow.requirements.l_diversity.algorithm import DistinctDiverse, EntropyDiverse, RecursiveDiverse
from ppdm_flow.requirements.lkc.algorithm import UnionBounded
from ppdm_flow.requirements.t_closeness.algorithm import CloseClass
from ppdm_flow.sdk.spec import imported

_SPEC = importlib.util.spec_from_file_location("plain_recoding", Path(__file__).with_name("plain.py"))
plain = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(plain)

COSTS = {
    "loss": costs.DomainLoss(),
    "ncp": costs.DomainLoss(geometric=False),
    "precision": costs.Precision(),
    "discernibility": costs.Discernibility(),
    "average_class_size": costs.ClassSize(),
    "entropy": costs.Entropy(),
    "classification": costs.Misclassified(0),
}
WAGES = np.array(plain.WAGES)
MODELS = {
    "distinct": lambda v: DistinctDiverse(0, v),
    "entropy": lambda v: EntropyDiverse(0, v),
    "recursive": lambda c, rank: RecursiveDiverse(0, c, rank),
    "equal": lambda t: CloseClass(0, t),
    "ordered": lambda t: CloseClass(0, t, ordered=True),
    "alpha": lambda a: AlphaBounded(0, a),
    "delta": lambda d: DeltaDisclosing(0, d),
    "beta": lambda b: BetaLike(0, b),
    "k": KAnonymous,
    "k_map": KMapped,
    "alpha_of": lambda a, values: AlphaBounded(0, a, values),
    "union": lambda c, values: UnionBounded(0, c, values),
    "dominance": lambda n, share: UndominatedClass(0, Dominance(n=n, share=share), WAGES),
}


@st.composite
def hierarchies(draw):
    """Levels of random merges, leaves first."""
    leaves = draw(st.integers(1, 5))
    maps = [list(range(leaves))]
    for _ in range(draw(st.integers(0, 2))):
        groups = max(maps[-1]) + 1
        merge = draw(st.lists(st.integers(0, max(0, groups - 2)), min_size=groups, max_size=groups))
        names = {g: i for i, g in enumerate(sorted(set(merge)))}
        maps.append([names[merge[c]] for c in maps[-1]])
    return maps


@st.composite
def tables(draw):
    maps = draw(st.lists(hierarchies(), min_size=1, max_size=3))
    values = draw(st.integers(1, 4))
    leaf = st.tuples(*(st.integers(0, len(m[0]) - 1) for m in maps))
    rows = draw(st.lists(st.tuples(leaf, st.integers(0, values - 1), st.just(0)), min_size=1, max_size=24))
    return plain.Table(rows, maps, values)


any_model = st.one_of(
    st.tuples(st.just("k"), st.integers(1, 6)),
    st.tuples(st.just("distinct"), st.integers(1, 3)),
    st.tuples(st.just("entropy"), st.floats(1.0, 3.0)),
    st.tuples(st.just("recursive"), st.floats(0.5, 4.0), st.integers(1, 3)),
    st.tuples(st.just("equal"), st.floats(0.05, 0.9)),
    st.tuples(st.just("ordered"), st.floats(0.05, 0.9)),
    st.tuples(st.just("alpha"), st.floats(0.2, 0.95)),
    st.tuples(st.just("delta"), st.floats(0.1, 3.0)),
    st.tuples(st.just("beta"), st.floats(0.1, 3.0)),
    st.tuples(st.just("dominance"), st.integers(1, 3), st.floats(0.2, 0.9)),
)


def ground_of(table):
    counts = Counter((leaf, value) for leaf, value, _ in table.rows)
    crowd = Counter(table.population)
    for leaf in crowd.keys() - {leaf for leaf, _ in counts}:
        counts[leaf, 0] = 0
    keys = sorted(counts)
    first = {leaf: (leaf, value) for leaf, value in reversed(keys)}
    people = np.array([crowd[k[0]] if first[k[0]] == k else 0 for k in keys], dtype=np.int64)
    levels = tuple(
        Levels(
            tuple(np.array(m, dtype=np.int32) for m in maps),
            tuple(np.bincount(m) / len(m) for m in maps),
        )
        for maps in table.maps
    )
    return WeightedRows(
        np.array([k[0] for k in keys], dtype=np.int32),
        np.array([counts[k] for k in keys], dtype=np.int64),
        levels,
        (np.array([k[1] for k in keys], dtype=np.int32),),
        (table.values,),
        people if table.population else None,
    )


@pytest.mark.parametrize("cost", sorted(COSTS))
@examples(25)
@given(
    table=tables(),
    chosen=st.lists(any_model, min_size=1, max_size=2),
    share=st.sampled_from([0.0, 0.05, 0.2, 0.5, 1.0]),
    at_released=st.booleans(),
)
def test_the_optimum_is_that_of_every_node(cost, table, chosen, share, at_released) -> None:
    limit = int(share * len(table.rows))
    expected = plain.optimum(table, chosen, cost, limit, at_released)
    asked = [MODELS[kind](*numbers) for kind, *numbers in chosen]
    found = optimum(ground_of(table), asked, COSTS[cost], limit, at_released=at_released)
    assert found.proven
    if expected is None:
        assert found.best is None
        return
    assert found.best is not None
    assert found.best.cost == pytest.approx(expected, rel=1e-9, abs=1e-12)
    node = found.node
    classes = table.classes(node)
    kept = plain.kept_classes(table, classes, chosen, at_released)
    assert found.best.suppressed == len(table.rows) - sum(map(len, kept.values())) <= limit
    assert plain.cost_of(cost, table, node, classes, kept) == pytest.approx(expected, rel=1e-9, abs=1e-12)


OF_ATTRIBUTES = [name for name, cost in COSTS.items() if isinstance(cost, costs.CostOfAttributes)]


def test_which_costs_take_weights() -> None:
    assert tuple(OF_ATTRIBUTES) == spec.OF_ATTRIBUTES
    with pytest.raises(ValueError, match="2 weights for 1 attributes"):
        costs.Precision(importance=(1.0, 2.0)).prepare(ground_of(plain.Table([((0,), 0, 0)], [[[0, 1]]], 1)))


@pytest.mark.parametrize("cost", OF_ATTRIBUTES)
@examples(25)
@given(table=tables(), k=st.integers(1, 4), share=st.sampled_from([0.0, 0.2]), weights=st.data())
def test_the_optimum_with_weights_is_that_of_every_node(cost, table, k, share, weights) -> None:
    limit = int(share * len(table.rows))
    importance = [weights.draw(st.sampled_from([0.1, 1.0, 3.0, 40.0])) for _ in table.maps]
    expected = plain.optimum(table, [("k", k)], cost, limit, True, importance)
    found = optimum(ground_of(table), [KAnonymous(k)], COSTS[cost].weighted(importance), limit)
    assert (found.best is None) == (expected is None)
    if expected is not None:
        assert found.best.cost == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("cost", OF_ATTRIBUTES)
@examples(25)
@given(table=tables(), k=st.integers(1, 4), share=st.sampled_from([0.0, 0.2]))
def test_a_higher_weight_never_keeps_less_of_its_attribute(cost, table, k, share) -> None:
    """What the cheapest node loses of an attribute, suppressed rows included, never grows with its weight."""
    ground, limit = ground_of(table), int(share * len(table.rows))
    for attribute in range(len(table.maps)):
        alone = COSTS[cost].weighted([float(j == attribute) for j in range(len(table.maps))]).prepare(ground)
        lost = []
        for weight in (0.2, 1.0, 2.0, 10.0, 1e6):
            importance = [weight if j == attribute else 1.0 for j in range(len(table.maps))]
            best = optimum(ground, [KAnonymous(k)], COSTS[cost].weighted(importance), limit).best
            lost += [] if best is None else [alone.of(best.grouping, best.kept)]
        assert all(more <= less + 1e-9 for less, more in itertools.pairwise(lost)), lost


ONE_OF_EACH = (
    ("k", 4),
    ("k_map", 7),
    ("distinct", 3),
    ("entropy", 2.2),
    ("recursive", 1.5, 2),
    ("equal", 0.25),
    ("ordered", 0.2),
    ("alpha", 0.55),
    ("alpha_of", 0.4, (0, 1)),
    ("union", 0.8, (1, 2)),
    ("delta", 0.9),
    ("beta", 0.7),
    ("dominance", 2, 0.7),
)
MAPS = [
    [[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [0, 0, 0, 0, 1], [0] * 5],
    [[0, 1, 2], [0, 0, 1], [0] * 3],
    [[0, 1], [0, 0]],
]


def leaves(rng):
    """Leaf codes, of which the last is rarer."""
    return tuple(int(rng.integers(0, len(m[0]) - int(rng.integers(0, 2)))) for m in MAPS)


def lattice_table(key):
    """Thirty records of three attributes, a lattice of 24 nodes, and seventy people."""
    rng = np.random.default_rng(key)
    rows = [(leaves(rng), int(rng.choice(3, p=[0.4, 0.3, 0.3])), 0) for _ in range(30)]
    return plain.Table(rows, MAPS, 3, [leaves(rng) for _ in range(70)])


def test_no_model_and_no_cost_is_forgotten() -> None:
    paths = [kind.requirement.classes for kind in built_in() if kind.requirement.classes]
    homes = [vars(sys.modules[imported(path).__module__]) for path in paths]
    there = {c for home in homes for c in home.values() if isinstance(c, type) and issubclass(c, ClassModel)}
    used = {type(MODELS[kind](*numbers)) for kind, *numbers in ONE_OF_EACH}
    assert there - {ClassModel, HereditaryModel, OfHoldings} == used
    priced = {c for c in vars(costs).values() if isinstance(c, type) and "prepare" in dir(c)} - {RecodingCost}
    assert priced == {type(c) for c in COSTS.values()}


@pytest.mark.slow(quick=6)
@pytest.mark.parametrize("share", [0.0, 0.3], ids=["all released", "some suppressed"])
@pytest.mark.parametrize("model", ONE_OF_EACH, ids=lambda m: m[0])
@pytest.mark.parametrize("cost", sorted(COSTS))
def test_every_model_with_every_cost(cost, model, share) -> None:
    kind, *numbers = model
    within = 0
    for key in range(4):
        table = lattice_table([key, len(kind)])
        limit = int(share * len(table.rows))
        expected = plain.optimum(table, [model], cost, limit, True)
        found = optimum(ground_of(table), [MODELS[kind](*numbers)], COSTS[cost], limit)
        assert found.proven
        assert (found.best is None) == (expected is None)
        if expected is not None:
            assert found.best.cost == pytest.approx(expected, rel=1e-9, abs=1e-12)
            assert found.best.suppressed <= limit
            within += any(found.node) and found.node != tuple(len(m) - 1 for m in MAPS)
    assert within


def test_a_search_that_is_ended_says_so_and_keeps_what_it_found() -> None:
    rng = np.random.default_rng(5)
    maps = [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]
    rows = [(tuple(rng.integers(0, 4, 4).tolist()), 0, 0) for _ in range(200)]
    ground = ground_of(plain.Table(rows, [maps] * 4, 1))
    whole = optimum(ground, [KAnonymous(5)], costs.DomainLoss(), 10)
    ended = optimum(ground, [KAnonymous(5)], costs.DomainLoss(), 10, most=3)
    assert whole.proven
    assert ended.checked == 3
    assert not ended.proven
    assert ended.best is None or ended.best.cost >= whole.best.cost


def test_keys_beyond_62_bits_are_told_apart() -> None:
    rng = np.random.default_rng(3)
    leaves = 5_000
    levels = tuple(
        Levels(
            (np.arange(leaves, dtype=np.int32), np.zeros(leaves, dtype=np.int32)),
            (np.full(leaves, 1 / leaves), np.ones(1)),
        )
        for _ in range(8)
    )
    codes = np.unique(rng.integers(0, leaves, (300, 8)).astype(np.int32), axis=0)
    twice = WeightedRows(codes, np.full(len(codes), 2, dtype=np.int64), levels)
    found = optimum(twice, [KAnonymous(2)], costs.DomainLoss(), 0)
    assert found.node == (0,) * 8
    assert int(found.best.kept.sum()) == len(codes)


def test_a_population_counts_people_not_records() -> None:
    levels = (Levels((np.array([0, 1], dtype=np.int32), np.zeros(2, dtype=np.int32)), (np.full(2, 0.5), np.ones(1))),)
    codes = np.array([[0], [1]], dtype=np.int32)
    people = np.array([9, 2], dtype=np.int64)
    ground = WeightedRows(codes, np.array([1, 0], dtype=np.int64), levels, population=people)
    assert optimum(ground, [KMapped(9)], costs.DomainLoss(), 0).node == (0,)
    assert optimum(ground, [KMapped(10)], costs.DomainLoss(), 0).node == (1,)
    assert optimum(ground, [KMapped(12)], costs.DomainLoss(), 0).best is None


def test_a_level_that_splits_what_is_one_below_is_refused() -> None:
    with pytest.raises(ValueError, match="coarsening"):
        Levels(
            (np.array([0, 1], dtype=np.int32), np.array([0, 0], dtype=np.int32), np.array([0, 1], dtype=np.int32)),
            (np.full(2, 0.5), np.ones(1), np.full(2, 0.5)),
        )
