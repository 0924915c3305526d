"""The attack: look up what is known of a person among the released rows, and guess what most of those have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ppdm_flow.audits.records.distances import RecordPoints, guesses
from ppdm_flow.audits.records.gathering import Integers, Records, distinct
from ppdm_flow.audits.records.proportions import newcombe, one_sided, wilson
from ppdm_flow.tables.column import SPECIALS


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """The release as a table to look up in: ``points`` of the known columns, ``labels`` by descending frequency.

    ``label_of`` turns a code of the sensitive column into a label; -1 where the release does not have it.
    """

    known: tuple[int, ...]
    wanted: int
    points: RecordPoints
    weights: Integers
    labels: Integers
    label_of: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Success:
    """What became of ``people`` persons: ``right`` guesses, ``prior`` right ones by the most frequent value alone.

    Of the ``groups`` of persons with equal known values that the release has too, ``least_values`` is the smallest
    number of sensitive values in one, ``homogeneous`` the number of those with a single one; ``exact`` counts the
    persons in them.
    """

    people: int
    right: int
    prior: int
    exact: int
    groups: int
    homogeneous: int
    least_values: int | None

    @property
    def rate(self) -> float:
        """The share of right guesses."""
        return self.right / self.people

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the rate."""
        return wilson(self.rate, self.people)


def learn(released: Records, known: Sequence[int], wanted: int, codes: int) -> Knowledge | None:
    """Return what the release teaches of column ``wanted``, of ``codes`` codes; None where it holds no value of it.

    A sensitive number is wanted as its declared interval.
    """
    secret = released.coarse[:, wanted]
    valued = np.flatnonzero(secret >= SPECIALS)
    if not len(valued):
        return None
    first, copies, _ = distinct(np.column_stack([released.cells[valued][:, list(known)], secret[valued]]))
    rows = valued[first]
    share = np.bincount(secret[valued], minlength=codes)
    order = np.argsort(-share, kind="stable")[: np.count_nonzero(share)]
    label_of = np.full(codes, -1, dtype=np.int64)
    label_of[order] = np.arange(len(order))
    return Knowledge(tuple(known), wanted, released.take(rows).points(known), copies, label_of[secret[rows]], label_of)


def attack(people: Records, knowledge: Knowledge) -> Success | None:
    """Attack each person whose sensitive value is known; None where there are none."""
    secret = people.coarse[:, knowledge.wanted]
    valued = np.flatnonzero(secret >= SPECIALS)
    if not len(valued):
        return None
    chosen = people.take(valued)
    first, copies, place = distinct(chosen.cells[:, list(knowledge.known)])
    points = chosen.take(first).points(knowledge.known)
    far, label, kinds = guesses(points, knowledge.points, knowledge.weights, knowledge.labels)
    truth = knowledge.label_of[secret[valued]]
    exact = far == 0
    return Success(
        people=len(chosen),
        right=int((label[place] == truth).sum()),
        prior=int((truth == 0).sum()),
        exact=int(copies[exact].sum()),
        groups=int(exact.sum()),
        homogeneous=int((kinds[exact] == 1).sum()),
        least_values=int(kinds[exact].min()) if exact.any() else None,
    )


@dataclass(frozen=True, slots=True)
class DisclosureRisk:
    """(success - other) / (1 - other): of the guesses that fail otherwise, how many the release mends.

    The other is the success on people held out, of whom the release knows nothing; without any, that of guessing the
    most frequent value.
    """

    value: float
    interval: tuple[float, float]


def risk(success: Success, control: Success | None) -> DisclosureRisk:
    """Return the risk, its interval by that of the difference; 0 where nothing fails otherwise."""
    other, people = success.prior / success.people, success.people
    if control is not None:
        other, people = control.rate, control.people
    room = 1 - other
    if room <= 0:
        return DisclosureRisk(0.0, (0.0, 0.0))
    low, high = newcombe(success.rate, success.people, other, people)
    return DisclosureRisk((success.rate - other) / room, (low / room, min(1.0, high / room)))


def alarming(success: Success, control: Success, attacks: int, error: float) -> bool:
    """Whether so much better a rate is too rare by chance in any of ``attacks``."""
    z = one_sided(error / attacks)
    return newcombe(success.rate, success.people, control.rate, control.people, z)[0] > 0
