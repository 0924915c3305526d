"""What all other releases in the ledger reveal of people, beside the judged release, by two routes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from ppdm_flow.sdk.history import Membership, ReleaseHistory
from ppdm_flow.tables.numbering import Codes, chunks, joined, numbered


def members(history: ReleaseHistory) -> list[Membership]:
    """Return who is in which class of the other releases; generated rows are nobody's."""
    return [e.members for e in history.earlier if e.members is not None]


def different_members(history: ReleaseHistory) -> list[Membership]:
    """Return the same; of releases with the same people in the same classes one, which tells as much as all of them."""
    return list({_digest(each): each for each in reversed(members(history))}.values())[::-1]


def _digest(release: Membership) -> bytes:
    digest = hashlib.blake2b(np.ascontiguousarray(release.subjects).data, digest_size=32)
    digest.update(np.ascontiguousarray(release.classes).data)
    return digest.digest()


def numbered_combinations(number: int, others: Iterable[tuple[Codes, Membership]]) -> Codes:
    """Number what releases reveal of people 0, 1, … up to ``number``; each release comes with its people."""
    numbers = np.zeros(number, dtype=np.int64)
    for people, each in others:
        numbers = joined(numbers, classes(number, people, each))
    return numbers


def classes(number: int, people: Codes, release: Membership) -> Codes:
    """Number the class of people 0, 1, … up to ``number`` from 1; 0 is absence, others are left out."""
    (codes,), _ = numbered(release.classes)
    numbers = np.zeros(number, dtype=np.int64)
    there = people < number
    numbers[people[there]] = codes[there] + 1
    return numbers


def relation(releases: Sequence[Membership]) -> pa.Table:
    """Return who is in which class as a relation (``release`` from 0, ``person``, ``cls``), for SQL."""
    lengths = [len(each.subjects) for each in releases]
    sides = {"person": chunks([m.subjects for m in releases]), "cls": chunks([m.classes for m in releases])}
    return pa.table({"release": np.repeat(np.arange(len(releases), dtype=np.int32), lengths), **sides})


def why_unknown(history: ReleaseHistory | None) -> str:
    """Return why nothing can be said of this release together with the others; empty where it can."""
    if history is None:
        return (
            "Only a run that releases has the ledger and the people behind the rows, so this cannot be measured here."
        )
    if history.own is None:
        return "Nothing tells whose rows are released, so nobody can say what remains of them beside earlier releases."
    if forgotten := "; ".join(e.name for e in history.unknown if e.forgotten):
        return (
            "These releases have people whom the ledger has forgotten, and who are in this one again, so nothing can be"
            f" said beside them: {forgotten}."
        )
    names = "; ".join(e.name for e in history.unknown)
    return names and (
        f"The ledger does not tell whose rows these releases have, so nothing can be said beside them: {names}."
    )
