"""What a seed in the policy gives away: the draws of a perturbation, done again by someone who has the policy.

In reproducible mode the key follows from the seed, a step's draws from the key and the step's name, the order of the
released rows from the shuffle's draws. With a row's draw known, a released value has few possible originals: those
that this very draw turns into it. Where there is only one, it is recovered for certain; that is so of every value
that was kept, unless the operator treats all values alike and the draw replaced it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.histogram import Domain
from ppdm_flow.audits.release import source_of
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.sdk.anonymizer import Operator
from ppdm_flow.sdk.audit import AuditContext, Seeded
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SPECIALS, Column

Places = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

_CELLS = 4_000_000
"""Rows times values that are looked at: more rows than that are a sample, evenly spaced."""
_WIDEST = 8
"""Words a row that a step is thought to draw at most."""
_TRIED = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """``recovered`` of ``rows`` have one possible original, which is the true one; ``of`` rows in all."""

    recovered: int
    rows: int
    of: int

    @property
    def share(self) -> float:
        """The share of rows whose original is recovered for certain."""
        return self.recovered / self.rows if self.rows else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Source row numbers, with the places of original and released values."""

    numbers: Places
    original: Places
    released: Places


def replay(
    operator: Operator, column: str, original: DataView, candidate: DataView, ctx: AuditContext
) -> Replay | None:
    """Undo the perturbation of ``column`` with the policy's seed; None where there is none, or it does not fit."""
    step = operator.step or _perturber(column, ctx)
    rows = _rows(operator, column, original, candidate, ctx) if ctx.seeded is not None and step else None
    if ctx.seeded is None or rows is None or not len(rows.numbers):
        return None
    chosen = _sample(rows, max(1, _CELLS // operator.size))
    key = RunKey.from_seed(ctx.seeded.seed).step(step)
    for words in _guesses(key, chosen.numbers):
        few = slice(0, _TRIED)
        if (_possible(operator, words[few], chosen.released[few]).any(axis=1)).all():
            possible = _possible(operator, words, chosen.released)
            sure = possible.sum(axis=1) == 1
            right = possible[np.arange(len(sure)), chosen.original]
            return Replay(int((sure & right).sum()), len(sure), len(rows.numbers)) if right.all() else None
    return None


def _possible(operator: Operator, words: Words, released: Places) -> npt.NDArray[np.bool_]:
    """Return which originals, shape (rows, m), the draws ``words`` (rows, 1 or 2) turn into the released values."""
    size = operator.size
    limit = np.where(operator.retention >= 1.0, 0.0, np.floor(operator.retention * 2.0**64)).astype(np.uint64)
    first = words[:, :1]
    kept = (first < limit) | (operator.retention >= 1.0)
    if words.shape[1] == 2:
        drawn = np.broadcast_to(words[:, 1:] * (size * 2.0**-64), kept.shape)
    else:
        rest = np.where(kept, np.uint64(0), first - limit)
        drawn = rest * (size / (2.0**64 - limit.astype(np.float64)))
    became = np.where(kept, np.arange(size), np.minimum(drawn.astype(np.int64), size - 1))
    possible: npt.NDArray[np.bool_] = became == released[:, None]
    return possible


def _guesses(key: bytes, numbers: Places) -> Iterator[Words]:
    """Yield the draws that the attribute may have had: one or two of the words that its step drew for each row."""
    for width in range(1, _WIDEST + 1):
        words = Draws(key, width).words(numbers)
        for used in (1, 2):
            for at in range(width - used + 1):
                yield words[:, at : at + used]


def _perturber(column: str, ctx: AuditContext) -> str:
    facts = ctx.attributes.get(column)
    steps = [step for step, change in facts.changes if change is Change.PERTURBED] if facts else []
    return steps[0] if len(steps) == 1 else ""


def _rows(operator: Operator, column: str, original: DataView, candidate: DataView, ctx: AuditContext) -> _Rows | None:
    source = source_of(column, ctx)
    if ctx.pairs is not None:
        parts = [
            (left.rows, _places(left[source], operator.domain), _places(right[column], operator.domain))
            for left, right in ctx.pairs.pairs([source], [column])
        ]
        found = _Rows(*(np.concatenate(side) for side in zip(*parts, strict=True))) if parts else None
    else:
        found = _unshuffled(operator, source, column, original, candidate, ctx.seeded)
    if found is None or (found.original < 0).any() or (found.released < 0).any():
        return None
    return found


def _unshuffled(
    operator: Operator, source: str, column: str, original: DataView, candidate: DataView, seeded: Seeded | None
) -> _Rows | None:
    """Put the released rows back into the order of the source, where every row of it was released."""
    if seeded is None or source not in original.schema or original.schema.weight is not None:
        return None
    if original.row_count != candidate.row_count or any(s.rows not in ("same", "reordered") for s in seeded.steps):
        return None
    before, after = original.table([source]), candidate.table([column])
    orders = [s for s in seeded.steps if s.rows == "reordered"]
    numbers = before.rows
    if orders:
        if orders[-1].use != "shuffle_rows":
            return None
        keys = Draws(RunKey.from_seed(seeded.seed).step(orders[-1].name), 1).words(numbers)[:, 0]
        order = np.lexsort((numbers, keys))
    else:
        order = np.arange(len(numbers))
    values = _places(before[source], operator.domain)
    return _Rows(numbers[order], values[order], _places(after[column], operator.domain))


def _sample(rows: _Rows, size: int) -> _Rows:
    step = -(-len(rows.numbers) // size)
    order = np.argsort(rows.numbers, kind="stable")[::step]
    return _Rows(rows.numbers[order], rows.original[order], rows.released[order])


def _places(column: Column, domain: Domain) -> Places:
    of_value = {value: i for i, value in enumerate(domain)}
    table = np.full(len(column.categories) + SPECIALS, -1, dtype=np.int64)
    table[SPECIALS + MISSING] = of_value.get(None, -1)
    table[SPECIALS:] = [of_value.get(name, -1) for name in column.categories.to_pylist()]
    return table[column.codes + SPECIALS]
