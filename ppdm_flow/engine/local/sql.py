"""DuckDB over the released file itself; every feature that it does not need is switched off."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.file_sets import file_set
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.texts import quoted
from ppdm_flow.engine.faults import run_fault
from ppdm_flow.engine.streams.coding import arrow
from ppdm_flow.engine.streams.stream import ReadBack, Stream
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.sdk.audit import sibling
from ppdm_flow.sdk.databases.duckdb import NO_EXTENSIONS, Setting
from ppdm_flow.sdk.paired_relation import PairedRelation
from ppdm_flow.tables.formulas import BEGINS
from ppdm_flow.tables.sets import Baskets
from ppdm_flow.tables.sets.arrow import holds_sets, to_arrow
from ppdm_flow.tables.table import Table

_MEMORY_LIMIT = "512MB"
"""What DuckDB holds at once for the audits of a file. Where a query cannot be answered within it: DuckDB's own limit,
most of the memory, shared by the audits that there may be at once."""
_LINE = 1 << 21
_BLOCK = 1024
"""Rows of a record that are made at once."""

T = TypeVar("T")


class SharedGroups:
    """The shared queries of a released file's audits: one database over it, and results by query.

    Any thread may ask, and waits where another one is asking for the same.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asking: dict[str, threading.Lock] = {}
        self._results: dict[str, pa.Table] = {}
        self._database: duckdb.DuckDBPyConnection | None = None
        self._connections = 0

    def once(self, query: str, ask: Callable[[], pa.Table]) -> pa.Table:
        """Return what ``ask`` returns for a query, or has returned; where it raises, the next one asks again."""
        with self._lock:
            mine = self._asking.setdefault(query, threading.Lock())
        with mine:
            if query not in self._results:
                self._results[query] = ask()
            return self._results[query]

    def connection(self, open_database: Callable[[], duckdb.DuckDBPyConnection]) -> duckdb.DuckDBPyConnection:
        """Return a connection of one's own to the database over the file, which is opened for who asks first."""
        with self._lock:
            if self._database is None:
                self._database = open_database()
            self._connections += 1
            return self._database.cursor()

    def disconnect(self) -> None:
        """Say that a connection is closed."""
        with self._lock:
            self._connections -= 1

    def shut_if_idle(self) -> None:
        """Close the database, unless somebody has a connection; who asks next opens another one."""
        with self._lock:
            if self._database is not None and not self._connections:
                self._database.close()
                self._database = None


class DuckSql:
    """The second route of one audit. ``folder`` is private; spill files go beside it.

    Without a file, ``candidate`` is a table that is in none.

    Installing and loading extensions, files beside the released one, and changes of the configuration are refused.
    A file in a form that DuckDB would type by itself (not text columns) comes to it from our reader instead.
    ``groups`` are those that the audits of the release share, and their database; one that needs more memory than that
    has gets a database of its own.
    """

    def __init__(
        self,
        release: ReleaseNode,
        file: Path | None,
        original: Stream,
        candidate: ReadBack,
        folder: Path,
        threads: int,
        siblings: Mapping[str, Stream] | None = None,
        groups: SharedGroups | None = None,
    ) -> None:
        self._groups = SharedGroups() if groups is None else groups
        self._release = release
        self._file = file
        self._siblings = {sibling(name): TextStream(stream) for name, stream in (siblings or {}).items()}
        self._streams = [TextStream(original), TextStream(candidate), *self._siblings.values()]
        self._longest = max(_LINE, candidate.longest_line + _LINE // 2)
        self._folder = folder
        self._threads = threads
        self._has_more_memory = False
        self._open: duckdb.DuckDBPyConnection | None = None
        self._named: dict[str, Any] = {}

    def rows(self, query: str, parameters: Sequence[Any] = (), tables: Mapping[str, Any] = {}) -> list[tuple[Any, ...]]:
        """Return the result of one SELECT. Raises RunError, without DuckDB's message: that may quote values."""

        def ask(opened: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
            return opened.execute(query, list(parameters)).fetchall()

        return self._answer(ask, tables)

    def table(self, query: str, parameters: Sequence[Any] = (), tables: Mapping[str, Any] = {}) -> pa.Table:
        """Return the same as an Arrow table. Raises RunError as above."""

        def ask(opened: duckdb.DuckDBPyConnection) -> pa.Table:
            return opened.sql(query, params=list(parameters)).to_arrow_table()

        return self._answer(ask, tables)

    def database(self) -> duckdb.DuckDBPyConnection:
        """Return a database of its own, of all the memory that an audit may have."""
        return self._shut(None, has_more_memory=True)

    def groups(self, query: str) -> pa.Table:
        """Return the result of one SELECT over the file, asked by no audit before. Raises RunError as above."""
        return self._groups.once(query, lambda: self.table(query))

    def _answer(self, ask: Callable[[duckdb.DuckDBPyConnection], T], tables: Mapping[str, Any]) -> T:
        """Return the answer of a database with these tables, with more memory where it needs it.

        Errors become RunErrors without a value.
        """
        while True:
            try:
                return ask(self._with(tables))
            except duckdb.OutOfMemoryException as error:
                if self._has_more_memory:
                    raise self._fault(error) from None
                self.close()
                self._open, self._named, self._has_more_memory = None, {}, True
            except duckdb.Error as error:
                raise self._fault(error) from None

    def _with(self, tables: Mapping[str, Any]) -> duckdb.DuckDBPyConnection:
        """Return the connection with these tables by name; they stay there, since many questions are asked of some."""
        opened = self._connection()
        for name, table in tables.items():
            if self._named.get(name) is not table:
                opened.register(name, table.table if isinstance(table, PairedRelation) else table)
                self._named[name] = table
        return opened

    def _fault(self, error: duckdb.Error) -> PpdmError:
        streams = (stream.error for stream in self._streams)
        return next((e for e in streams if e is not None), None) or run_fault(
            "PPF908", f"the second route failed in SQL: {_kind(error)}"
        )

    def close(self) -> None:
        """Give everything back."""
        if self._open is not None:
            self._open.close()
            if not self._has_more_memory:
                self._groups.disconnect()

    def _connection(self) -> duckdb.DuckDBPyConnection:
        """Return the connection, which is made when the first question is asked."""
        if self._open is None:
            alone = self._has_more_memory
            self._open = self._database() if alone else self._groups.connection(self._database)
            for name, stream in {"original": self._streams[0], **self._siblings}.items():
                self._open.register(name, stream)
            scan = None if self._file is None else _scan(self._release, self._file, self._longest)
            if scan is None:
                self._open.register("candidate", self._streams[1])
            else:
                rows = _expanded(scan, self._release.collapse) if self._release.collapse else scan
                selected = f"SELECT {_selected(self._release)} FROM {rows}"  # noqa: S608  # quoted
                self._open.execute(f"CREATE TEMP VIEW candidate AS {selected}")
        return self._open

    def _database(self) -> duckdb.DuckDBPyConnection:
        """Open a database over the released file."""
        return self._shut(self._file, has_more_memory=self._has_more_memory)

    def _shut(self, file: Path | None, *, has_more_memory: bool) -> duckdb.DuckDBPyConnection:
        """Open a database that nothing can open another file with."""
        opened = duckdb.connect(":memory:", config=self._configuration(has_more_memory=has_more_memory))
        if has_more_memory:
            opened.execute(f"SET memory_limit = '{self._share(opened)}'")
        if file is not None:
            allowed = "allowed_directories" if file.is_dir() else "allowed_paths"
            opened.execute(f"SET {allowed} = [{_text(str(file))}]")
        opened.execute("SET enable_external_access = false")
        opened.execute("SET lock_configuration = true")
        return opened

    def _share(self, opened: duckdb.DuckDBPyConnection) -> str:
        """Return the memory of each audit, where as many audits as threads share DuckDB's default."""
        ((limit,),) = opened.execute("SELECT current_setting('memory_limit')").fetchall()
        number, unit = str(limit).split()
        return f"{float(number) / max(1, self._threads):.3f} {unit}"

    def _configuration(self, *, has_more_memory: bool) -> dict[str, Setting]:
        """Nothing is fetched, loaded or replaced; spilling goes to a private folder."""
        return {
            **NO_EXTENSIONS,
            **({} if has_more_memory else {"memory_limit": _MEMORY_LIMIT}),
            "python_enable_replacements": "false",
            "temp_directory": str(self._folder.with_name("spilled")),
            "threads": str(max(1, self._threads)),
            "preserve_insertion_order": "false",
        }


def _scan(release: ReleaseNode, file: Path, longest: int) -> str | None:
    """Return the table function that reads the file itself as texts, or None where DuckDB would interpret it."""
    files = [part.path for part in file_set(file).parts] if file.is_dir() else [file]
    paths = f"[{', '.join(_text(str(path)) for path in files)}]"
    hive = ", hive_partitioning = true, hive_types_autocast = false" if release.partition_by else ""
    if release.format == "parquet":
        return f"read_parquet({paths}{hive})" if all(_is_plain(path, release) for path in files) else None
    if release.format != "csv" or _is_written_otherwise(release):
        return None
    if any(_is_gzip(path) != path.name.endswith(".gz") for path in files):
        return None
    names = [name for name in release.columns if name not in release.partition_by]
    names += [release.collapse] if release.collapse else []
    columns = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in names)
    mark = _text(str(release.options.get("delimiter", ",")))
    return (
        f"read_csv({paths}, auto_detect = false, header = true, delim = {mark}, quote = '\"', escape = '\"',"
        f" nullstr = '', allow_quoted_nulls = false, columns = {{{columns}}}, max_line_size = {longest}{hive})"
    )


def _expanded(scan: str, counts: str) -> str:
    """Return the rows of collapsed records: each as often as its count says.

    A count is taken apart into blocks before, since DuckDB holds as many numbers at once as a record has rows.
    """
    column = quoted(counts)
    number = f"CAST({column} AS BIGINT)"
    blocks = f"[least({_BLOCK}, {number} - start) FOR start IN range(0, {number}, {_BLOCK})]"
    blocked = f"SELECT * REPLACE (unnest({blocks}) AS {column}) FROM {scan}"  # noqa: S608  # quoted
    return f"(SELECT * REPLACE (unnest(range({column})) AS {column}) FROM ({blocked}))"  # noqa: S608  # the same


def _is_written_otherwise(release: ReleaseNode) -> bool:
    """Whether another tool wrote the file in a way that our reader has to tell."""
    received = release.received
    if received is None:
        return False
    usual = {"delimiter": None, "quote": '"', "encoding": "utf-8", "decimal": "."}
    said = {key for key, value in received.options.items() if value and usual.get(key, "") not in (None, value)}
    return bool(said) or received.columns is not None or bool(release.collapse)  # the column of counts may be any


def _selected(release: ReleaseNode) -> str:
    """Return what is selected of the file's rows: texts, with the mark before formulas taken away.

    Texts that mean a missing value in the file of another tool are missing.

    Numbers of Parquet are spelled as our own reader spells them, but not by it.
    """
    folders = release.partition_by
    escaped = release.format == "csv" and release.options.get("formulas") == "escape" and release.received is None
    missing = ", ".join(map(_text, (release.received.missing if release.received else None) or ()))
    columns = []
    for fact in release.attributes:
        name = quoted(fact.name)
        if release.format == "parquet" and fact.is_numeric and fact.name not in folders:
            columns.append(f"{_as_text(name, fact)} AS {name}")
        elif missing:
            columns.append(f"CASE WHEN {name} IN ({missing}) THEN NULL ELSE {name} END AS {name}")
        else:
            columns.append(f"{_unmarked(name)} AS {name}" if escaped and fact.name not in folders else name)
    return ", ".join(columns)


def _as_text(name: str, facts: AttributeFacts) -> str:
    if not facts.is_numeric:
        return name
    text = f"CAST({name} AS VARCHAR)"
    if facts.type is AttributeType.TIMESTAMP:
        return f"replace({text}, ' ', 'T')"
    if facts.type is not AttributeType.FLOAT:
        return text
    digits = f"replace(regexp_extract({text}, '^-?([0-9.]+)e', 1), '.', '')"
    places = f"CAST(regexp_extract({text}, 'e-0*([0-9]+)$', 1) AS INTEGER)"
    small = f"CASE WHEN {name} < 0 THEN '-' ELSE '' END || '0.' || repeat('0', {places} - 1) || {digits}"
    return (
        f"CASE WHEN {name} = 0 THEN '0' WHEN abs({name}) >= 1e16 THEN {text}"
        f" WHEN abs({name}) >= 1e-4 THEN regexp_replace({text}, '\\.0$', '')"
        f" WHEN abs({name}) >= 1e-6 THEN {small} ELSE regexp_replace({text}, 'e-0', 'e-') END"
    )


def _unmarked(name: str) -> str:
    mark = _text("'")
    bare = f"ltrim({name}, {mark})"
    marked = f"{name}[1] = {mark} AND {bare} <> {_text('')} AND contains({_text(BEGINS)}, {bare}[1])"
    return f"CASE WHEN {marked} THEN {name}[2:] ELSE {name} END"


def _is_gzip(file: Path) -> bool:
    """Whether a file begins like a gzip stream."""
    with file.open("rb") as opened:
        return opened.read(2) == b"\x1f\x8b"


def _is_plain(file: Path, release: ReleaseNode) -> bool:
    """Whether every column of a Parquet file is text, sets in a form of ours, or numbers as our writer has them."""
    numeric = {a.name: _NUMBERS[a.type] for a in release.attributes if a.is_numeric}
    numeric |= {release.collapse: pa.int64()} if release.collapse else {}
    with pq.ParquetFile(file) as opened:
        return all(f.type == numeric[f.name] if f.name in numeric else _is_text(f.type) for f in opened.schema_arrow)


_NUMBERS = {
    AttributeType.INTEGER: pa.int64(),
    AttributeType.FLOAT: pa.float64(),
    AttributeType.DATE: pa.date32(),
    AttributeType.TIMESTAMP: pa.timestamp("us"),
}


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind):
        return _is_text(kind.value_type)
    plain = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(plain or (pa.types.is_struct(kind) and holds_sets(kind)))


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _kind(error: Exception) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", " ", type(error).__name__).lower()


# Rows as texts for DuckDB: the original, and released files that it would interpret.


_TEXTS = pa.dictionary(pa.int32(), pa.string())


class TextStream:
    """Rows as an Arrow stream; every scan reads it anew (the Arrow PyCapsule interface).

    ``error`` is what went wrong in making the rows, of which DuckDB tells but a text.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.error: PpdmError | None = None
        plain = [a for a in stream.attributes if a.role is not Role.ITEMS]
        self._schema = pa.schema([(a.name, pa.string() if a.is_numeric else _TEXTS) for a in plain])
        self._sets = [a.name for a in stream.attributes if a.role is Role.ITEMS]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        if self._sets:
            self._look()
        reader = pa.RecordBatchReader.from_batches(self._schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _look(self) -> None:
        """Learn the form of the sets from the first rows."""
        first = next(iter(self._stream.parts(self._sets)), None)
        for name in self._sets:
            column = Baskets.of([]) if first is None else first.table.sets[name]
            self._schema = self._schema.append(pa.field(name, _plain(to_arrow(column.take(slice(0, 0)))).type))
        self._sets = []

    def _batches(self) -> Iterator[pa.RecordBatch]:
        try:
            for part in self._stream.parts(self._schema.names):
                columns = [_cells(part.table, n) for n in self._schema.names]
                yield pa.RecordBatch.from_arrays(columns, schema=self._schema)
        except PpdmError as error:
            self.error = error
            raise


def _cells(table: Table, name: str) -> pa.Array:
    return _plain(to_arrow(table.sets[name])) if name in table.sets else arrow(table[name])


def _plain(array: pa.Array) -> pa.Array:
    """Return lists of texts without a dictionary, which DuckDB takes for an ENUM; other arrays as they are."""
    if not pa.types.is_large_list(array.type):
        return array
    return pa.LargeListArray.from_arrays(array.offsets, array.values.cast(pa.string()))
