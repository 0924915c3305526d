"""The cells of a randomized column as places in its operator's domain, and back."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.tables.column import MISSING, Codes, Column


def codes_of(column: Column, operator: ValueOperator) -> Codes:
    """Return places in the operator's domain, the missing value being its last one.

    Raises PluginError for a cell that the operator has no value for.
    """
    try:
        codes = column.onto(_names(operator)).codes
    except KeyError:
        text = f"the column `{operator.attribute}` has a value that its operator was not made for"
        raise PluginError(Diagnostic("PPF785", text)) from None
    lowest = int(codes.min(initial=0))
    if lowest >= 0:
        return codes
    if lowest < MISSING or operator.domain[-1] is not None:
        what = "a suppressed cell" if lowest < MISSING else "a missing value"
        text = f"the column `{operator.attribute}` has {what} that its operator was not made for"
        raise PluginError(Diagnostic("PPF785", text))
    return np.where(codes == MISSING, np.int32(operator.size - 1), codes)


def column_of(values: Codes, operator: ValueOperator) -> Column:
    """Return the column whose cells have these places in the operator's domain."""
    if operator.domain[-1] is None:
        values = np.where(values == operator.size - 1, np.int32(MISSING), values)
    return Column(values, _names(operator))


def _names(operator: ValueOperator) -> pa.StringArray:
    return pa.array([v for v in operator.domain if v is not None], pa.string())
