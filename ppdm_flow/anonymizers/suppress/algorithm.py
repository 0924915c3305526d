"""Suppress: rare values of each attribute by itself, then the small classes that are left."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.naming import require
from ppdm_flow.anonymizers.suppress.account import Account, charts, figures, findings
from ppdm_flow.anonymizers.suppress.spec import SuppressParams, chosen
from ppdm_flow.anonymizers.suppress.transform import Cells, SuppressTransform
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.local_recoding.suppression import Suppression, enough, suppressed
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, Column
from ppdm_flow.tables.counts import Counts

Ints = npt.NDArray[np.int64]


class Suppress:
    """Counts distinct rows once and decides combination by combination."""

    def __init__(self, params: SuppressParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Find what to suppress."""
        names, k = chosen(self.params, Scope(ctx.step, ctx.attributes, ctx.requirements, ctx.nulls))
        every = tuple(dict.fromkeys((*names, *self.params.rare)))
        require(every, data.schema.names, ctx.step)
        joins = ctx.nulls is not Nulls.OWN_CATEGORY and self.params.small == "cells"
        cells = tuple(self._cells(data.counts([name]), joined=joins and name in names) for name in every)
        over = tuple(every.index(name) for name in names)
        counts = data.counts(list(names))
        dense = np.zeros((len(counts), len(names)), dtype=np.int64)
        for i, j in enumerate(over):
            column = Column(counts.of(names[i]), counts.names(names[i]))
            dense[:, i] = cells[j].dense(column, ctx.step)
        classes = self._classes(dense, counts.counts, k or 1, names)
        account = Account(names, dense, counts.counts, classes)
        risky = np.flatnonzero(classes.risky)
        known, first = np.unique(dense[risky], axis=0, return_index=True)
        at = risky[first]
        transform = SuppressTransform(
            ctx.step, cells, over, known.astype(np.int32), (classes.codes[at] == 0) & (known != 0), classes.lost[at]
        )
        rare = {c.name: self._rare_rows(c, data) for c in cells if c.name in self.params.rare}
        return Fitted(
            transform,
            figures=figures(account, rare),
            findings=findings(ctx.step, cells, account, wanted=self.params.small == "rows"),
            charts=charts(ctx.step, account),
        )

    def _cells(self, counts: Counts, *, joined: bool) -> Cells:
        (name,) = counts.columns
        texts = counts.names(name).to_pylist()
        codes, real = counts.of(name), counts.of(name) >= 0
        rows = np.bincount(codes[real], counts.counts[real], len(texts))
        bound = self.params.rare.get(name)
        rare = rows < (bound.rows(counts.total) if bound else 0)
        return Cells(name, tuple(texts), rare, joined and bool((codes == MISSING).any()))

    def _rare_rows(self, cells: Cells, data: DataView) -> int:
        counts = data.counts([cells.name])
        codes = counts.of(cells.name)
        return int(counts.counts[(codes >= 0) & np.append(cells.rare, [False, False])[codes]].sum())

    def _classes(self, dense: Ints, weights: Ints, k: int, names: tuple[str, ...]) -> Suppression:
        if self.params.small == "cells" and names:
            return suppressed(dense, weights, k, [self.params.importance.get(n, 1.0) for n in names])
        small = ~enough(dense, weights, k) if names else np.zeros(len(dense), dtype=np.bool_)
        return Suppression(dense, small, small)
