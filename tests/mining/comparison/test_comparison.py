"""Comparing tables by code tables and by itemsets: against plain twins, and against the paper's figures."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tiers import examples

from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.comparison import (
    CodeTableSearch,
    Encoding,
    compare_itemsets,
    dissimilarity,
    interval,
    length,
    matched,
    random_part,
    row_bits,
    uncorrelated,
    united,
)
from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.itemsets.mine import mine
from ppdm_flow.mining.itemsets.tabular import tabular
from ppdm_flow.tables.counts import count
from ppdm_flow.tables.table import Table

CELLS = st.tuples(*[st.sampled_from([None, "⊥", "a", "b", "c"])] * 3)
ROWS = st.lists(CELLS, min_size=1, max_size=25)


def counts(rows):
    return count(Table.of({n: [r[i] for r in rows] for i, n in enumerate("pqr")}), ["p", "q", "r"])


def decoded(found, which):
    """The rows of one database, by the meaning of its items."""
    database = found.databases[which]
    names = [[*c.to_pylist(), "⊥", None] for c in found.categories]
    rows = []
    for cells, weight in zip(database.cells.tolist(), database.weights.tolist(), strict=True):
        rows += [tuple(names[found.attribute[i]][found.code[i]] for i in cells)] * weight
    return sorted(rows, key=repr)


@examples(25)
@given(ROWS, ROWS)
def test_one_alphabet_for_both(first, second):
    found = united([counts(first), counts(second)])
    assert decoded(found, 0) == sorted(first, key=repr)
    assert decoded(found, 1) == sorted(second, key=repr)
    alone = tabular(counts(first)).database
    known = np.flatnonzero(found.databases[0].supports)
    assert np.array_equal(known, np.arange(alone.items))  # the first's items come first, numbered as without a second
    assert np.array_equal(found.databases[0].supports[known], alone.supports)
    assert np.array_equal(found.databases[0].cells, alone.cells)
    later = found.databases[1].supports[alone.items :]
    assert (later > 0).all()
    assert (np.diff(later) <= 0).all()


def test_tables_that_cannot_be_united():
    with pytest.raises(ValueError, match="columns"):
        united([])
    with pytest.raises(ValueError, match="columns"):
        united([counts([("a", "b", "c")]), count(Table.of({"p": ["a"]}), ["p"])])


def plain_length(rows, table, usages, singles, laplace):
    """L of rows under a code table, with sets; the table is in cover order."""
    total = sum(usages) + sum(singles) + laplace * (len(usages) + len(singles))
    bits = 0.0
    for row in rows:
        left = set(row)
        for items, usage in zip(table, usages, strict=True):
            if left.issuperset(items):
                bits -= log2((usage + laplace) / total)
                left -= set(items)
        bits -= sum(log2((singles[i] + laplace) / total) for i in left)
    return bits


@examples(20)
@given(ROWS, ROWS, st.sampled_from([1.0, 0.001]), st.sampled_from(["all", "closed", "slim"]))
def test_dissimilarity_against_sets(first, second, laplace, candidates):
    found = united([counts(first), counts(second)])
    search = CodeTableSearch(1, candidates)
    x, y = (search.encoded(d) for d in found.databases)
    plain = {}
    for one, data in (("x", x), ("y", y)):
        rows = [r for r, w in zip(data.database.cells.tolist(), data.database.weights, strict=True) for _ in range(w)]
        for other, by in (("x", x), ("y", y)):
            table = [s for s, _ in by.table.itemsets]
            plain[one, other] = plain_length(rows, table, by.table.usages.tolist(), by.table.singles.tolist(), laplace)
    measured = dissimilarity(x, y, laplace)
    for value, one, other in ((measured.of_first, "x", "y"), (measured.of_second, "y", "x")):
        own = plain[one, one]
        if own > 1e-9:
            assert value == pytest.approx((plain[one, other] - own) / own, abs=1e-9)
    assert measured.value == max(measured.of_first, measured.of_second)
    again = dissimilarity(y, x, laplace)
    assert (again.of_first, again.of_second) == (measured.of_second, measured.of_first)
    assert dissimilarity(x, x, laplace).value == 0


def test_dissimilarity_of_constant_and_of_unlike_alphabets():
    one = CodeTableSearch().encoded(ItemDatabase.of_lists([[0], [0]], 1))
    assert dissimilarity(one, one).value == 0
    two = CodeTableSearch().encoded(ItemDatabase.of_lists([[0], [1]], 2))
    with pytest.raises(ValueError, match="alphabets"):
        dissimilarity(one, two)
    assert length(np.array([1, 0]), np.array([1, 0]), 0.0) == 0


def plain_comparison(a, b, rows_a, rows_b):
    left, right = dict(a), dict(b)
    both = left.keys() & right.keys()
    return (
        sorted((left[s] / rows_a, right[s] / rows_b) for s in both),
        sorted(n / rows_a for s, n in left.items() if s not in both),
        sorted(n / rows_b for s, n in right.items() if s not in both),
    )


@examples(45)
@given(ROWS, ROWS, st.integers(1, 4), st.integers(1, 4), st.booleans())
def test_itemsets_against_dictionaries(first, second, least_a, least_b, closed):
    x, y = united([counts(first), counts(second)]).databases
    a, b = mine(x, least_a, only_closed=closed), mine(y, least_b, only_closed=closed)
    found = compare_itemsets(a, b, len(first), len(second))
    equal, lost, new = plain_comparison(a, b, len(first), len(second))
    assert sorted(zip(found.before.tolist(), found.after.tolist(), strict=True)) == equal
    assert sorted(found.lost.tolist()) == lost
    assert sorted(found.new.tolist()) == new
    assert found.equal == (len(equal) / len(a) if len(a) else None)
    mine_at, theirs_at = matched(a, b)
    assert [s for s, _ in a.take(mine_at)] == [s for s, _ in b.take(theirs_at)]


def test_itemsets_of_the_empty_set_and_of_nothing():
    none = ItemsetCollection(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64))
    empty = ItemsetCollection(np.zeros(2, dtype=np.int64), np.zeros(0, dtype=np.int32), np.array([3]))
    assert compare_itemsets(none, none, 1, 1).equal is None
    assert compare_itemsets(none, empty, 1, 3).new.tolist() == [1]
    assert compare_itemsets(empty, empty, 3, 4).after.tolist() == [0.75]


def test_too_many_itemsets_are_refused():
    database = ItemDatabase.of_lists([list(range(12))], 12)
    with pytest.raises(PluginError, match="PPF775"):
        CodeTableSearch(1, "all", most=1000).encoded(database)


def test_a_random_part_draws_every_row_alike():
    """At an error probability of one in a million for each of 5 rows, on a fixed key."""
    database = ItemDatabase.of_lists([[0]] * 5 + [[1]] * 3 + [[2], [3], [4]], 5)
    rng = np.random.default_rng(1)
    drawn = np.zeros(5, dtype=np.int64)
    for _ in range(2000):
        part = random_part(database, 5, rng)
        assert part.rows == 5
        assert (part.supports <= database.supports).all()
        drawn += part.supports
    low, high = stats.binom.interval(1 - 1e-6, 2000, 5 / 11)
    assert all(low <= n <= high for n in drawn[2:])  # hypergeometric spread is smaller than binomial for the others
    with pytest.raises(ValueError, match="part"):
        random_part(database, 12, rng)


def test_without_correlation_margins_stay_and_pairs_go():
    """Column q copies p: afterwards it does not. At an error probability of one in a million each, on a fixed key."""
    rows = [("a", "a", None)] * 300 + [("b", "b", None)] * 100
    original = united([counts(rows)]).databases[0]
    new = uncorrelated(original, 4000, np.random.default_rng(2))
    assert new.rows == 4000
    low, high = stats.binom.interval(1 - 1e-6, 4000, [s / 400 for s in original.supports])
    assert (low <= new.supports).all()
    assert (new.supports <= high).all()
    same = new.weights[(original.supports[new.cells[:, 0]] == original.supports[new.cells[:, 1]])].sum()
    low, high = stats.binom.interval(1 - 1e-6, 4000, 0.75**2 + 0.25**2)
    assert low <= same <= high


def test_without_correlation_lacking_items_stay_as_frequent():
    """Transactions: item 1 is in a quarter of the rows, before and after."""
    original = ItemDatabase.of_lists([[0], [0], [0], [0, 1]], 2)
    new = uncorrelated(original, 4000, np.random.default_rng(3))
    low, high = stats.binom.interval(1 - 1e-6, 4000, 0.25)
    assert low <= new.supports[1] <= high
    assert new.supports[0] == 4000


INTERNAL = [
    ("iris", 1, False, 40, 0.158, 0.045),
    ("led7", 1, False, 8, 0.171, 0.022),
    ("pima", 1, False, 8, 0.177, 0.030),
    ("pageblocks", 1, False, 6, 0.164, 0.035),
    ("mushroom", 20, True, 2, 0.139, 0.020),
]


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize(("name", "least", "closed", "runs", "paper", "spread"), INTERNAL)
def test_internal_dissimilarity_of_the_paper(krimp_db, name, least, closed, runs, paper, spread):
    """Table 1, "orig internal": the original against a random half, Laplace correction 1, unpruned code tables."""
    database = krimp_db(name)
    search = CodeTableSearch(least, "closed" if closed else "all", pruning=False)
    whole = search.encoded(database)
    rng = np.random.default_rng(5)
    halves = [search.encoded(random_part(database, database.rows // 2, rng)) for _ in range(runs)]
    found = np.mean([dissimilarity(whole, half).value for half in halves])
    assert found == pytest.approx(paper, abs=spread)


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("name", ["iris", "led7", "nursery"])
def test_uncorrelated_data_are_far_more_dissimilar(krimp_db, name):
    """Figure 2."""
    database = krimp_db(name)
    search = CodeTableSearch(1, pruning=False)
    whole = search.encoded(database)
    rng = np.random.default_rng(6)
    half = search.encoded(random_part(database, database.rows // 2, rng))
    noise = search.encoded(uncorrelated(database, database.rows, rng))
    assert dissimilarity(whole, noise).value > 2 * dissimilarity(whole, half).value


def test_encoded_usages_are_those_of_its_data():
    database = ItemDatabase.of_lists([[0, 1], [0, 1], [2]], 3)
    found = CodeTableSearch(1).encoded(database)
    assert isinstance(found, Encoding)
    assert int(found.usages @ np.concatenate([found.table.itemsets.lengths, np.ones(3, dtype=np.int64)])) == 5


@examples(20)
@given(ROWS, ROWS, st.sampled_from([1.0, 0.001]))
def test_bits_of_rows_add_up_to_those_of_the_data(first, second, laplace):
    x, y = (CodeTableSearch(1).encoded(d) for d in united([counts(first), counts(second)]).databases)
    for data, by in ((x, x), (x, y), (y, x)):
        bits = row_bits(data.database.cells, by, laplace)
        for cells, found in zip(data.database.cells.tolist(), bits, strict=True):
            table = [s for s, _ in by.table.itemsets]
            plain = plain_length([cells], table, by.table.usages.tolist(), by.table.singles.tolist(), laplace)
            assert found == pytest.approx(plain)


def test_the_interval_of_a_sampled_dissimilarity():
    """The code tables given, 95 % intervals of samples cover the figure of all rows: binomial at one in a million."""
    rng = np.random.default_rng(8)
    rows = [(int(v), 3 + int(v if rng.random() < 0.7 else w)) for v, w in rng.integers(0, 3, (3000, 2))]
    whole = ItemDatabase.of_lists(rows, 6)
    x = CodeTableSearch(1).encoded(whole)
    y = CodeTableSearch(1).encoded(uncorrelated(whole, 3000, rng))
    true = dissimilarity(x, y).of_first
    covered = 0
    for _ in range(300):
        part = Encoding(random_part(whole, 150, rng), x.table)  # the same code table, on fewer rows
        low, high = interval(part, y)
        covered += low <= true <= high
    low, high = stats.binom.interval(1 - 1e-6, 300, 0.95)
    assert low <= covered <= high
    assert interval(
        CodeTableSearch().encoded(ItemDatabase.of_lists([[0]], 1)),
        CodeTableSearch().encoded(ItemDatabase.of_lists([[0]], 1)),
    ) == (
        0,
        0,
    )
