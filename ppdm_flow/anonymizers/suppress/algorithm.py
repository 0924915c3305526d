"""Suppress: rare values of each attribute by itself, then the small classes that are left."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.class_models.people import subject_read
from ppdm_flow.anonymizers.naming import carried, require
from ppdm_flow.anonymizers.suppress.account import SuppressionAccount, charts, figures, findings
from ppdm_flow.anonymizers.suppress.people import LinkingColumns, PeopleRequirement, RowsWithPersons, codes_of
from ppdm_flow.anonymizers.suppress.spec import SuppressParams, beside, chosen, drops_links, served
from ppdm_flow.anonymizers.suppress.transform import RareCells, SuppressTransform
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.local_recoding.suppression import Suppression, enough, suppressed
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SPECIALS, Column
from ppdm_flow.tables.counts import Counts

Ints = npt.NDArray[np.int64]


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
            asked = self._links(rows, cells, over, classes, scope)
            gone = asked.left_out(rows.persons, classes.codes, classes.lost, k or 1)
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
            self._asked(own, scope),
            scope.people,
            scope.nulls,
            self.params.links == "drop",
        )

    def _asked(self, own: tuple[str, ...], scope: Scope) -> tuple[PeopleRequirement, ...]:
        """Return what linked rows are looked at for: all requirements on groups, where none may be left."""
        if self.params.links == "keep":
            return ()
        if self.params.links == "drop":
            every = (r for r in carried(Requirement, scope.requirements, scope.attributes) if r.grouping)
            asked = {(r.grouping, (*r.grouping, *r.secrets)) for r in every}
            both = {(names, counted) for names, c in asked for counted in (names, c)}
            return tuple(PeopleRequirement(names, 1, counted) for names, counted in sorted(both | {(own, own)}))
        k = chosen(self.params, scope)[1] or 1
        held = served(self.params, scope)
        return tuple(PeopleRequirement(r.attributes, r.k, r.attributes) for r in held) or (
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
