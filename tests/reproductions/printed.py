"""The figures that Vreeken, van Leeuwen and Siebes print (ICDM 2007, Table 1 and section 5), with their rounding."""

from __future__ import annotations

from dataclasses import dataclass

TABLES = 10
"""How many tables of each dataset the figures are means of."""
LEAST = {
    "chess": 1,
    "iris": 1,
    "led7": 1,
    "mushroom": 20,
    "nursery": 1,
    "pageblocks": 1,
    "pendigits": 50,
    "pima": 1,
}
"""The minimum support of each dataset."""
COLUMNS = ("dissimilarity", "internal", "equal_itemsets", "support_difference", "new_support", "nas")
_TABLE = {
    "chess": "0.037 0.104 71 0.01 0.01 0.30",
    "iris": "0.047 0.158 83 1.69 0.80 0.72",
    "led7": "0.028 0.171 89 0.14 0.06 0.66",
    "mushroom": "0.010 0.139 - - - 0.09",
    "nursery": "0.011 0.045 90 0.04 0.03 0.49",
    "pageblocks": "0.067 0.164 75 0.06 0.02 0.77",
    "pendigits": "0.198 0.124 25 0.50 0.59 0.22",
    "pima": "0.110 0.177 60 0.30 0.14 0.64",
}
_FURTHER = {"chess50.dissimilarity": "0.19", "chess50.nas": "0.15", "pendigits.rare_in_original": "3"}
SIZES = {
    "chess": (667_630, 1_684),
    "iris": (1_475, 13),
    "led7": (30_625, 152),
    "mushroom": (277_931, 202),
    "nursery": (258_898, 260),
    "pageblocks": (10_911, 53),
    "pima": (9_143, 58),
}
"""Bits, and itemsets in use, of the authors' C++ program, with pruning: no mean of runs, so to be met exactly."""


@dataclass(frozen=True)
class Printed:
    """A figure as it is printed: what was rounded to it lies no further than ``half`` from ``value``."""

    value: float
    half: float

    @classmethod
    def of(cls, text: str) -> Printed:
        decimals = len(text.partition(".")[2])
        return cls(float(text), 0.5 * 10.0**-decimals)

    @property
    def low(self) -> float:
        return self.value - self.half

    @property
    def high(self) -> float:
        return self.value + self.half

    def meets(self, low: float, high: float) -> bool:
        """Whether an interval holds a value that is printed like this, for any rounding of ties."""
        return low <= self.high and high >= self.low


PRINTED: dict[str, Printed] = {
    f"{name}.{column}": Printed.of(text)
    for name, row in _TABLE.items()
    for column, text in zip(COLUMNS, row.split(), strict=True)
    if text != "-"
} | {name: Printed.of(text) for name, text in _FURTHER.items()}
EXACT: dict[str, int] = {
    f"{name}.{column}": size
    for name, sizes in SIZES.items()
    for column, size in zip(("bits", "non_singletons"), sizes, strict=True)
}
