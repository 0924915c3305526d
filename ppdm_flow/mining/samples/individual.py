"""How likely a respondent is found again: the individual risk, from the sums of sampling weights.

A key is a combination of quasi-identifiers. It occurs f times in the sample and F times in the population; whoever
looks for one of these f respondents in the population is right with 1/F. F is not known. Under the superpopulation
model of Benedetti and Franconi (NTTS 1998) F given f is negative binomial, P(F = h | f) = C(h-1, f-1) p^f (1-p)^(h-f)
for h >= f, and p is estimated by f over the sum of the f weights. The risk is E(1/F | f).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_RECURRED = 64
"""Frequencies up to it are reached by the recurrence, where a key is less than half sampled."""
_TERMS = 160
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
    for n in range(_TERMS):
        term = term * missed * ((n + 1.0) / (sampled + 1.0 + n))
        total += term
        if term.max(initial=0.0) < _SMALLEST:
            break
    return total / people
