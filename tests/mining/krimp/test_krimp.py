"""KRIMP against its plain twin, stopped and gone on with, and on data at the edges."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.itemsets.mine import mine
from ppdm_flow.mining.krimp import state
from ppdm_flow.mining.krimp.code_table import read_off
from ppdm_flow.mining.krimp.compress import CompiledSearch, cover, krimp, prune, slim
from ppdm_flow.mining.krimp.state import begin_state, with_pool, with_slots

ROWS = st.lists(st.frozensets(st.integers(0, 5), max_size=5), min_size=1, max_size=25).filter(any)
TABLES = st.lists(st.tuples(*(st.integers(4 * c, 4 * c + 2 + c % 2) for c in range(4))), min_size=1, max_size=40)


def contents(table):
    elements = {s: int(u) for (s, _), u in zip(table.itemsets, table.usages, strict=True)}
    return elements | {(i,): int(u) for i, u in enumerate(table.singles)}


def same_as_twin(rows, items, twin, pruning, least=1):
    database = ItemDatabase.of_lists(rows, items)
    plain = twin(rows, items).run(twin(rows, items).candidates(least), pruning)
    found = krimp(database, mine(database, least).in_candidate_order(), pruning=pruning)
    assert [s for s, _ in found.table.itemsets] == sorted(plain.table, key=plain.order)
    assert [n for _, n in found.table.itemsets] == [plain.support[s] for s in sorted(plain.table, key=plain.order)]
    assert contents(found.table) == {(i,): 0 for i in range(items)} | plain.usage
    assert found.table.sizes.total == pytest.approx(plain.size, abs=1e-6)
    assert found.complete
    return found


@examples(45)
@given(ROWS, st.booleans(), st.integers(1, 3))
def test_transactions(twin, rows, pruning, least):
    same_as_twin(rows, 6, twin, pruning, least)


@examples(45)
@given(TABLES, st.booleans())
def test_tables(twin, rows, pruning):
    same_as_twin(rows, 16, twin, pruning)


@examples(20)
@given(TABLES, st.booleans())
def test_without_bit_vectors_and_with_few_levels(twin, rows, pruning):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state, "MOST_BITS", 64 * 8)
        same_as_twin(rows * 2, 16, twin, pruning)


def test_wide_rows(twin):
    """Masks of more than one word: 70 constant columns before those that matter."""
    rng = np.random.default_rng(3)
    rows = [[*rng.integers(0, 2, 4) + 2 * np.arange(4)] for _ in range(60)]
    wide = [[*(np.array(row) + 70), *range(70)] for row in rows]
    small, large = ItemDatabase.of_lists(rows, 8), ItemDatabase.of_lists(wide, 78)
    candidates = mine(small, 1).in_candidate_order()
    shifted = ItemsetCollection(candidates.offsets, candidates.items + 70, candidates.supports)
    assert large.cells.shape[1] == 74
    found = krimp(large, shifted)
    plain = twin(rows, 8)
    plain.standard = {(i,): large_bits for i, large_bits in enumerate(found.table.standard[70:])}
    constant = 60 * 70

    def bits(usage):
        total = sum(usage.values()) + constant
        codes = {s: np.log2(total / u) for s, u in usage.items() if u}
        table = sum(c + sum(plain.standard[i,] for i in s) for s, c in codes.items())
        return sum(usage[s] * c for s, c in codes.items()) + table + (constant + 70) * np.log2(total / 60)

    plain.bits = bits
    plain.usage, plain.size = plain.cover([])
    plain.run(plain.candidates(), True)
    assert [tuple(i - 70 for i in s) for s, _ in found.table.itemsets] == sorted(plain.table, key=plain.order)


@given(TABLES, st.integers(1, 30), st.booleans())
def test_stopped_and_gone_on_with(rows, stops, pruning):
    database = ItemDatabase.of_lists(rows, 16)
    candidates = mine(database, 1).in_candidate_order()
    whole = krimp(database, candidates, pruning=pruning)
    cut = [len(candidates) * k // (stops + 1) for k in range(1, stops + 1)]
    part = None
    for position in [*cut, len(candidates)]:
        head = candidates.take(np.arange(position))
        part = krimp(database, head, pruning=pruning, resume=part)
    assert contents(part.table) == contents(whole.table)
    assert (part.position, part.accepted, part.pruned) == (whole.position, whole.accepted, whole.pruned)


def test_a_watch_hears_and_stops():
    rng = np.random.default_rng(1)
    rows = [(rng.integers(0, 3, 7) + 3 * np.arange(7)).tolist() for _ in range(300)]
    database = ItemDatabase.of_lists(rows, 21)
    candidates = mine(database, 1).in_candidate_order()
    heard = []

    def watch(progress):
        heard.append(progress)
        return len(heard) < 2

    part = krimp(database, candidates, watch=watch)
    assert not part.complete
    assert part.position == heard[-1].position < len(candidates)
    assert heard[-1].bits == pytest.approx(part.table.sizes.total, abs=1e-6)
    assert heard[-1].compression == pytest.approx(part.table.compression)
    assert heard[-1].elements == len(part.table.itemsets)
    whole = krimp(database, candidates)
    assert contents(krimp(database, candidates, resume=part).table) == contents(whole.table)


@given(TABLES)
def test_cover_is_the_same_again(rows):
    database = ItemDatabase.of_lists(rows, 16)
    found = krimp(database, mine(database, 1).in_candidate_order()).table
    again = cover(database, found.itemsets)
    assert contents(again) == contents(found)
    assert again.sizes == found.sizes
    other = cover(ItemDatabase.of_lists([rows[0]], 16), found.itemsets)
    assert sum(len(s) * u for s, u in contents(other).items()) == 4


@given(st.one_of(ROWS, TABLES), st.integers(1, 3))
def test_slim_loses_nothing(twin, rows, least):
    database = ItemDatabase.of_lists(rows, 16)
    found = slim(database, least)
    plain = twin(rows, 16)
    usage, size = plain.cover([s for s, _ in found.table.itemsets])
    assert contents(found.table) == {(i,): 0 for i in range(16)} | usage
    assert found.table.sizes.total == pytest.approx(size, abs=1e-6)
    assert size <= plain.size + 1e-6
    assert all(n == plain.support[s] >= least for s, n in found.table.itemsets)
    assert found.complete
    again = slim(database, least, resume=found)
    assert again.table.sizes.total <= found.table.sizes.total + 1e-6


def test_unions_that_do_not_pay_are_given_up():
    rng = np.random.default_rng(40)
    base = rng.integers(0, 3, 60)
    alike = [np.where(rng.random(60) < 0.6, base, rng.integers(0, 3, 60)) + 3 * column for column in range(5)]
    found = slim(ItemDatabase.of_lists(np.stack(alike, axis=1).tolist()))
    assert found.complete
    assert (found.position, found.accepted) == (18, 16)


@given(TABLES)
def test_pairs_are_those_of_the_covers_that_a_search_goes_on_from(rows):
    database = ItemDatabase.of_lists(rows, 16)
    begun = CompiledSearch(database, 4, 256, pairing=True)
    begun.put(slim(database).table.itemsets)
    s = begun.state
    slots, pairs = len(s.table.length), np.zeros_like(s.pairing.pairs)
    for row, weight in enumerate(database.weights):
        singles = [
            place
            for place in range(database.cells.shape[1])
            if s.covered.single[row, 0] >> np.uint64(place) & np.uint64(1)
        ]
        codes = [*s.covered.cover[row, : s.covered.covers[row]], *(slots + database.cells[row, singles])]
        for a, b in permutations(codes, 2):
            pairs[a, b] += weight
    assert (s.pairing.pairs == pairs).all()


def test_room_grows():
    database = ItemDatabase.of_lists([[0, 1], [0, 2]], 3)
    s = begin_state(database, 2, 4, pairing=True)
    s.pairing.pairs[4, 5] = s.pairing.pairs[5, 4] = 7
    s.table.usage[4] = 9
    grown = with_pool(with_slots(s))
    assert grown.pairing.pairs.shape == (11, 11)
    assert grown.pairing.pairs[8, 9] == grown.pairing.pairs[9, 8] == 7
    assert grown.table.usage[8] == 9
    assert len(grown.covered.pool) == 2 * len(s.covered.pool)
    assert sorted(grown.table.spare) == list(range(8))


@pytest.mark.parametrize("rows", [[[0]], [[0, 1, 2]], [[0, 1]] * 50, [[]], [[], [0]]])
def test_little_data(rows):
    database = ItemDatabase.of_lists(rows, 3)
    for found in (krimp(database, mine(database, 1).in_candidate_order()), slim(database)):
        assert found.complete
        used = sum(len(s) * u for s, u in contents(found.table).items())
        assert used == sum(map(len, rows))
        assert found.table.sizes.total <= found.table.start.total


def test_a_cascade_that_looks_at_more_elements_than_the_queue_has_places():
    """Elements that are kept may fall again: in a table that was never pruned, all of them wait from the beginning."""
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 3, (400, 5))
    cells[:, 4] = cells[:, :4].sum(axis=1) % 3
    cells = np.where(rng.random(cells.shape) < 0.15, rng.integers(0, 3, cells.shape), cells) + 3 * np.arange(5)
    database = ItemDatabase.of_cells(cells.astype(np.int32), np.repeat(np.arange(5), 3).astype(np.int32))
    sets = krimp(database, mine(database, 1).in_candidate_order(), pruning=False).table.itemsets
    pruned, looked_at = [], []
    for places in (len(sets), 10 * len(sets)):
        begun = CompiledSearch(database, 5, len(sets), pairing=False)
        begun.put(sets)
        s = begun.state
        trial = s.trial._replace(queue=np.full(places, -1, dtype=np.int32))
        trial.queue[: len(sets)] = s.table.order
        prune.py_func(s.data, s.table, s.covered, trial, s.pairing, trial.queue, len(sets), trial.fresh)
        pruned.append(contents(read_off(s, database)))
        looked_at.append(np.count_nonzero(trial.queue >= 0))
    assert looked_at[1] > len(sets)
    assert pruned[0] == pruned[1]


def test_no_candidates():
    database = ItemDatabase.of_lists([[0, 1], [0, 2]], 3)
    found = krimp(database, mine(database, 3).in_candidate_order())
    assert found.complete
    assert len(found.table.itemsets) == 0
    assert found.table.sizes == found.table.start


def test_300_columns():
    rng = np.random.default_rng(2)
    rows = [(np.repeat(rng.integers(0, 2, 30), 10) + 2 * np.arange(300)).tolist() for _ in range(200)]
    database = ItemDatabase.of_lists(rows, 600)
    found = slim(database)
    assert found.table.compression < 0.2
    assert contents(cover(database, found.table.itemsets)) == contents(found.table)
    closed = mine(database, 80, only_closed=True).in_candidate_order()
    assert krimp(database, closed).table.compression < 0.3


@pytest.mark.slow
def test_an_attribute_with_50_000_values():
    rows = [[i, 50_000 + i % 2, 50_002 + i % 2] for i in range(50_000)]
    database = ItemDatabase.of_lists(rows)
    found = krimp(database, mine(database, 2).in_candidate_order())
    assert dict(found.table.itemsets) == {(50_000, 50_002): 25_000, (50_001, 50_003): 25_000}
    all_of_them = krimp(database, mine(database, 1).in_candidate_order())
    assert all_of_them.table.sizes.total <= found.table.sizes.total
    with pytest.raises(Exception, match="PPF776"):
        slim(database)
