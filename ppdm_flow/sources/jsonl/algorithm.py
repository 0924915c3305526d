"""JSON lines: one flat object a line."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa

from ppdm_flow.sources.faults import damaged, empty, unreadable
from ppdm_flow.sources.gzipped import binary
from ppdm_flow.sources.jsonl.line import Record, record
from ppdm_flow.sources.jsonl.spec import JsonlParams

_LINES = 1 << 14


class JsonlSource:
    """One file of JSON lines. The columns are all keys of all lines, in order of first appearance."""

    def __init__(self, params: JsonlParams, path: Path) -> None:
        self.params = params
        self.path = path
        self._names: tuple[str, ...] | None = None

    def names(self) -> tuple[str, ...]:
        """Return the keys. Raises DataError, with the line, where a line is no flat JSON object."""
        if self._names is None:
            found: dict[str, None] = {}
            for row in self._records():
                found.update(dict.fromkeys(row))
            if not found:
                raise empty(self.path)
            self._names = tuple(found)
        return self._names

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows; a key that a line does not have is null."""
        records = self._records()
        while rows := list(islice(records, _LINES)):
            if columns:
                arrays = [pa.array([r.get(c) for r in rows], pa.string()).dictionary_encode() for c in columns]
                yield pa.RecordBatch.from_arrays(arrays, names=list(columns))
            else:
                yield pa.RecordBatch.from_struct_array(pa.array([{}] * len(rows), pa.struct([])))

    def _records(self) -> Iterator[Record]:
        try:
            with binary(self.path) as file:
                for number, line in enumerate(file, 1):
                    if line.strip():
                        yield record(line, number)
        except (EOFError, zlib.error):
            raise damaged(self.path) from None
        except OSError as error:
            raise (damaged(self.path) if error.errno is None else unreadable(self.path, error)) from None
