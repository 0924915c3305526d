"""What the generator learns from: the counts of rows, the candidates, the code table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdm_flow.anonymizers.krimp_generator.removal import Removal
from ppdm_flow.anonymizers.krimp_generator.spec import GeneratorParams
from ppdm_flow.mining.itemsets.mine import mine
from ppdm_flow.mining.itemsets.tabular import Tabular
from ppdm_flow.mining.krimp.code_table import CodeTable
from ppdm_flow.mining.krimp.compress import krimp, slim
from ppdm_flow.mining.krimp.progress import Progress
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import Counts, count, merge

_GATHER = 16


@dataclass(frozen=True, slots=True)
class Learned:
    """``candidates`` were considered (SLIM: unions tried), ``removed`` ones filtered out before that."""

    table: CodeTable
    candidates: int
    removed: int


def learned_rows(data: DataView, names: tuple[str, ...], holdout: Holdout | None) -> Counts:
    """Return the distinct rows over ``names``, without the held out ones and those of weight 0."""
    found = data.counts(names) if holdout is None else _without(data, names, holdout)
    kept = found.counts > 0
    return found if kept.all() else Counts(found.columns, found.categories, found.codes[kept], found.counts[kept])


def _without(data: DataView, names: tuple[str, ...], holdout: Holdout) -> Counts:
    weight = data.schema.weight
    wanted = names if weight is None else (*names, weight)
    parts: list[Counts] = []
    for part in data.partitions(wanted):
        parts.append(count(part.take(~holdout.held_out(part.rows)), names, weight))
        if len(parts) >= _GATHER:
            parts = [merge(parts)]
    return merge(parts)


def learn(tabular: Tabular, least: int, removal: Removal, params: GeneratorParams, ctx: StepContext) -> Learned:
    """Compress. Raises PluginError PPF775 or PPF776 where there is too much to look through."""

    def watch(progress: Progress) -> bool:
        if ctx.progress is not None:
            ctx.progress(progress.position, progress.candidates)
        return True

    database = tabular.database
    if params.algorithm == "slim":
        found = slim(database, least, pruning=params.pruning, watch=watch)
        return Learned(found.table, found.position, 0)
    mined = mine(database, least, only_closed=params.candidates == "closed").of_length(2)
    kept = mined.take(np.flatnonzero(~removal.hit(mined))) if removal.groups else mined
    found = krimp(database, kept.in_candidate_order(), pruning=params.pruning, watch=watch)
    return Learned(found.table, len(kept), len(mined) - len(kept))


def onto(rows: Counts, every: Counts) -> Counts:
    """Return ``rows`` with the categories of ``every``, which has all of theirs: one code means one value."""
    columns = [
        Column(rows.codes[:, i], own).onto(all_)
        for i, (own, all_) in enumerate(zip(rows.categories, every.categories, strict=True))
    ]
    return Counts(rows.columns, every.categories, np.stack([c.codes for c in columns], axis=1), rows.counts)
