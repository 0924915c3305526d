"""The greedy search: from the most suppressed table, disclose the best valid value, again and again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.progressive_disclosure.candidates import NO_FOLLOWER, Candidates, followers
from ppdm_flow.anonymizers.progressive_disclosure.channel import Groups
from ppdm_flow.anonymizers.progressive_disclosure.choice import Choice, Openings
from ppdm_flow.anonymizers.progressive_disclosure.information import Information
from ppdm_flow.anonymizers.progressive_disclosure.problem import Problem
from ppdm_flow.anonymizers.progressive_disclosure.score import Offers

Floats = npt.NDArray[np.float64]


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
        self._next = followers(problem, self.candidates)
        self._leads = np.ones(len(self.candidates), dtype=np.bool_)
        self._leads[self._next[self._next != NO_FOLLOWER]] = False
        self._broken = np.zeros(len(self.candidates), dtype=np.bool_)
        self.open = Openings(self.information.kind, len(self.information.gain))
        self._offer(np.flatnonzero(self.candidates.topmost))
        self.disclosures: list[Disclosure] = []
        self._choice = self._chooser()

    def run(self) -> list[Disclosure]:
        """Disclose until no valid value is left that is worth it; return the disclosures in order."""
        while (best := self.best()) is not None:
            self.disclose(best)
        return self.disclosures

    def best(self) -> Disclosure | None:
        """Return the valid candidate with the best score; ties go to the first attribute, then to the first value."""
        leaders = self.ranked(1)
        return leaders[0] if leaders else None

    def ranked(self, width: int) -> list[Disclosure]:
        """Return the ``width`` best candidates in the order in which :meth:`best` would take them."""
        best_first: list[Disclosure] = []
        while len(best_first) < width and (best := self._choice.best()) is not None:
            best_first.append(self._disclosure(*best))
            self._pass_on(best[0])
        for one in reversed(best_first):
            self._take_back(self._candidate(one))
        return best_first

    def disclose(self, chosen: Disclosure) -> None:
        """Disclose, and let the node's children follow as candidates."""
        candidate = self._candidate(chosen)
        for groups in self.groups:
            groups.disclose(candidate)
        self.information.disclose(candidate)
        self._pass_on(candidate)
        self._offer(self.candidates.below(candidate))
        self.disclosures.append(chosen)

    def copy(self) -> Search:
        """Return a search that goes on from here by itself."""
        copied = object.__new__(Search)
        copied.problem, copied.useless, copied.candidates = self.problem, self.useless, self.candidates
        copied.groups = tuple(g.copy() for g in self.groups)
        copied.information = self.information.copy()
        copied.concerned, copied.wanted = self.concerned, self.wanted
        copied._next, copied._leads, copied._broken = self._next, self._leads, self._broken.copy()
        copied.open, copied.disclosures = self.open.copy(), self.disclosures.copy()
        copied._choice = copied._chooser()
        return copied

    def _concerned(self) -> Floats:
        """How many templates have the candidate's attribute in their channel, at least 1, shape (C,)."""
        templates = np.zeros(len(self.candidates))
        for channel in self.problem.channels:
            for attribute in channel.attributes:
                templates[self.candidates.range(attribute)] += len(channel.templates)
        return np.maximum(templates, 1.0)

    def _chooser(self) -> Choice:
        known = self.information
        offers = Offers(
            known.rows, known.kind, self.candidates.shelf, self.wanted, self.concerned, known.gain, known.on_shelf
        )
        return Choice(self.groups, known, offers, self.open, self._close)

    def _close(self, candidate: int) -> None:
        """Drop what would break a bound: confidences only rise, so it will never be valid again."""
        self._broken[candidate] = True
        self._pass_on(candidate)
        self.information.forget(candidate)
        for groups in self.groups:
            groups.drop(candidate)

    def _offer(self, candidates: npt.NDArray[np.integer]) -> None:
        """Open candidates that some row has; of those that are alike, the first."""
        some = self._leads[candidates] & (self.information.rows[candidates] > 0)
        self.open.open(candidates[some].tolist())

    def _pass_on(self, candidate: int) -> None:
        """Let the next candidate that is like this one stand in its place."""
        self.open.close(candidate)
        following = int(self._next[candidate])
        while following != NO_FOLLOWER and self._broken[following]:
            following = int(self._next[following])
        if following != NO_FOLLOWER:
            self.open.open([following])

    def _take_back(self, candidate: int) -> None:
        """Let a candidate stand for those like it again."""
        following = int(self._next[candidate])
        while following != NO_FOLLOWER and following not in self.open:
            following = int(self._next[following])
        if following != NO_FOLLOWER:
            self.open.close(following)
        self.open.open([candidate])

    def _candidate(self, disclosure: Disclosure) -> int:
        return int(self.candidates.offset[disclosure.attribute]) + disclosure.node

    def _disclosure(self, candidate: int, rise: float) -> Disclosure:
        """PrivLoss is the mean rise of confidence over the templates concerned."""
        attribute = int(self.candidates.attribute[candidate])
        gain, loss = self.information.of(candidate), rise / float(self.concerned[candidate])
        node = candidate - int(self.candidates.offset[attribute])
        return Disclosure(attribute, node, gain, loss, gain / (loss + 1.0))
