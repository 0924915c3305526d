"""Reading a column of a copied table: codes of rows, texts and numbers of values, in pieces of bounded size."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ppdm_flow.core.roles import AttributeType

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PIECE = 2**20
"""Rows or values that are held at once."""
_BYTES = 2**24
"""Bytes of texts that are searched at once."""
_LONGEST = 1_200
"""Bytes of a text that are read for a page."""
_EPOCH = date(1970, 1, 1)
_START = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1)
_FARTHEST = 2**63


def prepare() -> None:
    """Import what reads columns, so that the first who reads a table does not wait for it."""
    import numpy as np  # noqa: F401, PLC0415  # a server without tables needs none
    import pyarrow.compute as pc  # noqa: F401, PLC0415  # likewise


class BoundError(ValueError):
    """A bound is no number, date or moment of the type of its ``column``, which is told by its number."""

    def __init__(self, column: int) -> None:
        super().__init__("a bound is no value of the type of its column")
        self.column = column


@dataclass(frozen=True, slots=True)
class CopiedColumn:
    """A column of the copy in ``folder``."""

    folder: Path
    about: ColumnAbout

    def codes(self, start: int, stop: int) -> npt.NDArray[np.unsignedinteger[Any]]:
        """Return the codes of the rows from ``start`` to ``stop``."""
        return self._array("codes", f"<u{self.about.width}", start, stop)

    def order(self, start: int, stop: int) -> npt.NDArray[np.uint32]:
        """Return the numbers of rows that stand from ``start`` to ``stop`` in the order of this column."""
        return self._array("order", "<u4", start, stop)

    def codes_of(self, rows: Sequence[int]) -> list[int]:
        """Return the codes of some rows."""
        size = self.about.width
        with _opened(self._path("codes")) as file:
            return [int.from_bytes(os.pread(file, size, row * size), "little") for row in rows]

    def texts(self, codes: Sequence[int]) -> dict[int, str]:
        """Return the texts of values by their codes; one that is long ends with ``…``."""
        wanted = sorted({code for code in codes if code < self.about.values})
        with _opened(self._path("ends")) as ends, _opened(self._path("texts")) as texts:
            return {code: _text(ends, texts, code) for code in wanted}

    def choices(self) -> list[tuple[str, int]]:
        """Return all values in their order, each with the number of rows that have it: for a column of few."""
        codes = range(self.about.values)
        texts, counts = self.texts(codes), self._array("counts", "<u4", 0, self.about.values)
        return [(texts[code], int(counts[code])) for code in codes]

    def between(self, least: str, most: str) -> tuple[int, int]:
        """Return the first code and the one after the last, of the numbers between two bounds; empty is no bound.

        Raises BoundError where a bound is no number, date or moment of the column's type.
        """
        import numpy as np  # noqa: PLC0415  # a server without tables needs none

        kind = "<f8" if self.about.type is AttributeType.FLOAT else "<i8"
        numbers = self._array("numbers", kind, 0, self.about.values)
        first = np.searchsorted(numbers, self._bound(least), "left") if least else 0
        last = np.searchsorted(numbers, self._bound(most, is_last=True), "right") if most else len(numbers)
        return int(first), int(last)

    def _bound(self, text: str, *, is_last: bool = False) -> float:
        try:
            number = bound(self.about.type, text, is_last=is_last)
        except (OverflowError, ValueError):
            raise BoundError(self.about.number) from None
        if number != number:  # what is no number equals nothing
            raise BoundError(self.about.number)
        return number if self.about.type is AttributeType.FLOAT else max(-_FARTHEST, min(number, _FARTHEST - 1))

    def values_with(self, text: str, *, whole: bool) -> npt.NDArray[np.bool_]:
        """Say of each code whether its text is ``text`` (``whole``), or holds it, be it in small letters or large."""
        import numpy as np  # noqa: PLC0415  # a server without tables needs none

        found = np.zeros(self.about.values + 2, dtype=bool)
        for start, texts in self._all_texts():
            found[start : start + len(texts)] = _found(texts, text, whole=whole)
        return found

    def _all_texts(self) -> Iterator[tuple[int, Any]]:
        """Yield the texts of all values in pieces, each with the code of its first; of one too long, its beginning."""
        import numpy as np  # noqa: PLC0415  # a server without tables needs none
        import pyarrow as pa  # noqa: PLC0415  # likewise

        start, values = 0, self.about.values
        with _opened(self._path("texts")) as file:
            while start < values:
                before = self._array("ends", "<i8", start - 1, start) if start else np.zeros(1, dtype="<i8")
                ends = self._array("ends", "<i8", start, min(start + PIECE // 8, values))
                fitting = int(np.searchsorted(ends, before[0] + _BYTES, "right"))
                if not fitting:
                    yield start, pa.array([os.pread(file, _BYTES, int(before[0])).decode(errors="ignore")])
                    start += 1
                    continue
                offsets = np.concatenate([before, ends[:fitting]]) - before[0]
                texts = os.pread(file, int(offsets[-1]), int(before[0]))
                buffers = [None, pa.py_buffer(offsets), pa.py_buffer(texts)]
                yield start, pa.Array.from_buffers(pa.large_string(), fitting, buffers)
                start += fitting

    def _array(self, what: str, kind: str, start: int, stop: int) -> npt.NDArray[Any]:
        import numpy as np  # noqa: PLC0415  # a server without tables needs none

        size = np.dtype(kind).itemsize
        return np.fromfile(self._path(what), kind, stop - start, offset=start * size)

    def _path(self, what: str) -> Path:
        return self.folder / f"{self.about.number}.{what}"


def bound(kind: AttributeType, text: str, *, is_last: bool = False) -> float:
    """Return a bound as the numbers of a column of this type are; a day as the last moment ends with it.

    Raises ValueError where the text is none.
    """
    text = text.strip()
    match kind:
        case AttributeType.INTEGER:
            return int(text) if text.lstrip("+-").isdecimal() else float(text)  # a bound may be 2.5
        case AttributeType.DATE:
            return (date.fromisoformat(text) - _EPOCH).days
        case AttributeType.TIMESTAMP:
            moment = datetime.fromisoformat(text)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            ends_day = is_last and len(text) == len("2000-01-01")
            return (moment - _START + (_DAY - _MICROSECOND if ends_day else timedelta())) // _MICROSECOND
        case _:
            return float(text)


def _found(texts: Any, text: str, *, whole: bool) -> Any:
    import pyarrow as pa  # noqa: PLC0415  # a server without tables needs none
    import pyarrow.compute as pc  # noqa: PLC0415  # likewise

    same = pc.equal(texts, pa.scalar(text, texts.type)) if whole else None
    found = pc.match_substring(texts, text, ignore_case=True) if same is None else same
    return found.to_numpy(zero_copy_only=False)


def _text(ends: int, texts: int, code: int) -> str:
    where = os.pread(ends, 16, code * 8 - 8) if code else bytes(8) + os.pread(ends, 8, 0)
    start, stop = int.from_bytes(where[:8], "little"), int.from_bytes(where[8:], "little")
    text = os.pread(texts, min(stop - start, _LONGEST), start).decode(errors="ignore")
    return f"{text}…" if stop - start > _LONGEST else text


class _opened:  # noqa: N801  # a context
    """A file descriptor that is closed at the end of the block."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDONLY)

    def __enter__(self) -> int:
        return self._file

    def __exit__(self, *_error: object) -> None:
        os.close(self._file)


# How the copy of a released table lies on disk: what each file of its folder holds.
#
# Of each column the copy has its different values once, in their order, and a number (code) for each row: the place of
# its value among them. So a filter is a comparison of small whole numbers, whatever the values are, and an order of
# rows is laid down when the copy is made. A request reads a bounded part of these files, and maps none into memory. On
# a table of a million rows that takes some milliseconds for any filter, order and page; DuckDB takes up to half a
# second for a page far behind in an order.
#
# ==================  ================================================================================
# `about.json`      :class:`TableAbout`
# `N.codes`         the code of each row, whole numbers of `width` bytes
# `N.order`         the numbers of all rows in the order of this column, 4 bytes each
# `N.ends`          where the text of each value ends in `N.texts`, 8 bytes each
# `N.texts`         the values as they were released, one after the other, in UTF-8
# `N.counts`        how many rows have each value, 4 bytes each
# `N.numbers`       the values of a column of numbers or moments, 8 bytes each, ascending
# ==================  ================================================================================


VERSION = 1
"""Of the layout: a copy of another version is made again."""
ABOUT = "about.json"
SUPPRESSED = "⊥"
MOST_ROWS = 2**32 - 1
"""The rows that an order can number."""


class ColumnForm(StrEnum):
    """What a column's values are, and so how it is filtered."""

    CHOICE = "choice"
    """Few texts, to choose from."""
    TEXT = "text"
    """Many texts, to search in."""
    NUMBER = "number"
    """Numbers, dates or moments, between bounds."""
    CODED = "coded"
    """Sets in a form that only programs read: there is nothing to show."""


MOST_CHOICES = 200


@dataclass(frozen=True, slots=True)
class ColumnAbout:
    """A column of the copy: ``number`` is its place in the released file.

    Codes from 0 to ``values`` - 1 are values; the next one is of suppressed cells, and the one after that of missing
    ones, of which there are so many. ``changes`` says what steps did to the column.
    """

    number: int
    name: str
    type: AttributeType
    form: ColumnForm
    changes: tuple[str, ...] = ()
    values: int = 0
    width: int = 1
    suppressed: int = 0
    missing: int = 0

    @property
    def suppressed_code(self) -> int:
        """The code of suppressed cells."""
        return self.values

    @property
    def missing_code(self) -> int:
        """The code of missing cells."""
        return self.values + 1

    def has_code(self, code: int) -> bool:
        """Whether some row may have this code: that of a value, or of cells without one where there are such."""
        cells = {self.suppressed_code: self.suppressed, self.missing_code: self.missing}
        return 0 <= code < self.values or cells.get(code, 0) > 0


@dataclass(frozen=True, slots=True)
class TableAbout:
    """A copy: how many rows, and its columns in the order of the released file."""

    rows: int
    columns: tuple[ColumnAbout, ...]

    def write(self, folder: Path) -> None:
        """Write this into the folder of the copy."""
        document = {"version": VERSION, "rows": self.rows, "columns": [asdict(each) for each in self.columns]}
        (folder / ABOUT).write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Return what the copy in a folder is; None where there is none of this version."""
        try:
            document = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if document.get("version") != VERSION:
            return None
        return cls(document["rows"], tuple(_column(each) for each in document["columns"]))


def width(values: int) -> int:
    """Return how many bytes a code takes, so that codes of suppressed and missing cells fit as well."""
    return next(size for size in (1, 2, 4) if values + 2 <= 256**size)


def _column(document: dict[str, Any]) -> ColumnAbout:
    words = {"type": AttributeType(document["type"]), "form": ColumnForm(document["form"])}
    return ColumnAbout(**{**document, **words, "changes": tuple(document["changes"])})
