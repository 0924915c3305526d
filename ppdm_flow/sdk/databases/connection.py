"""A connection to a database by any driver, whose exceptions become errors of ours: their texts may quote values."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ppdm_flow.core.errors import PpdmError


class DatabaseConnection(ABC):
    """A connection that carries out ``begin`` when it is made. Everything raises PpdmError.

    ``connect`` returns the driver's connection, and ``errors`` are what the driver raises once it is there.
    """

    def __init__(
        self,
        place: str,
        connect: Callable[[], Any],
        errors: tuple[type[Exception], ...],
        begin: Sequence[str] = (),
    ) -> None:
        self.place = place
        self._connection: Any = None
        self._errors: tuple[type[Exception], ...] = (Exception,)  # what is raised before may quote a password
        with self._guarded():
            self._connection = connect()
        self._errors = errors
        try:
            for statement in begin:
                self._ask(statement)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Hang up; the server takes back what was not committed."""
        with contextlib.suppress(Exception):
            self._connection.close()

    @abstractmethod
    def _fault(self, error: Exception) -> PpdmError:
        """Return the error for what the driver raised; before the login ``_connection`` is None."""

    def _ask(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a statement; none where it has no result."""
        with self._guarded(), contextlib.closing(self._connection.cursor()) as cursor:
            cursor.execute(statement, *((values,) if values else ()))
            return [tuple(row) for row in cursor.fetchall()] if cursor.description is not None else []

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """Turn the driver's exceptions into errors of ours; other exceptions pass."""
        try:
            yield
        except PpdmError:
            raise
        except self._errors as error:
            raise self._fault(error) from None


class AdbcConnection(DatabaseConnection):
    """A connection by ADBC, whose results are Arrow batches; ``options`` are those of each statement with rows."""

    def __init__(
        self,
        place: str,
        driver: Any,
        connect: Callable[[], Any],
        begin: Sequence[str] = (),
        options: Mapping[str, str] | None = None,
    ) -> None:
        self._options = options
        super().__init__(place, connect, (driver.Error, pa.ArrowException, OSError), begin)

    def _schema(self, statement: str) -> pa.Schema:
        """Return names and types of the columns of a statement."""
        with self._executed(statement) as cursor:
            return cursor.fetch_record_batch().schema

    def _batches(self, statement: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a statement as they come; where there is none, a batch that is empty."""
        with self._executed(statement) as cursor:
            reader = cursor.fetch_record_batch()
            empty = pa.RecordBatch.from_pylist([], schema=reader.schema)
            yield next(reader, empty)
            yield from reader

    @contextlib.contextmanager
    def _executed(self, statement: str) -> Iterator[Any]:
        with self._guarded(), self._connection.cursor() as cursor:
            if self._options:
                cursor.adbc_statement.set_options(**self._options)
            cursor.execute(statement)
            yield cursor
