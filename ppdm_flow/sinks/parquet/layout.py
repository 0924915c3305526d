"""How the columns of a file are laid out: texts and lists under dictionaries, bits and seeds as they are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from ppdm_flow.tables.sets.arrow import KEY

_TEXTS = pa.dictionary(pa.int32(), pa.string())
_BYTES = 1 << 24
_RAW = ("bits", "seed")


@dataclass(frozen=True, slots=True)
class Layout:
    """``group`` rows a row group; ``documents`` explain sets, in the file's metadata.

    ``coded`` are the physical columns with dictionaries, ``raw`` those of noise. Noise has neither
    dictionary nor statistics and is not compressed: that would take time and save next to nothing.
    """

    schema: pa.Schema
    group: int
    coded: list[str]
    raw: tuple[str, ...]
    documents: Mapping[bytes, bytes]

    @classmethod
    def of(cls, schema: pa.Schema, group: int) -> Layout:
        """Return the layout for batches of a schema; ``group`` is the most rows of a row group."""
        fields = [pa.field(f.name, _kind(f.type)) for f in schema]
        told = {f.name: json.loads(f.metadata[KEY]) for f in schema if f.metadata and KEY in f.metadata}
        documents = {KEY: json.dumps(told, ensure_ascii=False).encode()} if told else {}
        raw = tuple(f"{f.name}.{part}" for f in fields for part in _parts(f.type) if part in _RAW)
        every = [f"{f.name}.{part}" if part else f.name for f in fields for part in _parts(f.type)]
        widths = [f.type.field(part).type.byte_width for f in fields for part in _parts(f.type) if part in _RAW]
        rows = min(group, max(1024, _BYTES // max(1, *widths))) if widths else group
        return cls(pa.schema(fields), rows, [c for c in every if c not in raw], raw, documents)

    def compression(self, chosen: str) -> str | Mapping[str, str]:
        """Return the compression of each physical column."""
        return {**dict.fromkeys(self.coded, chosen), **dict.fromkeys(self.raw, "none")} if self.raw else chosen


def _kind(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return kind
    return pa.large_list(_TEXTS) if pa.types.is_large_list(kind) else _TEXTS


def _parts(kind: pa.DataType) -> tuple[str, ...]:
    """Return the physical columns below one of a schema; the empty name is the column itself."""
    if pa.types.is_struct(kind):
        return tuple(kind.names)
    return ("list.element",) if pa.types.is_large_list(kind) else ("",)
