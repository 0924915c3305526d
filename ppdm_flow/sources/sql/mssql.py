"""Microsoft SQL Server, through ODBC: dates come as texts, so that no digit of a second is lost unseen."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.addresses import ServerAddress
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.texts import quoted
from ppdm_flow.sdk.databases.connection import DatabaseConnection
from ppdm_flow.sdk.databases.faults import DATABASE_FAULTS, ENCRYPTION, FAILED, driver, fault, outside_calendar
from ppdm_flow.sdk.databases.settings import FREE_TDS, driver_settings
from ppdm_flow.sources.sql.enclosing import stays_enclosed
from ppdm_flow.sources.sql.sqlite_file import SqlColumn, fetched, no_rows

_ALLOWED = "SELECT snapshot_isolation_state FROM sys.databases WHERE database_id = DB_ID()"
_BEGIN = (
    "SET QUOTED_IDENTIFIER ON",
    "SET ANSI_NULLS ON",
    "SET NOCOUNT ON",
    "SET LOCK_TIMEOUT 60000",
    "SET TRANSACTION ISOLATION LEVEL {level}",
    "BEGIN TRANSACTION",
)
_DESCRIBED = """
SELECT name, system_type_name, error_number FROM sys.dm_exec_describe_first_result_set(N'{statement}', NULL, 0)
ORDER BY column_ordinal
"""
_ROWS = 1 << 13
_NAME = re.compile(r"[a-z0-9_ ]+")
_MOMENT = "CONVERT(varchar(33), {c}, 121)"
_WHOLE, _REAL, _DAY, _TIME = pa.int64(), pa.float64(), pa.date32(), pa.timestamp("us")
_TEXT = pa.string()
_TYPES: dict[str, tuple[str, pa.DataType]] = {
    **dict.fromkeys(("bit", "tinyint", "smallint", "int"), ("CAST({c} AS bigint)", _WHOLE)),
    "bigint": ("{c}", _WHOLE),
    "real": ("{c}", _REAL),
    "float": ("{c}", _REAL),
    **dict.fromkeys(("decimal", "numeric"), ("CAST({c} AS varchar(60))", _TEXT)),
    **dict.fromkeys(("money", "smallmoney"), ("CONVERT(varchar(60), {c}, 2)", _TEXT)),
    "date": ("CONVERT(varchar(10), {c}, 23)", _DAY),
    **dict.fromkeys(("datetime", "datetime2", "smalldatetime"), (_MOMENT, _TIME)),
    "datetimeoffset": (
        "CONVERT(varchar(33), CAST(SWITCHOFFSET({c}, '+00:00') AS datetime2(7)), 121)",
        pa.timestamp("us", "UTC"),
    ),
    "time": ("CONVERT(varchar(16), {c}, 114)", _TEXT),
    **dict.fromkeys(("varchar", "nvarchar", "sysname"), ("{c}", _TEXT)),
    **dict.fromkeys(("char", "nchar"), ("RTRIM({c})", _TEXT)),
    **dict.fromkeys(("text", "ntext", "xml"), ("CAST({c} AS nvarchar(max))", _TEXT)),
    "uniqueidentifier": ("CONVERT(char(36), {c})", _TEXT),
}
"""What is selected of a column of each type, and what comes."""


_STATE = re.compile(r"[0-9A-Z]{5}")
_NUMBER = re.compile(r"\((\d{2,6})\) \(SQL")
_STATES = {
    **dict.fromkeys((18456, 18452, 18470), "28000"),
    **dict.fromkeys((4060, 911), "3D000"),
    **dict.fromkeys((229, 230, 262, 297, 300), "42501"),
    208: "42P01",
    207: "42703",
    **dict.fromkeys((1205, 1222, 3952, 3960, 3961), "40001"),
    **dict.fromkeys((8134, 8115, 245, 241), "22000"),
    **dict.fromkeys((10928, 10929), "53300"),
    **dict.fromkeys((40613, 40197, 40501, 6005), "57P03"),
}
"""Error numbers of the server, as the SQLSTATE of what PostgreSQL calls the same."""
_KINDS = {"42S02": "42P01", "42S22": "42703", "42000": "42601", "28000": "28000", "40001": "40001", "HY008": "57014"}
"""SQLSTATEs of ODBC that mean the same; 08 is the same there."""


class MssqlSession(DatabaseConnection):
    """One transaction that is rolled back: of a snapshot where the database allows it, else with its rows locked."""

    def __init__(self, address: ServerAddress) -> None:
        module = driver("pyodbc", "mssql", "SQL Server")
        text = connection_string(address, module.drivers())
        module.pooling = False

        def connect() -> Any:
            return module.connect(text, autocommit=True, timeout=address.connect_timeout)

        super().__init__(address.name, connect, (module.Error,))
        try:
            level = "SNAPSHOT" if self._ask(_ALLOWED)[:1] == [(1,)] else "SERIALIZABLE"
            for statement in _BEGIN:
                self._ask(statement.format(level=level))
        except BaseException:
            self.close()
            raise

    def columns(self, relation: str) -> tuple[SqlColumn, ...]:
        """Return the columns of what stands after FROM, by the types that the server declares."""
        if not stays_enclosed(relation):
            text = f"a `query` for the database `{self.place}` is not one SELECT: it leaves its parentheses"
            raise fault("PPF477", text, "`query` is one SELECT as it stands after FROM: no WITH, no `;`")
        statement = f"SELECT * FROM {relation} AS q".replace("'", "''")  # noqa: S608
        described = self._ask(_DESCRIBED.format(statement=statement))
        if not described or any(number is not None for _, _, number in described):
            self._ask(f"SELECT TOP 0 * FROM {relation} AS q")  # noqa: S608  # the server says what is wrong
            raise fault("PPF477", f"the database `{self.place}` does not tell the columns of the statement")
        if any(not name for name, _, _ in described):
            text = f"a column of the `query` for the database `{self.place}` has no name"
            raise fault("PPF477", text, "give it one with AS")
        return tuple(_column(str(name), str(kind)) for name, kind, _ in described)

    def rows(self, columns: Sequence[SqlColumn], relation: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows as they come from the server."""
        listed = ", ".join(str(c.expression) for c in columns) or "1"
        yield no_rows(columns)
        with self._guarded(), contextlib.closing(self._connection.cursor()) as cursor:
            cursor.execute(f"SELECT {listed} FROM {relation} AS q OPTION (MAXDOP 1)")  # noqa: S608
            yield from fetched(cursor, columns, _ROWS, self._array)

    def close(self) -> None:
        """Take the transaction back and hang up; nothing was written."""
        with contextlib.suppress(Exception):
            self._ask("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION")
        super().close()

    def _array(self, column: SqlColumn, cells: Sequence[Any]) -> pa.Array:
        if not pa.types.is_temporal(column.type):
            return pa.array(cells, column.type)
        texts = pc.replace_substring_regex(pa.array(cells, pa.string()), r"(\.[0-9]{6})0$", r"\1")
        if pc.any(pc.match_substring_regex(texts, r"\.[0-9]{7}$")).as_py():
            text = f"column `{column.name}` of the database `{self.place}` has moments finer than a microsecond"
            raise fault("PPF480", text, "make them `datetime2(6)` in a `query:`, by CAST")
        try:
            plain = texts.cast(pa.timestamp("us") if pa.types.is_timestamp(column.type) else column.type)
        except pa.ArrowException:
            raise outside_calendar(self.place, column.name) from None
        return pc.assume_timezone(plain, "UTC") if column.type == pa.timestamp("us", "UTC") else plain

    def _fault(self, error: Exception) -> PpdmError:
        return mssql_fault(self.place, error, connected=self._connection is not None)


def connection_string(address: ServerAddress, installed: list[str]) -> str:
    """Return what ODBC asks for. Raises PluginError where no driver is installed, DataError for the password file."""
    words = driver_settings(address, installed)
    if words["DRIVER"] == FREE_TDS and any("}" in value for value in words.values()):
        text = "FreeTDS cannot be told a user, a password or a database with a `}` in its name"
        raise fault("PPF476", text, "install Microsoft's ODBC driver (`msodbcsql18`), or choose another one")
    return ";".join(f"{key}={{{value.replace('}', '}}')}}}" for key, value in words.items())


def mssql_fault(place: str, error: Exception, *, connected: bool = True) -> PpdmError:
    """Return the error for what the server or the driver says: its texts may quote values."""
    state, text = (str(each) for each in (*error.args, "", "")[:2])
    known = next((_STATES[int(n)] for n in _NUMBER.findall(text) if int(n) in _STATES), _KINDS.get(state))
    if known is None and not connected and any(word in text for word in ("SSL", "certificate", "encrypt", "TLS")):
        return DATABASE_FAULTS.of_kind(place, ENCRYPTION, "cannot be reached by an encrypted connection")
    lost = not connected or state.startswith("08") or state in ("HYT00", "HYT01", "01000", "HY000")
    if known is not None or lost:
        return DATABASE_FAULTS.of_state(place, known, connected=connected)
    return DATABASE_FAULTS.of_kind(place, FAILED, f"failed, with SQLSTATE {state if _STATE.fullmatch(state) else '?'}")


def _column(name: str, kind: str) -> SqlColumn:
    base = kind.partition("(")[0].strip().lower()
    if base not in _TYPES:
        return SqlColumn(name, None, base if _NAME.fullmatch(base) else "?")
    expression, type_ = _TYPES[base]
    return SqlColumn(name, expression.format(c=f"q.{quoted(name)}"), type=type_)
