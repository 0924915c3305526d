"""The greedy search: from the most suppressed table, disclose the best valid value, again and again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.progressive_disclosure.candidates import Candidates
from ppdm_flow.anonymizers.progressive_disclosure.channel import Groups
from ppdm_flow.anonymizers.progressive_disclosure.information import Information
from ppdm_flow.anonymizers.progressive_disclosure.kernel import privacy
from ppdm_flow.anonymizers.progressive_disclosure.problem import Problem
from ppdm_flow.anonymizers.progressive_disclosure.score import NEGLIGIBLE, Offers, choose

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Disclosure:
    """One disclosure: the places of attribute and node, and what it was chosen for."""

    attribute: int
    node: int
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
        self.candidates = Candidates.of(problem)
        self.groups = tuple(Groups.of(problem, channel, self.candidates) for channel in problem.channels)
        self.information = Information(self.candidates, problem.total, supervised=problem.classes is not None)
        self.concerned = self._concerned()
        self.wanted = self.information.hopeful | useless
        self.open = self.candidates.topmost & (self.information.rows > 0)
        self.found: list[Disclosure] = []

    def run(self) -> list[Disclosure]:
        """Disclose until no valid value is left that is worth it; return the disclosures in order."""
        while (best := self.best()) is not None:
            self.disclose(best)
        return self.found

    def best(self) -> Disclosure | None:
        """Return the valid candidate with the best score; ties go to the first attribute, then to the first value."""
        found = self.ranked(1)
        return found[0] if found else None

    def ranked(self, width: int) -> list[Disclosure]:
        """Return the ``width`` best candidates in the order in which :meth:`best` would take them."""
        candidates, rise, valid = self._rated()
        offers = self._offers()
        found: list[Disclosure] = []
        while len(found) < width and (candidate := choose(offers, candidates, rise, valid, NEGLIGIBLE)) >= 0:
            found.append(self._disclosure(candidate, float(rise[candidate])))
            valid[candidate] = False
        return found

    def disclose(self, chosen: Disclosure) -> None:
        """Disclose, and let the node's children follow as candidates."""
        candidate = int(self.candidates.offset[chosen.attribute]) + chosen.node
        for groups in self.groups:
            groups.disclose(candidate)
        self.information.disclose(candidate)
        self.open[candidate] = False
        below = self.candidates.below(candidate)
        self.open[below] = self.information.rows[below] > 0
        self.found.append(chosen)

    def copy(self) -> Search:
        """Return a search that goes on from here by itself."""
        found = object.__new__(Search)
        found.problem, found.useless, found.candidates = self.problem, self.useless, self.candidates
        found.groups = tuple(g.copy() for g in self.groups)
        found.information = self.information.copy()
        found.concerned, found.wanted = self.concerned, self.wanted
        found.open, found.found = self.open.copy(), self.found.copy()
        return found

    def _concerned(self) -> Floats:
        """How many templates have the candidate's attribute in their channel, at least 1, shape (C,)."""
        found = np.zeros(len(self.candidates))
        for channel in self.problem.channels:
            for attribute in channel.attributes:
                found[self.candidates.range(attribute)] += len(channel.templates)
        return np.maximum(found, 1.0)

    def _offers(self) -> Offers:
        known = self.information
        return Offers(
            known.rows, known.kind, self.candidates.shelf, self.wanted, self.concerned, known.gain, known.on_shelf
        )

    def _rated(self) -> tuple[Places, Floats, Bools]:
        """Open candidates, the sum of their rises of confidence over all templates concerned, and which are valid."""
        candidates = np.flatnonzero(self.open).astype(np.int32)
        rise, valid, broken = np.zeros(len(self.open)), np.ones(len(self.open), dtype=np.bool_), 0
        for groups in self.groups:
            broken += privacy(groups.state, groups.bounds, groups.least, candidates, rise, valid)
        return self._kept(candidates, valid) if broken else candidates, rise, valid

    def _kept(self, candidates: Places, valid: Bools) -> Places:
        """Drop what would break a bound: confidences only rise, so it will never be valid again."""
        for candidate in candidates[~valid[candidates]].tolist():
            self.open[candidate] = False
            self.information.forget(candidate)
            for groups in self.groups:
                groups.drop(candidate)
        return candidates[valid[candidates]]

    def _disclosure(self, candidate: int, rise: float) -> Disclosure:
        """PrivLoss is the mean rise of confidence over the templates concerned."""
        attribute = int(self.candidates.attribute[candidate])
        gain, loss = self.information.of(candidate), rise / float(self.concerned[candidate])
        node = candidate - int(self.candidates.offset[attribute])
        return Disclosure(attribute, node, gain, loss, gain / (loss + 1.0))
