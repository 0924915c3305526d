"""Sets that their clients randomized: nobody here has the originals, so the operator alone says what they tell.

The worst posterior is taken over all data whose itemsets are no more frequent than the policy says, for each number of
items that the operator knows. What was sent is held against the operator as far as that goes without originals: how
many items the randomized sets have in all, and whether items seem more frequent than the policy says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy.stats import norm

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.records import dataclass
from ppdm_flow.core.requirement import within
from ppdm_flow.core.results import AuditOutcome, Figure, Finding, Measured
from ppdm_flow.mining.transactions.breaches import likelihoods
from ppdm_flow.mining.transactions.counting.vertical import item_counts
from ppdm_flow.mining.transactions.documents import from_document
from ppdm_flow.mining.transactions.estimates import supports
from ppdm_flow.mining.transactions.hardest import by_program, check_maxima, hardest, polytope
from ppdm_flow.mining.transactions.laws import Floats
from ppdm_flow.mining.transactions.operators import NONE, Operator
from ppdm_flow.requirements.itemset_breach.fit import ERROR
from ppdm_flow.requirements.itemset_breach.material import UnknownOperatorError, released_lengths
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach
from ppdm_flow.requirements.itemset_breach.second_route import likelihood
from ppdm_flow.requirements.itemset_breach.tails import summed
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.set_operator import SetOperator
from ppdm_flow.sdk.view import DataView

_ENOUGH = 1000
"""Sets of a length from which on estimates of how frequent items are are nearly normal."""


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
    """

    requirement: ItemsetBreach
    column: str
    operator: Operator
    numbers: Mapping[int, int]
    items: Mapping[int, Floats]

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
        for part in candidate.partitions([column]):
            for m, counts in zip(*item_counts(part.sets[column]), strict=True):
                items[int(m)] += counts
        return cls(requirement, column, operator, numbers, items)

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
        """A bound on the probability of randomized sets with so many items in all, over all lengths together."""
        p_values = [self._fit(m) for m, rows in self.numbers.items() if rows]
        return min(1.0, min(p_values, default=1.0) * len(p_values))

    @cached_property
    def exceeded(self) -> tuple[int, ...]:
        """Lengths at which an item is surely more frequent than the policy says, by its estimate."""
        return tuple(m for m, rows in self.numbers.items() if m and rows >= _ENOUGH and self._is_exceeded(m, rows))

    @property
    def reliable(self) -> bool:
        """Whether nothing contradicts what the figures are computed from."""
        return self.fit >= ERROR and not self.exceeded

    def whole(self, length: int) -> float:
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

    def _fit(self, size: int) -> float:
        operator, rows = self.operator, self.numbers[size]
        seen = float(self.items[size].sum())
        if operator.refills or operator.family == NONE:
            return 1.0 if seen == rows * (size + operator.inserted) else 0.0
        law, kept = operator.law(size), np.arange(size + 1)
        rho, outside = operator.rho(size), operator.alphabet - size
        mean = float(law @ kept)
        variance = float(law @ kept**2) - mean**2 + outside * rho * (1.0 - rho)
        return float(summed(seen - rows * (mean + outside * rho), rows * variance, operator.alphabet))

    def _is_exceeded(self, size: int, rows: int) -> bool:
        held = self.items[size]
        try:
            estimated = supports(self.operator, {size: np.column_stack((rows - held, held))})
        except PluginError:  # nothing can be estimated, so nothing contradicts the policy
            return False
        errors = float(norm.isf(ERROR / (len(held) * len(self.numbers))))
        most = self.requirement.declared(size)[0]
        return bool((estimated.value - errors * estimated.sigma > most).any())


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
        f" of their items is inferred with more than {assessment.worst.level:.1%}, whatever the sets are, as long as"
        " itemsets are no more frequent than `max_supports` says."
    )
    if assessment.reliable:
        return text
    doubts = []
    if assessment.fit < ERROR:
        doubts.append("the sets that were sent have more or fewer items than the operator makes")
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
        text = f"the sets of `{column}` do not follow their operator: they have more or fewer items than it makes"
        yield Finding("PPF871", Severity.ERROR, text, place)
    if assessment.exceeded:
        lengths = ", ".join(str(m) for m in assessment.exceeded)
        text = (
            f"items of `{column}` are more frequent than `max_supports` says, by estimates for sets of {lengths} items"
        )
        yield Finding("PPF873", Severity.ERROR, text, place)
