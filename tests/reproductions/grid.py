"""One cell of Wang, Fung and Yu's grid: TopN attributes sensitive, confidence at most h, three errors."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from uci import Dataset, table

from ppdm_flow.audits.learning.classifiers import Learner, Split, trials
from ppdm_flow.audits.learning.sides import side
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.results import AuditOutcome, Figure
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import SUPPRESSED, Column
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import Case
from ppdm_flow.testing.conformance import run
from ppdm_flow.testing.view import InMemoryView

FIGURES = {"base": "be", "suppressed": "se", "removed": "re", "error_increase": "se_be"}


@dataclass(frozen=True)
class Cell:
    """``h`` in per cent; ``errors`` by be, se, re, se_be; ``split`` is SE on the paper's own split.

    ``greedy`` are the errors of the paper's search, where another one was used.
    """

    top: int
    h: int
    feasible: bool
    seconds: float
    errors: dict[str, Figure]
    split: float
    before: int
    after: int
    greedy: dict[str, Figure]


@dataclass(frozen=True)
class MemoryPairs:
    """Rows side by side: both tables are in the same order."""

    original: Table
    released: Table

    def pairs(self, original: Sequence[str], released: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        yield self.original.select(original), self.released.select(released)

    def joint(self, original: str, released: str) -> Counts:
        raise NotImplementedError


@dataclass(frozen=True)
class Experiment:
    """One dataset with the TopN attributes as sensitive ones. A ``width`` of 0 is the greedy search alone."""

    data: Dataset
    top: tuple[str, ...]
    width: int = 0

    @cached_property
    def table(self) -> Table:
        return table(self.data.frame)

    @cached_property
    def channel(self) -> tuple[str, ...]:
        return tuple(a for a in self.data.attributes if a not in self.top)

    @cached_property
    def roles(self) -> dict[str, Role]:
        kind = {self.data.target: Role.TARGET} | dict.fromkeys(self.top, Role.SENSITIVE)
        return {name: kind.get(name, Role.QUASI_IDENTIFIER) for name in self.table.names}

    def template(self, h: int) -> InferenceTemplate:
        values = tuple((a, v) for a in self.top for v in rarer_half(self.data.frame[a]))
        return InferenceTemplate.of(
            "top", "top", channel=self.channel, sensitive=by_attribute(values), confidence=h / 100
        )

    def cell(self, h: int, repeats: int) -> Cell:
        """Suppress, then measure. An infeasible cell is scored on the most suppressed table."""
        started = time.perf_counter()
        released = self.released(h, self.width)
        seconds = time.perf_counter() - started
        feasible = released is not None
        if released is None:
            released = self.most_suppressed()
        errors = self.errors(released, h, repeats)
        greedy = self.released(h, 0) if self.width and feasible else None
        inferences = self.audit("templates", released, h).figures
        return Cell(
            len(self.top),
            h,
            feasible,
            seconds,
            errors,
            self.on_paper_split(released),
            int(inferences["top.inferences_before"].value),
            int(inferences["top.inferences"].value),
            {} if greedy is None else errors if same(greedy, released) else self.errors(greedy, h, repeats),
        )

    def released(self, h: int, width: int) -> Table | None:
        """Return the release; None where there is none that satisfies the template."""
        case = Case(
            load("anonymizers", "progressive_disclosure"),
            {"search": "beam", "width": str(width)} if width else {},
            self.table,
            roles=self.roles,
            requirements=(self.template(h),),
        )
        try:
            return run(case.fit().transform, self.table)[""]
        except PluginError as error:
            if {d.code for d in error.diagnostics} != {"PPF784"}:
                raise
            return None

    def errors(self, released: Table, h: int, repeats: int) -> dict[str, Figure]:
        share = 1 - self.data.train / len(self.table)
        found = self.audit("classification_error", released, h, test_share=share, repeats=repeats, removed=self.top)
        return {short: found.figures[name] for name, short in FIGURES.items()}

    def most_suppressed(self) -> Table:
        hidden = np.full(len(self.table), SUPPRESSED, dtype=np.int32)
        return self.table.replaced({c: Column(hidden, self.table[c].categories) for c in self.channel})

    def audit(self, name: str, released: Table, h: int, **params: object) -> AuditOutcome:
        spec = load("audits", name)
        facts = {n: AttributeFacts(n, r, source=n) for n, r in self.roles.items()}
        views = [InMemoryView.of(t, self.roles) for t in (self.table, released)]
        context = AuditContext("study", facts, facts, (self.template(h),), pairs=MemoryPairs(self.table, released))
        outcome: AuditOutcome = spec.load()(spec.params(**params)).measure(*views, context)
        return outcome

    def on_paper_split(self, released: Table, without: Sequence[str] = ()) -> float:
        """Return the error on the paper's own split."""
        test = (np.arange(len(released)) >= self.data.train).astype(np.int64)
        features = {n: AttributeType.TEXT for n in self.data.attributes if n not in without}
        classes = self.table[self.data.target].codes.astype(np.int64)
        mine = side(released, features, classes, np.ones(len(test), dtype=np.int64))
        return float(trials([(mine, [Split(1 - test, test)])], Learner(), 1)[0].errors[0])


def same(one: Table, other: Table) -> bool:
    return all(one[n].texts() == other[n].texts() for n in one.names)


def rarer_half(values: pd.Series) -> list[str]:
    """Return the less frequent half of the values, rounded down: this gives the paper's counts on CRX exactly."""
    counts = values.value_counts().sort_index(kind="stable").sort_values(kind="stable")
    return list(counts.index[: len(counts) // 2])


def heads(data: Dataset, wanted: int = 4) -> tuple[str, ...]:
    """Return the attributes that C4.5 puts at the root one after another (Quinlan 1993, section 2.2)."""
    train, left, found = data.frame[: data.train], data.attributes, []
    for _ in range(wanted):
        gain = {a: gains(train, a, data.target) for a in left}
        least = float(np.mean([g for g, _ in gain.values()])) - 1e-3
        found.append(max((a for a in left if gain[a][0] >= least), key=lambda a: gain[a][1]))  # used here
        left = [a for a in left if a != found[-1]]
    return tuple(found)


def gains(frame: pd.DataFrame, attribute: str, target: str) -> tuple[float, float]:
    """Return information gain and gain ratio."""
    joint = pd.crosstab(frame[attribute], frame[target]).to_numpy(dtype=float)
    share = joint.sum(axis=1) / joint.sum()
    within = sum(s * entropy(row / row.sum()) for s, row in zip(share, joint, strict=True))
    gain = entropy(joint.sum(axis=0) / joint.sum()) - within
    return gain, gain / entropy(share)


def entropy(shares: np.ndarray) -> float:
    some = shares[shares > 0]
    return float(-(some * np.log2(some)).sum())
