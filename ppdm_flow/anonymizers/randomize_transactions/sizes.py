"""Bits or seeds, by what they take on disk: known before anything is read."""

from __future__ import annotations

from ppdm_flow.sdk.spec import SetShape

LARGE = 256 << 20
"""Bytes of bits from which seeds are worth their expansion by every reader."""
SIZE_BYTES = 4
SPARE = 4
"""Items that a seed has room for beside those of the longest transaction."""
MOST_ITEMS = 1 << 16
"""The largest alphabet that seeds expand to."""
SEEDLESS = ("uniform", "none")
"""Operators of which the output cannot be given by seeds."""


def bits_of(shape: SetShape) -> int:
    """Return the bytes of bits of the whole alphabet, uncompressed: they are noise."""
    return shape.rows * (8 * -(-shape.distinct // 64) + SIZE_BYTES)


def seeds_of(shape: SetShape) -> int:
    """Return the bytes of seeds."""
    return shape.rows * (2 * (shape.longest + SPARE) + SIZE_BYTES)


def prefers_seeds(form: str, bits: int, seeds: int) -> bool:
    """Whether seeds are written, where there are seeds."""
    return form == "seeded" or (form == "auto" and bits > LARGE and seeds < bits)


def stored(operator: str, form: str, shape: SetShape) -> tuple[str, int]:
    """Return the form that the sets of a release will have, and its bytes."""
    bits, seeds = bits_of(shape), seeds_of(shape)
    possible = operator not in SEEDLESS and shape.distinct <= MOST_ITEMS
    return ("seeds", seeds) if possible and prefers_seeds(form, bits, seeds) else ("bits", bits)
