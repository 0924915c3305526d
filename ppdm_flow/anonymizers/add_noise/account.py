"""What the step tells: how large the noise is beside the data, and what a recipient needs to correct for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ppdm_flow.anonymizers.add_noise.noise import share_beyond
from ppdm_flow.anonymizers.add_noise.spec import PUBLISHED, NoiseParams
from ppdm_flow.anonymizers.add_noise.transform import NoiseTransform, NoisyAttribute
from ppdm_flow.anonymizers.number_columns import present_cells, seconds_factor
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Figure, Finding
from ppdm_flow.mining.moments.moments import mean_of
from ppdm_flow.sdk.view import DataView

_NONE = "the column has one value at most"


def figures(data: DataView, transform: NoiseTransform, deviations: Mapping[str, float]) -> dict[str, Figure]:
    """Return figures of each attribute: expected ones, since fitting draws nothing."""
    out: dict[str, Figure] = {}
    for own in transform.attributes:
        deviation = deviations[own.name]
        if deviation > 0.0:
            change = np.hypot((1.0 - own.shrink) * deviation, own.shrink * own.sd)
            out[f"{own.name}.noise_to_sd"] = Figure(own.sd / deviation, "standard deviations")
            out[f"{own.name}.change"] = Figure(float(change / deviation), "standard deviations")
        else:
            out[f"{own.name}.noise_to_sd"] = Figure(None, "standard deviations", note=_NONE)
            out[f"{own.name}.change"] = Figure(None, "standard deviations", note=_NONE)
        if transform.params.bounded:
            out[f"{own.name}.beyond_bounds"] = _beyond(data, own, transform.params.distribution)
    return out


def _beyond(data: DataView, own: NoisyAttribute, distribution: str) -> Figure:
    """Return the expected share of cells that bounds change: the mean over cells of their probabilities."""
    if own.sd == 0.0:
        return Figure(None, "share", note="there is no noise")

    def shares(values: Any) -> Any:
        total = np.zeros(len(values))
        if own.low is not None:
            total = total + share_beyond((values - own.low) / own.sd, distribution)
        if own.high is not None:
            total = total + share_beyond((own.high - values) / own.sd, distribution)
        return total

    cells = present_cells(data, own.name, own.kind)
    share = mean_of((shares(values.astype(np.float64)), weights) for values, weights in cells)
    return Figure(share, "share", note="" if share is not None else "the column has no number")


def artifact(transform: NoiseTransform, step: str) -> dict[str, Any]:
    """Return `noise.json`: the step and its parameters; standard deviations where they are stated or published."""
    params = transform.params
    told = params.sd is not None or params.publish
    entries: list[dict[str, Any]] = []
    for own in transform.attributes:
        entry: dict[str, Any] = {"attribute": own.name, "type": own.kind.value, "rounded_to_decimals": own.decimals}
        if told:
            entry["sd"] = own.sd / seconds_factor(own.kind)
        if params.keep_moments and (params.sd is None or params.publish):
            entry["multiplied_by"] = own.shrink
        entries.append(entry)
    document: dict[str, Any] = {
        "version": 1,
        "step": step,
        "distribution": params.distribution,
        "relative_scale": None if params.sd is not None else params.scale,
        "correlated": params.correlated,
        "keep_moments": params.keep_moments,
        "bounds": {"min": params.min, "max": params.max, "outside": params.outside} if params.bounded else None,
        "attributes": entries,
    }
    if params.publish and params.correlated:
        document["covariance"] = covariance(transform).tolist()
    return document


def covariance(transform: NoiseTransform) -> Any:
    """Return the covariance matrix of the noise, in the order of attributes and in the units of `sd`."""
    rows = np.array([own.loadings / seconds_factor(own.kind) for own in transform.attributes])
    return np.array([[float(np.sum(a * b)) for b in rows] for a in rows])


def findings(step: str, params: NoiseParams) -> tuple[Finding, ...]:
    """Say that relative noise tells the standard deviations of the original."""
    if params.sd is not None and not (params.publish and params.keep_moments):
        return ()
    what = "standard deviations" + (" and covariances" if params.correlated else "")
    if params.publish:
        text = f"`{step}` publishes in `noise.json` the {what} of its noise, which tell those of the original data"
        return (Finding(PUBLISHED, Severity.WARNING, text, step),)
    text = (
        f"the noise of `{step}` is relative to the {what} of the original data: these are left out of `noise.json`"
        " (`publish: true` puts them in), but whoever knows `scale` can estimate them from the release"
    )
    return (Finding(PUBLISHED, Severity.INFO, text, step),)
