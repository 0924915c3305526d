from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ppdm_flow.sdk import registry

Rows = list[tuple[str | None, ...]]


class Writer:
    """Writes rows by the sink of a name, and reads them back by the source of that name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def write(self, kind: str, names: list[str], rows: Rows, sizes: list[int], end: str = "", **options: str) -> Path:
        """Write in batches of these sizes, over and over."""
        self.count += 1
        path = self.folder / f"t{self.count}.{kind}{end}"
        spec = registry.load("sinks", kind)
        sink = spec.load()(spec.params.model_validate(options), path, names)
        start = turn = 0
        while start < len(rows):
            size = sizes[turn % len(sizes)]
            sink.write(batch(names, rows[start : start + size]))
            start += size
            turn += 1
        sink.close()
        return path

    def read(self, kind: str, path: Path, **options: str) -> Rows:
        spec = registry.load("sources", kind)
        source: Any = spec.load()(spec.params.model_validate(options), path)
        names = source.names()
        found: Rows = []
        for part in source.batches(names):
            found += list(zip(*(c.to_pylist() for c in part.columns), strict=True))
        return found


def batch(names: list[str], rows: Rows) -> pa.RecordBatch:
    """Dictionary columns, with a category that no row uses."""
    arrays = []
    for i in range(len(names)):
        coded = pa.array([r[i] for r in rows], pa.string()).dictionary_encode()
        unused = pa.concat_arrays([pa.array(["zqunused"]), coded.dictionary])
        indices = pa.array([None if x is None else x + 1 for x in coded.indices.to_pylist()], pa.int32())
        arrays.append(pa.DictionaryArray.from_arrays(indices, unused))
    return pa.RecordBatch.from_arrays(arrays, names=names)


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    return Writer(tmp_path)
