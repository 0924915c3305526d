"""The kernels behind :mod:`ppdm_flow.mining.people.known`: each person's best choice of known rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled, wide

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@compiled
def escape(size: float, having: float, known: int) -> float:
    """Return the product over i < ``known`` of max(0, size - having - i) / (size - i): that no known row has the value.

    It is symmetric in ``known`` and ``having`` where ``having`` is whole, so the shorter product is taken.
    """
    steps = known
    if having < known and having == np.floor(having):
        steps, having = int(having), float(known)
    out = 1.0
    for i in range(steps):
        left = size - having - i
        if left <= 0.0:
            return 0.0
        out *= left / (size - i)
    return out


@compiled
def _lower(best: Floats, where: Ints, value: float, place: int) -> None:
    """Put a number into a short list in order, with its place, if it is lower than one of these."""
    for i in range(len(best)):
        if value < best[i]:
            for j in range(len(best) - 1, i, -1):
                best[j], where[j] = best[j - 1], where[j - 1]
            best[i], where[i] = value, place
            return


@compiled
def _best(ones: Floats, one_at: Ints, twos: Floats, two_at: Ints, three: float, known: int) -> float:
    """Return the lowest product for at most ``known`` (1 to 3) rows: of 1, 1+1, 2, 1+1+1, 2+1 or 3 rows a class."""
    best = ones[0]
    if known >= 2:
        best = min(best, ones[0] * ones[1], twos[0])
    if known >= 3:
        best = min(best, ones[0] * ones[1] * ones[2], three)
        for i in range(len(twos)):
            for j in range(len(ones)):
                if two_at[i] != one_at[j]:
                    best = min(best, twos[i] * ones[j])
    return float(best)


@compiled
def lowest(
    begins: Ints, classes: Ints, copies: Ints, sizes: Floats, having: Floats, people: Ints, known: int, out: Floats
) -> None:
    """Find for each of ``people`` the lowest chance that none of at most ``known`` rows has the value; 0 is all rows.

    Person p has ``copies[begins[p]:begins[p + 1]]`` rows in ``classes`` at the same places; class c has ``sizes[c]``
    rows, of which ``having[c]`` have the value. ``out`` (persons,) is written for these people. The factor of two rows
    of a class is not the square of that of one, so the best choice is not made class by class: see ``_best``.
    """
    ones, twos = np.empty(3), np.empty(2)
    one_at, two_at = np.empty(3, dtype=np.int64), np.empty(2, dtype=np.int64)
    for p in people:
        ones[:], twos[:], three, all_rows = 1.0, 1.0, 1.0, 1.0
        one_at[:], two_at[:] = -1, -2
        for at in range(begins[p], begins[p + 1]):
            c = classes[at]
            if having[c] <= 0.0:
                continue
            if known == 0:
                all_rows *= escape(sizes[c], having[c], copies[at])
                if all_rows == 0.0:
                    break
                continue
            _lower(ones, one_at, escape(sizes[c], having[c], wide(1)), c)
            if known >= 2 and copies[at] >= 2:
                _lower(twos, two_at, escape(sizes[c], having[c], wide(2)), c)
            if known >= 3 and copies[at] >= 3:
                three = min(three, escape(sizes[c], having[c], wide(3)))
        out[p] = all_rows if known == 0 else _best(ones, one_at, twos, two_at, three, known)


@compiled
def people_in(posted: Ints, holders: Ints, classes: Ints, seen: Ints, stamp: int, people: Ints) -> int:
    """List the people with a row in some of ``classes``, each once. Returns how many.

    ``holders[posted[c]:posted[c + 1]]`` are those of class c; ``seen`` (persons,) must not have ``stamp`` yet.
    """
    many = 0
    for c in classes:
        for h in range(posted[c], posted[c + 1]):
            p = holders[h]
            if seen[p] != stamp:
                seen[p] = stamp
                people[many] = p
                many += 1
    return many
