"""Reading and writing tables: the heavy halves of sources and sinks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from ppdm_flow.core.results import Finding
from ppdm_flow.core.roles import AttributeType


class Source(Protocol):
    """A reader, made from its parameters and a path. Every cell comes as text or null; nothing is interpreted."""

    def __init__(self, params: Any, path: Path) -> None: ...

    def names(self) -> tuple[str, ...]:
        """Return the column names. Raises DataError where the file cannot be read."""
        ...

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order; columns are string or dictionary<int32, string>. Raises DataError with the row.

        Columns of sets are lists of these, or what :mod:`ppdm_flow.tables.sets.arrow` describes.
        """
        ...


@runtime_checkable
class NamedSource(Protocol):
    """A source whose files may lack names, and which refuses a row of names where the policy gives them."""

    def name_columns(self, names: Sequence[str]) -> None:
        """Take the names, in the order of the file's columns; those of a folder's partitions follow."""
        ...


@runtime_checkable
class TypedSource(Protocol):
    """A source that can leave numbers, dates and timestamps as its file has them."""

    def typed_batches(self, columns: Sequence[str], types: Mapping[str, AttributeType]) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order; columns in ``types`` as Arrow's numbers or moments, or as texts, coded or not.

        The others are as ``batches`` has them. Raises DataError with the row.
        """
        ...


@runtime_checkable
class StoredTypesSource(Protocol):
    """A typed source whose columns have types of Arrow's that a release can keep.

    Where ``typed_batches`` is given the type ``text`` for one of these columns, it leaves the column as it is.
    """

    def stored_types(self) -> Mapping[str, pa.DataType]:
        """Return the types of columns whose texts lead back to their values. Raises DataError."""
        ...

    def foreign_types(self) -> Mapping[str, str]:
        """Return the types, in words, of columns that no release can keep as they are. Raises DataError."""
        ...


@runtime_checkable
class ThreadlessSource(Protocol):
    """A source that can be read without threads of its own: the thread that asks for a block decodes it."""

    def threadless_batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield what ``batches`` does; any thread may ask for the next block, one at a time."""
        ...


class Snapshots:
    """Connections that the sources of one run share, so that all their tables are of one moment."""

    def __init__(self) -> None:
        self._open: dict[str, Any] = {}
        self._stack = ExitStack()

    def joined(self, key: str, connect: Callable[[], Any]) -> Any:
        """Return the connection of that key; the first who asks makes it, and it has a method ``close``."""
        if key not in self._open:
            self._open[key] = connect()
            self._stack.callback(self._open[key].close)
        return self._open[key]

    def close(self) -> None:
        """Close all connections; what asks after that gets new ones."""
        self._open = {}
        self._stack.close()


@runtime_checkable
class CopiedSource(Protocol):
    """A source whose data may change while it is read: a run copies it once, and reads the copy."""

    def join(self, snapshots: Snapshots) -> None:
        """Read names and rows, from here on, from the moment that these connections see."""
        ...

    def copy(self, columns: Sequence[str], look: Callable[[int], None]) -> Path:
        """Copy the rows into a private file that is gone with the source, and return its path. Raises PpdmError.

        ``look`` gets the number of rows so far; its exceptions end the copying. After that, rows are read from
        the copy, which has these columns only.
        """
        ...


@runtime_checkable
class PartSource(Protocol):
    """A source of which several files may be one table, in folders and globs: its rows need no other rows."""

    def column_types(self) -> Mapping[str, str]:
        """Return what each column holds, in words that are the same where two files fit together. Raises DataError."""
        ...


class SourcePiece(Protocol):
    """A reader of some rows of a source that follow each other; it can be pickled, and read where it was not made.

    A file may be several pieces. What a reader says counts the rows of its file.
    """

    @property
    def rows(self) -> int | None:
        """How many rows, where that is known without reading them."""
        ...

    @property
    def begins(self) -> bool:
        """Whether its first row is the first of a file."""
        ...

    def starting_at(self, row: int) -> Source:
        """Return the reader; its first row has the number ``row``, from 0, in its file."""
        ...


@runtime_checkable
class SplittableSource(Protocol):
    """A source whose rows can be read in pieces, in several places at once."""

    def pieces(self, rows: int) -> Sequence[SourcePiece]:
        """Return readers of all rows in their order, each of about so many rows. Raises DataError."""
        ...


@runtime_checkable
class MergingSource(Protocol):
    """A source of sets that can leave out an item which its set already has."""

    @property
    def repeated(self) -> int:
        """How many the last pass over ``batches`` left out."""
        ...


@dataclass(frozen=True, slots=True)
class ColumnMeaning:
    """What a file says of a column: ``description``, and ``labels``, the meaning of each text of a cell."""

    description: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class DescribedSource(Protocol):
    """A source whose file says what its columns mean."""

    def meanings(self) -> Mapping[str, ColumnMeaning]:
        """Return the file's own names of its columns, in a row or elsewhere. Raises DataError."""
        ...


@runtime_checkable
class InspectingSource(Protocol):
    """A source that can say what its file holds beside the cells: comments, metadata, hidden sheets."""

    def beside(self) -> Iterator[Finding]:
        """Yield findings without any value."""
        ...


@runtime_checkable
class DescribingSink(Protocol):
    """A sink whose files can say what their columns mean."""

    def describe(self, descriptions: Mapping[str, str]) -> None:
        """Take the descriptions of columns, before any row."""
        ...


class Sink(Protocol):
    """A writer of one file. Batches have string or dictionary columns, null for missing, ``⊥`` for suppressed.

    A sink whose ``PluginInfo.typed`` is true gets numeric attributes as int64, double, date32 or timestamp[us]; one
    whose ``PluginInfo.keeps_types`` is true gets unchanged columns without a declared type as the source has them.
    Those of a sink whose ``PluginInfo.sets`` says so may hold sets (:mod:`ppdm_flow.tables.sets.arrow`).
    """

    def __init__(self, params: Any, path: Path, names: Sequence[str]) -> None: ...

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows. The bytes of the file depend on the rows only, not on how they are batched."""
        ...

    def close(self) -> None:
        """Finish and flush to disk."""
        ...
