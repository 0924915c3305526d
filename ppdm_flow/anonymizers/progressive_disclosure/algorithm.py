"""Progressive disclosure: search on the counts, then one code map a column; and the report's texts about it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.class_models.people import subject_read
from ppdm_flow.anonymizers.class_models.required import by_person, by_row_or_value
from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.anonymizers.progressive_disclosure.problem import (
    TOP,
    Bools,
    DisclosureProblem,
    DisclosureTask,
    InferenceChannel,
    encode,
)
from ppdm_flow.anonymizers.progressive_disclosure.search import NEGLIGIBLE, Disclosure, DisclosureSearch
from ppdm_flow.anonymizers.progressive_disclosure.spec import NOTHING, DisclosureParams, channels, sensitive
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.people import PeopleFigure
from ppdm_flow.core.requirement import TOLERANCE, within
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.mining.class_people.seen import ClassPeople, PersonalClasses
from ppdm_flow.mining.recoding.grouping import RowGrouping, largest, shares
from ppdm_flow.mining.recoding.kernels import keyed, numbered
from ppdm_flow.mining.recoding.models import ClassModel, Floats
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SUPPRESSED, Column
from ppdm_flow.tables.table import Table

_BARS = 40
Ints = npt.NDArray[np.int64]


class ProgressiveDisclosure:
    """Suppresses values of channel attributes until every template <IC -> pi, h> holds in every group over IC.

    Source: Wang, Fung, Yu, "Template-based privacy preservation in classification problems", ICDM 2005, Algorithm 1.
    """

    def __init__(self, params: DisclosureParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Search. Raises PluginError, naming the requirement, where even full suppression does not satisfy it."""
        enforced = self.params.enforced(ctx.requirements, ctx.attributes)
        scope = Scope(ctx.step, ctx.attributes, ctx.requirements, ctx.nulls, people=ctx.people)
        require(subject_read(scope), data.schema.names, ctx.step)
        templates, left_out = needed(enforced) if ctx.people is None else (enforced, ())
        task = self._task(templates, enforced, data, ctx)
        if not task.templates and not task.floors:
            raise _nothing(NOTHING)
        columns = list(_columns(task))
        read = by_person(data, columns, ctx) or by_row_or_value(data, columns, by_row=False)
        problem = encode(read.counts, task)
        search = DisclosureSearch(problem, useless=self.params.disclose == "valid")
        if broken := infeasible(search):
            raise PluginError(broken)
        width = 1 if self.params.search == "greedy" else self.params.width
        result = run(search, width, ahead=self.params.search == "lookahead")
        if read.persons is not None and ctx.people is not None:
            result = _of_people(result, DisclosedPeople(problem, read.persons, ctx.people.known_rows), ctx.step)
        results = outcomes(problem, result.disclosures, ctx.nulls)
        return Fitted(
            transform=DisclosureTransform(results, _named(results, ctx)),
            figures={**_figures(results, problem), **_of_search(result, left_out, self.params)},
            findings=_redundant(left_out),
            charts=_charts(results, problem, result.disclosures, ctx),
        )

    def _task(
        self,
        templates: tuple[InferenceTemplate, ...],
        enforced: tuple[InferenceTemplate, ...],
        data: DataView,
        ctx: StepContext,
    ) -> DisclosureTask:
        """Put together what is asked for. Raises PluginError where the score needs a class and there is none."""
        params = self.params
        targets = () if params.score == "entropy" else data.schema.having(Role.TARGET)
        if params.score == "information_gain" and not targets:
            raise _nothing("information gain needs an attribute with `role: target`")
        open_ = params.suppressible(enforced, ctx.requirements, ctx.attributes)
        graded = params.graded(open_, enforced, ctx.attributes)
        own = {name: ctx.attributes[name].hierarchy for name in graded}
        return DisclosureTask(
            templates=templates,
            suppressible=open_,
            targets=targets,
            floors=params.floors(ctx.requirements, open_, ctx.attributes),
            hierarchies={name: spec for name, spec in own.items() if spec is not None},
            nulls=ctx.nulls,
            home=ctx.home,
        )


def _of_people(result: BeamResult, people: DisclosedPeople, step: str) -> BeamResult:
    """Return what people allow of a search's result. Raises PluginError where that is nothing."""
    permitted = people.permitted(result.disclosures)
    if permitted is None:
        text = f"step `{step}` found nothing to disclose or suppress that keeps the requirements for people"
        help_ = "raise the confidences, suppress more attributes, or give each person fewer rows with `limit_rows`"
        raise PluginError(Diagnostic("PPF784", text, help=help_))
    if len(permitted) == len(result.disclosures):
        return result
    return BeamResult(permitted, people.information(permitted), result.greedy)


def _columns(task: DisclosureTask) -> tuple[str, ...]:
    union = (*channels(tuple(task.templates)), *task.suppressible, *sensitive(tuple(task.templates)), *task.targets)
    return tuple(dict.fromkeys(union))


def _of_search(result: BeamResult, left_out: Sequence[str], params: DisclosureParams) -> dict[str, Figure]:
    figures = {
        "disclosures": Figure(len(result.disclosures), "disclosures"),
        "information_kept": Figure(result.kept, "bits"),
        "redundant_templates": Figure(len(left_out), "templates"),
    }
    if params.search != "greedy":
        figures["information_kept_greedy"] = Figure(result.greedy, "bits")
        figures["information_gained_by_search"] = Figure(result.kept - result.greedy, "bits")
    return figures


def _nothing(text: str) -> PluginError:
    return PluginError(Diagnostic("PPF780", text))


@dataclass(frozen=True, slots=True)
class DisclosureOutcome:
    """``values`` that are written, each as its ``label``; all others are suppressed.

    ``missing_shown``: whether missing cells stay missing. ``disclosed``, ``coarse`` and ``hidden`` count the values
    that keep their name, that are generalized and that are suppressed, the missing one included; ``cells`` and
    ``coarse_cells`` the rows whose cell is suppressed, and generalized. ``suppressed``: the values that are, with
    the rows that have them; whether a report may name them is for the reader to ask.
    """

    attribute: str
    values: tuple[str, ...]
    labels: tuple[str, ...]
    missing_shown: bool
    disclosed: int
    coarse: int
    hidden: int
    cells: int
    coarse_cells: int
    suppressed: tuple[tuple[str, int], ...] = ()


def outcomes(
    problem: DisclosureProblem, disclosures: Iterable[Disclosure], nulls: Nulls
) -> tuple[DisclosureOutcome, ...]:
    """Return one outcome an attribute, in the problem's order. ``suppressed`` names every suppressed value."""
    shown = [np.zeros(len(a.tree), dtype=np.bool_) for a in problem.attributes]
    for disclosure in disclosures:
        shown[disclosure.attribute][disclosure.node] = True
    return tuple(_outcome(problem, place, mask, nulls) for place, mask in enumerate(shown))


def _outcome(problem: DisclosureProblem, place: int, shown: Bools, nulls: Nulls) -> DisclosureOutcome:
    attribute = problem.attributes[place]
    tree = attribute.tree
    at = tree.visible(shown)[tree.leaf]  # the node that each value is shown as
    rows = np.bincount(attribute.codes + 1, weights=problem.weights, minlength=len(tree.leaf) + 1).astype(np.int64)
    stuck, rows = int(rows[0]), rows[1:]
    exact, top = at == tree.leaf, at < 0
    names = [tree.labels[n] for n in tree.leaf.tolist()]
    kept = [(v, tree.labels[n] or "") for v, n in zip(names, at.tolist(), strict=True) if v is not None and n >= 0]
    missing = [bool(not hidden) for v, hidden in zip(names, top.tolist(), strict=True) if v is None]
    hidden = [(v, n) for v, n, gone in zip(names, rows.tolist(), top.tolist(), strict=True) if gone and v is not None]
    return DisclosureOutcome(
        attribute.name,
        values=tuple(v for v, _ in kept),
        labels=tuple(label for _, label in kept),
        missing_shown=missing[0] if missing else nulls is Nulls.OWN_CATEGORY,
        disclosed=int(exact.sum()),
        coarse=int((~exact & ~top).sum()),
        hidden=int(top.sum()),
        cells=stuck + int(rows[top].sum()),
        coarse_cells=int(rows[~exact & ~top].sum()),
        suppressed=tuple(hidden),
    )


@dataclass(frozen=True, slots=True)
class DisclosureTransform(DeterministicTransform):
    """Writes disclosed values, or what generalizes them, and the suppression mark over all else, unknown values too."""

    outcomes: tuple[DisclosureOutcome, ...]
    named: Mapping[str, tuple[str, ...]]

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Suppress."""
        return part.replaced({o.attribute: _suppressed(part[o.attribute], o) for o in self.outcomes})

    def describe(self) -> Mapping[str, Any]:
        """How many values were suppressed, by attribute; only such are named as the policy itself names."""
        return {"attributes": {o.attribute: _account(o, self.named.get(o.attribute, ())) for o in self.outcomes}}


def _account(outcome: DisclosureOutcome, named: tuple[str, ...]) -> Mapping[str, Any]:
    coarse = {"generalized_values": outcome.coarse, "generalized_cells": outcome.coarse_cells}
    return {
        "disclosed_values": outcome.disclosed,
        **(coarse if outcome.coarse else {}),
        "suppressed_values": outcome.hidden,
        "suppressed_cells": outcome.cells,
        **({"suppressed": list(named)} if named else {}),
    }


def _suppressed(column: Column, outcome: DisclosureOutcome) -> Column:
    """The column in the written labels alone: not even its dictionary keeps a suppressed value."""
    known = pa.array(outcome.values, pa.string())
    labels = pa.array(sorted(set(outcome.labels), key=str.encode), pa.string())
    code_of = pc.index_in(pa.array(outcome.labels, pa.string()), value_set=labels).to_numpy(zero_copy_only=False)
    place = pc.index_in(column.categories, value_set=known).fill_null(-1).to_numpy(zero_copy_only=False)
    code_map = np.append(code_of.astype(np.int32), np.int32(SUPPRESSED))[place]
    mapped = column.mapped(code_map, labels)
    if outcome.missing_shown:
        return mapped
    return Column(np.where(mapped.codes == MISSING, np.int32(SUPPRESSED), mapped.codes), labels)


def _figures(outcomes: Sequence[DisclosureOutcome], problem: DisclosureProblem) -> dict[str, Figure]:
    """Return how much was suppressed, over all suppressible attributes and for each."""
    cells = sum(o.cells for o in outcomes)
    every = problem.total * len(outcomes)
    figures = {
        "suppressed_cells": Figure(cells, "cells"),
        "suppressed_share": Figure(cells / every if every else 0.0, "share"),
        "disclosed_values": Figure(sum(o.disclosed for o in outcomes), "values"),
        "suppressed_values": Figure(sum(o.hidden for o in outcomes), "values"),
    }
    if any(o.coarse for o in outcomes):
        coarse = sum(o.coarse_cells for o in outcomes)
        figures["generalized_cells"] = Figure(coarse, "cells")
        figures["generalized_share"] = Figure(coarse / every if every else 0.0, "share")
        figures["generalized_values"] = Figure(sum(o.coarse for o in outcomes), "values")
    for o in outcomes:
        figures[f"{o.attribute}.suppressed_share"] = Figure(o.cells / problem.total if problem.total else 0.0, "share")
    return figures


def _charts(
    outcomes: Sequence[DisclosureOutcome],
    problem: DisclosureProblem,
    disclosures: Sequence[Disclosure],
    ctx: StepContext,
) -> tuple[Chart, ...]:
    """Return the search, the share of suppressed cells by attribute, and by value where the policy names the values."""
    by_value = (c for o in outcomes if (c := _by_value(o, ctx)))
    return (*_search_chart(problem, disclosures, ctx), _by_attribute(outcomes, problem, ctx.step), *by_value)


def _named(outcomes: Sequence[DisclosureOutcome], ctx: StepContext) -> dict[str, tuple[str, ...]]:
    """Return, for each attribute, the suppressed values that may be named."""
    return {o.attribute: tuple(v for v, _ in o.suppressed if ctx.may_show(o.attribute, v)) for o in outcomes}


def _redundant(ids: Sequence[str]) -> tuple[Finding, ...]:
    """Return a finding for each template that the search left out, since others imply it (Lemma 3.1)."""
    return tuple(
        Finding("PPF771", Severity.INFO, f"`{name}` was left out of the search: other templates imply it", name)
        for name in ids
    )


def _search_chart(problem: DisclosureProblem, disclosures: Sequence[Disclosure], ctx: StepContext) -> tuple[Chart, ...]:
    """Return what each disclosure was chosen for, in their order; values are named where all of an attribute may be."""
    if not disclosures:
        return ()
    named = [all(ctx.may_show(a.name, v) for v in a.tree.labels if v is not None) for a in problem.attributes]
    first = disclosures[:_BARS]
    x = []
    for number, each in enumerate(first, 1):
        attribute = problem.attributes[each.attribute]
        value = attribute.tree.labels[each.node]
        of = f" {'missing' if value is None else value}" if named[each.attribute] else ""
        x.append(f"{number}. {attribute.name}{of}")
    kept = "information gain" if problem.classes is not None else "entropy"
    series = (
        FigureSeries("score", tuple(each.score for each in first)),
        FigureSeries(kept, tuple(each.gain for each in first)),
        FigureSeries("privacy loss", tuple(each.loss for each in first)),
    )
    note = f"score = {kept} / (privacy loss + 1)"
    if len(disclosures) > _BARS:
        note += f"; the first {_BARS} of {len(disclosures):,}"
    title = "Disclosures in the order of the search"
    return (Chart(f"{ctx.step}-search", title, "lines", tuple(x), series, note=note),)


def _by_attribute(outcomes: Sequence[DisclosureOutcome], problem: DisclosureProblem, step: str) -> Chart:
    rows = problem.total
    suppressed = tuple(o.cells / rows if rows else 0.0 for o in outcomes)
    coarse = tuple(o.coarse_cells / rows if rows else 0.0 for o in outcomes)
    return Chart(
        id=f"{step}-suppressed",
        title="Suppressed cells by attribute",
        kind="bars",
        x=tuple(o.attribute for o in outcomes),
        series=(
            FigureSeries("suppressed", suppressed),
            *((FigureSeries("generalized", coarse),) if any(coarse) else ()),
        ),
        y_label="share of rows",
    )


def _by_value(outcome: DisclosureOutcome, ctx: StepContext) -> Chart | None:
    """Only where each suppressed value may be named: a few names among numbers would tell which the others are."""
    if not outcome.suppressed or not all(ctx.may_show(outcome.attribute, v) for v, _ in outcome.suppressed):
        return None
    largest = sorted(outcome.suppressed, key=lambda pair: (-pair[1], pair[0].encode()))[:_BARS]
    return Chart(
        id=f"{ctx.step}-suppressed-{outcome.attribute}",
        title=f"Suppressed values of {outcome.attribute}",
        kind="bars",
        x=tuple(v for v, _ in largest),
        series=(FigureSeries("rows", tuple(float(n) for _, n in largest)),),
        y_label="rows",
        note=f"the {_BARS} most frequent of {len(outcome.suppressed)}" if len(outcome.suppressed) > _BARS else "",
    )


# Requirements that no suppression can satisfy (Wang, Fung, Yu, ICDM 2005, Lemma 3.3), and those that others imply.
#
# Every disclosure only splits groups. So confidences never fall and the smallest group never grows, and each
# requirement (a template, negated or not, a support or k-anonymity) is at its best on the most suppressed table,
# all of them on the same one. A requirement that fails there fails by itself: the smallest sets of requirements that
# cannot be met together have one member each, and all the others can be met at once, each at the lowest h that this
# table shows.
#
# Templates that others imply (Wang, Fung, Yu, ICDM 2005, Lemma 3.1): the search need not look at them. A group over
# fewer attributes is a union of groups over more of them, so its confidence is a weighted mean of theirs, and it has at
# least as many rows. In the search a row is in one group only, under all null semantics.


def infeasible(search: DisclosureSearch) -> tuple[Diagnostic, ...]:
    """Return a diagnostic for each requirement that the most suppressed table violates."""
    worst: dict[str, tuple[float, float]] = {}
    floors: list[Diagnostic] = []
    for place, channel in enumerate(search.problem.channels):
        for template, confidence in zip(channel.templates, search.confidences(place).tolist(), strict=True):
            if not within(confidence, template.confidence, at_most=True):
                known = worst.get(template.id, (0.0, 0.0))[0]
                worst[template.id] = (max(confidence, known), template.confidence)
        sizes, _ = search.groups(place)
        smallest = int(sizes.min(initial=search.problem.total))
        if len(sizes):
            floors += [_small(name, rows, smallest) for name, rows in channel.floors if smallest < rows]
    failing = len(worst) + len(floors)
    return (*(_template(name, *reached, failing) for name, reached in worst.items()), *floors)


def lowest(confidence: float) -> str:
    """Return a threshold that can be met, to be written into a policy: rounded up to six digits."""
    return f"{math.ceil(confidence * 1e6 - 1e-6) / 1e6:g}"


def _template(name: str, confidence: float, bound: float, failing: int) -> Diagnostic:
    alone = "by itself, without the other requirements" if failing == 1 else "by itself, as the others here do"
    return Diagnostic(
        "PPF784",
        f"`{name}` cannot be satisfied: with everything suppressed, its confidence is {confidence:.6g},"
        f" above {bound:.6g}",
        notes=(f"it fails {alone}; the lowest confidence that it could have is {lowest(confidence)}",),
        help="raise the template's confidence, or let the step suppress more attributes of its channel",
    )


def _small(name: str, rows: int, smallest: int) -> Diagnostic:
    return Diagnostic(
        "PPF784",
        f"`{name}` cannot be satisfied: with everything suppressed, the smallest group has {smallest} rows,"
        f" and {rows} are asked for",
        notes=("it fails by itself, without the other requirements",),
        help="ask for fewer rows, or let the step suppress more attributes",
    )


def needed(templates: Sequence[InferenceTemplate]) -> tuple[tuple[InferenceTemplate, ...], tuple[str, ...]]:
    """Return the templates without the sensitive values that others already take care of, and the ids left out."""
    kept: list[InferenceTemplate] = []
    left_out: list[str] = []
    for place, template in enumerate(templates):
        stronger = [
            t
            for i, t in enumerate(templates)
            if i != place and _bounds(t, template) and (not _bounds(template, t) or i < place)
        ]
        covered = {pair for t in stronger for pair in t.pairs}
        rest = tuple(pair for pair in dict.fromkeys(template.pairs) if pair not in covered)
        if rest:
            kept.append(template.changed(sensitive=by_attribute(rest)))
        else:
            left_out.append(template.id)
    return tuple(kept), tuple(left_out)


def _bounds(one: InferenceTemplate, other: InferenceTemplate) -> bool:
    """Whether ``one`` bounds every inference of ``other`` to a value that both protect, and the groups' rows."""
    return (
        set(one.channel) >= set(other.channel)
        and one.confidence <= other.confidence
        and one.negated == other.negated
        and one.smallest_group >= other.smallest_group
    )


# Searches beyond the greedy one, never worse than it: a beam, and a beam that looks ahead.


@dataclass(frozen=True, slots=True)
class BeamResult:
    """The disclosures to be made; information in bits, as ``Search.kept`` has it, beside the greedy search's."""

    disclosures: list[Disclosure]
    kept: float
    greedy: float


def run(search: DisclosureSearch, width: int = 1, *, ahead: bool = False) -> BeamResult:
    """Search. Greedy with a width of 1; else ``width`` sequences are followed at a time.

    At each depth every sequence goes on by its ``width`` best candidates, and those that disclose the same are one.
    Those stay that have kept the most information so far or, looking ``ahead``, that would keep the most if they went
    on greedily. The winner is the sequence that keeps the most of all that were seen, the greedy one included; among
    equals (to within rounding) the greedy one, then the first. It goes on greedily to its end.
    """
    start = search.copy() if width > 1 else search
    search.run()
    best, greedy = search, search.kept
    beam = [start] if width > 1 else []
    while beam:
        options = _extended(beam, width, ahead=ahead)
        for option in options:
            if option.reached.kept > best.kept + NEGLIGIBLE:
                best = option.reached
        beam = [option.branch for option in options]
    best.run()
    return BeamResult(best.disclosures, best.kept, greedy)


@dataclass(frozen=True, slots=True)
class _Option:
    """A sequence of the next depth, and how far it is known to lead."""

    branch: DisclosureSearch
    reached: DisclosureSearch


def _extended(beam: list[DisclosureSearch], width: int, *, ahead: bool) -> list[_Option]:
    """The best sequences of the next depth, best first; earlier ones go before equal ones."""
    seen: set[frozenset[tuple[int, int]]] = set()
    options: list[_Option] = []
    for search in beam:
        done = {(d.attribute, d.node) for d in search.disclosures}
        for disclosure in search.ranked(width):
            key = frozenset((*done, (disclosure.attribute, disclosure.node)))
            if key not in seen:
                seen.add(key)
                options.append(_option(search, disclosure, ahead=ahead))
        options = sorted(options, key=lambda o: -round(o.reached.kept / NEGLIGIBLE))[:width]
    return options


def _option(search: DisclosureSearch, disclosure: Disclosure, *, ahead: bool) -> _Option:
    branch = search.copy()
    branch.disclose(disclosure)
    if not ahead:
        return _Option(branch, branch)
    reached = branch.copy()
    reached.run()
    return _Option(branch, reached)


# Which disclosures people allow: the search counts rows, and what breaks a requirement for people is taken back.
#
# A confidence of people is never below that of rows, and a group has no more people than rows. So every disclosure that
# the search refuses is refused here too. But a group that keeps a template for people need not have parts that do, nor
# do two such groups keep it together: so the search's disclosures are tried in its order, as many as possible at a
# time.


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
