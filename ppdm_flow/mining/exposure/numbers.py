"""The numbers that released rows show of an attribute, beside the original ones of the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import RunError
from ppdm_flow.core.lineage import UNTOLD
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.exposure.columns import carriers, facts_of
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.sdk.audit import AuditContext, Sql, quoted
from ppdm_flow.sdk.paired_relation import cells_of
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.column import SPECIALS, SUPPRESSED_TEXT, Column
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.numeric.column import NumericColumn, parsed

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

    ``weights`` (rows,): how many rows each represents, ``rows`` (rows,): its number in the source. ``types`` are those
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
    """Return the cells of a released column that replace a single value of its rows, as the policy says itself."""
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
        numbers, cell_kind = column.floats(), column.kind
    else:
        numbers, cell_kind = _labels(column, kind, name, values), kind
    if cell_kind.is_time != kind.is_time:
        raise _unnumbered(name)
    return numbers / MICROSECONDS if cell_kind is AttributeType.TIMESTAMP else numbers


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
    """Read ``attributes`` of the source, and released ``columns`` with the attribute that each is computed from.

    Raises UnpairedError and UnnumberedError, and RunError where the rows are not those of the file.
    """
    if ctx.pairs is None:
        raise UnpairedError(
            "Nothing tells which original record a released one comes from, so they cannot be compared."
        )
    columns = list(dict(columns).items())  # one that is computed from two attributes is read once
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
    """Compare each paired column with the file's, in any order of rows."""
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


# The second route to the numbers of released rows: SQL reads them from texts, and compares them with the file.


@dataclass(frozen=True, slots=True)
class NumberTexts:
    """The texts of a column's numbers: their type, and the values of cells that are other names."""

    kind: AttributeType
    values: Mapping[str, str] = field(default_factory=dict)


Types = Sequence[NumberTexts]
"""Column by column."""


def hold(sql: Sql, columns: Sequence[str], types: Types, weight: str | None, tables: dict[str, object]) -> None:
    """Hold the paired numbers r0, r1, … against the ``columns`` of the file, as sets of rows with counts.

    ``types`` are those of the columns. Raises RunError where they differ.
    """
    every = range(len(columns))
    mine = ", ".join(f"{number_of(f'r{i}', types[i])} AS c{i}" for i in every)
    of_file = ", ".join(f"{number_of(quoted(c), types[i])} AS c{i}" for i, c in enumerate(columns))
    rows = "1" if weight is None else f"CAST({quoted(weight)} AS BIGINT)"
    names = ", ".join(f"c{i}" for i in every)
    both = [f"SELECT {mine}, n FROM paired", f"SELECT {of_file}, {rows} AS n FROM candidate"]  # noqa: S608  # quoted
    grouped = [f"SELECT {names}, SUM(n) AS n FROM ({each}) GROUP BY {names} HAVING SUM(n) > 0" for each in both]  # noqa: S608  # the same
    one, other = ((f"({grouped[i]})", f"({grouped[1 - i]})") for i in (0, 1))
    text = (
        f"SELECT (SELECT COUNT(*) FROM ({one[0]} EXCEPT {one[1]})),"  # noqa: S608  # the same
        f" (SELECT COUNT(*) FROM ({other[0]} EXCEPT {other[1]}))"
    )
    if any(sql.rows(text, (), tables)[0]):
        raise other_rows()


def value_of(cell: str, values: Mapping[str, str]) -> str:
    """Return the value that a text is another name of, or the text."""
    if not values:
        return cell
    texts = (", ".join("'" + text.replace("'", "''") + "'" for text in each) for each in (values, values.values()))
    return f"COALESCE(MAP({', '.join(f'[{each}]' for each in texts)})[{cell}], {cell})"


def number_of(cell: str, texts: NumberTexts) -> str:
    """Return the number of a text, in days for moments; NULL where it is missing or suppressed."""
    kind, text = texts.kind, f"NULLIF({value_of(cell, texts.values)}, '{SUPPRESSED_TEXT}')"
    if kind is AttributeType.DATE:
        return f"CAST(CAST({text} AS DATE) - DATE '1970-01-01' AS DOUBLE)"
    if kind is AttributeType.TIMESTAMP:
        return f"epoch_us(CAST({text} AS TIMESTAMP)) / 86400000000.0::DOUBLE"
    return f"CAST({text} AS DOUBLE)"


def persons(people: PeopleCount, pairs: PairedView, columns: Sequence[str]) -> Ints:
    """Return the number of each row's person, (rows,), from 0. ``columns`` are released ones that are read as well."""
    texts: list[pa.Array] = [pa.array([], pa.string())]
    rows = [np.zeros(0, np.int64)]
    for left, right in pairs.pairs([people.subject], list(columns)):
        texts.append(cells_of(left[people.subject]).cast(pa.string()))
        rows.append(np.asarray(right.rows, dtype=np.int64))
    coded = pa.concat_arrays(texts).dictionary_encode()
    order = np.argsort(np.concatenate(rows), kind="stable")
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(codes, dtype=np.int64)[order]


def by_pseudonym(candidate: DataView, ctx: AuditContext) -> bool:
    """Whether a column leaves that is computed from the subject: then it is seen which rows are one person's."""
    return ctx.people is not None and bool(carriers(ctx.people.subject, candidate, ctx))


# The intruder's estimates of the original numbers: each released column, their means, and their median.
#
# Weights are one over the mean squared errors of the columns; an intruder who knows the noise method knows these. Then
# a column that reveals nothing does not hide what two others reveal together. The median of three and more is not moved
# by a few that are far off.


MEAN = "mean"
WEIGHTED = "weighted_mean"
MEDIAN = "median"


def estimates(original: Floats, released: Mapping[str, Floats], weights: Ints) -> dict[tuple[str, str], Floats]:
    """Return numbers (rows,) by (kind, column), NaN where nothing is shown; ``original`` has no NaN."""
    numbers_by_estimate = {("column", name): numbers for name, numbers in released.items()}
    if len(released) < 2:  # a mean needs two
        return numbers_by_estimate
    columns = list(released.values())
    numbers_by_estimate[MEAN, ""] = combined(columns, [1.0] * len(columns))
    if len(columns) > 2:  # that of two is the mean
        numbers_by_estimate[MEDIAN, ""] = _middle(columns)
    errors = [squared_error(original, numbers, weights) for numbers in columns]
    if all(error > 0 for error in errors):
        numbers_by_estimate[WEIGHTED, ""] = combined(columns, [1.0 / error for error in errors])
    return numbers_by_estimate


def squared_error(original: Floats, numbers: Floats, weights: Ints) -> float:
    """Return the mean squared error of the rows that show a number; infinite where none does.

    >>> squared_error(np.array([1.0, 2.0]), np.array([3.0, np.nan]), np.array([1, 1]))
    4.0
    """
    shown = ~np.isnan(numbers) & (weights > 0)
    total = int(weights[shown].sum())
    return float((weights[shown] * (numbers[shown] - original[shown]) ** 2).sum() / total) if total else float("inf")


def combined(columns: list[Floats], shares: list[float]) -> Floats:
    """Return the weighted mean of the numbers that each row shows, counted from the first of them.

    So equal numbers have just that mean, for any shares.
    """
    first = np.full(len(columns[0]), np.nan)
    for numbers in reversed(columns):
        first = np.where(np.isnan(numbers), first, numbers)
    above, total = np.zeros(len(first)), np.zeros(len(first))
    for numbers, share in zip(columns, shares, strict=True):
        shown = ~np.isnan(numbers)
        above += np.where(shown, share * (numbers - first), 0.0)
        total += np.where(shown, share, 0.0)
    with np.errstate(invalid="ignore"):
        return np.asarray(first + above / np.where(total > 0, total, 1.0))


def _middle(columns: list[Floats]) -> Floats:
    """Return the median of the numbers that each row shows, NaN where there is none."""
    cells = np.sort(np.column_stack(columns), axis=1)  # NaN last
    shown = (~np.isnan(cells)).sum(axis=1)[:, np.newaxis]
    return np.asarray(
        np.take_along_axis(cells, np.hstack((np.maximum(shown - 1, 0) // 2, shown // 2)), axis=1).mean(axis=1)
    )


def best(original: Floats, released: Sequence[Floats], weights: Ints) -> Floats:
    """Return the weighted mean of columns, or of those of them alone that are exact; ``original`` may have NaN."""
    known = ~np.isnan(original)
    errors = [squared_error(original[known], numbers[known], weights[known]) for numbers in released]
    exact = [numbers for numbers, error in zip(released, errors, strict=True) if error == 0]
    if exact:
        rest = [numbers for numbers, error in zip(released, errors, strict=True) if error > 0]
        first = combined(exact, [1.0] * len(exact))
        return np.where(np.isnan(first), best(original, rest, weights), first) if rest else first
    return combined(list(released), [1.0 / error for error in errors])
