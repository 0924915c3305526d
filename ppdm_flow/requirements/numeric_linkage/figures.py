"""The figures of numeric linkage: the share that each way finds, and how far it exceeds that of guessing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ppdm_flow.core.results import Figure
from ppdm_flow.mining.exposure.numbers import Floats
from ppdm_flow.requirements.numeric_linkage.intervals import ERROR, clopper_pearson, excess, upper_ends, wilson
from ppdm_flow.requirements.numeric_linkage.nearest import Places
from ppdm_flow.requirements.numeric_linkage.spaces import MAHALANOBIS

_NO_EXCESS = "whoever names that many rows names all of them"

_NO_NUMBERS = "these distances are of numbers, and none is released"


def figures_of(candidates: int, by_way: Mapping[str, Places], known: int, rows: int, columns: int) -> dict[str, Figure]:
    """Return the figures by name, without a prefix.

    ``by_way``: for each way the places of the records that were looked for, out of ``known`` ones, each with so many
    ``candidates`` among ``rows`` released rows.
    """
    looked_for = len(next(iter(by_way.values())).nearer)
    guessing = min(1.0, candidates / rows)
    error = ERROR / len(by_way) if looked_for < known else None
    shares, excesses = {}, {}
    bound = most = 0.0
    for name, places in by_way.items():
        found = places.chances(candidates)
        share = float(found.mean())
        interval = None if error is None else clopper_pearson(float(found.sum()), looked_for, error)
        bound, most = max(bound, share if interval is None else interval[1]), max(most, share)
        shares[f"{name}_share"] = Figure(share, "share", interval, looked_for)
        ends = None if error is None else wilson(share, looked_for, error)
        excesses[f"{name}_excess"] = _excess(share, guessing, looked_for, ends)
    by_count = np.maximum.reduce([places.hits(candidates) for places in by_way.values()])
    upper = by_count / looked_for if error is None else upper_ends(by_count, looked_for, error)
    if MAHALANOBIS not in by_way:
        none = Figure(None, "share", sample=looked_for, note=_NO_NUMBERS)
        shares[f"{MAHALANOBIS}_share"] = excesses[f"{MAHALANOBIS}_excess"] = none
    return {
        "share_bound": Figure(bound, "share", sample=looked_for),
        "share": Figure(most, "share", sample=looked_for),
        **shares,
        "chance_share": Figure(guessing, "share"),
        "excess_bound": _largest_excess(upper, rows, looked_for),
        "excess": _largest_excess(by_count / looked_for, rows, looked_for),
        **excesses,
        "records": Figure(looked_for, "rows"),
        "records_known": Figure(known, "rows"),
        "rows": Figure(rows, "rows"),
        "columns": Figure(columns, "columns"),
    }


def _largest_excess(shares: Floats, rows: int, records: int) -> Figure:
    """Return the largest excess of ``shares`` that naming 1, 2, … of the ``rows`` finds, but for naming all of them."""
    some = [excess(float(share), named / rows) for named, share in enumerate(shares, 1) if named < rows]
    return Figure(max(some), "share", sample=records) if some else _none(records)


def _excess(share: float, guessing: float, records: int, ends: tuple[float, float] | None = None) -> Figure:
    if guessing >= 1.0:
        return _none(records)
    interval = None if ends is None else (excess(ends[0], guessing), excess(ends[1], guessing))
    return Figure(excess(share, guessing), "share", interval, records)


def _none(records: int) -> Figure:
    return Figure(None, "share", sample=records, note=_NO_EXCESS)
