"""The numbers that released rows show of an attribute, beside the original ones of the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import RunError
from ppdm_flow.core.lineage import UNTOLD
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.exposure.columns import facts_of
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.column import SPECIALS, Column
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.numeric.parsing import parsed

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
MICROSECONDS = 86_400_000_000.0
"""Of a day: both dates and timestamps are counted in days."""


class UnpairedError(UnmeasuredError):
    """Released rows cannot be laid beside their originals."""

    code: ClassVar[str] = UNTOLD


class UnnumberedError(UnmeasuredError):
    """Released cells are no numbers."""

    code: ClassVar[str] = "PPF877"


@dataclass(frozen=True, slots=True, eq=False)
class PairedNumbers:
    """Numbers by attribute of the source and by released column, each of shape (rows,), NaN where there is none.

    ``weights`` (rows,): the rows that each stands for, ``rows`` (rows,): its number in the source. ``types`` are those
    of the attributes.
    """

    original: dict[str, Floats]
    released: dict[str, Floats]
    weights: Ints
    rows: Ints
    types: dict[str, AttributeType]


def type_of(attribute: str, column: Column | None, ctx: AuditContext) -> AttributeType:
    """Return of which type the numbers of an attribute of the source are."""
    if isinstance(column, NumericColumn):
        return column.kind
    facts = ctx.original_attributes.get(attribute)
    return AttributeType.TEXT if facts is None else facts.type


def require_numbers(column: str, ctx: AuditContext) -> None:
    """Raise UnnumberedError where a released column is a pseudonym: its digits, if it has some, are no estimate."""
    if facts_of(column, ctx).keyed:
        raise UnnumberedError(
            f"`{column}` was made with a secret key: its cells are no numbers that could be compared."
        )


def other_names(column: str, attribute: str, ctx: AuditContext) -> Mapping[str, str]:
    """Return the cells of a released column that stand for a single value of its rows, as the policy says itself."""
    facts = ctx.attributes.get(column)
    if facts is None or not facts.recoded or ctx.pairs is None:
        return {}
    return facts.other_names(ctx.pairs.joint(attribute, column).names("original").to_pylist())


def floats_of(column: Column, kind: AttributeType, name: str, values: Mapping[str, str] = {}) -> Floats:
    """Return the numbers of a column, in days for moments; NaN where a cell is missing or suppressed.

    Labels count as the numbers that they spell, or that their ``values`` do. Raises UnnumberedError where one spells
    none of the type.
    """
    if isinstance(column, NumericColumn):
        numbers, found = column.floats(), column.kind
    else:
        numbers, found = _labels(column, kind, name, values), kind
    if found.is_time != kind.is_time:
        raise _unnumbered(name)
    return numbers / MICROSECONDS if found is AttributeType.TIMESTAMP else numbers


def _labels(column: Column, kind: AttributeType, name: str, values: Mapping[str, str]) -> Floats:
    if not kind.is_numeric:
        raise _unnumbered(name)
    used = column.compact()
    read = parsed(pa.array([values.get(c, c) for c in used.categories.to_pylist()], pa.string()), kind)
    if read.bad.any():
        raise _unnumbered(name)
    return np.concatenate((np.full(SPECIALS, np.nan), read.values.astype(np.float64)))[used.dense]


def _unnumbered(name: str) -> UnnumberedError:
    return UnnumberedError(
        f"Some cells of `{name}` are labels and no numbers: nothing says how far they are from the original ones."
    )


def paired_numbers(
    attributes: Sequence[str], columns: Sequence[tuple[str, str]], candidate: DataView, ctx: AuditContext
) -> PairedNumbers:
    """Read ``attributes`` of the source, and released ``columns`` with the attribute that each tells of.

    Raises UnpairedError and UnnumberedError, and RunError where the rows are not those of the file.
    """
    if ctx.pairs is None:
        raise UnpairedError(
            "Nothing tells which original record a released one comes from, so they cannot be compared."
        )
    columns = list(dict(columns).items())  # one that tells of two attributes is read once
    for column, _ in columns:
        require_numbers(column, ctx)
    names = {column: other_names(column, attribute, ctx) for column, attribute in columns}
    read = _read(ctx.pairs, attributes, columns, names, candidate.schema.weight, ctx)
    _require_the_file(read, candidate, columns, names)
    return read


def _read(
    pairs: PairedView,
    attributes: Sequence[str],
    columns: Sequence[tuple[str, str]],
    names: Mapping[str, Mapping[str, str]],
    weight: str | None,
    ctx: AuditContext,
) -> PairedNumbers:
    before: dict[str, list[Floats]] = {name: [] for name in attributes}
    after: dict[str, list[Floats]] = {name: [] for name, _ in columns}
    weights: list[Ints] = []
    rows: list[Ints] = [np.zeros(0, np.int64)]
    kinds = {name: type_of(name, None, ctx) for name in attributes}
    wanted = list(dict.fromkeys((*after, *(() if weight is None else (weight,)))))
    for left, right in pairs.pairs(list(before), wanted):
        kinds = {name: type_of(name, left[name], ctx) for name in attributes}
        for name in attributes:
            before[name].append(floats_of(left[name], kinds[name], name))
        for name, attribute in columns:
            after[name].append(floats_of(right[name], kinds[attribute], name, names[name]))
        rows.append(np.asarray(right.rows, dtype=np.int64))
        weights.append(np.ones(len(right), np.int64) if weight is None else weights_of(right[weight]))
    return PairedNumbers(
        {name: _joined(parts) for name, parts in before.items()},
        {name: _joined(parts) for name, parts in after.items()},
        np.concatenate(weights) if weights else np.zeros(0, np.int64),
        np.concatenate(rows),
        kinds,
    )


def _joined(parts: list[Floats]) -> Floats:
    return np.concatenate(parts) if parts else np.zeros(0)


def _require_the_file(
    read: PairedNumbers,
    candidate: DataView,
    columns: Sequence[tuple[str, str]],
    names: Mapping[str, Mapping[str, str]],
) -> None:
    """Hold each paired column against the file's, whatever the order of rows."""
    parts: dict[str, list[Floats]] = {name: [] for name, _ in columns}
    for table in candidate.partitions(list(parts)):
        for name, attribute in columns:
            parts[name].append(floats_of(table[name], read.types[attribute], name, names[name]))
    for name, own in parts.items():
        if not np.array_equal(np.sort(_joined(own)), np.sort(read.released[name]), equal_nan=True):
            raise other_rows()


def other_rows() -> RunError:
    """Return that the paired rows are not those of the file."""
    text = "the rows that were paired with their originals are not those of the released file"
    return RunError((Diagnostic("PPF836", text, help="a step gave other rows when it was asked again"),))
