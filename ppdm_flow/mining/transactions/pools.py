"""Transaction sizes that are judged together: supports among a handful of transactions tell of people, not of items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pool:
    """Neighbouring transaction sizes, ascending, and how many transactions have them."""

    sizes: tuple[int, ...]
    rows: int

    @property
    def name(self) -> str:
        """``7`` or ``8-12``."""
        first, last = self.sizes[0], self.sizes[-1]
        return str(first) if first == last else f"{first}-{last}"


def pools(numbers: Mapping[int, int], least: int) -> tuple[Pool, ...]:
    """Return the pools of m -> N_m, each of at least ``least`` transactions, or one of all if there are not so many.

    Sizes are taken in ascending order until a pool is full; what is left at the end goes to the last one. Empty
    transactions hold nothing that could be learned of, and are in none.
    """
    found: list[Pool] = []
    waiting: tuple[int, ...] = ()
    rows = 0
    for size in sorted(m for m, number in numbers.items() if m > 0 and number > 0):
        waiting, rows = (*waiting, size), rows + numbers[size]
        if rows >= least:
            found.append(Pool(waiting, rows))
            waiting, rows = (), 0
    if waiting and found:
        last = found.pop()
        waiting, rows = (*last.sizes, *waiting), last.rows + rows
    return (*found, Pool(waiting, rows)) if waiting else tuple(found)
