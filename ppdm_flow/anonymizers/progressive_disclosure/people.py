"""Which disclosures people allow: the search counts rows, and what breaks a requirement for people is taken back.

A confidence of people is never below that of rows, and a group has no more people than rows, so whatever the search
refuses is refused here too. But a group that keeps a template for people need not have parts that do, nor do two such
groups keep it together: so the search's disclosures are tried in its order, as many as possible at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.progressive_disclosure.problem import TOP, DisclosureProblem, InferenceChannel
from ppdm_flow.anonymizers.progressive_disclosure.search import Disclosure
from ppdm_flow.core.people import PeopleFigure
from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.mining.class_people.seen import ClassPeople, PersonalClasses
from ppdm_flow.mining.recoding.grouping import RowGrouping, largest, shares
from ppdm_flow.mining.recoding.kernels import keyed, numbered
from ppdm_flow.mining.recoding.models import Bools, ClassModel, Floats

Ints = npt.NDArray[np.int64]
MOST_CHECKS = 2_000
"""Tables that are looked at; what was not tried by then stays suppressed."""


@dataclass(frozen=True, slots=True)
class ConfidenceHit(ClassModel):
    """The value that a template protects (code 1) has a confidence of at most ``most``."""

    attribute: int
    most: float
    figure: ClassVar[PeopleFigure] = PeopleFigure.CONFIDENCE

    def keeps(self, grouping: RowGrouping, _base: Floats) -> Bools:
        """Compare confidences."""
        cells = grouping.cells[self.attribute]
        share = np.where(cells.value == 1, shares(cells, grouping.sizes), 0.0)
        return np.asarray(largest(cells.begins, share) <= self.most + TOLERANCE)

    def lost(self, grouping: RowGrouping, _base: Floats, _drift: float) -> Floats:
        """Parts of a group may keep what the group breaks."""
        return np.zeros(len(grouping))


@dataclass(frozen=True, eq=False)
class DisclosedPeople:
    """``persons`` (combinations,), ascending: whose row each combination of a problem is, one row each."""

    problem: DisclosureProblem
    persons: Ints
    known_rows: int | None

    @cached_property
    def _channels(self) -> list[tuple[InferenceChannel, ClassPeople, list[ConfidenceHit]]]:
        return [self._of(channel) for channel in self.problem.channels]

    def _of(self, channel: InferenceChannel) -> tuple[InferenceChannel, ClassPeople, list[ConfidenceHit]]:
        hits = [t.hits.astype(np.int32) for t in channel.templates]
        people = ClassPeople(self.persons, self.problem.weights, hits, [2] * len(hits), self.known_rows)
        return channel, people, [ConfidenceHit(i, t.confidence) for i, t in enumerate(channel.templates)]

    def holds(self, shown: Sequence[Bools]) -> bool:
        """Whether every group over every channel keeps everything, where these nodes (a mask a tree) are disclosed."""
        codes = self.cells(shown)
        for channel, people, models in self._channels:
            columns = [channel.base, *(codes[a] for a in channel.attributes)]
            ids, first = numbered(keyed(np.stack(columns, axis=1) + 1))
            classes = PersonalClasses.of(ids, len(first), self.persons)
            if not people.keeps(classes, (), channel.least).all() or not people.keeps(classes, models).all():
                return False
        return True

    def cells(self, shown: Sequence[Bools]) -> list[Ints]:
        """Return the node that each combination shows, attribute by attribute, -1 for a suppressed cell."""
        out = []
        for attribute, mask in zip(self.problem.attributes, shown, strict=True):
            at = np.append(attribute.tree.visible(mask)[attribute.tree.leaf], TOP)
            out.append(at[attribute.codes].astype(np.int64))
        return out

    def permitted(self, disclosures: Sequence[Disclosure]) -> list[Disclosure] | None:
        """Return the disclosures that can be made; None where nothing that was tried keeps everything."""
        shown = [np.zeros(len(a.tree), dtype=np.bool_) for a in self.problem.attributes]
        accepted: list[Disclosure] = []
        at, step, checks, good = 0, len(disclosures), 1, self.holds(shown)
        while at < len(disclosures) and checks < MOST_CHECKS:
            trial = [mask.copy() for mask in shown]
            made = list(self._made(disclosures[at : at + step], trial))
            checks += 1
            if self.holds(trial):
                accepted, shown, good = accepted + made, trial, True
                at, step = at + step, 2 * step
            elif step > 1:
                step = min(step, len(disclosures) - at) // 2 or 1
            else:
                at += 1
        return accepted if good else None

    def _made(self, disclosures: Sequence[Disclosure], shown: Sequence[Bools]) -> Iterator[Disclosure]:
        """Make the disclosures whose parents are shown."""
        for each in disclosures:
            parent = int(self.problem.attributes[each.attribute].tree.parent[each.node])
            if parent == TOP or shown[each.attribute][parent]:
                shown[each.attribute][each.node] = True
                yield each

    def information(self, disclosures: Sequence[Disclosure]) -> float:
        """Return what disclosures keep, in bits a row, as `Search.kept` has it."""
        shown = [np.zeros(len(a.tree), dtype=np.bool_) for a in self.problem.attributes]
        list(self._made(disclosures, shown))
        classes = self.problem.classes
        total = 0.0
        for own in self.cells(shown):
            total += _entropy(own)
            if classes is not None:
                total += _entropy(classes) - _entropy(own * (int(classes.max(initial=0)) + 1) + classes)
        return total


def _entropy(codes: Ints) -> float:
    count = np.unique(codes, return_counts=True)[1] / max(1, len(codes))
    return float(-(count * np.log2(count)).sum())
