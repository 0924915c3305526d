"""A file that an attacker holds: known people, or another release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.csv_texts import csv_header, csv_texts
from ppdm_flow.tables.table import Table

IDENTITY = ""
"""The name under which the identities stand in the table; no column of a file is called so."""


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A CSV file with a header; ``columns`` says which of its columns tells which attribute."""

    path: Path
    delimiter: str
    columns: Mapping[str, str]
    identity: str | None = None


def known_columns(file: KnownTable, candidates: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return the file's column of each of the released columns, given with their sources, that the file tells.

    Raises DataError where the file cannot be opened, or lacks a column that the parameters name.
    """
    header = _header(file.path, file.delimiter)
    named = {*file.columns.values(), *([file.identity] if file.identity else [])}
    missing = sorted(named - set(header))
    if missing:
        raise _unusable(f"has no column `{missing[0]}`, which the audit's parameters name")
    names = {}
    for column, source in candidates:
        named_in_file = file.columns.get(column) or file.columns.get(source)
        for name in (named_in_file,) if named_in_file else (column, source):
            if name in header:
                names[column] = name
                break
    if not names:
        raise _unusable(
            "has a column for none of the attributes that it is compared by: say which one tells what with `columns:`"
        )
    return names


def read(file: KnownTable, columns: Mapping[str, str]) -> Table:
    """Return its rows in order, with the released columns' names; the identities under :data:`IDENTITY`."""
    wanted = [*columns.values(), *([file.identity] if file.identity else [])]
    try:
        table = csv_texts(file.path, file.delimiter, wanted, line_ends=True)
    except OSError:
        raise _unusable("cannot be opened") from None
    except (pa.ArrowInvalid, KeyError):  # its message may quote a cell
        raise _unusable("is no CSV file with these columns, in UTF-8") from None
    built = {c: _column(table[name]) for c, name in columns.items()}
    if file.identity:
        built[IDENTITY] = _column(table[file.identity])
    return Table(built, np.arange(table.num_rows, dtype=np.int64))


def _header(path: Path, delimiter: str) -> list[str]:
    try:
        names = csv_header(path, delimiter)
    except OSError:
        raise _unusable("cannot be opened") from None
    except pa.ArrowInvalid:  # its message may quote a cell
        raise _unusable("is no CSV file in UTF-8 with a header") from None
    if len(set(names)) < len(names):
        raise _unusable("has two columns of one name")
    return names


def _column(cells: pa.ChunkedArray) -> Column:
    coded = cells.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    return Column(codes, coded.dictionary)


def _unusable(what: str) -> DataError:
    return DataError(Diagnostic("PPF878", f"the file that an audit compares the release with {what}"))
