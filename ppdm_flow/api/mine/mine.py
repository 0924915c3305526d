"""What a recipient asks of released baskets: frequent itemsets and rules of the originals."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import NoReturn

import numpy as np
import pyarrow as pa

from ppdm_flow.api.arguments import reader_options
from ppdm_flow.api.mine.answer import SIGMAS, Floats, Integers, ItemsetsOfSize, MinedRelease, MiningOptions
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import DataError, PluginError, UsageError
from ppdm_flow.core.file_sets import telling_name
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.core.supports import SupportBound, parsed
from ppdm_flow.engine.events import Listener, RowProgress, StepFinished, StepStarted, ignore_events
from ppdm_flow.engine.reading.received_sets import INPUT_WITH, InputFormat, ReceivedSets, received_sets
from ppdm_flow.mining.transactions.apriori import (
    LENGTH,
    NO_CANDIDATES,
    PRECISION,
    CountProgress,
    Level,
    MinedItemsets,
    SearchBounds,
    exact,
    patterns,
    places,
)
from ppdm_flow.mining.transactions.apriori import mine as apriori_mine
from ppdm_flow.mining.transactions.counting.vertical import partial
from ppdm_flow.mining.transactions.discoverable import lowest_supports
from ppdm_flow.mining.transactions.estimates import expected_sigma, partial_supports
from ppdm_flow.mining.transactions.false_discoveries import doubts, misfit
from ppdm_flow.mining.transactions.operators import NONE, TransactionOperator, from_document
from ppdm_flow.mining.transactions.rules import LONGEST, AssociationRule, SupportRatio, rules
from ppdm_flow.plan.formats import handling, inferred
from ppdm_flow.sdk import registry
from ppdm_flow.tables.sets import Baskets, SeededSets, SetColumn, stacked
from ppdm_flow.tables.sets.packed import UNKNOWN, PackedSets


def mine(
    release: Path,
    min_support: str | float | SupportBound,
    *,
    max_length: int | None = None,
    rules: bool = False,
    min_confidence: float | None = None,
    min_lift: float | None = None,
    precision: float = 2.0,
    level: float = 0.95,
    attribute: str | None = None,
    operator: Path | None = None,
    input_format: str | None = None,
    input_with: Sequence[tuple[str, str]] = (),
    workers: int = 2,
    listener: Listener = ignore_events,
) -> MinedRelease:
    """Find the itemsets that were frequent before the sets were randomized; needs neither policy nor original.

    Parameters
    ----------
    release : a run's directory, a folder with a release, or a released file, with ``operator.json`` beside it; sets
        that came without an operator are mined as they are
    min_support : a share (0.002, ``"0.002"``, ``"0.2%"``) or a number of transactions (500, ``"500"``)
    max_length : items of the largest itemset
    rules, min_confidence, min_lift : association rules among the itemsets, and which (confidence 0.5 if not given)
    precision : the search stops before the size at which an itemset of minimum support would lie fewer standard errors
        than this above zero
    level : of the intervals
    attribute : the column, where several hold sets
    operator : an ``operator.json`` from elsewhere
    input_format : how the file is written, where its name does not say it: a format that sources read sets in, or
        ``csv``, whose rows are the sets of their ``column=value`` pairs
    input_with : names and texts of options of that format's reader
    workers : partitions that are counted at once

    Raises
    ------
    UsageError, DataError, PluginError
        Where the release is not there or damaged, does not fit its operator, or supports cannot be recovered from it.
    """
    options = _read_options(min_support, max_length, rules, min_confidence, min_lift, precision, level)
    got = received_sets(release, attribute, operator, written_as(release, input_format, input_with))
    sets = sets_of(got)
    least = _share(options.min_support, sets)
    if sets.operator is None:
        mined = mined_plain(sets, options, least, listener)
    else:
        mined = mined_randomized(sets, options, least, got.lowest, workers, listener)
    return replace(mined, diagnostics=(*_shortened(got.rows, mined.rows), *mined.diagnostics))


def _read_options(
    min_support: str | float | SupportBound,
    max_length: int | None,
    rules: bool,
    min_confidence: float | None,
    min_lift: float | None,
    precision: float,
    level: float,
) -> MiningOptions:
    if not rules and (min_confidence is not None or min_lift is not None):
        raise UsageError(
            Diagnostic("PPF120", "`--min-confidence` and `--min-lift` are about rules", help="add `--rules`")
        )
    if not 0.0 <= (min_confidence or 0.0) <= 1.0:
        raise UsageError(Diagnostic("PPF120", "`--min-confidence` lies between 0 and 1"))
    if not 0.0 < level < 1.0:
        advice = f"for {level:g} % write `--level {level / 100:g}`" if 1.0 < level < 100.0 else None
        raise UsageError(Diagnostic("PPF120", "`--level` lies between 0 and 1", help=advice))
    if not (math.isfinite(precision) and precision >= 0.0):
        raise UsageError(Diagnostic("PPF120", "`--precision` is a number of standard errors, from 0"))
    if min_lift is not None and not (math.isfinite(min_lift) and min_lift >= 0.0):
        raise UsageError(Diagnostic("PPF120", "`--min-lift` is a number from 0"))
    sure = 0.5 if min_confidence is None else min_confidence
    return MiningOptions(support_of(min_support), max_length, rules, sure, min_lift, precision, level)


def written_as(file: Path, kind: str | None, options: Sequence[tuple[str, str]]) -> InputFormat | None:
    """Return how a file is written; None where nobody says it. Raises UsageError (PPF120, PPF490)."""
    if kind is None and not options:
        return None
    chosen = kind or inferred("sources", telling_name(file))
    if chosen is None or chosen not in _known_formats():
        known = ", ".join(f"`{name}`" for name in _known_formats())
        text = (
            f"`--input-format {kind}` is no format that sets are read from" if kind else "`--input-with` needs a format"
        )
        raise UsageError(
            Diagnostic("PPF120", text, hint=did_you_mean(kind or "", _known_formats()), help=f"it is one of {known}")
        )
    given = reader_options(chosen, dict(options), f"{INPUT_WITH} {{name}}={{text}}")
    return InputFormat(chosen, given)


def _known_formats() -> list[str]:
    sources = [plugin.name for plugin in registry.listed("sources")]
    return ["csv", *(name for name in sources if handling("sources", name) == "only"), "parquet"]


def support_of(value: str | float | SupportBound) -> SupportBound:
    """Return a minimum support: ``0.002`` and ``0.2%`` are shares, ``500`` a number. Raises UsageError PPF120."""
    text = str(value).strip() if isinstance(value, str) else value
    try:
        return parsed(text)
    except ValueError:
        advice = "0.2 % of all transactions is 0.002 or 0.2%, 500 transactions are 500"
        text = "`--min-support` is a share above 0, up to 1, or a whole number of transactions from 1"
        raise UsageError(Diagnostic("PPF120", text, help=advice)) from None


def _share(support: SupportBound, sets: Sets) -> float:
    if support.ratio is not None:
        return support.ratio
    rows, least = sets.count_rows(), support.count or 1
    if least > rows:
        text = f"`--min-support {least}` is more than the {rows:,} transactions that there are"
        raise UsageError(Diagnostic("PPF120", text))
    return least / rows


def _shortened(length: int | None, rows: int) -> Iterator[Diagnostic]:
    if length is not None and length != rows:
        yield Diagnostic(
            "PPF137",
            f"the file has {rows:,} transactions, and its data dictionary says {length:,}",
            severity=Severity.WARNING,
            help="part of the file may be missing: take it over again",
        )


# The sets of a release, as mining reads them: partitions over one alphabet, with their operator.


_MOST_LISTED = 1 << 24
"""Items of an operator on listed sets, at most: an array has room for each."""


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """``partitions()`` reads them anew, over the alphabet ``names``; ``operator`` is None where supports are exact."""

    file: str
    column: str
    names: pa.StringArray
    operator: TransactionOperator | None
    partitions: Callable[[], Iterator[SetColumn]]

    def count_rows(self) -> int:
        """Return the number of transactions, by reading them."""
        return sum(len(part) for part in self.partitions())


def sets_of(got: ReceivedSets) -> Sets:
    """Return the sets of a release. Raises DataError where it has no rows, or sets and operator do not fit."""
    first = next(got.partitions(), None)
    if first is None:
        raise DataError(Diagnostic("PPF714", f"`{got.file.name}` has no rows"))
    operator = _operator(got)
    if operator is None:
        if not isinstance(first, Baskets):
            text = f"the sets in `{got.file.name}` are randomized, and no `operator.json` on them is beside it"
            raise DataError(Diagnostic("PPF736", text, help="ask its publisher for the operator"))
        return _plain(got)
    if isinstance(first, Baskets):
        if operator.family == NONE:
            return _plain(got)
        if not operator.refills:
            _unfit("the file lists randomized items, and does not say how many each transaction had before")
        return _listed(got, operator)
    if len(first.categories) != operator.alphabet:
        _unfit(f"the sets are over {len(first.categories):,} items, the operator over {operator.alphabet:,}")
    return Sets(got.file.name, got.column, first.categories, operator, lambda: _fitting(got, operator))


def _operator(got: ReceivedSets) -> TransactionOperator | None:
    if got.operator is None:
        return None
    try:
        return from_document(got.operator.document)
    except ValueError as error:
        raise DataError(Diagnostic("PPF736", f"the operator on `{got.column}` is damaged: {error}")) from None


def _fitting(got: ReceivedSets, operator: TransactionOperator) -> Iterator[SetColumn]:
    """Yield the partitions, each held against the operator."""
    for part in got.partitions():
        if isinstance(part, SeededSets):
            _held_against(part, operator)
        yield _sized(part, operator) if isinstance(part, PackedSets) else part


def _held_against(part: SeededSets, operator: TransactionOperator) -> None:
    rates = part.expansion.insertion
    sizes = np.unique(part.sizes)
    if any(m not in operator.retained or m >= len(rates) or rates[m] != operator.rho(m) for m in sizes.tolist()):
        _unfit("the seeds put items in with other probabilities than the operator")


def _sized(part: PackedSets, operator: TransactionOperator) -> PackedSets:
    """Return the sets with the size of their originals, where it is told or there is but one."""
    if not (part.sizes == UNKNOWN).any():
        return part
    if len(operator.sizes) > 1:
        _unfit("the file does not say how many items each transaction had before it was randomized")
    return PackedSets(part.words, np.full(len(part), operator.sizes[0], dtype=np.int32), part.categories)


def _plain(got: ReceivedSets) -> Sets:
    """Return sets that are as they were, over the items that occur, all at once."""
    column = stacked(list(got.partitions()))
    return Sets(got.file.name, got.column, column.categories, None, lambda: iter((column,)))


def _listed(got: ReceivedSets, operator: TransactionOperator) -> Sets:
    """Return listed randomized sets over as many items as the operator has: those that never came up have no name."""
    column = stacked(list(got.partitions()))
    known = column.categories.to_pylist()
    if not isinstance(column, Baskets) or not len(known) <= operator.alphabet <= _MOST_LISTED:
        _unfit(f"the sets have {len(known):,} items, the operator {operator.alphabet:,}")
    if (column.sizes < operator.inserted).any():
        _unfit(f"a set has fewer items than the {operator.inserted:,} that the operator puts into each")
    spare = (f"\0{i}" for i in range(operator.alphabet - len(known)))
    names = pa.array([*known, *spare], pa.string())
    listed: SetColumn = Baskets(column.offsets, column.items, names)
    if operator.inserted:  # a set is not as long as its original was
        listed = PackedSets.of(Baskets(column.offsets, column.items, names), column.sizes - np.int32(operator.inserted))
    return Sets(got.file.name, got.column, names, operator, lambda: iter((listed,)))


def _unfit(why: str) -> NoReturn:
    advice = "use the `operator.json` that came with this very file"
    raise DataError(Diagnostic("PPF137", why, help=advice))


# Sets that were not randomized: counts, and rules with neither error nor interval.


_MOST_PATTERNS = 1 << 18
"""Numbers that itemsets of a size are taken apart into, at most."""


def mined_plain(sets: Sets, options: MiningOptions, least: float, listener: Listener) -> MinedRelease:
    """Count the frequent itemsets. Raises PluginError PPF775 for too many."""
    (parts,) = sets.partitions()
    rows = len(parts)
    listener(StepStarted("itemsets"))
    started = time.perf_counter()
    levels = exact(parts, options.min_support.rows(rows), options.max_length) if isinstance(parts, Baskets) else []
    listener(StepFinished("itemsets", time.perf_counter() - started, rows))
    return MinedRelease(
        file=sets.file,
        attribute=sets.column,
        rows=rows,
        names=tuple(sets.names.to_pylist()),
        operator=None,
        options=options,
        least=least,
        sizes=tuple(_sorted(levels, level, rows, len(sets.names)) for level in levels),
        stopped=LENGTH if options.max_length is not None and len(levels) == options.max_length else NO_CANDIDATES,
        rules=tuple(_ranked(_rules(levels, rows, len(sets.names), options))) if options.rules else None,
    )


def _sorted(levels: list[Level], level: Level, rows: int, alphabet: int) -> ItemsetsOfSize:
    order = np.argsort(-level.counts[:, 0], kind="stable")
    items, counts = level.itemsets[order], level.counts[order]
    share = counts[:, 0] / rows
    parts = None
    if items.shape[1] <= LONGEST and len(items) << items.shape[1] <= _MOST_PATTERNS:
        # all parts of a frequent itemset are frequent, so they were counted
        part_counts = patterns(levels, items, counts, np.array([rows]), alphabet)
        parts = partial(part_counts)[:, 0] / rows
    return ItemsetsOfSize(items, share, np.zeros(len(share)), share, share, candidates=0, partial=parts)


def _rules(levels: list[Level], rows: int, alphabet: int, options: MiningOptions) -> Iterator[AssociationRule]:
    """Yield the rules, whole arrays at a time: all parts of a frequent itemset are frequent, so they were counted."""
    for level in levels[1:]:
        size = level.itemsets.shape[1]
        for length in range(1, size):
            for chosen in combinations(range(size), length):
                rest = [i for i in range(size) if i not in chosen]
                yield from _of(levels, level, list(chosen), rest, rows, alphabet, options)


def _of(
    levels: list[Level],
    level: Level,
    chosen: list[int],
    rest: list[int],
    rows: int,
    alphabet: int,
    options: MiningOptions,
) -> Iterator[AssociationRule]:
    first, second = level.itemsets[:, chosen], level.itemsets[:, rest]
    both = level.counts[:, 0]
    below = levels[len(chosen) - 1].counts[places(levels, first, alphabet), 0]
    other = levels[len(rest) - 1].counts[places(levels, second, alphabet), 0]
    sure, lift = both / below, both / below * (rows / other)
    good = sure >= options.min_confidence - 1e-12
    if options.min_lift is not None:
        good &= lift >= options.min_lift - 1e-12
    for i in np.flatnonzero(good).tolist():
        yield AssociationRule(
            tuple(first[i].tolist()),
            tuple(second[i].tolist()),
            float(both[i] / rows),
            0.0,
            _known(float(sure[i])),
            _known(float(lift[i])),
        )


def _known(value: float) -> SupportRatio:
    return SupportRatio(value, 0.0, value, value)


def _ranked(rules: Iterator[AssociationRule]) -> list[AssociationRule]:
    return sorted(rules, key=lambda r: (-(r.confidence.value or 0.0), -r.support, r.antecedent, r.consequent))


# Randomized sets: estimates, what they are worth, and rules with intervals.


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
    mined = apriori_mine(sets.partitions, operator, least, bounds, workers, progress.counted)
    progress.done()
    numbers = {m: float(n) for m, n in zip(operator.sizes, mined.rows.tolist(), strict=True) if n}
    lowest = _lowest(operator, numbers, len(mined.by_size)) | {
        k: s for k, s in limits.items() if k <= len(mined.by_size)
    }
    sizes = tuple(_estimated_of(mined, k, lowest.get(k), least) for k in range(1, len(mined.by_size) + 1))
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
        rules=tuple(_estimated_rules(mined, options)) if options.rules else None,
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


def _estimated_of(mined: MinedItemsets, size: int, lowest: float | None, least: float) -> ItemsetsOfSize:
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


def _estimated_rules(mined: MinedItemsets, options: MiningOptions) -> Iterator[AssociationRule]:
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
