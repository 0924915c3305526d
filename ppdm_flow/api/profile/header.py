"""Whether the first record of a text file names its columns: seen by its look, and in doubt it does not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum

import pyarrow.compute as pc

from ppdm_flow.mining.profiling.table import Coded
from ppdm_flow.mining.profiling.types import MARKS, NUMERIC_MARKS
from ppdm_flow.mining.profiling.words import named

_NUMBER = re.compile(r"\s*[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*")
_SHAPED = re.compile(r"\s*(\S+@\S+\.\S+|\d{4}-\d\d-\d\d.*|\d\d?[./]\d\d?[./]\d{2,4})\s*")
_MADE = re.compile(r"[A-Za-z][A-Za-z0-9]*([_.][A-Za-z0-9]+)+|[a-z]+([A-Z][a-z0-9]*)+|[A-Za-z]{1,12}\d{1,3}")
"""Names as programs write them: `birth_date`, `birthDate`, `q12`."""
_BLANK = frozenset(("", *MARKS, *NUMERIC_MARKS))
_YEAR = re.compile(r"(19|20)[0-9]{2}")


class FirstLine(Enum):
    """What the first line of a text file is."""

    NAMES = "names of columns: a sign of it was seen, or somebody says so"
    LIKELY = "names of columns, as far as the beginning of the file shows"
    ROW = "a row of data"


def header_of(records: Sequence[Sequence[str]]) -> FirstLine:
    """Say what the first record is: names where there is a sign of them, and in doubt a row.

    A sign is a word that columns are called by, or that programs write, above numbers or dates. Without one a number, a
    date, an address or a value of a record below is a value. Years above other numbers are not, nor is the only value
    that the column has, as the ticks of a survey say their own column. What is left are names where a column holds
    numbers or dates and its first cell a word, where half of the other cells are words that columns are called by, or
    are written as programs write names and the cells below are not, or where all cells are years and ticks. In doubt
    there are no names: a row that is taken for them would be shown.
    """
    if len(records) < 2:
        return FirstLine.LIKELY
    first, rest = records[0], records[1:]
    below = [[row[i].strip() for row in rest if i < len(row)] for i in range(len(first))]
    columns = list(zip([cell.strip() for cell in first], below, strict=True))
    above = [cell for cell, values in columns if _above_numbers(cell, values)]
    if any(named(cell) is not None or _MADE.fullmatch(cell) for cell in above):
        return FirstLine.NAMES
    others = [each for each in columns if not _is_year_above(*each) and not _is_tick_above(*each)]
    if any(shaped(cell) or _NUMBER.fullmatch(cell) or (cell and cell in values) for cell, values in others):
        return FirstLine.ROW
    called = sum(named(cell) is not None for cell, _ in others)
    made = sum(_is_made(cell, values) for cell, values in others)
    alike = len(columns) - len(others)
    if above or 2 * max(called, made) >= len(others) > 0 or (not others and alike > 1):
        return FirstLine.LIKELY
    return FirstLine.ROW


def shaped(cell: str) -> bool:
    """Whether a text is a date or an address."""
    return _SHAPED.fullmatch(cell) is not None


def are_values(columns: Mapping[str, Coded]) -> bool:
    """Whether the name of a column is one of its several values, a date or an address: then it was a row once."""
    return any(
        shaped(name) or (len(values) > 1 and bool(pc.any(pc.equal(values, name)).as_py()))
        for name, (_, values) in columns.items()
        if not _YEAR.fullmatch(name)
    )


def _is_year_above(cell: str, values: Sequence[str]) -> bool:
    """Whether a cell is a year, and the numbers below it are not."""
    said = [value for value in values if value not in _BLANK]
    years = sum(_YEAR.fullmatch(value) is not None for value in said)
    return _YEAR.fullmatch(cell) is not None and bool(said) and 2 * years < len(said)


def _is_tick_above(cell: str, values: Sequence[str]) -> bool:
    """Whether the column says nothing but this, and not everywhere."""
    return cell not in _BLANK and {cell, ""} == set(values)


def _above_numbers(cell: str, values: Sequence[str]) -> bool:
    said = [value for value in values if value not in _BLANK]
    numbers = bool(said) and all(_NUMBER.fullmatch(value) or shaped(value) for value in said)
    return numbers and cell not in _BLANK and cell[:1].isalpha()


def _is_made(cell: str, values: Sequence[str]) -> bool:
    return _MADE.fullmatch(cell) is not None and not any(_MADE.fullmatch(value) for value in values)
