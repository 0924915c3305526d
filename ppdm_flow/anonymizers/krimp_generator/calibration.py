"""Weights of elements under which generated rows have each value about as often as the original.

Drawing element after element keeps the shares of single values only roughly, and rejecting rows of the original takes
frequent values away: rows that have them are the likeliest to be rows of the original. So each value gets a factor, and
an element the product of its values'. The factors are those of iterative proportional fitting (Deming, Stephan, Annals
of Mathematical Statistics 11, 1940), with drafts in place of expected counts. Each round has drafts of its own and the
rounds of the second half are averaged (Polyak, Juditsky, SIAM Journal on Control and Optimization 30, 1992), so that
what is fitted is the model and not one sample of its rows.

Values of fewer rows than an itemset needs to be learned keep the factor 1: nothing is fitted to a few people.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.krimp_generator.transform import GeneratorTransform
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.mining.generation.model import RowGenerator
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.krimp.code_table import CodeTable

Floats = npt.NDArray[np.float64]

ROUNDS = 32
DRAFTS = 1 << 15
"""Rows of each round, made from draws of a fixed key that no release uses; fewer where rows are very wide."""
FEWEST = 1000
_MOST_WORDS = 1 << 22
REACH = 1.5
"""Each value of an element adds to its weight, so a step is this over the values that an element has on average."""
MOST = float(np.log(20.0))
"""No factor is above 20 or below 1/20: a value that hardly a row may have is not driven further."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """The transform with its weights fitted, and how far its rows' single values are from the original's.

    ``before`` and ``after`` are means over attributes of the total variation distance, on ``sample`` drafts that
    nothing was fitted to, rejected ones left out; None: all of them were rejected.
    """

    transform: GeneratorTransform
    before: float | None
    after: float | None
    sample: int


def calibrated(
    transform: GeneratorTransform,
    table: CodeTable,
    database: ItemDatabase,
    least: int,
    weighted: Callable[[Floats], RowGenerator],
) -> Calibration:
    """Fit the factors of all items of ``database`` with ``least`` rows or more.

    ``weighted`` makes the model of ``table`` from factors (items,). Where fitted weights come no nearer on other
    drafts, the transform stays as it is.
    """
    size = min(DRAFTS, max(FEWEST, _MOST_WORDS // max(1, transform.draws_per_row)))
    draws = Draws(RunKey.from_seed("ppdm-flow calibration").step("calibration"), transform.draws_per_row)
    fitted, target = database.supports >= least, database.supports.astype(np.float64)
    step = REACH / _values(table)
    logs, total = np.zeros(database.items), np.zeros(database.items)
    tried = transform
    for number in range(ROUNDS):
        found = _counts(tried, draws, number, size, database)
        if found is None:
            break
        logs[fitted] += step * np.log((target[fitted] + 1) / (found[fitted] + 1))
        np.clip(logs, -MOST, MOST, out=logs)
        total += logs if number >= ROUNDS // 2 else 0.0
        tried = replace(transform, model=weighted(np.exp(logs)))
    chosen = replace(transform, model=weighted(np.exp(total / (ROUNDS - ROUNDS // 2))))
    before, after = (_distance(_counts(t, draws, ROUNDS, size, database), database) for t in (transform, chosen))
    if before is not None and after is not None and after < before:
        return Calibration(chosen, before, after, size)
    return Calibration(transform, before, before, size)


def _values(table: CodeTable) -> float:
    """Return how many values the element has that covers a cell of the original, on average over cells."""
    lengths = np.concatenate([table.itemsets.lengths, np.ones(len(table.singles), dtype=np.int64)])
    cells = lengths * np.concatenate([table.usages, table.singles])
    return float((cells * lengths).sum() / cells.sum())


def _counts(
    transform: GeneratorTransform, draws: Draws, number: int, size: int, database: ItemDatabase
) -> Floats | None:
    """Return how often each item comes up, in as many rows as ``database`` has; None where all drafts are rejected."""
    rows = np.arange(number * size, (number + 1) * size, dtype=np.int64)
    drafts = transform.drafts(draws.words(rows))
    passing = drafts.items[~transform.rejected(drafts)]
    if not len(passing):
        return None
    seen = np.bincount(passing.ravel(), minlength=database.items).astype(np.float64)
    return seen * (database.rows / len(passing))


def _distance(found: Floats | None, database: ItemDatabase) -> float | None:
    if found is None:
        return None
    apart = float(np.abs(found - database.supports).sum())
    return apart / (2 * database.rows * int(database.cells.shape[1]))
