"""Progressive disclosure twice more, the plain way: on all rows with pandas, on distinct rows with numpy.

Both recompute every confidence for every candidate. They return the suppressed values of each channel attribute and
the number of disclosures.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

Suppressed = dict[str, frozenset[str]]
NEGLIGIBLE, TOLERANCE = 1e-12, 1e-9
HIDDEN = "⊥"


@dataclass(frozen=True)
class Task:
    """<channel -> each of ``worst`` of ``sensitive``, confidence>, for the class ``target``."""

    channel: list[str]
    sensitive: str
    worst: list[str]
    confidence: float
    target: str


def naive(frame: pd.DataFrame, task: Task) -> tuple[Suppressed, int]:
    """Every candidate is disclosed on a copy of the table, and the groups are counted anew."""
    frame = frame.astype(str)
    now = frame.copy()
    now[task.channel] = HIDDEN
    hidden = {a: sorted(frame[a].unique()) for a in task.channel}
    hits = pd.DataFrame({v: frame[task.sensitive] == v for v in task.worst})
    classes = pd.get_dummies(frame[task.target]).astype(float)
    count, confidence = 0, _confidence(now, hits, task)
    while True:
        best = None
        for attribute in task.channel:
            rows = now[attribute] == HIDDEN
            before = classes[rows].sum().to_numpy()
            for value in hidden[attribute]:
                mine = rows & (frame[attribute] == value)
                gain = _gain(classes[mine].sum().to_numpy(), before)
                if gain <= NEGLIGIBLE and len(hidden[attribute]) > 1:
                    continue
                tried = now.copy()
                tried.loc[mine, attribute] = value
                after = _confidence(tried, hits, task)
                score = max(gain, 0.0) / ((after - confidence).mean() + 1)
                if (after <= task.confidence + TOLERANCE).all() and (best is None or score > best[0] + NEGLIGIBLE):
                    best = (score, attribute, value, tried, after)
        if best is None:
            return {a: frozenset(v) for a, v in hidden.items()}, count
        _, attribute, value, now, confidence = best
        hidden[attribute].remove(value)
        count += 1


def collapsed(frame: pd.DataFrame, task: Task) -> tuple[Suppressed, int]:
    """Equal rows are collapsed into weighted ones first; groups are numbers, sums are ``bincount``.

    The columns of ``frame`` are categorical, with sorted categories.
    """
    columns = [*task.channel, task.sensitive, task.target]
    key = np.zeros(len(frame), dtype=np.int64)
    for name in columns:
        key = key * len(frame[name].cat.categories) + frame[name].cat.codes.to_numpy()
    _, first, weight = np.unique(key, return_index=True, return_counts=True)
    codes = {name: frame[name].cat.codes.to_numpy()[first].astype(np.int64) for name in columns}
    names = {name: list(frame[name].cat.categories) for name in columns}
    of_value = [weight * (codes[task.sensitive] == names[task.sensitive].index(v)) for v in task.worst]
    kinds = np.eye(len(names[task.target]))[codes[task.target]] * weight[:, None]
    shown = {a: np.zeros(len(names[a]), dtype=bool) for a in task.channel}
    group, groups, count = np.zeros(len(weight), dtype=np.int64), 1, 0
    confidence = _shares(group, groups, weight, of_value)
    while True:
        best = None
        for attribute in task.channel:
            rows = ~shown[attribute][codes[attribute]]
            before, values = kinds[rows].sum(axis=0), np.flatnonzero(~shown[attribute])
            for value in values:
                mine = codes[attribute] == value
                gain = _gain(kinds[mine].sum(axis=0), before)
                if gain <= NEGLIGIBLE and len(values) > 1:
                    continue
                after = _shares(group * 2 + mine, groups * 2, weight, of_value)
                score = max(gain, 0.0) / ((after - confidence).mean() + 1)
                if (after <= task.confidence + TOLERANCE).all() and (best is None or score > best[0] + NEGLIGIBLE):
                    best = (score, attribute, value, mine, after)
        if best is None:
            rest = {a: np.flatnonzero(~s) for a, s in shown.items()}
            return {a: frozenset(names[a][v] for v in values) for a, values in rest.items()}, count
        _, attribute, value, mine, confidence = best
        shown[attribute][value] = True
        group = np.unique(group * 2 + mine, return_inverse=True)[1]
        groups, count = int(group.max()) + 1, count + 1


def _confidence(table: pd.DataFrame, hits: pd.DataFrame, task: Task) -> np.ndarray:
    """The worst confidence of each sensitive value over the groups of the channel."""
    return hits.groupby([table[a] for a in task.channel], sort=False).mean().max().to_numpy()


def _shares(group: np.ndarray, groups: int, weight: np.ndarray, hits: list[np.ndarray]) -> np.ndarray:
    total = np.maximum(np.bincount(group, weight, groups), 1)
    return np.array([(np.bincount(group, h, groups) / total).max() for h in hits])


def _gain(value: np.ndarray, suppressed: np.ndarray) -> float:
    rest = suppressed - value
    inside = value.sum() * _entropy(value) + rest.sum() * _entropy(rest)
    return _entropy(suppressed) - inside / suppressed.sum()


def _entropy(counts: np.ndarray) -> float:
    share = counts[counts > 0] / max(counts.sum(), 1)
    return float(-(share * np.log2(share)).sum())
