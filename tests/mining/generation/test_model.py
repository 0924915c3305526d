from __future__ import annotations

import pickle

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scipy import stats
from tiers import examples

from ppdm_flow.mining.generation import RowGenerator
from ppdm_flow.mining.itemsets.mine import mine
from ppdm_flow.mining.krimp.compress import cover, krimp

CHECKED = examples(45)


@st.composite
def models(draw):
    """Small tables, arbitrary elements within them, usages with zeros among them."""
    columns = draw(st.integers(1, 4))
    rows = draw(st.lists(st.tuples(*[st.integers(0, 2)] * columns), min_size=1, max_size=6))
    names = sorted({(c, v) for row in rows for c, v in enumerate(row)})
    number = {name: i for i, name in enumerate(names)}
    lists = []
    for _ in range(draw(st.integers(0, 5)) if columns > 1 else 0):
        row = draw(st.sampled_from(rows))
        chosen = draw(st.sets(st.integers(0, columns - 1), min_size=2))
        lists.append([number[c, row[c]] for c in sorted(chosen)])
    size = len(lists) + len(names)
    usages = draw(st.lists(st.integers(0, 5), min_size=size, max_size=size))
    return rows, lists, usages, draw(st.sampled_from([0.0, 0.5, 2.0]))


@CHECKED
@given(models())
def test_every_row_is_the_plain_twins(kit, given_):
    model, plain = kit.both(*given_)
    words = kit.words(model, 40)
    found = model.generate(words)
    for r in range(len(words)):
        cells, taken = plain.row(words[r])
        assert found.cells[r].tolist() == cells
        assert found.itemsets[r] == taken


@pytest.mark.parametrize("laplace", [0.0, 0.001, 1.0])
def test_the_distribution_is_that_of_whole_random_orders(kit, laplace):
    """Chi-square against exact enumeration over all orders of domains, at an error probability of 0.001 each."""
    rows = [("a", "c", "e"), ("a", "d", "f"), ("b", "d", "e"), ("b", "c", "f")]
    lists = [[0, 2], [1, 3, 4], [3, 5], [0, 4]]
    model, plain = kit.both(rows, lists, [4, 3, 5, 0, 2, 0, 3, 1, 0, 2], laplace)
    exact = plain.distribution()
    assert sum(exact.values()) == 1
    size = 40_000
    found = model.generate(kit.words(model, size))
    seen = {}
    for cells, taken in zip(found.cells.tolist(), found.itemsets.tolist(), strict=True):
        seen[tuple(cells), taken] = seen.get((tuple(cells), taken), 0) + 1
    assert set(seen) <= set(exact)
    expected = np.array([float(p) * size for p in exact.values()])
    counted = np.array([seen.get(row, 0) for row in exact])
    rare = expected < 5
    counted = np.append(counted[~rare], counted[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    kept = expected > 0
    statistic = ((counted[kept] - expected[kept]) ** 2 / expected[kept]).sum()
    assert statistic < stats.chi2.isf(0.001, kept.sum() - 1)


def test_factors_of_items_multiply_the_weights_of_elements(kit):
    rows = [("a", "c", "e"), ("a", "d", "f"), ("b", "d", "e"), ("b", "c", "f")]
    lists, usages = [[0, 2], [1, 3, 4]], np.array([4, 3, 0, 2, 0, 3, 1, 2])
    database, _ = kit.table(rows)
    factors = np.array([2.0, 1.0, 3.0, 1.0, 0.5, 1.0])
    found = RowGenerator.of_elements(kit.sets(lists), usages, database, 1.0, factors)
    products = np.array([6.0, 0.5, 2.0, 1.0, 3.0, 1.0, 0.5, 1.0])
    scaled = RowGenerator.of_elements(kit.sets(lists), (usages + 1) * products * 2, database, 0.0)
    words = kit.words(found, 2000)
    assert (found.generate(words).cells == scaled.generate(words).cells).all()
    table = krimp(database, mine(database, 1).in_candidate_order()).table
    alike = RowGenerator.of(table, database, factors=np.ones(6)).generate(words).cells
    assert (alike == RowGenerator.of(table, database).generate(words).cells).all()


def test_the_papers_step(kit):
    """Figure 1: among the elements of D1, BD comes with 3/9; then CF is out, and E and F have 1/2 each."""
    rows = [("A", "C", "E"), ("B", "D", "F")]
    _, names = kit.table(rows)
    number = {value: i for i, (_, value) in enumerate(names)}
    lists = [[number["B"], number["D"]], [number["C"], number["F"]]]
    usages = [3, 3, 3, 3, 0, 0, 3, 3]  # BD, CF; A, B, C, D, E, F
    _, plain = kit.both(rows, lists, usages, 0)
    first = dict(plain.choices(0, frozenset()))
    assert first[0] == pytest.approx(3 / 9)
    after = {plain.elements[e][1]: p for e, p in plain.choices(2, frozenset({0, 1}))}
    assert {k[0]: float(p) for k, p in after.items()} == {number["E"]: 0.5, number["F"]: 0.5}


def test_the_papers_step_in_the_kernel(kit):
    """The same shares among generated rows that began with D1, within 4.5 standard errors (7e-6 each)."""
    rows = [("A", "C", "E"), ("B", "D", "F")]
    _, names = kit.table(rows)
    number = {value: i for i, (_, value) in enumerate(names)}
    lists = [[number["B"], number["D"]], [number["C"], number["F"]]]
    model, _ = kit.both(rows, lists, [3, 3, 3, 3, 0, 0, 3, 3], 0)
    words = kit.words(model, 60_000)
    began = words[:, 0] < np.uint64(2**64 // 3)  # the first of three domains
    found = model.generate(words)
    d1 = found.cells[began]
    pair = (d1[:, 1] == number["D"]) & (found.itemsets[began] == 2)  # B and D as one element, not one by one
    assert abs(pair.mean() - 1 / 3) < 4.5 * np.sqrt(2 / 9 / len(d1))
    last = d1[pair][:, 2]
    assert set(last.tolist()) == {number["E"], number["F"]}
    assert abs((last == number["E"]).mean() - 0.5) < 4.5 * np.sqrt(0.25 / len(last))


def test_a_row_depends_on_its_own_words_alone(kit):
    model, _ = kit.both([(0, 1, 2), (1, 1, 0), (2, 0, 0)], [[0, 4]], [2, 1, 1, 1, 1, 2, 2, 1], 0.001)
    words = kit.words(model, 200)
    whole = model.generate(words)
    order = np.random.default_rng(1).permutation(200)
    turned = pickle.loads(pickle.dumps(model)).generate(words[order])
    assert np.array_equal(turned.cells, whole.cells[order])
    assert np.array_equal(turned.itemsets, whole.itemsets[order])


def test_without_correction_only_what_covers_is_chosen(kit):
    """Every row that one itemset covers alone comes back as it is."""
    rows = [("x", "y"), ("u", "v")]
    database, _ = kit.table(rows)
    table = cover(database, kit.sets([[1, 3], [0, 2]]))
    assert table.singles.tolist() == [0, 0, 0, 0]
    found = RowGenerator.of(table, database, 0).generate(kit.words(RowGenerator.of(table, database, 0), 1000))
    assert {tuple(r) for r in found.cells.tolist()} == {(1, 3), (0, 2)}
    assert (found.itemsets == 1).all()


def test_without_correction_a_domain_that_nothing_in_use_fits_is_filled_all_the_same(kit):
    """B is only ever covered with A; once A is a singleton, B's values are equally likely."""
    model, _ = kit.both([(0, 0), (1, 1)], [[0, 2], [1, 3]], [5, 1, 3, 3, 0, 0], 0)
    found = model.generate(kit.words(model, 4000))
    alone = found.cells[found.itemsets == 2]
    assert len(alone) > 500
    share = (alone[:, 1] == 2).mean()
    assert abs(share - 0.5) < 4.5 * np.sqrt(0.25 / len(alone))


def test_elements_of_usage_zero_are_generated_where_there_is_a_correction(kit):
    model, _ = kit.both([(0, 0), (1, 1)], [], [10, 0, 0, 10], 5.0)
    rows = {tuple(r) for r in model.generate(kit.words(model, 2000)).cells.tolist()}
    assert rows == {(0, 2), (0, 3), (1, 2), (1, 3)}


def test_a_single_row_is_all_there_is(kit):
    database, _ = kit.table([("a", "b", "c")])
    model = RowGenerator.of(krimp(database, mine(database, 1).in_candidate_order()).table, database)
    assert (model.generate(kit.words(model, 50)).cells == [0, 1, 2]).all()


def test_three_hundred_columns(kit):
    """More domains than one word of a mask has bits."""
    rng = np.random.default_rng(5)
    rows = [tuple(r) for r in rng.integers(0, 2, (30, 300)).tolist()]
    database, _ = kit.table(rows)
    lists = [sorted(rng.choice(database.cells[0], 5, replace=False).tolist()) for _ in range(40)]
    lists.append(database.cells[3].tolist())
    usages = rng.integers(0, 4, len(lists) + database.items).tolist()
    model, plain = kit.both(rows, lists, usages, 0.5)
    words = kit.words(model, 5)
    found = model.generate(words)
    assert found.cells.tolist() == [plain.row(w)[0] for w in words]
    assert (database.place[found.cells] == np.arange(300)).all()


@pytest.mark.slow
def test_fifty_thousand_values(kit):
    size = 50_000
    rows = np.stack([np.arange(size), np.arange(size) % 2], axis=1)
    database, _ = kit.table(rows.tolist())
    model = RowGenerator.independent(database)
    found = model.generate(kit.words(model, 20_000)).cells
    assert len(np.unique(found[:, 0])) > 15_000
    assert abs((found[:, 1] == found[0, 1]).mean() - 0.5) < 4.5 * np.sqrt(0.25 / 20_000)


def test_independent_columns_have_their_own_frequencies(kit):
    rows = [(0, 0)] * 3 + [(1, 1)]
    database, _ = kit.table(rows)
    model = RowGenerator.independent(database, 0)
    found = model.generate(kit.words(model, 40_000)).cells
    joint = ((found[:, 0] == 0) & (found[:, 1] == 2)).mean()
    assert abs(joint - 9 / 16) < 4.5 * np.sqrt(9 / 16 * 7 / 16 / 40_000)


def test_no_rows_are_no_rows(kit):
    model, _ = kit.both([(0, 1)], [], [1, 1], 0.001)
    found = model.generate(kit.words(model, 0))
    assert found.cells.shape == (0, 2)
    assert found.itemsets.shape == (0,)


def test_what_makes_no_model_is_refused(kit):
    database, _ = kit.table([(0, 1)])
    for laplace in (-0.1, np.inf, np.nan):
        with pytest.raises(ValueError, match="Laplace"):
            RowGenerator.independent(database, laplace)
    gaps = kit.table([(0, 1)])[0].of_lists([[0, 1], [0]])
    with pytest.raises(ValueError, match="no table"):
        RowGenerator.independent(gaps)
