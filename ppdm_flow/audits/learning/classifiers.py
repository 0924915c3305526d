"""Classifiers of scikit-learn by name, made, taught, and pruned as C4.5's."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice, repeat
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special
from sklearn.utils.validation import has_fit_parameter

from ppdm_flow.audits.learning.catalogue import CLASSIFIERS, Option, strange, typed
from ppdm_flow.audits.learning.sides import Floats, Integers, LearningSide, Truths, code
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError

TREE = "tree"
_CLASSES = {
    TREE: "sklearn.tree.DecisionTreeClassifier",
    "forest": "sklearn.ensemble.RandomForestClassifier",
    "naive_bayes": "sklearn.naive_bayes.BernoulliNB",
    "logistic": "sklearn.linear_model.LogisticRegression",
}
LEAF_ROWS = 2.0
"""Rows that a leaf of C4.5 needs at least."""

FOREST_LEAF_SHARE = 0.000125

CONFIDENCE = 0.25
"""The confidence level of C4.5: the lower, the smaller the tree."""

_SLACK = 0.1
_LEAF = -1


def pessimistic_errors(rows: Floats, wrong: Floats, confidence: float = CONFIDENCE) -> Floats:
    """Return the wrong predictions to expect of leaves with ``rows`` training rows, ``wrong`` of them in error.

    ``rows`` times the upper limit of the binomial error rate (Quinlan, C4.5, 1993, section 4.2).
    """
    right = np.maximum(rows - wrong, 0.0)
    limit = np.where(right > 0, special.betaincinv(wrong + 1, np.maximum(right, 1e-12), 1 - confidence), 1.0)
    errors: Floats = rows * limit
    return errors


def prune(model: Any, confidence: float = CONFIDENCE) -> Any:
    """Turn every subtree of a fitted tree into a leaf where the leaf is not expected to err more; return the tree.

    From the leaves up: children have higher numbers than their parents. Branches are not raised.
    """
    tree = model.tree_
    left, right = tree.children_left, tree.children_right
    rows = tree.weighted_n_node_samples
    share = tree.value[:, 0, :].max(axis=1) / tree.value[:, 0, :].sum(axis=1)
    expected = pessimistic_errors(rows, rows * (1 - share), confidence).tolist()
    for node in np.flatnonzero(left != _LEAF)[::-1].tolist():
        below = expected[left[node]] + expected[right[node]]
        if expected[node] <= below + _SLACK:
            left[node] = right[node] = _LEAF
        else:
            expected[node] = below
    return model


@dataclass(frozen=True, slots=True)
class Learner:
    """``name`` is one of the catalogue, ``options`` are as the policy writes them.

    ``tree`` comes as close to C4.5 as scikit-learn's tree can: entropy, at least two rows a leaf, pessimistic pruning
    at a confidence of 25 %; it differs in that each split has two branches and none is chosen by gain ratio.
    """

    name: str = TREE
    options: Mapping[str, Option] = field(default_factory=dict)
    seed: int = 0

    def learn(self, matrix: Any, classes: npt.NDArray[np.int64], weights: npt.NDArray[np.float64]) -> Any:
        """Fit on the rows with a positive weight; rows are repeated where the model does not know weights.

        Raises PluginError for a name or an option that there is not, or that scikit-learn refuses.
        """
        model = self._model(float(weights.sum()))
        rows = np.flatnonzero(weights > 0)
        try:
            if has_fit_parameter(model, "sample_weight"):
                model.fit(matrix[rows], classes[rows], sample_weight=weights[rows])
            else:
                repeated = np.repeat(rows, weights[rows].astype(np.int64))
                model.fit(matrix[repeated], classes[repeated])
        except (TypeError, ValueError) as error:  # the message may quote the data
            raise _fault(f"`{self.name}` could not learn with its options ({type(error).__name__})") from None
        return prune(model) if self.name == TREE else model

    def predict(self, model: Any, matrix: Any) -> npt.NDArray[np.int64]:
        """Return the class of each row. Raises PluginError where the model has none for some."""
        try:
            classes: npt.NDArray[np.int64] = model.predict(matrix)
        except ValueError as error:  # the message may quote the data
            raise _fault(f"`{self.name}` could not predict with its options ({type(error).__name__})") from None
        return classes

    def _model(self, rows: float) -> Any:
        if self.name not in CLASSIFIERS:
            raise _fault(f"`{self.name}` is no classifier that can be used here")
        unknown = strange(self.name, self.options)
        if unknown:
            raise _fault(f"`{self.name}` has no option `{unknown[0]}`")
        module, _, name = _CLASSES.get(self.name, self.name).rpartition(".")
        try:
            made = getattr(importlib.import_module(module), name)()
            given = _defaults(self.name, rows) | {n: typed(o) for n, o in self.options.items()}
            if "random_state" in made.get_params():
                given["random_state"] = self.seed
            return made.set_params(**given)
        except (ImportError, AttributeError, ValueError):
            raise _fault(f"the installed scikit-learn does not have `{self.name}` with these options") from None


def _defaults(name: str, rows: float) -> dict[str, Any]:
    match name:
        case "tree":
            return {"criterion": "entropy", "min_weight_fraction_leaf": min(0.5, LEAF_ROWS / rows)}
        case "forest":
            leaf = min(0.5, max(LEAF_ROWS / rows, FOREST_LEAF_SHARE))
            return {"n_estimators": 50, "min_weight_fraction_leaf": leaf}
        case "logistic":
            return {"max_iter": 2000}
        case _:
            return {}


def _fault(message: str) -> PluginError:
    return PluginError(Diagnostic("PPF834", message))


# The error of one classifier on one split, and the interval over repeated splits.


LEVEL = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """``train`` and ``test`` (rows,): how many copies of each row are in which part."""

    train: Integers
    test: Integers


def split(copies: Integers, test_share: float, seed: int, number: int) -> Split:
    """Draw the test part from all persons, not from rows: copies of one row may stand on both sides."""
    person = np.repeat(np.arange(len(copies)), copies)
    wanted = min(len(person) - 1, max(1, round(test_share * len(person))))
    drawn = np.random.default_rng([seed, number]).permutation(len(person))[:wanted]
    test = np.bincount(person[drawn], minlength=len(copies)).astype(np.int64)
    return Split(copies - test, test)


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """The results of a side's splits: ``wrong[j]`` (distinct rows,) are the wrong predictions in test part ``j``."""

    side: LearningSide
    parts: tuple[Split, ...]
    wrong: tuple[Truths, ...]

    @property
    def errors(self) -> Floats:
        """Return the error of each split, shape (repeats,)."""
        by_part = zip(self.parts, self.wrong, strict=True)
        return np.array([float((p.test * w[self.side.place]).sum() / p.test.sum()) for p, w in by_part])

    @property
    def persons(self) -> int:
        """Return the number of persons."""
        return int(self.side.copies.sum())

    def spread(self) -> float:
        """Return the variance of one person's error, p (1 - p)."""
        mean = float(self.errors.mean())
        return mean * (1 - mean)

    def spread_beside(self, other: Trials) -> float:
        """Return the variance of one person's difference of errors; both sides have the same persons and splits."""
        pairs = zip(self.parts, self.wrong, other.wrong, strict=True)
        unlike = [
            float((p.test * (a[self.side.place] != b[other.side.place])).sum() / p.test.sum()) for p, a, b in pairs
        ]
        return float(np.mean(unlike) - (other.errors - self.errors).mean() ** 2)


def trial(side: LearningSide, parts: Split, learner: Learner) -> Truths:
    """Learn from one part; return which predictions for the other are wrong, shape (distinct rows,)."""
    train, tested = side.weights(parts.train), np.flatnonzero(side.weights(parts.test) > 0)
    wrong = np.zeros(len(side.classes), dtype=np.bool_)
    learnt = side.classes[train > 0]
    matrix = code(side, train)
    if matrix.shape[1] == 0 or (learnt == learnt[0]).all():
        wrong[tested] = side.classes[tested] != np.bincount(side.classes, weights=train).argmax()
    else:
        model = learner.learn(matrix, side.classes, train)
        wrong[tested] = learner.predict(model, matrix[tested]) != side.classes[tested]
    return wrong


def trials(sides: Sequence[tuple[LearningSide, Sequence[Split]]], learner: Learner, threads: int) -> list[Trials]:
    """Try each side on each of its splits; classifiers learn side by side."""
    one_each = [side for side, every in sides for _ in every]
    parts = [p for _, every in sides for p in every]
    with ThreadPoolExecutor(threads) as pool:
        wrong = iter(list(pool.map(trial, one_each, parts, repeat(learner))))
    return [Trials(side, tuple(every), tuple(islice(wrong, len(every)))) for side, every in sides]


def interval(values: Floats, test_share: float, least: float = 0.0) -> tuple[float, float] | None:
    """Return the 95 % interval of the mean over repeated splits; None for a single one.

    Splits overlap, so the variance is corrected: (1/J + test rows / training rows) s^2, with Student's t and J - 1
    degrees of freedom (Nadeau and Bengio 2003, section 5). That is too small where learnt rules are unstable, so it is
    taken to be ``least`` at least, what as many independent persons would have: p (1 - p) / n for an error. In
    simulations this covers 94 to 97 %, the correction alone 91 to 95 %.
    """
    repeats = len(values)
    if repeats < 2:
        return None
    scale = math.sqrt(max((1 / repeats + test_share / (1 - test_share)) * float(values.var(ddof=1)), least))
    reach = float(special.stdtrit(repeats - 1, 0.5 + LEVEL / 2)) * scale
    mean = float(values.mean())
    return mean - reach, mean + reach
