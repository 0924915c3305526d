"""What all other releases in the ledger tell of people, beside the one that is judged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.history import Hashes, History, Membership

Codes = npt.NDArray[np.int64]


def members(history: History) -> list[Membership]:
    """Return who is in which class of the other releases; generated rows are nobody's."""
    return [e.members for e in history.earlier if e.members is not None]


def told(people: Hashes, others: Sequence[Membership]) -> Codes:
    """Number what the releases tell of each of the sorted ``people``, from 0: the class in each, or absence from it."""
    found = np.zeros(len(people), dtype=np.int64)
    for each in others:
        found = joined(found, classes(people, each))
    return found


def classes(people: Hashes, release: Membership) -> Codes:
    """Number the class of each of the sorted ``people`` from 1; 0 is absence."""
    found = np.zeros(len(people), dtype=np.int64)
    if not len(people):
        return found
    place = np.searchsorted(people, release.subjects)
    there = people[np.minimum(place, len(people) - 1)] == release.subjects
    found[place[there]] = (np.unique(release.classes, return_inverse=True)[1] + 1)[there]
    return found


def joined(one: Codes, other: Codes) -> Codes:
    """Number the pairs that occur."""
    pairs = one * (int(other.max(initial=0)) + 1) + other
    together: Codes = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
    return together


def unknown(history: History | None) -> str:
    """Return why nothing can be said of this release together with the others; empty where it can."""
    if history is None:
        return (
            "Only a run that releases has the ledger and the people behind the rows, so this cannot be measured here."
        )
    if history.own is None:
        return "Nothing tells whose rows are released, so nobody can say what remains of them beside earlier releases."
    names = "; ".join(e.name for e in history.unknown)
    return names and (
        f"The ledger does not tell whose rows these releases have, so nothing can be said beside them: {names}."
    )
