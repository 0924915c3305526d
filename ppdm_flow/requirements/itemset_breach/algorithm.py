"""Itemset breaches: posteriors of items given a released set, from the operator and the original's own supports.

Pr[z in t | A in t'] for every itemset A of the sizes asked for and every item z, in A or not: exactly for those that
were counted, and a bound for the rarer ones. The bytes are tested to come from the operator, at an error probability of
one in a million. Source: Evfimievski, Srikant, Agrawal, Gehrke, KDD 2002, section 4.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import beta

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.requirement import TOLERANCE, within
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding, Measured
from ppdm_flow.mining.exposure.columns import beside
from ppdm_flow.mining.releases.attributes import namesakes, source_of
from ppdm_flow.mining.transactions.breaches import Event, epsilon, exchangeable, level, likelihoods
from ppdm_flow.mining.transactions.counting.vertical import columns, support_counts
from ppdm_flow.mining.transactions.exposure import WorstExposure, knowing, outside, rest, whole_itemset_exposures
from ppdm_flow.mining.transactions.exposure import inside as exposure_inside
from ppdm_flow.mining.transactions.hardest import hardest, privacy_challenging
from ppdm_flow.mining.transactions.prevalent import PrevalentItemsets, pools, prevalent
from ppdm_flow.requirements.itemset_breach.clients import ClientAssessment, outcome_of
from ppdm_flow.requirements.itemset_breach.fit import (
    ERROR,
    ObservationFit,
    ObservedPairs,
    WatchedItem,
    fit_of,
    observed,
)
from ppdm_flow.requirements.itemset_breach.material import (
    BreachInput,
    UnknownOperatorError,
    material,
    posterior,
    released,
)
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

Bounds = Mapping[int, tuple[float, ...]]


class ItemsetBreachAudit:
    """Judges each requirement on every released column that carries its attribute; the worst one counts."""

    def __init__(self, params: Any) -> None:
        self.params = params
        self._worst: dict[str, BreachAssessment] = {}
        self._clients: dict[str, ClientAssessment] = {}

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:  # noqa: ARG002 - what went into the operator counts
        """Return the posteriors, and how well the bytes fit, for each requirement."""
        outcomes = [self._of(requirement, candidate, ctx) for requirement in _own(ctx)]
        return AuditOutcome(
            figures={name: figure for each in outcomes for name, figure in each.figures.items()},
            measured=tuple(m for each in outcomes for m in each.measured),
            findings=tuple(f for each in outcomes for f in each.findings),
            charts=tuple(c for each in outcomes for c in each.charts),
        )

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:  # noqa: ARG002
        """Count the worst itemset again, in SQL or row by row, and its posterior from what defines the operator."""
        figures: dict[str, float | int | None] = {}
        for name, sent in self._clients.items():
            figures[f"{name}.worst_posterior"] = sent.by_programs()
        for name, assessment in self._worst.items():
            worst = assessment.worst
            if worst.itemset:
                lengths = assessment.counted.pools[worst.pool].sizes
                worst_posterior = posterior(
                    assessment.material, lengths, worst.size, worst.itemset, worst.item, ctx.sql
                )
                figures[f"{name}.worst_posterior"] = worst_posterior
                figures[f"{name}.released_with_worst"] = released(assessment.material, lengths, worst.itemset, ctx.sql)
            else:
                figures[f"{name}.worst_posterior"] = 0.0
        return figures

    def _of(self, requirement: ItemsetBreach, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        carrying = namesakes(requirement.attribute, candidate, ctx)
        sent = [c for c in carrying if (known := ctx.set_operators.get(c)) is not None and known.by_clients]
        if sent:
            return self._of_clients(requirement, sent[0], candidate, ctx)
        every: list[BreachAssessment] = []
        why = "it is computed from the sets by another way than their operator"
        faults = [(column, why) for column in beside(requirement.attribute, candidate, ctx)]
        for column in carrying:
            try:
                every.append(assess(requirement, material(column, candidate, ctx)))
            except UnknownOperatorError as error:
                faults.append((column, str(error)))
        if faults or not carrying:
            return _without(requirement, faults, ctx)
        worst = max(every, key=lambda each: each.worst.level)
        self._worst[requirement.id] = worst
        figures = figures_of(worst, _released(worst))
        holds = all(each.reliable for each in every)
        return AuditOutcome(
            figures={f"{requirement.id}.{name}": figure for name, figure in figures.items()},
            measured=(_measured(requirement, figures["worst_posterior"], sentence(worst, ctx), verifiable=holds),),
            findings=tuple(f for each in every for f in findings(each, ctx)),
            charts=charts(worst),
        )

    def _of_clients(
        self, requirement: ItemsetBreach, column: str, candidate: DataView, ctx: AuditContext
    ) -> AuditOutcome:
        """Judge sets that clients randomized; the source has one column of them."""
        try:
            assessment = ClientAssessment.of(requirement, column, ctx.set_operators[column], candidate)
        except UnknownOperatorError as error:
            return _without(requirement, [(column, str(error))], ctx)
        self._clients[requirement.id] = assessment
        return outcome_of(assessment, client_figures(assessment), ctx)


def _without(requirement: ItemsetBreach, faults: list[tuple[str, str]], ctx: AuditContext) -> AuditOutcome:
    """Return the outcome where no set is released, or nobody knows how they were randomized."""
    figure = Figure(None, "probability", note="no operator is known") if faults else Figure(0.0, "probability")
    text = unknown(*faults[0]) if faults else f"The sets of `{requirement.attribute}` are not released."
    return AuditOutcome(
        figures={f"{requirement.id}.worst_posterior": figure},
        measured=(_measured(requirement, figure, text, verifiable=not faults),),
        findings=tuple(no_operator(column, why, ctx) for column, why in faults),
    )


def _measured(requirement: ItemsetBreach, figure: Figure, text: str, *, verifiable: bool) -> Measured:
    return Measured(
        requirement=requirement.id,
        metric=f"{requirement.id}.worst_posterior",
        figure=figure,
        bound=requirement.level,
        at_most=True,
        sentence=text,
        verifiable=verifiable,
    )


def _own(ctx: AuditContext) -> list[ItemsetBreach]:
    return [r for r in ctx.requirements if isinstance(r, ItemsetBreach)]


def _released(assessment: BreachAssessment) -> int:
    """Count the released sets with the worst itemset, among the lengths that are judged together."""
    worst = assessment.worst
    if not worst.itemset:
        return 0
    lengths = np.array(assessment.counted.pools[worst.pool].sizes)
    items = np.array(sorted(worst.itemset), dtype=np.int64)
    total = 0
    for part in assessment.material.sets():
        here = columns(part, items)
        total += int(support_counts(here, np.arange(len(items))[None, :])[0, np.isin(here.sizes, lengths)].sum())
    return total


# One released column of sets under one requirement: what may be inferred, and whether that can be relied on.


SHOWN = 4
"""Itemsets of each size and kind that are watched in the released sets."""


@dataclass(frozen=True, slots=True, eq=False)
class BreachAssessment:
    """The inferences from one released column of sets, and whether they can be relied on.

    Attributes
    ----------
    within, beside : k -> the worst for each length, z in A and not in A
    whole_itemset : the same for A as a whole: that the original has all of it
    larger : the same for A of one item more than asked for, z in A
    absent, known : the worst if A is not in t'; number of known items -> the worst for who knows that many
    rest : what no itemset that was not counted exceeds
    bound : what no data with the policy's maximal supports exceed; None where it gives none
    exceeded : lengths whose itemsets are more frequent than the policy says
    """

    requirement: ItemsetBreach
    material: BreachInput
    counted: PrevalentItemsets
    within: Mapping[int, Sequence[WorstExposure]]
    beside: Mapping[int, Sequence[WorstExposure]]
    whole_itemset: Mapping[int, Sequence[WorstExposure]]
    larger: WorstExposure
    absent: WorstExposure
    known: Mapping[int, WorstExposure]
    rest: float
    bound: float | None
    exceeded: tuple[int, ...]
    watched: tuple[WatchedItem, ...]
    seen: ObservedPairs | None
    fit: ObservationFit

    @property
    def worst(self) -> WorstExposure:
        """The itemset and item of which most is learned."""
        return max((e for some in (self.within, self.beside) for each in some.values() for e in each), key=level_of)

    @property
    def doubtful(self) -> bool:
        """Whether a rarer itemset may exceed the level, which no counted one does."""
        level = self.requirement.level
        return within(self.worst.level, level, at_most=True) and not within(self.rest, level, at_most=True)

    @property
    def reliable(self) -> bool:
        """Whether what was computed can be relied on."""
        return self.fit.holds and not self.exceeded and not self.doubtful

    @property
    def epsilon(self) -> float:
        """The amplification of one item replaced by another, in nats; may be infinite."""
        return max((epsilon(self.material.operator, m, 1) for m in self.material.numbers if m), default=0.0)

    @property
    def counted_itemsets(self) -> int:
        """How many itemsets were counted."""
        return sum(len(level.itemsets) for level in self.counted.levels)

    def measured(self, exposed: WorstExposure) -> tuple[int, int]:
        """Return the released sets with the itemset, and those of them with the item, in the pool of the length."""
        wanted = WatchedItem(exposed.itemset, exposed.item)
        if self.seen is None or wanted not in self.watched:
            return 0, 0
        which = self.watched.index(wanted)
        there = np.isin(np.array(self.seen.sizes), np.array(self.counted.pools[exposed.pool].sizes))
        return int(self.seen.seen[which, there].sum()), int(self.seen.hits[which, there].sum())


def assess(requirement: ItemsetBreach, material: BreachInput) -> BreachAssessment:
    """Count, predict, and look at the released sets."""
    numbers = {m: n for m, n in material.numbers.items() if m}
    together = pools(numbers, requirement.pool)
    longest = max(requirement.sizes) + 1
    counted = prevalent(material.partitions, together, material.operator.alphabet, longest)
    within_ = {k: exposure_inside(material.operator, counted, k) for k in requirement.sizes}
    beside = {k: outside(material.operator, counted, k) for k in requirement.sizes}
    watched = _watched(within_, beside)
    seen = observed(material, watched)
    caps = {m: requirement.declared(m) for m in numbers}
    return BreachAssessment(
        requirement=requirement,
        material=material,
        counted=counted,
        within=within_,
        beside=beside,
        whole_itemset={k: whole_itemset_exposures(material.operator, counted, k) for k in requirement.sizes},
        larger=max(exposure_inside(material.operator, counted, longest), key=level_of),
        absent=max(
            (e for k in requirement.sizes for e in exposure_inside(material.operator, counted, k, Event.NONE)),
            key=level_of,
        ),
        known=_known(material, counted, requirement),
        rest=rest(material.operator, counted, requirement.sizes, caps),
        bound=_bound(material, caps, requirement.sizes),
        exceeded=_exceeded(counted, caps),
        watched=watched,
        seen=seen,
        fit=fit_of(material, seen),
    )


def _known(material: BreachInput, counted: PrevalentItemsets, requirement: ItemsetBreach) -> dict[int, WorstExposure]:
    worst = {
        known: knowing(material.operator, counted, requirement.sizes, known, requirement.level) for known in (1, 2)
    }
    return {known: exposed for known, exposed in worst.items() if exposed is not None}


def _watched(*some: Mapping[int, Sequence[WorstExposure]]) -> tuple[WatchedItem, ...]:
    """Return the worst itemsets of each size and kind."""
    chosen = []
    for kind in some:
        for each in kind.values():
            chosen += [e for e in sorted(each, key=level_of, reverse=True) if e.itemset][:SHOWN]
    return tuple(dict.fromkeys(WatchedItem(e.itemset, e.item) for e in chosen))


def _bound(material: BreachInput, caps: Bounds, sizes: Sequence[int]) -> float | None:
    if not all(caps.values()):
        return None
    levels = [0.0]
    for m, maxima in caps.items():
        for k in sizes:
            likelihood = likelihoods(material.operator, m, k)
            if likelihood.any():
                levels += [hardest(maxima, k, m, likelihood, inside=side)[0] for side in (True, False)]
    return max(levels)


def _exceeded(counted: PrevalentItemsets, caps: Bounds) -> tuple[int, ...]:
    """Return the lengths at which some itemset occurs more often than the policy says."""
    largest_supports = largest(counted)
    over = []
    for place, pool in enumerate(counted.pools):
        for m in pool.sizes:
            limits = caps[m]
            most = [
                largest_supports[i, place] > limits[min(i, len(limits) - 1)] * (1 + TOLERANCE)
                for i in range(len(largest_supports) - 1)
                if limits
            ]
            over += [m] if any(most) else []
    return tuple(over)


def largest(counted: PrevalentItemsets) -> npt.NDArray[np.float64]:
    """Return the largest share of a pool that an itemset of 1, 2, .. items was counted in, (longest, pools)."""
    counts = [level.counts.max(axis=0, initial=0) for level in counted.levels]
    return np.asarray(np.array(counts) / counted.rows)


def level_of(exposed: WorstExposure) -> float:
    """Return the posterior, to order by."""
    return exposed.level


# The figures of a judgement.


LEVEL = 0.95


def figures_of(assessment: BreachAssessment, released: int) -> dict[str, Figure]:
    """Return the figures; ``released`` are the released sets with the worst itemset."""
    worst = assessment.worst
    figures = {
        "worst_posterior": _probability(worst.level),
        "prior_of_worst": _probability(worst.prior),
        "released_with_worst": Figure(released, "rows", note="released sets that hold the worst itemset"),
        "measured": measured_of(assessment, worst),
    }
    for k, each in assessment.within.items():
        figures[f"within.{k}"] = _probability(most(each).level)
        figures[f"whole.{k}"] = _whole_itemset_figure(most(assessment.whole_itemset[k]))
        figures[f"measured.{k}"] = measured_of(assessment, most(each))
        figures[f"paper.{k}"] = _paper(assessment, k)
    figures |= {f"beside.{k}": _probability(most(each).level) for k, each in assessment.beside.items()}
    figures |= {
        "larger": Figure(
            assessment.larger.level, "probability", note="itemsets of one item more than the policy names"
        ),
        "absence": Figure(
            assessment.absent.level, "probability", note="where a released set has no item of the itemset"
        ),
    }
    for number, exposed in assessment.known.items():
        note = (
            f"for who knows {number} other item{'s' * (number > 1)} of the set, {exposed.prior:.1%} before it is seen"
        )
        figures[f"knowing.{number}"] = Figure(exposed.level, "probability", note=note)
    figures["rest"] = Figure(assessment.rest, "probability", note="no itemset that was not counted exceeds this")
    figures["bound"] = (
        Figure(None, "probability", note="the policy gives no maximal supports")
        if assessment.bound is None
        else Figure(assessment.bound, "probability", note="no data with the policy's maximal supports exceed this")
    )
    figures["fit"] = Figure(
        assessment.fit.p, "probability", sample=assessment.fit.rows, note=f"rejected below {ERROR:g}"
    )
    figures["itemsets"] = Figure(assessment.counted_itemsets, "itemsets")
    figures["epsilon"] = _epsilon(assessment.epsilon)
    return figures


def client_figures(assessment: ClientAssessment) -> dict[str, Figure]:
    """Return the figures of sets that clients randomized: all of them from the operator alone, but for the fit."""
    note = f"over all data within the policy's maximal supports, and {len(assessment.operator.sizes)} lengths"
    figures = {"worst_posterior": Figure(assessment.worst.level, "probability", note=note)}
    for k in assessment.requirement.sizes:
        for name, inside in (("within", True), ("beside", False)):
            levels = [case.level for case in assessment.cases if (case.length, case.inside) == (k, inside)]
            figures[f"{name}.{k}"] = Figure(max(levels, default=0.0), "probability", note=note)
        figures[f"whole.{k}"] = Figure(assessment.joint_posterior(k), "probability", note=note)
    figures["bound"] = Figure(assessment.worst.level, "probability", note=note)
    rows = sum(assessment.numbers.values())
    figures["fit"] = Figure(
        assessment.fit, "probability", sample=rows, note=f"of numbers of items alone; rejected below {ERROR:g}"
    )
    largest = max((epsilon(assessment.operator, m, 1) for m in assessment.operator.sizes if m), default=0.0)
    figures["epsilon"] = _epsilon(largest)
    return figures


def most(each: Sequence[WorstExposure]) -> WorstExposure:
    """Return the worst of all lengths."""
    return max(each, key=level_of)


def measured_of(assessment: BreachAssessment, exposed: WorstExposure) -> Figure:
    """Return which share of the released sets with the itemset came from sets with the item, with its interval."""
    if assessment.seen is None:
        return Figure(None, "probability", note="original and released rows cannot be matched")
    seen, hits = assessment.measured(exposed)
    if not seen:
        return Figure(None, "probability", note="no released set holds the itemset")
    return Figure(hits / seen, "probability", interval(hits, seen), seen)


def interval(hits: int, seen: int) -> tuple[float, float]:
    """Return the 95 % interval of Clopper and Pearson."""
    tail = 0.5 * (1.0 - LEVEL)
    low = float(beta.ppf(tail, hits, seen - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1.0 - tail, hits + 1, seen - hits)) if hits < seen else 1.0
    return low, high


def _paper(assessment: BreachAssessment, length: int) -> Figure:
    """Return the level of the paper's privacy-challenging itemset: all maximal supports at once, items alike."""
    levels = []
    maxima = assessment.counted.maxima()
    for place, pool in enumerate(assessment.counted.pools):
        for m in pool.sizes:
            supports = privacy_challenging(tuple(maxima[:, place]), length, m)
            if supports is not None:
                posterior = level(
                    likelihoods(assessment.material.operator, m, length), supports, exchangeable(supports)
                )
                levels.append(float(posterior))
    if not levels:
        return Figure(None, "probability", note="no itemset can have all maximal supports at once")
    return Figure(max(levels), "probability", note="of an itemset with all maximal supports at once")


def _whole_itemset_figure(exposed: WorstExposure) -> Figure:
    return Figure(exposed.level, "probability", note=f"all items of it together, {exposed.prior:.2%} before")


def _epsilon(nats: float) -> Figure:
    if not math.isfinite(nats):
        return Figure(None, "nats", note="unbounded")
    return Figure(nats, "nats", note="for one item replaced by another")


def _probability(value: float) -> Figure:
    return Figure(value, "probability")


# The sentence and the findings of the audit.


def sentence(assessment: BreachAssessment, ctx: AuditContext) -> str:
    """Return the sentence for the report."""
    worst = assessment.worst
    text = (
        f"Of the released sets that replace one of {counted(worst.size, 'item')} and hold"
        f" {_itemset(assessment, worst, ctx)}, {worst.level:.1%} come from a set with {_item(assessment, worst, ctx)};"
        f" {worst.prior:.1%} of all these have it. No other itemset of {_sizes(assessment.requirement)} tells more."
    )
    if not worst.itemset:
        text = (
            f"No itemset of {_sizes(assessment.requirement)} tells anything of the sets of"
            f" `{assessment.material.column}`."
        )
    if assessment.reliable:
        return text
    return f"{text} That cannot be relied on: {'; '.join(_doubts(assessment))}."


def unknown(column: str, why: str) -> str:
    """Return the sentence where nothing can be said."""
    return f"What may be inferred from the sets of `{column}` is not known: {why}."


def findings(assessment: BreachAssessment, ctx: AuditContext) -> Iterator[Finding]:
    """Yield what a reader should know."""
    column = assessment.material.column
    place = f"{ctx.release}.{column}"
    level = assessment.requirement.level
    if not within(assessment.worst.level, level, at_most=True):
        text = (
            f"items of `{column}` may be inferred with up to {assessment.worst.level:.1%}, above the level of"
            f" {level:.1%}"
        )
        yield Finding("PPF870", Severity.ERROR, text, place)
    if not assessment.fit.holds:
        text = f"the released sets of `{column}` do not follow their operator: {assessment.fit.what}"
        yield Finding("PPF811", Severity.ERROR, text, place)
    if assessment.exceeded:
        text = (
            f"itemsets of `{column}` are more frequent than `max_supports` says, in sets of {_lengths(assessment)}"
            " items"
        )
        yield Finding("PPF873", Severity.ERROR, text, place)
    if assessment.doubtful:
        text = (
            f"rarer itemsets of `{column}` than the {assessment.counted_itemsets:,} that were counted may tell up to"
            f" {assessment.rest:.1%}"
        )
        yield Finding("PPF874", Severity.ERROR, text, f"{place}.rest")
    if assessment.bound is not None and not within(assessment.bound, level, at_most=True):
        text = (
            f"other data with the same maximal supports could be inferred with up to {assessment.bound:.1%}; these"
            " cannot"
        )
        yield Finding("PPF874", Severity.WARNING, text, f"{place}.bound")
    together = [pool for pool in assessment.counted.pools if len(pool.sizes) > 1]
    if together:
        names = ", ".join(pool.name for pool in together)
        text = (
            f"sets of {names} items are judged together: there are fewer than {assessment.requirement.pool:,} of a"
            " length"
        )
        yield Finding("PPF874", Severity.INFO, text, f"{place}.pools")
    if not assessment.material.direct:
        text = f"the sets of `{column}` had been changed before they were randomized: they are judged as they were then"
        yield Finding("PPF875", Severity.INFO, text, place)


def no_operator(column: str, why: str, ctx: AuditContext) -> Finding:
    """Return the finding where nothing can be said."""
    return Finding("PPF810", Severity.ERROR, unknown(column, why).rstrip("."), f"{ctx.release}.{column}")


def _doubts(assessment: BreachAssessment) -> Iterator[str]:
    if not assessment.fit.holds:
        yield f"the released sets do not follow their operator ({assessment.fit.what})"
    if assessment.exceeded:
        yield "the data are not what `max_supports` says"
    if assessment.doubtful:
        yield f"itemsets too rare to be counted may tell up to {assessment.rest:.1%}"


def _sizes(requirement: ItemsetBreach) -> str:
    sizes = [str(k) for k in requirement.sizes]
    several = f"{', '.join(sizes[:-1])} or {sizes[-1]}" if len(sizes) > 1 else sizes[0]
    return f"{several} item{'s' * (sizes != ['1'])}"


def _lengths(assessment: BreachAssessment) -> str:
    lengths = [str(m) for m in assessment.exceeded]
    return ", ".join(lengths[:5]) + (" and more" if len(lengths) > 5 else "")


def _itemset(assessment: BreachAssessment, exposed: WorstExposure, ctx: AuditContext) -> str:
    source = source_of(assessment.material.column, ctx)
    names = [assessment.material.alphabet[i].as_py() for i in exposed.itemset]
    shown = [ctx.label(source, name, i + 1) for i, name in zip(exposed.itemset, names, strict=True)]
    if shown == names and names:
        return "{" + ", ".join(names) + "}"
    return "a certain item" if len(names) == 1 else f"a certain itemset of {len(names)} items"


def _item(assessment: BreachAssessment, exposed: WorstExposure, ctx: AuditContext) -> str:
    name = assessment.material.alphabet[exposed.item].as_py()
    shown = ctx.label(source_of(assessment.material.column, ctx), name, exposed.item + 1)
    if shown == name:
        return f"`{name}`"
    if exposed.item not in exposed.itemset:
        return "a certain other item"
    return "that item" if len(exposed.itemset) == 1 else "a certain one of them"


# Predicted and measured posteriors, by size of itemset and by length of the original.


GROUP = "itemset_breach"


def charts(assessment: BreachAssessment) -> tuple[Chart, ...]:
    """Return both pictures."""
    return (_by_size(assessment), _by_length(assessment))


def _by_size(assessment: BreachAssessment) -> Chart:
    sizes = tuple(assessment.within)
    predicted = tuple(most(assessment.within[k]).level for k in sizes)
    beside = tuple(most(assessment.beside[k]).level for k in sizes)
    series = [
        FigureSeries("item of the itemset, predicted", predicted),
        FigureSeries("another item, predicted", beside),
    ]
    seen = [measured_of(assessment, most(assessment.within[k])) for k in sizes]
    if all(figure.value is not None and figure.interval is not None for figure in seen):
        values = tuple(float(figure.value or 0.0) for figure in seen)
        low, high = (tuple(_end(figure, i) for figure in seen) for i in (0, 1))
        series.insert(1, FigureSeries("item of the itemset, measured", values, low, high))
    return Chart(
        id=f"{assessment.requirement.id}.by_size",
        title="Worst posteriors by size of the itemset",
        kind="bars",
        x=tuple(f"{k} item{'s' * (k > 1)}" for k in sizes),
        series=tuple(series),
        x_label="size of the itemset seen in a released set",
        y_label="probability that the original has the item",
        note=f"The level asked for is {assessment.requirement.level:.1%}. Measured with its 95 % interval, where the"
        " itemset is in enough released sets: over all lengths that are judged together.",
        group=GROUP,
    )


def _by_length(assessment: BreachAssessment) -> Chart:
    lengths = [e.size for e in next(iter(assessment.within.values()))]
    series = tuple(
        FigureSeries(f"{k} item{'s' * (k > 1)}", tuple(e.level for e in each)) for k, each in assessment.within.items()
    )
    return Chart(
        id=f"{assessment.requirement.id}.by_length",
        title="Worst posteriors by length of the original set",
        kind="lines",
        x=tuple(str(m) for m in lengths),
        series=series,
        x_label="items of the original set",
        y_label="probability that the original has the item",
        group=GROUP,
    )


def _end(figure: Figure, which: int) -> float:
    return figure.interval[which] if figure.interval is not None else 0.0
