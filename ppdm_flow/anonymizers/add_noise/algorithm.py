"""Noise for numbers: how much of it, from parameters and from the standard deviations of the data."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ppdm_flow.anonymizers.add_noise.account import artifact, figures, findings
from ppdm_flow.anonymizers.add_noise.noise import Floats, factor
from ppdm_flow.anonymizers.add_noise.spec import NoiseParams
from ppdm_flow.anonymizers.add_noise.transform import NoiseTransform, NoisyAttribute
from ppdm_flow.anonymizers.number_columns import (
    MOST_DECIMALS,
    Kinds,
    bound_of,
    decimals_of,
    kinds_of,
    moments_of,
    seconds_factor,
)
from ppdm_flow.anonymizers.numeric_attributes import BEYOND
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView

_DIGITS_BELOW = 6
"""Floats are released to at most so many digits below the noise's standard deviation. The last bits of a sum of
doubles tell which terms it can have (Mironov, On significance of the least significant bits for differential privacy,
CCS 2012)."""


@dataclass(frozen=True, slots=True, eq=False)
class NoiseSpread:
    """An attribute's ``mean`` and ``deviation``, and the ``loadings`` of its noise, shape (d,)."""

    mean: float
    deviation: float
    loadings: Floats


class AddNoise:
    """Adds noise to numbers: independent, or with the covariances of the data.

    Source: Kim, A method for limiting disclosure in microdata based on random noise and transformation, ASA 1986;
    Tendick, Matloff, A modified random perturbation method for database security, ACM TODS 19 (1994).
    """

    def __init__(self, params: NoiseParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Measure standard deviations. Raises PluginError for labels, and for noise relative to one value only."""
        kinds = kinds_of(self.params.attributes, data, ctx)
        spreads = self._correlated(data, kinds) if self.params.correlated else self._apart(data, kinds)
        attributes = tuple(self._attribute(data, name, kind, spreads[name]) for name, kind in kinds.items())
        transform = NoiseTransform(self.params, attributes)
        deviations = {name: spread.deviation for name, spread in spreads.items()}
        return Fitted(
            transform,
            figures(data, transform, deviations),
            artifacts={"noise.json": artifact(transform, ctx.step)},
            findings=findings(ctx.step, self.params),
        )

    def _correlated(self, data: DataView, kinds: Kinds) -> dict[str, NoiseSpread]:
        """Noise whose covariance is scale^2 times that of the rows that miss no attribute."""
        moments = moments_of(data, kinds)
        lower = self.params.scale * factor(moments.covariance)
        return {
            name: NoiseSpread(
                float(moments.means[j]), self._deviation(name, moments.rows, moments.deviations[j]), lower[j]
            )
            for j, name in enumerate(kinds)
        }

    def _apart(self, data: DataView, kinds: Kinds) -> dict[str, NoiseSpread]:
        """Noise for each attribute by itself."""
        spreads = {}
        for j, (name, kind) in enumerate(kinds.items()):
            moments = moments_of(data, {name: kind})
            deviation = self._deviation(name, moments.rows, moments.deviations[0])
            absolute = None if self.params.sd is None else self.params.sd * seconds_factor(kind)
            loadings = np.zeros(len(kinds))
            loadings[j] = self.params.scale * deviation if absolute is None else absolute
            spreads[name] = NoiseSpread(float(moments.means[0]), deviation, loadings)
        return spreads

    def _deviation(self, name: str, rows: int, deviation: float) -> float:
        if self.params.sd is None and rows and deviation == 0.0:
            text = f"the column `{name}` has one value only, so noise relative to its standard deviation is none"
            raise PluginError(Diagnostic(BEYOND, text, help="say how much in `sd`, or leave the column out"))
        return float(deviation)

    def _attribute(self, data: DataView, name: str, kind: AttributeType, spread: NoiseSpread) -> NoisyAttribute:
        params, sd = self.params, math.hypot(*spread.loadings.tolist())
        keeps = params.keep_moments and spread.deviation > 0.0
        shrink = 1.0 / math.sqrt(1.0 + (sd / spread.deviation) ** 2) if keeps else 1.0
        decimals = decimals_of(data, name, kind) if params.decimals == "original" else params.decimals
        if kind is AttributeType.FLOAT:
            finest = MOST_DECIMALS if sd == 0.0 else max(0, math.floor(_DIGITS_BELOW - math.log10(sd)))
            decimals = min(decimals, finest)
        unit = 10 ** (6 - min(6, decimals)) if kind is AttributeType.TIMESTAMP else 1
        low, high = (bound_of(text, name, kind) for text in (params.min, params.max))
        return NoisyAttribute(name, kind, spread.loadings, shrink, spread.mean, unit, decimals, low, high)
