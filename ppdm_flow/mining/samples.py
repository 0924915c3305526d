"""A sample of a population: estimates of how many people share a respondent's key, and which keys are unique."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_NEAR_ZERO = 0.1
_TERMS = 10
Term = tuple[int, ...]


# How many sample uniques are unique in the population too, by a log-linear Poisson model of the keys.
#
# The population has F_k ~ Poisson(lambda_k) people of key k, each in the sample with probability pi_k, so that the
# people of a key who were not asked are Poisson(lambda_k (1 - pi_k)), for any sample. log lambda_k is linear in the
# values of the key (Skinner, Holmes, Journal of Official Statistics 14(4), 1998; Skinner, Shlomo, JASA 103, 2008).


@dataclass(frozen=True, slots=True, eq=False)
class SampleKeys:
    """The keys of a sample: dense ``codes`` (keys, attributes) from 0 up to ``widths`` (attributes,).

    ``frequencies`` (keys,) in the sample, at least 1, and estimated ``populations`` (keys,), the sums of weights.
    """

    codes: Integers
    widths: tuple[int, ...]
    frequencies: Integers
    populations: Floats

    @property
    def cells(self) -> int:
        """How many keys there could be."""
        return math.prod(self.widths)

    def table(self, values: npt.NDArray[np.generic]) -> Floats:
        """Return ``values`` (keys,) as a table with one axis an attribute, 0 where no key is."""
        out = np.zeros(self.widths)
        out[tuple(self.codes.T)] = values
        return out


@dataclass(frozen=True, slots=True)
class PopulationUniques:
    """``population_uniques`` is tau_1, ``correct_matches`` tau_2.

    ``fits`` are their statistics B/sqrt(v), standard normal where the model holds; None where nothing is left to
    estimate. ``converged``: whether the fit did.
    """

    population_uniques: float
    correct_matches: float
    fits: tuple[float | None, float | None]
    converged: bool

    @property
    def misfit(self) -> float:
        """The larger of both statistics, without its sign; 0 for none."""
        return max(abs(f or 0.0) for f in self.fits)


def estimate(keys: SampleKeys, terms: Sequence[Term]) -> PopulationUniques:
    """Estimate how many sample uniques are unique in the population, and how many of them are matched correctly.

    Parameters
    ----------
    keys
        The keys of the sample. Raises ValueError where there is none.
    terms
        Those of the model, as :func:`ppdm_flow.mining.samples.fit` takes them.

    lambda is fitted to the weighted table, a pseudo maximum likelihood (Skinner, Shlomo); of a sample
    unique, pi is 1 over its weight. For the test of fit, pi is the ratio of the tables that were fitted to the sample
    and to the weights.
    """
    if not len(keys.frequencies):
        raise ValueError("a sample without rows has no model")
    frequencies = keys.table(keys.frequencies)
    expected = fit(frequencies, terms)
    people = fit(keys.table(np.maximum(keys.populations, keys.frequencies)), terms)
    alone = keys.frequencies == 1
    not_asked = people.cells[tuple(keys.codes[alone].T)] * (1.0 - 1.0 / np.maximum(keys.populations[alone], 1.0))
    return PopulationUniques(
        float(np.exp(-not_asked).sum()),
        float(_mean_inverse(not_asked).sum()),
        fit_statistics(frequencies.ravel(), expected.cells.ravel(), people.cells.ravel()),
        expected.converged and people.converged,
    )


def fit_statistics(observed: Floats, expected: Floats, people: Floats) -> tuple[float | None, float | None]:
    """Return B/sqrt(v) for tau_1 and for tau_2 (Skinner, Shlomo, JASA 103, 2008).

    Parameters
    ----------
    observed
        The sample's frequencies, every cell of the table, those of 0 too, shape (cells,).
    expected
        Their expectations mu = pi lambda, (cells,).
    people
        Those of the population, lambda, (cells,).

    B estimates the bias of tau from the Poisson residuals f - mu and (f - mu)^2 - f, with the weights that a Taylor
    expansion of P(F = 1 | f = 1), or of E(1/F | f = 1), gives them; under the model its mean is 0 and its variance v.
    Far above 0 the model is too simple, and tau too high; far below it is too large, and tau too low. None where all
    people were asked.
    """
    some = (people > 0.0) & (expected > 0.0)
    f, mu, lam = observed[some], expected[some], people[some]
    rate = np.minimum(mu / lam, 1.0)
    rest = lam * (1.0 - rate)
    weight = rate * lam * np.exp(-rate * lam)
    exact = -np.exp(-rest), np.exp(-rest)
    one, other = (_standardized(f, mu, rate, weight, slopes) for slopes in (exact, _slopes(rest)))
    return one, other


def _standardized(f: Floats, mu: Floats, rate: Floats, weight: Floats, slopes: tuple[Floats, Floats]) -> float | None:
    first = -weight * slopes[0] * (1.0 - rate) / rate
    second = weight * slopes[1] * ((1.0 - rate) / rate) ** 2 / 2.0
    residual = f - mu
    bias = float((first * residual + second * (residual**2 - f)).sum())
    variance = float((first**2 * mu + 2.0 * second**2 * mu**2).sum())
    return bias / math.sqrt(variance) if variance > 0.0 else None


def _mean_inverse(rest: Floats) -> Floats:
    """Return E(1 / (1 + X)) of Poisson variables X with these means: (1 - exp(-x)) / x."""
    return np.divide(-np.expm1(-rest), rest, out=np.ones_like(rest), where=rest > 0.0)


def _slopes(rest: Floats) -> tuple[Floats, Floats]:
    """Return the first and the second derivative of (1 - exp(-x)) / x."""
    x = np.maximum(rest, _NEAR_ZERO)
    fall = np.exp(-x)
    first = (fall * (x + 1.0) - 1.0) / x**2
    second = (2.0 - fall * (x * x + 2.0 * x + 2.0)) / x**3
    small = rest < _NEAR_ZERO
    near = np.where(small, rest, 0.0)
    orders = range(_TERMS)  # the series: sum over n of (-x)^n / (n + 1)!
    ones = [(-1.0) ** (n + 1) * (n + 1) * near**n / math.factorial(n + 2) for n in orders]
    twos = [(-1.0) ** n * (n + 1) * (n + 2) * near**n / math.factorial(n + 3) for n in orders]
    return np.where(small, sum(ones), first), np.where(small, sum(twos), second)


# Log-linear models of a table of keys, fitted by iterative proportional fitting.


CLOSE = 1e-5
"""How far a fitted margin may be from the observed one, as a share of the total."""
_SWEEPS = 200


@dataclass(frozen=True, slots=True, eq=False)
class LogLinearFit:
    """Expected ``cells``, shaped as the table; ``converged``: every fitted margin is as close as :data:`CLOSE`."""

    cells: Floats
    converged: bool


def main_effects(attributes: int) -> tuple[Term, ...]:
    """Return the terms of the model of independence of so many attributes."""
    return tuple((i,) for i in range(attributes))


def two_way(attributes: int) -> tuple[Term, ...]:
    """Return the terms of the model with the interactions of any two of so many attributes."""
    return tuple(combinations(range(attributes), 2))


def fit(table: Floats, terms: Sequence[Term]) -> LogLinearFit:
    """Fit the hierarchical model whose largest terms are ``terms``: its expected cells have the table's margins there.

    Parameters
    ----------
    table
        Counts or sums of weights, non-negative, one axis an attribute.
    terms
        Tuples of axes. Every axis is in one of them.

    These are the maximum likelihood estimates of independent Poisson cells (Deming, Stephan, 1940; Bishop, Fienberg,
    Holland, Discrete multivariate analysis, 1975, section 3.5). Main effects need one sweep.
    """
    margins = [_margin(table, term) for term in terms]
    total = float(table.sum())
    cells = np.ones(table.shape)
    for _ in range(_SWEEPS):
        for term, margin in zip(terms, margins, strict=True):
            now = _margin(cells, term)
            cells *= np.divide(margin, now, out=np.zeros_like(now), where=now > 0.0)
        off = max(float(np.abs(_margin(cells, t) - m).max()) for t, m in zip(terms, margins, strict=True))
        if off <= CLOSE * total:
            return LogLinearFit(cells, converged=True)
    return LogLinearFit(cells, converged=False)


def _margin(table: Floats, term: Term) -> Floats:
    others = tuple(axis for axis in range(table.ndim) if axis not in term)
    margin: Floats = table.sum(axis=others, keepdims=True)
    return margin


# How likely a respondent is found again: the individual risk, from the sums of sampling weights.
#
# A key is a combination of quasi-identifiers. It occurs f times in the sample and F times in the population; an
# adversary who looks for one of these f respondents in the population is right with 1/F. F is not known. Under the
# superpopulation model of Benedetti and Franconi (NTTS 1998) F given f is negative binomial, P(F = h | f) = C(h-1, f-1)
# p^f (1-p)^(h-f) for h >= f, and p is estimated by f over the sum of the f weights. The risk is E(1/F | f).


_RECURRED = 64
"""Frequencies up to it are reached by the recurrence, where a key is less than half sampled."""
_INDIVIDUAL_TERMS = 160
_SMALLEST = 1e-18


def individual_risks(frequencies: Integers, populations: Floats) -> Floats:
    """Return E(1/F | f) for each key (Franconi, Polettini, PSD 2004).

    Parameters
    ----------
    frequencies
        How often each key occurs in the sample, f >= 1, shape (keys,).
    populations
        The estimated frequency of each key in the population, the sum of its weights, shape (keys,). One below f
        counts as f: then the whole population of the key was asked, and the risk is 1/f.

    Returns
    -------
    (keys,), from above 0 to 1: p^f/f 2F1(f, f; f+1; 1-p), with p = f / population.

    Raises ValueError where a frequency is below 1.

    By Euler's transformation this is p/f 2F1(1, 1; f+1; 1-p), a series of positive terms. Where p is small and f
    too it converges slowly; there the recurrence r(f+1) = p/(1-p) (1/f - r(f)) holds, which follows from the integral
    of v^(f-1) p / (p + (1-p) v) over v from 0 to 1, and which is stable for p <= 1/2. Relative error below 1e-12.
    """
    if len(frequencies) and frequencies.min() < 1:
        raise ValueError("a key of the sample occurs at least once")
    sampled = frequencies.astype(np.float64)
    people = np.maximum(populations, sampled)
    by_recurrence = (2.0 * sampled <= people) & (frequencies <= _RECURRED)
    risks = np.empty(len(sampled))
    risks[by_recurrence] = _recurred(frequencies[by_recurrence], people[by_recurrence])
    risks[~by_recurrence] = _summed(sampled[~by_recurrence], people[~by_recurrence])
    return np.minimum(risks, 1.0 / sampled) if len(risks) else risks


def _recurred(frequencies: Integers, people: Floats) -> Floats:
    odds = frequencies / (people - frequencies)
    risks = odds * np.log(people / frequencies)  # f = 1: p/(1-p) log(1/p)
    for f in range(1, int(frequencies.max(initial=1))):
        on = np.flatnonzero(frequencies > f)
        risks[on] = odds[on] * (1.0 / f - risks[on])
    return risks


def _summed(sampled: Floats, people: Floats) -> Floats:
    missed = 1.0 - sampled / people
    term, total = np.ones(len(sampled)), np.ones(len(sampled))
    for n in range(_INDIVIDUAL_TERMS):
        term = term * missed * ((n + 1.0) / (sampled + 1.0 + n))
        total += term
        if term.max(initial=0.0) < _SMALLEST:
            break
    return total / people
