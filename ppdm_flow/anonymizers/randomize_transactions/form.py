"""Bits or seeds: what the release takes on disk decides."""

from __future__ import annotations

from typing import Literal

from ppdm_flow.anonymizers.randomize_transactions.sizes import bits_of, prefers_seeds, seeds_of
from ppdm_flow.core.errors import DataError
from ppdm_flow.mining.transactions.operators import Operator
from ppdm_flow.mining.transactions.randomize.randomize import refuse_seeds
from ppdm_flow.sdk.spec import SetShape


def packed_bytes(operator: Operator, rows: int) -> int:
    """Return what bits of the whole alphabet take, uncompressed: they are noise."""
    return bits_of(_shape(operator, rows))


def seeded_bytes(operator: Operator, rows: int) -> int | None:
    """Return what seeds take, or None where there are none for the operator."""
    try:
        refuse_seeds(operator)
    except DataError:
        return None
    return seeds_of(_shape(operator, rows))


def as_seeds(asked: Literal["auto", "packed", "seeded"], operator: Operator, rows: int) -> bool:
    """Whether seeds are written. Raises DataError PPF778 where they are asked for and impossible."""
    if asked == "seeded":
        refuse_seeds(operator)
        return True
    seeds = seeded_bytes(operator, rows)
    return seeds is not None and prefers_seeds(asked, packed_bytes(operator, rows), seeds)


def _shape(operator: Operator, rows: int) -> SetShape:
    return SetShape(rows, operator.alphabet, operator.sizes[-1])
