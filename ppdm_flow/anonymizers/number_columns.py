"""Columns of numbers as steps read them: a partition at a time, from any form that an engine gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.naming import require
from ppdm_flow.anonymizers.numeric_attributes import BEYOND, NO_NUMBERS
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.moments import Floats, Moments, Part, Weights, moments
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SUPPRESSED, Column
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.numeric.column import NumericColumn, numbers_among, outside, parsed
from ppdm_flow.tables.table import Table

Kinds = Mapping[str, AttributeType]
MICROSECONDS = 1_000_000
MOST_DECIMALS = 15
_LIMIT = 2.0**63


def kinds_of(names: Iterable[str], data: DataView, ctx: StepContext) -> dict[str, AttributeType]:
    """Return the types of attributes. Raises PluginError where one is absent, or is no column of numbers."""
    unique = tuple(dict.fromkeys(names))
    require(unique, data.schema.names, ctx.step)
    for name in unique:
        if name not in ctx.attributes or not ctx.attributes[name].is_numeric:
            raise _no_numbers(name)
    return {name: ctx.attributes[name].type for name in unique}


def numbers_of(column: Column, name: str, kind: AttributeType) -> NumericColumn:
    """Return a column as numbers of its type. Raises PluginError where it has labels or suppressed cells."""
    if isinstance(column, NumericColumn) and column.kind is kind:
        return column
    used = column.compact()
    read = parsed(used.categories, kind)
    if read.bad.any() or (used.codes == SUPPRESSED).any():
        raise _no_numbers(name)
    values = np.append(read.values, read.values.dtype.type(0))
    return NumericColumn(values[used.codes], kind, used.codes == MISSING)


def _no_numbers(name: str) -> PluginError:
    text = f"the column `{name}` has texts, labels or suppressed cells, and this step works on numbers"
    help_text = "declare its `type`, or move the step before the one that recodes it"
    return PluginError(Diagnostic(NO_NUMBERS, text, help=help_text))


def present_cells(data: DataView, name: str, kind: AttributeType) -> Iterator[tuple[npt.NDArray[Any], Weights | None]]:
    """Yield the numbers of the cells that are not missing, with the weights of their rows, a partition at a time."""
    for part in data.partitions(_with_weight(data, (name,))):
        column, weights = numbers_of(part[name], name, kind), _weights(data, part)
        if column.missing is not None and weights is not None:
            weights = weights[~column.missing]
        yield column.present(), weights


def complete_rows(data: DataView, kinds: Kinds) -> Iterator[Part]:
    """Yield the columns as floats over the rows that miss none of them, with weights, a partition at a time."""
    for part in data.partitions(_with_weight(data, tuple(kinds))):
        columns = [numbers_of(part[name], name, kind) for name, kind in kinds.items()]
        complete = np.ones(len(part), dtype=bool)
        for column in columns:
            if column.missing is not None:
                complete &= ~column.missing
        weights = _weights(data, part)
        chosen: list[Floats] = [column.values[complete].astype(np.float64) for column in columns]
        yield chosen, None if weights is None else weights[complete]


def moments_of(data: DataView, kinds: Kinds) -> Moments:
    """Return the moments of attributes over the rows that miss none. Raises PluginError for numbers beyond 1e150."""
    try:
        return moments(lambda: complete_rows(data, kinds), len(kinds))
    except ValueError:
        names = ", ".join(f"`{name}`" for name in kinds)
        text = f"the column {names} has numbers beyond 1e150, whose squares no computer number holds"
        raise PluginError(Diagnostic(BEYOND, text)) from None


def decimals_of(data: DataView, name: str, kind: AttributeType) -> int:
    """Return how many decimals the numbers have: the fewest, up to 15, at which each is equal to itself rounded.

    0 for integers and dates; for timestamps decimals of a second.
    """
    if kind in (AttributeType.INTEGER, AttributeType.DATE):
        return 0
    decimals = 0
    for values, _ in present_cells(data, name, kind):
        if kind is AttributeType.TIMESTAMP:
            while decimals < 6 and (values % 10 ** (6 - decimals)).any():
                decimals += 1
        else:
            while decimals < MOST_DECIMALS and (np.round(values, decimals) != values).any():
                decimals += 1
    return decimals


def seconds_factor(kind: AttributeType) -> float:
    """Return how many of the column's own units a parameter's unit is: 1e6 microseconds a second for timestamps."""
    return float(MICROSECONDS) if kind is AttributeType.TIMESTAMP else 1.0


def bound_of(text: str | None, name: str, kind: AttributeType) -> Any:
    """Return the number that a parameter means in a column's own unit. Raises PluginError where it means none."""
    if text is None:
        return None
    numbers = numbers_among([text], kind)
    if not len(numbers):
        raise PluginError(Diagnostic("PPF782", f"a bound is no value of the type of the column `{name}`"))
    return numbers[0].item()


def moved(
    values: npt.NDArray[np.int64], steps: Floats, unit: int, name: str, kind: AttributeType
) -> npt.NDArray[np.int64]:
    """Return whole numbers moved by ``steps`` times ``unit``, exactly. Raises PluginError where 64 bits are too few."""
    if not (np.abs(values.astype(np.float64) + steps * unit) < _LIMIT * 0.999).all():
        raise beyond(name)
    new: npt.NDArray[np.int64] = values + steps.astype(np.int64) * unit
    return checked(new, name, kind)


def checked(values: npt.NDArray[Any], name: str, kind: AttributeType) -> npt.NDArray[Any]:
    """Return the numbers. Raises PluginError where one is none of the type: infinite, or beyond the year 9999."""
    if outside(values, kind).any():
        raise beyond(name)
    return values


def beyond(name: str) -> PluginError:
    """Build the error for results that the type cannot hold."""
    text = f"the step moves numbers of the column `{name}` beyond what its type holds"
    return PluginError(Diagnostic(BEYOND, text, help="less noise, a smaller base, or `min` and `max`"))


def _with_weight(data: DataView, names: tuple[str, ...]) -> tuple[str, ...]:
    weight = data.schema.weight
    return names if weight is None or weight in names else (*names, weight)


def _weights(data: DataView, part: Table) -> Weights | None:
    weight = data.schema.weight
    return None if weight is None else weights_of(part[weight])
