"""The search, and what becomes of the rows that it does not release."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ppdm_flow.anonymizers.class_models.required import RequiredModels
from ppdm_flow.anonymizers.full_domain_recoding.spec import RecodingParams
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.class_people.nodes import NodePeople
from ppdm_flow.mining.recoding import costs
from ppdm_flow.mining.recoding.evaluation import NodeResult, Watch
from ppdm_flow.mining.recoding.ground import WeightedRows
from ppdm_flow.mining.recoding.grouping import as_one
from ppdm_flow.mining.recoding.search import Solution, optimum

COSTS: dict[str, costs.RecodingCost] = {
    "loss": costs.DomainLoss(),
    "ncp": costs.DomainLoss(geometric=False),
    "precision": costs.Precision(),
    "discernibility": costs.Discernibility(),
    "average_class_size": costs.ClassSize(),
    "entropy": costs.Entropy(),
    "classification": costs.Misclassified(0),
}


@dataclass(frozen=True, slots=True, eq=False)
class RecodingResult:
    """``best`` is the node to recode to; ``drops``: suppressed rows are left out.

    ``refused``: their cells were to be suppressed, but then they would be a class that breaks a requirement.
    """

    solution: Solution
    best: NodeResult
    drops: bool
    refused: bool = False


def solve(
    ground: WeightedRows,
    models: RequiredModels,
    params: RecodingParams,
    watch: Watch | None,
    people: NodePeople | None = None,
) -> RecodingResult:
    """Search. Raises PluginError where no node is good enough.

    Rows whose cells are suppressed stay in the table that shares and distances are compared with; dropped ones do not.
    Where ``people`` count they stay for the sake of k alone: a class that they join may break anything else.
    """
    limit = math.floor(params.suppression * ground.records + 1e-9)
    if params.suppress == "cells" and ground.population is None and not (people is not None and models.others):
        kept = _searched(ground, models, params, limit, watch, people, at_released=False)
        if kept.best is not None and _can_stay(kept.best, models, ground, people):
            return RecodingResult(kept, kept.best, drops=False)
        if not models.compares and kept.best is not None:
            return RecodingResult(kept, kept.best, drops=True, refused=True)
    search = _searched(ground, models, params, limit, watch, people, at_released=True)
    if search.best is None:
        raise _none_is_good(ground, limit, search)
    return RecodingResult(
        search, search.best, drops=True, refused=params.suppress == "cells" and search.best.suppressed > 0
    )


def _searched(
    ground: WeightedRows,
    models: RequiredModels,
    params: RecodingParams,
    limit: int,
    watch: Watch | None,
    people: NodePeople | None,
    *,
    at_released: bool,
) -> Solution:
    cost = COSTS[params.cost]
    most = params.most_nodes
    return optimum(ground, models.models, cost, limit, at_released=at_released, most=most, watch=watch, people=people)


def _can_stay(best: NodeResult, models: RequiredModels, ground: WeightedRows, people: NodePeople | None) -> bool:
    """Whether the suppressed rows together are a class that keeps every model."""
    lost = np.flatnonzero(~best.kept)
    if not len(lost):
        return True
    if people is not None:
        return people.are_enough(best.grouping, ~best.kept)
    together = as_one(best.grouping, lost)
    return all(
        bool(model.keeps(together, best.grouping.base(model.attribute, ground.values)).all()) for model in models.models
    )


def _none_is_good(ground: WeightedRows, limit: int, solution: Solution) -> PluginError:
    text = (
        f"no levels keep the requirements with at most {limit} of {ground.records} rows suppressed"
        f" ({solution.checked} of {solution.size} nodes of the lattice had to be looked at)"
    )
    if not solution.proven:
        text = (
            f"among the {solution.checked} of {solution.size} nodes of the lattice that were looked at, none keeps the"
            f" requirements with at most {limit} of {ground.records} rows suppressed"
        )
    return PluginError(Diagnostic("PPF806", text, help="allow more `suppression`, higher `levels`, or a smaller bound"))
