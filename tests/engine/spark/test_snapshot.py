"""What an executor writes of a partition: row groups of a size, instants in UTC."""

from __future__ import annotations

from datetime import timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdm_flow.engine.spark import snapshot
from ppdm_flow.engine.spark.snapshot import _Copying, row_groups


def batches(*sizes: int) -> list[pa.RecordBatch]:
    return [pa.record_batch({"n": pa.array(range(size), pa.int64())}) for size in sizes]


@pytest.mark.parametrize(
    ("sizes", "groups"), [((), []), ((0, 0), []), ((4, 4, 4, 3), [8, 7]), ((20,), [20]), ((3,), [3])]
)
def test_batches_become_row_groups(monkeypatch, sizes, groups) -> None:
    monkeypatch.setattr(snapshot, "GROUP_ROWS", 8)
    assert [table.num_rows for table in row_groups(batches(*sizes))] == groups


def test_wide_rows_become_smaller_groups(monkeypatch) -> None:
    monkeypatch.setattr(snapshot, "_GROUP_BYTES", 64)
    assert [table.num_rows for table in row_groups(batches(4, 4, 4))] == [8, 4]


def test_instants_are_in_utc_and_other_types_stay() -> None:
    instant = pa.array([1_767_323_045_000_000], pa.timestamp("us", "UTC"))
    local = instant.cast(pa.timestamp("us", "Europe/Berlin"))
    plain = pa.array([1_767_323_045_000_000], pa.timestamp("us"))
    lists = pa.array([["a", None]], pa.list_(pa.field("element", pa.string())))
    [table] = row_groups([pa.record_batch({"local": local, "plain": plain, "lists": lists})])
    assert table.schema.field("local").type == pa.timestamp("us", "UTC")
    assert table["local"].to_pylist()[0].utcoffset() == timedelta(0)
    assert table["local"].combine_chunks().equals(instant)
    assert table["plain"].combine_chunks().equals(plain)
    assert table["lists"].to_pylist() == [["a", None]]


def test_each_attempt_at_a_partition_has_a_file_of_its_own(monkeypatch, tmp_path) -> None:
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    monkeypatch.setattr(snapshot, "GROUP_ROWS", 8)
    written = [file for _ in range(2) for file in _Copying(tmp_path, ("a.`b`",))(batches(5, 5, 5))]
    assert len({file.name for file in written}) == 2
    assert list(_Copying(tmp_path, ("a.`b`",))(batches(0))) == []
    assert len(list(tmp_path.iterdir())) == 2
    for file in written:
        read = pq.ParquetFile(tmp_path / file.name)
        assert (read.metadata.num_rows, read.num_row_groups) == (15, 2)
        assert read.schema_arrow.names == ["a.`b`"]
