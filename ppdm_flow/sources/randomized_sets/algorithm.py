"""Lines of JSON that clients sent: each a set that was randomized where it was made."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path

import pyarrow as pa

from ppdm_flow.mining.transactions.randomize.clients import PublishedOperator
from ppdm_flow.sources.faults import damaged, unreadable
from ppdm_flow.sources.gzipped import binary, is_gzip
from ppdm_flow.sources.lines import NAME
from ppdm_flow.sources.randomized_sets.spec import RandomizedSetsParams
from ppdm_flow.tables.sets.arrow import field_of, to_arrow

_LINES = 1 << 14


class RandomizedSetsSource:
    """One file of lines, read with the operator that made them."""

    def __init__(self, params: RandomizedSetsParams, path: Path) -> None:
        self.params = params
        self.path = path

    def names(self) -> tuple[str, ...]:
        """Return the one name: lines have none. Raises DataError where the file or the operator cannot be read."""
        is_gzip(self.path)
        return (NAME,) if self._operator is not None else ()

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the sets. Raises DataError with the line."""
        first = 1
        for lines in self._lines():
            sets = self._operator.read_lines(lines, first)
            first += len(lines)
            if not columns:
                yield pa.RecordBatch.from_struct_array(pa.array([{}] * len(sets), pa.struct([])))
                continue
            schema = pa.schema([field_of(name, sets) for name in columns])
            yield pa.RecordBatch.from_arrays([to_arrow(sets)] * len(columns), schema=schema)

    @cached_property
    def _operator(self) -> PublishedOperator:
        return PublishedOperator.read(Path(self.params.operator), self.params.attribute)

    def _lines(self) -> Iterator[list[bytes]]:
        try:
            with binary(self.path) as file:
                while lines := list(islice(file, _LINES)):
                    yield lines
        except (EOFError, zlib.error):
            raise damaged(self.path) from None
        except OSError as error:
            raise (damaged(self.path) if error.errno is None else unreadable(self.path, error)) from None
