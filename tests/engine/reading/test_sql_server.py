"""SQL Server as a source: its statements against a stand-in for the driver, the driver against one for the server.

Both carry the statements out in DuckDB, with the conversions that Microsoft documents for T-SQL. No server of
Microsoft's is asked.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import socket
import sys
import threading
from collections.abc import Iterator
from decimal import Decimal
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow import api
from ppdm_flow.core.addresses import AddressError, database_address
from ppdm_flow.core.errors import DataError, PluginError, PpdmError
from ppdm_flow.sources.sql.enclosing import stays_enclosed
from ppdm_flow.sources.sql.mssql import MssqlSession, connection_string, mssql_fault

CANARY = "zqcanary"
PASSWORD = "zqsecret;}x"
OWN = "ODBC Driver 18 for SQL Server"
POLICY = """version: 1
name: clinic
source: {SOURCE}
undeclared: drop
attributes:
  age: {role: quasi_identifier, type: integer}
  town: {role: quasi_identifier}
  seen: {role: insensitive, type: timestamp}
privacy: {k_anonymity: {k: 2}}
steps: {bands: {use: generalize, with: {attributes: {age: {intervals: [0, 40, 120]}}}}}
releases: {study: {path: study.parquet}}
"""
MOMENT = dt.datetime(2024, 2, 29, 23, 59, 59, 999999)  # noqa: DTZ001  # as the driver gives them
TYPES = {
    "id": ("int", "INTEGER"),
    "flag": ("bit", "INTEGER"),
    "big": ("bigint", "BIGINT"),
    "half": ("float", "DOUBLE"),
    "price": ("decimal(10,2)", "DECIMAL(10,2)"),
    "fee": ("money", "DECIMAL(19,4)"),
    "day": ("date", "DATE"),
    "seen": ("datetime2(7)", "TIMESTAMP"),
    "old": ("datetime", "TIMESTAMP_MS"),
    "there": ("datetimeoffset(7)", "TIMESTAMP"),
    "hour": ("time(3)", "TIME"),
    "word": ("nvarchar(40)", "VARCHAR"),
    "padded": ("char(8)", "VARCHAR"),
    "long": ("ntext", "VARCHAR"),
    "key": ("uniqueidentifier", "VARCHAR"),
    "picture": ("varbinary(max)", "BLOB"),
    "place": ("geography", "BLOB"),
}


class Error(Exception):
    """What the driver raises."""


class Server:
    """A database of the stand-in: its tables with T-SQL types, and what was asked of it."""

    def __init__(self) -> None:
        self.base = duckdb.connect()
        self.types: dict[str, str] = {}
        self.asked: list[str] = []
        self.strings: list[str] = []
        self.snapshots = 1
        self.fails: dict[str, Error] = {}

    def table(self, name: str, columns: dict[str, tuple[str, str]], rows: list[tuple[Any, ...]]) -> None:
        self.types |= {column: kind for column, (kind, _) in columns.items()}
        self.base.execute(
            f"CREATE OR REPLACE TABLE {name} ({', '.join(f'''{c} {k}''' for c, (_, k) in columns.items())})"
        )
        if rows:
            self.base.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)

    def answer(self, statement: str) -> tuple[list[str] | None, list[tuple[Any, ...]]]:
        self.asked.append(statement)
        for part, error in self.fails.items():
            if part in statement:
                raise error
        if "snapshot_isolation_state" in statement:
            return ["state"], [(self.snapshots,)]
        if described := re.search(r"first_result_set\(N'(.*)', NULL, 0\)", statement, re.DOTALL):
            names = [n for n, *_ in self.base.execute("DESCRIBE " + described[1].replace("''", "'")).fetchall()]
            return ["name", "type", "error"], [(name, self.types.get(name, "nvarchar(40)"), None) for name in names]
        if statement.startswith("SELECT"):
            done = self.base.execute(_as_duckdb(statement))
            return [d[0] for d in done.description], done.fetchall()
        return None, []


def _as_duckdb(statement: str) -> str:
    """Write the conversions of T-SQL as DuckDB has them."""
    offset = r"CONVERT\(varchar\(33\), CAST\(SWITCHOFFSET\((\S+), '\+00:00'\) AS datetime2\(7\)\), 121\)"
    statement = re.sub(offset, r"strftime(\1, '%Y-%m-%d %H:%M:%S.%f') || '0'", statement)
    statement = re.sub(
        r"CONVERT\(varchar\(33\), (q\.\"old\"), 121\)", r"strftime(\1, '%Y-%m-%d %H:%M:%S.%g')", statement
    )
    statement = re.sub(
        r"CONVERT\(varchar\(33\), (\S+), 121\)", r"strftime(\1, '%Y-%m-%d %H:%M:%S.%f') || '0'", statement
    )
    statement = re.sub(r"CONVERT\(varchar\(16\), (\S+), 114\)", r"CAST(\1 AS VARCHAR)", statement)
    statement = re.sub(r"CONVERT\((?:varchar|char)\(\d+\), ([^\s,)]+)(?:, \d+)?\)", r"CAST(\1 AS VARCHAR)", statement)
    statement = statement.replace("nvarchar(max)", "VARCHAR").replace(" OPTION (MAXDOP 1)", "")
    return re.sub(r"SELECT TOP 0 (.*)", r"SELECT \1 LIMIT 0", statement)


class Cursor:
    def __init__(self, server: Server) -> None:
        self.server, self.description, self.rows = server, None, iter(())

    def execute(self, statement: str) -> None:
        names, rows = self.server.answer(statement)
        self.description, self.rows = names, iter(rows)

    def fetchall(self) -> list[Any]:
        return list(self.rows)

    def fetchmany(self, count: int) -> list[Any]:
        return [row for _, row in zip(range(min(count, 7)), self.rows)]  # noqa: B905  # the rest stays there

    def close(self) -> None:
        self.rows = iter(())


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    """A stand-in for the driver, and the server behind it."""
    made = Server()
    module = ModuleType("pyodbc")

    class Connection:
        def cursor(self) -> Cursor:
            return Cursor(made)

        def close(self) -> None:
            made.asked.append("closed")

    def connect(text: str, *, autocommit: bool, timeout: int) -> Connection:
        assert autocommit
        assert timeout == 10
        made.strings.append(text)
        if "connect" in made.fails:
            raise made.fails["connect"]
        return Connection()

    module.Error, module.connect, module.drivers, module.pooling = Error, connect, lambda: [OWN], True  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyodbc", module)
    monkeypatch.setenv("SQLCMDPASSWORD", PASSWORD)
    return made


@pytest.fixture
def visits(server: Server) -> Server:
    rows = [(20 + i * 7 % 60, f"{CANARY}{i % 3}", MOMENT.replace(day=1 + i % 28)) for i in range(300)]
    columns = {"age": ("int", "INTEGER"), "town": ("nvarchar(40)", "VARCHAR"), "seen": ("datetime2(7)", "TIMESTAMP")}
    server.table("visits", {**columns, "picture": ("image", "BLOB")}, [(*row, b"x") for row in rows])
    return server


def source(what: str = "table: visits", url: str = "mssql://steward@db.example/clinic") -> str:
    return f"{{url: '{url}', {what}}}"


def run(folder: Path, given: str) -> Any:
    (folder / "p.yaml").write_text(POLICY.replace("{SOURCE}", given), encoding="utf-8")
    return api.run(folder / "p.yaml", out=folder / "runs")


def fault(folder: Path, given: str) -> Any:
    with pytest.raises(PpdmError) as caught:
        run(folder, given)
    (diagnostic,) = [d for d in caught.value.diagnostics if d.severity.value == "error"]
    for word in (CANARY, "zqsecret", "zqtext"):
        assert word not in str(diagnostic)
    assert not list(folder.rglob("manifest.json"))
    return diagnostic


@pytest.mark.slow
def test_a_run_reads_the_table(visits: Server, tmp_path: Path) -> None:
    done = run(tmp_path, source())
    assert done.released
    again = run(tmp_path, source("query: 'SELECT age, town, seen FROM visits WHERE age > 30'"))
    assert again.report.releases["study"]["rows"] < done.report.releases["study"]["rows"] == 300
    assert not [s for s in visits.asked if "picture" in s]
    assert visits.strings[0].startswith(f"DRIVER={{{OWN}}};SERVER={{tcp:db.example,1433}};Encrypt={{yes}};")
    assert "UID={steward};PWD={zqsecret;}}x};DATABASE={clinic}" in visits.strings[0]
    text = "".join(p.read_text("utf-8") for p in done.run_dir.rglob("*.json")) + visits.asked[0]
    assert "zqsecret" not in text


@pytest.mark.parametrize(("state", "level"), [(1, "SNAPSHOT"), (0, "SERIALIZABLE"), (3, "SERIALIZABLE")])
def test_one_transaction_that_is_taken_back(visits: Server, state: int, level: str) -> None:
    visits.snapshots = state
    session = MssqlSession(database_address("mssql://steward@db.example/clinic"))
    list(session.rows(session.columns('"visits"')[:1], '"visits"'))
    session.close()
    assert f"SET TRANSACTION ISOLATION LEVEL {level}" in visits.asked
    begun, ended = (
        visits.asked.index("BEGIN TRANSACTION"),
        visits.asked.index("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION"),
    )
    read = [i for i, s in enumerate(visits.asked) if "MAXDOP" in s]
    assert begun < min(read) <= max(read) < ended
    assert visits.asked[-1] == "closed"
    assert not [s for s in visits.asked if "COMMIT" in s]


def test_types(server: Server) -> None:
    full = (
        1, 1, 2**62, 0.1, Decimal("12.50"), Decimal("3.1400"), dt.date(1999, 12, 31),
        MOMENT, MOMENT.replace(microsecond=3000), MOMENT, dt.time(1, 2, 3), "é'\"\n", "ab      ", "long",
        "0E984725-C51C-4BF4-9960-E1C80E27ABA0",
        b"", b"",
    )  # fmt: skip
    server.table("every", TYPES, [full, (None,) * len(TYPES)])
    session = MssqlSession(database_address("mssql://steward@db.example/clinic"))
    columns = session.columns('"every"')
    assert [(c.name, c.refused) for c in columns if c.expression is None] == [
        ("picture", "varbinary"),
        ("place", "geography"),
    ]
    kept = [c for c in columns if c.expression is not None]
    table = pa.Table.from_batches(list(session.rows(kept, '"every"')))
    first, second = table.to_pylist()
    assert set(second.values()) == {None}
    assert first == {
        "id": 1, "flag": 1, "big": 2**62, "half": 0.1, "price": "12.50", "fee": "3.1400",
        "day": dt.date(1999, 12, 31), "seen": full[7], "old": full[8],
        "there": MOMENT.replace(tzinfo=dt.UTC), "hour": "01:02:03", "word": "é'\"\n", "padded": "ab",
        "long": "long", "key": full[14],
    }  # fmt: skip
    assert table.schema.field("there").type == pa.timestamp("us", "UTC")


def test_moments_finer_than_a_microsecond(visits: Server, tmp_path: Path) -> None:
    """`datetime2(7)` has one digit more; it is neither cut nor rounded."""
    plain = visits.answer

    def finer(statement: str) -> Any:
        names, rows = plain(statement)
        return names, [tuple(c[:-1] + "7" if isinstance(c, str) and ":" in c else c for c in row) for row in rows]

    visits.answer = finer  # type: ignore[method-assign]
    assert fault(tmp_path, source()).code == "PPF480"


NATIVE = "[42000] [Microsoft][ODBC Driver 18 for SQL Server][SQL Server]zqtext '{}' ({}) (SQLExecDirectW)"


@pytest.mark.parametrize(
    ("place", "state", "text", "code"),
    [
        ("connect", "28000", NATIVE.format(CANARY, 18456), "PPF476"),
        ("connect", "42000", NATIVE.format(CANARY, 4060), "PPF476"),
        ("connect", "08001", "[08001] zqtext TCP Provider: Error code 0x2749 (10061) (SQLDriverConnect)", "PPF475"),
        ("connect", "HYT00", "[HYT00] zqtext Login timeout expired (0) (SQLDriverConnect)", "PPF475"),
        (
            "connect",
            "08001",
            "[08001] zqtext SSL Provider: certificate verify failed (-1) (SQLDriverConnect)",
            "PPF475",
        ),
        ("first_result_set", "42S02", NATIVE.format(CANARY, 208), "PPF477"),
        ("MAXDOP", "42000", NATIVE.format(CANARY, 229), "PPF476"),
        ("MAXDOP", "42S22", NATIVE.format(CANARY, 207), "PPF477"),
        ("MAXDOP", "40001", NATIVE.format(CANARY, 1205), "PPF479"),
        ("MAXDOP", "HY000", NATIVE.format(CANARY, 3960), "PPF479"),
        ("MAXDOP", "08S01", "[08S01] zqtext Communication link failure (0) (SQLFetch)", "PPF479"),
        ("MAXDOP", "22012", NATIVE.format(CANARY, 8134), "PPF477"),
        ("MAXDOP", "IM001", f"zqtext {CANARY}", "PPF479"),
    ],
)
def test_faults_say_no_text_of_the_server(
    visits: Server, tmp_path: Path, place: str, state: str, text: str, code: str
) -> None:
    visits.fails[place] = Error(state, text)
    told = fault(tmp_path, source())
    assert told.code == code
    assert "db.example/clinic" in told.message
    if "SSL" in text:
        assert "encrypted" in told.message


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1) AS q; DROP TABLE visits; --",
        "SELECT 1) AS q DROP TABLE visits COMMIT SELECT * FROM (SELECT 1 AS age",
        "SELECT 1; DROP TABLE visits",
        "SELECT 'a') AS q DROP TABLE visits SELECT ('",
        "SELECT /* ' */ 1) AS q DROP TABLE visits --'",
        "SELECT /* /* */ 1 */) AS q DROP TABLE visits --",
        "SELECT 1 AS age -- \r) AS q DROP TABLE visits --",
        "SELECT 1 AS age /*",
        "SELECT 'x",
    ],
)
def test_a_query_stays_in_its_parentheses(visits: Server, tmp_path: Path, query: str) -> None:
    told = fault(tmp_path, source(f"query: {json.dumps(query)}"))
    assert told.code == "PPF477"
    assert not [s for s in visits.asked if "DROP" in s]


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    "query",
    [
        "SELECT (age) AS age, town, seen FROM visits -- all of them :)",
        "SELECT age, /* ';) */ town, seen FROM visits WHERE town <> ');' AND (age + (1)) > 0",
        'SELECT age, town, seen FROM "visits";',
    ],
)
def test_and_may_have_whatever_else(visits: Server, tmp_path: Path, query: str) -> None:
    assert run(tmp_path, source(f"query: {json.dumps(query)}")).released


@given(st.lists(st.sampled_from(["(", ")", "'", '"', "[", "]", "--", "/*", "*/", ";", "\n", "a", " "]), max_size=14))
def test_enclosure_is_that_of_a_plain_reading(pieces: list[str]) -> None:
    text = f"({''.join(pieces)}\n)"
    assert stays_enclosed(text) == _plainly(text)


def _plainly(text: str) -> bool:  # noqa: C901  # letter by letter, it is long
    """A scanner that goes letter by letter."""
    depth, nested, state, i = 0, 0, "", 0
    while i < len(text):
        pair, c = text[i : i + 2], text[i]
        if state == "comment":
            if pair in ("/*", "*/"):
                nested += 1 if pair == "/*" else -1
                i += 1
                state = "comment" if nested else ""
        elif state == "line":
            state = "" if c == "\n" else "line"
        elif state:
            if c == state and text[i + 1 : i + 2] == state:
                i += 1
            elif c == state:
                state = ""
        elif pair == "--":
            state = "line"
        elif pair == "/*":
            state, nested, i = "comment", 1, i + 1
        elif pair == "*/" or c == ";":
            return False
        elif c in "'\"[":
            state = "]" if c == "[" else c
        elif c in "()":
            depth += 1 if c == "(" else -1
            if depth < 0 or (depth == 0 and text[i + 1 :].strip()):
                return False
        i += 1
    return depth == 0 and state in ("", "line")


def test_a_column_without_a_name(visits: Server, tmp_path: Path) -> None:
    plain = visits.answer

    def nameless(statement: str) -> Any:
        names, rows = plain(statement)
        return names, [(None, *row[1:]) if "first_result_set" in statement else row for row in rows]

    visits.answer = nameless  # type: ignore[method-assign]
    told = fault(tmp_path, source())
    assert told.code == "PPF477"
    assert "no name" in told.message


def test_drivers_and_encryption(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("SQLCMDUSER", "SQLCMDPASSWORD", "SQLCMDPASSWORDFILE"):
        monkeypatch.delenv(name, raising=False)

    def words(url: str, *installed: str) -> dict[str, str]:
        text = connection_string(database_address(url), list(installed))
        return dict(part.split("=", 1) for part in text.split(";"))

    full = words("mssql://a@db.example/x?sslmode=verify-full", OWN, "ODBC Driver 9 for SQL Server", "FreeTDS")
    assert (full["DRIVER"], full["Encrypt"], full["TrustServerCertificate"]) == (f"{{{OWN}}}", "{yes}", "{no}")
    assert words("mssql://a@db.example/x", OWN)["TrustServerCertificate"] == "{yes}"
    assert words("mssql://a@127.0.0.1/x", OWN)["Encrypt"] == "{no}"
    assert words("sqlserver://a@db.example:1500/x", "FreeTDS")["Encryption"] == "{require}"
    assert words("sqlserver://db.example/x", "FreeTDS")["Trusted_Connection"] == "{yes}"
    with pytest.raises(PluginError, match="FreeTDS does not check"):
        words("mssql://a@db.example/x?sslmode=verify-full", "FreeTDS")
    with pytest.raises(PluginError, match="none is installed"):
        words("mssql://a@db.example/x", "SQLite3")
    monkeypatch.setenv("SQLCMDPASSWORD", "a}b")
    assert words("mssql://a@db.example/x", OWN)["PWD"] == "{a}}b}"
    with pytest.raises(DataError, match="FreeTDS cannot be told"):
        words("mssql://a@db.example/x", "FreeTDS")
    monkeypatch.delenv("SQLCMDPASSWORD")
    file = tmp_path / "password"
    file.write_text("first\nsecond\n", encoding="utf-8")
    file.chmod(0o600)
    monkeypatch.setenv("SQLCMDPASSWORDFILE", str(file))
    monkeypatch.setenv("SQLCMDUSER", "u")
    assert words("mssql://db.example/x", OWN)["PWD"] == "{first}"
    file.chmod(0o644)
    with pytest.raises(DataError):
        words("mssql://db.example/x", OWN)
    for url in ("mssql://db.example/x?sslrootcert=/a", "mssql:///x?host=/run/socket"):
        with pytest.raises(AddressError):
            database_address(url)


def test_tables_are_not_written(tmp_path: Path) -> None:
    text = POLICY.replace("{SOURCE}", "{path: a.csv}")
    into = "study.parquet, into: {url: 'mssql://db.example/x', table: t}"
    (tmp_path / "p.yaml").write_text(text.replace("study.parquet", into), encoding="utf-8")
    found = api.check((tmp_path / "p.yaml",)).diagnostics
    assert [d.code for d in found if d.severity.value == "error"] == ["PPF481"]


def test_an_unknown_state_is_not_quoted() -> None:
    told = mssql_fault("db/x", Error(CANARY * 3, CANARY))
    assert CANARY not in str(told.diagnostics)


class Listener:
    """A port that takes a connection and does what ``behave`` does."""

    def __init__(self, behave: str) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.behave = behave
        self.open: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                there, _ = self.socket.accept()
            except OSError:
                return
            if self.behave == "hangs up":
                there.close()
                continue
            if self.behave == "garbage":
                there.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 50)
            self.open.append(there)

    def close(self) -> None:
        for each in (self.socket, *self.open):
            each.close()


def _pyodbc() -> Any:
    reason = "SQL Server's driver is untested: no extra `mssql`, or no unixODBC (Debian: unixodbc, tdsodbc)"
    return pytest.importorskip("pyodbc", reason=reason, exc_type=ImportError)  # it does not load without unixODBC


@pytest.fixture(params=["hangs up", "garbage", "silence", "nobody"])
def nowhere(request: pytest.FixtureRequest) -> Iterator[int]:
    listener = Listener(request.param)
    if request.param == "nobody":
        listener.close()
    yield listener.port
    listener.close()


@pytest.mark.slow(quick=1)
def test_the_driver_itself_where_no_server_is(nowhere: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyodbc = _pyodbc()
    if not any(name == "FreeTDS" or "for SQL Server" in name for name in pyodbc.drivers()):
        pytest.skip("no ODBC driver for SQL Server is installed (Debian: tdsodbc)")
    monkeypatch.setenv("SQLCMDPASSWORD", "zqsecret;x")
    told = fault(tmp_path, source(url=f"mssql://steward@127.0.0.1:{nowhere}/clinic?connect_timeout=2"))
    assert told.code == "PPF475"


def _odbc() -> Any:
    pyodbc = _pyodbc()
    if "FreeTDS" not in pyodbc.drivers() or any("for SQL Server" in name for name in pyodbc.drivers()):
        pytest.skip("FreeTDS is not what SQL Server is read with here (Debian: tdsodbc)")
    return pyodbc


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The stand-in for the server behind its own protocol, read by pyodbc and FreeTDS."""
    _odbc()
    spec = spec_from_file_location("ppdm_tests_tds", Path(__file__).parents[2] / "tds.py")
    assert spec is not None
    assert spec.loader is not None
    tds = module_from_spec(spec)
    spec.loader.exec_module(tds)
    behind = Server()
    lock = threading.Lock()

    def answer(statement: str) -> Any:
        with lock:
            for part, error in behind.fails.items():
                if part in statement:
                    raise tds.RefusedError(int(error.args[0]), error.args[1])
            if statement.lower().startswith(("sp_", "use ", "set textsize")):  # the driver asks for itself
                return None, []
            return behind.answer(statement)

    made = tds.TdsServer(answer, ("steward", "zqsecret;x"))
    made.behind = behind
    monkeypatch.setenv("SQLCMDPASSWORD", "zqsecret;x")
    yield made
    made.close()


def _of(wire: Any, what: str = "table: visits") -> str:
    return source(what, f"mssql://steward@127.0.0.1:{wire.port}/clinic?connect_timeout=3")


def _filled(wire: Any, count: int = 20_000) -> None:
    towns = [f"{CANARY}é{i % 3}" if i % 9 else None for i in range(count)]
    ages, days = [20 + i * 7 % 60 for i in range(count)], [MOMENT.replace(day=1 + i % 28) for i in range(count)]
    wire.behind.types = {"age": "int", "town": "nvarchar(40)", "seen": "datetime2(7)", "picture": "image"}
    table = pa.table({"age": pa.array(ages, pa.int32()), "town": towns, "seen": pa.array(days, pa.timestamp("us"))})
    wire.behind.base.register("filled", table.append_column("picture", pa.array([b"x"] * count)))
    wire.behind.base.execute("CREATE TABLE visits AS SELECT * FROM filled")


@pytest.mark.slow
def test_the_driver_and_the_protocol(wire: Any, tmp_path: Path) -> None:
    """pyodbc and FreeTDS against the protocol: rows, missing cells, letters, and one transaction taken back."""
    _filled(wire)
    done = run(tmp_path, _of(wire))
    assert done.released
    assert done.report.releases["study"]["rows"] == 20_000
    table = pq.read_table(done.run_dir / "released" / "study" / "study.parquet")
    assert set(table["town"].to_pylist()) == {None, *(f"{CANARY}é{i}" for i in range(3))}
    assert table["seen"].type == pa.timestamp("us")
    assert min(table["seen"].to_pylist()) == MOMENT.replace(day=1)
    asked = wire.behind.asked
    assert asked.index("SET TRANSACTION ISOLATION LEVEL SNAPSHOT") < asked.index("BEGIN TRANSACTION")
    assert asked[-1].endswith("ROLLBACK TRANSACTION")
    assert api.verify(done.run_dir, own_data=True).holds


@pytest.mark.parametrize(
    ("part", "number", "code"),
    [("MAXDOP", 208, "PPF477"), ("MAXDOP", 1205, "PPF479"), ("MAXDOP", 229, "PPF476"), ("first_result", 207, "PPF477")],
)
def test_what_the_server_refuses(wire: Any, tmp_path: Path, part: str, number: int, code: str) -> None:
    _filled(wire, 50)
    wire.behind.fails[part] = Error(str(number), f"zqtext {CANARY}")
    assert fault(tmp_path, _of(wire)).code == code


def test_a_login_that_is_refused(wire: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLCMDPASSWORD", "zqsecret no")
    assert fault(tmp_path, _of(wire)).code == "PPF476"


@pytest.mark.parametrize("at", ["first_result_set", "MAXDOP", "BEGIN TRANSACTION"])
def test_a_connection_that_breaks(wire: Any, tmp_path: Path, at: str) -> None:
    _filled(wire, 3000)
    wire.hangs_up_at = at
    assert fault(tmp_path, _of(wire)).code in ("PPF475", "PPF479")
