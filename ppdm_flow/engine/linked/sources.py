"""Reads the originals of linked tables and checks their keys: unique in their own table, and found where they refer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from ppdm_flow.core.errors import DataError
from ppdm_flow.core.file_sets import below
from ppdm_flow.core.phrases import counted
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.reading.binding import columns
from ppdm_flow.engine.reading.original import Opening, Original
from ppdm_flow.engine.streams.stream import Stream, check_room
from ppdm_flow.plan.compile import Columns
from ppdm_flow.plan.definition import LinkedTable, Plan
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table, concat

Places = npt.NDArray[np.int64]
_SHOWN = 5
"""Limit on the row numbers that a message names; a first row has the number 1."""


@dataclass(frozen=True, slots=True, eq=False)
class LinkedOriginals:
    """The originals by table. ``people`` says of each row of a table, in the order of row numbers, whose it is.

    A person is a place in the table that has a row for each of them, of which there are ``count``.
    """

    tables: Mapping[str, Original]
    people: Mapping[str, Places]
    count: int

    def unchanged(self) -> None:
        """Raise DataError where a file was written to while it was used."""
        for original in self.tables.values():
            original.unchanged()


def table_context(context: RunContext, table: LinkedTable, tables: int) -> RunContext:
    """Return the context of one of so many tables, with its part of the memory."""
    options = replace(context.options, memory_limit=context.options.memory_limit // tables)
    return replace(context, plan=table.plan, options=options)


def table_data(table: LinkedTable, folder: Path | None) -> Path | None:
    """Return the file of a table in a folder that is read in place of the policy's own; None for the policy's own.

    Raises DataError where what is given is no folder, or the policy names no file.
    """
    if folder is None:
        return None
    node = table.plan.source
    if not folder.is_dir():
        advice = f"give the folder with the file of each table: {', '.join(_file_names((table,)))}"
        raise data_fault("PPF722", "linked tables are read from a folder, and `--data` names none", advice=advice)
    if node.path is None:
        text = f"the policy names no data file of table `{table.name}`"
        raise data_fault("PPF721", text, span=node.span, advice="name one: it is looked for in the folder of --data")
    return below(folder, Path(node.path))


def open_linked(context: RunContext, folder: Path | None) -> LinkedOriginals:
    """Read each table once. Raises DataError where one cannot be read, or the keys are not whole."""
    plan = context.plan
    try:
        originals = {
            table.name: Opening(table_context(context, table, len(plan.tables)), table_data(table, folder)).read()
            for table in plan.tables
        }
    finally:
        context.snapshots.close()
    named = next(table for table in plan.tables if table.refers is None)
    keys = in_order(originals[named.name].stream, [named.person])
    for table in plan.tables:
        if table.key is not None:
            _unique(table, table.key, in_order(originals[table.name].stream, [table.key]))
    people = {named.name: np.arange(len(keys), dtype=np.int64)}
    for table in plan.tables:
        if table.refers is not None:
            people[table.name] = _referred(table, in_order(originals[table.name].stream, [table.person]), keys)
    return LinkedOriginals(originals, people, len(keys))


def data_columns(plan: Plan, data: Path | None) -> Columns:
    """Return the columns of a plan's data; those of linked tables by table. Raises DataError."""
    if not plan.tables:
        return columns(plan, data)
    return {table.name: columns(table.plan, table_data(table, data)) for table in plan.tables}


def _file_names(tables: tuple[LinkedTable, ...]) -> list[str]:
    return [f"`{Path(t.plan.source.path).name}`" for t in tables if t.plan.source.path is not None]


def in_order(stream: Stream, columns: Sequence[str]) -> Table:
    """Return columns of all rows, in the order of row numbers. Raises RunError where they are too many to be held."""
    check_room(stream, len(columns), "joining linked tables")
    table = concat(part.table for part in stream.parts(list(columns)))
    return table if bool((np.diff(table.rows) > 0).all()) else table.take(np.argsort(table.rows, kind="stable"))


def _cells(table: Table) -> Column:
    return next(iter(table.columns.values()))


def _unique(table: LinkedTable, name: str, keys: Table) -> None:
    column = _cells(keys)
    codes = column.codes
    if (codes < 0).any():
        raise _not_whole(f"table `{table.name}` has rows without the key `{name}`", keys.rows[codes < 0], table)
    times = np.bincount(codes, minlength=len(column.categories))
    twice = times[codes] > 1
    if twice.any():
        shared = counted(int(twice.sum()), "row")
        text = f"the key `{name}` of table `{table.name}` does not tell its rows apart: {shared} share one"
        raise _not_whole(text, keys.rows[twice], table)


def _referred(table: LinkedTable, references: Table, keys: Table) -> Places:
    """Return the place of the person of each row. Raises DataError where one refers to nobody."""
    column, named = _cells(references), _cells(keys)
    place = np.full(len(named.categories), -1, dtype=np.int64)
    place[named.codes] = np.arange(len(named.codes))
    there = pc.index_in(column.categories, value_set=named.categories).to_numpy(zero_copy_only=False)
    of_text = np.where(np.isnan(there), -1, np.nan_to_num(there)).astype(np.int64)
    of_category = np.where(of_text < 0, -1, place[np.maximum(of_text, 0)]) if len(place) else of_text
    person = np.where(column.codes < 0, -1, of_category[np.maximum(column.codes, 0)])
    lost = person < 0
    if lost.any():
        text = f"{counted(int(lost.sum()), 'row')} of table `{table.name}` refer to nobody in `{table.refers}`"
        raise _not_whole(text, references.rows[lost], table)
    return person


def _not_whole(text: str, rows: Places, table: LinkedTable) -> DataError:
    """Return the error with the numbers of some rows, which tell where to look, and no value."""
    shown = ", ".join(str(int(row) + 1) for row in rows[:_SHOWN])
    more = ", …" if len(rows) > _SHOWN else ""
    advice = "every reference has to be found, and every key to be one row's: mend the data, or leave such rows out"
    return data_fault("PPF700", f"{text} (rows {shown}{more})", span=table.plan.source.span, advice=advice)
