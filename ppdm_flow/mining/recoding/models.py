"""Privacy models as the search asks for them: which classes keep them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.recoding.grouping import Grouping
from ppdm_flow.mining.recoding.measures import (
    added,
    distinct,
    entropies,
    equal_distances,
    heads_and_tails,
    largest,
    ordered_distances,
    shares,
)

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
SLACK = 1e-12
"""Rounding of sums of shares: a class at the bound itself keeps it."""


class Model(Protocol):
    """``attribute`` is the place of the sensitive attribute in the ground, or None."""

    @property
    def attribute(self) -> int | None:
        """The sensitive attribute."""
        ...

    def keeps(self, grouping: Grouping, base: Floats) -> Bools:
        """Return which classes keep it; ``base`` (values,) is the attribute's distribution in the whole table."""
        ...

    def lost(self, grouping: Grouping, base: Floats, drift: float) -> Floats:
        """Return, for each class, the share of its records that is suppressed at every node below, at least.

        Where only a class's parts are released, what is released of it may have another distribution, and so may the
        whole table, by ``drift`` in total variation.
        """
        ...


class Hereditary(ABC):
    """A model that no part of a class keeps where the class itself breaks it."""

    __slots__ = ()

    @abstractmethod
    def keeps(self, grouping: Grouping, base: Floats) -> Bools:
        """Return which classes keep it."""

    def lost(self, grouping: Grouping, base: Floats, _drift: float) -> Floats:
        """Return 1 where it is broken: so it is for every part of the class."""
        return (~self.keeps(grouping, base)).astype(np.float64)


@dataclass(frozen=True, slots=True)
class KAnonymous(Hereditary):
    """At least ``k`` records (Samarati 2001)."""

    k: int
    attribute: None = field(default=None, init=False)

    def keeps(self, grouping: Grouping, _base: Floats) -> Bools:
        """Compare sizes."""
        return grouping.sizes >= self.k


@dataclass(frozen=True, slots=True)
class KMap(Hereditary):
    """At least ``k`` people of the population table (Sweeney 2001); classes without a record are of no interest."""

    k: int
    attribute: None = field(default=None, init=False)

    def keeps(self, grouping: Grouping, _base: Floats) -> Bools:
        """Compare the population's counts."""
        if grouping.people is None:
            raise ValueError("k-map needs a population table")
        return grouping.people >= self.k


@dataclass(frozen=True, slots=True)
class DistinctDiverse(Hereditary):
    """At least ``l`` values (Machanavajjhala et al. 2007, section 4)."""

    attribute: int
    l: float  # noqa: E741  # the model's own letter

    def keeps(self, grouping: Grouping, _base: Floats) -> Bools:
        """Count values."""
        return np.asarray(distinct(grouping.cells[self.attribute]) >= self.l - SLACK)


@dataclass(frozen=True, slots=True)
class EntropyDiverse:
    """exp of the entropy of at least ``l`` (ibidem, definition 4.1)."""

    attribute: int
    l: float  # noqa: E741  # the model's own letter

    def keeps(self, grouping: Grouping, _base: Floats) -> Bools:
        """Compare entropies."""
        return np.asarray(entropies(grouping.cells[self.attribute], grouping.sizes) >= np.log(self.l) - SLACK)

    def lost(self, grouping: Grouping, _base: Floats, _drift: float) -> Floats:
        """Entropy is concave: a class has at least the mean of its parts', which is (1 - lost) ln l."""
        wanted = float(np.log(self.l))
        if wanted <= SLACK:
            return np.zeros(len(grouping))
        return clipped((wanted - SLACK - entropies(grouping.cells[self.attribute], grouping.sizes)) / wanted)


@dataclass(frozen=True, slots=True)
class RecursiveDiverse:
    """r_1 < c (r_l + … + r_m) for the counts in descending order (ibidem, definition 4.2)."""

    attribute: int
    c: float
    l: int  # noqa: E741  # the model's own letter

    def keeps(self, grouping: Grouping, _base: Floats) -> Bools:
        """Compare the largest count with the tail's."""
        first, tail = heads_and_tails(grouping.cells[self.attribute], self.l)
        return np.asarray(first < self.c * tail - SLACK)

    def lost(self, grouping: Grouping, _base: Floats, _drift: float) -> Floats:
        """r_1 - c (r_l + … + r_m) is convex and homogeneous, so a class's is at most the sum of its parts'."""
        first, tail = heads_and_tails(grouping.cells[self.attribute], self.l)
        return clipped((first - self.c * tail - SLACK) / np.maximum(grouping.sizes, 1))


@dataclass(frozen=True, slots=True)
class Close:
    """Earth mover's distance to the whole table of at most ``t`` (Li, Li, Venkatasubramanian 2007).

    ``ordered``: the values are in order of their codes, a step between neighbours costs 1 / (values - 1); else all
    values are equally far from each other.
    """

    attribute: int
    t: float
    ordered: bool = False

    def keeps(self, grouping: Grouping, base: Floats) -> Bools:
        """Compare distances."""
        return self._distances(grouping, base) <= self.t + SLACK

    def lost(self, grouping: Grouping, base: Floats, drift: float) -> Floats:
        """The distance is convex and at most 1."""
        return exceeding(self._distances(grouping, base), np.array(self.t + drift))

    def _distances(self, grouping: Grouping, base: Floats) -> Floats:
        found = ordered_distances if self.ordered else equal_distances
        return found(grouping.cells[self.attribute], grouping.sizes, base)


@dataclass(frozen=True, slots=True)
class AlphaBounded:
    """No value has a share above ``alpha`` (Wong et al. 2006): the alpha of (alpha, k)-anonymity.

    ``values``: the codes that it is about; empty for all.
    """

    attribute: int
    alpha: float
    values: tuple[int, ...] = ()

    def keeps(self, grouping: Grouping, _base: Floats) -> Bools:
        """Compare the largest share."""
        return self._largest(grouping) <= self.alpha + SLACK

    def lost(self, grouping: Grouping, _base: Floats, _drift: float) -> Floats:
        """The largest share is convex and at most 1."""
        return exceeding(self._largest(grouping), np.array(self.alpha))

    def _largest(self, grouping: Grouping) -> Floats:
        cells = grouping.cells[self.attribute]
        share = shares(cells, grouping.sizes)
        return largest(
            cells.begins, share if not self.values else np.where(np.isin(cells.value, self.values), share, 0.0)
        )


@dataclass(frozen=True, slots=True)
class UnionBounded:
    """Any of ``values`` (codes) has a share of at most ``most``, all of them together (Mohammed et al. 2009)."""

    attribute: int
    most: float
    values: tuple[int, ...]

    def keeps(self, grouping: Grouping, _base: Floats) -> Bools:
        """Compare the sum of their shares."""
        return self._together(grouping) <= self.most + SLACK

    def lost(self, grouping: Grouping, _base: Floats, _drift: float) -> Floats:
        """A sum of shares is linear and at most 1."""
        return exceeding(self._together(grouping), np.array(self.most))

    def _together(self, grouping: Grouping) -> Floats:
        cells = grouping.cells[self.attribute]
        named = np.isin(cells.value, self.values)
        return added(cells, np.where(named, shares(cells, grouping.sizes), 0.0))


@dataclass(frozen=True, slots=True)
class DeltaDisclosing:
    """|ln(share in the class / share in the table)| of at most ``delta`` for every value (Brickell, Shmatikov 2008)."""

    attribute: int
    delta: float

    def keeps(self, grouping: Grouping, base: Floats) -> Bools:
        """Compare ratios; a value of the table that a class lacks breaks it."""
        cells = grouping.cells[self.attribute]
        with np.errstate(divide="ignore"):  # a value that only suppressed classes have
            ratio = np.abs(np.log(shares(cells, grouping.sizes) / base[cells.value]))
        complete = distinct(cells) == np.count_nonzero(base)
        return np.asarray(complete & (largest(cells.begins, ratio) <= self.delta + SLACK))

    def lost(self, grouping: Grouping, base: Floats, drift: float) -> Floats:
        """Each value's share has an upper and a lower limit, and is linear; absent ones are left out here."""
        cells = grouping.cells[self.attribute]
        share, of_table, factor = shares(cells, grouping.sizes), base[cells.value], np.exp(self.delta)
        least = np.maximum(of_table - drift, 0.0) / factor
        below = clipped(1.0 - SLACK - share / np.where(least > 0, least, 1.0)) * (least > 0)
        return largest(cells.begins, np.maximum(exceeding(share, (of_table + drift) * factor), below))


@dataclass(frozen=True, slots=True)
class BetaLike:
    """(share in the class - share in the table) / share in the table of at most ``beta`` (Cao, Karras 2012, basic)."""

    attribute: int
    beta: float

    def keeps(self, grouping: Grouping, base: Floats) -> Bools:
        """Compare relative gains."""
        cells = grouping.cells[self.attribute]
        with np.errstate(divide="ignore"):  # a value that only suppressed classes have
            gain = shares(cells, grouping.sizes) / base[cells.value] - 1.0
        return largest(cells.begins, gain) <= self.beta + SLACK

    def lost(self, grouping: Grouping, base: Floats, drift: float) -> Floats:
        """A share is linear and at most 1."""
        cells = grouping.cells[self.attribute]
        most = (base[cells.value] + drift) * (1.0 + self.beta)
        return largest(cells.begins, exceeding(shares(cells, grouping.sizes), most))


def clipped(share: Floats) -> Floats:
    """Keep a share within [0, 1]."""
    return np.clip(share, 0.0, 1.0)


def exceeding(value: Floats, most: Floats) -> Floats:
    """Return what share of a class is lost at least, if a convex measure of at most 1 may not exceed ``most``.

    The measure of the class is at most the mean of its parts': value <= lost + (1 - lost) most.
    """
    room = 1.0 - most
    return clipped((value - most - SLACK) / np.where(room > 0, room, 1.0)) * (room > 0)
