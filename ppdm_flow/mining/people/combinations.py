"""All combinations of a few classes that linked people have, some at a time, with the profiles that have each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.phrases import counted
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.people.profiles import ClassProfiles

Ints = npt.NDArray[np.int64]

MOST_COMBINATIONS = 100_000_000
"""The most combinations that are looked at, each counted once for each profile that has it."""
CHUNK = 1 << 22
"""People of combinations that are in memory at a time, unless one combination has more."""
LARGEST = 3
"""The most known rows, but for all of them."""
_PACKED = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class ProfileCombinations:
    """Combination g is what ``profiles[begins[g]:begins[g + 1]]`` have, each profile once."""

    begins: Ints
    profiles: Ints

    def __len__(self) -> int:
        return len(self.begins) - 1

    def crowds(self, people: Ints) -> Ints:
        """Return the people that have each combination; ``people`` (profiles,) are those of each profile."""
        return np.asarray(np.add.reduceat(people[self.profiles], self.begins[:-1]), dtype=np.int64)


class CombinationLimitError(UnmeasuredError):
    """There are more combinations than are looked at."""

    code = "PPF940"

    @classmethod
    def of(cls, number: float, known_rows: int) -> CombinationLimitError:
        """Say how many, and what to do."""
        return cls(
            f"The linked rows of people have {number:.3g} combinations of up to"
            f" {counted(known_rows, 'class')}, and at most {MOST_COMBINATIONS:,} are compared: give each person fewer"
            " rows by `limit_rows`, generalize until they fall into fewer classes, or release no column that links"
            " them."
        )


def number_of_combinations(profiles: ClassProfiles, known_rows: int) -> float:
    """Return how many combinations of at most so many rows there are, each counted for each profile that has it."""
    return sum(float(profiles.multisets(size).sum()) for size in range(1, known_rows + 1))


def require_few_groups(profiles: ClassProfiles, known_rows: int | None) -> None:
    """Raise TooManyError where combinations, each counted for each person that has it, are more than are looked at."""
    if known_rows is not None and 1 <= known_rows <= LARGEST:
        sizes = range(1, known_rows + 1)
        number = sum(float((profiles.multisets(size) * profiles.people).sum()) for size in sizes)
        if number > MOST_COMBINATIONS:
            raise CombinationLimitError.of(number, known_rows)


def combinations(profiles: ClassProfiles, known_rows: int | None, chunk: int = CHUNK) -> Iterator[ProfileCombinations]:
    """Yield the combinations of classes that somebody has, each once.

    ``known_rows`` is 1 to 3, or None for all: then a combination is a whole profile. ``chunk`` bounds the people of the
    combinations of one item. Raises TooManyError where there are more than ``MOST_COMBINATIONS``.
    """
    if chunk < 1:
        raise ValueError(f"chunk must be at least 1, got {chunk}")
    if known_rows is None:
        yield from _wholes(profiles, chunk)
        return
    if not 1 <= known_rows <= LARGEST:
        raise ValueError(f"known_rows must be 1 to {LARGEST}, or None for all, got {known_rows}")
    number = number_of_combinations(profiles, known_rows)
    if number > MOST_COMBINATIONS:
        raise CombinationLimitError.of(number, known_rows)
    for size in range(1, known_rows + 1):
        yield from _of_size(profiles, size, chunk)


def _wholes(profiles: ClassProfiles, chunk: int) -> Iterator[ProfileCombinations]:
    ends = np.cumsum(profiles.people)
    at = 0
    while at < len(profiles):
        upto = max(at + 1, int(np.searchsorted(ends, (ends[at - 1] if at else 0) + chunk, side="right")))
        yield ProfileCombinations(np.arange(upto - at + 1, dtype=np.int64), np.arange(at, upto, dtype=np.int64))
        at = upto


def _of_size(profiles: ClassProfiles, size: int, chunk: int) -> Iterator[ProfileCombinations]:
    from ppdm_flow.mining.people.known_rows_kernels import multisets  # noqa: PLC0415  # compiled: takes time to start

    held = (profiles.begins, profiles.classes, profiles.copies, profiles.people, size)
    people = float((profiles.multisets(size) * profiles.people).sum())
    loads = np.zeros((2, min(1 << 16, 1 + int(8 * people / chunk))), dtype=np.int64)
    nothing = np.empty((size, 0), dtype=np.int64)
    multisets(*held, 0, 0, loads, nothing, nothing[0])
    ends = np.cumsum(loads[0])
    low = 0
    while low < len(ends):
        high = max(low + 1, int(np.searchsorted(ends, (ends[low - 1] if low else 0) + chunk, side="right")))
        room = int(loads[1, low:high].sum())
        if room:
            keys, owners = np.empty((size, room), dtype=np.int64), np.empty(room, dtype=np.int64)
            multisets(*held, low, high, loads, keys, owners)
            yield _grouped(keys, owners, profiles.number_of_classes)
        low = high


def _grouped(keys: Ints, owners: Ints, classes: int) -> ProfileCombinations:
    """Bring equal keys together."""
    key = keys[0]
    for step, column in enumerate(keys[1:], 2):
        if classes**step >= _PACKED:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
        key = key * classes + column
    order = np.argsort(key)
    key = key[order]
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    return ProfileCombinations(np.append(first, len(key)).astype(np.int64), owners[order])
