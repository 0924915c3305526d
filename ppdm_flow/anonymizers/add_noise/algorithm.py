"""Noise for numbers: how much of it, from parameters and from the standard deviations of the data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from ppdm_flow.anonymizers.add_noise.spec import PUBLISHED, NoiseParams
from ppdm_flow.anonymizers.number_columns import (
    MOST_DECIMALS,
    Kinds,
    bound_of,
    checked,
    decimals_of,
    kinds_of,
    moments_of,
    moved,
    numbers_of,
    present_cells,
    seconds_factor,
)
from ppdm_flow.anonymizers.numeric_attributes import BEYOND
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure, Finding
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.moments import mean_of
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

_DIGITS_BELOW = 6
"""Floats are released to at most so many digits below the noise's standard deviation. The last bits of a sum of
doubles tell which terms it can have (Mironov, On significance of the least significant bits for differential privacy,
CCS 2012)."""
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[Any]
Words = npt.NDArray[np.uint64]


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


# Draws of noise from uniform words, and what bounds do with them.


def open_uniform(words: Words) -> Floats:
    """Return doubles in (0, 1), neither end among them, symmetric about 1/2: odd multiples of 2^-53."""
    uniform: Floats = ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    return uniform


def standard_noise(words: Words, distribution: str) -> Floats:
    """Return noise with mean 0 and variance 1, by the inverse of the distribution function.

    A Laplace variable of variance 1 has the scale 1/sqrt(2).
    """
    uniform = open_uniform(words)
    if distribution == "normal":
        normal: Floats = special.ndtri(uniform)
        return normal
    tail = 2.0 * np.minimum(uniform, 1.0 - uniform)
    size = -special.xlogy(1.0, tail) / np.sqrt(2.0)
    laplace: Floats = np.where(uniform < 0.5, -size, size)
    return laplace


def factor(covariance: Floats) -> Floats:
    """Return L, lower triangular, with L L' = covariance (Cholesky), of shape (d, d), for positive semidefinite ones.

    Sums are taken in one order, so that the result is the same on any machine. A column that others determine gets
    no noise of its own.
    """
    size = len(covariance)
    lower = np.zeros((size, size))
    for j in range(size):
        rest = covariance[j, j]
        for k in range(j):
            rest -= lower[j, k] * lower[j, k]
        if rest <= 1e-12 * covariance[j, j]:
            continue
        lower[j, j] = np.sqrt(rest)
        for i in range(j + 1, size):
            left = covariance[i, j]
            for k in range(j):
                left -= lower[i, k] * lower[j, k]
            lower[i, j] = left / lower[j, j]
    return lower


def combined(row: Floats, noise: Floats) -> Floats:
    """Return the sum over k of row[k] noise[:, k], term by term: independent of how many rows there are."""
    total = np.zeros(len(noise))
    for k in np.flatnonzero(row).tolist():
        total = total + row[k] * noise[:, k]
    return total


def held_between(values: Numbers, low: Any, high: Any, outside: str) -> Numbers:
    """Return numbers within bounds: those beyond are reflected at them, as often as it takes, or put on them.

    ``low`` and ``high`` are numbers of the same kind as ``values``, or None.
    """
    bounded: Numbers = values
    if outside == "clamp":
        bounded = values if low is None and high is None else np.clip(values, low, high)
    elif low is not None and high is not None:
        inside = np.mod(values - low, 2 * (high - low))
        bounded = low + np.minimum(inside, 2 * (high - low) - inside)
    elif low is not None:
        bounded = low + np.abs(values - low)
    elif high is not None:
        bounded = high - np.abs(high - values)
    return bounded


def share_beyond(distances: Floats, distribution: str) -> Floats:
    """Return the probability that noise of variance 1 exceeds each distance (in standard deviations)."""
    if distribution == "normal":
        beyond: Floats = special.ndtr(-distances)
        return beyond
    half = 0.5 * np.exp(-np.sqrt(2.0) * np.abs(distances))
    either: Floats = np.where(distances >= 0, half, 1.0 - half)
    return either


@dataclass(frozen=True, slots=True, eq=False)
class NoisyAttribute:
    """The noise of one attribute, in its column's own units.

    A value x becomes shrink (x + e) + (1 - shrink) mean, where e is the sum of ``loadings`` (shape (d,), one for each
    attribute of the step) times standard noise. ``unit``: whole numbers move by multiples of it. ``decimals``: floats
    are rounded to so many. ``low``, ``high``: bounds.
    """

    name: str
    kind: AttributeType
    loadings: Floats
    shrink: float
    mean: float
    unit: int
    decimals: int
    low: Any
    high: Any

    @property
    def sd(self) -> float:
        """The standard deviation of the noise e."""
        return float(np.sqrt((self.loadings**2).sum()))

    def change(self, values: npt.NDArray[Any], noise: Floats) -> Floats:
        """Return what is to be added to each value; ``noise`` of shape (rows, d) is standard."""
        own = combined(self.loadings, noise)
        if self.shrink == 1.0:
            return own
        return self.shrink * own + (self.shrink - 1.0) * (values.astype(np.float64) - self.mean)

    def released(self, values: npt.NDArray[Any], noise: Floats, outside: str) -> npt.NDArray[Any]:
        """Return the released numbers, of the column's own type. Raises PluginError for those that it cannot hold."""
        change = self.change(values, noise)
        if self.kind is not AttributeType.FLOAT:
            new = moved(values, np.rint(change / self.unit), self.unit, self.name, self.kind)
            return checked(held_between(new, self.low, self.high, outside), self.name, self.kind)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused
            floats = held_between(values + change, self.low, self.high, outside)
            floats = held_between(np.round(floats, self.decimals), self.low, self.high, "clamp") + 0.0
        return checked(floats, self.name, self.kind)


@dataclass(frozen=True, slots=True, eq=False)
class NoiseTransform:
    """Each row uses its own draws only; missing cells stay missing."""

    params: NoiseParams
    attributes: tuple[NoisyAttribute, ...]

    @property
    def draws_per_row(self) -> int:
        """One an attribute."""
        return len(self.attributes)

    def apply(self, part: Table, draws: Draws) -> Table:
        """Add noise. Raises PluginError for labels, and for results that a column cannot hold."""
        noise = standard_noise(draws.words(part.rows), self.params.distribution)
        changed: dict[str, Column] = {}
        for own in self.attributes:
            column = numbers_of(part[own.name], own.name, own.kind)
            rows = slice(None) if column.missing is None else ~column.missing
            values = column.values.copy()
            values[rows] = own.released(column.values[rows], noise[rows], self.params.outside)
            changed[own.name] = NumericColumn(values, own.kind, column.missing)
        return part.replaced(changed)

    def describe(self) -> Mapping[str, Any]:
        """The parameters, and to how many decimals floats are rounded."""
        decimals = {own.name: own.decimals for own in self.attributes}
        return {**self.params.model_dump(mode="json"), "rounded_to_decimals": decimals}


# What the step tells: how large the noise is beside the data, and what a recipient needs to correct for it.


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
    is_stated = params.sd is not None or params.publish
    entries: list[dict[str, Any]] = []
    for own in transform.attributes:
        entry: dict[str, Any] = {"attribute": own.name, "type": own.kind.value, "rounded_to_decimals": own.decimals}
        if is_stated:
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
        " (`publish: true` puts them in), but a reader who knows `scale` can estimate them from the release"
    )
    return (Finding(PUBLISHED, Severity.INFO, text, step),)
