"""Snowflake and BigQuery as sources: against a stand-in for their drivers, and the drivers where nothing answers.

The stand-in carries the statements out in DuckDB. Neither service is asked.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Self

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdm_flow import api
from ppdm_flow.core.addresses import AddressError, PasswordError, database_address
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.sources.sql.enclosing import stays_enclosed
from ppdm_flow.sources.sql.warehouse import WarehouseSession

CANARY = "zqcanary"
PASSWORD = "zqsecret"
URLS = {
    "snowflake": "snowflake://steward@zqaccount/CLINIC?schema=PUBLIC&warehouse=SMALL&role=READER",
    "bigquery": "bigquery://project/clinic?location=EU",
}
POLICY = """version: 1
name: clinic
source: {SOURCE}
undeclared: drop
attributes:
  age: {role: quasi_identifier, type: integer}
  town: {role: quasi_identifier}
privacy: {k_anonymity: {k: 2}}
steps: {bands: {use: generalize, with: {attributes: {age: {intervals: [0, 40, 120]}}}}}
releases: {study: {path: study.parquet}}
"""


class Error(Exception):
    """What a driver raises."""


class Service:
    """A stand-in for both services: what was asked, what logins were given, and what fails."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.base = duckdb.connect()
        self.base.execute("CREATE SCHEMA clinic; CREATE SCHEMA memory_clinic")
        self.asked: list[str] = []
        self.logins: list[dict[str, str]] = []
        self.told: list[dict[str, str]] = []
        self.fails: dict[str, Error] = {}
        self.types: pa.Schema | None = None

    def connect(self, *, db_kwargs: dict[str, str], autocommit: bool) -> Any:
        assert autocommit
        self.logins.append(db_kwargs)
        if "connect" in self.fails:
            raise self.fails["connect"]
        return SimpleNamespace(cursor=lambda: Cursor(self), close=lambda: self.asked.append("closed"))


class Cursor:
    def __init__(self, service: Service) -> None:
        self.service = service
        self.table = pa.table({})
        self.adbc_statement = SimpleNamespace(set_options=lambda **words: service.told.append(words))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def execute(self, statement: str) -> None:
        self.service.asked.append(statement)
        for part, error in self.service.fails.items():
            if part in statement:
                raise error
        self.table = self.service.base.sql(statement.replace("`", chr(34))).to_arrow_table()

    def fetch_arrow_table(self) -> pa.Table:
        return self.table

    def fetch_record_batch(self) -> pa.RecordBatchReader:
        return self.table.to_reader(max_chunksize=37)


@pytest.fixture(params=["snowflake", "bigquery"])
def service(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Service:
    made = Service(request.param)
    module = ModuleType(f"adbc_driver_{request.param}.dbapi")
    module.Error, module.connect = Error, made.connect  # type: ignore[attr-defined]
    parent = ModuleType(f"adbc_driver_{request.param}")
    monkeypatch.setitem(sys.modules, parent.__name__, parent)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for name in ("SNOWFLAKE_USER", "SNOWFLAKE_PRIVATE_KEY_PATH", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SNOWFLAKE_PASSWORD", PASSWORD)
    for home in ("main", "clinic"):
        made.base.execute(f"CREATE TABLE {home}.visits (age INTEGER, town VARCHAR, picture BLOB)")
        rows = [(20 + i * 7 % 60, f"{CANARY}{i % 3}", b"x") for i in range(300)]
        made.base.executemany(f"INSERT INTO {home}.visits VALUES (?, ?, ?)", rows)
    return made


def source(service: Service, what: str = "table: visits") -> str:
    return f"{{url: '{URLS[service.name]}', {what}}}"


def run(folder: Path, given: str, text: str = POLICY) -> Any:
    folder.mkdir(exist_ok=True)
    (folder / "p.yaml").write_text(text.replace("{SOURCE}", given), encoding="utf-8")
    return api.run(folder / "p.yaml", out=folder / "runs")


def fault(folder: Path, given: str, text: str = POLICY) -> Any:
    with pytest.raises(PpdmError) as caught:
        run(folder, given, text)
    (diagnostic,) = [d for d in caught.value.diagnostics if d.severity.value == "error"]
    for word in (CANARY, PASSWORD, "zqtext"):
        assert word not in str(diagnostic)
    assert not list(folder.rglob("manifest.json"))
    return diagnostic


@pytest.mark.slow(quick=1)
def test_a_run_reads_the_table(service: Service, tmp_path: Path) -> None:
    done = run(tmp_path, source(service))
    assert done.released
    assert done.report.releases["study"]["rows"] == 300
    query = "query: 'SELECT age, town FROM visits WHERE age > 30 -- the old ones'"
    assert run(tmp_path, source(service, query)).report.releases["study"]["rows"] < 300
    assert not [s for s in service.asked if "picture" in s]
    (login, *_) = service.logins
    if service.name == "snowflake":
        words = {name.rpartition(".")[2]: value for name, value in login.items()}
        assert words["account"] == "zqaccount"
        assert (words["db"], words["schema"], words["warehouse"], words["role"]) == (
            "CLINIC",
            "PUBLIC",
            "SMALL",
            "READER",
        )
        assert (words["username"], words["password"], words["login_timeout"]) == ("steward", PASSWORD, "10s")
    else:
        assert login["adbc.bigquery.sql.project_id"] == "project"
        assert login["adbc.bigquery.sql.location"] == "EU"
        assert service.told[0]["adbc.bigquery.sql.query.default_dataset_id"] == "clinic"
        assert "`clinic`.`visits`" in service.asked[0]
    text = "".join(p.read_text("utf-8") for p in done.run_dir.rglob("*.json"))
    assert PASSWORD not in text


def test_types(service: Service) -> None:
    every = {
        "whole": pa.array([1, None], pa.int32()),
        "digits": pa.array([Decimal(5), None], pa.decimal128(18, 0)),
        "long": pa.array([Decimal(10**30), None], pa.decimal128(38, 0)),
        "price": pa.array([Decimal("12.50"), None], pa.decimal128(10, 2)),
        "half": pa.array([0.5, None], pa.float32()),
        "flag": pa.array([True, None]),
        "day": pa.array([dt.date(2024, 2, 29), None]),
        "moment": pa.array([1_700_000_000_123_456_000, None], pa.timestamp("ns")),
        "there": pa.array([1_700_000_000_123_456, None], pa.timestamp("us", "Europe/Paris")),
        "hour": pa.array([dt.time(1, 2, 3), None], pa.time64("us")),
        "word": pa.array(["é'\"", None], pa.large_string()),
        "words": pa.array([["a", "b"], None], pa.list_(pa.string())),
        "bytes": pa.array([b"x", None]),
        "inside": pa.array([{"a": 1}, None]),
    }
    table = pa.table(every)
    session = WarehouseSession(database_address(URLS[service.name]))
    columns = [session._column(field) for field in table.schema]
    assert [c.name for c in columns if c.expression is None] == ["bytes", "inside"]
    kept = [c for c in columns if c.expression is not None]
    schema = pa.schema([(c.name, c.type) for c in kept])
    (batch,) = table.select([c.name for c in kept]).to_batches()
    first, second = session._plain(batch, kept, schema).to_pylist()
    moment = dt.datetime(2023, 11, 14, 22, 13, 20, 123456)  # noqa: DTZ001
    assert first == {
        "whole": 1, "digits": 5, "long": "1" + "0" * 30, "price": "12.50", "half": 0.5, "flag": True,
        "day": dt.date(2024, 2, 29), "moment": moment, "there": moment.replace(tzinfo=dt.UTC),
        "hour": "01:02:03.000000", "word": "é'\"", "words": ["a", "b"],
    }  # fmt: skip
    assert set(map(str, second.values())) == {"None"}
    finer = pa.record_batch({"moment": pa.array([1], pa.timestamp("ns"))})
    with pytest.raises(PpdmError) as caught:
        session._plain(finer, [c for c in kept if c.name == "moment"], pa.schema([("moment", pa.timestamp("us"))]))
    assert caught.value.diagnostics[0].code == "PPF480"


def test_two_tables_are_not_of_one_moment(service: Service) -> None:
    session = WarehouseSession(database_address(URLS[service.name]))
    columns = session.columns('"visits"')[:1]
    list(session.rows(columns, '"visits"'))
    list(session.rows(columns, '"visits"'))
    with pytest.raises(PpdmError, match="one moment"):
        list(session.rows(columns, '"clinic"."visits"'))


@pytest.mark.parametrize(
    ("place", "text", "code"),
    [
        ("connect", f"390100 (08004): Incorrect username or password {CANARY}", "PPF476"),
        ("connect", "zqtext: could not find default credentials", "PPF476"),
        ("connect", "dial tcp: lookup zqtext: no such host", "PPF475"),
        ("connect", "zqtext: x509: certificate signed by unknown authority", "PPF475"),
        ("LIMIT 0", f"002003 (42S02): Object '{CANARY}' does not exist or not authorized.", "PPF477"),
        ("LIMIT 0", f"googleapi: Error 404: Not found: Table {CANARY}", "PPF477"),
        ("LIMIT 0", f"SQL compilation error: invalid identifier '{CANARY}'", "PPF477"),
        ("LIMIT 0", f"Error 403: Access Denied: Table {CANARY}", "PPF476"),
        ("SELECT q.", "zqtext read tcp: connection reset by peer, unexpected EOF", "PPF479"),
        ("SELECT q.", f"something else with {CANARY}", "PPF479"),
    ],
)
def test_faults_say_no_text_of_the_service(service: Service, tmp_path: Path, place: str, text: str, code: str) -> None:
    service.fails[place] = Error(text)
    assert fault(tmp_path, source(service)).code == code


ATTACKS = {
    "both": ["SELECT 1) AS q; DROP TABLE visits --", "SELECT 1; DROP TABLE visits", "SELECT 1 AS age) AS q, (SELECT 2"],
    "snowflake": [
        "SELECT '\\') AS q; DROP TABLE visits --'",
        "SELECT $$ ' $$) AS q; DROP TABLE visits -- '",
        "SELECT 1 // '\n) AS q; DROP TABLE visits -- '",
    ],
    "bigquery": [
        "SELECT '\\') AS q; DROP TABLE visits --'",
        "SELECT `a'`) AS q; DROP TABLE visits; SELECT ('`')",
        "SELECT ''' ' ''') AS q; DROP TABLE visits --'",
        "SELECT 1 # '\n) AS q; DROP TABLE visits -- '",
    ],
}


@pytest.mark.parametrize(("dialect", "query"), [(d, q) for d, queries in ATTACKS.items() for q in queries])
def test_a_query_stays_in_its_parentheses(dialect: str, query: str) -> None:
    for each in ("snowflake", "bigquery") if dialect == "both" else (dialect,):
        assert not stays_enclosed(f"({query}\n)", each)


@pytest.mark.parametrize(
    ("dialect", "query"),
    [("bigquery", "SELECT `a b` FROM `p.d.t` WHERE x IN ('a', \"b\")"), ("snowflake", 'SELECT "A b" FROM T -- (')],
)
def test_and_may_have_whatever_else(dialect: str, query: str) -> None:
    assert stays_enclosed(f"({query}\n)", dialect)


def test_a_query_that_leaves_is_not_asked(service: Service, tmp_path: Path) -> None:
    told = fault(tmp_path, source(service, f"query: {json.dumps(ATTACKS['both'][0])}"))
    assert told.code == "PPF477"
    assert not [s for s in service.asked if "DROP" in s]


@pytest.mark.slow(quick=1)
def test_logins(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = tmp_path / "key"
    key.write_text("{}", encoding="utf-8")
    key.chmod(0o644)
    variable = {"snowflake": "SNOWFLAKE_PRIVATE_KEY_PATH", "bigquery": "GOOGLE_APPLICATION_CREDENTIALS"}[service.name]
    monkeypatch.setenv(variable, str(key))
    assert fault(tmp_path, source(service)).code == "PPF920"
    key.chmod(0o600)
    assert run(tmp_path, source(service)).released
    assert str(key) in service.logins[-1].values()
    assert PASSWORD not in service.logins[-1].values()
    monkeypatch.delenv(variable)
    if service.name == "snowflake":
        monkeypatch.delenv("SNOWFLAKE_PASSWORD")
        (tmp_path / "empty").mkdir()
        assert fault(tmp_path / "empty", source(service)).code == "PPF476"


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("snowflake://a:zqpassword@acc/DB", PasswordError),
        ("snowflake://a@acc/DB?sslmode=disable", AddressError),
        ("snowflake://a@acc/DB?password=x", PasswordError),
        ("bigquery://project/set?role=x", AddressError),
        ("bigquery://project", AddressError),
        ("snowflake://a@acc/DB/PUBLIC", AddressError),
    ],
)
def test_addresses(url: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        database_address(url)


def test_tables_are_not_written(service: Service, tmp_path: Path) -> None:
    into = f"study.parquet, into: {{url: '{URLS[service.name]}', table: t}}"
    text = POLICY.replace("{SOURCE}", "{path: a.csv}").replace("study.parquet", into)
    (tmp_path / "p.yaml").write_text(text, encoding="utf-8")
    found = api.check((tmp_path / "p.yaml",)).diagnostics
    assert [d.code for d in found if d.severity.value == "error"] == ["PPF481"]


@pytest.mark.parametrize("name", ["snowflake", "bigquery"])
def test_the_driver_itself_where_nothing_answers(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(f"adbc_driver_{name}", reason=f"the extra `{name}` is not installed")
    monkeypatch.setenv("SNOWFLAKE_PASSWORD", PASSWORD)
    credential = tmp_path / "credential.json"
    credential.write_text("{}", encoding="utf-8")
    credential.chmod(0o600)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(credential))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    url = f"{URLS[name]}&connect_timeout=2"
    assert (
        fault(tmp_path, f"{{url: '{url}', table: visits}}").code == {"snowflake": "PPF475", "bigquery": "PPF476"}[name]
    )


@pytest.fixture
def fakesnow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a stand-in that speaks Snowflake's protocol; skipped where it, or the driver, is not installed."""
    pytest.importorskip("adbc_driver_snowflake", reason="the extra `snowflake` is not installed")
    program = shutil.which("fakesnow")
    if program is None:
        pytest.skip("fakesnow is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [program, "-s", "-p", str(port)]
    server = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    told = {"HOST": "localhost", "PORT": str(port), "PROTOCOL": "http", "PASSWORD": PASSWORD}
    for name, value in told.items():
        monkeypatch.setenv(f"SNOWFLAKE_{name}", value)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            break
        time.sleep(0.2)
    yield port
    server.kill()
    server.wait()


def test_snowflake_s_driver_and_protocol(fakesnow: int, tmp_path: Path) -> None:
    """The driver itself, against a stand-in for the service: tables, types, and what is not there."""
    del fakesnow  # the environment knows it
    session = WarehouseSession(database_address(URLS["snowflake"]))
    with session._connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE VISITS (AGE INT, TOWN VARCHAR, COST NUMBER(10,2), SEEN TIMESTAMP_NTZ, PICTURE BINARY)"
        )
        rows = ", ".join(f"({20 + i * 7 % 60}, '{CANARY}{i % 3}', {i}.25, '2024-01-01 10:00:00')" for i in range(300))
        cursor.execute(f"INSERT INTO VISITS (AGE, TOWN, COST, SEEN) VALUES {rows}")
    session.close()
    text = POLICY.replace("age:", "AGE:").replace("town:", "TOWN:").replace("{age: {int", "{AGE: {int")
    more = "  COST: {role: insensitive, type: float}\n  SEEN: {role: insensitive, type: timestamp}\nprivacy"
    text = text.replace("privacy", more)
    given = f"{{url: '{URLS['snowflake']}', table: VISITS}}"
    (tmp_path / "p.yaml").write_text(text.replace("{SOURCE}", given), encoding="utf-8")
    done = api.run(tmp_path / "p.yaml", out=tmp_path / "runs")
    assert done.released
    table = pq.read_table(done.run_dir / "released" / "study" / "study.parquet")
    assert table.num_rows == 300
    assert table.schema.field("COST").type == pa.float64()
    assert table.schema.field("SEEN").type == pa.timestamp("us")
    assert api.verify(done.run_dir, own_data=True).holds
    assert fault(tmp_path / "none", given.replace("VISITS", "NOTHING"), text).code in ("PPF477", "PPF479")
