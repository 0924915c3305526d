"""The share of the original's information that a release keeps, by row: 100 % if unchanged, 0 % if all is hidden.

A reader who guesses a cell draws a value from the original's column, among those that the released label covers. The
mean error of such a guess, divided by the mean error of a guess without the release, is the loss. For the global
recoding of categories the rest is Goodman and Kruskal's tau.

Goodman, Kruskal, Measures of association for cross classifications, JASA 49, 1954.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from ppdm_flow.audits.information_kept.item_sets import SetsKept, sets_kept
from ppdm_flow.audits.information_kept.spec import InformationKeptParams
from ppdm_flow.audits.labels.covers import Covers, UnreadError, covers
from ppdm_flow.audits.labels.forms import everything
from ppdm_flow.audits.labels.released import hierarchy_of
from ppdm_flow.audits.labels.values import Categories, SortedNumbers, Values, floats_of, values_of
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Figure, Finding
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.profiling.types import describe_order
from ppdm_flow.mining.releases.attributes import listed, namesakes, source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView, PairedView, count_each
from ppdm_flow.tables.column import MISSING, Column
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.numeric.column import NumericColumn

CELLS = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.TARGET, Role.INSENSITIVE)
"""Roles of the attributes with one value a row."""
ROLES = (*CELLS, Role.ITEMS)
"""Roles of the attributes that are compared."""
NO_PAIRS = "rows cannot be paired with their originals"
NOT_RELEASED = "not released"
RANDOMIZED = "randomized sets are taken as they are; `ppdm-flow mine` estimates supports from them"
_HALF = 0.5
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class InformationKeptAudit:
    """Compares the released cells of each attribute with the original ones of the same rows."""

    def __init__(self, params: InformationKeptParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return what is kept of each attribute and in all, and warnings of columns that say next to nothing."""
        attributes = [_attribute(field.name, candidate, ctx) for field in original.schema if field.role in ROLES]
        counted_columns = [a.name for a in attributes if a.columns and original.schema[a.name].role in CELLS]
        count_each(original, [name for name in counted_columns if not original.schema[name].numeric])
        figures: dict[str, Figure] = {}
        lost_items: list[Finding] = []
        for attribute in attributes:
            if original.schema[attribute.name].role is Role.ITEMS:
                best = _best_sets(attribute, original, candidate, ctx)
                figures |= _set_figures(attribute, best, ctx)
                lost_items += _lost_items(best, ctx)
            else:
                figures[f"{attribute.name}.kept"] = _kept(attribute, original, candidate, ctx)
        findings = (*_findings(original, candidate, ctx), *lost_items)
        return AuditOutcome({"mean_kept": _mean(figures, attributes), **figures}, findings=findings)


@dataclass(frozen=True, slots=True)
class _Attribute:
    """An attribute of the source, the released ``columns`` to compare it with, and ``why`` there are none."""

    name: str
    columns: tuple[str, ...] = ()
    why: str = ""


def _attribute(name: str, candidate: DataView, ctx: AuditContext) -> _Attribute:
    carrying = namesakes(name, candidate, ctx)
    if not carrying:
        others = [c for c, f in ctx.attributes.items() if f.lineage.computed_from == {name} and not _made(f)]
        return _Attribute(name, why=f"told by {listed(others)} alone" if others else "")
    if ctx.pairs is None:
        return _Attribute(name, why=NO_PAIRS)
    compared = tuple(c for c in carrying if not _made(ctx.attributes[c]))
    return _Attribute(name, compared, why="" if compared else "its cells are generated or keyed names")


def _made(facts: AttributeFacts) -> bool:
    """Whether the cells of a column are no readable form of the original ones."""
    return facts.was(Change.GENERATED, Change.PSEUDONYMIZED)


def _labels(values: Values, candidate: DataView, column: str, ctx: AuditContext) -> Covers | None:
    if candidate.schema[column].numeric and isinstance(values, SortedNumbers):
        return None
    return covers(candidate.domain(column), values, column, ctx.attributes.get(column), ctx)


def _kept(attribute: _Attribute, original: DataView, candidate: DataView, ctx: AuditContext) -> Figure:
    """Return what the column keeps that keeps most."""
    if not attribute.columns or ctx.pairs is None:
        why = f"not compared: {attribute.why}" if attribute.why else NOT_RELEASED
        return Figure(None if attribute.why else 0.0, "share", note=why)
    values = values_of(original, attribute.name, ctx.original_attributes.get(attribute.name))
    shares: dict[str, float | None] = {}
    faults = []
    for column in attribute.columns:
        try:
            shares[column] = share_kept(values, ctx.pairs, candidate, column, original.schema.weight, ctx)
        except UnreadError as fault:
            faults.append(str(fault))
    known = [share for share in shares.values() if share is not None]
    if known:
        return Figure(max(known), "share")
    return Figure(None, "share", note=f"not compared: {faults[0] if faults else 'the original has one value, or none'}")


def _best_sets(attribute: _Attribute, original: DataView, candidate: DataView, ctx: AuditContext) -> SetsKept | Figure:
    """Return what is kept by the column of sets that keeps most; why nothing can be compared as a figure."""
    if not attribute.columns or ctx.pairs is None:
        why = f"not compared: {attribute.why}" if attribute.why else NOT_RELEASED
        return Figure(None if attribute.why else 0.0, "share", note=why)
    compared: list[SetsKept] = []
    faults = []
    for column in attribute.columns:
        try:
            compared.append(sets_kept(attribute.name, column, original, candidate, ctx.pairs, ctx))
        except UnreadError as fault:
            faults.append(str(fault))
    if not compared:
        return Figure(None, "share", note=f"not compared: {faults[0]}")
    return max(compared, key=lambda kept: -1.0 if kept.share is None else kept.share)


def _set_figures(attribute: _Attribute, best: SetsKept | Figure, ctx: AuditContext) -> dict[str, Figure]:
    name = attribute.name
    if isinstance(best, Figure):
        return {f"{name}.kept": best}
    note = ""
    if best.share is None:
        note = "not compared: the original has one item, or none"
    elif best.column in ctx.set_operators:
        note = RANDOMIZED
    elif best.occurrences_lost:
        note = f"{best.items_lost:,} of {best.items:,} items lost, {best.occurrences_lost:.1%} of all occurrences"
    return {
        f"{name}.kept": Figure(best.share, "share", note=note),
        f"{name}.items_lost": Figure(best.items_lost, "items"),
        f"{name}.occurrences_lost": Figure(best.occurrences_lost, "share"),
    }


def _lost_items(best: SetsKept | Figure, ctx: AuditContext) -> Iterator[Finding]:
    """Yield a warning where sets lose most of their items, of the occurrences, or of what they tell."""
    if isinstance(best, Figure) or best.share is None or best.column in ctx.set_operators:
        return
    steps = list(dict.fromkeys(step for step, _ in ctx.attributes[best.column].changes))
    by = f" after {_steps_in_words(steps)}" if steps else ""
    less = (
        "For `km_anonymity`, a smaller `m` keeps more, and so does a smaller `k`; both protect less: `ppdm-flow sweep`"
        " shows how much"
    )
    if best.items_lost > _HALF * best.items or best.occurrences_lost > _HALF:
        what = (
            f"`{best.column}` lost {best.items_lost:,} of its {best.items:,} items, and {best.occurrences_lost:.0%} of"
            f" all occurrences of items{by}"
        )
        advice = less
        if best.rows_lost > _HALF * best.occurrences_lost:
            what += f": {best.rows_lost:.0%} with rows that were left out"
            advice = "Let steps leave out fewer rows, or shorten sets in place of discarding them (`longer: truncate`)"
        elif hierarchy_of(best.column, ctx) is None:
            advice += ". With a `hierarchy`, rare items can become categories in place of being left out"
    elif best.share < _HALF:
        what = f"`{best.column}` keeps {best.share:.0%} of its information{by}: its labels cover many items each"
        advice = f"In a step `apriori_anonymization`, `by: [leave_out]` or `[roll_up, leave_out]` may keep more. {less}"
    else:
        return
    yield Finding("PPF927", Severity.WARNING, f"{what}. {advice}", f"{ctx.release}.{best.column}")


def _mean(figures: Mapping[str, Figure], attributes: list[_Attribute]) -> Figure:
    known = {a.name: v for a in attributes if (v := figures[f"{a.name}.kept"].value) is not None}
    others = [a.name for a in attributes if a.name not in known]
    dropped = [a.name for a in attributes if not a.columns and not a.why]
    notes = [f"not released: {listed(dropped)}"] if dropped else []
    if not known or (others and set(known) <= set(dropped)):
        why = {
            a.why or figures[f"{a.name}.kept"].note.removeprefix("not compared: ")
            for a in attributes
            if a.name in others
        }
        text = next(iter(why)) if len(why) == 1 else "no attribute can be compared"
        return Figure(None, "share", note=f"not compared: {text}" if attributes else "not compared: no attributes")
    notes += [f"not compared: {listed(others)}"] if others else []
    notes += [RANDOMIZED] if any(figures[f"{name}.kept"].note == RANDOMIZED for name in known) else []
    return Figure(float(np.mean(list(known.values()))), "share", note="; ".join(notes))


def _findings(original: DataView, candidate: DataView, ctx: AuditContext) -> Iterator[Finding]:
    """Yield a warning for each column that has one value in all rows, or hides more than half of its cells."""
    columns = [f.name for f in candidate.schema if f.role in CELLS and f.name in ctx.attributes and not f.numeric]
    columns = [c for c in columns if not ctx.attributes[c].unchanged and not _made(ctx.attributes[c])]
    count_each(candidate, columns)
    for column in columns:
        facts = ctx.attributes[column]
        counts = candidate.counts((column,))
        total, codes = counts.total, counts.of(column)
        if not total:
            continue
        wide = np.append(everything(counts.names(column)), [True, False])  # by code: suppressed is -2, missing -1
        hidden = int(counts.counts[wide[codes]].sum()) / total
        source = facts.source or facts.name
        if hidden > _HALF:
            what = f"hides {hidden:.0%} of its cells (`*` or suppressed)"
        elif len(np.unique(codes[counts.counts > 0])) == 1 and source in original.schema and _several(original, source):
            what = "has one value in all of its rows"
        else:
            continue
        steps = list(dict.fromkeys(step for step, _ in facts.changes))
        by = f" after {_steps_in_words(steps)}" if steps else ""
        text = (
            f"`{column}` {what}{by}. {_finer(original, source, column, ctx)}, recode locally (`mondrian`, which keeps"
            " more with `partitioning: relaxed`), or let the step suppress rows in its place. Fewer quasi-identifiers"
            " or lower requirements protect less. Or drop the column"
        )
        yield Finding("PPF926", Severity.WARNING, text, f"{ctx.release}.{column}")


def _finer(original: DataView, source: str, column: str, ctx: AuditContext) -> str:
    """Say how steps learn what lies between the values of a column and `*`."""
    hierarchy = hierarchy_of(column, ctx)
    if hierarchy is not None and hierarchy.format is None:
        return "Give its hierarchy a level between its values and `*`"
    is_text = source in original.schema and not original.schema[source].numeric
    order = describe_order(original.domain(source)) if is_text else None
    if order is None:
        return "Declare a hierarchy between its values and `*`"
    what, declaration = order
    return f"Its values are {what}, of which steps make the best intervals if you declare {declaration}"


def _steps_in_words(steps: list[str]) -> str:
    """Return the steps in words."""
    return f"step {listed(steps)}" if len(steps) == 1 else f"the {counted(len(steps), 'step')} {listed(steps)}"


def _several(original: DataView, source: str) -> bool:
    return len(original.counts((source,))) > 1


# How much of an attribute a released column keeps: errors of guesses with its labels, and without them.


def share_kept(
    values: Values, pairs: PairedView, candidate: DataView, column: str, weight: str | None, ctx: AuditContext
) -> float | None:
    """Return max(0, 1 - loss / largest possible loss); None where nothing could be lost.

    A row that is not in the release loses all. Raises UnreadError. ``weight`` is the original's column of weights.
    """
    tally = _Tally(values)
    read: Covers | None = None
    for original, released, rows in _cells(pairs, source_of(column, ctx), column, weight, candidate):
        value = values.places(original)
        if isinstance(released, NumericColumn) and isinstance(values, SortedNumbers):
            tally.add_numbers(values, value, floats_of(released), rows)
            continue
        if read is None:
            read = covers(candidate.domain(column), values, column, ctx.attributes.get(column), ctx)
            read.check()
        tally.add_labels(value, released, read, rows)
    return tally.share


def _cells(
    pairs: PairedView, source: str, column: str, weight: str | None, candidate: DataView
) -> Iterator[tuple[Column, Column, Integers]]:
    """Yield original cells, released ones, and the rows of each: partitions where columns hold numbers, else counts."""
    if weight is None and not candidate.schema[column].numeric:
        joint = pairs.joint(source, column)
        original, released = (Column(joint.of(side), joint.names(side)) for side in ("original", "released"))
        yield original, released, joint.counts
        return
    for mine, theirs in pairs.pairs(list(dict.fromkeys([source, *([weight] if weight else [])])), [column]):
        rows = np.ones(len(mine), np.int64) if weight is None else weights_of(mine[weight])
        yield mine[source], theirs[column], rows


class _Tally:
    """Sums over paired rows; ``blank`` (values + 1,) are rows of each value whose released cell is missing."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.lost = 0.0
        self.paired = np.zeros(len(values.counts), np.int64)
        self.blank = np.zeros(len(values.counts), np.int64)

    def add_numbers(self, values: SortedNumbers, value: Integers, released: Floats, rows: Integers) -> None:
        """Add rows with a number in the release; NaN is a missing one."""
        missing = np.isnan(released)
        self._note(value, rows, missing)
        shown = ~missing
        self.lost += float(_to_points(values, value[shown], released[shown]) @ rows[shown])

    def add_labels(self, value: Integers, released: Column, read: Covers, rows: Integers) -> None:
        """Add rows with a label in the release."""
        self._note(value, rows, released.codes == MISSING)
        hidden, shown = released.codes < MISSING, released.codes >= 0
        place = _numbered(released, read)
        hidden[shown] = read.wide[place[shown]]
        self.lost += float(self.values.guessing[value[hidden]] @ rows[hidden])
        readable = shown & ~hidden
        self.lost += float(_expected(self.values, value[readable], place[readable], read) @ rows[readable])

    def _note(self, value: Integers, rows: Integers, missing: npt.NDArray[np.bool_]) -> None:
        size = len(self.paired)
        self.paired += np.bincount(value, weights=rows, minlength=size).astype(np.int64)
        self.blank += np.bincount(value[missing], weights=rows[missing], minlength=size).astype(np.int64)

    @property
    def share(self) -> float | None:
        """The share that is kept.

        A missing cell tells that the original's is missing, unless others became missing too: then it tells nothing.
        """
        guessing, counts = self.values.guessing, self.values.counts
        every = float(np.maximum(counts, self.paired) @ guessing)
        if every <= 0:
            return None
        hidden = float(self.blank @ guessing) if self.blank[:-1].any() else 0.0
        dropped = float(np.maximum(counts - self.paired, 0) @ guessing)
        kept = round(1.0 - (self.lost + hidden + dropped) / every, 12)  # sums of floats: 0 where all is hidden
        return min(1.0, max(0.0, kept))


def _numbered(column: Column, read: Covers) -> Integers:
    """Return the place of each cell's label; anything for cells without one."""
    places = pc.index_in(column.categories, value_set=read.labels).fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(np.append(places.astype(np.int64), [-1, -1])[column.codes])


def _expected(values: Values, value: Integers, label: Integers, read: Covers) -> Floats:
    """Return how far each value is, on average, from one drawn from what its label covers."""
    if isinstance(values, Categories):
        return 1.0 - np.where(
            _covered(value, label, read, len(values.texts)), values.counts[value] / read.rows[label], 0.0
        )
    expected = np.full(len(value), values.missing_distance)
    known = value < len(values.values)
    single = known & ~np.isnan(read.points[label])
    expected[single] = _to_points(values, value[single], read.points[label[single]])
    several = np.flatnonzero(known & ~single)
    owner, run = read.runs_of(label[several])
    apart = values.distances(value[several][owner], read.begin[run], read.end[run])
    sums = np.bincount(owner, weights=apart, minlength=len(several))
    expected[several] = sums / read.rows[label[several]]
    return expected


def _covered(value: Integers, label: Integers, read: Covers, size: int) -> npt.NDArray[np.bool_]:
    """Return whether the label covers the value."""
    keys = read.owner * (size + 1) + read.begin
    run = np.searchsorted(keys, label * (size + 1) + value, side="right") - 1
    inside = (
        (run >= 0) & (read.owner[run] == label) & (value < read.end[run]) if len(keys) else np.zeros(len(value), bool)
    )
    return np.asarray(inside)


def _to_points(values: SortedNumbers, value: Integers, points: Floats) -> Floats:
    apart = np.abs(values.positions[value] - values.scaled(points))
    return np.where(value < len(values.values), apart, values.missing_distance)
