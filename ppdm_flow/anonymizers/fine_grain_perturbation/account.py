"""What the report and the recipient are told of the operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ppdm_flow.anonymizers.fine_grain_perturbation.channel import Channel
from ppdm_flow.anonymizers.fine_grain_perturbation.comparison import comparison
from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import record_utility
from ppdm_flow.anonymizers.fine_grain_perturbation.worth import Worth
from ppdm_flow.core.results import Figure
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity


def figures(channels: Sequence[Channel], worths: Mapping[str, Worth]) -> dict[str, Figure]:
    """Return the figures of every channel; their names carry the attribute where there are several."""
    found: dict[str, Figure] = {}
    for channel in channels:
        prefix = f"{channel.operator.attribute}." if len(channels) > 1 else ""
        retention = channel.operator.retention
        found |= {
            f"{prefix}record_utility": _probability(record_utility(channel.frequency, retention)),
            f"{prefix}uniform_record_utility": _probability(record_utility(channel.frequency, channel.choice.uniform)),
            f"{prefix}lowest_retention": _probability(float(retention.min())),
            f"{prefix}highest_retention": _probability(float(retention.max())),
        }
        found |= {f"{prefix}{name}": figure for name, figure in comparison(channel)}
        worth = worths.get(channel.operator.attribute)
        if worth is not None:
            found |= {f"{prefix}{name}": figure for name, figure in worth.figures().items()}
    return found


def artifact(channels: Sequence[Channel]) -> dict[str, Any]:
    """Return the content of ``operator.json``: all that estimating from the released data needs."""
    return {"version": 1, "operators": [_operator(c) for c in channels]}


def _operator(channel: Channel) -> dict[str, Any]:
    return {
        **channel.operator.document(),
        "directions": str(channel.requirement.directions),
        "bounds": _as_written(channel.requirement),
    }


def _as_written(requirement: Sensitivity) -> Mapping[str, Any]:
    """The bounds as the policy states them: those that a tolerance implies would publish exact frequencies."""
    bounds = [
        {"value": b.value, "r1": b.r1, "r2": b.r2} | ({"given": b.given} if b.given else {}) for b in requirement.bounds
    ]
    default = requirement.default and {"r1": requirement.default[0], "r2": requirement.default[1]}
    return {"values": bounds, "tolerance": requirement.tolerance, "default": default}


def _probability(value: float) -> Figure:
    return Figure(value, "probability")
