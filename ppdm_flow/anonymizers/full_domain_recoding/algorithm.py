"""Full-domain recoding: the cheapest node of the lattice of generalizations at which the requirements hold."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.carrying import k_anonymity
from ppdm_flow.anonymizers.full_domain_recoding.ground import Scale, ground_of, marks_in
from ppdm_flow.anonymizers.full_domain_recoding.spec import Bounds, RecodingParams
from ppdm_flow.anonymizers.full_domain_recoding.transform import FullDomainTransform, recoding
from ppdm_flow.anonymizers.hierarchies.whole import whole
from ppdm_flow.anonymizers.presence import require
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.recoding import costs, models
from ppdm_flow.mining.recoding.ground import Ground
from ppdm_flow.mining.recoding.grouping import Grouping
from ppdm_flow.mining.recoding.look import Look
from ppdm_flow.mining.recoding.search import Solution, optimum
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import Counts

COSTS: dict[str, costs.Cost] = {
    "loss": costs.Loss(),
    "ncp": costs.Loss(geometric=False),
    "precision": costs.Precision(),
    "discernibility": costs.Discernibility(),
    "average_class_size": costs.ClassSize(),
    "entropy": costs.Entropy(),
    "classification": costs.Misclassified(0),
}


class FullDomainRecoding:
    """Counts distinct rows once, searches the lattice, and recodes row by row."""

    def __init__(self, params: RecodingParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Find the levels. Raises PluginError where no levels keep the requirements within the limit."""
        found = k_anonymity(ctx.requirements, ctx.attributes)
        names = self.params.grouped(found)
        require(names, data.schema.names, ctx.step)
        sensitive = data.schema.having(Role.TARGET)[:1] if self.params.cost == "classification" else ()
        counts = data.counts([*names, *(s for s in sensitive if s not in names)])
        scales = [self._scale(name, counts, data, ctx) for name in names]
        ground = ground_of(counts, scales, sensitive)
        least = max(k.k for k in found)
        limit = math.floor(self.params.suppression * ground.records + 1e-9)
        asked = [models.KAnonymous(least)]
        solution = optimum(ground, asked, COSTS[self.params.cost], limit, most=self.params.most_nodes)
        if solution.best is None:
            raise _none_is_good(ground, limit, solution)
        drops = self.params.suppress == "rows" or solution.best.suppressed < least
        figures = _figures(ground, solution, solution.best, scales)
        return Fitted(_transform(ctx.step, ground, scales, solution.best, drops), figures=figures)

    def _scale(self, name: str, counts: Counts, data: DataView, ctx: StepContext) -> Scale:
        facts = ctx.attributes.get(name)
        every = whole(name, facts.hierarchy if facts else None, data.domain(name).to_pylist(), ctx.home)
        bounds, top = self.params.levels.get(name, Bounds()), every.top
        high = top if bounds.max is None else bounds.max
        if max(bounds.min, high) > top:
            text = f"the hierarchy of `{name}` has {top} levels above the values; a higher one was asked for"
            raise PluginError(Diagnostic("PPF788", text))
        return Scale(name, every, marks_in(counts, name), bounds.min, high)


def _transform(step: str, ground: Ground, scales: Sequence[Scale], best: Look, drops: bool) -> FullDomainTransform:
    grouping = best.grouping
    ways = tuple(recoding(scale, level) for scale, level in zip(scales, grouping.node, strict=True))
    return FullDomainTransform(step, ways, _codes(ground, grouping, np.flatnonzero(~best.kept)), drops)


def _codes(ground: Ground, grouping: Grouping, which: npt.NDArray[np.intp]) -> npt.NDArray[np.int32]:
    rows = grouping.first[which]
    columns = [v.maps[at][c] for v, at, c in zip(ground.levels, grouping.node, ground.codes[rows].T, strict=True)]
    return np.stack(columns, axis=1).astype(np.int32)


def _figures(ground: Ground, solution: Solution, best: Look, scales: Sequence[Scale]) -> dict[str, Figure]:
    share = best.suppressed / max(1, ground.records)
    figures = {
        "cost": Figure(best.cost, "share"),
        "suppressed_rows": Figure(best.suppressed, "rows"),
        "suppressed_share": Figure(share, "share"),
        "classes": Figure(int((best.kept & (best.grouping.sizes > 0)).sum()), "classes"),
        "lattice_nodes": Figure(solution.size, "nodes"),
        "nodes_checked": Figure(solution.checked, "nodes"),
        "optimum_proven": Figure(int(solution.proven), "yes or no"),
    }
    levels = zip(scales, best.grouping.node, strict=True)
    return figures | {f"{s.name}.level": Figure(s.lowest + level, "levels") for s, level in levels}


def _none_is_good(ground: Ground, limit: int, solution: Solution) -> PluginError:
    text = (
        f"no levels keep the requirements with at most {limit} of {ground.records} rows suppressed"
        f" ({solution.checked} of {solution.size} nodes of the lattice had to be looked at)"
    )
    return PluginError(Diagnostic("PPF806", text, help="allow more `suppression`, higher `levels`, or a smaller bound"))
