"""Rules on databases as sources: where one is, and which table is read."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.addresses import AddressError, PasswordError, database_address, is_database
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.texts import table_parts
from ppdm_flow.policy.language.models import SourceEntry
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.rules.scene import Scene

_PASSWORD = "leave it out of the URL: `ppdm-flow explain sql` says where it is looked for"  # noqa: S105  # none
_SQL = "sql"
_READ_ONLY = {"mssql:": "SQL Server", "sqlserver:": "SQL Server", "snowflake:": "Snowflake", "bigquery:": "BigQuery"}
_DEEPEST = 2


def judge_source(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``url``, ``table`` and ``query`` of a source (PPF470 to PPF473)."""
    source = scene.policy.source
    for text, key, hint in _contradictions(source):
        yield scene.fault("PPF470", text, ("source", key), at_key=True, hint=hint)
    if source.url is not None:
        yield from _address(scene, source.url, ("source", "url"))


def judge_tables(scene: Scene) -> Iterator[Diagnostic]:
    """Judge the tables of databases that releases become (PPF471 to PPF473, PPF481)."""
    read = {(source.url, source.table) for source in _sources(scene) if source.url is not None}
    written: set[tuple[str, str]] = set()
    for name, release in scene.policy.releases.items():
        into = release.into
        if into is None:
            continue
        path = ("releases", name, "into")
        yield from _address(scene, into.url, (*path, "url"))
        place = (into.url, into.table)
        if place in read:
            yield scene.fault("PPF481", "the data itself is in this table", (*path, "table"), hint="name another one")
        elif place in written:
            yield scene.fault("PPF481", "two releases have one table", (*path, "table"), hint="name another one")
        written.add(place)
        if into.url.startswith(tuple(_READ_ONLY)):
            server = next(name for scheme, name in _READ_ONLY.items() if into.url.startswith(scheme))
            text, hint = f"tables of {server} are read, and not written", "PostgreSQL, MySQL and MariaDB are written"
            yield scene.fault("PPF481", text, (*path, "url"), hint=hint)
        if into.grants and into.url.startswith(("mysql:", "mariadb:")):
            text, hint = "rights outlive a table in MySQL and MariaDB", "grant them once in the database, by its name"
            yield scene.fault("PPF481", text, (*path, "grants"), at_key=True, hint=hint)
        if len(table_parts(into.table)) > _DEEPEST or not all(table_parts(into.table)):
            yield scene.fault("PPF481", "this is no name of a table", (*path, "table"), hint="SCHEMA.NAME, or NAME")


def _sources(scene: Scene) -> Iterator[SourceEntry]:
    yield scene.policy.source
    yield from (table.source for table in scene.policy.tables.values())


def _contradictions(source: SourceEntry) -> Iterator[tuple[str, str, str]]:
    """Yield what does not go together: the text, the key, and the way out."""
    if source.url is not None and source.path is not None:
        yield "the data is in one place, and this names both a `path` and a `url`", "url", "remove one of the two"
    if source.path is not None and is_database(source.path):
        yield "this is a URL, not a path", "path", "say `url:`, with a `table:` or a `query:`"
    if source.table is not None and source.query is not None:
        yield "a `table` and a `query` both say which rows are read", "query", "remove one of the two"
    elif source.url is not None and source.table is None and source.query is None:
        yield "a database has many tables, and this says none", "url", "add `table: NAME`, or a `query:`"
    for key in ("url", "table", "query"):
        if key in source.with_:
            yield f"`{key}` is no parameter of a reader", "with", f"write it beside `with`: `source: {{{key}: …}}`"
    if source.url is None and source.table is None and source.query is None:
        return
    if source.columns is not None:
        yield "columns of a database have names", "columns", "leave it out; a `query:` can give others with AS"
    if source.format not in (None, _SQL):
        what = "url" if source.url is not None else "table" if source.table is not None else "query"
        yield f"`format: {source.format}` is for files, and `{what}` for databases", "format", "leave it out"


def _address(scene: Scene, url: str, path: PolicyPath) -> Iterator[Diagnostic]:
    try:
        address = database_address(url)
    except PasswordError:
        text = "there is a password in the URL of the data, and a policy is read by many"
        yield scene.fault("PPF472", text, path, hint=_PASSWORD)
    except AddressError as error:
        yield scene.fault("PPF471", f"the URL of the data cannot be used: {error}", path)
    else:
        if not address.is_local and not address.is_encrypted:
            text = f"with `sslmode={address.sslmode}` the data, and its password, may cross the network unencrypted"
            yield scene.fault("PPF473", text, path, warning=True, hint="say `sslmode=verify-full`")
