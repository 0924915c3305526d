"""Partitioned releases: one file for each combination of values, in folders `column=value` that other tools know."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.file_sets import MISSING_PARTITION
from ppdm_flow.core.phrases import counted
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.local.ordering import Spool
from ppdm_flow.engine.streams.stream import Keys, Stream, StreamPart, results
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.plan.formats import usual_ending
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

MOST = 10_000
"""Partitions of a release: more files than that serve nobody."""
_LONGEST = 255
"""Bytes of the name of a folder."""

Values = tuple[str | None, ...]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Partitions:
    """The partitions of a release in the order of their folders' names; ``rows`` counts those of each."""

    release: ReleaseNode
    values: tuple[Values, ...]
    rows: tuple[int, ...]

    @classmethod
    def of(cls, release: ReleaseNode, stream: Stream) -> Partitions:
        """Count the rows of each partition. Raises DataError where they are too many, or have no folder's name."""
        counts: dict[Values, int] = {}
        for counted_rows in results(stream, partial(_rows_of, release.partition_by), release.partition_by):
            for values, rows in counted_rows:
                counts[values] = counts.get(values, 0) + rows
            if len(counts) > MOST:
                text = f"release `{release.name}` has more than {counted(MOST, 'partition')}"
                raise data_fault("PPF496", text, advice="partition by attributes with fewer values")
        folders = {values: _folders(release, values) for values in counts}
        _refuse_alike(release, folders.values())
        ordered = sorted(counts, key=folders.__getitem__)
        return cls(release, tuple(ordered), tuple(counts[values] for values in ordered))

    @cached_property
    def numbers(self) -> Mapping[Values, int]:
        """The number of each partition."""
        return {values: number for number, values in enumerate(self.values)}

    def path(self, number: int, home: Path) -> Path:
        """Return the file of a partition below the release's folder."""
        return home / _folders(self.release, self.values[number]) / f"part-0{self._ending}"

    @cached_property
    def _ending(self) -> str:
        return usual_ending("sinks", self.release.format, self.release.path)

    def of_rows(self, table: Table) -> Numbers:
        """Return the number of the partition of each row, shape (rows,)."""
        combinations, places = _combinations(table, self.release.partition_by)
        known = np.array([self.numbers[values] for values in combinations], dtype=np.int64)
        return known[places]

    def sorted_tables(self, tables: Iterator[StreamPart], spool: Spool) -> Iterator[tuple[int, Table]]:
        """Yield the rows of one partition after the other, each in the order of ``tables``, with its number."""
        taken = np.zeros(len(self.values), dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(self.rows)[:-1]]).astype(np.int64)
        step = np.uint64((1 << 64) // max(1, sum(self.rows)) - 1)
        for part in tables:
            numbers = self.of_rows(part.table)
            within = _running(numbers, taken)
            keys: Keys = (starts[numbers] + within).astype(np.uint64) * step
            spool.add(StreamPart(part.table, keys))
        for table in spool.tables():
            numbers = self.of_rows(table)
            ends = np.flatnonzero(np.diff(numbers)) + 1
            for first, last in zip([0, *ends], [*ends, len(numbers)], strict=True):
                yield int(numbers[first]), _slice(table, int(first), int(last))


def _rows_of(names: Sequence[str], part: StreamPart) -> list[tuple[Values, int]]:
    """Count the rows of each combination in a part."""
    combinations, places = _combinations(part.table, names)
    return list(zip(combinations, np.bincount(places, minlength=len(combinations)).tolist(), strict=True))


def _running(numbers: Numbers, taken: Numbers) -> Numbers:
    """Return how many rows of its partition come before each row; ``taken`` counts on."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    first = np.searchsorted(ordered, ordered)
    within = np.empty(len(numbers), dtype=np.int64)
    within[order] = np.arange(len(numbers)) - first + taken[ordered]
    taken += np.bincount(numbers, minlength=len(taken))
    return within


def _combinations(table: Table, names: Sequence[str]) -> tuple[list[Values], Numbers]:
    """Return the combinations of values that occur, and where each row's stands among them."""
    places = np.zeros(len(table), dtype=np.int64)
    columns = [table[name] for name in names]
    for column in columns:
        _, places = np.unique(places * column.width + column.dense, return_inverse=True)
    _, first, places = np.unique(places, return_index=True, return_inverse=True)
    texts = [_texts_at(column, first) for column in columns]
    return list(zip(*texts, strict=True)), places.astype(np.int64)


def _texts_at(column: Column, rows: npt.NDArray[np.intp]) -> list[str | None]:
    return Column(column.codes[rows], column.categories).texts()


def _slice(table: Table, first: int, last: int) -> Table:
    rows = slice(first, last)
    columns = {name: column.take(rows) for name, column in table.columns.items()}
    sets = {name: column.take(rows) for name, column in table.sets.items()}
    return Table(columns, table.rows[rows], sets)


def _folders(release: ReleaseNode, values: Values) -> str:
    return "/".join(_folder(release, *pair) for pair in zip(release.partition_by, values, strict=True))


def _folder(release: ReleaseNode, name: str, text: str | None) -> str:
    """Return ``name=text``, percent-encoded so that every file system and every reader takes it. Raises DataError."""
    who = f"release `{release.name}`: a value of `{name}`"
    if text is not None and (text == MISSING_PARTITION or "\0" in text):
        what = "is how folders call a missing one" if "\0" not in text else "has a character that no folder's name has"
        raise data_fault("PPF496", f"{who} {what}", advice="recode it, or partition by another attribute")
    folder = f"{_encoded(name)}={MISSING_PARTITION if text is None else _encoded(text)}"
    if len(folder) > _LONGEST:
        raise data_fault("PPF496", f"{who} is too long for the name of a folder", advice="recode or generalize it")
    return folder


def _encoded(text: str) -> str:
    encoded = quote(text, safe="")
    if encoded.startswith("."):
        encoded = f"%2E{encoded[1:]}"
    return f"{encoded[:-1]}%2E" if encoded.endswith(".") else encoded


def _refuse_alike(release: ReleaseNode, folders: Collection[str]) -> None:
    """Raise DataError where two folders are one on systems that do not tell A from a."""
    if len({folder.casefold() for folder in folders}) < len(folders):
        text = f"release `{release.name}`: two values differ in capitals only, and are one folder on some systems"
        raise data_fault("PPF496", text, advice="recode them, or partition by another attribute")
