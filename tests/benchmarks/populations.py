"""Adult, grown to any size: as the paper did it, and in copies with a few cells redrawn."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reproductions"))

from uci import adult

SENSITIVE = "marital-status"
BATCH = 1_000_000

Grow = Callable[[pa.Table, int], Iterator[pa.Table]]


def original(data: Path) -> pa.Table:
    """45,222 complete records, every column a dictionary."""
    frame = adult(data).frame
    columns = {}
    for name in frame:
        codes, names = pd.factorize(frame[name], sort=True)
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int8)), pa.array(list(names)))
    return pa.table(columns)


def channel(table: pa.Table) -> list[str]:
    return [name for name in table.column_names[:-1] if name != SENSITIVE]


def rarer_half(table: pa.Table) -> list[str]:
    """The less frequent half of the values of the sensitive attribute."""
    counts = table[SENSITIVE].combine_chunks().value_counts()
    order = sorted((n.as_py(), v.as_py()) for v, n in zip(counts.field(0), counts.field(1), strict=True))
    return [value for _, value in order[: len(order) // 2]]


def variations(table: pa.Table, rows: int) -> Iterator[pa.Table]:
    """The paper's expansion: each variation of a record redraws y of its channel attributes uniformly, y uniform."""
    generator, base, names = np.random.default_rng(1), len(table), channel(table)
    for start in range(0, rows, BATCH):
        place = np.arange(start, min(start + BATCH, rows))
        codes = _codes(table, place % base)
        redrawn = np.where(place < base, 0, generator.integers(1, len(names) + 1, len(place)))
        order = generator.random((len(place), len(names))).argsort(axis=1).argsort(axis=1)
        for i, name in enumerate(names):
            hit = order[:, i] < redrawn
            codes[name][hit] = generator.integers(_width(table, name), size=int(hit.sum()))
        yield _decoded(table, codes)


def copies(table: pa.Table, rows: int) -> Iterator[pa.Table]:
    """Copies of all records; each cell of a copy is redrawn from its marginal with a probability of 5 %."""
    generator, base = np.random.default_rng(7), len(table)
    for start in range(0, rows, BATCH):
        place = np.arange(start, min(start + BATCH, rows))
        codes = _codes(table, place % base)
        for name in table.column_names[:-1]:
            hit = (generator.random(len(place)) < 0.05) & (place >= base)
            codes[name][hit] = _codes(table, generator.integers(base, size=int(hit.sum())))[name]
        yield _decoded(table, codes)


def write(path: Path, table: pa.Table, grow: Grow, rows: int) -> None:
    """Write a grown table: CSV or Parquet, by the ending of ``path``."""
    if path.suffix == ".parquet":
        with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
            for part in grow(table, rows):
                writer.write_table(part)
        return
    plain = pa.schema([(name, pa.string()) for name in table.column_names])
    with pc.CSVWriter(path, plain) as writer:
        for part in grow(table, rows):
            writer.write_table(part.cast(plain))


def _codes(table: pa.Table, rows: np.ndarray) -> dict[str, np.ndarray]:
    return {n: table[n].combine_chunks().indices.to_numpy()[rows] for n in table.column_names}


def _width(table: pa.Table, name: str) -> int:
    return len(table[name].combine_chunks().dictionary)


def _decoded(table: pa.Table, codes: dict[str, np.ndarray]) -> pa.Table:
    return pa.table(
        {
            name: pa.DictionaryArray.from_arrays(pa.array(codes[name]), table[name].combine_chunks().dictionary)
            for name in table.column_names
        }
    )
