"""Several files of one format as one source: read one after the other, each compared with the first."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.file_sets import FileSet
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.plan.formats import implied, inferred
from ppdm_flow.sdk.storage import (
    MergingSource,
    PartSource,
    Source,
    SourcePiece,
    SplittableSource,
    StoredTypesSource,
    TypedSource,
)

_MOST = 8


def check_endings(files: FileSet) -> None:
    """Raise DataError where the endings of files ask for several formats, or for several ways to write one."""
    first, place = None, 0
    for number, part in enumerate(files.parts):
        kind = inferred("sources", part.path.name)
        file_format = (kind, implied("sources", kind, part.path.name))
        if first is None:
            first, place = file_format, number
        elif file_format != first:
            text = f"`{files.shown(place)}` and `{files.shown(number)}` have the endings of different formats"
            advice = 'name those that are meant by a glob: `source: {path: "visits/*.csv"}`'
            raise data_fault("PPF461", text, advice=advice)


class ManyFiles:
    """The files of a folder or a glob; columns of partitions come last. One file is open at a time."""

    def __init__(self, files: FileSet, kind: str, opener: Callable[[Path], Source]) -> None:
        self.files = files
        self.repeated = 0
        self._kind = kind
        self._opener = opener

    def names(self) -> tuple[str, ...]:
        """Return the column names of the first file, and of partitions. Raises DataError where a file differs."""
        types = self._types
        for number in range(1, len(self.files.parts)):
            with self._naming_file(number):
                self._part(number, types)
        return (*types, *self.files.keys)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of all files. Raises DataError, naming the file."""
        return self.typed_batches(columns, {})

    def typed_batches(self, columns: Sequence[str], types: Mapping[str, AttributeType]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of all files; numbers stay what they are where the format can do so."""
        self.repeated, first = 0, self._types
        own = [name for name in columns if name not in self.files.keys]
        wanted = {name: kind for name, kind in types.items() if name in own}
        for number, part in enumerate(self.files.parts):
            with self._naming_file(number):
                source = self._part(number, first)
                given = dict(part.partition)
                typed = source if wanted and isinstance(source, TypedSource) else None
                batches = source.batches(own) if typed is None else typed.typed_batches(own, wanted)
                for batch in batches:
                    yield _widened(batch, columns, given) if given else batch
                self.repeated += source.repeated if isinstance(source, MergingSource) else 0

    def stored_types(self) -> Mapping[str, pa.DataType]:
        """Return the types that all files have, as a release can keep them."""
        source = self._open(0)
        return source.stored_types() if isinstance(source, StoredTypesSource) else {}

    def foreign_types(self) -> Mapping[str, str]:
        """Return none: a data frame is one file."""
        return {}

    def absolute(self) -> ManyFiles:
        """Return the same files under their absolute paths, by which other processes find them."""
        parts = tuple(replace(part, path=part.path.absolute()) for part in self.files.parts)
        return ManyFiles(FileSet(self.files.root.absolute(), parts), self._kind, self._opener)

    def pieces(self, rows: int) -> list[FilePiece]:
        """Return readers of the pieces of all files; a file that cannot be split is one. Raises DataError."""
        types = self._types
        pieces: list[FilePiece] = []
        for number, part in enumerate(self.files.parts):
            with self._naming_file(number):
                source = self._part(number, types)
                alone = FileSet(self.files.root, (part,))
                inside = source.pieces(rows) if isinstance(source, SplittableSource) else [WholePiece(source)]
                pieces += [FilePiece(alone, self._kind, piece) for piece in inside]
        return pieces

    @cached_property
    def _types(self) -> Mapping[str, str]:
        """What the columns of the first file hold."""
        with self._naming_file(0):
            types = self._described(self._open(0))
        both = [key for key in self.files.keys if key in types]
        if both:
            text = f"`{self.files.shown(0)}` has a column `{both[0]}`, and so have the names of its folders"
            raise data_fault("PPF463", text, advice="take the column out of the files, or rename the folders")
        return types

    def _part(self, number: int, types: Mapping[str, str]) -> Source:
        """Return the reader of one file. Raises DataError where its columns are not those of the first."""
        source = self._open(number)
        own = self._described(source) if number else types
        if own != types:
            raise data_fault("PPF462", _difference(types, own, self.files.shown(number), self.files.shown(0)))
        return source

    def _open(self, number: int) -> Source:
        return self._opener(self.files.parts[number].path)

    def _described(self, source: Source) -> Mapping[str, str]:
        if not isinstance(source, PartSource):
            text = f"files of format `{self._kind}` are read one by one, and these are several"
            raise data_fault("PPF464", text, advice="CSV and Parquet are read from folders")
        return source.column_types()

    @contextlib.contextmanager
    def _naming_file(self, number: int) -> Iterator[None]:
        """Name the file in what is raised, without the values in the names of its folders."""
        try:
            yield
        except DataError as error:
            path, shown = str(self.files.parts[number].path), self.files.shown(number)
            raise DataError([_placed(each, path, shown) for each in error.diagnostics], error.sources) from None


@dataclass(frozen=True, slots=True)
class WholePiece:
    """A source that cannot be split, as the one piece of itself."""

    source: Source
    rows: int | None = None
    begins: bool = True

    def starting_at(self, row: int) -> Source:  # noqa: ARG002  # there is one start
        """Return the source; what it says counts from its own first row."""
        return self.source


@dataclass(frozen=True, slots=True)
class FilePiece:
    """A piece of one file of several, with the columns of its partition."""

    files: FileSet
    kind: str
    piece: SourcePiece

    @property
    def rows(self) -> int | None:
        """How many rows, where that is known."""
        return self.piece.rows

    @property
    def begins(self) -> bool:
        """Whether it has the first row of its file."""
        return self.piece.begins

    def starting_at(self, row: int) -> ManyFiles:
        """Return the reader."""
        source = self.piece.starting_at(row)
        return ManyFiles(self.files, self.kind, lambda _path: source)


def _placed(diagnostic: Diagnostic, path: str, shown: str) -> Diagnostic:
    help_ = diagnostic.help and diagnostic.help.replace(path, shown)
    message = diagnostic.message.replace(path, shown)
    return replace(diagnostic, message=message if shown in message else f"`{shown}`: {message}", help=help_)


def _widened(batch: pa.RecordBatch, columns: Sequence[str], given: Mapping[str, str | None]) -> pa.RecordBatch:
    """Return the batch with the columns of its partition, which have one value each."""
    fields, arrays = [], []
    for name in columns:
        if name not in given:
            fields.append(batch.schema.field(name))
            arrays.append(batch.column(name))
            continue
        text = given[name]
        codes = pa.array(np.zeros(batch.num_rows, np.int32), mask=np.full(batch.num_rows, text is None))
        array = pa.DictionaryArray.from_arrays(codes, pa.array([] if text is None else [text], pa.string()))
        fields.append(pa.field(name, array.type))
        arrays.append(array)
    if not arrays:
        return batch
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _difference(first: Mapping[str, str], own: Mapping[str, str], shown: str, reference: str) -> str:
    """Say how a file differs. Where little fits, the file may have no header: then its names may be values."""
    missing, extra = [n for n in first if n not in own], [n for n in own if n not in first]
    if len(missing) + len(extra) > max(len(first), len(own)):
        text = f"{len(missing)} of the {counted(len(first), 'column')} of `{reference}`"
        return f"`{shown}` has not the columns of the other files: it lacks {text}, and has {len(extra)} others"
    if missing or extra:
        parts = [f"{what} {_listed(names)}" for what, names in (("lacks", missing), ("also has", extra)) if names]
        return f"`{shown}` has not the columns of `{reference}`: it {' and '.join(parts)}"
    name = next(n for n in first if first[n] != own[n])
    kinds = [types[name].partition("<")[0].partition(" packed")[0] for types in (own, first)]
    difference = (
        f"it is {kinds[0]}, and {kinds[1]} there" if kinds[0] != kinds[1] else "its values have other types inside"
    )
    return f"column `{name}` of `{shown}` is not as in `{reference}`: {difference}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST} more" if names[_MOST:] else ""
    return ", ".join(f"`{name}`" for name in names[:_MOST]) + more
