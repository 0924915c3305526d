"""A Parquet file whose row groups are encoded apart, by several threads, and then joined.

Arrow's writer encodes the columns of a file one after the other. Of a file's bytes only the footer says where something
stands, so each row group is made as a file of its own, and its pages copied behind those of the one before: the same
bytes as if one writer had written all.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from typing import BinaryIO

import pyarrow as pa

from ppdm_flow.sdk.storage import Submit
from ppdm_flow.sinks.parquet.compact import ListValue, Struct, decode, encode

_MAGIC = b"PAR1"
_LENGTH = "<I"
_TAIL = struct.calcsize(_LENGTH) + len(_MAGIC)
# the numbers of fields in FileMetaData, RowGroup, ColumnChunk and ColumnMetaData of parquet.thrift
_ROWS, _GROUPS = 3, 4
_CHUNKS, _GROUP_OFFSET, _ORDINAL = 1, 5, 7
_CHUNK_OFFSET, _META = 2, 3
_INDEXES = frozenset({4, 6})
_OFFSETS = frozenset({9, 10, 11})
_BLOOM = 14
_MOST_ORDINAL = (1 << 15) - 1
_MOST_BYTES = 1 << 27
"""Bytes that jobs hold at once; one job may hold more."""


class RowGroups:
    """Writes ``file`` from small Parquet files of one schema, each made by a job, joined in the order of the jobs.

    ``submit`` carries out ``threads`` jobs at once. One more waits, and there are fewer where they hold much.
    """

    def __init__(self, file: BinaryIO, submit: Submit, threads: int) -> None:
        self._file = file
        self._submit = submit
        self._threads = threads
        self._coming: deque[tuple[Future[pa.Buffer], int]] = deque()
        self._footer: Struct = {}
        self._place = 0

    def add(self, job: Callable[[], pa.Buffer], size: int = 0) -> None:
        """Append the row groups of the file that the job makes, which holds ``size`` bytes until then.

        Raises what an earlier job raised.
        """
        while self._coming and (len(self._coming) > self._threads or self._held() + size > _MOST_BYTES):
            self._append_next()
        self._coming.append((self._submit(job), size))

    def finish(self, empty: Callable[[], pa.Buffer]) -> None:
        """Append what is still being made, and the footer; ``empty`` makes a file with no rows, for a file of none."""
        while self._coming:
            self._append_next()
        if not self._footer:
            self._append(empty())
        footer = encode(self._footer)
        self._file.write(footer + struct.pack(_LENGTH, len(footer)) + _MAGIC)

    def close(self) -> None:
        """Wait for what has begun, and drop the rest."""
        wait([job for job, _ in self._coming if not job.cancel()])  # not for those that a closed pool has cancelled

    def _held(self) -> int:
        return sum(size for _, size in self._coming)

    def _append_next(self) -> None:
        job, _ = self._coming.popleft()
        self._append(job.result())

    def _append(self, made: pa.Buffer) -> None:
        data = memoryview(made)
        (size,) = struct.unpack(_LENGTH, data[-_TAIL : -len(_MAGIC)])
        footer = decode(bytes(data[-_TAIL - size : -_TAIL]))
        pages = data[: -_TAIL - size]
        if not self._footer:
            self._footer = footer
            self._file.write(pages)
            self._place = len(pages)
            return
        pages = pages[len(_MAGIC) :]
        _join(self._footer, footer, self._place - len(_MAGIC))
        self._file.write(pages)
        self._place += len(pages)


def _join(footer: Struct, later: Struct, shift: int) -> None:
    """Append the row groups of a later file to a footer; its pages will stand so many bytes further on."""
    if {n: f for n, f in footer.items() if n not in (_ROWS, _GROUPS)} != {
        n: f for n, f in later.items() if n not in (_ROWS, _GROUPS)
    }:
        raise ValueError("row groups of one Parquet file must have one schema and the same metadata")
    groups: ListValue = footer[_GROUPS][1]
    for group in later[_GROUPS][1].values:
        groups.values.append(_moved(group, shift, len(groups.values)))
    footer[_ROWS] = footer[_ROWS][0], footer[_ROWS][1] + later[_ROWS][1]


def _moved(group: Struct, shift: int, ordinal: int) -> Struct:
    for chunk in group[_CHUNKS][1].values:
        if not _INDEXES.isdisjoint(chunk) or _BLOOM in chunk[_META][1]:
            raise ValueError("row groups with page indexes or bloom filters are not joined")
        _move(chunk, (_CHUNK_OFFSET,), shift)
        _move(chunk[_META][1], _OFFSETS, shift)
    _move(group, (_GROUP_OFFSET,), shift)
    if _ORDINAL in group:
        if ordinal > _MOST_ORDINAL:
            raise ValueError(f"a Parquet file has at most {_MOST_ORDINAL + 1} row groups")
        group[_ORDINAL] = group[_ORDINAL][0], ordinal
    return group


def _move(fields: Struct, numbers: Iterable[int], shift: int) -> None:
    """Move the places that are said; a place of 0 is none."""
    for number in numbers:
        if number in fields and fields[number][1]:
            fields[number] = fields[number][0], fields[number][1] + shift
