"""Whether the first record of a file names its columns: seen by its look, and in doubt it does not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.mining.profiling.table import Coded
from ppdm_flow.mining.profiling.types import MARKS, NUMERIC_MARKS
from ppdm_flow.mining.profiling.words import named

_NUMBER = re.compile(r"\s*[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*")
_SHAPED = re.compile(r"\s*(\S+@\S+\.\S+|\d{4}-\d\d-\d\d.*|\d\d?[./]\d\d?[./]\d{2,4})\s*")
_MADE = re.compile(r"[A-Za-z][A-Za-z0-9]*([_.][A-Za-z0-9]+)+|[a-z]+([A-Z][a-z0-9]*)+|[A-Za-z]{1,12}\d{1,3}")
"""Names as programs write them: `birth_date`, `birthDate`, `q12`."""
_BLANK = frozenset(("", *MARKS, *NUMERIC_MARKS))
_SAMPLE = 50


def names_columns(records: Sequence[Sequence[str]]) -> bool:
    """Whether the first record names columns: nothing in it looks like a value, and something like a name.

    A number, a date, an address or a value of a record below is a value. Something speaks for names where a column
    holds numbers or dates and its first cell a word, or where half of the cells are words that columns are called by,
    or are written as programs write names and the cells below are not. In doubt there are no names: a row that is
    taken for them would be shown.
    """
    if len(records) < 2:
        return True
    first, rest = records[0], records[1:]
    below = [[row[i].strip() for row in rest if i < len(row)] for i in range(len(first))]
    cells = [cell.strip() for cell in first]
    if any(shaped(cell) or _NUMBER.fullmatch(cell) for cell in cells):
        return False
    if any(cell and cell in values for cell, values in zip(cells, below, strict=True)):
        return False
    if any(_above_numbers(cell, values) for cell, values in zip(cells, below, strict=True)):
        return True
    called = sum(named(cell) is not None for cell in cells)
    made = sum(_is_made(cell, values) for cell, values in zip(cells, below, strict=True))
    return 2 * max(called, made) >= len(cells) > 0


def shaped(cell: str) -> bool:
    """Whether a text is a date or an address."""
    return _SHAPED.fullmatch(cell) is not None


def are_values(columns: Mapping[str, Coded]) -> bool:
    """Whether the name of a column is one of its values, a date or an address: then it was a row once."""
    return any(shaped(name) or bool(pc.any(pc.equal(values, name)).as_py()) for name, (_, values) in columns.items())


def records_of(coded_columns: Mapping[str, Coded]) -> list[list[str]]:
    """Return the names of columns and the first rows below them, as the records of a file."""
    columns = [_first(codes[:_SAMPLE].tolist(), values) for codes, values in coded_columns.values()]
    return [list(coded_columns), *map(list, zip(*columns, strict=True))]


def _first(codes: Sequence[int], values: pa.StringArray) -> list[str]:
    return ["" if code < 0 else str(values[code].as_py()) for code in codes]


def _above_numbers(cell: str, values: Sequence[str]) -> bool:
    said = [value for value in values if value not in _BLANK]
    numbers = bool(said) and all(_NUMBER.fullmatch(value) or shaped(value) for value in said)
    return numbers and cell not in _BLANK and cell[:1].isalpha()


def _is_made(cell: str, values: Sequence[str]) -> bool:
    return _MADE.fullmatch(cell) is not None and not any(_MADE.fullmatch(value) for value in values)
