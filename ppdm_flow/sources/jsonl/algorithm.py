"""JSON lines: one flat object a line."""

from __future__ import annotations

import codecs
import json
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from ppdm_flow.core.errors import DataError
from ppdm_flow.sources.faults import damaged, empty, fault, nul, undecodable, unreadable
from ppdm_flow.sources.gzipped import binary
from ppdm_flow.sources.jsonl.spec import JsonlParams

Record = dict[str, str | None]


class _RefusedError(ValueError):
    """Something that JSON or a flat table does not have; carries words of our own."""


def record(line: bytes, number: int) -> Record:
    """Return key and text. Raises DataError with the line's number; the text of a number is the one in the file."""
    try:
        text = line.removeprefix(codecs.BOM_UTF8).decode() if number == 1 else line.decode()
        decoded = _DECODER.decode(text.strip())
    except UnicodeDecodeError:
        raise undecodable(f"line {number}", "utf-8") from None
    except _RefusedError as error:
        raise fault("PPF718", f"line {number} {error}") from None
    except (ValueError, RecursionError):
        raise fault("PPF718", f"line {number} is not JSON") from None
    if not isinstance(decoded, dict):
        raise fault("PPF718", f"line {number} is JSON, but no object")
    return {key: _text(key, value, number) for key, value in decoded.items()}


def _text(key: str, value: Any, number: int) -> str | None:
    if value is None:
        return None
    if isinstance(value, str):
        return _plain(value, number)
    if isinstance(value, bool):
        return "true" if value else "false"
    raise fault(
        "PPF719",
        f"line {number}: the value of `{_shown(key)}` is nested, so no cell of a table",
        help="flatten the file beforehand",
    )


def _plain(text: str, number: int) -> str:
    if text.isascii() and "\0" not in text:
        return text
    if "\0" in text:
        raise nul(f"line {number}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _surrogate(number) from None
    return text


def _surrogate(number: int) -> DataError:
    return fault("PPF704", f"line {number} has half of a surrogate pair, which is no character")


def _shown(key: str) -> str:
    return key.encode(errors="replace").decode()


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise _RefusedError("has one key twice")
    return values


def _constant(_name: str) -> NoReturn:
    raise _RefusedError("has NaN or Infinity, which JSON does not know")


_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=_constant, object_pairs_hook=_pairs)


_LINES = 1 << 14
_CELLS = 1 << 23
"""Cells of a batch, with any number of columns."""
_MOST_KEYS = 10_000
_SMALL_TABLE = 10_000_000
_SPARSE = 50
"""Cells of a table for each that its lines have: of a larger table with more, nearly all would be missing."""


class JsonlSource:
    """One file of JSON lines. The columns are all keys of all lines, in order of first appearance.

    A cell costs memory and time whether or not its line has it, so that keys which differ from line to line are refused
    where they are many: else a small file could be a table of any size.
    """

    def __init__(self, params: JsonlParams, path: Path) -> None:
        self.params = params
        self.path = path
        self._names: tuple[str, ...] | None = None

    def names(self) -> tuple[str, ...]:
        """Return the keys.

        Raises DataError, with the line, where a line is no flat JSON object, and where the keys are too many.
        """
        if self._names is None:
            names: dict[str, None] = {}
            lines = entries = 0
            for row in self._records():
                names.update(dict.fromkeys(row))
                lines, entries = lines + 1, entries + len(row)
                if len(names) > _MOST_KEYS:
                    raise _wide(f"its lines have more than {_MOST_KEYS:,} different keys")
            if not names:
                raise empty(self.path)
            if lines * len(names) > max(_SMALL_TABLE, _SPARSE * entries):
                raise _wide(f"its {lines:,} lines have {len(names):,} different keys, and each line hardly any of them")
            self._names = tuple(names)
        return self._names

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows; a key that a line does not have is null."""
        records, most = self._records(), max(1, min(_LINES, _CELLS // max(1, len(columns))))
        while rows := list(islice(records, most)):
            if columns:
                yield pa.RecordBatch.from_arrays(_arrays(rows, columns), names=list(columns))
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


def _wide(what: str) -> DataError:
    text = f"{what}: as columns of one table nearly all cells would be missing"
    return fault("PPF718", text, help='write what differs from line to line as a value: `{"key": …, "value": …}`')


def _arrays(rows: Sequence[Record], columns: Sequence[str]) -> list[pa.Array]:
    """Return the columns of some lines; where these have few of them, by what they have."""
    if 2 * sum(map(len, rows)) > len(rows) * len(columns):
        return [pa.array([r.get(c) for r in rows], pa.string()).dictionary_encode() for c in columns]
    places: dict[str, list[int]] = {column: [] for column in columns}
    for number, row in enumerate(rows):
        for key in row:
            if key in places:
                places[key].append(number)
    nothing = pa.nulls(len(rows), pa.string()).dictionary_encode()
    return [_sparse(rows, column, places[column]) if places[column] else nothing for column in columns]


def _sparse(rows: Sequence[Record], column: str, at: Sequence[int]) -> pa.Array:
    values = pa.array([rows[number][column] for number in at], pa.string()).dictionary_encode()
    place = np.full(len(rows), -1, dtype=np.int32)
    place[at] = values.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return pa.DictionaryArray.from_arrays(pa.array(place, mask=place < 0), values.dictionary)
