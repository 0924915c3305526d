"""What several releases of one run leave of the possible values of a person: the first route.

Whoever knows in which class of each release somebody is knows that the value is one that is possible in all of them.
So in each release the class's values are restricted to what is possible in the classes of the others, for every
combination of classes that some person has. People whom a step dropped from another release, for what their cells are,
are one more class of that release: who compares the two files finds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.records import dataclass
from ppdm_flow.mining.exposure.columns import Columns
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.exposure.histograms import Code, Histograms
from ppdm_flow.mining.exposure.sparse import as_cells, indicators, of_cells, scaled, stacked, summed
from ppdm_flow.mining.exposure.values import Attributes, RowLevel, of_release, row_level
from ppdm_flow.sdk.audit import AuditContext, Other
from ppdm_flow.sdk.paired_relation import paired_tables
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS
from ppdm_flow.tables.table import Table, concat

Ints = npt.NDArray[np.int64]
_NOWHERE, _DROPPED = -1, -2


@dataclass(frozen=True, slots=True, eq=False)
class JointValues:
    """``histograms``: the restricted values of each combination of classes, and of the people whom a release dropped.

    ``mean`` are the same of the means of mixed cells. ``names`` are the other releases that tell something here.
    """

    histograms: Histograms
    mean: Histograms | None
    names: tuple[str, ...]


def joint_values(about: Attributes, attribute: str, candidate: DataView, ctx: AuditContext) -> JointValues | None:
    """Restrict the values of ``attribute`` by all other releases; None where none of them tells anything of it.

    Raises UnmeasuredError where null semantics and crowds do not go together.
    """
    if not ctx.others or ctx.pairs is None:
        return None
    own = of_release(about, attribute, candidate, ctx)
    if own.values is None:
        return None
    sides = []
    for other in ctx.others:
        try:
            side = of_release(about, attribute, other.candidate, context_of(other, ctx))
        except UnmeasuredError:  # that is said of the other release by itself
            continue
        dropped = ~np.isin(own.numbers, accounted_rows(other, ctx))
        if side.values is not None or dropped.any():
            sides.append((other, side, dropped))
    if not sides:
        return None
    return _restricted(own, [(side, dropped) for _, side, dropped in sides], tuple(o.name for o, _, _ in sides))


def dropped_people(candidate: DataView, ctx: AuditContext) -> dict[str, int]:
    """Return how many rows of this release each other one lacks for what their cells are; those that lack none not.

    Where people are counted, how many of them have such a row.
    """
    if not ctx.others or ctx.pairs is None:
        return {}
    if ctx.people is not None:
        return _dropped_subjects(ctx.people.subject, candidate, ctx)
    own = row_level(Columns(()), None, candidate, ctx)
    dropped: dict[str, int] = {}
    for other in ctx.others:
        rows = int(own.ground.rows[~np.isin(own.numbers, accounted_rows(other, ctx))].sum())
        dropped |= {other.name: rows} if rows else {}
    return dropped


def _dropped_subjects(subject: str, candidate: DataView, ctx: AuditContext) -> dict[str, int]:
    """Count the different people of the rows that another release lacks."""
    if ctx.pairs is None:
        return {}
    empty = Table.of({"o0": []})
    rows = concat([empty, *paired_tables(ctx.pairs, (), (subject,), candidate.schema.weight)])
    dropped: dict[str, int] = {}
    for other in ctx.others:
        gone = ~np.isin(rows.rows, accounted_rows(other, ctx))
        people = len(np.unique(rows["o0"].codes[gone]))
        dropped |= {other.name: people} if people else {}
    return dropped


def context_of(other: Other, ctx: AuditContext) -> AuditContext:
    """Return the context in which another release is read."""
    return replace(ctx, release=other.name, attributes=other.attributes, pairs=other.pairs, others=())


def accounted_rows(other: Other, ctx: AuditContext) -> Ints:
    """Return the rows that another release has, counted by its groups or not, or that a random step left out."""
    there = row_level(Columns(()), None, other.candidate, context_of(other, ctx)).numbers
    return np.union1d(there, other.left_out_at_random).astype(np.int64)


def _restricted(
    own: RowLevel, sides: Sequence[tuple[RowLevel, npt.NDArray[np.bool_]]], names: tuple[str, ...]
) -> JointValues | None:
    values = own.values
    if values is None:
        return None
    width = len(values.histograms.names) + SPECIALS
    keys = [own.classes]
    for side, dropped in sides:
        place = side.places(own.numbers)
        there = np.where(place >= 0, side.classes[np.maximum(place, 0)] if len(side.classes) else 0, _NOWHERE)
        keys.append(np.where(dropped, _DROPPED, there))
    combos, index = np.unique(np.column_stack(keys), axis=0, return_inverse=True)
    people = np.bincount(index.reshape(-1), own.ground.rows, len(combos)).astype(np.int64)
    left_out = [_Dropped.of(own, dropped, width) for _, dropped in sides]
    restricted = [_matrix(values.histograms)[combos[:, 0]]]
    if values.mean is not None:
        restricted.append(_matrix(values.mean)[combos[:, 0]])
    for i, ((side, _), gone) in enumerate(zip(sides, left_out, strict=True)):
        possible = _possible(side, values.histograms.names, gone, width)
        restricted = [_limited(matrix, possible, combos[:, i + 1]) for matrix in restricted]
    extra = [gone for gone in left_out if gone.rows]
    histograms = _histograms(values.histograms, restricted[0], people, extra)
    if values.histograms.behind is not None:
        histograms = _with_cells(histograms, values.histograms, combos[:, 0], restricted[0], extra)
    mean = _histograms(values.mean, restricted[1], people, extra) if values.mean is not None else None
    return JointValues(histograms, mean, names)


@dataclass(frozen=True, slots=True, eq=False)
class _Dropped:
    """People whom a release dropped, as this one shows them: ``values`` (1, values) and, decoded, ``cells``."""

    rows: int
    values: Any
    cells: Any = None

    @classmethod
    def of(cls, own: RowLevel, dropped: npt.NDArray[np.bool_], width: int) -> _Dropped:
        ground, layout = own.ground, own.ground.layout
        weights = ground.rows[dropped]
        first = np.zeros(len(weights), dtype=np.int64)
        code = None if own.values is None else own.values.histograms.behind
        if isinstance(code, Code):
            cell = ground.number(layout.shown)[dropped]
            cells = summed(weights, first, cell, (1, code.shares.shape[0]))
            return cls(int(weights.sum()), cells @ code.shares, cells)
        place = layout.shown[0] if layout.value is None else layout.value
        value = ground.codes[dropped, place].astype(np.int64) + SPECIALS
        return cls(int(weights.sum()), summed(weights, first, value, (1, width)))


def _matrix(histograms: Histograms) -> Any:
    return of_cells(histograms.cells, len(histograms.names) + SPECIALS, 0)


def _possible(side: RowLevel, names: pa.StringArray, gone: _Dropped, width: int) -> Any:
    """Return which values of this release are possible in each class of another; the dropped are its last class."""
    dropped = indicators(gone.values)
    if side.values is None:
        return dropped
    own = {name: i + SPECIALS for i, name in enumerate(names.to_pylist())}
    there = np.array(
        [*range(SPECIALS), *(own.get(n, -1) for n in side.values.histograms.names.to_pylist())], dtype=np.int64
    )
    cells = side.values.histograms.cells
    known = there[cells.value] >= 0
    classes = len(side.values.histograms)
    sums = summed(np.ones(int(known.sum())), cells.owner[known], there[cells.value[known]], (classes, width))
    return stacked([indicators(sums), dropped])


def _limited(matrix: Any, possible: Any, classes: Ints) -> Any:
    """Keep of each row what is possible in its class of the other release; rows without one keep everything."""
    known = (classes >= 0) & (possible.shape[0] > 1)
    known |= classes == _DROPPED
    place = np.where(classes == _DROPPED, possible.shape[0] - 1, np.where(known, classes, 0))
    limited = matrix.multiply(possible[place]).tocsr()
    return scaled(limited, known.astype(np.float64)) + scaled(matrix, (~known).astype(np.float64))


def _histograms(own: Histograms, matrix: Any, people: Ints, extra: Sequence[_Dropped]) -> Histograms:
    every = stacked([matrix, *(gone.values for gone in extra)])
    rows = np.append(people, [gone.rows for gone in extra]).astype(np.int64)
    sizes = np.asarray(every.sum(axis=1), dtype=np.float64)
    return Histograms(as_cells(every), sizes, rows, own.base, own.names, own.left_out)


def _with_cells(
    by_value: Histograms, own: Histograms, classes: Ints, restricted: Any, extra: Sequence[_Dropped]
) -> Histograms:
    """Add the shown cells, each with the values that are left behind it: rows and values are matched by these."""
    code, shown = own.behind, own.shown
    if not isinstance(code, Code) or shown is None:
        return by_value
    cells = stacked([of_cells(shown, code.shares.shape[0], SPECIALS)[classes], *(gone.cells for gone in extra)])
    left = stacked([restricted, *(gone.values for gone in extra)])
    owner = np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr))
    behind = code.shares[cells.indices].multiply(indicators(left)[owner]).tocsr()
    behind.eliminate_zeros()
    numbered = as_cells(cells)
    numbered = replace(numbered, value=(np.arange(len(owner)) + SPECIALS).astype(np.int32))
    return replace(by_value, behind=Code(behind, code.names), shown=numbered)
