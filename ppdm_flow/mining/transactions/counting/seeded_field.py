"""The field of 65,536 elements, in which seeds are polynomials."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.kernels import inlined

Elements = npt.NDArray[np.uint16]
Logs = npt.NDArray[np.int32]

BITS = 16
"""Bits of an element."""
ORDER = (1 << BITS) - 1
"""How many elements have an inverse."""
MODULUS = 0x1100B
"""x^16 + x^12 + x^3 + x + 1, of which x is a primitive root."""


@cache
def tables() -> tuple[Elements, Logs]:
    """Return powers of x, twice over so that sums of two logarithms need no remainder, and logarithms to base x.

    Powers uint16 of shape (2 ORDER,), logarithms int32 of shape (ORDER + 1,); that of 0 is never asked for.
    """
    powers = np.empty(2 * ORDER, dtype=np.uint16)
    element = 1
    for exponent in range(ORDER):
        powers[exponent] = element
        element <<= 1
        if element >> BITS:
            element ^= MODULUS
    powers[ORDER:] = powers[:ORDER]
    logs = np.zeros(ORDER + 1, dtype=np.int32)
    logs[powers[:ORDER]] = np.arange(ORDER)
    return powers, logs


@inlined
def times(a: Any, b: Any, powers: Elements, logs: Logs) -> Any:
    """Return the product of two elements, in compiled code."""
    if a == 0 or b == 0:
        return np.int64(0)
    return np.int64(powers[logs[a] + logs[b]])


@inlined
def over(a: Any, b: Any, powers: Elements, logs: Logs) -> Any:
    """Return a / b for b other than 0, in compiled code."""
    if a == 0:
        return np.int64(0)
    return np.int64(powers[logs[a] - logs[b] + ORDER])


def product(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> Elements:
    """Return products elementwise."""
    powers, logs = tables()
    products: Elements = np.where((a == 0) | (b == 0), 0, powers[logs[a] + logs[b]]).astype(np.uint16)
    return products
