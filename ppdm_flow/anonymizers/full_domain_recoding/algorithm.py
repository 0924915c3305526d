"""Full-domain recoding: the cheapest node of the lattice of generalizations at which the requirements hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.class_models.people import RecodingTask, subject_read, task
from ppdm_flow.anonymizers.class_models.required import (
    ReadRowsOfModels,
    RequiredModels,
    SensitiveCodes,
    by_person,
    by_row_or_value,
    people_of_items,
)
from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.full_domain_recoding.spec import LevelBounds, RecodingParams
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.mining.class_people.seen import NodePeople
from ppdm_flow.mining.hierarchies.ladder import FullHierarchy, full_hierarchy
from ppdm_flow.mining.populations.population import PopulationFile
from ppdm_flow.mining.recoding import costs
from ppdm_flow.mining.recoding.evaluation import NodeResult, Watch
from ppdm_flow.mining.recoding.grouping import Levels, RowGrouping, WeightedRows, as_one
from ppdm_flow.mining.recoding.kernels import known
from ppdm_flow.mining.recoding.models import KAnonymous
from ppdm_flow.mining.recoding.search import Solution, optimum
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SPECIALS, SUPPRESSED, Column, union
from ppdm_flow.tables.counts import Counts, count
from ppdm_flow.tables.csv_texts import csv_texts
from ppdm_flow.tables.table import Table

_EVERY = 16
"""Nodes between two reports of how far the search is."""
Codes = npt.NDArray[np.int32]
Keys = npt.NDArray[np.int64]


@runtime_checkable
class InPopulation(Protocol):
    """A requirement whose groups are those of a population."""

    @property
    def grouping(self) -> tuple[str, ...]:
        """The attributes that form groups."""
        ...

    @property
    def population(self) -> PopulationFile:
        """The file."""
        ...


def people(requirement: InPopulation, home: Path) -> Counts:
    """Count the population over the attributes of the requirement, in their present names. Raises PluginError."""
    columns = dict(requirement.population.columns)
    wanted = {name: columns.get(name, name) for name in requirement.grouping}
    read = _read(home / requirement.population.path, requirement.population.delimiter, tuple(wanted.values()))
    table = Table({n: _column(read[c]) for n, c in wanted.items()}, np.arange(read.num_rows, dtype=np.int64))
    return count(table, requirement.grouping)


def _read(path: Path, delimiter: str, columns: tuple[str, ...]) -> pa.Table:
    try:
        return csv_texts(path, delimiter, columns)
    except KeyError:
        raise _unusable(path, f"lacks one of the columns {', '.join(f'`{c}`' for c in columns)}") from None
    except OSError as error:
        raise _unusable(path, f"cannot be read: {error.strerror or 'no reason given'}") from None
    except (pa.ArrowInvalid, pa.ArrowException):
        raise _unusable(path, "is not a CSV file in UTF-8") from None


def _column(cells: pa.ChunkedArray) -> Column:
    coded = pc.dictionary_encode(cells).combine_chunks()
    coded = coded if isinstance(coded, pa.DictionaryArray) else coded.chunk(0)
    codes = coded.indices.fill_null(MISSING).to_numpy(zero_copy_only=False).astype(np.int32)
    return Column(codes, coded.dictionary)


def _unusable(path: Path, what: str) -> PluginError:
    return PluginError(Diagnostic("PPF878", f"the population table {path.name} {what}"))


class FullDomainRecoding:
    """Counts distinct rows once, searches the lattice, and recodes row by row."""

    def __init__(self, params: RecodingParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Find the levels. Raises PluginError where no levels keep the requirements within the limit."""
        todo = task(self.params.attributes, ctx.requirements, ctx.attributes)
        scope = Scope(ctx.step, ctx.attributes, ctx.requirements, ctx.nulls, people=ctx.people)
        require((*todo.attributes, *subject_read(scope)), data.schema.names, ctx.step)
        targets = data.schema.having(Role.TARGET)[:1] if self.params.cost == "classification" else ()
        columns = list(dict.fromkeys((*todo.attributes, *targets, *todo.sensitive)))
        read = by_person(data, columns, ctx) or by_row_or_value(data, columns, by_row=False)
        counts = read.counts
        population = _population(todo, ctx)
        scales = [self._scale(name, counts, population, ctx) for name in todo.attributes]
        models = RequiredModels(todo, counts, ctx, targets)
        ground = ground_of(counts, scales, models.sensitive, population)
        people = _people(ground, read, models, ctx)
        solved = solve(ground, models, self.params, todo.attributes, _watch(ctx.progress), people)
        return Fitted(
            _transform(ctx.step, ground, scales, solved),
            figures=figures(ground, solved, scales, self.params.cost),
            findings=findings(ctx.step, solved, scales),
            charts=charts(ctx.step, ground, solved, scales, self.params.cost),
        )

    def _scale(self, name: str, counts: Counts, population: Counts | None, ctx: StepContext) -> LeafScale:
        facts = ctx.attributes.get(name)
        occurring = [_occurring(c, name) for c in (counts, population) if c is not None]
        every = full_hierarchy(name, facts.hierarchy if facts else None, union(occurring).to_pylist(), ctx.home)
        codes = np.concatenate([c.of(name) for c in (counts, population) if c is not None])
        bounds = self.params.levels.get(name, LevelBounds())
        high = every.top if bounds.max is None else bounds.max
        if max(bounds.min, high) > every.top:
            text = f"the hierarchy of `{name}` has {every.top} levels above the values; a higher one was asked for"
            raise PluginError(Diagnostic("PPF788", text))
        return scale(name, every, codes, ctx.nulls, bounds.min, high)


def _people(
    ground: WeightedRows, read: ReadRowsOfModels, models: RequiredModels, ctx: StepContext
) -> NodePeople | None:
    """Return the people of the rows; None where rows count."""
    own = people_of_items(read, models.sensitive, ctx)
    place = {name: i for i, name in enumerate(read.counts.columns[: ground.attributes])}
    plain = [(names, [m for m in every if not isinstance(m, KAnonymous)]) for names, every in models.by_requirement]
    groupings = [(tuple(place[n] for n in names), every) for names, every in plain if every]
    return None if own is None else NodePeople(ground, own, models.k, groupings)


def _occurring(counts: Counts, name: str) -> pa.StringArray:
    used = np.unique(counts.of(name))
    return counts.names(name).take(pa.array(used[used >= 0]))


def _population(todo: RecodingTask, ctx: StepContext) -> Counts | None:
    """Return the people of the one population that a task may have."""
    requirement = next((r for r in todo.enforced if isinstance(r, InPopulation)), None)
    return None if requirement is None else people(requirement, ctx.home)


def _watch(progress: Callable[[int, int | None], None] | None) -> Watch | None:
    if progress is None:
        return None

    def report_progress(checked: int, _size: int, _cost: float | None) -> bool:
        if checked % _EVERY == 0:
            progress(checked, None)
        return True

    return report_progress


def _transform(
    step: str, ground: WeightedRows, scales: Sequence[LeafScale], solved: RecodingResult
) -> FullDomainTransform:
    grouping = solved.best.grouping
    ways = tuple(recoding(scale, level) for scale, level in zip(scales, grouping.node, strict=True))
    lost = np.flatnonzero(~solved.best.kept)
    return FullDomainTransform(step, ways, _codes(ground, grouping, lost), solved.drops)


def _codes(ground: WeightedRows, grouping: RowGrouping, which: npt.NDArray[np.intp]) -> npt.NDArray[np.int32]:
    rows = grouping.first[which]
    columns = [v.maps[at][c] for v, at, c in zip(ground.levels, grouping.node, ground.codes[rows].T, strict=True)]
    return np.stack(columns, axis=1).astype(np.int32)


# From counts of distinct rows to the ground of the search: leaves of hierarchies for values, one more for missing.


@dataclass(frozen=True, slots=True)
class LeafScale:
    """One attribute's labels; the missing value and suppressed cells are leaves of their own below the top.

    ``extra``: which of the marks (-1 missing, -2 suppressed) are such leaves, after those of the hierarchy.
    ``as_suppressed``: missing cells become suppressed ones.
    """

    name: str
    hierarchy: FullHierarchy
    extra: tuple[int, ...]
    lowest: int
    highest: int
    as_suppressed: bool = False

    @property
    def levels(self) -> Levels:
        """The codes and shares of the levels that may be chosen."""
        try:
            return _levels(self)
        except ValueError:
            text = f"the hierarchy of `{self.name}` puts values together on one level and apart on the next"
            raise PluginError(Diagnostic("PPF788", text)) from None

    def leaf_of(self, categories: pa.StringArray) -> npt.NDArray[np.int32]:
        """Return the leaf of each dense code (suppressed, missing, then ``categories``); -1 for none."""
        place = pc.index_in(categories, value_set=pa.array(self.hierarchy.leaves, pa.string()))
        leaves = np.full(len(categories) + SPECIALS, -1, dtype=np.int32)
        leaves[SPECIALS:] = place.fill_null(-1).to_numpy(zero_copy_only=False)
        for i, mark in enumerate(self.extra):
            leaves[mark + SPECIALS] = len(self.hierarchy.leaves) + i
        if self.as_suppressed:
            leaves[MISSING + SPECIALS] = leaves[SUPPRESSED + SPECIALS]
        return leaves


def scale(
    name: str, hierarchy: FullHierarchy, codes: npt.NDArray[np.int32], nulls: Nulls, lowest: int, highest: int
) -> LeafScale:
    """Return the scale of a column with these codes.

    Where a missing cell may be any value, or none that counts, it becomes a suppressed one: all null semantics agree on
    what that is.
    """
    marks = tuple(m for m in (MISSING, SUPPRESSED) if (codes == m).any())
    as_suppressed = nulls is not Nulls.OWN_CATEGORY and MISSING in marks
    return LeafScale(name, hierarchy, (SUPPRESSED,) if as_suppressed else marks, lowest, highest, as_suppressed)


def _levels(scale: LeafScale) -> Levels:
    leaves, extra, top = len(scale.hierarchy.leaves), len(scale.extra), scale.hierarchy.top
    size = extra + (scale.hierarchy.spans[-1][0] if scale.hierarchy.spans and leaves else leaves)
    maps, shares = [], []
    for level in range(scale.lowest, scale.highest + 1):
        codes = coded(scale.hierarchy, level)[1]
        width = int(codes.max(initial=-1)) + 1
        highest = level == top and top > 0
        marks = np.zeros(extra, dtype=np.int64) if highest else width + np.arange(extra)
        every = np.concatenate([codes, marks]).astype(np.int32)
        covered = np.bincount(every).astype(np.float64)
        if scale.hierarchy.spans:
            covered[codes] = np.array(scale.hierarchy.spans[level]) + (extra if highest else 0)
        maps.append(every)
        shares.append(covered / max(1, size))
    return Levels(tuple(maps), tuple(shares), max(1, size))


def coded(hierarchy: FullHierarchy, level: int) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.intp]]:
    """Return the labels of a level, sorted, and the place of each leaf's among them; leaves keep their own places."""
    if level == 0:
        return np.asarray(hierarchy.leaves, dtype=object), np.arange(len(hierarchy.leaves))
    names, codes = np.unique(np.asarray(hierarchy.levels[level], dtype=object).astype(str), return_inverse=True)
    return names.astype(object), codes


def ground_of(
    counts: Counts,
    scales: Sequence[LeafScale],
    sensitive: Sequence[SensitiveCodes] = (),
    population: Counts | None = None,
) -> WeightedRows:
    """Build the ground over the attributes of ``scales``, with ``sensitive`` attributes beside them.

    The population's combinations are rows of their own, without weight.
    """
    leaves = _leaves(counts, scales)
    weights = counts.counts
    codes = [s.codes for s in sensitive]
    people = None
    if population is not None:
        others = _leaves(population, scales)
        if (others < 0).any():
            text = f"{int((others < 0).any(axis=1).sum())} combinations of the population have values without a place"
            raise PluginError(Diagnostic("PPF878", text, help="the hierarchies must cover the population as well"))
        people = np.concatenate([np.zeros(len(leaves), dtype=np.int64), population.counts])
        weights = np.concatenate([weights, np.zeros(len(others), dtype=np.int64)])
        codes = [np.concatenate([c, np.zeros(len(others), dtype=np.int32)]) for c in codes]
        leaves = np.concatenate([leaves, others])
    levels = tuple(s.levels for s in scales)
    arrays = tuple(np.ascontiguousarray(c) for c in codes)
    return WeightedRows(np.ascontiguousarray(leaves), weights, levels, arrays, tuple(s.size for s in sensitive), people)


def _leaves(counts: Counts, scales: Sequence[LeafScale]) -> npt.NDArray[np.int32]:
    leaves = [s.leaf_of(counts.names(s.name))[counts.of(s.name) + SPECIALS] for s in scales]
    return np.stack(leaves, axis=1) if leaves else np.zeros((len(counts), 0), dtype=np.int32)


# The search, and the rows that it does not release.


COSTS: dict[str, costs.RecodingCost] = {
    "loss": costs.DomainLoss(),
    "ncp": costs.DomainLoss(geometric=False),
    "precision": costs.Precision(),
    "discernibility": costs.Discernibility(),
    "average_class_size": costs.ClassSize(),
    "entropy": costs.Entropy(),
    "classification": costs.Misclassified(0),
}


@dataclass(frozen=True, slots=True, eq=False)
class RecodingResult:
    """``best`` is the node to recode to; ``drops``: suppressed rows are left out.

    ``refused``: their cells were to be suppressed, but then they would be a class that breaks a requirement.
    """

    solution: Solution
    best: NodeResult
    drops: bool
    refused: bool = False


def solve(
    ground: WeightedRows,
    models: RequiredModels,
    params: RecodingParams,
    attributes: Sequence[str],
    watch: Watch | None,
    people: NodePeople | None = None,
) -> RecodingResult:
    """Search; ``attributes`` are those of the ground. Raises PluginError where no node is good enough.

    Rows whose cells are suppressed stay in the table that shares and distances are compared with; dropped ones do not.
    Where ``people`` count they stay for the sake of k alone: a class that they join may break anything else.
    """
    cost, most = _cost(params, attributes), params.most_nodes
    limit = math.floor(params.suppression * ground.records + 1e-9)
    if params.suppress == "cells" and ground.population is None and not (people is not None and models.others):
        kept = _searched(ground, models, cost, limit, most, watch, people, at_released=False)
        if kept.best is not None and _can_stay(kept.best, models, ground, people):
            return RecodingResult(kept, kept.best, drops=False)
        if not models.compares and kept.best is not None:
            return RecodingResult(kept, kept.best, drops=True, refused=True)
    search = _searched(ground, models, cost, limit, most, watch, people, at_released=True)
    if search.best is None:
        raise _none_is_good(ground, limit, search)
    return RecodingResult(
        search, search.best, drops=True, refused=params.suppress == "cells" and search.best.suppressed > 0
    )


def _cost(params: RecodingParams, attributes: Sequence[str]) -> costs.RecodingCost:
    """Return the cost to search by, in which ``attributes`` count as `importance` says."""
    cost = COSTS[params.cost]
    if not params.importance or not isinstance(cost, costs.CostOfAttributes):
        return cost
    return cost.weighted(tuple(params.importance.get(name, 1.0) for name in attributes))


def _searched(
    ground: WeightedRows,
    models: RequiredModels,
    cost: costs.RecodingCost,
    limit: int,
    most: int | None,
    watch: Watch | None,
    people: NodePeople | None,
    *,
    at_released: bool,
) -> Solution:
    return optimum(ground, models.models, cost, limit, at_released=at_released, most=most, watch=watch, people=people)


def _can_stay(best: NodeResult, models: RequiredModels, ground: WeightedRows, people: NodePeople | None) -> bool:
    """Whether the suppressed rows together are a class that keeps every model."""
    lost = np.flatnonzero(~best.kept)
    if not len(lost):
        return True
    if people is not None:
        return people.are_enough(best.grouping, ~best.kept)
    together = as_one(best.grouping, lost)
    return all(
        bool(model.keeps(together, best.grouping.base(model.attribute, ground.values)).all()) for model in models.models
    )


def _none_is_good(ground: WeightedRows, limit: int, solution: Solution) -> PluginError:
    text = (
        f"no levels keep the requirements with at most {limit} of {ground.records} rows suppressed"
        f" ({solution.checked} of {solution.size} nodes of the lattice had to be looked at)"
    )
    if not solution.proven:
        text = (
            f"among the {solution.checked} of {solution.size} nodes of the lattice that were looked at, none keeps the"
            f" requirements with at most {limit} of {ground.records} rows suppressed"
        )
    return PluginError(Diagnostic("PPF806", text, help="allow more `suppression`, higher `levels`, or a smaller bound"))


# The step's results of its search: figures, findings and a picture.


_PICTURED = 24
_UNITS = {"discernibility": "squared rows", "average_class_size": "rows"}


def figures(ground: WeightedRows, solved: RecodingResult, scales: Sequence[LeafScale], cost: str) -> dict[str, Figure]:
    """Return the chosen node, its cost, and the share of the lattice that was visited."""
    best, solution = solved.best, solved.solution
    figures = {
        "cost": Figure(best.cost, _UNITS.get(cost, "share")),
        "suppressed_rows": Figure(best.suppressed, "rows"),
        "suppressed_rows_share": Figure(best.suppressed / max(1, ground.records), "share"),
        "classes": Figure(int((best.kept & (best.grouping.sizes > 0)).sum()), "classes"),
        "lattice_nodes": Figure(solution.size, "nodes"),
        "nodes_checked": Figure(solution.checked, "nodes"),
        "optimum_proven": Figure(int(solution.proven), ""),
    }
    levels = zip(scales, best.grouping.node, strict=True)
    return figures | {f"{s.name}.level": Figure(s.lowest + level, "") for s, level in levels}


def findings(step: str, solved: RecodingResult, scales: Sequence[LeafScale]) -> tuple[Finding, ...]:
    """Return what a reader should know before believing the optimum."""
    texts = []
    solution = solved.solution
    if not solution.proven:
        text = (
            f"`{step}` looked at {solution.checked:,} of {solution.size:,} nodes of the lattice: the levels that it"
            " chose keep the requirements, but others may cost less"
        )
        texts.append(Finding("PPF809", Severity.WARNING, text, step))
    if solved.refused:
        text = (
            f"`{step}` dropped {solved.best.suppressed:,} rows: with all recoded cells suppressed, they would have been"
            " a class that breaks a requirement"
        )
        texts.append(Finding("PPF738", Severity.WARNING, text, step))
    blanked = [s.name for s in scales if s.as_suppressed]
    if blanked:
        text = f"`{step}` suppressed the missing cells of {', '.join(f'`{n}`' for n in blanked)}"
        texts.append(Finding("PPF739", Severity.WARNING, text, step))
    return tuple(texts)


def charts(
    step: str, ground: WeightedRows, solved: RecodingResult, scales: Sequence[LeafScale], cost: str
) -> tuple[Chart, ...]:
    """Return the cheapest nodes that hold, of those that were looked at, beside what each suppresses."""
    seen = solved.solution.seen[:_PICTURED]
    if len(seen) < 2:
        return ()
    records = max(1, ground.records)
    names = tuple(" ".join(str(s.lowest + v) for s, v in zip(scales, node, strict=True)) for node, _, _ in seen)
    order = ", ".join(s.name for s in scales)
    space = solved.solution
    proof = "no other node costs less" if space.proven else "not all nodes were decided"
    return (
        Chart(
            id="solution_space",
            title=f"Step {step}: the cheapest levels that hold",
            kind="bars",
            x=names,
            series=(
                FigureSeries(cost.replace("_", " "), tuple(price for _, price, _ in seen)),
                FigureSeries("suppressed rows, share", tuple(lost / records for _, _, lost in seen)),
            )
            if cost not in _UNITS
            else (FigureSeries(cost.replace("_", " "), tuple(price for _, price, _ in seen)),),
            x_label=f"levels of {order}",
            y_label=_UNITS.get(cost, "share"),
            note=f"{space.checked:,} of {space.size:,} nodes were looked at; {proof}",
        ),
    )


# What the search decided, row by row: one label a value, and the classes that are suppressed.


_KEY_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class LevelRecoding:
    """One attribute's way: ``code_of`` (leaves,) the code of each leaf at its level, ``labels`` of the codes.

    Codes from ``len(labels)`` on are marks that stay what they are, in the order of ``scale.extra``.
    """

    scale: LeafScale
    level: int
    code_of: Codes
    labels: tuple[str, ...]

    @property
    def width(self) -> int:
        """How many codes there are, marks included."""
        return len(self.labels) + len(self.scale.extra)

    def table(self, column: Column, step: str) -> Codes:
        """Return the code of each category, then of a suppressed and of a missing cell, so that cells index it.

        Raises PluginError for a value that the fit did not see.
        """
        leaf = np.roll(self.scale.leaf_of(column.categories), -SPECIALS)
        unseen = leaf < 0
        if _occur(unseen, column.codes):
            text = (
                f"step `{step}` meets values in the column `{self.scale.name}` that it did not see when it was fitted"
            )
            raise PluginError(Diagnostic("PPF789", text))
        return np.where(unseen, 0, self.code_of[leaf]).astype(np.int32)

    def released(self, table: Codes) -> Codes:
        """Return the codes of ``table`` as those of a released column: labels and marks."""
        marks = np.array([*range(len(self.labels)), *self.scale.extra], dtype=np.int32)
        return marks[table]


@dataclass(frozen=True, slots=True, eq=False)
class FullDomainTransform(DeterministicTransform):
    """``lost`` (classes, attributes) are the codes of the classes that are suppressed, in order.

    ``drops``: their rows are left out; else their recoded cells are suppressed.
    """

    step: str
    ways: tuple[LevelRecoding, ...]
    lost: Codes
    drops: bool

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Suppress, and recode what is left."""
        tables = [way.table(part[way.scale.name], self.step) for way in self.ways]
        cells = [part[w.scale.name].codes for w in self.ways]
        gone = self._suppressed_rows(cells, tables)
        if self.drops and gone.any():
            kept = np.flatnonzero(~gone)  # numbers that only dropped rows have are no categories of the others
            part, cells, gone = part.take(kept), [c[kept] for c in cells], np.zeros(0, dtype=np.bool_)
        columns = {}
        for way, table, cell in zip(self.ways, tables, cells, strict=True):
            codes = way.released(table)[cell]
            if gone.any():
                codes[gone] = SUPPRESSED
            columns[way.scale.name] = Column(codes, pa.array(way.labels, pa.string()))
        return part.replaced(columns)

    def describe(self) -> Mapping[str, Any]:
        """Return the level of each attribute."""
        levels = {w.scale.name: f"level {w.level} of {w.scale.hierarchy.top}" for w in self.ways}
        return {"levels": levels, "classes_suppressed": len(self.lost)}

    def _suppressed_rows(self, cells: Sequence[Codes], tables: Sequence[Codes]) -> npt.NDArray[np.bool_]:
        """Return which rows are of a class that is suppressed.

        Their keys are numbers in mixed radix; where 62 bits do not hold them, what is so far among the keys of lost
        classes is numbered anew, and nothing else can be one of them.
        """
        if not len(self.lost):
            return np.zeros(len(cells[0]), dtype=np.bool_)
        keys, wanted, radix = np.zeros(len(cells[0]), dtype=np.int64), np.zeros(len(self.lost), dtype=np.int64), 1
        for way, column, table, lost in zip(self.ways, cells, tables, self.lost.T, strict=True):
            if radix * way.width >= _KEY_LIMIT:
                distinct, wanted = np.unique(wanted, return_inverse=True)
                place = np.searchsorted(distinct, keys)
                inside = np.minimum(place, len(distinct) - 1)
                keys, radix = np.where(distinct[inside] == keys, inside, len(distinct)), len(distinct) + 1
            keys += (table.astype(np.int64) * radix)[column]
            wanted = wanted + lost.astype(np.int64) * radix
            radix *= way.width
        return known(keys, wanted)


def _occur(unseen: npt.NDArray[np.bool_], codes: Codes) -> bool:
    """Whether some cell is unseen; the marks, mostly unseen, mostly do not occur, which is quickly known."""
    if not unseen[:-SPECIALS].any() and codes.min(initial=0) >= 0:
        return False
    return bool(unseen[codes].any())


def recoding(scale: LeafScale, level: int) -> LevelRecoding:
    """Return the way of one attribute to a level, counted from ``scale.lowest``."""
    at = scale.lowest + level
    names, codes = coded(scale.hierarchy, at)
    top = at == scale.hierarchy.top and at > 0
    marks = np.zeros(len(scale.extra), dtype=np.int64) if top else len(names) + np.arange(len(scale.extra))
    return LevelRecoding(scale, at, np.concatenate([codes, marks]).astype(np.int32), tuple(str(n) for n in names))
