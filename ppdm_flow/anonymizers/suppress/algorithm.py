"""Suppress: rare values of each attribute by itself, then the small classes that are left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.class_models.people import subject_read
from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.naming import carried, require, subject_of
from ppdm_flow.anonymizers.subject_column import people_of
from ppdm_flow.anonymizers.suppress.spec import SuppressParams, beside, chosen, drops_links, served
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.class_people.linked_rows import standing_out
from ppdm_flow.mining.local_recoding.suppression import Suppression, enough, people_in, suppressed
from ppdm_flow.mining.people.known_rows import CombinationLimitError
from ppdm_flow.mining.people.linkage import linked_rows
from ppdm_flow.mining.recoding.kernels import keyed, numbered, places_of
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SPECIALS, Column
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


class Suppress:
    """Counts distinct rows once and decides combination by combination."""

    def __init__(self, params: SuppressParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Find what to suppress."""
        scope = Scope(ctx.step, ctx.attributes, ctx.requirements, ctx.nulls, people=ctx.people)
        names, k = chosen(self.params, scope)
        every = tuple(dict.fromkeys((*names, *self.params.rare)))
        require((*every, *subject_read(scope)), data.schema.names, ctx.step)
        joins = ctx.nulls is not Nulls.OWN_CATEGORY and self.params.small == "cells"
        cells = tuple(self._cells(data.counts([name]), joined=joins and name in names) for name in every)
        over = tuple(every.index(name) for name in names)
        linking = () if self.params.links == "keep" else beside(ctx.attributes)
        read = tuple(dict.fromkeys((*every, *(n for n in linking if n in data.schema.names))))
        rows = RowsWithPersons.of(data, read, ctx) if names or drops_links(self.params, scope) else None
        dense, weights = self._dense(data, cells, over, rows, ctx)
        classes = self._classes(dense, weights, k or 1, names, None if rows is None else rows.persons)
        dropped = np.zeros(0, dtype=np.int64)
        first = classes
        if rows is not None:
            linking_columns = self._links(rows, cells, over, classes, scope)
            gone = linking_columns.left_out(rows.persons, classes.codes, classes.lost, k or 1)
            dropped = np.sort(rows.table.rows[gone & ~classes.lost])
            classes = Suppression(classes.codes, classes.risky, gone)
        account = SuppressionAccount(
            names, dense, weights, classes, None if rows is None else rows.persons, len(dropped)
        )
        risky = np.flatnonzero(first.risky)
        known, place = np.unique(dense[risky], axis=0, return_index=True)
        at = risky[place]
        holes, lost = (first.codes[at] == 0) & (known != 0), first.lost[at]
        transform = SuppressTransform(ctx.step, cells, over, known.astype(np.int32), holes, lost, dropped)
        rare = {c.name: self._rare_rows(c, data) for c in cells if c.name in self.params.rare}
        return Fitted(
            transform,
            figures=figures(account, rare),
            findings=findings(ctx.step, cells, account, wanted=self.params.small == "rows"),
            charts=charts(ctx.step, account),
        )

    def _dense(
        self,
        data: DataView,
        cells: tuple[RareCells, ...],
        over: tuple[int, ...],
        rows: RowsWithPersons | None,
        ctx: StepContext,
    ) -> tuple[Ints, Ints]:
        """Return the codes of the classes' attributes, of distinct rows or row by row, and how many rows each is."""
        names = [cells[j].name for j in over]
        counts = data.counts(names) if rows is None else None
        weights = np.ones(0 if rows is None else len(rows.table), dtype=np.int64) if counts is None else counts.counts
        dense = np.zeros((len(weights), len(over)), dtype=np.int64)
        for i, j in enumerate(over):
            if counts is not None:
                dense[:, i] = cells[j].dense(Column(counts.of(names[i]), counts.names(names[i])), ctx.step)
            elif rows is not None:
                dense[:, i] = cells[j].dense(rows.table[names[i]], ctx.step)
        return dense, weights

    def _links(
        self,
        rows: RowsWithPersons,
        cells: tuple[RareCells, ...],
        over: tuple[int, ...],
        classes: Suppression,
        scope: Scope,
    ) -> LinkingColumns:
        """Return what can link the rows that are left."""
        if scope.people is None:
            raise ValueError("people are counted where a policy says so")
        released = {c.name: c.dense(rows.table[c.name], scope.step) - np.int32(SPECIALS) for c in cells}
        released |= {cells[j].name: (classes.codes[:, i] - SPECIALS).astype(np.int32) for i, j in enumerate(over)}
        own = tuple(cells[j].name for j in over)
        pseudonyms = {n for n, f in scope.attributes.items() if scope.people.subject in f.lineage.computed_from}
        return LinkingColumns(
            codes_of(rows.table, cells, released),
            frozenset(pseudonyms),
            self._people_requirements(own, scope),
            scope.people,
            scope.nulls,
            self.params.links == "drop",
        )

    def _people_requirements(self, own: tuple[str, ...], scope: Scope) -> tuple[PeopleRequirement, ...]:
        """Return what linked rows are looked at for: all requirements on groups, where none may be left."""
        if self.params.links == "keep":
            return ()
        if self.params.links == "drop":
            every = (r for r in carried(Requirement, scope.requirements, scope.attributes) if r.grouping)
            groupings = {(r.grouping, (*r.grouping, *r.secrets)) for r in every}
            both = {(names, counted) for names, c in groupings for counted in (names, c)}
            return tuple(PeopleRequirement(names, 1, counted) for names, counted in sorted(both | {(own, own)}))
        k = chosen(self.params, scope)[1] or 1
        served_requirements = served(self.params, scope)
        return tuple(PeopleRequirement(r.attributes, r.k, r.attributes) for r in served_requirements) or (
            PeopleRequirement(own, k, own),
        )

    def _cells(self, counts: Counts, *, joined: bool) -> RareCells:
        (name,) = counts.columns
        texts = counts.names(name).to_pylist()
        codes, real = counts.of(name), counts.of(name) >= 0
        rows = np.bincount(codes[real], counts.counts[real], len(texts))
        bound = self.params.rare.get(name)
        rare = rows < (bound.rows(counts.total) if bound else 0)
        return RareCells(name, tuple(texts), rare, joined and bool((codes == MISSING).any()))

    def _rare_rows(self, cells: RareCells, data: DataView) -> int:
        counts = data.counts([cells.name])
        codes = counts.of(cells.name)
        return int(counts.counts[(codes >= 0) & np.append(cells.rare, [False, False])[codes]].sum())

    def _classes(self, dense: Ints, weights: Ints, k: int, names: tuple[str, ...], persons: Ints | None) -> Suppression:
        if self.params.small == "cells" and names:
            return suppressed(dense, weights, k, [self.params.importance.get(n, 1.0) for n in names], persons)
        small = ~enough(dense, weights, k, persons) if names else np.zeros(len(dense), dtype=np.bool_)
        return Suppression(dense, small, small)


# Suppress where people count: whose rows there are, and the rows that classes of single rows do not protect.


@dataclass(frozen=True, slots=True, eq=False)
class RowsWithPersons:
    """The rows one by one, with ``persons`` (rows,)."""

    table: Table
    persons: Ints

    @classmethod
    def of(cls, data: DataView, columns: Sequence[str], ctx: StepContext) -> RowsWithPersons | None:
        """Read rows; None where rows count, or everybody has but one. Raises PluginError where a row is nobody's."""
        subject = subject_of(ctx.attributes)
        if ctx.people is None or subject is None or not data.row_count:
            return None
        persons = people_of(data.table([subject]), subject)
        if int(np.bincount(persons).max()) == 1:
            return None
        return cls(data.table(list(columns)), persons)


@dataclass(frozen=True, slots=True)
class PeopleRequirement:
    """``k`` people for the classes over ``names``; rows with a missing cell in ``counted`` may be left out of them."""

    names: tuple[str, ...]
    k: int
    counted: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class LinkingColumns:
    """Columns that can link rows: ``codes`` (rows,) of each; ``pseudonyms`` are those that identify the person.

    ``requirements``: what there must be k people for. ``drop``: no row may be linked.
    """

    codes: Mapping[str, Codes]
    pseudonyms: frozenset[str]
    requirements: tuple[PeopleRequirement, ...]
    people: PeopleCount
    nulls: Nulls
    drop: bool

    def left_out(self, persons: Ints, classes: Ints, lost: Bools, k: int) -> Bools:
        """Return all rows to leave out, the ``lost`` ones among them.

        ``classes`` (rows, attributes) are codes of classes, which must have ``k`` people. Raises PluginError where
        there are more combinations than can be compared.
        """
        gone = lost.copy()
        while True:
            here = np.flatnonzero(~gone)
            more = np.zeros(len(here), dtype=np.bool_)
            if k > 1:
                more = ~enough(classes[here], np.ones(len(here), dtype=np.int64), k, persons[here])
            for requirement in self.requirements if not more.any() else ():
                more |= self._of(requirement, persons, here)
            if not more.any():
                return gone
            gone[here[more]] = True

    def _of(self, requirement: PeopleRequirement, persons: Ints, here: Ints) -> Bools:
        names = tuple(n for n in requirement.names if n in self.codes)
        outside = [n for n in self.codes if n not in names]
        own = np.stack([self.codes[n][here] for n in names], axis=1) if names else np.zeros((len(here), 1), np.int32)
        counted = np.ones(len(here), dtype=np.bool_)
        for name in self.codes.keys() & requirement.counted if self.nulls is Nulls.EXCLUDE else ():
            counted &= self.codes[name][here] != MISSING
        rows = here[counted]
        pseudonyms = [self.codes[n][rows] for n in outside if n in self.pseudonyms]
        linked = linked_rows(
            persons[rows], pseudonyms, [self.codes[n][rows] for n in outside if n not in self.pseudonyms]
        ).rows
        out = np.zeros(len(here), dtype=np.bool_)
        if self.drop or self.nulls is Nulls.WILDCARD or not linked.any():
            out[counted] = linked
            return out
        ids = numbered(keyed(own[counted].astype(np.int64) + SPECIALS))[0]
        try:
            out[counted] = standing_out(persons[rows], ids, linked, requirement.k, self.people.known_rows)
        except CombinationLimitError as fault:
            raise PluginError(Diagnostic(fault.code, fault.text)) from None
        return out


def codes_of(table: Table, cells: Sequence[RareCells], released: Mapping[str, Codes]) -> dict[str, Codes]:
    """Return the codes of each column as it is released: ``released`` ones are known, others are as they came."""
    known = {c.name for c in cells}
    return {n: released[n] if n in known else _codes(table[n]) for n in table.names}


def _codes(column: Column) -> Codes:
    if not isinstance(column, NumericColumn):
        return column.codes
    codes = np.unique(column.values, return_inverse=True)[1].astype(np.int32)
    return codes if column.missing is None else np.where(column.missing, np.int32(MISSING), codes)


@dataclass(frozen=True, slots=True, eq=False)
class RareCells:
    """One attribute: ``texts`` that it may have, and which of them are ``rare`` (texts,).

    ``joined``: missing cells are suppressed as well.
    """

    name: str
    texts: tuple[str, ...]
    rare: Bools
    joined: bool = False

    def dense(self, column: Column, step: str) -> Codes:
        """Return 0 for suppressed and rare cells, 1 for missing ones, the place of the text plus 2 for others.

        Raises PluginError for a value that the fit did not see.
        """
        place = pc.index_in(column.categories, value_set=pa.array(self.texts, pa.string())).fill_null(-1)
        at = place.to_numpy(zero_copy_only=False).astype(np.int32)
        known = np.where(np.append(self.rare, False)[at], np.int32(0), at + np.int32(SPECIALS))
        table = np.concatenate([np.where(at < 0, -1, known), [0, 0 if self.joined else 1]]).astype(np.int32)
        codes = table[column.codes]  # -1 and -2 are the last two
        if (codes < 0).any():
            text = f"step `{step}` meets values in the column `{self.name}` that it did not see when it was fitted"
            raise PluginError(Diagnostic("PPF789", text))
        return codes

    def column(self, dense: Codes) -> Column:
        """Return dense codes as a column."""
        return Column(dense - np.int32(SPECIALS), pa.array(self.texts, pa.string())).compact()


@dataclass(frozen=True, slots=True, eq=False)
class SuppressTransform(DeterministicTransform):
    """``known`` (combinations, classes' attributes) are dense codes in small classes, ``holes`` what is suppressed.

    ``lost`` (combinations,) are dropped. ``over`` are the places in ``cells`` of the classes' attributes. ``dropped``
    are the ascending numbers of further rows that are: of people who would stand out.
    """

    step: str
    cells: tuple[RareCells, ...]
    over: tuple[int, ...]
    known: Codes
    holes: Bools
    lost: Bools
    dropped: Ints

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Suppress cells, and leave out rows."""
        dense = [c.dense(part[c.name], self.step) for c in self.cells]
        gone = np.zeros(len(part), dtype=np.bool_)
        if len(self.known) and len(part):
            at = places_of(np.stack([dense[j] for j in self.over], axis=1), self.known)
            gone = (at >= 0) & self.lost[at]
            for i, j in enumerate(self.over):
                dense[j] = np.where((at >= 0) & self.holes[at, i], np.int32(0), dense[j])
        if len(self.dropped) and len(part):
            place = np.minimum(np.searchsorted(self.dropped, part.rows), len(self.dropped) - 1)
            gone |= self.dropped[place] == part.rows
        out = part.replaced({c.name: c.column(d) for c, d in zip(self.cells, dense, strict=True)})
        return out.take(~gone) if gone.any() else out

    def describe(self) -> Mapping[str, Any]:
        """Return how many values and combinations are concerned."""
        rare = {c.name: int(c.rare.sum()) for c in self.cells if c.rare.any()}
        further = {"rows_dropped": len(self.dropped)} if len(self.dropped) else {}
        lost = int(self.lost.sum())
        return {"rare_values": rare, "combinations": len(self.known), "combinations_dropped": lost, **further}


# What the step tells: cells and rows that are suppressed, and the classes that are left.


@dataclass(frozen=True, slots=True, eq=False)
class SuppressionAccount:
    """``dense`` (combinations, attributes) before classes were looked at, of ``weights`` rows each, and what came.

    ``persons`` (combinations,): where people count, whose row each is; ``further`` rows were left out since their
    people would stand out.
    """

    names: tuple[str, ...]
    dense: Ints
    weights: Ints
    suppression: Suppression
    persons: Ints | None = None
    further: int = 0

    @property
    def rows(self) -> int:
        """All rows."""
        return int(self.weights.sum())

    @property
    def holes(self) -> Ints:
        """The cells of each attribute that classes cost, in rows that stay."""
        new = (self.suppression.codes == 0) & (self.dense != 0) & ~self.suppression.lost[:, None]
        return np.asarray((new * self.weights[:, None]).sum(axis=0))

    def sizes(self) -> Ints:
        """Return the rows of each released class."""
        stay = ~self.suppression.lost
        _, ids = np.unique(keyed(self.suppression.codes[stay]), return_inverse=True)
        return np.bincount(ids, self.weights[stay]).astype(np.int64)

    def fewest_people(self) -> int | None:
        """Return the people of the smallest released class; None for none."""
        stay = ~self.suppression.lost
        if self.persons is None or not stay.any():
            return None
        _, ids = np.unique(keyed(self.suppression.codes[stay]), return_inverse=True)
        return int(people_in(ids.astype(np.int64), int(ids.max()) + 1, self.persons[stay]).min())


def figures(account: SuppressionAccount, rare: Mapping[str, int]) -> dict[str, Figure]:
    """Return how much is suppressed, for which reason, and how large the classes are."""
    out = {f"{name}.rare_cells": Figure(rows, "cells") for name, rows in rare.items()}
    if not account.names:
        return out
    rows, lost = account.rows, int(account.weights[account.suppression.lost].sum())
    holes, sizes = account.holes, account.sizes()
    cells = max(1, rows * len(account.names))
    empty = "" if len(sizes) else "no row is left"
    out |= {
        "rows_at_risk": Figure(int(account.weights[account.suppression.risky].sum()), "rows"),
        "suppressed_cells": Figure(int(holes.sum()), "cells"),
        "suppressed_rows": Figure(lost, "rows"),
        "suppressed_share": Figure(lost / max(1, rows), "share"),
        "ncp": Figure((int(holes.sum()) + lost * len(account.names)) / cells, "share", note=_ALSO),
        "classes": Figure(len(sizes), "classes"),
        "smallest_class": Figure(int(sizes.min()) if len(sizes) else None, "rows", note=empty),
        "average_class_size": Figure(float(sizes.mean()) if len(sizes) else None, "rows", note=empty),
        "discernibility": Figure(float((sizes.astype(np.float64) ** 2).sum() + lost * float(rows)), "squared rows"),
    }
    if account.persons is not None:
        out["fewest_people"] = Figure(account.fewest_people(), "people", note=empty)
        out["standing_out_rows"] = Figure(account.further, "rows")
    each = zip(account.names, holes.tolist(), strict=True)
    return out | {f"{name}.suppressed_cells": Figure(int(n), "cells") for name, n in each}


_ALSO = "cells that classes cost; rare values are counted apart"


def findings(
    step: str, cells: Sequence[RareCells], account: SuppressionAccount, *, wanted: bool
) -> tuple[Finding, ...]:
    """Report losses beyond the requested ones; ``wanted``: rows were to be dropped."""
    texts = []
    joined = [f"`{c.name}`" for c in cells if c.joined]
    if joined:
        text = f"`{step}` suppressed the missing cells of {', '.join(joined)}"
        texts.append(Finding("PPF739", Severity.WARNING, text, step))
    lost = int(account.weights[account.suppression.lost].sum()) - account.further
    if lost and not wanted:
        text = f"`{step}` dropped {lost:,} rows: with all their cells suppressed they would still be a class below k"
        texts.append(Finding("PPF884", Severity.WARNING, text, step))
    return tuple(texts)


def charts(step: str, account: SuppressionAccount) -> tuple[Chart, ...]:
    """Show the cells of each attribute that classes cost."""
    holes = account.holes
    if not holes.sum():
        return ()
    return (
        Chart(
            id="suppressed_cells",
            title=f"Step {step}: cells that small classes cost",
            kind="bars",
            x=account.names,
            series=(FigureSeries("suppressed cells", tuple(float(h) for h in holes)),),
            y_label="cells",
        ),
    )
