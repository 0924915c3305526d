"""What the intruder knows and looks for: records, released rows, and people who are not in the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ppdm_flow.mining.exposure.estimates import best
from ppdm_flow.mining.exposure.numbers import Floats, Ints, UnnumberedError, paired_numbers, type_of
from ppdm_flow.mining.exposure.paired import relation
from ppdm_flow.requirements.numeric_linkage import people_file
from ppdm_flow.requirements.numeric_linkage.second_route import numbers_again
from ppdm_flow.requirements.numeric_linkage.truth import Truth
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

PAIRS = 1_000_000_000
"""At most so many pairs of records and released rows are compared in each way,"""
LEAST = 1000
"""or those of so many records, where the rows are more."""
Columns = Sequence[tuple[str, str]]
"""Released columns, each with the attribute that it tells of."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the intruder knows: ``attributes``, of at most ``sample`` records, and others: the file ``control``.

    Known are the original records, or the people of the file ``against``, whose rows have the same ``key``.
    """

    attributes: tuple[str, ...]
    sample: int
    control: str | None = None
    against: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """``known`` (records, attributes) and ``released`` (rows, attributes) numbers, NaN where there is none.

    ``truth`` says whose they are.
    ``chosen`` are the records that are looked for, out of ``whole``; ``others`` (others, attributes) are the control
    group, None where there is none.
    """

    known: Floats
    released: Floats
    truth: Truth
    chosen: Ints
    whole: int
    others: Floats | None


def read(wanted: Wanted, columns: Columns, original: DataView, candidate: DataView, ctx: AuditContext) -> Lookup:
    """Return the numbers by row number. Raises UnmeasuredError, and DataError of a file."""
    names = _names(columns)
    _require_key(wanted, original)
    found = paired_numbers(names, columns, candidate, ctx)
    order = np.argsort(found.rows, kind="stable")
    before = np.column_stack([found.original[name][order] for name in names])
    released = {column: numbers[order] for column, numbers in found.released.items()}
    types = [found.types[name] for name in names]
    known, truth, others = before, Truth.by_number(len(before)), None
    if wanted.control is not None:
        others = people_file.numbers_of(people_file.file_of(wanted.control, "control", ctx), names, types)
    if wanted.against is not None and wanted.key is not None and ctx.pairs is not None:
        file = people_file.file_of(wanted.against, "against", ctx)
        known = people_file.numbers_of(file, names, types)
        truth = Truth.by_people(*people_file.owners(file, wanted.key, ctx.pairs, [c for c, _ in columns]))
    return _lookup(wanted, known, _estimated(before, columns, released), truth, others)


def read_again(wanted: Wanted, columns: Columns, original: DataView, candidate: DataView, ctx: AuditContext) -> Lookup:
    """Return the numbers that SQL reads."""
    if ctx.sql is None or ctx.pairs is None:
        raise UnnumberedError("Nothing to read.")
    names = _names(columns)
    _require_key(wanted, original)
    paired_numbers(names, columns, candidate, ctx)  # what the first route cannot read, this one need not read either
    first = next(original.partitions(names), None)
    part = next(candidate.partitions([c for c, _ in columns]), None)
    of_names = {n: type_of(n, None if first is None else first[n], ctx) for n in names}
    types = [of_names[a] if part is None else getattr(part[c], "kind", of_names[a]) for c, a in columns]
    plain, kinds = [c for c, _ in columns], [of_names[n] for n in names]
    before, after = numbers_again(ctx.sql, candidate, ctx.pairs, names, plain, (kinds, types))
    released = {c: after[:, i] for i, c in enumerate(plain)}
    known, truth, others = before, Truth.by_number(len(before)), None
    if wanted.control is not None:
        others = people_file.numbers_again(ctx.sql, people_file.file_of(wanted.control, "control", ctx), names, kinds)
    if wanted.against is not None and wanted.key is not None:
        file = people_file.file_of(wanted.against, "against", ctx)
        known = people_file.numbers_again(ctx.sql, file, names, kinds)
        paired = relation(ctx.pairs, plain[:1], [wanted.key], candidate.schema.weight)
        truth = Truth.by_people(*people_file.owners_again(ctx.sql, file, wanted.key, paired))
    return _lookup(wanted, known, _estimated(before, columns, released), truth, others)


def sampled(known: Floats, most: int, rows: int) -> tuple[Ints, int]:
    """Return the places of records that are looked for among ``rows`` rows, and of how many they are a sample.

    Those that miss a number are none of them. The sample is the same every time, and no larger than PAIRS and LEAST
    say. Raises UnnumberedError of none.
    """
    most = min(most, max(LEAST, PAIRS // max(1, rows)))
    whole = np.flatnonzero(~np.isnan(known).any(axis=1))
    if not len(whole):
        raise UnnumberedError("No released row is of a record with all the numbers that records are to be found by.")
    if len(whole) <= most:
        return whole, len(whole)
    return np.sort(np.random.default_rng(0).choice(whole, most, replace=False)), len(whole)


def _require_key(wanted: Wanted, original: DataView) -> None:
    if wanted.against is not None and (wanted.key is None or wanted.key not in original.schema):
        raise UnnumberedError("Nothing tells which released row is whose of the people of the file.")


def _names(columns: Columns) -> list[str]:
    return list(dict.fromkeys(attribute for _, attribute in columns))


def _lookup(wanted: Wanted, known: Floats, released: Floats, truth: Truth, others: Floats | None) -> Lookup:
    there = np.where(truth.row[:, np.newaxis] >= 0, known, np.nan)
    chosen, whole = sampled(there, wanted.sample, len(released))
    if others is not None:
        try:
            others = others[sampled(others, wanted.sample, len(released))[0]]
        except UnnumberedError:
            text = "Nobody in the control group has all the numbers that records are to be found by."
            raise UnnumberedError(text) from None
    return Lookup(known, released, truth, chosen, whole, others)


def _estimated(before: Floats, columns: Columns, released: Mapping[str, Floats]) -> Floats:
    """Return the mean of the columns of each attribute, by how near each is on average, (rows, attributes)."""
    ones = np.ones(len(before), np.int64)
    each = [[released[c] for c, a in columns if a == name] for name in _names(columns)]
    return np.column_stack([best(before[:, j], parts, ones) for j, parts in enumerate(each)])
