"""The column that says whose row it is, as steps for people read it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.number_columns import numbers_of
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Addresses, Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.tables.column import SUPPRESSED, Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

Ids = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def dense_ids(column: Column) -> Ids:
    """Return a number from 0 for each row, shape (rows,): equal cells, missing ones among them, have equal numbers."""
    if isinstance(column, NumericColumn):
        ids = np.unique(column.values, return_inverse=True)[1].astype(np.int64)
        if column.missing is not None:
            ids[column.missing] = len(ids)
    else:
        ids = column.codes.astype(np.int64)
    return np.unique(ids, return_inverse=True)[1].astype(np.int64)


def people_of(part: Table, subject: str) -> Ids:
    """Return a person's number from 0 for each row, shape (rows,). Raises PluginError where a row is nobody's."""
    refuse_nobody(part, subject)
    return dense_ids(part[subject])


def addresses_of(part: Table, draws: Draws, subject: str) -> Addresses:
    """Return where each row's person draws, shape (rows, 2). Raises PluginError where a row is nobody's."""
    refuse_nobody(part, subject)
    column = part[subject]
    used, own = np.unique(column.codes, return_inverse=True)
    return draws.addresses("subject", column.categories.take(used).to_pylist())[own]


def refuse_nobody(part: Table, subject: str) -> None:
    """Raise PluginError, naming the first such row, where the subject is missing or suppressed."""
    column = part[subject]
    if isinstance(column, NumericColumn):
        nobody = np.zeros(len(column), dtype=bool) if column.missing is None else column.missing
        suppressed = nobody & False
    else:
        nobody, suppressed = column.codes < 0, column.codes == SUPPRESSED
    if not nobody.any():
        return
    first = int(np.argmin(np.where(nobody, part.rows, np.iinfo(np.int64).max)))
    what = "suppressed" if suppressed[first] else "missing"
    text = f"row {int(part.rows[first]) + 1}: the column `{subject}` says whose row it is, and is {what}"
    raise PluginError(Diagnostic("PPF729", text, help="correct the data, or leave out the rows that are nobody's"))


def first_of_each(people: Ids, keys: tuple[npt.NDArray[Any], ...], most: int) -> Mask:
    """Return a mask of the ``most`` first rows of each person, shape (rows,); of ``keys`` the last weighs most."""
    order = np.lexsort((*keys, people))
    ordered = people[order]
    starts = np.searchsorted(ordered, ordered, side="left")
    mask = np.zeros(len(people), dtype=bool)
    mask[order] = np.arange(len(people)) - starts < most
    return mask


def in_order(table: Table, order: str, kind: AttributeType, keep: str) -> tuple[npt.NDArray[Any], ...]:
    """Return sorting keys, the weightiest last, by which the ``first`` or ``last`` rows of ``order`` come first.

    Rows without a value go to the end. Raises PluginError where the column has no numbers of the type ``kind``.
    """
    column = numbers_of(table[order], order, kind)
    missing = np.zeros(len(table), dtype=bool) if column.missing is None else column.missing
    if keep == "first":
        return column.values, missing
    return (~column.values if column.values.dtype == np.int64 else -column.values), missing
