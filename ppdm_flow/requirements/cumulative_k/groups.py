"""Groups of people that several releases leave together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ppdm_flow.mining.releases.successive import classes, numbered_combinations
from ppdm_flow.sdk.history import Membership
from ppdm_flow.tables.numbering import Codes, joined, numbered


@dataclass(frozen=True, slots=True, eq=False)
class CumulativeGroups:
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


def groups(own: Membership, earlier: Sequence[Membership]) -> CumulativeGroups:
    """Group people by their class in every earlier release and in this one; absence is a class too."""
    (here, *others), everybody = numbered(own.subjects, *(m.subjects for m in earlier))
    before = numbered_combinations(len(everybody), zip(others, earlier, strict=True))
    now = classes(len(everybody), here, own)
    group = joined(before, now)
    sizes = np.bincount(group)
    some = np.zeros(len(sizes), dtype=np.int64)
    some[group] = np.arange(len(group))
    there = now[some] > 0
    touched = np.zeros(int(before.max(initial=0)) + 1, dtype=bool)
    touched[before[now > 0]] = True
    return CumulativeGroups(sizes[there], sizes[~there & touched[before[some]]])
