"""MySQL and MariaDB, through PyMySQL: cells come as texts; numbers and moments are made of them by columns."""

from __future__ import annotations

import contextlib
import getpass
import os
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from configparser import ConfigParser
from configparser import Error as ConfigError
from pathlib import Path
from typing import Any

import pyarrow as pa

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.server_address import ServerAddress
from ppdm_flow.sdk.key_file import refuse_shared
from ppdm_flow.sources.sql.faults import driver, fault, machine_fault, outside_calendar, server_fault, unreachable
from ppdm_flow.sources.sql.session import SqlColumn, quoted

_BEGIN = (
    "SET SESSION sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'",
    "SET SESSION time_zone = '+00:00'",
    "SET SESSION net_write_timeout = 3600",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
)
_ROWS = 1 << 15
_BINARY = 63
"""The character set of bytes."""
_UNSIGNED = 32
_INTEGERS, _LONG = frozenset({1, 2, 3, 8, 9, 13}), 8
_FLOATS = frozenset({4, 5})
_MOMENTS, _DATE = frozenset({7, 12}), 10
_TEXTS = frozenset({0, 11, 245, 246, 247, 248})
_STRINGS = frozenset({15, 249, 250, 251, 252, 253, 254})
_BIT, _GEOMETRY = 16, 255
"""Types of columns, by their numbers in the protocol: decimals, times, JSON, ENUM and SET are texts."""
_STATES = {
    1044: "28000",
    1045: "28000",
    1698: "28000",
    1049: "3D000",
    1142: "42501",
    1143: "42501",
    1146: "42P01",
    1054: "42703",
    1064: "42601",
    1060: "42601",
    1248: "42601",
    1792: "25006",
    1040: "53300",
    1203: "53300",
    1053: "57P01",
    1317: "57014",
    1969: "57014",
    3024: "57014",
    1205: "40001",
    1213: "40001",
    1412: "40001",
}
"""Error numbers of the server, as the SQLSTATE of what PostgreSQL calls the same."""


class MysqlSession:
    """One transaction, in which every statement of InnoDB tables sees the same rows."""

    def __init__(self, address: ServerAddress) -> None:
        self.place = address.name
        self._driver = driver("pymysql", "mysql", "MySQL or MariaDB")
        self._unbuffered = driver("pymysql.cursors", "mysql", "MySQL or MariaDB").SSCursor
        who = _login(address)
        try:
            self._connection = self._driver.connect(
                **who,
                **_where(address),
                database=address.database,
                charset="utf8mb4",
                connect_timeout=address.connect_timeout,
                conv={},
                autocommit=True,
                local_infile=False,
                program_name="ppdm-flow",
            )
        except self._driver.Error as error:
            raise self._fault(error, connected=False) from None
        except (OSError, RuntimeError, UnicodeError):
            raise unreachable(self.place) from None
        try:
            with self._guarded(), self._connection.cursor() as cursor:
                for statement in _BEGIN:
                    cursor.execute(statement)
        except BaseException:
            self.close()
            raise

    def columns(self, relation: str) -> tuple[SqlColumn, ...]:
        """Return the columns of what stands after FROM, by the types that the server tells."""
        with self._guarded(), self._connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {relation} AS q LIMIT 0")  # noqa: S608
            fields = cursor._result.fields if cursor._result is not None else ()  # noqa: SLF001  # flags are told there
        return tuple(_column(field) for field in fields)

    def rows(self, columns: Sequence[SqlColumn], relation: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows as they come from the server."""
        listed = ", ".join(str(c.expression) for c in columns) or "1"
        schema = pa.schema([(c.name, c.type) for c in columns])
        yield pa.RecordBatch.from_pylist([], schema=schema)
        with self._guarded(), self._connection.cursor(self._unbuffered) as cursor:
            cursor.execute(f"SELECT {listed} FROM {relation} AS q")  # noqa: S608
            while rows := cursor.fetchmany(_ROWS):
                cells = list(zip(*rows, strict=True))[: len(columns)]
                arrays = [self._array(*each) for each in zip(columns, cells, strict=True)]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def close(self) -> None:
        """Hang up; nothing was written."""
        with contextlib.suppress(Exception):
            self._connection._force_close()  # noqa: SLF001  # `close` would read what the server still has to send

    def _array(self, column: SqlColumn, cells: Sequence[str | None]) -> pa.Array:
        try:
            texts = pa.array(cells, pa.string())
            return texts if pa.types.is_string(column.type) else texts.cast(column.type)
        except pa.ArrowException:
            if pa.types.is_temporal(column.type):
                raise outside_calendar(self.place, column.name) from None
            text = f"column `{column.name}` of the database `{self.place}` has a value that is not of its type"
            raise fault("PPF480", text) from None

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (PpdmError, GeneratorExit):
            raise
        except self._driver.Error as error:
            raise self._fault(error, connected=True) from None
        except (OSError, AttributeError, TypeError, IndexError, ValueError):  # PyMySQL, when a connection breaks
            raise server_fault(self.place, None, connected=True) from None

    def _fault(self, error: Exception, *, connected: bool) -> PpdmError:
        number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
        if number in (2003, 2002):
            return unreachable(self.place)
        if number in (2006, 2013, 2014):
            return server_fault(self.place, None, connected=connected)
        if number == 2026:
            return machine_fault("PPF475", f"no encrypted connection to the database `{self.place}` came about")
        known = _STATES.get(number)
        if known is None and number:
            return machine_fault("PPF479", f"the database `{self.place}` failed while it was read, with error {number}")
        return server_fault(self.place, known, connected=connected)


def _column(field: Any) -> SqlColumn:
    kind = _type(field)
    if kind is None:
        refused = {_BIT: "BIT", _GEOMETRY: "GEOMETRY"}.get(field.type_code, "BINARY or BLOB")
        return SqlColumn(field.name, None, refused)
    return SqlColumn(field.name, quoted(field.name, "`"), type=kind)


def _type(field: Any) -> pa.DataType | None:
    """Return the type of a column; None for bytes."""
    code = field.type_code
    if code in _INTEGERS:
        return pa.uint64() if code == _LONG and field.flags & _UNSIGNED else pa.int64()
    if code in _FLOATS:
        return pa.float64()
    if code in _MOMENTS:
        return pa.timestamp("us")
    if code == _DATE:
        return pa.date32()
    return pa.string() if code in _TEXTS or (code in _STRINGS and field.charsetnr != _BINARY) else None


def _where(address: ServerAddress) -> Mapping[str, Any]:
    if address.is_socket:
        return {"unix_socket": address.host}
    if address.sslmode in ("disable", "prefer"):
        return {"host": address.host, "port": address.port, "ssl_disabled": address.sslmode == "disable"}
    context = ssl.create_default_context(cafile=address.sslrootcert)
    context.check_hostname = address.sslmode == "verify-full"
    if not address.sslmode.startswith("verify") and address.sslrootcert is None:
        context.verify_mode = ssl.CERT_NONE
    return {"host": address.host, "port": address.port, "ssl": context}


def _login(address: ServerAddress) -> Mapping[str, str]:
    """Return user and password: the URL's user, MYSQL_PWD, and what ``~/.my.cnf`` says beside. Raises DataError."""
    file = Path("~/.my.cnf").expanduser()
    said: Mapping[str, str] = {}
    if file.is_file():
        refuse_shared(file, "the password file")
        parser = ConfigParser(allow_no_value=True, strict=False, interpolation=None)
        with contextlib.suppress(ConfigError, OSError, UnicodeDecodeError):
            parser.read(file, encoding="utf-8")
        said = {k: (v or "").strip("\"'") for k, v in parser["client"].items()} if parser.has_section("client") else {}
    own = _quietly(getpass.getuser)
    password = os.environ.get("MYSQL_PWD")
    return {
        "user": address.user or said.get("user") or own,
        "password": password if password is not None else said.get("password", ""),
    }


def _quietly(call: Callable[[], str]) -> str:
    try:
        return call()
    except (KeyError, OSError):
        return ""
