"""Numbers as multiples of a base and remainders, in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.number_columns import MICROSECONDS, beyond, checked
from ppdm_flow.core.roles import AttributeType

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_EXACT = 2.0**53
_FINE = 1 << 32


@dataclass(frozen=True, slots=True)
class RoundingGrid:
    """The multiples of ``base`` / 10^``decimals``, a fraction of whole numbers, for a column of the type ``kind``.

    ``modulus``: a number is q bases and r / modulus of one, 0 <= r < modulus. That is exact for whole numbers, dates
    and timestamps, and for floats that have at most ``decimals`` decimals; else r is rounded to the nearest of 2^32.
    """

    name: str
    kind: AttributeType
    base: int
    decimals: int
    exact: bool = True

    @classmethod
    def of(cls, name: str, kind: AttributeType, base: Decimal, decimals: int, largest: float) -> RoundingGrid:
        """Return the grid; ``decimals`` of the column, and its ``largest`` absolute value, say whether it is exact."""
        if kind is not AttributeType.FLOAT:
            unit = MICROSECONDS if kind is AttributeType.TIMESTAMP else 1
            return cls(name, kind, int(base * unit), 0)
        own = max(0, -int(base.as_tuple().exponent))
        places = max(own, decimals)
        exact = max(largest, float(base)) * 10.0**places < _EXACT / 4
        places = places if exact else own
        return cls(name, kind, int(base.scaleb(places)), places, exact)

    @property
    def modulus(self) -> int:
        """How fine remainders are."""
        return self.base if self.exact else _FINE

    def split(self, values: npt.NDArray[Any]) -> tuple[Integers, Integers]:
        """Return (q, r) of each number. Raises PluginError for floats of more than 2^53 bases."""
        if self.exact:
            whole = values
            if self.kind is AttributeType.FLOAT:
                whole = np.rint(values * 10.0**self.decimals).astype(np.int64)
            quotients, remainders = np.divmod(whole, self.base)
            return quotients, remainders
        bases = values / (self.base / 10.0**self.decimals)
        if not (np.abs(bases) < _EXACT).all():
            raise beyond(self.name)
        below = np.floor(bases)
        rest = np.rint((bases - below) * _FINE).astype(np.int64)
        return below.astype(np.int64) + (rest == _FINE), np.where(rest == _FINE, 0, rest)

    def values(self, quotients: Integers) -> npt.NDArray[Any]:
        """Return the multiples as numbers of the column. Raises PluginError for those that its type cannot hold."""
        if self.kind is AttributeType.FLOAT:
            numbers: npt.NDArray[Any] = quotients.astype(np.float64) * self.base / 10.0**self.decimals + 0.0
            return numbers
        if not (np.abs(quotients.astype(np.float64) * self.base) < 2.0**63).all():
            raise beyond(self.name)
        return checked(quotients * self.base, self.name, self.kind)


def nearest(quotients: Integers, remainders: Integers, modulus: int) -> Integers:
    """Return the multiples that are nearest; halves go to the even one."""
    twice = 2 * remainders
    up = (twice > modulus) | ((twice == modulus) & (quotients % 2 == 1))
    rounded: Integers = quotients + up
    return rounded


def at_random(quotients: Integers, remainders: Integers, modulus: int, uniform: Floats) -> Integers:
    """Return multiples of which the upper one is taken with probability remainder / modulus; multiples stay."""
    rounded: Integers = quotients + (uniform * modulus < remainders)
    return rounded


def controlled(
    remainders: Integers, modulus: int, groups: Integers, keys: Floats, start: float
) -> npt.NDArray[np.bool_]:
    """Return which numbers are rounded up, so that each group's and the whole total change by less than one base.

    Systematic sampling on cumulated remainders: rows in random order (by ``keys``), group after group; with R_i the sum
    of the first i remainders and a start u in [0, modulus), row i goes up where a multiple of the modulus lies in
    (R_{i-1} + u, R_i + u]. So each goes up with probability remainder / modulus, and over any run of rows the number of
    those that do differs by less than 1 from the sum of remainders over the modulus (Cox, A constructive procedure for
    unbiased controlled rounding, JASA 82, 1987, has the problem; this is its solution for one way of grouping).
    """
    if modulus > _FINE:  # sums of finer remainders would not fit 64 bits
        remainders = np.minimum(np.rint(remainders / modulus * _FINE), _FINE - 1).astype(np.int64)
        modulus = _FINE
    first = np.full(int(groups.max(initial=-1)) + 1, np.inf)
    np.minimum.at(first, groups, keys)
    order = np.lexsort((keys, first[groups]))
    sums = np.cumsum(remainders[order]) + int(start * modulus)
    before = np.append(int(start * modulus), sums[:-1])[: len(sums)]
    up = np.zeros(len(remainders), dtype=bool)
    up[order] = sums // modulus > before // modulus
    return up
