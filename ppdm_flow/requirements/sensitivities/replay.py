"""Replays the draws of a perturbation from a seed in the policy, as every reader of the policy can.

In reproducible mode the key follows from the seed, a step's draws from the key and the step's name, the order of the
released rows from the shuffle's draws. With a row's draw known, a released value has few possible originals: those
that this very draw turns into it. Where there is only one, it is recovered for certain; that is so of every value
that was kept, unless the operator treats all values alike and the draw replaced it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.mining.reconstruction.histogram import Domain, places_of
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.audit import AuditContext, PublicSeed
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.sdk.view import DataView

Places = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

_CELLS = 4_000_000
"""Rows times values that are looked at: more rows than that are a sample, evenly spaced."""
_WIDEST = 8
"""Words a row that a step is thought to draw at most."""
_TRIED = 2_000
_RUNS = 64
_MOST = 20_000_000
"""Rows that are put back into their order at most."""


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

    def at(self, chosen: npt.NDArray[np.intp] | npt.NDArray[np.bool_] | slice) -> _Rows:
        """Return some of the rows."""
        return _Rows(self.numbers[chosen], self.original[chosen], self.released[chosen])


@dataclass(frozen=True, slots=True)
class _Sample:
    """Runs of ``run`` rows, every ``period``-th of them: draws are cheap for rows that follow each other."""

    run: int
    period: int

    @classmethod
    def of(cls, rows: int, size: int) -> _Sample:
        """Choose at most about ``size`` of ``rows``."""
        return cls(max(1, size // _RUNS), max(1, -(-rows // max(1, size))))

    def chosen(self, numbers: Places) -> npt.NDArray[np.bool_]:
        """Return which rows are in the sample."""
        chosen: npt.NDArray[np.bool_] = numbers // self.run % self.period == 0
        return chosen


def replay(
    operator: ValueOperator, column: str, original: DataView, candidate: DataView, ctx: AuditContext
) -> Replay | None:
    """Undo the perturbation of ``column`` with the policy's seed; None where there is none, or it does not fit."""
    step = operator.step or _perturber(column, ctx)
    if ctx.seeded is None or not step or operator.per_person is not None:  # those are not drawn by row
        return None
    rows = _rows(operator, column, original, candidate, ctx, ctx.seeded)
    if rows is None or not len(rows.numbers):
        return None
    key = RunKey.from_seed(ctx.seeded.seed).step(step)
    drawn = _drawn(operator, key, rows.at(slice(0, _TRIED)))
    if drawn is None:
        return None
    width, words = drawn
    possible = _possible(operator, Draws(key, width).words(rows.numbers)[:, words], rows.released)
    if not possible[np.arange(len(rows.numbers)), rows.original].all():
        return None
    return Replay(int((possible.sum(axis=1) == 1).sum()), len(rows.numbers), candidate.row_count)


def _possible(operator: ValueOperator, words: Words, released: Places) -> npt.NDArray[np.bool_]:
    """Return which originals, shape (rows, m), the draws ``words`` (rows, 1 or 2) turn into the released values."""
    size = operator.size
    if isinstance(operator, MatrixOperator):
        ends = np.cumsum(np.rint(operator.transition * 2.0**53).astype(np.int64), axis=1)
        drawn_value = (words[:, 0] >> np.uint64(11)).astype(np.int64)
        columns = [np.searchsorted(end, drawn_value, side="right") == released for end in ends]
        return np.stack(columns, axis=1)
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


def _drawn(operator: ValueOperator, key: bytes, rows: _Rows) -> tuple[int, slice] | None:
    """Return how many words its step drew for each row, and which of them the attribute had: those that fit.

    A step may perturb several attributes, and not all of them need to be in the release.
    """
    for width in range(1, _WIDEST + 1):
        words = Draws(key, width).words(rows.numbers)
        for used in (1, 2):
            for at in range(width - used + 1):
                chosen = slice(at, at + used)
                if _possible(operator, words[:, chosen], rows.released).any(axis=1).all():
                    return width, chosen
    return None


def _perturber(column: str, ctx: AuditContext) -> str:
    facts = ctx.attributes.get(column)
    steps = [step for step, change in facts.changes if change is Change.PERTURBED] if facts else []
    return steps[0] if len(steps) == 1 else ""


def _rows(
    operator: ValueOperator, column: str, original: DataView, candidate: DataView, ctx: AuditContext, seeded: PublicSeed
) -> _Rows | None:
    """Return a bounded sample of rows, ascending; None where they cannot be numbered."""
    source, domain = source_of(column, ctx), operator.domain
    sample = _Sample.of(candidate.row_count, _CELLS // operator.size)
    if ctx.pairs is None:
        rows = _unshuffled(source, column, original, candidate, seeded, domain)
        rows = None if rows is None else rows.at(sample.chosen(rows.numbers))
    else:
        parts = []
        for left, right in ctx.pairs.pairs([source], [column]):
            kept = sample.chosen(left.rows)
            parts.append(
                (left.rows[kept], places_of(left[source], domain)[kept], places_of(right[column], domain)[kept])
            )
        rows = _Rows(*(np.concatenate(side) for side in zip(*parts, strict=True))) if parts else None
    if rows is None or (rows.original < 0).any() or (rows.released < 0).any():
        return None
    return rows.at(np.argsort(rows.numbers, kind="stable"))


def _unshuffled(
    source: str, column: str, original: DataView, candidate: DataView, seeded: PublicSeed, domain: Domain
) -> _Rows | None:
    """Put the released rows back into the order of the source, where every row of it was released."""
    rows = candidate.row_count
    if source not in original.schema or original.schema.weight is not None or rows > _MOST:
        return None
    if original.row_count != rows or any(s.rows not in ("same", "reordered") for s in seeded.steps):
        return None
    orders = [s for s in seeded.steps if s.rows == "reordered"]
    if orders and orders[-1].use != "shuffle_rows":
        return None
    before, after = original.table([source]), candidate.table([column])
    order = np.arange(rows)
    if orders:
        keys = Draws(RunKey.from_seed(seeded.seed).step(orders[-1].name), 1).words(before.rows)[:, 0]
        order = np.lexsort((before.rows, keys))
    values = places_of(before[source], domain)
    return _Rows(before.rows[order], values[order], places_of(after[column], domain))
