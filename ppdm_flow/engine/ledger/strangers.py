"""Strangers in the place of people whom a ledger forgets: as many, in the same classes, and nobody that is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ppdm_flow.engine.ledger.key import numbers_of, ranked
from ppdm_flow.reader.earlier import UNKNOWN_HASH, KeptFile
from ppdm_flow.sdk.history import Hashes, Membership


def with_strangers(members: Membership, people: Hashes, strangers: Hashes) -> Membership:
    """Return who is in which class with ``strangers`` (people,) in the place of ``people``, in the order of hashes."""
    subjects = members.subjects.copy()
    for person, stranger in zip(people, strangers, strict=True):
        subjects[subjects == person] = stranger
    order = ranked(subjects)
    return Membership(subjects[order], members.classes[order])


def without_people(kept: KeptFile, people: Hashes, strangers: Hashes) -> KeptFile:
    """Return a file whose rows of ``people`` are those of ``strangers``, of whose source values nothing is known."""
    own, gone = kept.people.copy(), np.isin(kept.people, numbers_of(people))
    for person, stranger in zip(numbers_of(people), numbers_of(strangers), strict=True):
        own[kept.people == person] = stranger
    attributes = {name: np.where(gone, UNKNOWN_HASH, hashes) for name, hashes in kept.attributes.items()}
    columns = tuple(
        c if c.hashes is None else replace(c, hashes=np.where(gone & (c.hashes >= 0), UNKNOWN_HASH, c.hashes))
        for c in kept.columns
    )
    return replace(kept, people=own, attributes=attributes, columns=columns)
