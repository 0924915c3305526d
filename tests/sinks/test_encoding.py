"""Row groups that a thread of its own encodes: the same bytes, and no error is lost."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdm_flow.engine.streams.workers import arrow_threads
from ppdm_flow.sinks.parquet import algorithm
from ppdm_flow.sinks.parquet.algorithm import ParquetSink
from ppdm_flow.sinks.parquet.spec import ParquetParams

ROWS = 1000


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr(algorithm, "ROW_GROUP", 256)


def batch(start: int) -> pa.RecordBatch:
    cells = pa.array([f"v{n % 7}" for n in range(start, start + 100)])
    return pa.RecordBatch.from_arrays([cells.dictionary_encode()], names=["a"])


def written(path, threads: int) -> bytes:
    with arrow_threads(threads):
        sink = ParquetSink(ParquetParams(), path, ["a"])
        try:
            for start in range(0, ROWS, 100):
                sink.write(batch(start))
        finally:
            sink.close()
    return path.read_bytes()


def test_the_same_bytes_with_a_thread_of_its_own_and_without(tmp_path):
    if pa.cpu_count() < 2:
        pytest.skip("this machine has one core")
    one, two = written(tmp_path / "one.parquet", 1), written(tmp_path / "two.parquet", 2)
    assert one == two
    assert pq.read_table(tmp_path / "two.parquet")["a"].to_pylist() == [f"v{n % 7}" for n in range(ROWS)]
    assert pq.ParquetFile(tmp_path / "two.parquet").num_row_groups == -(-ROWS // 256)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("failing", [1, 2, 4])
def test_what_goes_wrong_in_any_row_group_is_raised(tmp_path, monkeypatch, threads, failing):
    groups = []

    def write_table(self, table, row_group_size):
        groups.append(len(table))
        if len(groups) == failing:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(algorithm.pq.ParquetWriter, "write_table", write_table)
    with pytest.raises(OSError, match="No space left"):
        written(tmp_path / "full.parquet", threads)
    assert len(groups) == failing
