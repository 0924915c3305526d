"""The variables of an analysis on both sides: numbers as numbers, categories by one numbering.

A generalized attribute is compared at the released level: each original value counts as what it became, where one map
leads from the values to the released ones. Otherwise nothing can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.attributes import Change
from ppdm_flow.mining.regression.design import Floats, Integers
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.tables.column import MISSING, SUPPRESSED, Column, union
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.numeric.column import NumericColumn

NEVER = "never released"
"""The category of original values that were suppressed wherever they occurred."""


class UncomparableError(Exception):
    """Why an analysis cannot be compared; quotes nothing of the data."""


@dataclass(frozen=True, slots=True, eq=False)
class AnalysisVariable:
    """One attribute on both sides, shape (rows of the side,).

    Numbers have NaN where they are missing. Categories are codes into ``names``, negative where they are missing or
    suppressed; ``names`` is None for numbers. ``coarser``: it is compared at another level than the original's.
    """

    before: Floats | Integers
    after: Floats | Integers
    names: pa.StringArray | None = None
    coarser: bool = False

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.names is None

    def label(self, attribute: str, code: int, ctx: AuditContext) -> str:
        """Return how a category may be shown."""
        text = self.names[code].as_py() if self.names is not None else ""
        return NEVER if text == NEVER and self.coarser else ctx.label(attribute, text, code + 1)


def complete(cells: Floats | Integers) -> npt.NDArray[np.bool_]:
    """Return a mask of the cells that are neither missing nor suppressed."""
    return ~np.isnan(cells) if cells.dtype.kind == "f" else cells >= 0


def numbers_of(column: Column) -> Floats | None:
    """Return a column as numbers, NaN for missing and suppressed cells; None where a cell is no number."""
    if isinstance(column, NumericColumn):
        return column.floats()
    used = column.compact()
    try:
        values = np.append(used.numbers(), [np.nan, np.nan])  # codes -2 and -1
    except pa.ArrowInvalid:
        return None
    return values[used.codes] if np.isfinite(values[:-2]).all() else None


def number(attribute: str, before: Column, after: Column) -> AnalysisVariable:
    """Return an attribute that has to be a number on both sides. Raises UncomparableError where it is none."""
    if not isinstance(before, NumericColumn):
        raise UncomparableError(f"`{attribute}` holds no numbers")
    released = numbers_of(after)
    if released is None:
        raise UncomparableError(f"`{attribute}` is released as labels, of which there is no mean")
    return AnalysisVariable(before.floats(), released)


def predictor(attribute: str, before: Column, after: Column, column: str, ctx: AuditContext) -> AnalysisVariable:
    """Return an attribute as a number where both sides have numbers, else as categories."""
    if isinstance(before, NumericColumn):
        released = numbers_of(after)
        if released is not None:
            return AnalysisVariable(before.floats(), released)
    return category(attribute, before, after, column, ctx)


def category(attribute: str, before: Column, after: Column, column: str, ctx: AuditContext) -> AnalysisVariable:
    """Return an attribute as categories. Raises UncomparableError where a value has several labels."""
    recoded = _recoded(attribute, before, after, column, ctx)
    names = union(([] if recoded is None else [recoded.categories]) + [after.categories, *_own(before, recoded)])
    cells = before if recoded is None else recoded
    return AnalysisVariable(_codes(cells, names), _codes(after, names), names, recoded is not None)


def _own(before: Column, recoded: Column | None) -> list[pa.StringArray]:
    return [before.categories] if recoded is None else []


def _codes(column: Column, names: pa.StringArray) -> Integers:
    return column.onto(names).codes.astype(np.int64)


def _recoded(attribute: str, before: Column, after: Column, column: str, ctx: AuditContext) -> Column | None:
    """Return the original at the released level; None where both have the same level."""
    facts = ctx.attributes.get(column)
    to_labels = isinstance(before, NumericColumn) and not isinstance(after, NumericColumn)
    changed = facts is not None and facts.was(Change.GENERALIZED, Change.PSEUDONYMIZED)
    other = facts is not None and facts.was(Change.OTHER)
    if not (to_labels or changed or other):
        return None
    if ctx.pairs is None:
        renamed = changed and not set(after.compact().categories) <= set(before.categories)
        if renamed or (to_labels and numbers_of(after) is None):
            raise UncomparableError(f"`{attribute}` is released as labels, and rows cannot be paired with the original")
        return None
    recoded = _at_level(before, ctx.pairs.joint(attribute, column))
    if recoded is None and (changed or (to_labels and not other)):
        raise UncomparableError(f"`{attribute}` is released with several labels for one value")
    if recoded is None or _same(before, recoded):
        return None
    return recoded


def _at_level(before: Column, joint: Counts) -> Column | None:
    """Return the released label of every original cell; None where some value has several."""
    original, released = joint.of("original"), joint.of("released")
    kept = (released != SUPPRESSED) & (released != MISSING) & (original >= 0) & (joint.counts > 0)
    pairs = np.unique(np.stack([original[kept], released[kept]]), axis=1)
    if (np.diff(pairs[0]) == 0).any():
        return None
    names = union([joint.names("released"), pa.array([NEVER], pa.string())])
    never = pc.index(names, NEVER).as_py()
    place = pc.index_in(before.categories, value_set=joint.names("original")).fill_null(-1).to_numpy()
    level = np.full(len(joint.names("original")) + 1, never, dtype=np.int32)  # the last is for place -1
    level[pairs[0]] = Column(pairs[1].astype(np.int32), joint.names("released")).onto(names).codes
    return before.mapped(level[place], names)


def _same(before: Column, recoded: Column) -> bool:
    """Whether the released level is that of the original: no label differs from its value."""
    used = np.flatnonzero(before.in_use())
    first = np.zeros(len(before.categories), dtype=np.int64)
    rows = np.flatnonzero(before.codes >= 0)
    first[before.codes[rows]] = rows
    labels = recoded.categories.take(pa.array(recoded.codes[first[used]]))
    return bool(labels.equals(before.categories.take(pa.array(used))))
