"""The figures of numeric linkage: the share that each way finds, and how far it exceeds that of guessing."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.core.results import Figure
from ppdm_flow.mining.exposure.numbers import Floats
from ppdm_flow.requirements.numeric_linkage.intervals import ERROR, clopper_pearson, excess, upper_ends, wilson
from ppdm_flow.requirements.numeric_linkage.spaces import MAHALANOBIS
from ppdm_flow.requirements.numeric_linkage.units import LinkageMethod

_NO_EXCESS = "whoever names that many rows names all of them"

_NO_NUMBERS = "these distances are of numbers, and none is released"


def figures_of(
    ways: Sequence[LinkageMethod], of_rows: Sequence[LinkageMethod], rows: int, columns: int
) -> dict[str, Figure]:
    """Return the figures by name, without a prefix.

    ``ways`` look for records, or for people, among ``rows`` released rows; ``of_rows`` for records beside people.
    """
    every = (*ways, *of_rows)
    looked_for, whole = len(ways[0].chances), ways[0].whole
    shares, excesses = {}, {}
    bounds, excess_bounds, all_excesses = [], [], []
    for way in every:
        size = len(way.chances)
        error = ERROR / len(every) if size < way.whole else None
        found, guessing = float(way.chances.sum()), float(way.guesses[-1])
        share = float(way.chances.mean())
        interval = None if error is None else clopper_pearson(found, size, error)
        bounds.append(share if interval is None else interval[1])
        upper = way.hits / size if error is None else upper_ends(way.hits, size, error)
        excess_bounds.append(_largest_excess(upper, way.guesses))
        all_excesses.append(_largest_excess(way.hits / size, way.guesses))
        if way in ways:
            shares[f"{way.name}_share"] = Figure(share, "share", interval, size)
            ends = None if error is None else wilson(share, size, error)
            excesses[f"{way.name}_excess"] = _excess(share, guessing, size, ends)
    if MAHALANOBIS not in {way.name for way in ways}:
        none = Figure(None, "share", sample=looked_for, note=_NO_NUMBERS)
        shares[f"{MAHALANOBIS}_share"] = excesses[f"{MAHALANOBIS}_excess"] = none
    if of_rows:
        shares["rows_share"] = Figure(
            max(float(w.chances.mean()) for w in of_rows), "share", sample=len(of_rows[0].chances)
        )
    return {
        "share_bound": Figure(max(bounds), "share", sample=looked_for),
        "share": Figure(max(float(way.chances.mean()) for way in every), "share", sample=looked_for),
        **shares,
        "chance_share": Figure(float(ways[0].guesses[-1]), "share"),
        "excess_bound": _of_all(excess_bounds, looked_for),
        "excess": _of_all(all_excesses, looked_for),
        **excesses,
        "records": Figure(looked_for, "rows"),
        "records_known": Figure(whole, "rows"),
        "rows": Figure(rows, "rows"),
        "columns": Figure(columns, "columns"),
    }


def _largest_excess(shares: Floats, guesses: Floats) -> float | None:
    """Return the largest excess of ``shares`` that naming 1, 2, … rows finds, but for where guessing finds all."""
    pairs = zip(shares.tolist(), guesses.tolist(), strict=True)
    return max((excess(share, guessing) for share, guessing in pairs if guessing < 1.0), default=None)


def _of_all(excesses: Sequence[float | None], records: int) -> Figure:
    known = [each for each in excesses if each is not None]
    return Figure(max(known), "share", sample=records) if known else _none(records)


def _excess(share: float, guessing: float, records: int, ends: tuple[float, float] | None = None) -> Figure:
    if guessing >= 1.0:
        return _none(records)
    interval = None if ends is None else (excess(ends[0], guessing), excess(ends[1], guessing))
    return Figure(excess(share, guessing), "share", interval, records)


def _none(records: int) -> Figure:
    return Figure(None, "share", sample=records, note=_NO_EXCESS)
