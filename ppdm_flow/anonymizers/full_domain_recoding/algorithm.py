"""Full-domain recoding: the cheapest node of the lattice of generalizations at which the requirements hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.class_models.people import subject_read
from ppdm_flow.anonymizers.class_models.reading import ReadRowsOfModels, by_person, by_row_or_value, people_of_items
from ppdm_flow.anonymizers.class_models.required import RequiredModels
from ppdm_flow.anonymizers.class_models.task import RecodingTask, task
from ppdm_flow.anonymizers.full_domain_recoding.account import charts, figures, findings
from ppdm_flow.anonymizers.full_domain_recoding.ground import LeafScale, ground_of, scale
from ppdm_flow.anonymizers.full_domain_recoding.solving import RecodingResult, solve
from ppdm_flow.anonymizers.full_domain_recoding.spec import LevelBounds, RecodingParams
from ppdm_flow.anonymizers.full_domain_recoding.transform import FullDomainTransform, recoding
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.class_people.nodes import NodePeople
from ppdm_flow.mining.hierarchies.full_hierarchy import full_hierarchy
from ppdm_flow.mining.populations.population import PopulationFile
from ppdm_flow.mining.recoding.evaluation import Watch
from ppdm_flow.mining.recoding.ground import WeightedRows
from ppdm_flow.mining.recoding.grouping import RowGrouping
from ppdm_flow.mining.recoding.models import KAnonymous
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, Column, union
from ppdm_flow.tables.counts import Counts, count
from ppdm_flow.tables.csv_texts import csv_texts
from ppdm_flow.tables.table import Table

_EVERY = 16
"""Nodes between two reports of how far the search is."""


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
        solved = solve(ground, models, self.params, _watch(ctx.progress), people)
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
    asked = [(tuple(place[n] for n in names), every) for names, every in plain if every]
    return None if own is None else NodePeople(ground, own, models.k, asked)


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
