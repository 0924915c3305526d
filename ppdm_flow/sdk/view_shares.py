"""How frequent a value is."""

from __future__ import annotations

from ppdm_flow.sdk.view import DataView


def share_of(view: DataView, attribute: str, value: str, people: int) -> float | None:
    """Return the share of the people who have a value of an attribute; None where there is no such column."""
    if attribute not in view.schema or not people:
        return None
    counts = view.counts([attribute])
    code = counts.code(attribute, value)
    if code is None:
        return 0.0
    return float(counts.counts[counts.of(attribute) == code].sum() / people)
