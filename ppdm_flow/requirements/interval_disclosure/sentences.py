"""What interval disclosure means, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Figure
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.requirements.interval_disclosure.requirement import Width


def sentence(attribute: str, width: Width, columns: Sequence[str], figures: Mapping[str, Figure]) -> str:
    """Return the sentence for the report."""
    share, rows = figures["share"].value or 0.0, int(figures["rows"].value or 0)
    if not rows:
        return f"No released row has an original number of `{attribute}`, so there is none to disclose."
    ways = f"{listed(columns)}, or a mean of them," if len(columns) > 1 else listed(columns)
    of_people = int(figures["people"].value or 0) if "people" in figures else 0
    whose = counted(rows, "released row") + (f", or {of_people:,} people by any row" if of_people else "")
    text = (
        f"Whoever takes {ways} for the original `{attribute}` is within {width.words} of it in {share:.1%} of {whose}."
    )
    alone = figures["constant_share"].value or 0.0
    if alone > 0.01:  # below, it says nothing of the width
        text += f" The median alone would be in {alone:.1%}."
    left = int(figures["rows_left_out"].value or 0)
    return f"{text} Left out: {counted(left, 'row')} without an original number." if left else text
