"""Checks the data against the policy's declarations, on distinct values; a fault names column and row, no value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.streams.coding import has_suppressed_text
from ppdm_flow.tables.column import SUPPRESSED_TEXT, Column
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.numeric.column import NumericColumn, parsed
from ppdm_flow.tables.sets import Baskets, SetColumn
from ppdm_flow.tables.spelling import respelled
from ppdm_flow.tables.table import RowNumbers, Table

_WEIGHT = r"^[0-9]{1,18}$"
_ZERO = r"^0+$"
_PEOPLE = 1e12
_OF_A_SURVEY = (
    "how many people of the population a respondent of a survey represents, with decimals too, is"
    " `role: sampling_weight`"
)
_HALF = 30
_MOST = 1 << 62

Bad = npt.NDArray[np.bool_]


def check_values(table: Table, attributes: Mapping[str, AttributeFacts]) -> None:
    """Hold one partition against the declared domains and types. Raises DataError."""
    for name, facts in attributes.items():
        if (facts.role is Role.ITEMS) != (name in table.sets):
            raise wrong_kind(facts)
        if name in table.sets:
            check_sets(facts, table.sets[name], table.rows)
        elif name in table.columns and not facts.is_numeric:  # numbers are checked where they are read
            _check_column(facts, table[name], table.rows)


def _check_column(facts: AttributeFacts, column: Column, rows: RowNumbers) -> None:
    names = column.categories
    if has_suppressed_text(column):
        text = f"column `{facts.name}` has the sign {SUPPRESSED_TEXT} as a value: it marks suppressed cells"
        raise _at(text, "PPF713", facts, column, _bools(pc.equal(names, SUPPRESSED_TEXT)), rows)
    if facts.domain is not None:
        outside = ~_bools(pc.is_in(names, value_set=pa.array(facts.domain, pa.string())))
        if outside.any():
            text = f"column `{facts.name}` has a value outside its declared domain"
            raise _at(text, "PPF711", facts, column, outside, rows)


def _at(text: str, code: str, facts: AttributeFacts, column: Column, bad: Bad, rows: RowNumbers) -> DataError:
    hit = np.flatnonzero(np.append(bad, [False, False])[column.codes])
    row = int(rows[hit[0]]) + 1 if len(hit) else 1
    return data_fault(code, f"row {row}: {text}", span=facts.span)


def _bools(array: pa.Array) -> Bad:
    mask: Bad = array.to_numpy(zero_copy_only=False).astype(bool)
    return mask


@dataclass(slots=True)
class WeightCheck:
    """Checks that weights are whole numbers of people, and not too many to add up.

    ``zeros`` says whether a row may count nobody.
    """

    facts: AttributeFacts
    zeros: bool = True
    total: int = 0

    def look(self, table: Table) -> None:
        """Take in a partition. Raises DataError, with the row."""
        column = table[self.facts.name]
        bad = np.append(~_bools(pc.match_substring_regex(column.categories, _WEIGHT)), [True, True])[column.codes]
        if bad.any():
            text = "is not a whole number of at most 18 digits"
            raise self._fault(text, table.rows[bad.argmax()], _OF_A_SURVEY)
        weights = weights_of(column)
        if not self.zeros and not weights.all():
            raise self._fault("is 0: it counts nobody, and no figure includes it", table.rows[weights.argmin()])
        self.total += (int((weights >> _HALF).sum()) << _HALF) + int((weights & ((1 << _HALF) - 1)).sum())
        if self.total > _MOST:
            raise self._fault("takes the sum beyond 2^62", table.rows[-1])

    def add(self, later: WeightCheck) -> None:
        """Take in the weights of the rows that follow. Raises DataError where they are too many to add up."""
        self.total += later.total
        if self.total > _MOST:
            text = f"column `{self.facts.name}` holds the weights of rows, and their sum is beyond 2^62"
            raise data_fault("PPF715", text, span=self.facts.span)

    def _fault(self, text: str, row: np.int64, advice: str | None = None) -> DataError:
        text = f"row {int(row) + 1}: column `{self.facts.name}` holds the weights of rows, and this one {text}"
        return data_fault("PPF715", text, span=self.facts.span, advice=advice)


def check_sampling_weights(facts: AttributeFacts, table: Table) -> None:
    """Hold one partition's sampling weights against what they are: numbers of people above 0. Raises DataError."""
    column = table[facts.name]
    bad = np.append(_no_people(column.categories), [True, True])[column.codes]
    if bad.any():
        what = "is missing" if column.codes[bad.argmax()] < 0 else "is not a number above 0 and of at most 10^12"
        row = int(table.rows[bad.argmax()]) + 1
        text = f"row {row}: column `{facts.name}` holds the sampling weights of respondents, and this one {what}"
        raise data_fault("PPF715", text, span=facts.span)


def check_subjects(facts: AttributeFacts, table: Table) -> None:
    """Hold one partition's subjects against what they are: every row is somebody's. Raises DataError."""
    column = table[facts.name]
    missing = column.missing if isinstance(column, NumericColumn) else column.codes < 0
    if missing is not None and missing.any():
        row = int(table.rows[missing.argmax()]) + 1
        text = f"row {row}: column `{facts.name}` says whose row it is, and this row belongs to nobody"
        advice = "find out whose row it is, or leave such rows out before"
        raise data_fault("PPF729", text, span=facts.span, advice=advice)


def _no_people(names: pa.StringArray) -> Bad:
    read = parsed(names, AttributeType.FLOAT)
    bad: Bad = read.bad | (read.values <= 0.0) | (read.values > _PEOPLE)
    return bad


def zero_weight_mask(column: Column) -> Bad:
    """Return a mask of the rows with weight 0, which represent no person."""
    zero: Bad = np.append(_bools(pc.match_substring_regex(column.categories, _ZERO)), [False, False])[column.codes]
    return zero


def check_sets(facts: AttributeFacts, column: SetColumn, rows: RowNumbers) -> None:
    """Hold one partition against the declared alphabet. Raises DataError."""
    names = column.categories
    sign = pc.equal(names, SUPPRESSED_TEXT)
    if pc.any(sign).as_py():
        text = f"`{facts.name}` has the sign {SUPPRESSED_TEXT} as an item: it marks suppressed cells"
        raise _set_fault("PPF713", text, facts, column, rows, _bools(sign))
    if facts.domain is None:
        return
    declared = pa.array(facts.domain, pa.string())
    outside = ~_bools(pc.is_in(names, value_set=declared))
    if outside.any():
        alike = pc.is_in(respelled(names.filter(pa.array(outside))), value_set=respelled(declared))
        text = f"`{facts.name}` has an item outside its declared domain"
        text += ", which looks like one of it" * bool(pc.any(alike).as_py())
        raise _set_fault("PPF711", text, facts, column, rows, outside)


def wrong_kind(facts: AttributeFacts) -> DataError:
    """Say that cells came where sets were declared, or sets where cells were."""
    if facts.role is Role.ITEMS:
        text = f"the attribute `{facts.name}` is the set of items, and the file has single values there"
        advice = "sets come from `format: transactions`, `baskets` or `long`, or from a list column in Parquet"
        return data_fault("PPF754", text, span=facts.span, advice=advice)
    text = f"the column `{facts.name}` holds lists, and is declared as {facts.role}"
    return data_fault("PPF754", text, span=facts.span, advice="give it `role: items`, or drop it beforehand")


def _set_fault(code: str, text: str, facts: AttributeFacts, column: SetColumn, rows: RowNumbers, bad: Bad) -> DataError:
    where = ""
    if isinstance(column, Baskets) and len(hit := np.flatnonzero(bad[column.items])):
        where = f"row {int(rows[np.searchsorted(column.offsets, hit[0], 'right') - 1]) + 1}: "
    return data_fault(code, where + text, span=facts.span)
