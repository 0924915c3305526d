"""Reads columns of a typed attribute as numbers, or reports a fault that names column and row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.tables.column import MISSING, SUPPRESSED_TEXT, Column
from ppdm_flow.tables.numeric.column import (
    UNREADABLE,
    Mask,
    NumericColumn,
    ParsedNumbers,
    numbers_among,
    parsed,
    texts_of,
)
from ppdm_flow.tables.table import RowNumbers

WORDS: Mapping[AttributeType, str] = {
    AttributeType.INTEGER: "integer",
    AttributeType.FLOAT: "finite number",
    AttributeType.DATE: "date (YYYY-MM-DD)",
    AttributeType.TIMESTAMP: "timestamp (YYYY-MM-DDTHH:MM:SS)",
}
ADVICE: Mapping[AttributeType, str] = {
    AttributeType.INTEGER: "digits alone, with a sign at most, and within 64 bits{}; a text that marks a missing value"
    " belongs in `source.missing`, and all else is `type: text`",
    AttributeType.FLOAT: "a decimal point and no unit{}; a text that marks a missing value belongs in `source.missing`,"
    " and all else is `type: text`",
    AttributeType.DATE: "a date with a time of day is `type: timestamp`; dates written otherwise are read from"
    ' CSV by `source: {with: {dates: "%d.%m.%Y"}}`; elsewhere they are `type: text`, with'
    ' `hierarchy: {date: [month, year], format: "%d.%m.%Y"}`',
    AttributeType.TIMESTAMP: "a date, or a date and a time with at most 6 digits of a second; all cells have an offset"
    " from UTC (they are read as UTC), or none; what is written otherwise is `type: text`",
}


_OF_CSV = {
    (
        AttributeType.FLOAT,
        frozenset[str](),
    ): "`source: {with: {decimal: comma, thousands: point}}` reads other spellings",
    (AttributeType.FLOAT, frozenset({"decimal"})): "`thousands` beside `decimal` in `source.with` names what groups"
    " digits, such as `thousands: point`",
    (AttributeType.FLOAT, frozenset({"thousands"})): "`decimal: comma` beside `thousands` in `source.with` reads other"
    " spellings",
    (AttributeType.INTEGER, frozenset[str]()): "`source: {with: {thousands: comma}}` reads grouped digits",
    (AttributeType.INTEGER, frozenset({"decimal"})): "`thousands` beside `decimal` in `source.with` names what groups"
    " digits, such as `thousands: point`",
}
"""What reads other spellings of numbers in CSV, by the options of spelling that a policy has already."""


def _advice(kind: AttributeType, spelling: frozenset[str]) -> str:
    of_csv = _OF_CSV.get((kind, spelling), "")
    return ADVICE[kind].replace("{}", f" (for CSV, {of_csv})" if of_csv else "")


class NumberReader:
    """Reads the column of one attribute block by block. ``missing`` are texts that mean a missing value.

    ``spelling`` are the options on numbers that the file's reader was given, which advice does not repeat. What was
    ``released`` may lie outside of the declared domain, whose values are those of the source.
    """

    def __init__(
        self,
        facts: AttributeFacts,
        missing: Sequence[str] = (),
        *,
        released: bool = False,
        spelling: Iterable[str] = (),
    ) -> None:
        self.facts = facts
        self._spelling = frozenset(spelling)
        self._kind = facts.type
        self._missing_texts = pa.array(sorted(set(missing)), pa.string())
        self._missing_numbers = numbers_among(list(missing), facts.type)
        self._nan = any(text.lower() == "nan" for text in missing)
        self._domain = None if facts.domain is None or released else numbers_among(facts.domain, facts.type)
        self._zoned: bool | None = None

    @property
    def zoned(self) -> bool | None:
        """Whether timestamps have an offset from UTC; None before one was seen."""
        return self._zoned

    def read(self, array: pa.Array, start: int) -> NumericColumn:
        """Return the numbers; ``start`` is the number of the first row, from 0. Raises DataError."""
        read = parsed(self._without_missing(array), self._kind)
        if read.bad.any():
            raise self._bad(array, read.bad, start)
        self._check_zone(read, start)
        missing = read.missing
        if len(self._missing_numbers):
            missing = missing | np.isin(read.values, self._missing_numbers)
        if self._domain is not None:
            outside = ~np.isin(read.values, self._domain) & ~missing
            if outside.any():
                raise self._fault("PPF711", "a value outside its declared domain", start + int(outside.argmax()))
        return NumericColumn(read.values, self._kind, missing)

    def _without_missing(self, array: pa.Array) -> pa.Array:
        """Return the array with nulls for the texts, and for NaN, where these mean a missing value."""
        if self._nan and pa.types.is_floating(array.type):
            return pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
        if not len(self._missing_texts):
            return array
        if pa.types.is_dictionary(array.type):
            texts = self._without_missing(array.dictionary)
            return pa.DictionaryArray.from_arrays(array.indices, texts)
        if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
            return array
        hit = pc.is_in(array, value_set=self._missing_texts.cast(array.type))
        return pc.if_else(hit, pa.scalar(None, array.type), array) if pc.any(hit).as_py() else array

    def _check_zone(self, read: ParsedNumbers, start: int) -> None:
        if read.zoned is None:
            return
        if self._zoned is None:
            self._zoned = read.zoned
        if self._zoned is not read.zoned:
            what = "a timestamp with an offset from UTC where others have none, or the other way round"
            raise self._fault("PPF712", what, start + int((~read.missing).argmax()))

    def _bad(self, array: pa.Array, bad: Mask, start: int) -> DataError:
        row = int(bad.argmax())
        cell = array[row]
        if isinstance(cell, pa.TimestampScalar):
            advice = "timestamps that are finer than microseconds keep that only where the policy gives them no type"
            return self._fault("PPF712", "a timestamp finer than microseconds", start + row, advice)
        if cell.as_py() == SUPPRESSED_TEXT:
            return self._fault(
                "PPF713", f"the sign {SUPPRESSED_TEXT} as a value: it marks suppressed cells", start + row
            )
        return self._fault(
            "PPF712",
            f"a value that is not a valid {WORDS[self._kind]}",
            start + row,
            _advice(self._kind, self._spelling),
        )

    def _fault(self, code: str, what: str, row: int, advice: str | None = None) -> DataError:
        text = f"row {row + 1}: column `{self.facts.name}` has {what}"
        return data_fault(code, text, span=self.facts.span, advice=advice)


class Spellings:
    """Reads numbers among the texts of a column that another tool wrote: each has to have one spelling."""

    def __init__(self, facts: AttributeFacts) -> None:
        self._facts = facts
        self._known: pa.StringArray = pa.array([], pa.string())
        self._written: pa.StringArray = pa.array([], pa.string())

    def look(self, column: Column, rows: RowNumbers) -> Column:
        """Return the cells with numbers spelled as typed columns spell them.

        Raises DataError for a second spelling, and for digits with separators where numbers of the file have none.
        """
        self._refuse_unreadable(column, rows)
        read = parsed(column.categories, self._facts.type)
        if not len(read.values) or read.bad.all():
            return column
        texts = pc.if_else(pa.array(read.bad), column.categories, texts_of(read.values, self._facts.type))
        self._remember(column, texts, rows)
        if texts.equals(column.categories):
            return column
        coded = texts.dictionary_encode()
        return column.mapped(coded.indices.to_numpy().astype(np.int32), coded.dictionary)

    def _refuse_unreadable(self, column: Column, rows: RowNumbers) -> None:
        unreadable = pc.starts_with(column.categories, UNREADABLE).to_numpy(zero_copy_only=False).astype(bool)
        hit = np.append(unreadable, [False, False])[column.codes]
        if hit.any():
            row = int(rows[int(hit.argmax())]) + 1
            text = f"row {row}: column `{self._facts.name}` has digits with signs between them that make no number here"
            advice = "`audit --released-with decimal=… --released-with thousands=…` says how its numbers are written"
            raise data_fault("PPF712", text, span=self._facts.span, advice=advice)

    def _remember(self, column: Column, texts: pa.StringArray, rows: RowNumbers) -> None:
        """Take in how this block spells its numbers."""
        known, written = pa.concat_arrays([self._known, texts]), pa.concat_arrays([self._written, column.categories])
        places = pc.index_in(known, value_set=known)  # of the first spelling of the same number
        other = pc.not_equal(written, written.take(places)).to_numpy(zero_copy_only=False).astype(bool)
        if other.any():
            second = np.append(other[len(self._known) :], [False, False])[column.codes]
            row = int(rows[int(second.argmax())]) + 1
            text = f"row {row}: column `{self._facts.name}` has a number that other rows spell otherwise"
            advice = "rows can be told apart by it; write each number in one way"
            raise data_fault("PPF712", text, span=self._facts.span, advice=advice)
        first = pc.equal(places, pa.array(np.arange(len(known)))).to_numpy(zero_copy_only=False).astype(bool)
        self._known, self._written = known.filter(pa.array(first)), written.filter(pa.array(first))


def numeric(column: Column, kind: AttributeType) -> NumericColumn | None:
    """Return a coded column as numbers, or None where a cell is suppressed or is no number of the type."""
    if isinstance(column, NumericColumn):
        return column if column.kind is kind else None
    if (column.codes < MISSING).any():
        return None
    read = parsed(column.categories, kind)
    used = column.codes[column.codes >= 0]
    if read.bad.any() and read.bad[used].any():
        return None
    missing = column.codes == MISSING
    if not len(read.values):
        return NumericColumn(np.zeros(len(column), read.values.dtype), kind, missing)
    return NumericColumn(read.values[column.codes], kind, missing)
