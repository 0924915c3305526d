"""The attack by order: the n-th row of one file and the n-th row of the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from ppdm_flow.audits.multisets import expected_hits
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.table import Table, concat

ERROR = 1e-6
"""The probability that two files in independent random orders raise the alarm."""


@dataclass(frozen=True, slots=True)
class SameOrder:
    """``matches`` of ``rows`` places have one class in both files, where ``chance`` would be the share by chance."""

    rows: int
    matches: int
    chance: float

    @property
    def alarming(self) -> bool:
        """Whether chance would hardly do it."""
        return self.rows > 0 and float(stats.binom.sf(self.matches - 1, self.rows, self.chance)) < ERROR


def same_order(mine: DataView, theirs: DataView, key: str) -> SameOrder | None:
    """Compare the classes place by place; None where the files have unlike numbers of rows, or none."""
    if mine.row_count != theirs.row_count or not mine.row_count:
        return None
    both = concat([mine.table([key]), theirs.table([key])])[key]
    left, right = both.dense[: mine.row_count], both.dense[mine.row_count :]
    sizes = [np.bincount(part, minlength=both.width).astype(np.float64) for part in (left, right)]
    rows = len(left)
    return SameOrder(rows, int((left == right).sum()), float((sizes[0] * sizes[1]).sum()) / rows**2)


def linked(mine: DataView, theirs: DataView, sensitive: str, source: str, ctx: AuditContext) -> float | None:
    """Return the share of people whose value is right at the place in the other file that their row has in this one.

    A person is known by all that this file says; of several alike one is taken at random.
    None where original and released rows cannot be paired, or the files have unlike numbers of rows.
    """
    if ctx.pairs is None or mine.row_count != theirs.row_count or not mine.row_count:
        return None
    names = [n for n in mine.schema.names if n != sensitive]
    here, there = mine.table(names), theirs.table([sensitive])
    guessed = Table({**here.columns, "\0guess": there[sensitive]}, here.rows)
    parts = [
        Table({**after.columns, "\0guess": before[source]}, after.rows)
        for before, after in ctx.pairs.pairs([source], names)
    ]
    return expected_hits(guessed, concat(parts), "\0guess") / len(guessed) if parts else None
