"""Bits or seeds: what the release takes on disk decides."""

from __future__ import annotations

from typing import Literal

from ppdm_flow.core.errors import DataError
from ppdm_flow.mining.transactions.operators import Operator
from ppdm_flow.mining.transactions.randomize_input import refuse_seeds
from ppdm_flow.mining.transactions.seeded import expansion
from ppdm_flow.tables.sets.packed import words_for

LARGE = 256 << 20
"""Bytes of bits from which seeds are worth their expansion by every reader."""
SIZE_BYTES = 4


def packed_bytes(operator: Operator, rows: int) -> int:
    """Return what bits of the whole alphabet take, uncompressed: they are noise."""
    return rows * (8 * words_for(operator.alphabet) + SIZE_BYTES)


def seeded_bytes(operator: Operator, rows: int) -> int | None:
    """Return what seeds take, or None where there are none for the operator."""
    try:
        return rows * (2 * expansion(operator).width + SIZE_BYTES)
    except DataError:
        return None


def as_seeds(asked: Literal["auto", "packed", "seeded"], operator: Operator, rows: int) -> bool:
    """Whether seeds are written. Raises DataError PPF778 where they are asked for and impossible."""
    if asked == "seeded":
        refuse_seeds(operator)
        return True
    bits, seeds = packed_bytes(operator, rows), seeded_bytes(operator, rows)
    return asked == "auto" and seeds is not None and bits > LARGE and seeds < bits
