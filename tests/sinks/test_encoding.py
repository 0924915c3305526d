"""Row groups that are encoded apart and joined: the bytes of one writer, and no error is lost."""

from __future__ import annotations

import contextlib
import io
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from inspect import signature

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.engine.streams.workers import Workers
from ppdm_flow.sinks.parquet import algorithm, row_groups
from ppdm_flow.sinks.parquet.algorithm import ParquetSink
from ppdm_flow.sinks.parquet.compact import ListValue, decode, encode
from ppdm_flow.sinks.parquet.gathering import gathered
from ppdm_flow.sinks.parquet.layout import Layout
from ppdm_flow.sinks.parquet.row_groups import RowGroups
from ppdm_flow.sinks.parquet.spec import ParquetParams

ROWS = 1000
GROUP = 256


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr(algorithm, "ROW_GROUP", GROUP)


def batch(start: int) -> pa.RecordBatch:
    cells = pa.array([f"v{n % 7}" for n in range(start, start + 100)])
    return pa.RecordBatch.from_arrays([cells.dictionary_encode()], names=["a"])


def shared(sink, threads: int):
    """Have the workers of a run lend a hand to the sink."""
    workers = Workers(threads)
    if threads > 1:
        sink.share(workers.submit, threads)
    return contextlib.closing(workers)


def written(path, threads: int) -> bytes:
    sink = ParquetSink(ParquetParams(), path, ["a"])
    with shared(sink, threads):
        try:
            for start in range(0, ROWS, 100):
                sink.write(batch(start))
        finally:
            sink.close()
    return path.read_bytes()


def footer_of(file: bytes) -> bytes:
    return file[-8 - int.from_bytes(file[-8:-4], "little") : -8]


def parquet(table: pa.Table, **options) -> pa.Buffer:
    out = pa.BufferOutputStream()
    pq.write_table(table, out, **options)
    return out.getvalue()


def joined(jobs, threads: int = 1) -> bytes:
    file = io.BytesIO()
    with contextlib.closing(Workers(threads)) as workers:
        groups = RowGroups(file, workers.submit, threads)
        with contextlib.closing(groups):
            for job in jobs:
                groups.add(job)
            groups.finish(partial(parquet, pa.table({"a": pa.array([], pa.string())})))
    return file.getvalue()


# what is joined


def test_the_same_bytes_for_any_number_of_threads(tmp_path):
    one, two = written(tmp_path / "one.parquet", 1), written(tmp_path / "two.parquet", 2)
    assert one == two
    assert pq.read_table(tmp_path / "two.parquet")["a"].to_pylist() == [f"v{n % 7}" for n in range(ROWS)]
    assert pq.ParquetFile(tmp_path / "two.parquet").num_row_groups == -(-ROWS // GROUP)
    rows = duckdb.execute("SELECT a FROM read_parquet(?)", [str(tmp_path / "two.parquet")]).fetchall()
    assert rows == [(f"v{n % 7}",) for n in range(ROWS)]


TEXTS = st.sampled_from(["", "a", "bc", "ü", "x" * 300]) | st.none()
COLUMNS = {
    "text": (TEXTS, pa.string()),
    "whole": (st.integers(-(2**63), 2**63 - 1) | st.none(), pa.int64()),
    "real": (st.floats(allow_nan=False) | st.none(), pa.float64()),
    "day": (st.dates() | st.none(), pa.date32()),
    "set": (st.lists(TEXTS.filter(bool), max_size=3), pa.large_list(pa.string())),
    "noisy": (
        st.fixed_dictionaries({"bits": st.binary(min_size=4, max_size=4), "seed": st.binary(min_size=8, max_size=8)}),
        pa.struct([("bits", pa.binary(4)), ("seed", pa.binary(8))]),
    ),
}


@st.composite
def batches(draw) -> list[pa.RecordBatch]:
    names = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, unique=True))
    sizes = draw(st.lists(st.integers(1, 30), min_size=1, max_size=6))
    return [
        pa.RecordBatch.from_arrays(
            [
                pa.array(draw(st.lists(COLUMNS[n][0], min_size=size, max_size=size)), COLUMNS[n][1], from_pandas=False)
                for n in names
            ],
            names=names,
        )
        for size in sizes
    ]


@examples(20)
@given(
    pieces=batches(), rows=st.integers(1, 40), threads=st.integers(1, 3), compression=st.sampled_from(["zstd", "none"])
)
def test_the_bytes_are_those_of_one_writer(tmp_path_factory, pieces, rows, threads, compression):
    path = tmp_path_factory.mktemp("joined") / "t.parquet"
    sink = ParquetSink(ParquetParams(compression=compression), path, pieces[0].schema.names)
    with pytest.MonkeyPatch.context() as patch, shared(sink, threads):
        patch.setattr(algorithm, "ROW_GROUP", rows)
        for piece in pieces:
            sink.write(piece)
        sink.close()
    layout = Layout.of(pieces[0].schema, rows)
    whole = pa.Table.from_batches(pieces).combine_chunks().to_batches()[0]
    out = pa.BufferOutputStream()
    with layout.writer(out, compression) as writer:
        for start in range(0, len(whole), layout.group):
            group = whole.slice(start, layout.group)
            columns = [gathered([group.column(n)]) for n in range(group.num_columns)]
            writer.write_table(pa.Table.from_arrays(columns, schema=layout.schema), row_group_size=layout.group)
    assert path.read_bytes() == out.getvalue().to_pybytes()


def test_more_row_groups_than_a_byte_counts():
    table = pa.table({"a": [str(n % 5) for n in range(600)]})
    out = pa.BufferOutputStream()
    pq.write_table(table, out, row_group_size=2)
    jobs = [partial(parquet, table.slice(start, 2)) for start in range(0, 600, 2)]
    assert joined(jobs, 2) == out.getvalue().to_pybytes()


def test_files_of_several_row_groups_are_joined_too():
    table = pa.table({"a": list(range(90))})
    jobs = [partial(parquet, table.slice(start, 30), row_group_size=10) for start in (0, 30, 60)]
    assert joined(jobs) == parquet(table, row_group_size=10).to_pybytes()


def test_a_file_without_rows_has_its_names(tmp_path):
    for threads in (1, 2):
        sink = ParquetSink(ParquetParams(), tmp_path / f"{threads}.parquet", ["a", "b"])
        with shared(sink, threads):
            sink.close()
    table = pq.read_table(tmp_path / "2.parquet")
    assert (table.column_names, len(table)) == (["a", "b"], 0)
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "2.parquet").read_bytes()


@pytest.mark.parametrize(("size", "most"), [(0, 3), (row_groups._MOST_BYTES // 2, 2), (row_groups._MOST_BYTES * 2, 1)])
def test_jobs_that_hold_much_are_few_at_once(size, most):
    """Wide rows are encoded one row group after the other: what is in memory has a bound."""

    class Asked(Future):
        """Does its job when it is asked for the result."""

        def __init__(self, job):
            super().__init__()
            self.job = job

        def result(self, timeout=None):
            return self.job()

    file = io.BytesIO()
    groups = RowGroups(file, Asked, 2)
    table = pa.table({"a": list(range(50))})
    held = []
    for start in range(0, 50, 10):
        groups.add(partial(parquet, table.slice(start, 10)), size)
        held.append(len(groups._coming))
    assert max(held) == most
    groups.finish(list)
    assert pq.read_table(io.BytesIO(file.getvalue())) == table


# what is refused


def test_another_schema_is_not_joined():
    with pytest.raises(ValueError, match="one schema"):
        joined([partial(parquet, pa.table({"a": [1]})), partial(parquet, pa.table({"a": ["x"]}))])


def test_page_indexes_and_bloom_filters_are_not_joined():
    table = pa.table({"a": ["x", "y"]})
    kinds = {"write_page_index": True, "bloom_filter_options": {"a": {"ndv": 2}}}
    known = signature(pq.ParquetWriter).parameters  # older versions of pyarrow write no bloom filters
    for options in ({name: value} for name, value in kinds.items() if name in known):
        with pytest.raises(ValueError, match="indexes or bloom filters"):
            joined([partial(parquet, table), partial(parquet, table, **options)])


# what goes wrong


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("failing", [1, 2, 4])
def test_what_goes_wrong_in_any_row_group_is_raised(tmp_path, monkeypatch, threads, failing):
    write_table = pq.ParquetWriter.write_table
    begun = []

    def fails(self, table, row_group_size):
        begun.append(table["a"][0].as_py())
        if begun[-1] == f"v{(failing - 1) * GROUP % 7}":
            raise OSError(28, "No space left on device")
        write_table(self, table, row_group_size=row_group_size)

    monkeypatch.setattr(pq.ParquetWriter, "write_table", fails)
    path = tmp_path / "full.parquet"
    with pytest.raises(OSError, match="No space left"):
        written(path, threads)
    if threads == 1:
        assert len(begun) == failing
    else:  # no footer: nothing reads it
        with pytest.raises(pa.ArrowInvalid):
            pq.read_table(path)


def test_jobs_of_a_closed_pool_hold_nobody_up():
    go_on, pool = threading.Event(), ThreadPoolExecutor(1)
    groups = RowGroups(io.BytesIO(), pool.submit, 2)
    for _ in range(3):
        groups.add(go_on.wait)
    pool.shutdown(wait=False, cancel_futures=True)
    go_on.set()
    closing = threading.Thread(target=groups.close, daemon=True)
    closing.start()
    closing.join(30)
    assert not closing.is_alive()


def test_a_full_disk_is_raised_and_nothing_is_written_behind_the_gap():
    class Full(io.BytesIO):
        calls = 0

        def write(self, data):
            self.calls += 1
            if self.calls == 2:
                raise OSError(28, "No space left on device")
            return super().write(data)

    file = Full()
    groups = RowGroups(file, Workers(1).submit, 1)

    def write() -> None:
        with contextlib.closing(groups):
            for start in range(0, 100, 10):
                groups.add(partial(parquet, pa.table({"a": list(range(start, start + 10))})))

    with pytest.raises(OSError, match="No space left"):
        write()
    assert file.calls == 2
    with pytest.raises(pa.ArrowInvalid):
        pq.read_table(io.BytesIO(file.getvalue()))


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("failing", [True, False])
def test_a_sink_that_is_closed_waits_for_what_has_begun(tmp_path, monkeypatch, failing):
    """Else a thread would go on with rows of a run that is over."""
    going, encoded = threading.Event(), algorithm._encoded

    def slow(*given):
        going.wait(5)
        if failing:
            raise OSError(28, "No space left on device")
        return encoded(*given)

    monkeypatch.setattr(algorithm, "_encoded", slow)
    sink = ParquetSink(ParquetParams(), tmp_path / "t.parquet", ["a"])
    with shared(sink, 2):
        for start in range(0, GROUP * 2, 100):
            sink.write(batch(start))
        jobs = [job for job, _ in sink._groups._coming]
        assert jobs
        assert not any(job.done() for job in jobs)
        threading.Timer(0.2, going.set).start()
        with pytest.raises(OSError, match="No space left") if failing else contextlib.nullcontext():
            sink.close()
        assert all(job.done() for job in jobs)


# the protocol of the footer

KINDS = st.sampled_from([4, 5, 6, 8, 12])


def values(kind: int, depth: int) -> st.SearchStrategy:
    if kind in (4, 5, 6):
        return st.integers(
            -(2 ** (16 * (kind - 3 if kind < 6 else 4) - 1)), 2 ** (16 * (kind - 3 if kind < 6 else 4) - 1) - 1
        )
    return st.binary(max_size=200) if kind == 8 else structs(depth - 1)


def fields(depth: int) -> st.SearchStrategy:
    simple = KINDS.filter(lambda kind: kind != 12 or depth).flatmap(lambda k: st.tuples(st.just(k), values(k, depth)))
    flags = st.sampled_from([(1, None), (2, None)])
    numbers = st.tuples(st.just(7), st.binary(min_size=8, max_size=8)) | st.tuples(
        st.just(3), st.binary(min_size=1, max_size=1)
    )
    lists = KINDS.filter(lambda kind: kind != 12 or depth).flatmap(
        lambda kind: st.lists(values(kind, depth), max_size=20).map(lambda found: (9, ListValue(kind, found)))
    )
    return simple | flags | numbers | lists


def structs(depth: int) -> st.SearchStrategy:
    return st.dictionaries(st.integers(1, 3000), fields(depth), max_size=5)


@given(structs(2))
def test_what_is_encoded_is_decoded(struct):
    assert decode(encode(struct)) == struct


@given(st.integers(1, 40), st.booleans())
def test_a_real_footer_is_encoded_as_it_was(columns, statistics):
    table = pa.table({f"c{n}": [n, None, -n] for n in range(columns)})
    footer = footer_of(parquet(table, write_statistics=statistics).to_pybytes())
    assert encode(decode(footer)) == footer


def test_a_footer_that_is_cut_or_goes_on_is_refused():
    footer = footer_of(parquet(pa.table({"a": ["x", None], "b": [1.5, 2]})).to_pybytes())
    for size in range(len(footer)):
        with pytest.raises(ValueError, match="ends within a value"):
            decode(footer[:size])
    with pytest.raises(ValueError, match="after its end"):
        decode(footer + b"\0")


def test_types_that_no_footer_has_are_refused():
    with pytest.raises(ValueError, match="type 11"):
        decode(bytes([0x1B, 0, 0]))
