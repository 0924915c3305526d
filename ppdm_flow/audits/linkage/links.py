"""A linkage attack: links between people and released rows, counted, and judged where the truth is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from ppdm_flow.audits.labels.joining import Matches
from ppdm_flow.audits.labels.released import ReleasedClasses
from ppdm_flow.audits.linkage.nearest import NearestRows
from ppdm_flow.audits.linkage.people import KindsOfPeople
from ppdm_flow.audits.records.proportions import ALARM, wilson
from ppdm_flow.core.results import Figure

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class HitShare:
    """``hits`` of ``size`` persons; ``complete``: these are all that there are, and no sample."""

    hits: float
    size: int
    complete: bool = True

    def figure(self, note: str = "", unit: str = "share") -> Figure:
        """Return the share, with its 95 % interval (Wilson) where it is of a sample."""
        if self.size == 0:
            return Figure(None, unit, note=note or "there is nobody to ask about")
        share = self.hits / self.size
        interval = None if self.complete else wilson(share, self.size)
        return Figure(share, unit, interval, None if self.complete else self.size, note)


@dataclass(frozen=True, slots=True)
class LinkQuality:
    """Of ``claims`` (persons with a single best row) ``correct`` are right; ``released`` persons have a row."""

    claims: int
    correct: int
    released: int
    complete: bool

    @property
    def precision(self) -> HitShare:
        """How many of the claims are right."""
        return HitShare(self.correct, self.claims, self.complete)

    @property
    def recall(self) -> HitShare:
        """How many of those who have a row are found."""
        return HitShare(self.correct, self.released, self.complete)

    def alarming(self, rows: int) -> bool:
        """Whether guessing one of all released rows would hardly ever be right so often."""
        if self.correct == 0 or rows == 0:
            return False
        return bool(binom.sf(self.correct - 1, self.claims, 1.0 / rows) < ALARM)


def exact(people: KindsOfPeople, matches: Matches, weights: Integers) -> LinkQuality | None:
    """Judge the rows that are the only ones that fit; None where nobody knows whose they are."""
    if people.own is None:
        return None
    linked, own = matches.linked, people.own
    right = linked & (matches.first == own)
    claims, correct, released = (int(weights[which].sum()) for which in (linked, right, own >= 0))
    return LinkQuality(claims, correct, released, bool((weights == people.persons).all()))


def approximate(people: KindsOfPeople, nearest_classes: NearestRows) -> LinkQuality:
    """Judge the rows that are the only nearest ones."""
    single = nearest_classes.rows == 1
    claims, correct = (int(nearest_classes.persons[which].sum()) for which in (single, single & nearest_classes.among))
    complete = bool(people.own is not None and nearest_classes.persons.sum() == people.persons[people.own >= 0].sum())
    return LinkQuality(claims, correct, int(nearest_classes.persons.sum()), complete)


@dataclass(frozen=True, slots=True, eq=False)
class LinkageAttack:
    """What came of one attack; ``weights`` (kinds,) persons of each kind were looked up.

    ``released`` are the rows of the release, or the people who have some: ``unit`` says which.
    """

    people: KindsOfPeople
    known: ReleasedClasses
    matches: Matches
    weights: Integers
    judged: LinkQuality | None
    near: LinkQuality | None
    released: int
    unit: str = "rows"

    @property
    def size(self) -> int:
        """How many persons were looked up."""
        return int(self.weights.sum())

    def share(self, which: npt.NDArray[np.bool_]) -> HitShare:
        """Return these kinds of people as a share of those looked up."""
        return HitShare(int(self.weights[which].sum()), self.size, self.size == self.people.total)
