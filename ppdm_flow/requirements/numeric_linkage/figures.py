"""The figures of numeric linkage: the share that each way finds, and how far it exceeds that of guessing."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.results import Figure
from ppdm_flow.mining.exposure.numbers import Floats
from ppdm_flow.requirements.numeric_linkage.intervals import ERROR, clopper_pearson, excess, wilson

_NO_EXCESS = "whoever names that many rows names all of them"


def figures_of(
    candidates: int, by_space: Mapping[str, Floats], known: int, rows: int, columns: int
) -> dict[str, Figure]:
    """Return the figures by name, without a prefix.

    ``by_space``: for each way the chances of the records that were looked for, out of ``known`` ones, each with so many
    ``candidates`` among ``rows`` released rows.
    """
    looked_for = len(next(iter(by_space.values())))
    guessing = min(1.0, candidates / rows)
    error = ERROR / len(by_space) if looked_for < known else None
    shares, excesses = {}, {}
    bound = most = 0.0
    for name, found in by_space.items():
        share = float(found.mean())
        interval = None if error is None else clopper_pearson(float(found.sum()), looked_for, error)
        bound, most = max(bound, share if interval is None else interval[1]), max(most, share)
        shares[f"{name}_share"] = Figure(share, "share", interval, looked_for)
        ends = None if error is None else wilson(share, looked_for, error)
        excesses[f"{name}_excess"] = _excess(share, guessing, looked_for, ends)
    return {
        "share_bound": Figure(bound, "share", sample=looked_for),
        "share": Figure(most, "share", sample=looked_for),
        **shares,
        "chance_share": Figure(guessing, "share"),
        "excess_bound": _excess(bound, guessing, looked_for),
        "excess": _excess(most, guessing, looked_for),
        **excesses,
        "records": Figure(looked_for, "rows"),
        "records_known": Figure(known, "rows"),
        "rows": Figure(rows, "rows"),
        "columns": Figure(columns, "columns"),
    }


def _excess(share: float, guessing: float, records: int, ends: tuple[float, float] | None = None) -> Figure:
    if guessing >= 1.0:
        return Figure(None, "share", sample=records, note=_NO_EXCESS)
    interval = None if ends is None else (excess(ends[0], guessing), excess(ends[1], guessing))
    return Figure(excess(share, guessing), "share", interval, records)
