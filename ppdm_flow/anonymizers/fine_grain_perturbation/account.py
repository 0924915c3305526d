"""What the report says of the operators that were taken, and of those that were not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ppdm_flow.anonymizers.fine_grain_perturbation.ceilings import Floats
from ppdm_flow.anonymizers.fine_grain_perturbation.channel import PerturbationChannel
from ppdm_flow.anonymizers.fine_grain_perturbation.general import LARGEST, SECONDS, general_optimum
from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import record_utility
from ppdm_flow.anonymizers.fine_grain_perturbation.reconstruction_error import expected_error
from ppdm_flow.anonymizers.fine_grain_perturbation.worth import BoundWorth
from ppdm_flow.core.results import Figure
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.requirements.sensitivities.value_bounds import stated_gamma


def comparison(channel: PerturbationChannel) -> Iterator[tuple[str, Figure]]:
    """Yield the record utility of general matrices and the expected reconstruction error of each operator.

    ``expected_reconstruction_error`` is sqrt(trace(P^-1 Cov(y) P^-T)) / n: the root of the expected squared distance
    between the shares that reconstruction by inverse gives and the original ones.
    """
    yield from _general(channel)
    error = "expected_reconstruction_error"
    yield error, _error(channel, channel.operator.retention)
    yield f"uniform_{error}", _error(channel, channel.choice.uniform)
    yield f"record_{error}", _error(channel, channel.choice.record)
    if channel.choice.aggregate is not None:
        yield f"aggregate_{error}", _error(channel, channel.choice.aggregate.retention)
        note = "what first-order conditions leave to gain, as a share of the squared error; 0 at a local optimum"
        yield "aggregate_gap", Figure(channel.choice.aggregate.gap, "share", note=note)


def _general(channel: PerturbationChannel) -> Iterator[tuple[str, Figure]]:
    size = channel.operator.size
    optimum = None
    note = f"left out: the attribute has {size:,} values, more than {LARGEST}"
    if size <= LARGEST:
        optimum = general_optimum(channel.frequency, channel.bounds.slack, channel.requirement.directions)
        note = "" if optimum is not None else f"left out: not found within {SECONDS:g} seconds"
    best = record_utility(channel.frequency, channel.choice.record)
    utility = None if optimum is None else optimum.utility
    yield "general_record_utility", Figure(utility, "probability", note=note)
    cost = None if utility is None else max(0.0, utility - best)
    yield "restriction_cost", Figure(cost, "probability", note=note)


def _error(channel: PerturbationChannel, retention: Floats) -> Figure:
    if not channel.rows:
        return Figure(None, "share", note="there are no rows")
    squared = float(expected_error(channel.frequency, retention)) / channel.rows
    if np.isinf(squared):
        return Figure(None, "share", note="values that are never kept cannot be told apart")
    return Figure(float(np.sqrt(squared)), "share")


def figures(channels: Sequence[PerturbationChannel], worths: Mapping[str, BoundWorth]) -> dict[str, Figure]:
    """Return the figures of every channel; their names carry the attribute where there are several."""
    figures: dict[str, Figure] = {}
    for channel in channels:
        prefix = f"{channel.operator.attribute}." if len(channels) > 1 else ""
        retention = channel.operator.retention
        figures |= {
            f"{prefix}record_utility": _probability(record_utility(channel.frequency, retention)),
            f"{prefix}uniform_record_utility": _probability(record_utility(channel.frequency, channel.choice.uniform)),
            f"{prefix}lowest_retention": _probability(float(retention.min())),
            f"{prefix}highest_retention": _probability(float(retention.max())),
        }
        figures |= {f"{prefix}{name}": figure for name, figure in comparison(channel)}
        worth = worths.get(channel.operator.attribute)
        if worth is not None:
            figures |= {f"{prefix}{name}": figure for name, figure in worth.figures().items()}
    return figures


def artifact(channels: Sequence[PerturbationChannel]) -> dict[str, Any]:
    """Return the content of ``operator.json``: all that estimating from the released data needs."""
    return {"version": 1, "operators": [_operator(c) for c in channels]}


def _operator(channel: PerturbationChannel) -> dict[str, Any]:
    return {
        **channel.operator.document(),
        "directions": str(channel.requirement.directions),
        "bounds": as_written(channel.requirement),
        "gamma": stated_gamma(channel.requirement, channel.operator.domain),
    }


def as_written(requirement: Sensitivity) -> Mapping[str, Any]:
    """The bounds as the policy states them: those that a tolerance implies would publish exact frequencies."""
    bounds = [
        {"value": b.value, "r1": b.r1, "r2": b.r2} | ({"given": b.given} if b.given else {}) for b in requirement.bounds
    ]
    default = requirement.fixed and {"r1": requirement.fixed[0], "r2": requirement.fixed[1]}
    return {"values": bounds, "tolerance": requirement.tolerance, "default": default}


def _probability(value: float) -> Figure:
    return Figure(value, "probability")
