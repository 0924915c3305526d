"""The second route: SQL reads the numbers of the file, and one sorted attribute orders the search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.exposure.numbers import Floats, Ints, Types, hold, number_of
from ppdm_flow.mining.exposure.paired import relation
from ppdm_flow.requirements.numeric_linkage.nearest import FLOOR, SLACK, NearerCounts
from ppdm_flow.requirements.numeric_linkage.spaces import HIDDEN, Codes, Space, least_and_ties
from ppdm_flow.sdk.audit import Sql
from ppdm_flow.sdk.view import DataView, PairedView

PORTION = 64
"""So many rows on either side are compared with a record first, then twice as many more, and so on."""

MARGIN = 1.001
"""Windows are wider than they need be, for what rounding does to an inverted covariance."""


def numbers_sql(
    sql: Sql,
    candidate: DataView,
    pairs: PairedView,
    attributes: Sequence[str],
    columns: Sequence[str],
    types: tuple[Types, Types],
) -> tuple[Floats, Floats]:
    """Return the numbers of ``attributes`` and of ``columns``, (rows, each), by row number; NaN where there is none."""
    if not columns:
        rows = sum(len(right) for _, right in pairs.pairs([], candidate.schema.names[:1]))
        return np.zeros((rows, 0)), np.zeros((rows, 0))
    tables: dict[str, object] = {"paired": relation(pairs, columns, attributes, candidate.schema.weight)}
    hold(sql, columns, types[1], candidate.schema.weight, tables)
    before = [number_of(f"o{i}", kind) for i, kind in enumerate(types[0])]
    after = [number_of(f"r{i}", kind) for i, kind in enumerate(types[1])]
    named = ", ".join(f"{number} AS c{i}" for i, number in enumerate((*before, *after)))
    read = sql.table(f"SELECT {named} FROM paired ORDER BY row", (), tables)  # noqa: S608  # our own names
    columns_read = [column.to_numpy().astype(np.float64) for column in read.columns]
    return np.column_stack(columns_read[: len(before)]), np.column_stack(columns_read[len(before) :])


def places_sql(space: Space, sample: Ints, candidates: int) -> NearerCounts:
    """Return the places by squared distances to the rows that may be as near as the own one.

    No row is nearer than the difference in one attribute, in standard deviations of that attribute, says: the rows of
    a window along one attribute are looked at, the attribute in which it holds fewest rows.
    """
    groups = list(_by_what_is_hidden(space))
    own, ties = np.empty(len(sample)), np.empty(len(sample))
    for some, firsts, rows in space.truth.own_rows(sample):
        of_rows = np.repeat(sample[some], np.diff(firsts, append=len(rows)))
        squares = np.empty(len(rows))
        for members, hidden in groups:
            here = np.isin(rows, members)
            squares[here] = _squares(space, of_rows[here], rows[here], hidden)
        own[some], ties[some] = least_and_ties(squares, firsts, 1 + SLACK, FLOOR)
    low, high = own * (1 - SLACK) - FLOOR, own * (1 + SLACK) + FLOOR
    nearer, as_near = np.zeros(len(sample), np.int64), np.zeros(len(sample), np.int64)
    for rows, hidden in groups:
        penalty = space.hidden[hidden].sum()
        between = low - penalty, high - penalty
        _count(space, rows, np.flatnonzero(~hidden), sample, between, candidates, nearer, as_near)
    return NearerCounts(nearer.astype(np.float64), np.asarray(nearer + np.maximum(as_near, ties), np.float64), ties)


def _by_what_is_hidden(space: Space) -> Iterator[tuple[Ints, npt.NDArray[np.bool_]]]:
    """Yield released rows that hide the same attributes, and which they hide."""
    hidden = np.isnan(space.released)
    _, first, form_of_row = np.unique(np.packbits(hidden, axis=1), axis=0, return_index=True, return_inverse=True)
    form_of_row = form_of_row.reshape(-1)
    for form, row in enumerate(first):
        yield np.flatnonzero(form_of_row == form), hidden[row]


def _squares(space: Space, records: Ints, rows: Ints, hidden: npt.NDArray[np.bool_]) -> Floats:
    shown = np.flatnonzero(~hidden)
    apart = space.released[np.ix_(rows, shown)] - space.known[np.ix_(records, shown)]
    categories = unlike(space.codes.released[rows], space.codes.known[records], space.codes)
    return np.asarray(((apart @ whitening(space, shown)) ** 2).sum(axis=1) + space.hidden[hidden].sum() + categories)


def unlike(cells: Ints, mine: Ints, codes: Codes) -> Floats:
    """Return how many of the ``cells`` (rows, columns) differ from ``mine``, plus what hidden ones count, (rows,)."""
    hidden = cells == HIDDEN
    return np.asarray(((cells != mine) & ~hidden).sum(axis=1) + hidden @ codes.hidden)


def whitening(space: Space, shown: Ints) -> Floats:
    """Return what makes differences in these attributes uncorrelated and of variance 1, by eigenvectors.

    A sum of squares keeps its digits where errors are nearly collinear, which a form in the inverse does not.
    """
    covariance = space.covariance[np.ix_(shown, shown)]
    deviations = np.sqrt(np.diag(covariance))[:, np.newaxis]
    variances, axes = np.linalg.eigh(covariance / deviations / deviations.T)
    return np.ascontiguousarray(axes / deviations / np.sqrt(variances)).astype(np.float64)


def nearest_squares_sql(points: Floats, rows: Floats, owner: Ints, but: Ints, codes: Codes, code_of: Ints) -> Floats:
    """Return the squared distances that the first route computes, along the attribute in which rows are widest."""
    if not rows.shape[1]:  # then all of them are one point but for their categories
        rows, points = np.zeros((len(rows), 1)), np.zeros((len(points), 1))
    axis = int(np.argmax(np.ptp(rows, axis=0)))
    order = np.argsort(rows[:, axis], kind="stable")
    rows, owner, cells, least = rows[order], owner[order], codes.released[order], np.full(len(points), np.inf)
    for i, point in enumerate(points):
        for some, farther in outwards(rows[:, axis], point[axis], 0, len(rows)):
            squares = ((rows[some] - point) ** 2).sum(axis=1) + unlike(cells[some], code_of[i], codes)
            least[i] = squares[owner[some] != but[i]].min(initial=np.inf)
            if farther**2 >= least[i]:
                break
    return least


def outwards(along: Floats, here: float, begin: int, end: int) -> Iterator[tuple[slice, float]]:
    """Yield growing ranges of places of ascending numbers, around ``here`` and from ``begin`` to ``end`` at most.

    Beside each range stands how far the numbers outside of it are at least.
    """
    low = high = begin + int(np.searchsorted(along[begin:end], here))
    size = PORTION
    while begin < low or high < end:
        low, high = max(begin, low - size), min(end, high + size)
        below = here - along[low - 1] if low > begin else np.inf
        above = along[high] - here if high < end else np.inf
        yield slice(low, high), float(min(below, above))
        size *= 2


def _count(
    space: Space,
    rows: Ints,
    shown: Ints,
    sample: Ints,
    between: tuple[Floats, Floats],
    candidates: int,
    nearer: Ints,
    as_near: Ints,
) -> None:
    """Add to ``nearer`` and ``as_near`` (records of the sample,) what is near of ``rows``, which show ``shown``.

    A record that has ``candidates`` nearer rows is done: no other row can make it found.
    """
    low, high = between
    none = not len(shown)  # then all of them are one point but for their categories
    released = np.zeros((len(rows), 1)) if none else space.released[np.ix_(rows, shown)]
    points = np.zeros((len(sample), 1)) if none else space.known[np.ix_(sample, shown)]
    plain = np.ones((1, 1)) if none else whitening(space, shown)
    variances = np.ones(1) if none else np.diag(space.covariance)[shown]
    orders = np.argsort(released, axis=0).T.copy()
    ordered = np.take_along_axis(released, orders.T, axis=0).T.copy()
    reach = np.sqrt(np.maximum(high, 0.0)[:, np.newaxis] * variances * MARGIN) + FLOOR
    begins = np.column_stack([np.searchsorted(o, points[:, j] - reach[:, j]) for j, o in enumerate(ordered)])
    ends = np.column_stack([np.searchsorted(o, points[:, j] + reach[:, j], "right") for j, o in enumerate(ordered)])
    axes = np.argmin(ends - begins, axis=1)
    codes = space.codes
    for i in np.flatnonzero((high >= 0) & (nearer < candidates)):
        axis, before, as_near_before = axes[i], nearer[i], as_near[i]
        for some, _ in outwards(ordered[axis], points[i, axis], begins[i, axis], ends[i, axis]):
            near = orders[axis, some]
            squares = (((released[near] - points[i]) @ plain) ** 2).sum(axis=1)
            squares += unlike(codes.released[rows[near]], codes.known[sample[i]], codes)
            nearer[i] = before + np.count_nonzero(squares < low[i])
            as_near[i] = as_near_before + np.count_nonzero((squares >= low[i]) & (squares <= high[i]))
            if nearer[i] >= candidates:
                break
