"""Streams, views and pairs against plain twins."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.local.expansion import ExpandedStream, Numbering
from ppdm_flow.engine.local.partitions import Spool
from ppdm_flow.engine.local.source import SourceStream
from ppdm_flow.engine.local.transforms import MemoryStream
from ppdm_flow.engine.streams.multiset import MultisetHash
from ppdm_flow.engine.streams.narrow import NarrowCounts, NarrowTable, PairedColumn
from ppdm_flow.engine.streams.reading import Budget, ReadOptions
from ppdm_flow.engine.streams.rebatching import partitions
from ppdm_flow.engine.streams.stream import Stop, StoppedError, StreamPairs, StreamPart, positions
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.engine.streams.workers import ALONE, Workers
from ppdm_flow.sdk.view import count_each
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import summed
from ppdm_flow.tables.table import Table, concat

CELL = st.sampled_from([None, "a", "b", "c", "", "é", "?"])
ROWS = st.lists(st.tuples(CELL, CELL), min_size=1, max_size=50)
HERE = examples(20, suppress_health_check=[HealthCheck.function_scoped_fixture])


class FakeSource:
    """A source over rows in memory, in blocks of given sizes."""

    def __init__(self, rows: list[tuple], names: tuple[str, ...], sizes: list[int], coded: bool = True) -> None:
        self.rows, self._names, self.sizes, self.coded = rows, names, sizes, coded
        self.asked: list[tuple[str, ...]] = []

    def names(self) -> tuple[str, ...]:
        return self._names

    def batches(self, columns):
        self.asked.append(tuple(columns))
        start = turn = 0
        while start < len(self.rows):
            size = self.sizes[turn % len(self.sizes)]
            part = self.rows[start : start + size]
            arrays = [pa.array([r[self._names.index(c)] for r in part], pa.string()) for c in columns]
            yield pa.RecordBatch.from_arrays(
                [a.dictionary_encode() if self.coded else a for a in arrays], list(columns)
            )
            start, turn = start + size, turn + 1


WORKERS = (ALONE, Workers(2), Workers(3))


def facts(*names: str, role: Role = Role.INSENSITIVE) -> tuple[AttributeFacts, ...]:
    return tuple(AttributeFacts(n, role) for n in names)


def stream(rows, sizes=(3, 7), size=4, limit=1 << 20, names=("x", "y"), workers=ALONE, **reading) -> SourceStream:
    source = FakeSource(rows, names, list(sizes))
    found = ReadOptions({n: n for n in names}, partition_rows=size, **reading)
    made = SourceStream(source, facts(*names), found, Budget(limit), Stop(), workers=workers)
    made.load()
    return made


def cells(table: Table) -> list[tuple]:
    return list(zip(*(c.texts() for c in table.columns.values()), strict=True))


@given(rows=ROWS, sizes=st.lists(st.integers(1, 9), min_size=1, max_size=4), size=st.integers(1, 60))
def test_partitions_have_exactly_their_size_whatever_the_blocks(rows, sizes, size):
    found = list(partitions(FakeSource(rows, ("x", "y"), sizes).batches(("x", "y")), ("x", "y"), size))
    assert [len(p) for p in found[:-1]] == [size] * (len(found) - 1)
    assert 0 < len(found[-1]) <= size
    assert [r for p in found for r in cells(p)] == rows
    assert np.concatenate([p.rows for p in found]).tolist() == list(range(len(rows)))
    for part in found:
        for column in part.columns.values():
            texts = column.categories.to_pylist()
            assert texts == sorted(texts, key=str.encode)
            assert set(texts) == {t for t in column.texts() if t is not None}


@HERE
@given(
    rows=ROWS,
    limit=st.sampled_from([0, 60, 1 << 20]),
    size=st.integers(1, 20),
    drop=st.booleans(),
    workers=st.sampled_from(WORKERS),
)
def test_a_source_gives_the_same_from_memory_and_from_the_file_again(rows, limit, size, drop, workers):
    incomplete = ("x", "y") if drop else ()
    made = stream(rows, size=size, limit=limit, missing=("?",), incomplete=incomplete, workers=workers)
    shown = [tuple(None if c == "?" else c for c in r) for r in rows]
    expected = [(i, r) for i, r in enumerate(shown) if not (drop and None in r)]
    for _ in range(2):
        parts = [p.table for p in made.parts()]
        assert [x for p in parts for x in zip(p.rows.tolist(), cells(p), strict=True)] == expected
        one = [p.table for p in made.parts(["y"])]
        assert [x for p in one for x in cells(p)] == [(r[1],) for _, r in expected]
        assert all(p.names == ("y",) for p in one)
    assert (made.rows_read, made.row_count) == (len(rows), len(expected))
    places = np.arange(0, len(expected), 3)
    picked = [x for t in made.rows_at(places, ["y"]) for x in zip(t.rows.tolist(), cells(t), strict=True)]
    assert picked == [(i, (r[1],)) for i, r in expected[::3]]


@HERE
@given(rows=ROWS, size=st.integers(1, 20), start=st.sampled_from([0, 1000]), data=st.data())
def test_rows_at_some_places_are_those_of_all_rows(rows, size, start, data):
    found = ReadOptions({"x": "x", "y": "y"}, partition_rows=size, missing=("?",))
    made = SourceStream(FakeSource(rows, ("x", "y"), [3, 7]), facts("x", "y"), found, Budget(0), Stop(), start)
    every = [x for p in made.read_once(["y"]) for x in zip(p.table.rows.tolist(), cells(p.table), strict=True)]
    wanted = sorted(data.draw(st.sets(st.integers(0, len(every) - 1)))) if every else []
    tables = list(made.read_at(np.array(wanted, dtype=np.int64), ["y"]))
    assert [x for t in tables for x in zip(t.rows.tolist(), cells(t), strict=True)] == [every[i] for i in wanted]


@given(rows=st.lists(st.tuples(CELL, CELL), max_size=30), weight=st.sampled_from([1, 300, 1 << 40]))
def test_narrow_counts_are_the_same_counts(rows, weight):
    table = Table.of({"x": [x for x, _ in rows], "y": [y for _, y in rows]})
    for columns in (["x", "y"], ["y"], []):
        counts = summed(table, columns, np.full(len(rows), weight, dtype=np.int64))
        wide = pickle.loads(pickle.dumps(NarrowCounts.of(counts))).wide()
        assert wide.columns == counts.columns
        assert wide.codes.tolist() == counts.codes.tolist()
        assert (wide.codes.dtype, wide.codes.shape, wide.counts.dtype) == (np.int32, counts.codes.shape, np.int64)
        assert wide.counts.tolist() == counts.counts.tolist()
        assert wide.categories == counts.categories


def test_a_source_that_does_not_fit_reads_only_the_columns_that_are_asked_for():
    made = stream([("a", "b")] * 10, limit=0)
    list(made.parts(["y"]))
    assert made._source.asked[1:] == [("y",)]


def test_bytes_that_a_cache_took_are_given_back():
    budget = Budget(10_000)
    source = FakeSource([("a", "b")] * 100, ("x", "y"), [7])
    made = SourceStream(source, facts("x", "y"), ReadOptions({"x": "x", "y": "y"}, partition_rows=10), budget, Stop())
    made.load()
    assert not budget.take(10_000)
    made.release()
    assert budget.take(10_000)


@given(rows=ROWS)
def test_narrow_tables_are_the_same_tables(rows):
    table = Table.of({"x": [r[0] for r in rows], "y": [r[1] for r in rows]}, start=7)
    narrow = NarrowTable.of(table)
    assert narrow.nbytes < sum(c.codes.nbytes for c in table.columns.values()) + table.rows.nbytes + 200
    assert cells(narrow.table(("x", "y"))) == cells(table)
    assert narrow.table(("y",)).rows.tolist() == table.rows.tolist()
    gaps = table.take(np.arange(len(rows)) % 3 != 1)
    assert NarrowTable.of(gaps).table(("x",)).rows.tolist() == gaps.rows.tolist()


@pytest.mark.parametrize("width", [127, 128, 129, 32_767, 32_768, 32_769, 70_000])
def test_narrow_codes_hold_every_category(width):
    column = Column(np.arange(-2, width, dtype=np.int32), pa.array([f"{i:06d}" for i in range(width)]))
    table = Table({"x": column}, np.arange(width + 2))
    assert (NarrowTable.of(table).table(("x",))["x"].codes == column.codes).all()


@pytest.mark.parametrize("rows", [0, 1, 2, 7])
@pytest.mark.parametrize("texts", [0, 1, 13, 14, 15, 126, 127])
def test_a_narrow_column_has_the_same_cells_however_many_texts_it_has(texts, rows):
    names = pa.array([f"{i:03d}" for i in range(texts)], pa.string())
    codes = (np.arange(rows) * 5 % (texts + 2) - 2).astype(np.int32)
    codes[-1:] = texts - 1 if texts else -1
    narrow = NarrowTable.of(Table({"x": Column(codes, names)}, np.arange(rows) * 3))
    assert isinstance(narrow.columns["x"], PairedColumn) == (texts <= 14)
    assert narrow.table(("x",))["x"].codes.tolist() == codes.tolist()
    places = np.flatnonzero(np.arange(rows) % 3 != 1)
    taken = narrow.take(places, ("x",))
    assert taken["x"].codes.tolist() == codes[places].tolist()
    assert taken.rows.tolist() == (places * 3).tolist()


@HERE
@given(rows=ROWS, size=st.integers(1, 20))
def test_a_view_answers_like_plain_python(rows, size):
    view = StreamView(stream(rows, size=size))
    assert view.row_count == len(rows)
    found = view.counts(["y", "x"])
    texts = zip(
        Column(found.of("y"), found.names("y")).texts(), Column(found.of("x"), found.names("x")).texts(), strict=True
    )
    assert dict(zip(texts, found.counts.tolist(), strict=True)) == Counter((r[1], r[0]) for r in rows)
    assert view.domain("x").to_pylist() == sorted({r[0] for r in rows if r[0] is not None}, key=str.encode)
    assert cells(view.table()) == rows
    assert cells(view.table(["y"])) == [(r[1],) for r in rows]
    assert view.counts([]).total == len(rows)


@HERE
@given(rows=ROWS, size=st.integers(1, 20), limit=st.sampled_from([0, 1 << 20]), workers=st.sampled_from(WORKERS))
def test_columns_that_are_counted_in_one_pass_have_the_counts_of_each(rows, size, limit, workers):
    view = StreamView(stream(rows, size=size, limit=limit, workers=workers))
    view.counts(["y"])
    count_each(view, ["x", "y", "x"])
    count_each(view, ["x", "y"])
    for name, place in (("x", 0), ("y", 1)):
        direct = StreamView(stream(rows, size=7)).counts([name])
        found = view.counts([name])
        texts = Column(found.of(name), found.names(name)).texts()
        assert dict(zip(texts, found.counts.tolist(), strict=True)) == Counter(r[place] for r in rows)
        assert found.names(name).to_pylist() == direct.names(name).to_pylist()
        assert found.counts.tolist() == direct.counts.tolist()
    with pytest.raises(DataError, match="there is no column `z`"):
        count_each(view, ["x", "z"])


def test_columns_of_few_values_are_counted_in_one_pass_and_others_not(monkeypatch):
    rng = np.random.default_rng(1)
    many = [str(v) for v in rng.permutation(400)]
    rows = [(("a", "b", "c")[i % 3], many[i], "ab"[i % 2]) for i in range(400)]
    made = stream(rows, size=200, names=("x", "many", "y"))
    assert [sorted(each) for each in made.tallies_each(["x", "many", "y"])] == [["x", "y"]]
    view = StreamView(made)
    count_each(view, ["x", "many", "y"])
    monkeypatch.setattr(view, "_count", lambda _columns: pytest.fail("counted again"))
    assert view.counts(["x"]).counts.tolist() == [134, 133, 133]
    assert view.counts(["y"]).total == 400
    monkeypatch.undo()
    assert view.counts(["many"]).total == 400


def test_partitions_with_the_same_categories_are_added_up_and_no_others():
    rows = [("a",), ("b",), ("a",), ("b",), ("b",), ("c",), ("c",), ("b",), ("c",), ("a",)]
    counted = [each["x"] for each in stream(rows, size=2, names=("x",)).tallies_each(["x"])]
    assert [c.names("x").to_pylist() for c in counted] == [["a", "b"], ["b", "c"], ["a", "c"]]
    assert [c.counts.tolist() for c in counted] == [[2, 2], [2, 2], [1, 1]]


def test_what_counts_weights_or_is_no_view_of_a_stream_is_asked_for_one_by_one():
    attributes = (*facts("x", "y"), *facts("n", role=Role.WEIGHT))
    table = Table.of({"x": ["a", "b", "a"], "y": ["c"] * 3, "n": ["2", "5", "3"]})
    view = StreamView(MemoryStream(table, attributes, 2, Stop()))
    count_each(view, ["x", "y"])
    assert view.counts(["x"]).counts.tolist() == [5, 5]
    count_each(object(), ["x"])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("columns", [("y",), ("x",), ("x", "z"), ("z", "y", "x"), ()])
def test_counts_added_up_from_wider_ones_are_the_same(weighted, columns, monkeypatch):
    rng = np.random.default_rng(3)
    known = {
        n: [None if v == 0 else f"{v}" for v in rng.integers(0, w, 200)] for n, w in zip("xyz", (3, 4, 2), strict=True)
    }
    table = Table.of(known | {"n": [str(v) for v in rng.integers(0, 3, 200)]})
    attributes = (*facts("x", "y", "z"), *(facts("n", role=Role.WEIGHT) if weighted else ()))
    direct = StreamView(MemoryStream(table, attributes, 7, Stop())).counts(columns)
    view = StreamView(MemoryStream(table, attributes, 7, Stop()))
    view.counts(["x", "y", "z"])
    monkeypatch.setattr(view, "partitions", None)  # nothing is read again
    found = view.counts(columns)
    assert found.columns == direct.columns
    assert [n.to_pylist() for n in found.categories] == [n.to_pylist() for n in direct.categories]
    assert (found.codes == direct.codes).all()
    assert (found.counts == direct.counts).all()


def test_a_view_remembers_no_more_than_it_may(monkeypatch):
    view = StreamView(stream([("a", "b"), ("c", "d")] * 10))
    monkeypatch.setattr("ppdm_flow.engine.streams.view._REMEMBER", 40)
    assert view.counts(["x", "y"]) is view.counts(["x", "y"])  # 32 bytes
    assert view.counts(["y"]) is not view.counts(["y"])


@HERE
@given(rows=ROWS, size=st.integers(1, 20), wanted=st.integers(1, 60))
def test_a_sample_is_evenly_spaced_and_always_the_same(rows, size, wanted):
    view = StreamView(stream(rows, size=size))
    sample = view.sample(wanted)
    assert len(sample) == min(wanted, len(rows))
    assert cells(sample) == [rows[i] for i in sample.rows.tolist()]
    gaps = np.diff(sample.rows)
    assert len(gaps) == 0 or gaps.max() - gaps.min() <= 1
    other = StreamView(stream(rows, size=7)).sample(wanted)
    assert other.rows.tolist() == sample.rows.tolist()


def test_a_view_names_the_column_that_it_does_not_have():
    view = StreamView(stream([("a", "b")]))
    for ask in (lambda: view.counts(["yy"]), lambda: view.domain("yy"), lambda: list(view.partitions(["yy"]))):
        with pytest.raises(DataError) as caught:
            ask()
        assert caught.value.diagnostics[0].hint == "did you mean `y`?"


def test_weights_count():
    attributes = (*facts("x"), *facts("n", role=Role.WEIGHT))
    table = Table.of({"x": ["a", "b", "a"], "n": ["2", "5", "3"]})
    view = StreamView(MemoryStream(table, attributes, 2, Stop()))
    assert view.counts(["x"]).counts.tolist() == [5, 5]
    assert view.counts([]).total == 10
    assert view.row_count == 3


WEIGHTS = st.lists(st.integers(0, 4), min_size=1, max_size=30)


@given(weights=WEIGHTS, size=st.integers(1, 12), dropped=st.sets(st.integers(0, 29)))
def test_weighted_rows_are_written_out_under_numbers_that_do_not_depend_on_partitions(weights, size, dropped):
    attributes = (*facts("x"), *facts("n", role=Role.WEIGHT))
    table = Table.of({"x": [str(i) for i in range(len(weights))], "n": [str(w) for w in weights]})
    numbering = Numbering("n")
    for start in range(0, len(weights), 5):
        numbering.look(table.take(np.arange(start, min(len(weights), start + 5))))
    left = table.take(np.array([i not in dropped for i in range(len(weights))]))
    stream = ExpandedStream(MemoryStream(left, attributes, size, Stop()), numbering)
    parts = [p.table for p in stream.parts()]
    found = [(t, r) for p in parts for t, r in zip(p["x"].texts(), p.rows.tolist(), strict=True)]
    starts = np.cumsum([0, *weights])
    expected = [(str(i), int(starts[i]) + j) for i, w in enumerate(weights) if i not in dropped for j in range(w)]
    assert found == expected
    assert [a.name for a in stream.attributes] == ["x"]


@given(rows=st.lists(st.integers(0, 60), unique=True, max_size=30), wanted=st.lists(st.integers(0, 60), max_size=30))
def test_positions(rows, wanted):
    found = positions(np.array(rows, dtype=np.int64), np.array(wanted, dtype=np.int64))
    assert found.tolist() == [rows.index(w) if w in rows else -1 for w in wanted]


@given(
    left=st.sets(st.integers(0, 60), min_size=1),
    right=st.sets(st.integers(0, 60), min_size=1),
    sizes=st.tuples(st.integers(1, 20), st.integers(1, 20)),
    order=st.randoms(use_true_random=False),
    aligned=st.booleans(),
)
def test_pairs_are_the_rows_with_one_number(left, right, sizes, order, aligned):
    def table(rows: list[int], mark: str) -> Table:
        return Table({"v": Column.of([f"{mark}{r}" for r in rows])}, np.array(rows, dtype=np.int64))

    lefts, rights = sorted(left), sorted(right)
    if not aligned:
        order.shuffle(rights)
    one = MemoryStream(table(lefts, "o"), facts("v"), sizes[0], Stop())
    two = MemoryStream(table(rights, "r"), facts("v"), sizes[1], Stop())
    pairs = StreamPairs(one, two, aligned=aligned)
    found = []
    for a, b in pairs.pairs(["v"], ["v"]):
        assert a.rows.tolist() == b.rows.tolist()
        found += list(zip(a["v"].texts(), b["v"].texts(), strict=True))
    assert sorted(found) == sorted((f"o{r}", f"r{r}") for r in left & right)
    joint = pairs.joint("v", "v")
    assert joint.columns == ("original", "released")
    assert joint.total == len(left & right)


KEYS = st.lists(st.sampled_from([0, 1, 2, 1 << 40, 1 << 58, (1 << 58) + 1, 1 << 63, (1 << 64) - 1]), max_size=60)


@HERE
@given(
    keys=KEYS,
    size=st.integers(1, 20),
    limit=st.sampled_from([0, 500, 1 << 30]),
    together=st.sampled_from([1, 16, 1 << 18]),
    at_once=st.sampled_from([(1, 1 << 26), (8, 1 << 26), (1 << 17, 1 << 26), (1 << 17, 1), (1 << 17, 200)]),
    workers=st.sampled_from(WORKERS),
)
def test_a_spool_sorts_by_key_then_row(tmp_path_factory, monkeypatch, keys, size, limit, together, at_once, workers):
    from ppdm_flow.engine.local import partitions

    monkeypatch.setattr(partitions, "_TOGETHER", together)
    monkeypatch.setattr(partitions, "_AT_ONCE", at_once[0])
    monkeypatch.setattr(partitions, "_BYTES_AT_ONCE", at_once[1])
    folder = tmp_path_factory.mktemp("spool")
    spool = Spool(["v"], folder, limit, workers)
    for start in range(0, len(keys), size):
        part = keys[start : start + size]
        table = Table.of({"v": [f"{k % 7}" for k in part]}, start)
        spool.add(StreamPart(table, np.array(part, dtype=np.uint64)))
    found = [(int(r), t) for p in spool.tables() for r, t in zip(p.rows, p["v"].texts(), strict=True)]
    expected = sorted(range(len(keys)), key=lambda i: (keys[i], i))
    assert found == [(i, f"{keys[i] % 7}") for i in expected]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(("columns", "limit"), [(1, 1 << 30), (200, 1 << 30), (200, 1_000)])
def test_wide_rows_are_sorted_fewer_at_once(tmp_path, monkeypatch, columns, limit):
    """So that the blocks in memory have a bound, in files or not."""
    from ppdm_flow.engine.local import partitions

    monkeypatch.setattr(partitions, "_BYTES_AT_ONCE", 1 << 20)
    names = [f"c{i}" for i in range(columns)]
    keys = np.random.default_rng(3).integers(0, 1 << 63, 10_000, dtype=np.uint64) << np.uint64(1)
    spool = Spool(names, tmp_path, limit)
    for start in range(0, len(keys), 2_500):
        column = Table.of({"c": [f"{n % 7}" for n in range(2_500)]}, start)["c"]
        rows = np.arange(start, start + 2_500)
        spool.add(StreamPart(Table(dict.fromkeys(names, column), rows), keys[start : start + 2_500]))
    sizes = [len(table) for table in spool.tables()]
    assert sum(sizes) == len(keys)
    assert max(sizes) <= (1 << 20) // (8 * columns)
    assert len(sizes) > 10 * (columns > 1)


def test_a_spool_of_texts_that_hardly_repeat(tmp_path, monkeypatch):
    from ppdm_flow.engine.local import pools

    monkeypatch.setattr(pools, "_LOOKED_UP", 50)
    draw = np.random.default_rng(3)
    keys = draw.integers(0, 1 << 63, 1_000, dtype=np.uint64)
    texts = [f"t{i % 700}" if i % 11 else None for i in range(1_000)]
    spool = Spool(["v"], tmp_path, 1_000)
    for start in range(0, 1_000, 70):
        spool.add(StreamPart(Table.of({"v": texts[start : start + 70]}, start), keys[start : start + 70]))
    found = [t for p in spool.tables() for t in p["v"].texts()]
    assert found == [texts[i] for i in np.argsort(keys, kind="stable")]


def hashed(table: Table, key: str = "k" * 16) -> tuple[int, int]:
    found = MultisetHash(key)
    found.look(table)
    return found.value


@given(rows=ROWS, order=st.randoms(use_true_random=False), cut=st.integers(0, 50))
def test_the_hash_of_a_multiset_ignores_order_partitions_and_codes(rows, order, cut):
    def table(found: list[tuple]) -> Table:
        return Table.of({"x": [r[0] for r in found], "y": [r[1] for r in found]})

    shuffled = list(rows)
    order.shuffle(shuffled)
    whole = MultisetHash("k" * 16)
    for part in (shuffled[:cut], shuffled[cut:]):
        whole.look(table(part))
    assert whole.value == hashed(table(rows))
    wide = Table(
        {"x": Column.of([r[0] for r in rows], ["é", "zz", "", "?", "c", "b", "a"]), "y": table(rows)["y"]},
        table(rows).rows,
    )
    assert hashed(wide) == hashed(table(rows))


def test_the_hash_of_a_multiset_sees_every_change():
    base = Table.of({"x": ["a", "b", "a"], "y": ["1", "2", "3"]})
    others = [
        Table.of({"x": ["b", "a", "a"], "y": ["1", "2", "3"]}),  # cells swapped between rows
        Table.of({"x": ["1", "2", "3"], "y": ["a", "b", "a"]}),  # columns swapped
        Table.of({"x": ["a", "b", None], "y": ["1", "2", "3"]}),
        Table.of({"x": ["a", "b", "⊥"], "y": ["1", "2", "3"]}),
        Table.of({"x": ["a", "b", ""], "y": ["1", "2", "3"]}),
        Table.of({"x": ["a", "b"], "y": ["1", "2"]}),
        concat([base, base]),
        Table.of({"x": ["a1", "b", "a"], "y": ["", "2", "3"]}),
    ]
    values = [hashed(t) for t in (base, *others)]
    assert len(set(values)) == len(values)
    assert hashed(base, "q" * 16) != hashed(base)


def test_everything_stops_when_it_is_told_to():
    stop = Stop()
    source = FakeSource([("a", "b")] * 10, ("x", "y"), [1])
    made = SourceStream(
        source, facts("x", "y"), ReadOptions({"x": "x", "y": "y"}, partition_rows=2), Budget(9_999), stop
    )
    made.load()
    parts = made.parts()
    next(parts)
    stop.set()
    with pytest.raises(StoppedError):
        next(parts)
