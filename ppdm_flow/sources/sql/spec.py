"""Source of databases: its card and parameters."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class SqlParams(Params):
    """What is read of which database: ``source`` says it beside ``with``."""

    url: str | None = None
    table: str | None = None
    query: str | None = None


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "sources/sql", Kind.SOURCE, sets="column", endings=(".sqlite", ".sqlite3", ".db", ".duckdb", ".ddb")
    ),
    params=SqlParams,
    algorithm="ppdm_flow.sources.sql.algorithm:SqlSource",
)
