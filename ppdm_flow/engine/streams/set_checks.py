"""Do sets match what the policy declares of them? On alphabets; a fault names column and row, no item."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.streams.lookalikes import folded
from ppdm_flow.tables.column import SUPPRESSED_TEXT
from ppdm_flow.tables.sets import Baskets, SetColumn
from ppdm_flow.tables.table import RowNumbers

_Hit = npt.NDArray[np.bool_]


def check_sets(facts: AttributeFacts, column: SetColumn, rows: RowNumbers) -> None:
    """Hold one partition against the declared alphabet. Raises DataError."""
    names = column.categories
    sign = pc.equal(names, SUPPRESSED_TEXT)
    if pc.any(sign).as_py():
        text = f"`{facts.name}` has the sign {SUPPRESSED_TEXT} as an item: it stands for suppressed cells"
        raise _at("PPF713", text, facts, column, rows, _bools(sign))
    if facts.domain is None:
        return
    declared = pa.array(facts.domain, pa.string())
    outside = ~_bools(pc.is_in(names, value_set=declared))
    if outside.any():
        alike = pc.is_in(folded(names.filter(pa.array(outside))), value_set=folded(declared))
        text = f"`{facts.name}` has an item outside its declared domain"
        text += ", which looks like one of it" * bool(pc.any(alike).as_py())
        raise _at("PPF711", text, facts, column, rows, outside)


def wrong_kind(facts: AttributeFacts) -> DataError:
    """Say that cells came where sets were declared, or sets where cells were."""
    if facts.role is Role.ITEMS:
        text = f"the attribute `{facts.name}` is the set of items, and the file has single values there"
        advice = "sets come from `format: transactions`, `baskets` or `long`, or from a list column in Parquet"
        return data_fault("PPF754", text, span=facts.span, advice=advice)
    text = f"the column `{facts.name}` holds lists, and is declared as {facts.role}"
    return data_fault("PPF754", text, span=facts.span, advice="give it `role: items`, or drop it beforehand")


def _at(code: str, text: str, facts: AttributeFacts, column: SetColumn, rows: RowNumbers, bad: _Hit) -> DataError:
    where = ""
    if isinstance(column, Baskets) and len(hit := np.flatnonzero(bad[column.items])):
        where = f"row {int(rows[np.searchsorted(column.offsets, hit[0], 'right') - 1]) + 1}: "
    return data_fault(code, where + text, span=facts.span)


def _bools(array: pa.Array) -> _Hit:
    mask: _Hit = array.to_numpy(zero_copy_only=False).astype(bool)
    return mask
