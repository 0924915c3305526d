"""DuckDB for tests of queries, which is quick with small tables."""

from __future__ import annotations

import duckdb

UNUSED_OPTIMIZERS = (
    "SET VARIABLE unused = (SELECT string_agg(name) FROM duckdb_optimizers() WHERE name <> 'filter_pushdown');"
    "SET disabled_optimizers = getvariable('unused')"
)
"""Plans of small tables take longer to be improved than to be run, unless conditions were not to make joins."""


def database() -> duckdb.DuckDBPyConnection:
    """Open what the second route asks."""
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.execute(UNUSED_OPTIMIZERS)
    return connection


class DatabaseSql:
    """Opens it for a reader of files."""

    def database(self) -> duckdb.DuckDBPyConnection:
        """Open it."""
        return database()
