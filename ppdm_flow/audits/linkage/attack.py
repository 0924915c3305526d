"""One linkage attack, carried out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.labels.joining import Found
from ppdm_flow.audits.labels.released import Classes
from ppdm_flow.audits.linkage.links import Judged, Share
from ppdm_flow.audits.linkage.people import People

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Attack:
    """What came of one attack; ``asked`` (kinds,) persons of each kind were looked up."""

    people: People
    known: Classes
    found: Found
    asked: Integers
    judged: Judged | None
    near: Judged | None

    @property
    def size(self) -> int:
        """How many persons were looked up."""
        return int(self.asked.sum())

    def share(self, which: npt.NDArray[np.bool_]) -> Share:
        """Return these kinds of people as a share of those looked up."""
        return Share(int(self.asked[which].sum()), self.size, self.size == self.people.total)
