"""Real and released rows in one table, so that a classifier learns from some and is asked about others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ppdm_flow.audits.learning.sides import Integers, LearningSide, side
from ppdm_flow.audits.records.columns import ColumnPair
from ppdm_flow.audits.records.intervals import labelled
from ppdm_flow.audits.records.sampling import RecordSample, held_out, sampled, training
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column, union
from ppdm_flow.tables.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class StackedRows:
    """``side`` holds all rows with a class; ``released``, ``real`` and ``held`` (rows,) are 1 where a row is of it."""

    side: LearningSide
    released: Integers
    real: Integers
    held: Integers


def stack(
    original: DataView,
    candidate: DataView,
    ctx: AuditContext,
    columns: Sequence[ColumnPair],
    target: ColumnPair,
    limit: int,
) -> StackedRows:
    """Read at most ``limit`` rows of the release, of the rows that it was learned from, and of those held out."""
    sources = [c.source for c in columns]
    groups = [sampled(candidate, [c.column for c in columns], limit), training(original, sources, limit, ctx.holdout)]
    if ctx.holdout is not None:
        groups.append(held_out(original, sources, limit, ctx.holdout))
    table = Table({c.column: _stacked(groups, c) for c in columns}, np.arange(sum(map(len, groups)), dtype=np.int64))
    known = table[target.column].codes >= 0
    group = np.repeat(np.arange(len(groups)), [len(g) for g in groups])[known]
    kept = table.take(known)
    types = {
        c.column: AttributeType.FLOAT if c.type.is_amount else AttributeType.TEXT for c in columns if c is not target
    }
    ones = np.ones(len(kept), dtype=np.int64)
    rows = side(kept, types, kept[target.column].codes.astype(np.int64), ones)
    released, real, held = ((group == i).astype(np.int64) for i in range(3))
    return StackedRows(rows, released, real, held)


def _stacked(groups: Sequence[RecordSample], beside: ColumnPair) -> Column:
    """Put one column's cells of all groups one below the other; the release comes first."""
    mine = [g.table[beside.source if number else beside.column].compact() for number, g in enumerate(groups)]
    if beside.edges and not _are_numbers(mine[0]):
        mine = [labelled(c, beside.edges) for c in mine]
    names = union(c.categories for c in mine)
    return Column(np.concatenate([c.onto(names).codes for c in mine]), names)


def _are_numbers(column: Column) -> bool:
    try:
        column.numbers()
    except pa.ArrowInvalid:
        return False
    return True
