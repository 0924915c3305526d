"""Chooses rows to leave out so that nobody stands out by the classes of several rows that are seen to be one person's.

An adversary who knows up to m rows of a linked person finds the linked people that have rows in all these classes: at
least k have to be left. Rows of single classes that fewer people have go first, as in an apriori search (Terrovitis,
Mamoulis, Kalnis, PVLDB 1(1), 2008). Then people who still have a rare combination lose their rows of the rarest
classes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.people.known_rows import ClassProfiles, crowds_of, number_of_combinations, profiles

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
_SHARE = 8
"""Of somebody with a rare combination, one class goes, or one in so many."""
_MANY = 20_000_000
"""Combinations from which on the few people who have most of them lose half of their classes without a look."""
_FEW = 100
"""One person in so many, or a single one, are few."""


def standing_out(persons: Ints, classes: Ints, linked: Bools, k: int, known_rows: int | None) -> Bools:
    """Return rows to leave out, shape (rows,); none where all combinations are had by k people.

    What is left may have rare combinations again: call it until there are none.

    Parameters
    ----------
    persons, classes
        (rows,) whose row it is, and its class, numbers from 0.
    linked
        (rows,) which rows are seen to be one person's.
    k
        How many people have to have a combination.
    known_rows
        1 to 3, or None for all, as :func:`ppdm_flow.mining.people.known_rows.smallest_crowd` has it.

    Raises
    ------
    TooManyError
        There are more combinations than can be compared.
    """
    class_profiles = profiles(persons, classes, linked)
    out = np.zeros(len(persons), dtype=np.bool_)
    if not len(class_profiles):
        return out
    own = class_profiles.holdings
    having = np.bincount(own.classes, minlength=class_profiles.number_of_classes)
    rare = having[own.classes] < k
    if not rare.any():
        heavy = _with_most(class_profiles, known_rows)
        if heavy.any():
            rare = _rarest(class_profiles, having, heavy, 2)
        else:
            rare = _rarest(class_profiles, having, crowds_of(class_profiles, known_rows).by_person < k, _SHARE)
    if not rare.any():
        return out
    return _of_pairs(class_profiles, rare, persons, classes, linked)


def _with_most(class_profiles: ClassProfiles, known_rows: int | None) -> Bools:
    """Return the people with most combinations, if all are many and these people few: nobody shares all of theirs."""
    nobody = np.zeros(len(class_profiles.of), dtype=np.bool_)
    if known_rows is None or known_rows == 1 or number_of_combinations(class_profiles, known_rows) <= _MANY:
        return nobody
    own = class_profiles.multisets(known_rows)[class_profiles.of]
    most = own >= own.max() / 2
    return most if int(most.sum()) <= max(1, len(own) // _FEW) else nobody


def _rarest(class_profiles: ClassProfiles, having: Ints, chosen: Bools, share: int) -> Bools:
    """Mark the rarest classes of ``chosen`` people, one in ``share``, among what people have in classes."""
    own = class_profiles.holdings
    many = np.diff(own.begins)
    owner = np.repeat(np.arange(len(many)), many)
    order = np.lexsort((own.classes, having[own.classes], owner))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) - own.begins[owner[order]]
    return np.asarray(chosen[owner] & (place < np.maximum(1, many // share)[owner]))


def _of_pairs(class_profiles: ClassProfiles, rare: Bools, persons: Ints, classes: Ints, linked: Bools) -> Bools:
    """Return the linked rows of the marked pairs of a person and a class."""
    own = class_profiles.holdings
    rows = np.flatnonzero(linked & (classes >= 0))
    names = np.unique(classes[rows])
    owner = np.repeat(np.arange(len(own.persons)), np.diff(own.begins))
    width = max(1, len(names))
    wanted = (owner * width + own.classes)[rare]
    pairs = np.searchsorted(own.persons, persons[rows]) * width + np.searchsorted(names, classes[rows])
    out = np.zeros(len(persons), dtype=np.bool_)
    out[rows[np.isin(pairs, wanted)]] = True
    return out
