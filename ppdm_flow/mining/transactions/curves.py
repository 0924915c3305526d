"""Lowest discoverable support against the number of transactions, their size and the breach level: the talk's plots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.transactions.choosing import Challenge, choose_size
from ppdm_flow.mining.transactions.laws import Floats


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a curve starts from; the talk has 5 million transactions of 5 items at a level of 50 %.

    ``maxima`` are the largest supports S_1.., ``lengths`` the itemset sizes k.
    """

    maxima: tuple[float, ...]
    size: int = 5
    number: float = 5e6
    level: float = 0.5
    lengths: tuple[int, ...] = (1, 2, 3)
    challenge: Challenge = Challenge.WORST


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """k -> lowest discoverable support at each place of ``along``, as arrays of its shape.

    inf where no parameters keep the level, no support is discoverable, or k is above the transaction size.
    """

    along: Floats
    lowest: dict[int, Floats]


def over_numbers(setting: Setting, numbers: Iterable[float]) -> Curve:
    """Return it against N."""
    places = tuple(numbers)
    return _curve(places, [replace(setting, number=n) for n in places])


def over_sizes(setting: Setting, sizes: Iterable[int]) -> Curve:
    """Return it against |t|."""
    places = tuple(sizes)
    return _curve(places, [replace(setting, size=m) for m in places])


def over_levels(setting: Setting, levels: Iterable[float]) -> Curve:
    """Return it against the breach level."""
    places = tuple(levels)
    return _curve(places, [replace(setting, level=level) for level in places])


def _curve(along: Sequence[float], settings: Sequence[Setting]) -> Curve:
    points = [_at(setting) for setting in settings]
    lengths = settings[0].lengths if settings else ()
    return Curve(np.array(along, dtype=np.float64), {k: np.array([here[k] for here in points]) for k in lengths})


def _at(setting: Setting) -> dict[int, float]:
    none = dict.fromkeys(setting.lengths, float("inf"))
    try:
        choice = choose_size(
            setting.maxima, setting.size, setting.number, setting.level, setting.lengths, setting.challenge
        )
    except PluginError:  # no parameters keep the level here: a gap in the curve, not a fault
        return none
    return none | dict(choice.discoverable)
