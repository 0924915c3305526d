"""The greedy search: from the most suppressed table, disclose the best valid value, again and again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.progressive_disclosure.groups import Groups
from ppdm_flow.anonymizers.progressive_disclosure.problem import Problem
from ppdm_flow.anonymizers.progressive_disclosure.score import (
    NEGLIGIBLE,
    Floats,
    information_gain,
    split_entropy,
)
from ppdm_flow.core.requirements import TOLERANCE


@dataclass(frozen=True, slots=True)
class Disclosure:
    """One disclosure: the places of attribute and value, and what it was chosen for."""

    attribute: int
    value: int
    gain: float
    loss: float
    score: float


class Search:
    """One run of the algorithm (Wang, Fung, Yu, Algorithm 1).

    ``useless`` says whether values that tell nothing of the class are disclosed too, once no useful one is left. The
    last suppressed value of an attribute is disclosed in any case: the mark would hide nothing.
    """

    def __init__(self, problem: Problem, *, useless: bool = False) -> None:
        self.problem = problem
        self.useless = useless
        self.groups = tuple(Groups(problem, channel) for channel in problem.channels)
        self.by_value = [problem.by_value(a) for a in range(len(problem.attributes))]
        self.suppressed = [rows.sum(axis=0) for rows in self.by_value]
        self.hidden = [rows[:-1].sum(axis=1) > 0 for rows in self.by_value]
        self._after: dict[tuple[int, int], Floats] = {}

    def run(self) -> list[Disclosure]:
        """Disclose until no valid value is left that is worth it; return the disclosures in order."""
        found = []
        while (best := self._best()) is not None:
            self._disclose(best)
            found.append(best)
        return found

    def _best(self) -> Disclosure | None:
        """The valid value with the best score; ties go to the first attribute, then to the first value."""
        rated = [self._rated(a) for a in range(len(self.problem.attributes))]
        top = max((float(score.max(initial=-np.inf)) for _, _, score in rated), default=-np.inf)
        if top == -np.inf:
            return None
        for attribute, (gain, loss, score) in enumerate(rated):
            tied = np.flatnonzero(score >= top - NEGLIGIBLE)
            if len(tied):
                v = int(tied[0])
                return Disclosure(attribute, v, float(gain[v]), float(loss[v]), float(score[v]))
        return None

    def _rated(self, attribute: int) -> tuple[Floats, Floats, Floats]:
        """InfoGain, PrivLoss and score of every value; a score of -inf where it must not or need not be disclosed."""
        size = self.problem.attributes[attribute].size
        gain, loss, score = np.zeros(size), np.zeros(size), np.full(size, -np.inf)
        open_values = np.flatnonzero(self.hidden[attribute])
        if len(open_values) == 0:
            return gain, loss, score
        gain[open_values] = self._gain(attribute, open_values)
        loss, valid = self._privacy(attribute, size)
        worth = gain > NEGLIGIBLE
        if self.useless or self._alone(attribute, open_values):
            worth[open_values] = True
        chosen = valid & worth & self.hidden[attribute]
        score[chosen] = np.maximum(gain, 0.0)[chosen] / (loss[chosen] + 1.0)
        return gain, loss, score

    def _gain(self, attribute: int, open_values: npt.NDArray[np.int64]) -> Floats:
        rate = split_entropy if self.problem.classes is None else information_gain
        return rate(self.by_value[attribute][open_values], self.suppressed[attribute])

    def _privacy(self, attribute: int, size: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """PrivLoss, the mean rise of confidence over the templates concerned, and whether all of them still hold."""
        rise, valid, concerned = np.zeros(size), np.ones(size, dtype=np.bool_), 0
        for place, groups in enumerate(self.groups):
            if attribute not in groups.attributes:
                continue
            if (place, attribute) not in self._after:
                self._after[place, attribute] = groups.after(attribute, size)
            after = self._after[place, attribute]
            rise += (after - groups.confidence[:, np.newaxis]).sum(axis=0)
            valid &= (after <= groups.bounds[:, np.newaxis] + TOLERANCE).all(axis=0)
            concerned += len(groups.templates)
        return rise / max(1, concerned), valid

    def _alone(self, attribute: int, open_values: npt.NDArray[np.int64]) -> bool:
        stuck = bool((self.problem.attributes[attribute].codes < 0).any())
        return len(open_values) == 1 and not stuck

    def _disclose(self, chosen: Disclosure) -> None:
        attribute, value = chosen.attribute, chosen.value
        self.hidden[attribute][value] = False
        self.suppressed[attribute] = self.suppressed[attribute] - self.by_value[attribute][value]
        for place, groups in enumerate(self.groups):
            if attribute in groups.attributes:
                groups.disclose(attribute, value)
                self._after = {key: after for key, after in self._after.items() if key[0] != place}
