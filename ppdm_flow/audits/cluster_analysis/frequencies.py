"""How far the frequencies of values moved within a class."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.results import Figure
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.table import Table, concat

Integers = npt.NDArray[np.int64]


def largest_change(within: str | None, pairs: list[tuple[str, str]], candidate: DataView, ctx: AuditContext) -> Figure:
    """Return the largest total variation distance, of any class and attribute, between before and after.

    ``within`` is a released attribute. A row is in the class that its released row is in.
    """
    if within is None:
        return Figure(None, "share", note="`within` names no class")
    if ctx.pairs is None or within not in candidate.schema:
        return Figure(None, "share", note="rows cannot be paired, or the release has no such class")
    compared = [(c, s) for c, s in pairs if c != within]
    worst = [0.0]
    for column, source in compared:
        sides = [(left, right) for left, right in ctx.pairs.pairs([source], [column, within])]
        if not sides:
            return Figure(None, "share", note="there are no rows")
        before = concat(Table({"v": left[source], "c": right[within]}, left.rows) for left, right in sides)
        after = concat(Table({"v": right[column], "c": right[within]}, right.rows) for _, right in sides)
        worst.append(_change(before, after))
    return Figure(max(worst), "share", note="0 where every class has every value as often as before")


def _change(before: Table, after: Table) -> float:
    both = concat([before, after])
    classes, values = both["c"].dense.astype(np.int64), both["v"].dense.astype(np.int64)
    cells, place = np.unique(classes * both["v"].width + values, return_inverse=True)
    counts = [np.bincount(p, minlength=len(cells)) for p in (place[: len(before)], place[len(before) :])]
    owner = cells // both["v"].width
    moved = np.bincount(owner, weights=np.abs(counts[0] - counts[1]))
    sizes = np.bincount(owner, weights=counts[0])
    return float((0.5 * moved / np.maximum(sizes, 1)).max(initial=0.0))
