"""The groups over one channel while values are disclosed, and what a further disclosure would do to them."""

from __future__ import annotations

import numpy as np

from ppdm_flow.anonymizers.progressive_disclosure.problem import (
    Channel,
    Codes,
    Problem,
    Weights,
    renumbered,
    sums,
)
from ppdm_flow.anonymizers.progressive_disclosure.score import Floats


class Groups:
    """The state of one channel. Begins with everything suppressed.

    The problem's combinations are collapsed once more, to those that differ within this channel: ``weights`` (n,) and
    ``hits`` (templates, n), the rows with each template's sensitive value.
    """

    def __init__(self, problem: Problem, channel: Channel) -> None:
        columns = {a: problem.attributes[a].codes for a in channel.attributes}
        cell = renumbered([channel.base, *columns.values()], len(problem.weights))
        _, first = np.unique(cell, return_index=True)
        self.attributes = channel.attributes
        self.templates = channel.templates
        self.codes = {a: column[first] for a, column in columns.items()}
        self.weights = sums(cell, problem.weights, len(first))
        self.hits = np.stack([sums(cell, problem.weights * t.hits, len(first)) for t in channel.templates])
        self.bounds = np.array([t.confidence for t in channel.templates])
        self.group: Codes = np.unique(channel.base[first], return_inverse=True)[1].astype(np.int64)
        self.count = int(self.group.max(initial=-1)) + 1
        self.hidden = {a: np.flatnonzero(column >= 0) for a, column in self.codes.items()}
        self._settle()

    def after(self, attribute: int, size: int) -> Floats:
        """Return the confidence of each template after disclosing each value, shape (templates, size).

        Splitting a group cannot lower the larger of its parts' confidences below its own (the mediant lies between),
        so the parts and the confidence before are all that has to be looked at. Entries of disclosed values are
        those of before.
        """
        found = np.repeat(self.confidence[:, np.newaxis], size, axis=1)
        rows = self.hidden[attribute]
        if len(rows) == 0:
            return found
        value, group, weights, hits = self._cells(attribute, rows)
        if len(value) == 0:
            return found
        first = np.flatnonzero(np.concatenate([[True], value[1:] != value[:-1]]))
        for place in range(len(self.templates)):
            rest = self.totals[group] - weights
            left = self.hit_totals[place][group] - hits[place]
            worst = np.maximum(hits[place] / weights, np.divide(left, rest, out=np.zeros_like(rest), where=rest > 0))
            reached = np.maximum.reduceat(worst, first)
            found[place, value[first]] = np.maximum(found[place, value[first]], reached)
        return found

    def disclose(self, attribute: int, value: int) -> None:
        """Split the groups: rows with ``value`` leave the suppressed ones."""
        rows = self.hidden[attribute]
        shown = self.codes[attribute][rows] == value
        self.hidden[attribute] = rows[~shown]
        moved = rows[shown]
        _, place = np.unique(self.group[moved], return_inverse=True)
        self.group[moved] = self.count + place
        self.count += int(place.max(initial=-1)) + 1
        self._settle()

    def _settle(self) -> None:
        self.totals = sums(self.group, self.weights, self.count)
        self.hit_totals = np.stack([sums(self.group, h, self.count) for h in self.hits])
        some = self.totals > 0
        shares = np.divide(self.hit_totals, self.totals, out=np.zeros_like(self.hit_totals), where=some)
        self.confidence: Floats = shares.max(axis=1, initial=0.0)

    def _cells(self, attribute: int, rows: Codes) -> tuple[Codes, Codes, Weights, Floats]:
        """The suppressed rows by (value, group), sorted: value, group, weight (cells,), hits (templates, cells)."""
        key = self.codes[attribute][rows] * self.count + self.group[rows]
        cell, inverse = np.unique(key, return_inverse=True)
        weights = sums(inverse, self.weights[rows], len(cell))
        hits = np.stack([sums(inverse, h[rows], len(cell)) for h in self.hits])
        some = weights > 0
        value, group = np.divmod(cell[some], self.count)
        return value, group, weights[some], hits[:, some]
