"""C4.5's pessimistic pruning, for scikit-learn's decision trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from ppdm_flow.audits.learning.sides import Floats

CONFIDENCE = 0.25
"""The confidence level of C4.5: the lower, the smaller the tree."""
_SLACK = 0.1
_LEAF = -1


def pessimistic_errors(rows: Floats, wrong: Floats, confidence: float = CONFIDENCE) -> Floats:
    """Return the wrong predictions to expect of leaves with ``rows`` training rows, ``wrong`` of them in error.

    ``rows`` times the upper limit of the binomial error rate (Quinlan, C4.5, 1993, section 4.2).
    """
    right = np.maximum(rows - wrong, 0.0)
    limit = np.where(right > 0, stats.beta.ppf(1 - confidence, wrong + 1, np.maximum(right, 1e-12)), 1.0)
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
