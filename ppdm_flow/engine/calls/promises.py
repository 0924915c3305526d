"""Tables from plugins of other distributions: copied to plain arrays, and checked against the step's effect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import PpdmError, RunError
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.engine.faults import run_fault
from ppdm_flow.engine.streams.numbers import numeric
from ppdm_flow.engine.streams.stream import positions
from ppdm_flow.plan.definition import StepNode
from ppdm_flow.tables.column import SUPPRESSED, Column
from ppdm_flow.tables.frozen import arrays_of
from ppdm_flow.tables.numeric.column import NumericColumn, dtype_of, missing_mask, outside
from ppdm_flow.tables.sets import Baskets, PackedSets, SeededSets, SetColumn
from ppdm_flow.tables.table import RowNumbers, Table

_NOTHING = Table({}, np.zeros(0, dtype=np.int64))


def broken_promise(node: StepNode, what: str) -> RunError:
    """Build the error for a promise that a plugin broke."""
    return run_fault("PPF905", f"step `{node.name}` ({node.bound.info.name}) {what}")


class ReturnedTable:
    """The table that the step ``node`` returns; ``theirs`` is the lent view of the memory of ``ours``."""

    def __init__(self, node: StepNode, ours: Table = _NOTHING, theirs: Table = _NOTHING) -> None:
        self._node = node
        self._shown = [theirs.rows, *theirs.columns.values(), *theirs.sets.values()]
        """Held, so that nothing else gets the identity of what was lent."""
        self._rows = {id(theirs.rows): ours.rows}
        self._columns = {_identity(shown): ours.columns[name] for name, shown in theirs.columns.items()}
        self._sets = {_key(shown): ours.sets[name] for name, shown in theirs.sets.items()}

    def plain(self, table: Table) -> Table:
        """Return the table in memory of our own. Raises RunError where it is none, or malformed."""
        try:
            columns = {str(name): self._column(each) for name, each in dict(table.columns).items()}
            sets = {str(name): self._set(each) for name, each in dict(table.sets).items()}
            return Table(columns, self._numbers(table.rows), sets)
        except PpdmError:
            raise
        except (AttributeError, TypeError, ValueError, pa.ArrowException):
            raise self._malformed("something that is not a table") from None

    def _numbers(self, rows: Any) -> npt.NDArray[np.int64]:
        ours = self._rows.get(id(rows))
        return _copied(rows, np.int64) if ours is None else ours

    def _column(self, column: Column) -> Column:
        ours = self._columns.get(_identity(column))
        if ours is not None:
            return ours
        if isinstance(column, NumericColumn):
            return self._numbers_of(column)
        names = _texts(column.categories)
        codes: npt.NDArray[np.int32] = _copied(column.codes, np.int32)
        if len(codes) and (codes.min() < SUPPRESSED or codes.max() >= len(names)):
            raise self._malformed("a column with codes that have no category")
        return Column(codes, names)

    def _numbers_of(self, column: NumericColumn) -> NumericColumn:
        kind = AttributeType(column.kind)
        if not kind.is_numeric:
            raise self._malformed("numbers of no type")
        values = np.array(column.values, dtype=dtype_of(kind), copy=True, subok=False)
        missing = None if column.missing is None else np.array(column.missing, dtype=bool, copy=True, subok=False)
        numbers = NumericColumn(values, kind, missing)
        if values.ndim != 1 or (missing is not None and missing.shape != values.shape) or outside(values, kind).any():
            raise self._malformed("a column of numbers with one that its type does not have, such as NaN")
        return numbers

    def _set(self, sets: SetColumn) -> SetColumn:
        ours = self._sets.get(_key(sets))
        if ours is not None:
            return ours
        names = _texts(sets.categories)
        if isinstance(sets, Baskets):
            return Baskets(_copied(sets.offsets, np.int64), _copied(sets.items, np.int32), names)
        sizes: npt.NDArray[np.int32] = _copied(sets.sizes, np.int32)
        if isinstance(sets, PackedSets):
            return PackedSets(_copied(sets.words, np.uint64), sizes, names)
        return SeededSets(_copied(sets.seeds, np.uint16), sizes, names, sets.expansion)

    def _malformed(self, what: str) -> RunError:
        return broken_promise(self._node, f"returned {what}")


def _identity(column: Column) -> tuple[int, ...]:
    if isinstance(column, NumericColumn):
        return id(column.values), id(column.missing)
    return id(column.codes), id(column.categories)


def _key(sets: SetColumn) -> tuple[int, ...]:
    return (*map(id, arrays_of(sets)), id(sets.categories))


def _copied(array: Any, kind: type[np.generic]) -> npt.NDArray[Any]:
    """Copy an array of integers as a plain array, without its subclass. Raises TypeError for other numbers."""
    plain = np.array(array, copy=True, subok=False)
    if plain.dtype.kind not in "iu":
        raise TypeError(f"an array of whole numbers was expected, not of {plain.dtype}")
    return plain.astype(kind, copy=False)


def _texts(texts: pa.StringArray) -> pa.StringArray:
    """Copy texts into memory that nobody else has. Raises TypeError, ArrowInvalid where they are none."""
    if not isinstance(texts, pa.StringArray):
        raise TypeError(f"an array of texts was expected, not {type(texts).__name__}")
    buffers = [b if b is None else pa.py_buffer(b.to_pybytes()) for b in texts.buffers()]
    copied = pa.Array.from_buffers(pa.string(), len(texts), buffers, -1, texts.offset)
    copied.validate(full=True)
    if copied.null_count:
        raise TypeError("categories must be texts, and one is missing")
    return copied


def check_partition(node: StepNode, before: Table, after: Table, attributes: Sequence[AttributeFacts]) -> None:
    """Hold one partition of a row-wise step against its effect. Raises RunError."""
    check_names(node, after, attributes)
    kept = before
    if after.rows is not before.rows and not np.array_equal(before.rows, after.rows):
        if node.effect.rows == "same":
            raise broken_promise(node, "returned other rows than it was given, and its plan says that it keeps them")
        places = positions(before.rows, after.rows)
        if (places < 0).any() or (np.diff(places) <= 0).any():
            raise broken_promise(node, "returned rows that it was not given, or in another order")
        kept = before.take(places)
    _check_columns(node, kept, after)


def check_table(node: StepNode, before: Table, after: Table, attributes: Sequence[AttributeFacts]) -> None:
    """Hold an output of a step that has the whole table against its effect. Raises RunError.

    Draws are addressed by row numbers: two rows of one number would share them.
    """
    check_names(node, after, attributes)
    if len(after) and (after.rows.min() < 0 or len(np.unique(after.rows)) < len(after)):
        raise broken_promise(node, "returned two rows with one number, or one below 0")
    if node.effect.rows == "generated":
        return
    places = positions(before.rows, after.rows)
    if (places < 0).any():
        raise broken_promise(node, "returned rows that it was not given")
    if node.effect.rows != "fewer" and len(after) != len(before):
        raise broken_promise(node, "returned fewer rows than it was given, and its plan says that it keeps them")
    _check_columns(node, before.take(places), after)


def check_generated(node: StepNode, rows: RowNumbers, after: Table, attributes: Sequence[AttributeFacts]) -> None:
    """Hold generated rows against the numbers that were asked for. Raises RunError."""
    check_names(node, after, attributes)
    if not np.array_equal(rows, after.rows):
        raise broken_promise(node, "generated rows of other numbers than it was asked for")


def conformed(node: StepNode, table: Table, attributes: Sequence[AttributeFacts]) -> Table:
    """Return the table with numbers as numeric columns just where the plan has them. Raises RunError for labels there.

    A step may return numbers as coded texts. Readers of the table get numbers in either case.
    """
    changed: dict[str, Column] = {}
    for facts in attributes:
        column = table.columns.get(facts.name)
        if column is None or facts.is_numeric == isinstance(column, NumericColumn):
            continue
        if isinstance(column, NumericColumn):
            changed[facts.name] = column.coded()
            continue
        numbers = numeric(column, facts.type)
        if numbers is None:
            text = f"returned labels or suppressed cells in `{facts.name}`, which its plan says holds numbers"
            raise broken_promise(node, text)
        changed[facts.name] = numbers
    return table.replaced(changed) if changed else table


def check_names(node: StepNode, table: Table, attributes: Sequence[AttributeFacts]) -> None:
    """Raise RunError where a column is missing that the plan promises."""
    missing = [a.name for a in attributes if a.name not in table.columns and a.name not in table.sets]
    if missing:
        raise broken_promise(node, f"returned no column `{missing[0]}`, which its plan promises")
    for attribute in attributes:
        if (attribute.role is Role.ITEMS) != (attribute.name in table.sets):
            raise broken_promise(
                node, f"returned `{attribute.name}` as a column of another kind: sets are sets, cells cells"
            )


def _check_columns(node: StepNode, before: Table, after: Table) -> None:
    effect = node.effect
    for name, column in before.columns.items():
        if name in effect.drops or name in effect.changes:
            continue
        new = effect.renames.get(name, name)
        if new in after.columns and not _same(column, after[new]):
            raise broken_promise(node, f"changed the column `{name}`, and its plan does not say so")
    for name, sets in before.sets.items():
        new = effect.renames.get(name, name)
        left = name not in effect.drops and name not in effect.changes
        if left and new in after.sets and not _same_sets(sets, after.sets[new]):
            raise broken_promise(node, f"changed the sets of `{name}`, and its plan does not say so")
    for name, sets in after.sets.items():
        if before.sets.get(name) is not sets and not sets.valid():
            raise broken_promise(node, f"returned malformed sets in `{name}`")


def _same(before: Column, after: Column) -> bool:
    if before is after:
        return True
    if isinstance(before, NumericColumn) and isinstance(after, NumericColumn):
        same = np.array_equal(before.values, after.values)
        return same and before.kind is after.kind and np.array_equal(missing_mask(before), missing_mask(after))
    try:
        return np.array_equal(before.codes, after.onto(before.categories).codes)
    except KeyError:
        return False


def _same_sets(before: SetColumn, after: SetColumn) -> bool:
    if before is after:
        return True
    try:
        pairs = zip(arrays_of(before), arrays_of(after.onto(before.categories)), strict=True)
        return type(before) is type(after) and all(np.array_equal(b, a) for b, a in pairs)
    except (KeyError, ValueError):
        return False
