"""Classifiers of scikit-learn by name."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import has_fit_parameter

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError

LEAF_ROWS = 5.0
"""Rows that a leaf needs at least, and the share of all rows: what pruning does for C4.5."""
LEAF_SHARE = 0.0005


def classifier(name: str, seed: int, rows: float) -> Any:
    """Return a new classifier, for ``rows`` training rows. Raises PluginError where the name is none."""
    leaf = min(0.5, max(LEAF_ROWS / rows, LEAF_SHARE))
    if name == "tree":
        return DecisionTreeClassifier(random_state=seed, min_weight_fraction_leaf=leaf)
    if name == "forest":
        return RandomForestClassifier(50, random_state=seed, min_weight_fraction_leaf=leaf / 4, n_jobs=1)
    if name == "naive_bayes":
        return BernoulliNB()
    if name == "logistic":
        return LogisticRegression(max_iter=2000)
    return _dotted(name, seed)


def _dotted(name: str, seed: int) -> Any:
    module, _, attribute = name.rpartition(".")
    try:
        made = getattr(importlib.import_module(module), attribute)()
    except (ImportError, AttributeError, TypeError):
        made = None
    if made is None or not is_classifier(made):
        raise PluginError(Diagnostic("PPF834", f"`{name}` is no classifier of scikit-learn that needs no parameters"))
    return made.set_params(random_state=seed) if "random_state" in made.get_params() else made


def learn(model: Any, matrix: Any, classes: npt.NDArray[np.int64], weights: npt.NDArray[np.float64]) -> Any:
    """Fit on the rows with a positive weight; rows are repeated where the model does not know weights."""
    rows = np.flatnonzero(weights > 0)
    if has_fit_parameter(model, "sample_weight"):
        return model.fit(matrix[rows], classes[rows], sample_weight=weights[rows])
    repeated = np.repeat(rows, weights[rows].astype(np.int64))
    return model.fit(matrix[repeated], classes[repeated])
