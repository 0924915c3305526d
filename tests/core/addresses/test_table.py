"""Addresses of tables that Spark reads: told from files, and never quoted with a password."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppdm_flow.core.addresses import TableAddress, is_table, place_of_data, refuse_table
from ppdm_flow.core.errors import UsageError


@pytest.mark.parametrize(
    ("text", "place", "name"),
    [
        ("table:shop.visits", TableAddress("table", "shop.visits"), "shop.visits"),
        ("delta:hdfs://name/lake/visits", TableAddress("delta", "hdfs://name/lake/visits"), "visits"),
        ("delta:abfss://lake@account.dfs.example/visits/", None, "visits"),
        ("iceberg:lake.shop.visits", TableAddress("iceberg", "lake.shop.visits"), "lake.shop.visits"),
        ("table:parquet.`/lake/visits.parquet`", None, "visits.parquet"),
        ("table:a/..", TableAddress("table", "a/.."), "data.parquet"),
        (f"table:{'x' * 300}", None, "data.parquet"),
    ],
)
def test_an_address_is_read_as_it_stands(text, place, name) -> None:
    read = place_of_data(text)
    assert isinstance(read, TableAddress)
    assert place in (None, read)
    assert (read.shown, read.file_name) == (text, name)


@pytest.mark.parametrize("text", ["visits.csv", "s3://bucket/visits.csv", "tables:x", "Table:x", "./table:x", "table"])
def test_everything_else_is_a_path(text) -> None:
    assert place_of_data(text) == Path(text)
    refuse_table(text)


def test_a_file_that_is_there_is_no_table(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_table("table:x")
    Path("table:x").touch()
    assert not is_table("table:x")
    assert place_of_data("table:x") == Path("table:x")


@pytest.mark.parametrize(
    "text",
    ["jdbc:postgresql://me:hunter2@host/db", "delta:s3a://key:hunter2@bucket/visits", "delta:s3a:/k:hunter/2@bucket/v"],
)
def test_what_may_hold_a_password_is_refused_without_a_quote(text) -> None:
    for read in (place_of_data, refuse_table):
        with pytest.raises(UsageError) as caught:
            read(text)
        [diagnostic] = caught.value.diagnostics
        assert diagnostic.code == "PPF957"
        assert "hunter" not in f"{diagnostic.message}{diagnostic.help}"


def test_an_address_without_a_name_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        place_of_data("table: ")
    assert caught.value.diagnostics[0].code == "PPF957"
