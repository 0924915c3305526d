"""Draws of noise from uniform words, and what bounds do with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[Any]
Words = npt.NDArray[np.uint64]


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
    held: Numbers = values
    if outside == "clamp":
        held = values if low is None and high is None else np.clip(values, low, high)
    elif low is not None and high is not None:
        inside = np.mod(values - low, 2 * (high - low))
        held = low + np.minimum(inside, 2 * (high - low) - inside)
    elif low is not None:
        held = low + np.abs(values - low)
    elif high is not None:
        held = high - np.abs(high - values)
    return held


def share_beyond(distances: Floats, distribution: str) -> Floats:
    """Return the probability that noise of variance 1 exceeds each distance (in standard deviations)."""
    if distribution == "normal":
        beyond: Floats = special.ndtr(-distances)
        return beyond
    half = 0.5 * np.exp(-np.sqrt(2.0) * np.abs(distances))
    either: Floats = np.where(distances >= 0, half, 1.0 - half)
    return either
