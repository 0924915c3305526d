"""Whether the released bytes follow the operator, where rows of one person with equal values are one draw."""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.reconstruction.histogram import ValueHistogram, histogram, tally
from ppdm_flow.requirements.sensitivities.fit.bytes_check import BytesCheck, check_pairs
from ppdm_flow.requirements.sensitivities.people import UNTRACED, PersonDraws
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.view import DataView


def check_people(
    operator: ValueOperator, column: str, before: ValueHistogram, candidate: DataView, drawn: PersonDraws, error: float
) -> BytesCheck:
    """Test the draws of people against the operator, at the probability ``error`` of refusing a faithful release."""
    after = histogram(candidate, column, operator.domain)
    if before.outside or after.outside:
        where = "original" if before.outside else "released"
        text = f"{before.outside or after.outside:,} {where} cells hold a value outside the operator's domain"
        return BytesCheck(text, outside=after.outside)
    fault = drawn.fault or _misdrawn(operator, drawn)
    if fault or drawn.joint is None or drawn.released is None:
        return BytesCheck(fault or UNTRACED)
    shown = tally(drawn.released, np.ones(len(drawn.released), dtype=np.int64), operator.size)
    if shown.outside or (drawn.joint.original < 0).any() or not np.array_equal(shown.rows, after.rows):
        return BytesCheck(UNTRACED)
    return check_pairs(operator, drawn.joint, error)


def _misdrawn(operator: ValueOperator, drawn: PersonDraws) -> str:
    """Say how a person's rows tell more than the operator was made for, if they do."""
    if drawn.unequal:
        return (
            f"for {drawn.unequal:,} values of people, rows with that same value were drawn apart: whoever sees a"
            " person's rows averages the draws"
        )
    if operator.per_person is None and drawn.repeated:
        return "each row was drawn for itself, and people have several rows with an equal value"
    made_for = operator.per_person or 1
    if drawn.most > made_for:
        return f"a person has up to {drawn.most:,} different values, and the operator was made for {made_for:,} at most"
    return ""
