"""Columns of original and release, made comparable: as numbers, or as values of one list at the released level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.tables.column import SPECIALS, SUPPRESSED, Column, union
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.numeric.parsing import floats_of_texts
from ppdm_flow.tables.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """A released column ``name`` beside its source: both numbers, or both coded over the same categories."""

    name: str
    before: Column
    after: Column

    @property
    def numeric(self) -> bool:
        """Whether both sides hold numbers."""
        return isinstance(self.before, NumericColumn) and isinstance(self.after, NumericColumn)


def compared(
    before: Table, after: Table, pairs: tuple[tuple[str, str], ...], ctx: AuditContext
) -> tuple[tuple[CodedColumn, ...], tuple[str, ...]]:
    """Return the columns that can be compared, and the names of those that cannot.

    ``pairs`` are (released, source) names. A recoded column is compared at the released level, where each original
    value became one label; so are the bounds of intervals, which are numbers and stand for more than themselves. One
    whose values became several labels each cannot be compared, nor one whose recoding is not known, because rows cannot
    be paired.
    """
    columns, others = [], []
    for name, source in pairs:
        mine, theirs = before[source], released_numbers(before[source], after[name], name, ctx)
        recoded = _recoded(name, ctx)
        if recoded or not (isinstance(mine, NumericColumn) and isinstance(theirs, NumericColumn)):
            level: Column | None = mine
            if recoded:
                level = None if ctx.pairs is None else at_released_level(mine, ctx.pairs.joint(source, name))
            elif isinstance(mine, NumericColumn):
                level = None
            if level is None:
                others.append(name)
                continue
            mine, theirs = level.compact(), Column(theirs.codes, theirs.categories).compact()
            names = union((mine.categories, theirs.categories))
            mine, theirs = mine.onto(names), theirs.onto(names)
        columns.append(CodedColumn(name, mine, theirs))
    return tuple(columns), tuple(others)


def released_numbers(original: Column, released: Column, name: str, ctx: AuditContext) -> Column:
    """Return the released cells of a column of numbers as numbers, where all of its labels are; else as they are.

    A step that changes some cells of a column may leave labels: numbers as texts, and suppressed cells, which count as
    missing ones. Labels of generalized columns and pseudonyms stand for something else, also where they are numbers.
    """
    if not isinstance(original, NumericColumn) or isinstance(released, NumericColumn):
        return released
    used = released.compact()
    if _recoded(name, ctx) or not len(used.categories):
        return released
    numbers = floats_of_texts(used.categories, original.kind)
    if numbers is None:
        return released
    known = used.codes >= 0
    values = np.zeros(len(used))
    values[known] = numbers[used.codes[known]]
    return NumericColumn(values, AttributeType.FLOAT, ~known)


def _recoded(column: str, ctx: AuditContext) -> bool:
    facts = ctx.attributes.get(column)
    return facts is not None and facts.was(Change.GENERALIZED, Change.PSEUDONYMIZED)


def at_released_level(column: Column, joint: Counts) -> Column | None:
    """Return each original cell as the label that its value became; None where some value became several.

    ``joint`` counts (original, released) cells. A value that was suppressed wherever it occurred, or that no released
    row has, keeps its own name.
    """
    original, released = joint.of("original"), joint.of("released")
    kept = released != SUPPRESSED
    pairs = np.unique(np.stack([original[kept], released[kept]]), axis=1)
    if (np.diff(pairs[0]) == 0).any():
        return None
    mine = Column(column.codes, column.categories)
    names = union((mine.categories, joint.names("original"), joint.names("released")))
    values = Column(pairs[0].astype(np.int32), joint.names("original")).onto(names).codes
    labels = Column(pairs[1].astype(np.int32), joint.names("released")).onto(names).codes
    image = np.arange(-SPECIALS, len(names), dtype=np.int32)
    image[values + SPECIALS] = labels
    return Column(image[mine.onto(names).codes + SPECIALS], names)
