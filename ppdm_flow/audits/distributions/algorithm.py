"""How well the release keeps the distributions of single columns and of pairs of columns.

For each column the total variation distance between original and release; for each two columns the change of Cramér's
V. Columns are matched by their name in the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.audits.distributions.likeness import likeness
from ppdm_flow.audits.distributions.spec import DistributionsParams
from ppdm_flow.audits.labels.covers import covers
from ppdm_flow.audits.labels.spread import INTERVALS, bins_of, spread
from ppdm_flow.audits.labels.values import SortedNumbers, Values, values_of
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView, count_each
from ppdm_flow.tables.column import MISSING, SPECIALS, SUPPRESSED, Codes, Column, stacked_texts, union
from ppdm_flow.tables.counts import Counts, count, weights_of
from ppdm_flow.tables.numeric.column import NumericColumn, texts_of
from ppdm_flow.tables.table import Table

LEFT_OUT = (Role.IDENTIFIER, Role.WEIGHT, Role.SUBJECT, Role.ITEMS)

PICTURES = 60
"""Columns that get a picture: a report of a wide table stays readable."""

Bounds = Mapping[str, npt.NDArray[np.generic]]
"""By released column of many numbers, where its intervals begin."""
Floats = npt.NDArray[np.float64]


class DistributionsAudit:
    """Compares the released columns, and pairs of them, with those of the original."""

    def __init__(self, params: DistributionsParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return distances, losses of detail and suppressed cells by column, changes of association, and pictures."""
        pairs = [(c, source_of(c, ctx)) for c in candidate.schema.names if candidate.schema[c].role not in LEFT_OUT]
        pairs = [(c, s) for c, s in pairs if s in original.schema]
        bounds = {c: edges(original, s) for c, s in pairs if _by_interval(original, s, candidate, c)}
        changes = self._associations(pairs, bounds, original, candidate)  # first: this thread alone is busy with it
        count_each(original, [s for c, s in pairs if c not in bounds])
        count_each(candidate, [c for c, _ in pairs if c not in bounds])
        shares = {c: _shares(original, s, candidate, c, bounds.get(c), ctx) for c, s in pairs}
        charts = [chart(c, s, shares[c], ctx) for c, s in pairs[:PICTURES]]
        rows_lost = _rows_lost(original, candidate, ctx)
        alike = likeness(pairs[: self.params.pair_columns], original, candidate, ctx, self.params.pair_rows)
        figures = {**alike, **_columns(shares, bounds, ctx), "rows_lost": rows_lost, **_changes(changes)}
        return AuditOutcome(figures=figures, charts=(*charts, *_matrices(changes)))

    def _associations(
        self, pairs: list[tuple[str, str]], bounds: Bounds, original: DataView, candidate: DataView
    ) -> Associations | None:
        chosen = pairs[: self.params.pair_columns]
        if len(chosen) < 2:
            return None
        limit = self.params.pair_rows
        by_source = {s: bounds[c] for c, s in chosen if c in bounds}
        before_names, after_names = [s for _, s in chosen], [c for c, _ in chosen]
        first = _coarse(original.sample(limit, _with_weight(before_names, original)), by_source)
        by_name = {c: bounds[c] for c in after_names if c in bounds}
        second = _coarse(candidate.sample(limit, _with_weight(after_names, candidate)), by_name)
        before = associations(first, before_names, original.schema.weight)
        after = associations(second, after_names, candidate.schema.weight)
        rows = max(original.row_count, candidate.row_count)
        return Associations(after_names, before, after, limit if rows > limit else None, len(pairs))


def _with_weight(names: list[str], view: DataView) -> list[str]:
    weight = view.schema.weight
    return list(dict.fromkeys(names if weight is None else [*names, weight]))


def _coarse(table: Table, bounds: Bounds) -> Table:
    return table.replaced({name: in_intervals(table[name], each[COARSE]) for name, each in bounds.items()})


@dataclass(frozen=True, slots=True, eq=False)
class Associations:
    """V of each two ``columns`` before and after; ``sample`` is the number of rows looked at where not all were."""

    columns: list[str]
    before: Floats
    after: Floats
    sample: int | None
    available: int

    @property
    def change(self) -> Floats:
        """The absolute change of each pair, shape (pairs,)."""
        upper = np.triu_indices(len(self.columns), 1)
        changed: Floats = np.abs(self.after - self.before)[upper]
        return changed


def _shares(
    original: DataView,
    source: str,
    candidate: DataView,
    column: str,
    bounds: npt.NDArray[np.generic] | None,
    ctx: AuditContext,
) -> Shares:
    has_labels = _recoded(column, ctx) and (ctx.pairs is not None or _is_generated(column, ctx))
    if has_labels and candidate.schema.weight is None:
        recoded = None if ctx.pairs is None else recoded_shares(ctx.pairs.joint(source, column))
        if recoded is not None:
            return recoded
        if not is_numeric(candidate, column):
            values = values_of(original, source, ctx.original_attributes.get(source))
            spread = spread_shares(values, candidate, column, shares(original, source, candidate, column), ctx)
            if spread is not None:
                return spread
    if bounds is not None:
        return interval_shares(original, source, candidate, column, bounds)
    return shares(original, source, candidate, column)


def _by_interval(original: DataView, source: str, candidate: DataView, column: str) -> bool:
    if not (is_numeric(original, source) and is_numeric(candidate, column)):
        return False
    return has_many_values(original, source) or has_many_values(candidate, column)


def _recoded(column: str, ctx: AuditContext) -> bool:
    facts = ctx.attributes.get(column)
    return facts is not None and facts.was(Change.GENERALIZED, Change.PSEUDONYMIZED)


def _is_generated(column: str, ctx: AuditContext) -> bool:
    facts = ctx.attributes.get(column)
    return facts is not None and facts.was(Change.GENERATED)


def _columns(shares: dict[str, Shares], bounds: Bounds, ctx: AuditContext) -> dict[str, Figure]:
    figures: dict[str, Figure] = {}
    for column, mine in shares.items():
        level = "compared at the released level" if ctx.pairs is not None else "new names count as different values"
        note = level if _recoded(column, ctx) else ""
        note = "each label counts evenly for the values that it covers" if mine.labels is not None else note
        if column in bounds and mine.labels is None:
            note = f"over {len(mine.names)} intervals of about equal share"
        figures[f"{column}.total_variation"] = Figure(mine.distance, "share", note=note)
        figures[f"{column}.generalization_loss"] = Figure(mine.generalization_loss, "share")
        figures[f"{column}.suppressed"] = Figure(mine.suppressed, "share")
    distances = [s.distance for s in shares.values()]
    none = "" if shares else "no column of the original is released"
    figures["mean_total_variation"] = Figure(float(np.mean(distances)) if shares else None, "share", note=none)
    figures["largest_total_variation"] = Figure(max(distances, default=None), "share", note=none)
    losses = {column: mine.generalization_loss for column, mine in shares.items()}
    worst = max(losses, key=losses.__getitem__, default="")
    mean_loss = float(np.mean(list(losses.values()))) if losses else None
    figures["mean_generalization_loss"] = Figure(mean_loss, "share", note=none)
    figures["largest_generalization_loss"] = Figure(
        losses.get(worst), "share", note=f"`{worst}`" if losses.get(worst) else none
    )
    cells = float(np.mean([s.suppressed for s in shares.values()])) if shares else None
    figures["suppressed_cells"] = Figure(cells, "share", note=none)
    return figures


def _rows_lost(original: DataView, candidate: DataView, ctx: AuditContext) -> Figure:
    """Return the share of the original's rows that the release does not have, a weighted one as often as it counts."""
    before, after = _rows(original), _rows(candidate)
    if not before:
        return Figure(None, "share", note="the original has no rows")
    generated = any(facts.was(Change.GENERATED) for facts in ctx.attributes.values())
    note = "generated rows: their number was chosen" if generated else ""
    return Figure(max(0.0, 1.0 - after / before), "share", note=note)


def _rows(view: DataView) -> int:
    weight = view.schema.weight
    if weight is None:
        return view.row_count
    return sum(int(weights_of(part[weight]).sum()) for part in view.partitions([weight]))


def _changes(associated: Associations | None) -> dict[str, Figure]:
    names = ("mean_association_change", "largest_association_change")
    if associated is None:
        return {name: Figure(None, "share", note="fewer than two columns to compare") for name in names}
    skipped = associated.available - len(associated.columns)
    note = f"of the first {len(associated.columns)} columns" if skipped else ""
    values = (float(associated.change.mean()), float(associated.change.max()))
    return {n: Figure(v, "share", sample=associated.sample, note=note) for n, v in zip(names, values, strict=True)}


def _matrices(associated: Associations | None) -> tuple[Chart, ...]:
    if associated is None:
        return ()

    def matrix(name: str, title: str, values: Floats) -> Chart:
        series = tuple(
            FigureSeries(c, tuple(map(float, row))) for c, row in zip(associated.columns, values, strict=True)
        )
        return Chart(name, title, "matrix", tuple(associated.columns), series, note="Cramér's V", group="association")

    return (
        matrix("association_before", "How columns go together: original", associated.before),
        matrix("association_after", "How columns go together: released", associated.after),
        matrix("association_change", "How columns go together: change", associated.after - associated.before),
    )


# Columns of numbers, which may have as many values as rows: compared over intervals, not value by value.


FEW = 200
"""A numeric column of at most so many values is compared value by value."""
COARSE = slice(1, None, 2)
"""Which bounds remain where two columns are looked at together: ten intervals each."""
_QUANTILE_ROWS = 1 << 20
_FIRST = 1 << 12


def has_many_values(view: DataView, column: str) -> bool:
    """Whether a numeric column has more than 200 values."""
    seen: npt.NDArray[np.generic] | None = None
    for cells, _ in _parts(view, column, None):
        for start in (0, _FIRST):  # mostly the first rows tell
            values = np.unique(cells.present()[start : None if start else _FIRST])
            seen = values if seen is None else np.union1d(seen, values)
            if len(seen) > FEW:
                return True
    return False


def is_numeric(view: DataView, column: str) -> bool:
    """Whether a column of a view holds numbers, and not labels of them."""
    return view.schema[column].numeric


def edges(view: DataView, column: str) -> npt.NDArray[np.generic]:
    """Return the ascending numbers at which 20 intervals of about equal share begin, but for the first one.

    From at most 1,048,576 rows, evenly spaced.
    """
    step = max(1, view.row_count // _QUANTILE_ROWS)
    numbers = [cells.take(slice(None, None, step)).present() for cells, _ in _parts(view, column, None)]
    every = np.sort(np.concatenate(numbers)) if numbers else np.zeros(0)
    if not len(every):
        return every
    return np.unique(every[(np.arange(1, INTERVALS) * len(every)) // INTERVALS])


def interval_shares(
    original: DataView, source: str, candidate: DataView, column: str, bounds: npt.NDArray[np.generic]
) -> Shares:
    """Count the rows of both sides by interval; missing cells are an interval of their own."""
    kind = next((cells.kind for cells, _ in _parts(original, source, None)), None)
    texts = texts_of(bounds, kind).to_pylist() if kind is not None else []
    names = [f"below {texts[0]}" if texts else "all", *(f"from {t}" for t in texts)]
    before, after = (_counted(view, name, bounds) for view, name in ((original, source), (candidate, column)))
    return Shares(pa.array(names, pa.string()), before, after, intervals=True)


def in_intervals(column: Column, bounds: npt.NDArray[np.generic]) -> Column:
    """Return a numeric column coded by interval; one of labels as it is."""
    if not isinstance(column, NumericColumn):
        return column
    codes = np.searchsorted(bounds, column.values, side="right").astype(np.int32)
    if column.missing is not None:
        codes[column.missing] = MISSING
    return Column(codes, pa.array([str(i) for i in range(len(bounds) + 1)], pa.string()))


def _counted(view: DataView, column: str, bounds: npt.NDArray[np.generic]) -> Floats:
    rows = np.zeros(len(bounds) + 1 + SPECIALS)
    for cells, weights in _parts(view, column, view.schema.weight):
        places = in_intervals(cells, bounds).dense
        rows += np.bincount(places, weights=weights, minlength=len(rows))
    shares: Floats = rows / max(1.0, rows.sum())
    return shares


def _parts(
    view: DataView, column: str, weight: str | None
) -> Iterator[tuple[NumericColumn, npt.NDArray[np.int64] | None]]:
    for part in view.partitions([column] if weight is None else [column, weight]):
        cells = part[column]
        if isinstance(cells, NumericColumn):
            yield cells, None if weight is None else weights_of(part[weight])


# How far one column moved, and how strongly two columns go together: Cramér's V.
#
# V = sqrt(chi-square / (n (min(r, c) - 1))), in [0, 1] (Cramér 1946, section 21.9), with missing and suppressed cells
# as values of their own. A column with one value goes together with nothing: V = 0.


TOP = 20
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Shares of rows by value, ``before`` and ``after``, shape (values + 2,): suppressed, missing, then ``names``.

    ``original`` (values,) are the shares of the original's own values, where ``before`` is at the released level.
    ``intervals``: the values are intervals of numbers, in their order. ``labels`` are the shares of labels as they are
    where ``after`` spreads them over the values that they cover; detail is lost by labels.
    """

    names: pa.StringArray
    before: Floats
    after: Floats
    original: Floats | None = None
    intervals: bool = False
    labels: Shares | None = None

    @property
    def distance(self) -> float:
        """Total variation distance: half the sum of absolute differences, in [0, 1]."""
        return 0.5 * float(np.abs(self.before - self.after).sum())

    @property
    def suppressed(self) -> float:
        """The share of suppressed cells in the release."""
        return float(self.after[SUPPRESSED + SPECIALS])

    @property
    def generalization_loss(self) -> float:
        """The share of the original's entropy that the release does not have, in [0, 1].

        A suppressed cell tells nothing. Of a column that has one value, nothing but suppression can be lost.
        """
        if self.labels is not None:
            return self.labels.generalization_loss
        mine = entropy(self.before if self.original is None else self.original)
        if mine <= 0:
            return self.suppressed
        shown = self.after.copy()
        shown[SUPPRESSED + SPECIALS] = 0.0
        loss = 1.0 - float(shown.sum()) * entropy(shown) / mine
        return min(1.0, loss) if loss > ROUNDING else 0.0

    def label(self, place: int, ctx: AuditContext, attribute: str, number: int) -> str:
        """Return how the value at ``place`` may be shown."""
        if place == SUPPRESSED + SPECIALS:
            return "suppressed"
        if place == MISSING + SPECIALS:
            return "missing"
        value = self.names[place - SPECIALS].as_py()
        if self.intervals:
            return str(value) if ctx.show_values else f"interval {place - SPECIALS + 1}"
        return ctx.label(attribute, value, number)


def entropy(shares: Floats) -> float:
    """Return Shannon's entropy, in nats, of weights that are divided by their sum; 0 where all are 0."""
    some = shares[shares > 0] / max(shares.sum(), np.finfo(np.float64).tiny)
    return max(0.0, -float((some * np.log(some)).sum()))


def shares(original: DataView, source: str, candidate: DataView, column: str) -> Shares:
    """Count one column on both sides; missing and suppressed cells are values of their own."""
    before, after = original.counts((source,)), candidate.counts((column,))
    both = stacked_texts([_cells(before, source), _cells(after, column)])
    size, first = len(both.categories), len(before)
    at_first, at_last = _share(both.codes[:first], before.counts, size), _share(both.codes[first:], after.counts, size)
    return Shares(both.categories, at_first, at_last)


def recoded_shares(joint: Counts) -> Shares | None:
    """Compare at the released level: each original value counts as the one that it became.

    ``joint`` counts (original, released) cells. None where some value became several, so that there is no such level;
    a value that was suppressed wherever it occurred keeps its own name.
    """
    original, released = joint.of("original"), joint.of("released")
    kept = released != SUPPRESSED
    pairs = np.unique(np.stack([original[kept], released[kept]]), axis=1)
    if (np.diff(pairs[0]) == 0).any():
        return None
    names = union((joint.names("original"), joint.names("released")))
    image = Column(original, joint.names("original")).onto(names).codes.copy()
    place = np.searchsorted(pairs[0], original)
    known = (place < pairs.shape[1]) & np.isin(original, pairs[0])
    target = Column(pairs[1].astype(np.int32), joint.names("released")).onto(names).codes
    image[known] = target[place[known]]
    after = Column(released, joint.names("released")).onto(names).codes
    own = np.bincount(original + SPECIALS, weights=joint.counts).astype(np.float64)
    at_level, shown = (_share(codes, joint.counts, len(names)) for codes in (image, after))
    return Shares(names, at_level, shown, own)


def spread_shares(values: Values, candidate: DataView, column: str, labels: Shares, ctx: AuditContext) -> Shares | None:
    """Compare values, or intervals of many numbers: the share of each label is spread evenly over what it covers.

    So columns of local recoding are compared, where a value became several labels. Numbers and dates are spread by how
    much of an interval lies in another, categories by their number. None where a label cannot be read.
    """
    read = covers(candidate.domain(column), values, column, ctx.attributes.get(column), ctx)
    if read.unreadable or not len(values.texts):
        return None
    counts = candidate.counts((column,))
    codes = counts.of(column)
    rows = np.bincount(codes + SPECIALS, weights=counts.counts, minlength=len(read.labels) + SPECIALS).astype(float)
    owns = np.append(values.counts[:-1], 0).astype(float)
    if isinstance(values, SortedNumbers):
        bins = bins_of(values)
        inside = np.searchsorted(bins, values.values, side="right") - 1
        before = np.bincount(inside, weights=owns[:-1], minlength=len(bins))
        starts = [values.texts[int(place)].as_py() for place in np.searchsorted(values.values, bins)]
        names = starts if len(bins) == len(values.values) else [f"from {start}" for start in starts]
    else:
        bins, before = np.arange(len(values.texts), dtype=np.float64), owns[:-1]
        names = values.texts.to_pylist()
    after = np.zeros(len(bins))
    for label, share in enumerate(rows[SPECIALS:]):
        if share:
            after += share * spread(read, label, values, bins)
    total_before, total_after = max(1.0, values.counts.sum()), max(1.0, rows.sum())
    specials = [np.zeros(SPECIALS), rows[:SPECIALS] / total_after]
    specials[0][MISSING + SPECIALS] = values.counts[-1] / total_before
    return Shares(
        pa.array(names, pa.string()),
        np.append(specials[0], before / total_before),
        np.append(specials[1], after / total_after),
        intervals=isinstance(values, SortedNumbers) and len(values.values) > INTERVALS,
        labels=labels,
    )


def _cells(counts: Counts, column: str) -> Column:
    return Column(counts.of(column), counts.names(column))


def _share(codes: Codes, counts: npt.NDArray[np.int64], size: int) -> Floats:
    rows = np.bincount(codes + SPECIALS, weights=counts, minlength=size + SPECIALS)
    share: Floats = rows / max(1.0, rows.sum())
    return share


def chart(column: str, attribute: str, shares: Shares, ctx: AuditContext) -> Chart:
    """Return bars for at most twenty values, those with the largest share on either side first; all of intervals.

    Intervals stand in the order of the numbers.
    """
    weight = np.maximum(shares.before, shares.after)
    if shares.intervals:
        order = [i for i in (*range(SPECIALS, len(weight)), *range(SPECIALS)) if weight[i] > 0]
    else:
        order = [i for i in np.argsort(-weight, kind="stable")[:TOP].tolist() if weight[i] > 0]
    rest = int((weight > 0).sum()) - len(order)
    return Chart(
        id=f"{column}.shares",
        title=f"{column}, before and after",
        kind="bars",
        x=tuple(shares.label(place, ctx, attribute, i + 1) for i, place in enumerate(order)),
        series=tuple(
            FigureSeries(name, tuple(float(values[i]) for i in order))
            for name, values in (("original", shares.before), ("released", shares.after))
        ),
        x_label="interval" if shares.intervals else "value",
        y_label="share of rows",
        note=_note(shares, rest),
        group=column,
    )


def _note(shares: Shares, rest: int) -> str:
    if shares.labels is not None:
        more = f"; {rest:,} further values are not shown" if rest else ""
        return f"each released label counts evenly for the values that it covers{more}"
    if shares.intervals:
        return "intervals of about equal shares of the original, in the order of the numbers"
    return f"{rest:,} further values are not shown" if rest else ""


def cramers_v(left: Codes, right: Codes, weights: Floats) -> float:
    """Return V of two columns of codes from 0, shape (rows,), with row weights."""
    return _cramers_v((left, right), (_sums(left, weights), _sums(right, weights)), weights)


def _cramers_v(pair: tuple[Codes, Codes], margins: tuple[Floats, Floats], weights: Floats) -> float:
    (left, right), (rows, columns) = pair, margins
    total = weights.sum()
    smaller = min(int((rows > 0).sum()), int((columns > 0).sum())) - 1
    if smaller < 1 or total <= 0:
        return 0.0
    keys = left.astype(np.int64) * len(columns) + right
    if len(rows) * len(columns) <= 4 * len(keys) + 1024:
        joint = _sums(keys, weights)
        cells = np.flatnonzero(joint)
        joint = joint[cells]
    else:
        cells, place = np.unique(keys, return_inverse=True)
        joint = _sums(place, weights)
        cells, joint = cells[joint > 0], joint[joint > 0]
    expected = rows[cells // len(columns)] * columns[cells % len(columns)]
    inertia = float((joint * joint / expected).sum()) - 1.0  # chi-square / n
    return float(np.sqrt(min(1.0, max(0.0, inertia) / smaller)))


def associations(table: Table, columns: list[str], weight: str | None) -> Floats:
    """Return V of each two columns, shape (columns, columns), 1 on the diagonal."""
    counts = count(table, columns, weight)  # equal rows once: 190 pairs are looked at
    weights = counts.counts.astype(np.float64)
    dense = [_renumbered(counts.of(c), len(counts.names(c))) for c in columns]
    margins = [_sums(codes, weights) for codes in dense]
    matrix = np.eye(len(columns))
    for i, left in enumerate(dense):
        for j in range(i):
            matrix[i, j] = matrix[j, i] = _cramers_v((left, dense[j]), (margins[i], margins[j]), weights)
    return matrix


def _renumbered(codes: Codes, categories: int) -> Codes:
    """Return the codes that occur, special marks too, under numbers from 0 in their order."""
    dense = codes + np.int32(SPECIALS)
    occurring = np.zeros(categories + SPECIALS, dtype=bool)
    occurring[dense] = True
    numbers = (np.cumsum(occurring) - 1).astype(np.int32)
    renumbered: Codes = numbers[dense]
    return renumbered


def _sums(place: npt.NDArray[np.int64] | Codes, weights: Floats) -> Floats:
    return np.bincount(place, weights=weights).astype(np.float64)
