"""Groups of people that several releases leave together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.history import Membership

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Sizes of the groups, in people: ``present`` in the new release, and ``gone`` from it.

    ``gone`` are people whom the earlier releases do not tell from some who are still present: who compares the two
    finds them by difference. People whose earlier groups the new release does not touch are not among them.
    """

    present: Codes
    gone: Codes

    @property
    def k(self) -> int:
        """The smallest size; 0 without any group."""
        return min((int(sizes.min()) for sizes in (self.present, self.gone) if len(sizes)), default=0)

    def below(self, k: int) -> int:
        """Return the number of people in groups of fewer than ``k``."""
        return int(self.present[self.present < k].sum() + self.gone[self.gone < k].sum())


def groups(own: Membership, earlier: Sequence[Membership]) -> Groups:
    """Group people by their class in every earlier release and in this one; absence is a class too."""
    everybody = np.unique(np.concatenate([own.subjects, *(m.subjects for m in earlier)]))
    before = np.zeros(len(everybody), dtype=np.int64)
    for members in earlier:
        before = _together(before, _classes(members, everybody))
    now = _classes(own, everybody)
    _, first, sizes = np.unique(_together(before, now), return_index=True, return_counts=True)
    there = now[first] > 0
    touched = np.zeros(int(before.max(initial=0)) + 1, dtype=bool)
    touched[before[now > 0]] = True
    return Groups(sizes[there], sizes[~there & touched[before[first]]])


def _classes(members: Membership, everybody: npt.NDArray[np.bytes_]) -> Codes:
    """Number the class of everybody from 1; 0 is absence."""
    found = np.zeros(len(everybody), dtype=np.int64)
    found[np.searchsorted(everybody, members.subjects)] = np.unique(members.classes, return_inverse=True)[1] + 1
    return found


def _together(one: Codes, other: Codes) -> Codes:
    """Number the pairs that occur."""
    pairs = one * (int(other.max(initial=0)) + 1) + other
    together: Codes = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
    return together
