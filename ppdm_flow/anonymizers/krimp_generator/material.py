"""What the generator learns from, in the forms that its parts need, and the code table that it learns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ppdm_flow.anonymizers.krimp_generator.intervals import PlacedColumn, in_intervals, placed
from ppdm_flow.anonymizers.krimp_generator.removal import DependenceRemoval, removal
from ppdm_flow.anonymizers.krimp_generator.spec import GeneratorParams, numeric
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.itemsets.mine import mine
from ppdm_flow.mining.itemsets.tabular import Tabular, tabular
from ppdm_flow.mining.krimp.code_table import CodeTable
from ppdm_flow.mining.krimp.compress import krimp, slim
from ppdm_flow.mining.krimp.progress import KrimpProgress
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import Counts, count, merge

_GATHER = 16

MOST_CANDIDATES = 20_000_000


@dataclass(frozen=True, slots=True, eq=False)
class LearnedRows:
    """``rows`` are the distinct rows learned from, ``every`` those of the whole table, under the same codes.

    ``intervals`` are those of numeric attributes; ``coded`` are ``rows`` with intervals in place of numbers, and
    ``items`` the same as a database. ``removal`` are the correlations that are not to be learned.
    """

    rows: Counts
    every: Counts
    intervals: Mapping[str, PlacedColumn]
    coded: Counts
    items: Tabular
    removal: DependenceRemoval

    @property
    def every_coded(self) -> Counts | None:
        """All rows with intervals in place of numbers, where there are intervals."""
        return in_intervals(self.every, self.intervals) if self.intervals else None


def material(
    data: DataView, names: tuple[str, ...], params: GeneratorParams, holdout: Holdout | None, ctx: StepContext
) -> LearnedRows:
    """Count the rows. Raises PluginError where there are none, and where a number lies in no interval."""
    every = _weighty(data.counts(names))
    rows = every if holdout is None else _weighty(_onto(_without(data, names, holdout), every))
    if not len(rows):
        what = "all rows are held out" if len(every) else "no row reaches the step"
        raise PluginError(Diagnostic("PPF745", f"nothing to learn from: {what}"))
    known = {name: ctx.attributes[name] for name in names}
    intervals = {n: placed(facts, every.names(n)) for n, facts in known.items() if numeric(facts)}
    coded = in_intervals(rows, intervals)
    items = tabular(coded)
    return LearnedRows(
        rows, every, intervals, coded, items, removal(params.groups(known), names, coded.categories, items)
    )


def _weighty(counts: Counts) -> Counts:
    """Leave out rows of weight 0."""
    kept = counts.counts > 0
    return counts if kept.all() else Counts(counts.columns, counts.categories, counts.codes[kept], counts.counts[kept])


def _without(data: DataView, names: tuple[str, ...], holdout: Holdout) -> Counts:
    weight = data.schema.weight
    parts: list[Counts] = []
    for part in data.partitions(names if weight is None else (*names, weight)):
        parts.append(count(part.take(~holdout.held_out(part.rows)), names, weight))
        if len(parts) >= _GATHER:
            parts = [merge(parts)]
    return merge(parts)


def _onto(rows: Counts, every: Counts) -> Counts:
    """Return ``rows`` with the categories of ``every``, which has all of theirs."""
    columns = [
        Column(rows.codes[:, i], own).onto(all_values)
        for i, (own, all_values) in enumerate(zip(rows.categories, every.categories, strict=True))
    ]
    return Counts(rows.columns, every.categories, np.stack([c.codes for c in columns], axis=1), rows.counts)


@dataclass(frozen=True, slots=True)
class LearnedTable:
    """From candidates to the code table.

    ``candidates`` were considered (SLIM: unions tried), ``removed`` ones filtered out before that.
    """

    table: CodeTable
    candidates: int
    removed: int


def learn(given: LearnedRows, least: int, params: GeneratorParams, ctx: StepContext) -> LearnedTable:
    """Compress. Raises PluginError PPF775 or PPF776 where there is too much to look through."""

    def watch(progress: KrimpProgress) -> bool:
        if ctx.progress is not None:
            ctx.progress(progress.position, progress.candidates)
        return True

    database = given.items.database
    if params.algorithm == "slim":
        compression = slim(database, least, pruning=params.pruning, watch=watch)
        return LearnedTable(compression.table, compression.position, 0)
    mined = mine(database, least, only_closed=params.closed, most=MOST_CANDIDATES).of_length(2)
    kept = mined.take(np.flatnonzero(~given.removal.hit(mined))) if given.removal.groups else mined
    compression = krimp(database, kept.in_candidate_order(), pruning=params.pruning, watch=watch)
    return LearnedTable(compression.table, len(kept), len(mined) - len(kept))
