"""Released files become tables: staged and compared cell by cell before the release is out, in their places after."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import pyarrow as pa

from ppdm_flow.core.addresses.server import MYSQL, POSTGRESQL, AddressError, ServerAddress, database_address
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.core.texts.sql_names import table_parts
from ppdm_flow.engine.delivery.mysql import MysqlTables
from ppdm_flow.engine.delivery.postgresql import PostgresTables
from ppdm_flow.engine.delivery.target import MARK, Batches, DeliveryTarget, TableWriter, comment, unfit
from ppdm_flow.engine.faults import data_fault, run_fault, wrap_plugin_errors
from ppdm_flow.engine.opening.opening import open_released
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.sdk.storage import Source, TypedSource

_PIECE = 1 << 16
"""Rows that are compared at once."""


@dataclass(slots=True)
class Delivery:
    """Tables that are staged, and wait for the release to be out. ``run`` is the name of the run's directory."""

    run: str
    connections: dict[str, tuple[ServerAddress, TableWriter]] = field(default_factory=dict)
    tables: list[str] = field(default_factory=list)

    def commit(self) -> None:
        """Let all tables take their places. Raises RunError (PPF484) where a server does not answer that it did."""
        for address, connection in self.connections.values():
            try:
                connection.commit()
            except PpdmError as error:
                code = error.diagnostics[0].code
                text = f"the files of run `{self.run}` are released, and the database `{address.name}` did not confirm"
                advice = f"`ppdm-flow deliver RUN` puts the tables in their places, if they are not ({code})"
                raise run_fault("PPF484", f"{text} their tables", advice=advice) from None


@contextmanager
def staged(policy: str, run: str, files: Sequence[tuple[ReleaseNode, Path]]) -> Iterator[Delivery]:
    """Fill the table of each release that becomes one, and read it back; leaving takes back what was not committed.

    Raises DataError where a table cannot hold what the file has, RunError where a server fails; nothing is in its
    place then.
    """
    delivery = Delivery(run)
    with ExitStack() as stack:
        prepared: list[tuple[TableWriter, DeliveryTarget]] = []
        for release, file in files:
            if release.into is None:
                continue
            address = _address(release.into.url)
            connection = _connected(delivery, address, release.into.url, stack)
            target = _target(policy, run, release)
            _fill(connection, address, target, release, file)
            prepared.append((connection, target))
            delivery.tables.append(f"{address.name}: {target.shown}")
        for connection, target in prepared:
            connection.prepare(target)
        yield delivery


def _address(url: str) -> ServerAddress:
    try:
        address = database_address(url)
    except AddressError as error:
        raise data_fault("PPF471", f"the URL of a table cannot be used: {error}") from None
    if address.dialect not in (POSTGRESQL, MYSQL):
        raise data_fault("PPF471", f"tables of the database `{address.name}` are read, and not written")
    return address


def _connected(delivery: Delivery, address: ServerAddress, url: str, stack: ExitStack) -> TableWriter:
    if url not in delivery.connections:
        made: TableWriter = MysqlTables(address) if address.dialect == MYSQL else PostgresTables(address)
        stack.callback(made.close)
        delivery.connections[url] = address, made
    return delivery.connections[url][1]


def _target(policy: str, run: str, release: ReleaseNode) -> DeliveryTarget:
    into = release.into
    assert into is not None  # noqa: S101  # who calls has looked
    *schema, name = table_parts(into.table)
    text = f"{MARK}release {release.name} of policy {policy}, run {run}"
    described = {a.name: comment(a.description) for a in release.attributes if a.description}
    return DeliveryTarget(
        schema[0] if schema else None,
        name,
        policy,
        comment(f"{text}. {release.description}" if release.description else text),
        described,
        into.indexes,
        into.grants,
    )


def _fill(
    connection: TableWriter, address: ServerAddress, target: DeliveryTarget, release: ReleaseNode, file: Path
) -> None:
    schema, rows = _rows_of(release, file)
    connection.stage(target, schema, rows)
    _, again = _rows_of(release, file)
    if not same_rows(again, connection.read(target, schema), schema):
        raise unfit(address.name, target, "what is read back is not what the release has")


def _rows_of(release: ReleaseNode, file: Path) -> tuple[pa.Schema, Batches]:
    """Return the columns of a released file, and its rows: numbers and moments where the file has them."""
    with wrap_plugin_errors(f"release `{release.name}`"):
        source = open_released(release, file)
        names = tuple(a.name for a in release.attributes) if release.partition_by else source.names()
        types = {a.name: a.type for a in release.attributes if a.type is not AttributeType.TEXT}
        batches = _plain(_batches(source, names, types), {n: types[n] for n in release.partition_by if n in types})
        first = next(batches, None)
    if first is None:
        first = pa.RecordBatch.from_pylist([], schema=pa.schema([(name, pa.string()) for name in names]))
    schema = first.schema

    def all_rows() -> Batches:
        yield first
        with wrap_plugin_errors(f"release `{release.name}`"):
            for batch in batches:
                yield batch.cast(schema)

    return schema, all_rows()


def _batches(source: Source, names: Sequence[str], types: Mapping[str, AttributeType]) -> Iterator[pa.RecordBatch]:
    return source.typed_batches(names, types) if isinstance(source, TypedSource) else source.batches(names)


_DECLARED = {
    AttributeType.INTEGER: pa.int64(),
    AttributeType.FLOAT: pa.float64(),
    AttributeType.DATE: pa.date32(),
    AttributeType.TIMESTAMP: pa.timestamp("us"),
}


def _plain(batches: Iterator[pa.RecordBatch], named: Mapping[str, AttributeType]) -> Iterator[pa.RecordBatch]:
    """Yield batches of texts, 64-bit numbers, days and moments, without dictionaries.

    ``named`` are the types of columns that come as the texts in names of folders.
    """
    for batch in batches:
        columns = [
            column.cast(_kind(column.type, named.get(name)))
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _kind(kind: pa.DataType, declared: AttributeType | None) -> pa.DataType:
    if declared is not None:
        return _DECLARED[declared]
    if pa.types.is_integer(kind):
        return pa.int64()
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return pa.date32() if pa.types.is_date(kind) else pa.string()


def same_rows(one: Batches, other: Batches, schema: pa.Schema) -> bool:
    """Whether two streams have the same rows in the same order, however they are cut into batches."""
    with contextlib.closing(one), contextlib.closing(other):
        pieces = zip_longest(_pieces(one, schema), _pieces(other, schema), fillvalue=schema.empty_table())
        return all(left.equals(right) for left, right in pieces)


def _pieces(batches: Batches, schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows in tables of one size; what is left at the end, if only nothing, is the last."""
    held = schema.empty_table()
    for batch in batches:
        held = pa.concat_tables([held, pa.Table.from_batches([batch.replace_schema_metadata(None)])])
        while held.num_rows >= _PIECE:
            yield held.slice(0, _PIECE)
            held = held.slice(_PIECE)
    yield held
