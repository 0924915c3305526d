"""Randomized sets: estimates, what they are worth, and rules with intervals."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping

import numpy as np

from ppdm_flow.api.mine.answer import SIGMAS, Floats, Integers, ItemsetsOfSize, MinedRelease, MiningOptions
from ppdm_flow.api.mine.sets import Sets
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import PluginError
from ppdm_flow.engine.events import Listener, RowProgress, StepFinished, StepStarted
from ppdm_flow.mining.transactions.apriori import PRECISION, CountProgress, MinedItemsets, SearchBounds, mine
from ppdm_flow.mining.transactions.counting.vertical import partial
from ppdm_flow.mining.transactions.discoverable import lowest_supports
from ppdm_flow.mining.transactions.estimates import expected_sigma, partial_supports
from ppdm_flow.mining.transactions.false_discoveries import doubts, misfit
from ppdm_flow.mining.transactions.operators import NONE, TransactionOperator
from ppdm_flow.mining.transactions.rules import LONGEST, AssociationRule, rules

_LEAST_FALSE = 0.5
"""So many false positives are worth a warning."""


def mined_randomized(
    sets: Sets, options: MiningOptions, least: float, limits: Mapping[int, float], workers: int, listener: Listener
) -> MinedRelease:
    """Search on estimates. ``limits``: k -> lowest discoverable support of the mining contract."""
    operator = sets.operator
    if operator is None:
        raise ValueError("sets without an operator have no estimates")
    bounds = SearchBounds(length=options.max_length, precision=options.precision, level=options.level)
    progress = _ProgressEvents(listener)
    mined = mine(sets.partitions, operator, least, bounds, workers, progress.counted)
    progress.done()
    numbers = {m: float(n) for m, n in zip(operator.sizes, mined.rows.tolist(), strict=True) if n}
    lowest = _lowest(operator, numbers, len(mined.by_size)) | {
        k: s for k, s in limits.items() if k <= len(mined.by_size)
    }
    sizes = tuple(_of(mined, k, lowest.get(k), least) for k in range(1, len(mined.by_size) + 1))
    return MinedRelease(
        file=sets.file,
        attribute=sets.column,
        rows=int(mined.rows.sum()),
        names=tuple(sets.names.to_pylist()),
        operator=None if operator.family == NONE else operator,
        options=options,
        least=least,
        sizes=_without_empty(sizes),
        stopped=mined.stopped,
        next_sigma=_next(mined, operator, numbers),
        rules=tuple(_rules(mined, options)) if options.rules else None,
        diagnostics=(*_misfits(mined, sets.column), *_doubted(sizes, least)),
    )


class _ProgressEvents:
    """Turns what mining tells into the events of a run: a stage for each size."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._size = self._rows = 0
        self._total: int | None = None
        self._started = 0.0

    def counted(self, now: CountProgress) -> None:
        """Take in a partition."""
        if now.size != self._size:
            self.done()
            self._total = self._rows or None
            self._size, self._rows, self._started = now.size, 0, time.perf_counter()
            self._name = f"{now.candidates:,} candidates of {now.size} item{'' if now.size == 1 else 's'}"
            self._listener(StepStarted(self._name))
        self._rows += now.rows
        self._listener(RowProgress(self._name, self._rows, self._total, "transactions"))

    def done(self) -> None:
        """Finish the stage of a size."""
        if self._size:
            self._listener(StepFinished(self._name, time.perf_counter() - self._started, self._rows))


def _of(mined: MinedItemsets, size: int, lowest: float | None, least: float) -> ItemsetsOfSize:
    one = mined.by_size[size - 1]
    estimates = one.estimates
    chosen = np.flatnonzero(one.frequent)
    falling = np.argsort(-estimates.value[chosen], kind="stable")
    order = chosen[falling]
    expected = doubts(estimates.value, estimates.sigma, least)
    return ItemsetsOfSize(
        one.itemsets[order],
        estimates.value[order],
        estimates.sigma[order],
        estimates.low[order],
        estimates.high[order],
        len(one.itemsets),
        one.sigma,
        lowest,
        expected.false_positives,
        expected.false_drops,
        _partial(mined, size, falling),
    )


def _partial(mined: MinedItemsets, size: int, order: Integers) -> Floats | None:
    """Return the estimated partial supports of the frequent itemsets of a size, in that order."""
    if size > LONGEST:
        return None
    overlaps = partial(mined.patterns(size)[1][order])
    sizes = zip(mined.operator.sizes, mined.rows.tolist(), strict=True)
    here = {m: overlaps[:, c] for c, (m, rows) in enumerate(sizes) if rows}
    if not len(order):
        return np.zeros((0, size + 1))
    try:
        return partial_supports(mined.operator, here)
    except PluginError:  # transactions of fewer items cannot be told apart; whole itemsets are none of theirs
        return None


def _without_empty(sizes: tuple[ItemsetsOfSize, ...]) -> tuple[ItemsetsOfSize, ...]:
    """Return the sizes up to the last one at which there was something to look at."""
    return tuple(one for one in sizes if one.candidates)


def _lowest(operator: TransactionOperator, numbers: Mapping[int, float], longest: int) -> dict[int, float]:
    """Return the lowest discoverable supports where the contract says nothing: of itemsets that occur as a whole."""
    lowest = lowest_supports(operator, numbers, range(1, longest + 1))
    return {k: s for k, s in lowest.items() if math.isfinite(s)}


def _next(mined: MinedItemsets, operator: TransactionOperator, numbers: Mapping[int, float]) -> float | None:
    """Return the standard error at the minimum support, of the size that was not looked at any more."""
    if mined.stopped != PRECISION:
        return None
    size = len(mined.by_size) + 1
    share = np.zeros(size + 1)
    share[0], share[-1] = 1.0 - mined.min_support, mined.min_support
    partial = {m: share if m >= size else np.eye(size + 1)[0] for m in numbers}
    return float(expected_sigma(operator, partial, numbers))


def _rules(mined: MinedItemsets, options: MiningOptions) -> Iterator[AssociationRule]:
    """Yield rules, most confident first."""
    chosen = [
        rule
        for rule in rules(mined, options.min_confidence, options.level)
        if options.min_lift is None or (rule.lift.value is not None and rule.lift.value >= options.min_lift)
    ]
    yield from sorted(chosen, key=lambda r: (-(r.confidence.value or 0.0), -r.support, r.antecedent, r.consequent))


def _misfits(mined: MinedItemsets, column: str) -> Iterator[Diagnostic]:
    if misfit(mined):
        yield Diagnostic(
            "PPF137",
            f"the sets of `{column}` hold more or fewer items than their operator makes: estimates may mean nothing",
            severity=Severity.WARNING,
            help="is the `operator.json` the one that came with this very file?",
        )


def _doubted(sizes: tuple[ItemsetsOfSize, ...], least: float) -> Iterator[Diagnostic]:
    """Say for which sizes the minimum support is too low, and how many itemsets to expect that are not frequent."""
    for one in sizes:
        if not len(one) or least >= (one.lowest or 1.0) or (one.false_positives or 0.0) < _LEAST_FALSE:
            continue
        word = "item" if one.size == 1 else "items"
        yield Diagnostic(
            "PPF139",
            f"itemsets of {one.size} {word} are told from chance from a support of {100 * (one.lowest or 1.0):.3g} %:"
            f" of the {len(one):,} found at {100 * least:.3g} %, about {one.false_positives:,.0f} are expected to be"
            f" less frequent than that, and about {one.false_drops:,.0f} frequent ones to be missing",
            severity=Severity.WARNING,
            help=f"itemsets with the mark `?` are less than {SIGMAS:g} standard errors above 0",
        )
