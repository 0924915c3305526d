"""DuckDB files: Arrow batches from DuckDB itself, with everything shut that would reach beyond the file."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.texts.sql_names import quoted
from ppdm_flow.sdk.databases.duckdb import NO_FILES
from ppdm_flow.sdk.databases.faults import fault, machine_fault
from ppdm_flow.sources.sql.session import SqlColumn

_CLOSED = {**NO_FILES, "lock_configuration": "true"}
_ROWS = 1 << 17
_READER = "to_arrow_reader"
"""As later versions call it."""
_NUMBERS = "TINYINT|SMALLINT|INTEGER|BIGINT|UTINYINT|USMALLINT|UINTEGER|UBIGINT|FLOAT|DOUBLE"
_MOMENTS = "DATE|TIME|TIMESTAMP|TIMESTAMP_S|TIMESTAMP_MS|TIMESTAMP_NS|TIMESTAMP WITH TIME ZONE"
_AS_THEY_ARE = re.compile(rf"({_NUMBERS}|{_MOMENTS}|BOOLEAN|VARCHAR|VARCHAR\[\]|ENUM\(.*\)|DECIMAL\(.*\))", re.DOTALL)
_TEXTS = re.compile(r"(HUGEINT|UHUGEINT|BIGNUM|VARINT|UUID|JSON|INTERVAL|TIME WITH TIME ZONE|BIT)")
_LISTS = re.compile(r"(UUID|ENUM\([^)]*\)|JSON)\[\]")


class DuckSession:
    """One read transaction. Raises DataError where another program writes to the file."""

    def __init__(self, path: Path) -> None:
        self.place = path.name
        with self._guarded():
            self._connection = duckdb.connect(str(path), read_only=True, config=_CLOSED)
            self._connection.execute("BEGIN TRANSACTION")

    def columns(self, relation: str) -> tuple[SqlColumn, ...]:
        """Return the columns of what stands after FROM."""
        with self._guarded():
            described = self._connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()  # noqa: S608
        return tuple(_column(name, kind) for name, kind, *_ in described)

    def rows(self, columns: Sequence[SqlColumn], relation: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in the order that they were written in."""
        listed = ", ".join(f"{c.expression} AS {quoted(c.name)}" for c in columns)
        with self._guarded():
            selected: Any = self._connection.sql(f"SELECT {listed} FROM {relation}")  # noqa: S608
            reader = getattr(selected, _READER, selected.fetch_arrow_reader)(_ROWS)
            yield pa.RecordBatch.from_pylist([], schema=reader.schema)
            yield from reader

    def close(self) -> None:
        """Let the file go."""
        with contextlib.suppress(duckdb.Error):
            self._connection.close()

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (PpdmError, GeneratorExit):
            raise
        except (duckdb.CatalogException, duckdb.BinderException) as error:
            what = "table" if isinstance(error, duckdb.CatalogException) else "column, or none of that type"
            raise fault("PPF477", f"the database `{self.place}` has no such {what}") from None
        except (duckdb.ParserException, duckdb.InvalidInputException, duckdb.PermissionException):
            text = f"the database `{self.place}` does not understand the statement, or does not allow it"
            raise fault("PPF477", text, "`query` is one SELECT, of this file alone") from None
        except duckdb.ConversionException:
            raise fault("PPF477", f"the database `{self.place}` could not convert a value as asked") from None
        except duckdb.IOException as error:
            if "lock" in str(error).lower():
                raise machine_fault("PPF475", f"the database `{self.place}` is open for writing elsewhere") from None
            raise fault("PPF717", f"the database `{self.place}` cannot be read", "it is damaged or cut off") from None
        except (duckdb.Error, pa.ArrowException, OSError):
            raise fault("PPF479", f"the database `{self.place}` could not be read") from None


def _column(name: str, kind: str) -> SqlColumn:
    own = quoted(name)
    if _AS_THEY_ARE.fullmatch(kind):
        return SqlColumn(name, own)
    if _TEXTS.fullmatch(kind):
        return SqlColumn(name, f"{own}::VARCHAR")
    if _LISTS.fullmatch(kind):
        return SqlColumn(name, f"{own}::VARCHAR[]")
    return SqlColumn(name, None, kind.partition("(")[0])
