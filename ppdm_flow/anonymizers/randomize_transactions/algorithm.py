"""Randomize transactions: find the operator, and say what it protects and what it leaves to be found."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, TypeVar

import numpy as np
import pyarrow as pa

from ppdm_flow.anonymizers.plain_sets import baskets
from ppdm_flow.anonymizers.randomize_transactions.spec import (
    EVERY,
    RandomizeTransactionsParams,
    bits_of,
    prefers_seeds,
    seeds_of,
    wanted,
)
from ppdm_flow.anonymizers.set_columns import required
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import DataError, PluginError
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Finding
from ppdm_flow.mining.transactions.breaches import epsilon
from ppdm_flow.mining.transactions.choosing import Challenge, SizeChoice, choose
from ppdm_flow.mining.transactions.discoverable import SIGMAS, lowest_supports
from ppdm_flow.mining.transactions.estimates import expected_sigma
from ppdm_flow.mining.transactions.operators import NONE, TransactionOperator, document, from_document
from ppdm_flow.mining.transactions.prevalent import SizePool, pools, prevalent
from ppdm_flow.mining.transactions.randomize import seeded
from ppdm_flow.mining.transactions.randomize.randomize import draws_per_row, randomize, refuse_seeds
from ppdm_flow.mining.transactions.randomize.seeded import SPARE
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.set_operator import SetOperator
from ppdm_flow.sdk.spec import SetShape
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import union
from ppdm_flow.tables.counts import written_out
from ppdm_flow.tables.sets import Baskets
from ppdm_flow.tables.table import Table

V = TypeVar("V")
Maxima = Mapping[int, tuple[float, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class RandomizeTransform:
    """Each set on its own: bits, or the seed that they expand from.

    ``told`` is the operator's document as JSON text: small, and the same wherever it is read.
    """

    attribute: str
    written: str
    alphabet: pa.StringArray
    seeds: bool

    @property
    def draws_per_row(self) -> int:
        """As many as the largest set takes."""
        operator = _operator(self.written)
        return seeded.draws_per_row(operator) if self.seeds else draws_per_row(operator)

    def apply(self, part: Table, draws: Draws) -> Table:
        """Return the partition with its sets randomized."""
        column = onto(baskets(part, self.attribute), self.alphabet, self.attribute)
        operator = _operator(self.written)
        made = seeded.seed if self.seeds else randomize
        return part.resettled({self.attribute: made(column, operator, draws, part.rows)})

    def describe(self) -> Mapping[str, Any]:
        """Return the operator and the form."""
        return {
            "attribute": self.attribute,
            "form": "seeded" if self.seeds else "packed",
            "operator": json.loads(self.written),
        }


@lru_cache(maxsize=8)
def _operator(written: str) -> TransactionOperator:
    return from_document(json.loads(written))


class RandomizeTransactions:
    """Makes of each set another one, by an operator that treats all items alike.

    Source: Evfimievski, Srikant, Agrawal, Gehrke, "Privacy preserving mining of association rules", KDD 2002.
    """

    def __init__(self, params: RandomizeTransactionsParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Find the operator. Raises PluginError where the sets are too long, or nothing keeps what is required."""
        name = required(self.params.attribute, ctx.attributes)
        facts = ctx.attributes[name]
        sets = observed(data, name, facts.domain)
        refuse_long(sets, self.params.longest)
        chosen = operator_for(self.params, sets, wanted(ctx.requirements, facts.source or name))
        try:
            seeds = as_seeds(self.params.form, chosen.operator, sets.rows)
        except DataError as error:
            raise PluginError(list(error.diagnostics)) from None
        account = OperatorAccount.of(sets, chosen, seeds=seeds)
        written = document(chosen.operator)
        channel = SetOperator(name, written, ctx.step)
        return Fitted(
            transform=RandomizeTransform(name, json.dumps(written), sets.alphabet, seeds),
            figures=account.figures(),
            artifacts={
                "operator.json": {"version": 1, "operators": [channel.entry()]},
                "mining_contract.json": account.contract(),
            },
            findings=tuple(notices(account, ctx.step)),
            charts=charts(account, ctx.step),
            set_operators={name: channel},
        )


# What the sets are like: how many there are of each length, and over which items.


@dataclass(frozen=True, slots=True, eq=False)
class ObservedSets:
    """``numbers``: m -> sets of m items; ``alphabet``: the declared items, or those that occur, sorted by text."""

    view: DataView
    name: str
    numbers: dict[int, int]
    alphabet: pa.StringArray
    declared: bool

    @property
    def rows(self) -> int:
        """How many sets there are."""
        return sum(self.numbers.values())

    def fewer_than(self, people: int) -> int:
        """Return how many sets have a size that fewer than so many have."""
        return sum(number for number in self.numbers.values() if number < people)

    @property
    def longest(self) -> int:
        """Items of the largest set."""
        return max(self.numbers, default=0)

    def partitions(self) -> Iterator[Baskets]:
        """Yield the sets over the alphabet."""
        for column in _sets(self.view, self.name):
            yield onto(column, self.alphabet, self.name)


def observed(view: DataView, name: str, domain: tuple[str, ...] | None) -> ObservedSets:
    """Look at all sets once. Raises PluginError where the column holds no plain sets, or no item at all."""
    counts: dict[int, int] = {}
    alphabet = union([] if domain is None else [pa.array(domain, pa.string())])
    for column in _sets(view, name):
        sizes, rows = np.unique(column.sizes, return_counts=True)
        for size, number in zip(sizes.tolist(), rows.tolist(), strict=True):
            counts[size] = counts.get(size, 0) + number
        if domain is None:
            alphabet = union([alphabet, column.compact().categories])
    if not max(counts, default=0):
        raise PluginError(Diagnostic("PPF777", f"the sets of `{name}` hold no items: there is nothing to randomize"))
    return ObservedSets(view, name, dict(sorted(counts.items())), alphabet, domain is not None)


def _sets(view: DataView, name: str) -> Iterator[Baskets]:
    """Yield the sets, each as often as its row's weight says: so often will it be randomized."""
    weight = view.schema.weight
    for part in view.partitions([name] if weight is None else [name, weight]):
        yield baskets(written_out(part, [name], weight), name)


def onto(column: Baskets, alphabet: pa.StringArray, name: str) -> Baskets:
    """Return the sets over the alphabet. Raises PluginError where an item is not in it."""
    try:
        return column.onto(alphabet)
    except KeyError:
        text = f"a set of `{name}` has an item that is not in the alphabet of the operator"
        raise PluginError(Diagnostic("PPF777", text)) from None


def refuse_long(sets: ObservedSets, longest: int) -> None:
    """Raise PluginError PPF777 where a set has more than ``longest`` items."""
    if sets.longest <= longest:
        return
    long = sum(number for size, number in sets.numbers.items() if size > longest)
    text = f"{long:,} set{'s' * (long > 1)} of `{sets.name}` have more than {longest} items, up to {sets.longest:,}"
    hint = f"put `limit_items` with `max: {longest}` or less before it, or raise `longest`"
    raise PluginError(Diagnostic("PPF777", text, hint=hint))


# The operator: as the parameters say, or the best that keeps the requirement.


NEARLY_ALL = 0.95
"""A share of the sets from which on raising the level above it is no advice."""


@dataclass(frozen=True, slots=True, eq=False)
class SizedOperatorChoice:
    """``maxima``: m -> largest supports; ``estimated``: the lengths whose maxima are those of the data, in pools."""

    operator: TransactionOperator
    requirement: ItemsetBreach | None
    maxima: Maxima = field(default_factory=dict)
    estimated: tuple[SizePool, ...] = ()
    choices: Mapping[int, SizeChoice] = field(default_factory=dict)


def operator_for(
    params: RandomizeTransactionsParams, sets: ObservedSets, requirement: ItemsetBreach | None
) -> SizedOperatorChoice:
    """Return the operator. Raises PluginError PPF773 where nothing keeps the level, PPF782 for parameters amiss."""
    if params.chooses and requirement is None:
        text = f"nothing says how to randomize `{sets.name}`: there is no `privacy.itemset_breach` on it"
        raise PluginError(Diagnostic("PPF780", text))
    maxima, estimated = _maxima(sets, requirement)
    if not params.chooses or requirement is None:
        return SizedOperatorChoice(_given(params, sets), requirement, maxima, estimated)
    _refuse_known(sets, requirement, maxima)
    picked = choose(
        maxima,
        sets.numbers,
        len(sets.alphabet),
        level=requirement.level,
        lengths=requirement.sizes,
        challenge=Challenge(params.challenge),
        cutoff=params.largest_cutoff,
    )
    return SizedOperatorChoice(picked.operator, requirement, maxima, estimated, picked.choices)


def _maxima(sets: ObservedSets, requirement: ItemsetBreach | None) -> tuple[Maxima, tuple[SizePool, ...]]:
    """Return the maxima of each length: the policy's, or else those of the data in the pool of the length."""
    if requirement is None:
        return {}, ()
    given = {m: requirement.declared(m) for m in sets.numbers if m}
    if all(given.values()):
        return given, ()
    together = pools(sets.numbers, requirement.pool)
    shares = prevalent(sets.partitions, together, len(sets.alphabet), max(requirement.sizes)).maxima()
    for place, pool in enumerate(together):
        for m in pool.sizes:
            given[m] = given[m] or tuple(float(s) for s in np.minimum(shares[:, place], 1.0))
    missing = tuple(p for p in together if not all(requirement.declared(m) for m in p.sizes))
    return given, missing


def _refuse_known(sets: ObservedSets, requirement: ItemsetBreach, maxima: Maxima) -> None:
    """Raise PluginError PPF773 where an item is expected with the level already, before anything is released."""
    known = {m: shares[0] for m, shares in maxima.items() if shares[0] >= requirement.level}
    if not known:
        return
    most = max(known, key=lambda m: known[m])
    text = (
        f"a level of {requirement.level:g} cannot be kept for `{sets.name}`: the most frequent item is in"
        f" {known[most]:.1%} of the sets of {most} item{'s' * (most > 1)}, so it is expected in each after any"
        " release"
    )
    others = len(known) - 1
    note = f"the same is true of {others} other length{'s' * (others > 1)}" if others else ""
    higher = f"ask for a level above {known[most]:.3g}, " if known[most] < NEARLY_ALL else ""
    hint = f"{higher}shorten the sets with `limit_items`, or leave that item out (`without`)"
    raise PluginError(Diagnostic("PPF773", text, notes=(note,) if note else (), hint=hint))


def _given(params: RandomizeTransactionsParams, sets: ObservedSets) -> TransactionOperator:
    sizes, number = tuple(sets.numbers), len(sets.alphabet)
    try:
        match params.operator:
            case "none":
                return TransactionOperator.none(sizes, number)
            case "uniform":
                return TransactionOperator.uniform(sizes, params.keep or 0.0, number, params.insert or 0)
            case "select_a_size":
                retained = {m: _law(params.retained or {}, m, sets) for m in sizes}
                return TransactionOperator.select_a_size(retained, _all(params.insertion, "insertion", sets), number)
        cutoffs = _all(params.cutoff, "cutoff", sets)
        return TransactionOperator.cut_and_paste(cutoffs, _all(params.insertion, "insertion", sets), number)
    except ValueError as error:
        raise PluginError(Diagnostic("PPF782", f"`{sets.name}` cannot be randomized so: {error}")) from None


def _all(given: Mapping[int, V] | None, parameter: str, sets: ObservedSets) -> dict[int, V]:
    return {m: _of(given or {}, m, parameter, sets) for m in sets.numbers}


def _of(given: Mapping[int, V], size: int, parameter: str, sets: ObservedSets) -> V:
    """Return what is given for sets of ``size`` items; empty ones may take what the smallest length has."""
    value = given.get(size, given.get(EVERY))
    if value is None and size == 0 and given:
        value = given[min(given)]
    if value is None:
        raise _silent(size, parameter, sets, "give one number, or one for each length that occurs")
    return value


def _law(given: Mapping[int, tuple[float, ...]], size: int, sets: ObservedSets) -> tuple[float, ...]:
    """Return the law for sets of ``size`` items; of empty ones nothing can be kept."""
    law = given.get(size, (1.0,) if size == 0 else None)
    if law is None:
        raise _silent(size, "retained", sets, "give one law for each length that occurs")
    return law


def _silent(size: int, parameter: str, sets: ObservedSets, hint: str) -> PluginError:
    text = f"`{sets.name}` has sets of {size} item{'s' * (size != 1)}, and `{parameter}` says nothing of these"
    return PluginError(Diagnostic("PPF782", text, hint=hint))


# Texts for the report and the recipient about the operator and the form of the sets: bits or seeds.


LENGTHS = (1, 2, 3)
"""Sizes of the itemsets that are reported where no requirement names any."""


def packed_bytes(operator: TransactionOperator, rows: int) -> int:
    """Return what bits of the whole alphabet take, uncompressed: they are noise."""
    return bits_of(_shape(operator, rows))


def seeded_bytes(operator: TransactionOperator, rows: int) -> int | None:
    """Return what seeds take, or None where there are none for the operator."""
    try:
        refuse_seeds(operator)
    except DataError:
        return None
    return seeds_of(_shape(operator, rows))


def as_seeds(form: Literal["auto", "packed", "seeded"], operator: TransactionOperator, rows: int) -> bool:
    """Whether seeds are written. Raises DataError PPF778 where they are asked for and impossible."""
    if form == "seeded":
        refuse_seeds(operator)
        return True
    seeds = seeded_bytes(operator, rows)
    return seeds is not None and prefers_seeds(form, packed_bytes(operator, rows), seeds)


def _shape(operator: TransactionOperator, rows: int) -> SetShape:
    return SetShape(rows, operator.alphabet, operator.sizes[-1])


@dataclass(frozen=True, slots=True, eq=False)
class OperatorAccount:
    """``lowest``: k -> lowest discoverable support, inf where none is; ``noise``: k -> error of one that is absent.

    ``lowest_undivided``: the same as ``lowest`` for itemsets that occur as a whole or not at all.
    """

    sets: ObservedSets
    chosen: SizedOperatorChoice
    seeds: bool
    lowest: Mapping[int, float]
    noise: Mapping[int, float]
    lowest_undivided: Mapping[int, float]

    @classmethod
    def of(cls, sets: ObservedSets, chosen: SizedOperatorChoice, *, seeds: bool) -> OperatorAccount:
        """Compute both for the itemsets that the requirement names."""
        lengths = chosen.requirement.sizes if chosen.requirement is not None else LENGTHS
        lengths = tuple(k for k in lengths if k <= SPARE or not seeds)
        return cls(
            sets,
            chosen,
            seeds,
            _lowest(sets, chosen.operator, lengths, chosen.maxima or None),
            _noise(sets, chosen.operator, lengths),
            _lowest(sets, chosen.operator, lengths, None),
        )

    def figures(self) -> dict[str, Figure]:
        """Return the step's figures."""
        operator, rows = self.chosen.operator, self.sets.rows
        size = seeded_bytes(operator, rows) if self.seeds else packed_bytes(operator, rows)
        figures = {
            "transactions": Figure(rows, "rows"),
            "alphabet": Figure(operator.alphabet, "items"),
            "longest": Figure(self.sets.longest, "items"),
            "alone_by_size": Figure(self.sets.fewer_than(2), "rows", note="sets of a size that no other has"),
            "items_kept": Figure(
                _kept(self.sets, operator), "share", note="own items in the randomized sets, expected"
            ),
            "items_released": Figure(_released(self.sets, operator), "items", note="of a randomized set, on average"),
            "bytes": Figure(size, "bytes", note="seeds" if self.seeds else "bits of the whole alphabet, uncompressed"),
            "epsilon": _finite(
                max((epsilon(operator, m, 1) for m in self.sets.numbers if m), default=0.0),
                "nats",
                "for one item replaced by another; unbounded",
            ),
        }
        for k, support in self.lowest.items():
            figures[f"lowest_support.{k}"] = _finite(support, "share", "no support is discoverable")
            if self.chosen.maxima:
                figures[f"parts_at_largest.{k}"] = figures[f"lowest_support.{k}"]
            figures[f"none_or_all.{k}"] = _finite(self.lowest_undivided[k], "share", "no support is discoverable")
            figures[f"sigma.{k}"] = _finite(self.noise[k], "share", "such itemsets cannot be estimated")
        for k in self.chosen.requirement.sizes if self.chosen.choices and self.chosen.requirement else ():
            worst = max(choice.levels[k] for choice in self.chosen.choices.values())
            figures[f"level.{k}"] = Figure(worst, "probability", note="the worst that the maximal supports allow")
        return figures

    def contract(self) -> dict[str, Any]:
        """Return the mining contract: what the recipient may ask of the release, and how sure the answers are."""
        requirement = self.chosen.requirement
        return {
            "version": 1,
            "attribute": self.sets.name,
            "form": "seeded" if self.seeds else "packed",
            "transactions": self.sets.rows,
            "by_length": {str(m): number for m, number in self.sets.numbers.items()},
            "alphabet": self.chosen.operator.alphabet,
            "level": None if requirement is None else requirement.level,
            "itemset_sizes": list(self.lowest),
            "lowest_discoverable_support": {str(k): _or_none(s) for k, s in self.lowest.items()},
            "sigma": {str(k): _or_none(s) for k, s in self.noise.items()},
            "largest_itemset": SPARE if self.seeds else None,
            "notes": [
                "operator.json has the operator, by the number of items of the original transaction",
                "the column `size` of each row is that number: estimates need it",
                f"a support is discoverable where its estimate is {SIGMAS:g} standard errors above 0",
                "sigma is the standard error for an itemset of which no transaction has an item: the least there is",
            ],
        }


def _lowest(
    sets: ObservedSets, operator: TransactionOperator, lengths: Sequence[int], maxima: Maxima | None
) -> dict[int, float]:
    supports: dict[int, float] = {}
    for k in lengths:
        try:
            supports |= lowest_supports(operator, sets.numbers, [k], maxima)
        except PluginError:  # too few items are kept for itemsets of that size: nothing to estimate them from
            supports[k] = math.inf
    return supports


def _noise(sets: ObservedSets, operator: TransactionOperator, lengths: Sequence[int]) -> dict[int, float]:
    sigmas = {}
    for k in lengths:
        absent = {m: np.eye(1, k + 1)[0] for m in sets.numbers}
        try:
            sigmas[k] = float(expected_sigma(operator, absent, sets.numbers))
        except PluginError:
            sigmas[k] = math.inf
    return sigmas


def _kept(sets: ObservedSets, operator: TransactionOperator) -> float:
    own = sum(number * m for m, number in sets.numbers.items())
    kept = sum(number * float(np.arange(m + 1) @ operator.law(m)) for m, number in sets.numbers.items())
    return kept / own


def _released(sets: ObservedSets, operator: TransactionOperator) -> float:
    total = 0.0
    for m, number in sets.numbers.items():
        kept = float(np.arange(m + 1) @ operator.law(m))
        filled = m + operator.inserted
        total += number * (filled if operator.refills else kept + (operator.alphabet - m) * operator.rho(m))
    return total / sets.rows


def _finite(value: float, unit: str, note: str) -> Figure:
    return Figure(value, unit) if math.isfinite(value) else Figure(None, unit, note=note)


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def is_identity(operator: TransactionOperator) -> bool:
    """Whether nothing is randomized."""
    return operator.family == NONE


# Findings on the operator and pictures of it.


MANY = 5
FEW = 5
"""A size that fewer people have is reported."""

MOST = 60


def notices(account: OperatorAccount, step: str) -> Iterator[Finding]:
    """Yield the findings."""
    chosen = account.chosen
    if is_identity(chosen.operator):
        text = f"`operator: none` leaves the sets of `{account.sets.name}` as they are: this is no protection at all"
        yield Finding("PPF803", Severity.ERROR, text, step)
    hopeless = [k for k, support in account.lowest.items() if not math.isfinite(support)]
    if hopeless and not is_identity(chosen.operator):
        sizes = ", ".join(str(k) for k in hopeless)
        text = f"no itemset of {sizes} items can be discovered, however frequent: the noise is too large for these rows"
        yield Finding("PPF805", Severity.WARNING, text, f"{step}.lowest_support")
    if chosen.estimated and chosen.choices:
        text = (
            f"the maximal supports that the parameters are for were taken from the data"
            f" ({account.sets.rows:,} sets, by length in {len(chosen.estimated)} pools): they hold for these sets"
        )
        yield Finding("PPF804", Severity.INFO, text, f"{step}.max_supports")
    yield _sizes(account, step)
    if not account.sets.declared:
        text = (
            f"the {len(account.sets.alphabet):,} items of the alphabet are those that occur in the data, and all are"
            f" named beside the release: declare a `domain` for `{account.sets.name}` where the existence of an item"
            " is a secret"
        )
        yield Finding("PPF804", Severity.INFO, text, f"{step}.alphabet")


def _sizes(account: OperatorAccount, step: str) -> Finding:
    """Say that sizes are published, and whom a rare one singles out."""
    alone, few = account.sets.fewer_than(2), account.sets.fewer_than(FEW)
    text = (
        f"how many items each set of `{account.sets.name}` had is released beside it, since estimates need it:"
        f" {counted(alone, 'set')} of {account.sets.rows:,} {'has' if alone == 1 else 'have'} a size that no other"
        f" has, and {few:,} one that fewer than {FEW} have"
    )
    return Finding("PPF858", Severity.WARNING if alone else Severity.INFO, text, f"{step}.alone_by_size")


def charts(account: OperatorAccount, step: str) -> tuple[Chart, ...]:
    """Return how likely items come through and others come in, by length of the original set."""
    operator = account.chosen.operator
    lengths = [m for m in account.sets.numbers if m][:MOST]
    kept = tuple(sum(j * p for j, p in enumerate(operator.law(m).tolist())) / m for m in lengths)
    others = [
        (m - m * share + operator.inserted) / max(1, operator.alphabet - m) if operator.refills else operator.rho(m)
        for m, share in zip(lengths, kept, strict=True)
    ]
    both = Chart(
        id=f"{step}.operator",
        title="How likely an item is in the randomized set",
        kind="lines",
        x=tuple(str(m) for m in lengths),
        series=(FigureSeries("an item of the original set", kept), FigureSeries("any other item", tuple(others))),
        x_label="items of the original set",
        y_label="probability",
        group="randomize_transactions",
    )
    able = {k: s for k, s in account.lowest.items() if math.isfinite(s)}
    if not able:
        return (both,)
    return (
        both,
        Chart(
            id=f"{step}.lowest_support",
            title="Lowest discoverable support",
            kind="bars",
            x=tuple(f"{k} item{'s' * (k > 1)}" for k in able),
            series=(FigureSeries("share of all sets", tuple(able.values())),),
            x_label="size of the itemset",
            y_label="support",
            group="randomize_transactions",
            note="Rarer itemsets cannot be told from none: their estimates are within 4 standard errors of 0.",
        ),
    )
