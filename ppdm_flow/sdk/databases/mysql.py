"""A connection to MySQL or MariaDB: SQLAlchemy over PyMySQL."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from ppdm_flow.core.addresses import ServerAddress
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.sdk.databases.connection import DatabaseConnection
from ppdm_flow.sdk.databases.faults import DATABASE_FAULTS, ENCRYPTION, FAILED, UNREACHABLE, driver
from ppdm_flow.sdk.databases.settings import driver_settings

_STATES = {
    **dict.fromkeys((1044, 1045, 1698), "28000"),
    1049: "3D000",
    **dict.fromkeys((1142, 1143), "42501"),
    1146: "42P01",
    1054: "42703",
    **dict.fromkeys((1064, 1060, 1248), "42601"),
    1792: "25006",
    **dict.fromkeys((1040, 1203), "53300"),
    1053: "57P01",
    **dict.fromkeys((1317, 1969, 3024), "57014"),
    **dict.fromkeys((1205, 1213, 1412), "40001"),
}
"""Error numbers of the server, as the SQLSTATE of what PostgreSQL calls the same."""


class MysqlConnection(DatabaseConnection):
    """A connection that commits each statement, unless it begins a transaction.

    ``session`` sets variables before the dialect looks at them; ``words`` are further arguments of the driver.
    """

    def __init__(self, address: ServerAddress, session: str, begin: Sequence[str] = (), **words: Any) -> None:
        sqlalchemy = driver("sqlalchemy", "mysql", "MySQL or MariaDB")
        module = driver("pymysql", "mysql", "MySQL or MariaDB")
        self._unbuffered = module.cursors.SSCursor
        settings = {
            **driver_settings(address),
            "charset": "utf8mb4",
            "connect_timeout": address.connect_timeout,
            "autocommit": True,
            "local_infile": False,
            "program_name": "ppdm-flow",
            "init_command": f"SET SESSION {session}",
            **words,
        }

        def connect() -> Any:
            engine = sqlalchemy.create_engine(
                "mysql+pymysql://",
                connect_args=settings,
                isolation_level="AUTOCOMMIT",
                poolclass=sqlalchemy.NullPool,
                hide_parameters=True,
            )
            return engine.connect()

        broken = (OSError, AttributeError, TypeError, IndexError, ValueError)  # so PyMySQL says it
        super().__init__(address.name, connect, (sqlalchemy.exc.SQLAlchemyError, module.Error, *broken), begin)

    def close(self) -> None:
        """Hang up at once, without reading what the server still has to send."""
        with contextlib.suppress(Exception):
            self._connection.invalidate()
        super().close()

    def _ask(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._guarded():
            result = self._connection.exec_driver_sql(statement, tuple(values), execution_options=_AS_IT_IS)
            return [tuple(row) for row in result] if result.returns_rows else []

    @contextlib.contextmanager
    def _streamed(self, statement: str) -> Iterator[Any]:
        """Lend a cursor of the driver whose rows come as they are fetched: SQLAlchemy's takes a third longer."""
        with self._guarded(), self._connection.connection.cursor(self._unbuffered) as cursor:
            cursor.execute(statement)
            yield cursor

    def _fault(self, error: Exception) -> PpdmError:
        number, connected = error_number(error), self._connection is not None
        if number == 2026:
            return DATABASE_FAULTS.of_kind(self.place, ENCRYPTION, "cannot be reached by an encrypted connection")
        if number in (2002, 2003):
            return DATABASE_FAULTS.of_kind(self.place, UNREACHABLE, "cannot be reached: no answer")
        if number not in (0, 2006, 2013, 2014, *_STATES):
            return DATABASE_FAULTS.of_kind(self.place, FAILED, f"failed, with error {number}")
        return DATABASE_FAULTS.of_state(self.place, _STATES.get(number), connected=connected)


_AS_IT_IS = {"no_parameters": True}
"""A statement without values is not searched for `%`."""


def error_number(error: Exception) -> int:
    """Return the number of an error of the server; 0 for others."""
    said = getattr(error, "orig", None) or error
    number = next(iter(said.args), 0)
    return number if isinstance(number, int) and not isinstance(said, OSError) else 0
