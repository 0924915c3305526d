"""KRIMP and SLIM of little data by Python itself: the same code table as by compiled code, to the last decision."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.mining.itemsets.database import Database
from ppdm_flow.mining.itemsets.mine import mine
from ppdm_flow.mining.krimp import compress, plain_search, search
from ppdm_flow.mining.krimp.compiled_search import CompiledSearch
from ppdm_flow.mining.krimp.compress import cover, krimp, slim
from ppdm_flow.mining.krimp.plain_search import PlainSearch
from ppdm_flow.sdk import compiled
from ppdm_flow.sdk.compiled import Kernel

KERNEL: Kernel = search.search.__wrapped__
LARGE = examples(20)


def data(seed, rows, columns, values, alike):
    """Return a table of codes, some of whose columns tell something of others."""
    draw = np.random.default_rng(seed)
    cells = draw.integers(0, values, (rows, columns))
    for column in range(1, columns):
        follows = draw.random(rows) < alike
        cells[:, column] = np.where(follows, cells[:, column - 1] % (1 + column % values), cells[:, column])
    return Database.of_lists((cells + values * np.arange(columns)).tolist(), values * columns)


def contents(found):
    table = found.table if hasattr(found, "table") else found
    sets = [(items, support) for items, support in table.itemsets]
    rest = (found.position, found.accepted, found.pruned, found.complete) if found is not table else ()
    return sets, table.usages.tolist(), table.singles.tolist(), table.sizes, table.start, rest


def by_both(call, slots=256):
    """Return what a call comes to by compiled code and by Python."""
    taken = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(compress, "SLOTS", slots)
        by_compiled = call()
        patched.setattr(compress, "python_takes", lambda *_: taken.append(1) or float(1 << 60))
        patched.setattr(compress, "STEPS", math.inf)
        for task in ("consider", "join", "put"):
            patched.setattr(CompiledSearch, task, lambda *_, **_options: pytest.fail("compiled code was used"))
        by_python = call()
    assert taken == [1]
    return contents(by_compiled), contents(by_python)


DATA = st.builds(
    data,
    st.integers(0, 9999),
    st.integers(1, 900),
    st.integers(1, 6),
    st.sampled_from([2, 3, 6, 25]),
    st.sampled_from([0.0, 0.5, 0.9]),
)


@LARGE
@given(database=DATA, pruning=st.booleans(), share=st.sampled_from([0.01, 0.05]), only_closed=st.booleans())
def test_krimp(database, pruning, share, only_closed):
    sets = mine(database, share, only_closed=only_closed).in_candidate_order()
    by_compiled, by_python = by_both(lambda: krimp(database, sets, pruning=pruning))
    assert by_python == by_compiled


@LARGE
@given(database=DATA, pruning=st.booleans(), least=st.integers(1, 4), slots=st.sampled_from([2, 8, 256]))
def test_slim(database, pruning, least, slots):
    by_compiled, by_python = by_both(lambda: slim(database, least, pruning=pruning), slots)
    assert by_python == by_compiled


@LARGE
@given(one=DATA, seed=st.integers(0, 9))
def test_cover(one, seed):
    draw = np.random.default_rng(seed)
    kept = one.cells[draw.random(len(one.cells)) < 0.5]
    other = Database.of_cells(kept, one.place) if len(kept) else one
    sets = slim(other).table.itemsets
    by_compiled, by_python = by_both(lambda: cover(one, sets))
    assert by_python == by_compiled


@LARGE
@given(database=DATA, stops=st.integers(0, 300))
def test_what_was_stopped_goes_on(database, stops):
    sets = mine(database, 0.02).in_candidate_order()
    begun = krimp(database, sets.take(np.arange(min(stops, len(sets)))))
    by_compiled, by_python = by_both(lambda: krimp(database, sets, resume=begun))
    assert by_python == by_compiled
    assert by_python[:3] == contents(krimp(database, sets))[:3]


@pytest.mark.slow
def test_more_rows_than_bit_vectors_are_kept_for_and_weights_of_many_bits():
    """Items of a few rows have no bit vector in the compiled search: rows are gone through in another order."""
    draw = np.random.default_rng(4)
    cells = np.stack([draw.integers(0, 400, 3000), 400 + draw.integers(0, 3, 3000), 403 + draw.integers(0, 9, 3000)], 1)
    database = Database.of_lists(cells.tolist() + cells[:40].tolist() * 300, 412)
    assert database.weights.max() > 255
    sets = mine(database, 2).in_candidate_order()
    by_compiled, by_python = by_both(lambda: krimp(database, sets))
    assert by_python == by_compiled
    assert len(by_python[0]) > 50
    by_compiled, by_python = by_both(lambda: slim(database, 2))
    assert by_python == by_compiled


def test_too_much_work_is_compiled(monkeypatch):
    database = data(3, 400, 5, 4, 0.5)
    expected = contents(slim(database))
    monkeypatch.setattr(compress, "python_takes", lambda *_: 5_000.0)
    done = []
    monkeypatch.setattr(compress, "python_gives_back", done.append)
    assert contents(slim(database)) == expected
    assert contents(krimp(database, mine(database, 2).in_candidate_order()))
    assert done == []  # nothing is given back of what was not enough


def test_python_does_it_as_long_as_nothing_is_compiled_and_there_is_room(monkeypatch):
    monkeypatch.setattr(compiled, "PLAIN_STEPS", 2 * plain_search.STEPS)
    monkeypatch.setattr(compiled._PlainWork, "done", 0.0)
    monkeypatch.setattr(KERNEL, "_dispatcher", None)
    monkeypatch.setattr(Kernel, "dispatcher", property(lambda _self: pytest.fail("something was compiled")))
    database = data(5, 100, 4, 3, 0.5)
    for _ in range(5):
        slim(database)
    assert 0 < compiled._PlainWork.done < plain_search.STEPS
    begun = PlainSearch(database, 4, 256, 1e6, pairing=False)
    with pytest.raises(ValueError, match="without pairs"):
        begun.join(1, 1, pruning=True)
