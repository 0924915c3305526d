"""Sets that their clients randomized: the originals are not here, so only the operator bounds what the sets reveal.

The worst posterior is taken over all data whose itemsets are no more frequent than the policy says, for each number of
items that the operator knows. The sent sets are compared with the operator as far as that goes without originals: how
many items the randomized sets have, in all and each, and whether items seem more frequent than the policy says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.stats import binom

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.requirement import within
from ppdm_flow.core.results import AuditOutcome, Figure, Finding, Measured
from ppdm_flow.mining.transactions.breaches import likelihoods
from ppdm_flow.mining.transactions.counting.vertical import expand, item_counts
from ppdm_flow.mining.transactions.hardest import by_program, check_maxima, hardest, polytope
from ppdm_flow.mining.transactions.laws import Floats
from ppdm_flow.mining.transactions.operators import NONE, TransactionOperator, from_document, recovery
from ppdm_flow.requirements.itemset_breach.fit import ERROR, summed
from ppdm_flow.requirements.itemset_breach.material import UnknownOperatorError, likelihood, released_lengths
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.set_operator import SetOperator
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.sets import PackedSets, SeededSets, SetColumn

_ENOUGH = 1000
"""Sets of a length from which on something has to tell how frequent items are."""


@dataclass(frozen=True, slots=True)
class HardestCase:
    """The largest Pr[z in t | A in t'] for |t| = ``size`` and |A| = ``length``, z being in A or not."""

    level: float
    size: int
    length: int
    inside: bool


@dataclass(frozen=True, eq=False)
class ClientAssessment:
    """One column of sets that clients randomized, under one requirement.

    Attributes
    ----------
    numbers : m -> released sets of which the original had m items
    items : m -> released sets with each item, shape (alphabet,)
    lengths : m -> randomized sets by their number of items, shape (alphabet + 1,)
    exact : whether items come in independently, as in all sets but seeded ones
    """

    requirement: ItemsetBreach
    column: str
    operator: TransactionOperator
    numbers: Mapping[int, int]
    items: Mapping[int, Floats]
    lengths: Mapping[int, Floats]
    exact: bool

    @classmethod
    def of(cls, requirement: ItemsetBreach, column: str, channel: SetOperator, candidate: DataView) -> ClientAssessment:
        """Read the released sets. Raises UnknownOperatorError where nothing can be said of them."""
        try:
            operator = from_document(channel.document)
        except (ValueError, TypeError):
            raise UnknownOperatorError("its operator cannot be read") from None
        silent = [m for m in operator.sizes if m and not requirement.declared(m)]
        if silent:
            raise UnknownOperatorError(f"the policy gives no maximal supports for sets of {silent[0]} items")
        numbers = released_lengths(candidate, column, operator)[1]
        items = {m: np.zeros(operator.alphabet) for m in numbers}
        exact = True
        lengths = {m: np.zeros(operator.alphabet + 1) for m in numbers}
        for part in candidate.partitions([column]):
            for m, counts in zip(*item_counts(part.sets[column]), strict=True):
                items[int(m)] += counts
            exact &= not isinstance(part.sets[column], SeededSets)
            for m, counts in _lengths(part.sets[column]):
                lengths[m] += counts
        return cls(requirement, column, operator, numbers, items, lengths, exact)

    @cached_property
    def cases(self) -> tuple[HardestCase, ...]:
        """The hardest case for each number of items and each kind of itemset."""
        return tuple(self._cases())

    @property
    def worst(self) -> HardestCase:
        """The case in which most is learned."""
        return max(self.cases, key=lambda case: case.level, default=HardestCase(0.0, 0, 0, inside=True))

    @cached_property
    def fit(self) -> float:
        """A bound on the probability of randomized sets with such numbers of items, over all lengths together."""
        p_values = [p for m, rows in self.numbers.items() if rows for p in self._fit(m)]
        return min(1.0, min(p_values, default=1.0) * len(p_values))

    @cached_property
    def exceeded(self) -> tuple[int, ...]:
        """Lengths at which an item is surely more frequent than the policy says."""
        return tuple(m for m, rows in self.numbers.items() if m and rows and self._is_exceeded(m))

    @cached_property
    def untested(self) -> tuple[int, ...]:
        """Lengths of which nothing can be estimated, so that nothing says how frequent items are."""
        return tuple(m for m, rows in self.numbers.items() if m and rows >= _ENOUGH and not self._can_estimate(m))

    @property
    def reliable(self) -> bool:
        """Whether what the figures are computed from was tested, and nothing contradicts it."""
        return self.fit >= ERROR and not self.exceeded and not self.untested

    def joint_posterior(self, length: int) -> float:
        """Return the largest Pr[A in t | A in t'] for itemsets of ``length`` items, all of them together."""
        levels = [0.0]
        for m in self.operator.sizes:
            chances = likelihoods(self.operator, m, length)
            if m and chances.any():
                room = polytope(check_maxima(self.requirement.declared(m)), length, m, inside=True)
                every = replace(room, holds=(room.overlap == length).astype(np.float64))
                levels.append(by_program(every, chances)[0])
        return max(levels)

    def by_programs(self) -> float:
        """Return the worst posterior by linear programs, with likelihoods from what defines the operator."""
        levels = [0.0]
        for m, k, inside in self._kinds():
            chances = np.array([likelihood(self.operator, m, k, overlap) for overlap in range(k + 1)])
            if chances.any():
                room = polytope(check_maxima(self.requirement.declared(m)), k, m, inside=inside)
                levels.append(by_program(room, chances)[0])
        return max(levels)

    def _kinds(self) -> Iterator[tuple[int, int, bool]]:
        for m in self.operator.sizes:
            for k in self.requirement.sizes if m else ():
                yield m, k, True
                yield m, k, False

    def _cases(self) -> Iterator[HardestCase]:
        for m, k, inside in self._kinds():
            chances = likelihoods(self.operator, m, k)
            if chances.any():
                level = hardest(self.requirement.declared(m), k, m, chances, inside=inside)[0]
                yield HardestCase(level, m, k, inside)

    def _fit(self, size: int) -> Iterator[float]:
        """Yield bounds on the probability of the sum, the law and the extremes of the numbers of items."""
        operator, rows, lengths = self.operator, self.numbers[size], self.lengths[size]
        if operator.refills or operator.family == NONE:
            yield 1.0 if lengths[size + operator.inserted] == rows else 0.0
            return
        seen = float(self.items[size].sum())
        law, kept = operator.law(size), np.arange(size + 1)
        rho, outside = operator.rho(size), operator.alphabet - size
        mean = float(law @ kept)
        variance = float(law @ kept**2) - mean**2 + outside * rho * (1.0 - rho)
        yield float(summed(seen - rows * (mean + outside * rho), rows * variance, operator.alphabet))
        if not self.exact:  # items of a seed are independent in pairs only, so that the variance alone is known
            squares = (np.arange(operator.alphabet + 1) - mean - outside * rho) ** 2
            off = float(lengths @ squares) - rows * variance
            yield float(summed(off, rows * variance * squares.max(), squares.max()))
            return
        chances = np.convolve(law, binom.pmf(np.arange(outside + 1), outside, rho))
        below, above = np.cumsum(chances), np.cumsum(chances[::-1])[::-1]
        deviation = float(np.abs(np.cumsum(lengths) / rows - below).max())
        yield min(1.0, 2.0 * math.exp(-2.0 * rows * deviation**2))  # Dvoretzky, Kiefer, Wolfowitz; Massart 1990
        occurring = np.flatnonzero(lengths)
        yield min(1.0, 2.0 * rows * float(min(below[occurring[0]], above[occurring[-1]])))

    def _can_estimate(self, size: int) -> bool:
        try:
            recovery(self.operator, size, 1)
        except PluginError:
            return False
        return True

    def _is_exceeded(self, size: int) -> bool:
        """Whether an item is in more randomized sets than one of the largest support would be.

        Their number is a sum over sets of which some have the item and some do not: its tail is below the binomial
        one with the same mean (Hoeffding 1956).
        """
        counts_by_item, rows = self.items[size], self.numbers[size]
        foreign, own = likelihoods(self.operator, size, 1)
        most = self.requirement.declared(size)[0]
        chance = max(most * own + (1.0 - most) * foreign, foreign)
        return bool(
            binom.sf(counts_by_item.max() - 1, rows, chance) < ERROR / (len(counts_by_item) * len(self.numbers))
        )


def _lengths(column: SetColumn) -> Iterator[tuple[int, Floats]]:
    """Yield each size of an original with the randomized sets by their number of items, shape (alphabet + 1,)."""
    bits = expand(column) if isinstance(column, SeededSets) else column
    baskets = bits.baskets() if isinstance(bits, PackedSets) else bits
    made = np.diff(baskets.offsets)
    for m in np.unique(column.sizes):
        yield int(m), np.bincount(made[column.sizes == m], minlength=len(column.categories) + 1).astype(np.float64)


def outcome_of(assessment: ClientAssessment, figures: Mapping[str, Figure], ctx: AuditContext) -> AuditOutcome:
    """Return the measured requirement, its figures, and what a reader should know."""
    requirement = assessment.requirement
    return AuditOutcome(
        figures={f"{requirement.id}.{name}": figure for name, figure in figures.items()},
        measured=(
            Measured(
                requirement=requirement.id,
                metric=f"{requirement.id}.worst_posterior",
                figure=figures["worst_posterior"],
                bound=requirement.level,
                at_most=True,
                sentence=_sentence(assessment),
                verifiable=assessment.reliable,
            ),
        ),
        findings=tuple(_findings(assessment, ctx)),
    )


def _sentence(assessment: ClientAssessment) -> str:
    text = (
        f"Clients randomized the sets of `{assessment.column}` before they were sent. By the operator alone, none"
        f" of their items is inferred with more than {assessment.worst.level:.1%} for any sets, as long as"
        " itemsets are no more frequent than `max_supports` says."
    )
    if assessment.reliable:
        return text
    doubts = []
    if assessment.fit < ERROR:
        doubts.append("the sets that were sent do not have the numbers of items that the operator makes")
    if assessment.untested:
        doubts.append("nothing tells how frequent items are in sets of some length: the operator hides it")
    if assessment.exceeded:
        doubts.append("items seem more frequent than `max_supports` says")
    return f"{text} That cannot be relied on: {'; '.join(doubts)}."


def _findings(assessment: ClientAssessment, ctx: AuditContext) -> Iterator[Finding]:
    column, place = assessment.column, f"{ctx.release}.{assessment.column}"
    text = (
        f"the sets of `{column}` are judged from the operator alone: the originals never were here, and that clients"
        " applied it is taken from the policy; of what they sent, the numbers of items were tested"
    )
    yield Finding("PPF919", Severity.INFO, text, place)
    level = assessment.requirement.level
    if not within(assessment.worst.level, level, at_most=True):
        text = f"items of `{column}` may be inferred with up to {assessment.worst.level:.1%}, above {level:.1%}"
        yield Finding("PPF870", Severity.ERROR, text, place)
    if assessment.fit < ERROR:
        text = f"the sets of `{column}` do not follow their operator: they do not have its numbers of items"
        yield Finding("PPF811", Severity.ERROR, text, place)
    if assessment.exceeded:
        lengths = ", ".join(str(m) for m in assessment.exceeded)
        text = (
            f"items of `{column}` are more frequent than `max_supports` says, by the randomized sets of {lengths} items"
        )
        yield Finding("PPF873", Severity.ERROR, text, place)
