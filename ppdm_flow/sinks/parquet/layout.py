"""How columns lie in a Parquet file: their types, dictionaries and compression."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from ppdm_flow.tables.arrow_texts import has_way_back
from ppdm_flow.tables.sets.arrow import KEY

TEXTS = pa.dictionary(pa.int32(), pa.string())
"""How texts are held in the columns of a row group."""
_BYTES = 1 << 24
_RAW = ("bits", "seed")


@dataclass(frozen=True, slots=True)
class RowGroupLayout:
    """``group`` rows a row group; ``documents`` explain sets, in the file's metadata.

    ``coded`` are the physical columns with dictionaries (not floats and timestamps, of which hardly one occurs twice),
    ``raw`` those of noise. Noise has neither dictionary nor statistics and is not compressed: that would take time and
    save next to nothing.
    """

    schema: pa.Schema
    group: int
    coded: list[str]
    raw: tuple[str, ...]
    documents: Mapping[bytes, bytes]

    @classmethod
    def of(cls, schema: pa.Schema, group: int) -> RowGroupLayout:
        """Return the layout for batches of a schema; ``group`` is the most rows of a row group."""
        fields = [pa.field(f.name, _kind(f.type)) for f in schema]
        sets = {f.name: json.loads(f.metadata[KEY]) for f in schema if f.metadata and KEY in f.metadata}
        documents = {KEY: json.dumps(sets, ensure_ascii=False).encode()} if sets else {}
        raw = tuple(f"{f.name}.{part}" for f in fields for part in _parts(f.type) if part in _RAW)
        every = [f"{f.name}.{part}" if part else f.name for f in fields for part in _parts(f.type)]
        widths = [f.type.field(part).type.byte_width for f in fields for part in _parts(f.type) if part in _RAW]
        rows = min(group, max(1024, _BYTES // max(1, *widths))) if widths else group
        coded = [c for c in every if c not in raw and c not in _spread(fields)]
        return cls(pa.schema(fields), rows, coded, raw, documents)

    def writer(self, out: pa.NativeFile, compression: str) -> pq.ParquetWriter:
        """Return Arrow's writer of such a file; whoever asks closes it."""
        writer = pq.ParquetWriter(
            out,
            self.schema,
            compression=self._compression(compression),
            use_dictionary=self.coded,
            write_statistics=False,  # rows are shuffled: no row group could be skipped by its extremes
            store_schema=any(_is_only_of_arrow(kind) for kind in self.schema.types),
            version="2.6",
        )
        if self.documents:
            writer.add_key_value_metadata(dict(self.documents))
        return writer

    def _compression(self, chosen: str) -> str | Mapping[str, str]:
        if not self.raw:
            return chosen
        plain = [name for name in self.schema.names if is_typed(self.schema.field(name).type)]
        return {**dict.fromkeys((*self.coded, *plain), chosen), **dict.fromkeys(self.raw, "none")}


def _kind(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind) or is_typed(kind):
        return kind
    return pa.large_list(TEXTS) if pa.types.is_large_list(kind) else TEXTS


def _spread(fields: Sequence[pa.Field]) -> frozenset[str]:
    return frozenset(f.name for f in fields if pa.types.is_floating(f.type) or pa.types.is_timestamp(f.type))


def is_typed(kind: pa.DataType) -> bool:
    """Say whether cells are numbers, dates or times, not texts or sets."""
    return has_way_back(kind)


def _is_only_of_arrow(kind: pa.DataType) -> bool:
    """Say whether Parquet has no such type, so that the schema of Arrow has to tell it."""
    return bool(pa.types.is_duration(kind) or (pa.types.is_timestamp(kind) and kind.tz not in (None, "UTC")))


def _parts(kind: pa.DataType) -> tuple[str, ...]:
    """Return the physical columns below one of a schema; the empty name is the column itself."""
    if pa.types.is_struct(kind):
        return tuple(kind.names)
    return ("list.element",) if pa.types.is_large_list(kind) else ("",)
