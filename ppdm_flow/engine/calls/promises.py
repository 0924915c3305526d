"""What a step's effect says of rows and columns, held against what its transform returns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.calls.returned import broken_promise
from ppdm_flow.engine.streams.stream import positions
from ppdm_flow.plan.definition import StepNode
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.frozen import arrays_of
from ppdm_flow.tables.sets import SetColumn
from ppdm_flow.tables.table import RowNumbers, Table


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
