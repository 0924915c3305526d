"""Tables that plugins of other distributions return, made plain: copied, of no other type, and well formed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.errors import PpdmError, RunError
from ppdm_flow.engine.faults import run_fault
from ppdm_flow.plan.definition import StepNode
from ppdm_flow.tables.column import SUPPRESSED, Column
from ppdm_flow.tables.frozen import arrays_of
from ppdm_flow.tables.sets import Baskets, PackedSets, SeededSets, SetColumn
from ppdm_flow.tables.table import Table

_NOTHING = Table({}, np.zeros(0, dtype=np.int64))


def broken_promise(node: StepNode, what: str) -> RunError:
    """Build the error for a promise that a plugin broke."""
    return run_fault("PPF905", f"step `{node.name}` ({node.bound.info.name}) {what}")


class ReturnedTable:
    """What the step ``node`` returns, of what it was lent: ``theirs`` shows the memory of ``ours``."""

    def __init__(self, node: StepNode, ours: Table = _NOTHING, theirs: Table = _NOTHING) -> None:
        self._node = node
        self._shown = [theirs.rows, *theirs.columns.values(), *theirs.sets.values()]
        """Held, so that nothing else gets the identity of what was lent."""
        self._rows = {id(theirs.rows): ours.rows}
        self._columns = {
            (id(shown.codes), id(shown.categories)): ours.columns[name] for name, shown in theirs.columns.items()
        }
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
        ours = self._columns.get((id(column.codes), id(column.categories)))
        if ours is not None:
            return ours
        names = _texts(column.categories)
        codes: npt.NDArray[np.int32] = _copied(column.codes, np.int32)
        if len(codes) and (codes.min() < SUPPRESSED or codes.max() >= len(names)):
            raise self._malformed("a column with codes that stand for nothing")
        return Column(codes, names)

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


def _key(sets: SetColumn) -> tuple[int, ...]:
    return (*map(id, arrays_of(sets)), id(sets.categories))


def _copied(array: Any, kind: type[np.generic]) -> npt.NDArray[Any]:
    """Copy an array of whole numbers, whatever subclass it is of. Raises TypeError for other numbers."""
    plain = np.array(array, copy=True, subok=False)
    if plain.dtype.kind not in "iu":
        raise TypeError("no whole numbers")
    return plain.astype(kind, copy=False)


def _texts(texts: pa.StringArray) -> pa.StringArray:
    """Copy texts into memory that nobody else has. Raises TypeError, ArrowInvalid where they are none."""
    if not isinstance(texts, pa.StringArray):
        raise TypeError("no texts")
    buffers = [b if b is None else pa.py_buffer(b.to_pybytes()) for b in texts.buffers()]
    copied = pa.Array.from_buffers(pa.string(), len(texts), buffers, -1, texts.offset)
    copied.validate(full=True)
    if copied.null_count:
        raise TypeError("a category that is missing")
    return copied
