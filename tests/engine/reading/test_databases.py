"""Databases as sources: real servers and files, what they hold, and what goes wrong with them."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow import api
from ppdm_flow.core.errors import PpdmError, RunError, UsageError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.engine.opening.opening import open_source
from ppdm_flow.engine.run.preview import preview
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load
from ppdm_flow.sdk.storage import CopiedSource, Snapshots, TypedSource

CANARY = "zqcanary"
POLICY = """version: 1
name: clinic
source: {SOURCE}
undeclared: drop
attributes:
  age: {role: quasi_identifier, type: integer}
  town: {role: quasi_identifier}
  illness: {role: sensitive}
privacy:
  k_anonymity: {k: 2}
  l_diversity: {illness: {l: 2}}
steps:
  bands: {use: generalize, with: {attributes: {age: {intervals: [0, 40, 120]}}}}
releases:
  study: {path: study.csv}
"""
ROWS = [(i, 20 + i * 7 % 60, f"{CANARY}town{i % 3}", f"{CANARY}ill{i % 5}" if i % 11 else None) for i in range(400)]
NAMES = ("id", "age", "town", "illness")


@pytest.fixture(autouse=True)
def login(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the logins of the person who runs the tests, and use a folder of its own for temporary files."""
    for name in ("PGUSER", "PGPASSWORD", "PGPASSFILE", "MYSQL_PWD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)


@pytest.fixture
def table(postgres: Any) -> Iterator[Any]:
    """A PostgreSQL database with the table ``visits``: the function that gives a source of it."""
    pytest.importorskip("adbc_driver_postgresql", reason="the extra `sql` is not installed")
    database = postgres.database()
    cells = ", ".join(f"({i}, {age}, '{town}', {'NULL' if ill is None else repr(ill)})" for i, age, town, ill in ROWS)
    postgres.sql(
        database,
        "DROP SCHEMA IF EXISTS clinic CASCADE; CREATE SCHEMA clinic;"
        "CREATE TABLE clinic.visits (id bigint, age int, town text, illness varchar(40));"
        f"INSERT INTO clinic.visits VALUES {cells}",
    )
    yield Clinic(postgres, database)
    if postgres.process.poll() is None:
        postgres.sql(database, "DROP SCHEMA IF EXISTS clinic CASCADE")


class Clinic:
    """A database of the server, and sources of it."""

    def __init__(self, server: Any, database: str) -> None:
        self.server, self.database = server, database

    @property
    def url(self) -> str:
        return str(self.server.url(self.database))

    def source(self, what: str = "table: clinic.visits", url: str = "") -> str:
        key, _, text = what.partition(": ")
        return f"url: {json.dumps(url or self.url)}, {key}: {json.dumps(text)}"

    def sql(self, text: str) -> list[str]:
        return list(self.server.sql(self.database, text))


def policy(source: str, text: str = POLICY) -> str:
    return text.replace("{SOURCE}", f"{{{source}}}")


def as_csv(bench: Any) -> None:
    rows = [["" if cell is None else str(cell) for cell in row] for row in ROWS]
    bench.data(rows, ",".join(NAMES))


def sqlite_file(path: Path, rows: Sequence[Sequence[Any]] = ROWS, names: Sequence[str] = NAMES) -> Path:
    path.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute(f"CREATE TABLE visits ({', '.join(names)})")
        base.executemany(f"INSERT INTO visits VALUES ({', '.join('?' * len(names))})", rows)
        base.commit()
    return path


def duckdb_file(path: Path, rows: Sequence[Sequence[Any]] = ROWS) -> Path:
    path.unlink(missing_ok=True)
    with contextlib.closing(duckdb.connect(str(path))) as base:
        base.execute("CREATE TABLE visits (id BIGINT, age INTEGER, town VARCHAR, illness VARCHAR)")
        base.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", rows)
    return path


def of_source(given: str, folder: Path) -> Any:
    """Return the source of a policy that reads it, without a run."""
    path = folder / "of_source.yaml"
    path.write_text(policy(given))
    plan = compile_policy(load(path)).plan
    assert plan is not None
    return open_source(plan.source, Path(plan.source.path or plan.source.server))


# the same release, wherever the data is


def same_release(bench: Any, tools: Any, source: str) -> None:
    as_csv(bench)
    expected = tools.released(bench.run(bench.plan(policy("path: table.csv"))).run_dir)
    outcome = bench.run(bench.plan(policy(source)))
    assert outcome.report.verdict == "released"
    assert tools.released(outcome.run_dir) == expected


@pytest.mark.server(quick=1)
def test_postgresql_gives_the_release_of_a_file(bench, tools, table) -> None:
    same_release(bench, tools, table.source())
    same_release(bench, tools, table.source("query: SELECT id, age, town, illness FROM clinic.visits ORDER BY id; "))
    same_release(bench, tools, table.source("query:   (TABLE clinic.visits) -- all of it"))


def test_sqlite_gives_the_release_of_a_file(bench, tools) -> None:
    pytest.importorskip("adbc_driver_sqlite", reason="the extra `sql` is not installed")
    sqlite_file(bench.folder / "clinic.sqlite")
    same_release(bench, tools, "path: clinic.sqlite, table: visits")
    same_release(bench, tools, "path: clinic.sqlite, query: SELECT * FROM visits")


def test_duckdb_gives_the_release_of_a_file(bench, tools) -> None:
    duckdb_file(bench.folder / "clinic.duckdb")
    same_release(bench, tools, "path: clinic.duckdb, table: visits")
    same_release(bench, tools, "path: clinic.duckdb, query: SELECT * FROM visits")


def test_mariadb_gives_the_release_of_a_file(bench, tools, mariadb, monkeypatch) -> None:
    monkeypatch.setenv("MYSQL_PWD", sys.modules["ppdm_tests_mariadb"].PASSWORD)
    cells = ", ".join(f"({i}, {age}, '{town}', {'NULL' if ill is None else repr(ill)})" for i, age, town, ill in ROWS)
    make = "CREATE OR REPLACE TABLE visits (id BIGINT, age INT, town TEXT, illness VARCHAR(40)) CHARSET utf8mb4;"
    mariadb.sql("clinic", f"{make} INSERT INTO visits VALUES {cells}")
    same_release(bench, tools, f"url: '{mariadb.url()}', table: visits")
    same_release(bench, tools, f"url: '{mariadb.url().replace('mysql:', 'mariadb:')}', query: SELECT * FROM visits")


def test_a_file_goes_before_a_server(bench, tools) -> None:
    """`--data` is for trying a policy where there is no server."""
    as_csv(bench)
    path = bench.folder / "policy.yaml"
    path.write_text(policy("url: postgresql://db.example/clinic, table: visits"))
    loaded = load(path)
    plan = compile_policy(loaded, list(NAMES), "table.csv").plan
    assert plan is not None
    assert plan.source.server == ""
    assert dict(plan.source.options).get("url") is None
    assert bench.run(plan, bench.folder / "table.csv").report.verdict == "released"


def test_what_the_manifest_says_of_a_server(bench, tools, table) -> None:
    manifest = tools.manifest(bench.run(bench.plan(policy(table.source()))).run_dir)
    assert manifest["input"]["name"] == f"localhost/{table.database}"
    again = tools.manifest(bench.run(bench.plan(policy(table.source()))).run_dir)
    assert again["input"] == manifest["input"]
    table.sql("UPDATE clinic.visits SET age = age + 1 WHERE id = 7")
    changed = tools.manifest(bench.run(bench.plan(policy(table.source()))).run_dir)
    assert changed["input"]["sha256"] != manifest["input"]["sha256"]


def test_rows_are_shown_before_a_run(bench, table) -> None:
    assert preview(bench.plan(policy(table.source())), None).rows == len(ROWS)


# columns keep their values

TEXT = st.none() | st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=12)
DAY = st.none() | st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31))
MOMENT = st.none() | st.datetimes(dt.datetime.fromisoformat("1000-01-01"), dt.datetime.fromisoformat("9999-12-31"))
NUMBER = st.none() | st.integers(-(2**63), 2**63 - 1)
REAL = st.none() | st.floats(allow_nan=False, allow_infinity=False, width=64)
EXACT = st.none() | st.decimals(Decimal(-(10**10)), Decimal(10**10), places=3)
TABLE = st.lists(st.tuples(NUMBER, REAL, EXACT, DAY, MOMENT, MOMENT, st.none() | st.booleans(), TEXT), max_size=5)
COLUMNS = ("whole", "real", "exact", "day", "moment", "zoned", "truth", "words")
TYPES = {
    "whole": AttributeType.INTEGER,
    "real": AttributeType.FLOAT,
    "day": AttributeType.DATE,
    "moment": AttributeType.TIMESTAMP,
    "zoned": AttributeType.TIMESTAMP,
}
QUICK = examples(10, suppress_health_check=list(HealthCheck))


def read(source: Any, names: Sequence[str] = COLUMNS) -> list[tuple[Any, ...]]:
    """Return the rows as a run gets them: typed columns as they are, the rest as texts."""
    assert isinstance(source, CopiedSource)
    assert isinstance(source, TypedSource)
    assert set(names) <= set(source.names())
    source.copy(names, lambda _rows: None)
    columns: list[list[Any]] = [[] for _ in names]
    for batch in source.typed_batches(names, {k: v for k, v in TYPES.items() if k in names}):
        for cells, column in zip(columns, batch.columns, strict=True):
            cells += column.to_pylist()
    return list(zip(*columns, strict=True))


def shown(row: Sequence[Any], zone: Any = dt.UTC) -> tuple[Any, ...]:
    whole, real, exact, day, moment, zoned, truth, words = row
    written = None if exact is None else f"{exact:.3f}"
    at = None if zoned is None else zoned.replace(tzinfo=zone)
    return (whole, real, written, day, moment, at, None if truth is None else str(truth).lower(), words)


def literal(value: Any) -> str:
    """Return a value in SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float | int):
        return f"'{value!r}'"
    return "'" + str(value).replace("'", "''") + "'"


def test_postgresql_keeps_types_and_values(table, tmp_path) -> None:
    kinds = ["bigint", "double precision", "numeric(20_3)", "date", "timestamp", "timestamptz", "boolean", "text"]
    listed = ", ".join(f"{n} {k.replace('_', ', ')}" for n, k in zip(COLUMNS, kinds, strict=True))

    @QUICK
    @given(TABLE)
    def holds(rows: list[tuple[Any, ...]]) -> None:
        table.sql(
            f"SET client_min_messages = error; DROP TABLE IF EXISTS clinic.kinds; CREATE TABLE clinic.kinds ({listed})"
        )
        if rows:
            cells = (", ".join(literal(c) for c in (*r[:5], r[5] and f"{r[5].isoformat()}+00", *r[6:])) for r in rows)
            table.sql(f"INSERT INTO clinic.kinds VALUES {', '.join(f'({c})' for c in cells)}")
        assert read(of_source(table.source("table: clinic.kinds"), tmp_path)) == [shown(row) for row in rows]

    holds()


def test_mariadb_keeps_types_and_values(mariadb, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MYSQL_PWD", sys.modules["ppdm_tests_mariadb"].PASSWORD)
    kinds = ["BIGINT", "DOUBLE", "DECIMAL(20_3)", "DATE", "DATETIME(6)", "DATETIME(6)", "VARCHAR(5)", "TEXT"]
    listed = ", ".join(f"`{n}` {k.replace('_', ', ')} NULL" for n, k in zip(COLUMNS, kinds, strict=True))
    begin = "SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'; SET NAMES utf8mb4;"

    @QUICK
    @given(TABLE)
    def holds(rows: list[tuple[Any, ...]]) -> None:
        rows = [(*r[:3], r[3] and max(r[3], dt.date(1000, 1, 1)), *r[4:]) for r in rows]
        made = f"CREATE OR REPLACE TABLE kinds ({listed}) CHARSET utf8mb4;"
        cells = (
            ", ".join(literal(None if c is None else str(c).lower() if i == 6 else c) for i, c in enumerate(r))
            for r in rows
        )
        filled = f"INSERT INTO kinds VALUES {', '.join(f'({c})' for c in cells)}" if rows else ""
        mariadb.sql("clinic", f"{begin} {made} {filled}")
        source = of_source(f"url: '{mariadb.url()}', table: kinds", tmp_path)
        assert read(source) == [shown(row, None) for row in rows]

    holds()


def test_sqlite_keeps_types_and_values(tmp_path) -> None:
    """It has no types for moments and exact numbers: these are texts there."""
    pytest.importorskip("adbc_driver_sqlite", reason="the extra `sql` is not installed")
    names = ("whole", "real", "words")

    @QUICK
    @given(st.lists(st.tuples(NUMBER, REAL, TEXT), max_size=5))
    def holds(rows: list[tuple[Any, ...]]) -> None:
        sqlite_file(tmp_path / "kinds.sqlite", rows, names)
        assert read(of_source(f"path: {tmp_path}/kinds.sqlite, table: visits", tmp_path), names) == rows

    holds()


def test_sqlite_cells_of_several_types_keep_their_values(tmp_path) -> None:
    pytest.importorskip("adbc_driver_sqlite", reason="the extra `sql` is not installed")
    cell = NUMBER | REAL | TEXT

    @QUICK
    @given(st.lists(cell, max_size=6))
    def holds(cells: list[Any]) -> None:
        sqlite_file(tmp_path / "mixed.sqlite", [(each,) for each in cells], ("words",))
        told = [
            row[0] for row in read(of_source(f"path: {tmp_path}/mixed.sqlite, table: visits", tmp_path), ("words",))
        ]
        for one, other in zip(cells, told, strict=True):
            if isinstance(one, float):
                assert float(other) == one
            elif isinstance(one, int):
                assert float(other) == one if "." in str(other) or "e" in str(other) else int(other) == one
            else:
                assert other == one

    holds()


def test_types_of_sqlite_are_those_of_all_rows_and_not_of_the_first(tmp_path) -> None:
    pytest.importorskip("adbc_driver_sqlite", reason="the extra `sql` is not installed")
    late = [(None, 1)] * 70_000 + [("late", 2.5)]
    sqlite_file(tmp_path / "late.sqlite", late, ("words", "real"))
    rows = read(of_source(f"path: {tmp_path}/late.sqlite, table: visits", tmp_path), ("words", "real"))
    assert rows[-1] == ("late", 2.5)
    assert rows[0] == (None, 1.0)


@pytest.mark.slow
def test_duckdb_keeps_types_and_values(tmp_path) -> None:
    kinds = ["BIGINT", "DOUBLE", "DECIMAL(20_3)", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "BOOLEAN", "VARCHAR"]
    listed = ", ".join(f"{n} {k.replace('_', ', ')}" for n, k in zip(COLUMNS, kinds, strict=True))

    @QUICK
    @given(TABLE)
    def holds(rows: list[tuple[Any, ...]]) -> None:
        file = tmp_path / "kinds.duckdb"
        file.unlink(missing_ok=True)
        with contextlib.closing(duckdb.connect(str(file))) as base:
            base.execute(f"CREATE TABLE visits ({listed})")
            for row in rows:
                zoned = row[5] and row[5].replace(tzinfo=dt.UTC)
                base.execute(f"INSERT INTO visits VALUES ({', '.join('?' * 8)})", [*row[:5], zoned, *row[6:]])
        told = read(of_source(f"path: {file}, table: visits", tmp_path))
        assert told == [shown(row) for row in rows]

    holds()


def test_sets_come_from_arrays(bench, table) -> None:
    table.sql(
        "CREATE TABLE clinic.baskets (person int, items text[]); INSERT INTO clinic.baskets"
        " SELECT i, ARRAY['a', 'b', CASE WHEN i % 2 = 0 THEN 'c' ELSE 'd' END] FROM generate_series(1, 40) i"
    )
    text = (
        "version: 1\nname: baskets\nsource: {SOURCE}\nundeclared: drop\nattributes:\n  items: {role: items}\n"
        "privacy: {km_anonymity: {k: 5, m: 2}}\nreleases: {study: {path: study.txt, format: baskets}}\n"
    )
    outcome = bench.run(bench.plan(policy(table.source("table: clinic.baskets"), text)))
    assert outcome.report.verdict == "released"


# what is refused


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("table: clinic.nothing", "PPF477"),
        ("table: nowhere.visits", "PPF477"),
        ("table: CLINIC.visits", "PPF477"),
        ("query: SELECT nothing FROM clinic.visits", "PPF477"),
        ("query: SELECT", "PPF708"),
        ("query: DELETE FROM clinic.visits", "PPF477"),
        ("query: SELECT 1) AS q; DROP TABLE clinic.visits; --", "PPF477"),
        ("query: SELECT age FROM clinic.visits; DROP TABLE clinic.visits", "PPF477"),
        ("query: WITH gone AS (DELETE FROM clinic.visits RETURNING *) SELECT * FROM gone", "PPF477"),
        ("query: SELECT nextval('clinic.counter') AS age, '' AS town, '' AS illness", "PPF477"),
        ("query: SELECT age, age FROM clinic.visits", "PPF707"),
        ("query: SELECT town::int AS age, town, illness FROM clinic.visits", "PPF477"),
        ("query: SELECT age / 0 AS age, town, illness FROM clinic.visits", "PPF477"),
        ("query: SELECT point(1, 2) AS age, town, illness FROM clinic.visits", "PPF478"),
        ("query: SELECT age, town::bytea AS town, illness FROM clinic.visits", "PPF478"),
        ("query: SELECT ROW(age, town) AS age, town, illness FROM clinic.visits", "PPF478"),
        ("query: SELECT age, town FROM clinic.visits", "PPF708"),
        ("query: SELECT age, town, illness FROM clinic.visits WHERE false", "PPF714"),
    ],
)
def test_what_cannot_be_read_says_why_and_quotes_nothing(bench, table, what, code) -> None:
    table.sql("CREATE SEQUENCE clinic.counter")
    error = bench.fails(lambda: bench.plan(policy(table.source(what))))
    assert [d.code for d in error.diagnostics] == [code]
    assert table.sql("SELECT count(*) FROM clinic.visits") == [str(len(ROWS))]
    assert table.sql("SELECT is_called FROM clinic.counter") == ["f"]


@pytest.mark.parametrize("value", ["'infinity'", "'-infinity'", "'10000-01-01'", "'0001-01-01 BC'"])
@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamptz"])
def test_dates_that_are_no_days_are_refused(bench, table, value, kind) -> None:
    query = f"SELECT age, town, NULL::{kind} AS illness FROM clinic.visits UNION ALL SELECT NULL, NULL, {value}::{kind}"
    error = bench.fails(lambda: bench.plan(policy(table.source(f"query: {query}"))))
    assert [d.code for d in error.diagnostics] == ["PPF480"]


def test_columns_of_other_types_do_no_harm_where_nobody_asks_for_them(bench, table) -> None:
    table.sql("ALTER TABLE clinic.visits ADD COLUMN place point, ADD COLUMN photo bytea")
    assert bench.run(bench.plan(policy(table.source()))).report.verdict == "released"


def test_rights_and_logins(bench, table, monkeypatch) -> None:
    table.sql("DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN PASSWORD 'zqpw'")
    try:
        socket = table.server.url(table.database, user="reader")
        error = bench.fails(lambda: bench.plan(policy(table.source(url=socket))))
        assert [d.code for d in error.diagnostics] == ["PPF476"]
        tcp = table.server.tcp(table.database, user="reader")
        for password in (None, "zqwrong"):
            if password is not None:
                monkeypatch.setenv("PGPASSWORD", password)
            error = bench.fails(lambda: bench.plan(policy(table.source(url=tcp))))
            assert [d.code for d in error.diagnostics] == ["PPF476"]
            assert "zqwrong" not in str(error)
        table.sql("GRANT USAGE ON SCHEMA clinic TO reader; GRANT SELECT ON clinic.visits TO reader")
        monkeypatch.delenv("PGPASSWORD")
        home = Path(os.environ["HOME"])
        home.mkdir()
        (home / ".pgpass").write_text("*:*:*:reader:zqpw\n")
        (home / ".pgpass").chmod(0o644)
        error = bench.fails(lambda: bench.plan(policy(table.source(url=tcp))))
        assert [d.code for d in error.diagnostics] == ["PPF920"]
        (home / ".pgpass").chmod(0o600)
        monkeypatch.setenv("PGPASSFILE", str(home / ".pgpass"))
        assert bench.run(bench.plan(policy(table.source(url=tcp)))).report.verdict == "released"
        monkeypatch.delenv("PGPASSFILE")
        monkeypatch.setenv("PGPASSWORD", "zqpw")
        assert bench.run(bench.plan(policy(table.source(url=tcp)))).report.verdict == "released"
    finally:
        table.sql("DROP OWNED BY reader; DROP ROLE reader")


def test_nobody_answers(bench, table) -> None:
    for url in (f"postgresql://127.0.0.1:1/{table.database}", f"postgresql:///x?host={bench.folder}"):
        error = bench.fails(lambda url=url: bench.plan(policy(table.source(url=url))))
        assert isinstance(error, RunError)
        assert [d.code for d in error.diagnostics] == ["PPF475"]
    error = bench.fails(lambda: bench.plan(policy(table.source(url=table.server.url("nowhere")))))
    assert [d.code for d in error.diagnostics] == ["PPF476"]


def test_another_machine_has_to_be_encrypted(bench, table, monkeypatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "any")
    for mode in ("require", "verify-full"):
        tcp = table.server.tcp(table.database, f"?sslmode={mode}")
        error = bench.fails(lambda tcp=tcp: bench.plan(policy(table.source(url=tcp))))
        assert [d.code for d in error.diagnostics] == ["PPF475"]


@pytest.mark.slow
def test_damaged_and_foreign_files(bench) -> None:
    pytest.importorskip("adbc_driver_sqlite", reason="the extra `sql` is not installed")
    good = sqlite_file(bench.folder / "good.sqlite").read_bytes()
    duck = duckdb_file(bench.folder / "good.duckdb").read_bytes()
    broken = {
        "text.sqlite": (b"id,age\n1,2\n", "PPF717"),
        "empty.sqlite": (b"", "PPF702"),
        "cut.sqlite": (good[:4096], None),
        "other.sqlite": (good[:200] + b"\xff" * 4000 + good[4200:], None),
        "cut.duckdb": (duck[:9000], None),
        "head.duckdb": (duck[:12], "PPF717"),
    }
    for name, (content, code) in broken.items():
        (bench.folder / name).write_bytes(content)
        error = bench.fails(lambda name=name: bench.plan(policy(f"path: {name}, table: visits")))
        assert [d.code for d in error.diagnostics] in ([[code]] if code else [["PPF717"], ["PPF477"], ["PPF479"]]), name
    for name in ("good.sqlite", "good.duckdb"):
        for what in (
            "table: nothing",
            "query: SELECT nothing FROM visits",
            "query: DELETE FROM visits",
            "query: SELEC",
        ):
            error = bench.fails(lambda name=name, what=what: bench.plan(policy(f"path: {name}, {what}")))
            assert [d.code for d in error.diagnostics] == ["PPF477"], (name, what)
    assert (bench.folder / "good.sqlite").read_bytes() == good
    assert (bench.folder / "good.duckdb").read_bytes() == duck


@pytest.mark.slow
def test_a_query_of_a_file_reaches_nothing_else(bench) -> None:
    pytest.importorskip("adbc_driver_sqlite", reason="the extra `sql` is not installed")
    duckdb_file(bench.folder / "clinic.duckdb")
    sqlite_file(bench.folder / "clinic.sqlite")
    (bench.folder / "secret.csv").write_text(f"age,town,illness\n1,{CANARY},{CANARY}\n")
    for query in (
        f"SELECT * FROM read_csv(''{bench.folder}/secret.csv'')",
        f"SELECT * FROM ''{bench.folder}/secret.csv''",
        f"SELECT 1 AS age, content AS town, 1 AS illness FROM read_text(''{bench.folder}/secret.csv'')",
    ):
        error = bench.fails(lambda query=query: bench.plan(policy(f"path: clinic.duckdb, query: '{query}'")))
        assert [d.code for d in error.diagnostics] == ["PPF477"]
    query = f"SELECT 1 AS age, readfile(''{bench.folder}/secret.csv'') AS town, 1 AS illness"
    error = bench.fails(lambda: bench.plan(policy(f"path: clinic.sqlite, query: '{query}'")))
    assert [d.code for d in error.diagnostics] == ["PPF477"]


# one moment


def test_linked_tables_are_of_one_moment(bench, table, monkeypatch) -> None:
    """Somebody adds a person with a visit while the tables are read: they see neither, or both."""
    table.sql(
        "CREATE TABLE clinic.people (person text, age int);"
        "CREATE TABLE clinic.stays (person text, illness text);"
        "INSERT INTO clinic.people SELECT 'p' || i, i FROM generate_series(1, 50) i;"
        "INSERT INTO clinic.stays SELECT 'p' || i, 'x' FROM generate_series(1, 50) i"
    )
    moments = Snapshots()
    people = of_source(table.source("table: clinic.people"), bench.folder)
    stays = of_source(table.source("table: clinic.stays"), bench.folder)
    for source in (people, stays):
        source.join(moments)
    people.copy(people.names(), lambda _rows: None)
    table.sql("INSERT INTO clinic.people VALUES ('new', 1); INSERT INTO clinic.stays VALUES ('new', 'x')")
    stays.copy(stays.names(), lambda _rows: None)
    counts = [sum(b.num_rows for b in source.batches(source.names())) for source in (people, stays)]
    moments.close()
    assert counts == [50, 50]
    later = of_source(table.source("table: clinic.stays"), bench.folder)
    assert sum(b.num_rows for b in later.batches(later.names())) == 51


def test_a_table_that_is_altered_between_the_plan_and_the_run(bench, table) -> None:
    plan = bench.plan(policy(table.source()))
    table.sql("ALTER TABLE clinic.visits RENAME COLUMN illness TO disease")
    assert [d.code for d in bench.fails(plan).diagnostics] == ["PPF708"]
    table.sql(
        "ALTER TABLE clinic.visits RENAME COLUMN disease TO illness; ALTER TABLE clinic.visits ALTER age TYPE text"
    )
    table.sql(f"UPDATE clinic.visits SET age = '{CANARY}'")
    assert [d.code for d in bench.fails(plan).diagnostics] == ["PPF712"]


def test_what_changes_after_the_copy_changes_nothing(bench, tools, table) -> None:
    plan = bench.plan(policy(table.source()))
    expected = tools.released(bench.run(plan).run_dir)
    changed: list[int] = []

    def listener(event: Any) -> None:
        if type(event).__name__ == "StepFinished" and not changed:
            changed.append(1)
            table.sql("DELETE FROM clinic.visits WHERE id % 2 = 0")

    assert tools.released(bench.run(plan, listener=listener).run_dir) == expected
    assert changed == [1]


# what breaks on the way


def test_a_server_that_is_killed_while_it_is_read(bench, table) -> None:
    table.sql("CREATE TABLE clinic.large AS SELECT age, town, illness FROM clinic.visits, generate_series(1, 3000)")
    plan = bench.plan(policy(table.source("table: clinic.large")))
    killed: list[int] = []

    def listener(event: Any) -> None:
        if type(event).__name__ == "RowProgress" and not killed:
            killed.append(1)
            table.server.kill()

    try:
        error = bench.fails(plan, listener=listener)
        assert isinstance(error, RunError)
        assert [d.code for d in error.diagnostics] == ["PPF479"]
        assert killed == [1]
    finally:
        table.server.restart()
    assert bench.run(plan).report.verdict == "released"


def test_a_connection_that_the_administrator_ends(bench, table) -> None:
    plan = bench.plan(
        policy(table.source("query: SELECT age, town, illness FROM clinic.visits, pg_sleep(age * 0 + 20)"))
    )
    others = "SELECT pid FROM pg_stat_activity WHERE application_name = 'ppdm-flow' AND query LIKE '%pg_sleep%'"
    ended: list[str] = []

    def end() -> None:
        while not ended:
            time.sleep(0.05)
            ended.extend(table.sql(f"SELECT pg_terminate_backend(pid) FROM ({others}) AS o(pid)"))

    other = threading.Thread(target=end)
    other.start()
    try:
        error = bench.fails(plan)
    finally:
        ended.append("over")
        other.join()
    assert "t" in ended  # the run may be over before the answer is here
    assert [d.code for d in error.diagnostics] == ["PPF479"]


def test_a_full_disk(bench, table, monkeypatch) -> None:
    plan = bench.plan(policy(table.source()))

    def full(*_args: Any, **_words: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_batch", full)
    assert [d.code for d in bench.fails(plan).diagnostics] == ["PPF730"]


@pytest.mark.parametrize("kind", ["postgresql", "sqlite"])
def test_a_run_that_is_killed_leaves_no_rows_behind(bench, table, kind, tmp_path) -> None:
    if kind == "postgresql":
        table.sql("CREATE TABLE clinic.large AS SELECT age, town, illness FROM clinic.visits, generate_series(1, 3000)")
        source = table.source("table: clinic.large")
    else:
        pytest.importorskip("adbc_driver_sqlite", reason="the extra `sql` is not installed")
        sqlite_file(bench.folder / "clinic.sqlite", ROWS * 500)
        source = "path: clinic.sqlite, table: visits"
    (bench.folder / "policy.yaml").write_text(policy(source))
    whole = bench.process_seconds()
    killed = 0
    points = int(os.environ.get("PPDM_KILLS", "5"))
    for point in range(points):
        killed += bench.process(whole * (0.3 + 0.7 * point / points)) < 0
        left = [p for p in (tmp_path / "tmp").rglob("*") if p.is_file() and CANARY.encode() in p.read_bytes()]
        assert left == []
    assert killed


def test_the_policy_s_own_data_is_read_again(table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in the database still is the run's data; one row more is not."""
    monkeypatch.chdir(tmp_path)
    table.sql("ALTER TABLE clinic.visits ADD COLUMN picture bytea, ADD COLUMN note text")
    Path("p.yaml").write_text(policy(table.source()), encoding="utf-8")
    done = api.run(Path("p.yaml"))
    again = api.verify(done.run_dir, own_data=True)
    assert again.remeasured is not None
    assert again.remeasured.same_input
    assert again.holds
    assert {same for same, _ in again.remeasured.made.values()} == {True}
    seen = api.plan(Path("p.yaml"), own_data=True)
    assert seen.preview is not None
    assert seen.preview.rows == len(ROWS)
    table.sql("INSERT INTO clinic.visits VALUES (1000, 50, 'x', 'y')")
    later = api.verify(done.run_dir, own_data=True)
    assert later.remeasured is not None
    assert not later.remeasured.same_input
    assert not list(Path(tempfile.gettempdir()).rglob("*.parquet"))
    with pytest.raises(UsageError, match="own-data"):
        api.verify(done.run_dir, Path("p.csv"), own_data=True)
    table.server.kill()
    with pytest.raises(PpdmError) as caught:
        api.verify(done.run_dir, own_data=True)
    assert caught.value.diagnostics[0].code == "PPF475"
    table.server.restart()
