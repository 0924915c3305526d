"""The error of one classifier on one split, and the interval over repeated splits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from ppdm_flow.audits.classification_error.classifiers import classifier, learn
from ppdm_flow.audits.classification_error.coding import code
from ppdm_flow.audits.classification_error.sides import Floats, Integers, Side

LEVEL = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """``train`` and ``test`` (rows,): how many copies of each row are in which part."""

    train: Integers
    test: Integers


def split(copies: Integers, test_share: float, seed: int, repeat: int) -> Split:
    """Draw the test part from all persons, not from rows: copies of one row may stand on both sides."""
    person = np.repeat(np.arange(len(copies)), copies)
    wanted = min(len(person) - 1, max(1, round(test_share * len(person))))
    drawn = np.random.default_rng([seed, repeat]).permutation(len(person))[:wanted]
    test = np.bincount(person[drawn], minlength=len(copies)).astype(np.int64)
    return Split(copies - test, test)


def error(side: Side, parts: Split, name: str, seed: int) -> float:
    """Train on one part and return the share of the other that is put into a wrong class."""
    train, test = side.weights(parts.train), side.weights(parts.test)
    learnt = side.classes[train > 0]
    matrix = code(side, train)
    if matrix.shape[1] == 0 or (learnt == learnt[0]).all():
        commonest = np.bincount(side.classes, weights=train).argmax()
        wrong = side.classes != commonest
        return float(test[wrong].sum() / test.sum())
    model = learn(classifier(name, seed, float(train.sum())), matrix, side.classes, train)
    asked = np.flatnonzero(test > 0)
    wrong = model.predict(matrix[asked]) != side.classes[asked]
    return float(test[asked][wrong].sum() / test.sum())


def interval(values: npt.NDArray[np.float64], test_share: float) -> tuple[float, float] | None:
    """Return the 95 % interval of the mean over repeated splits; None for a single one.

    Splits overlap, so the variance is corrected: (1/J + test rows / training rows) s^2, with Student's t and J - 1
    degrees of freedom (Nadeau and Bengio 2003, section 5).
    """
    repeats = len(values)
    if repeats < 2:
        return None
    scale = math.sqrt((1 / repeats + test_share / (1 - test_share)) * float(values.var(ddof=1)))
    reach = float(stats.t.ppf(0.5 + LEVEL / 2, repeats - 1)) * scale
    mean = float(values.mean())
    return mean - reach, mean + reach


def errors(side: Side, parts: list[Split], name: str, seed: int) -> Floats:
    """Return the error of each split, shape (repeats,)."""
    return np.array([error(side, p, name, seed) for p in parts])
