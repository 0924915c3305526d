"""What a Parquet file holds beside its cells: leftover values, statistics, metadata, bytes of no column."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Finding
from ppdm_flow.tables.sets.arrow import KEY

_KNOWN = {b"pandas": "what pandas notes of a table", b"ARROW:schema": "an Arrow schema with its own metadata"}
_SCHEMA = b"ARROW:schema"
_MAGIC = 4
_FOOTER = 8


def beside(path: Path) -> Iterator[Finding]:
    """Yield what there is, in numbers and names of columns; never a value."""
    with pq.ParquetFile(path) as file:
        yield from _metadata(file)
        yield from _statistics(file)
        yield from _uncounted(file, path.stat().st_size, _footer(path))
        coded = [f.name for f in file.schema_arrow if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
        coded += [f.name for f in file.schema_arrow if pa.types.is_dictionary(f.type)]
    if coded:
        yield from _leftovers(path, coded)


def _metadata(file: pq.ParquetFile) -> Iterator[Finding]:
    metadata = file.metadata.metadata or {}
    keys = set(metadata) - {KEY}
    if _tells_types_alone(metadata.get(_SCHEMA)):
        keys -= {_SCHEMA}
    known = [description for key, description in _KNOWN.items() if key in keys]
    other = len(keys - _KNOWN.keys())
    parts = [*known, *([f"{counted(other, 'entry')} of its own"] if other else [])]
    if parts:
        text = f"the file's metadata has {' and '.join(parts)}: read them before the file leaves"
        yield Finding("PPF922", Severity.WARNING, text, "metadata")
    fields = [f.name for f in file.schema_arrow if f.metadata and set(f.metadata) - {KEY, b"PARQUET:field_id"}]
    if fields:
        yield Finding(
            "PPF922", Severity.WARNING, f"{counted(len(fields), 'column')} of the file have metadata", "columns"
        )


def _tells_types_alone(written: bytes | None) -> bool:
    """Whether a schema of Arrow's, as Parquet has it, says nothing but the names and flat types of columns."""
    if written is None:
        return False
    try:
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(written)))
    except (ValueError, OSError, pa.ArrowException):
        return False
    return not schema.metadata and not any(f.metadata or pa.types.is_nested(f.type) for f in schema)


def _statistics(file: pq.ParquetFile) -> Iterator[Finding]:
    """Extremes are those of the rows only if nothing was taken out of the file since."""
    columns: set[str] = set()
    for group in range(file.num_row_groups):
        row_group = file.metadata.row_group(group)
        for place in range(row_group.num_columns):
            column = row_group.column(place)
            if column.is_stats_set and column.statistics is not None and column.statistics.has_min_max:
                columns.add(column.path_in_schema)
    for name in sorted(columns):
        text = f"the file has the least and the greatest value of `{name}` for each group of rows"
        yield Finding("PPF923", Severity.INFO, text, name)


def _footer(path: Path) -> int:
    with path.open("rb") as file:
        file.seek(-_FOOTER, 2)
        return int.from_bytes(file.read(4), "little")


def _uncounted(file: pq.ParquetFile, size: int, footer: int) -> Iterator[Finding]:
    chunks = 0
    for group in range(file.num_row_groups):
        row_group = file.metadata.row_group(group)
        chunks += sum(row_group.column(place).total_compressed_size for place in range(row_group.num_columns))
    left = size - (_MAGIC + chunks + footer + _FOOTER)
    if left > 0:
        text = f"{counted(left, 'byte')} of the file belong to no column: indexes, filters, or what was there before"
        yield Finding("PPF921", Severity.WARNING, text, "bytes")


def _leftovers(path: Path, coded: list[str]) -> Iterator[Finding]:
    unused = dict.fromkeys(coded, 0)
    with pq.ParquetFile(path, read_dictionary=coded) as file:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, columns=coded)
            for name in coded:
                unused[name] += sum(_unused(chunk) for chunk in table[name].chunks)
    for name, count in unused.items():
        if count:
            text = f"the file has {counted(count, 'value')} of `{name}` in its dictionaries that no row has"
            yield Finding("PPF921", Severity.WARNING, text, name)


def _unused(chunk: pa.Array) -> int:
    if not pa.types.is_dictionary(chunk.type):
        return 0
    used = np.unique(chunk.indices.drop_null().to_numpy(zero_copy_only=False))
    return len(chunk.dictionary) - len(used)
