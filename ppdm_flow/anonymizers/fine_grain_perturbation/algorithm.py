"""Fine-grain perturbation: find the operators from the requirements and the frequencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.fine_grain_perturbation.cells import codes_of, column_of
from ppdm_flow.anonymizers.fine_grain_perturbation.channel import (
    PerturbationChannel,
    RetentionChoice,
    bounds_of,
    findings,
)
from ppdm_flow.anonymizers.fine_grain_perturbation.people import histogram_of, values_of_people, words_of
from ppdm_flow.anonymizers.fine_grain_perturbation.spec import FineGrainParams
from ppdm_flow.anonymizers.fine_grain_perturbation.worth import BoundWorth, artifact, figures
from ppdm_flow.anonymizers.naming import carried, subject_of
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.sdk.anonymizer import Fitted, Operator, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Codes, Column
from ppdm_flow.tables.table import Table

Words = npt.NDArray[np.uint64]


class FineGrainPerturbation:
    """Keeps value i with probability p_i, else draws uniformly; p is the best there is under (r1, r2).

    Source: Chaytor, Wang, "Fine grain perturbation for privacy preserving data publishing", sections 3 and 4, with
    the downward constraints that their Theorem 1 leaves out.
    """

    def __init__(self, params: FineGrainParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Find one operator an attribute. Raises PluginError for suppressed cells and values outside the domain."""
        wanted = {r.attribute: r for r in carried(Sensitivity, ctx.requirements, ctx.attributes)}
        chosen = self.params.chosen(tuple(wanted.values()))
        unbound = [a for a in chosen if a not in wanted]
        if unbound or not chosen:
            names = ", ".join(f"`{a}`" for a in unbound) or "this table"
            raise PluginError(Diagnostic("PPF780", f"no `sensitivities` requirement says how to perturb {names}"))
        subject = subject_of(ctx.attributes)
        channels = tuple(self._channel(data, wanted[a], ctx.step, subject) for a in chosen)
        every_worth = [BoundWorth.of(c) for c in channels]
        worths = {w.channel.operator.attribute: w for w in every_worth if w is not None}
        dearest = [w.finding() for w in worths.values()]
        return Fitted(
            transform=PerturbTransform(ctx.step, tuple(c.operator for c in channels), subject),
            figures=figures(channels, worths),
            artifacts={"operator.json": artifact(channels)},
            operators={c.operator.attribute: c.operator for c in channels},
            findings=(*(f for c in channels for f in findings(c)), *(f for f in dearest if f is not None)),
            charts=tuple(w.chart() for w in worths.values()),
        )

    def _channel(self, data: DataView, requirement: Sensitivity, step: str, subject: str | None) -> PerturbationChannel:
        counted = histogram_of(data, requirement.attribute, requirement.domain)
        frequency = counted.frequency
        people = values_of_people(data, subject, requirement.attribute, counted)
        bounds = bounds_of(requirement, counted.domain, people.share, people.most)
        choice = RetentionChoice.of(self.params, frequency, bounds.slack, requirement.directions)
        operator = Operator(requirement.attribute, counted.domain, choice.chosen, step, people.most)
        rows = int(counted.counts.sum())
        return PerturbationChannel(requirement, operator, self.params.operator, frequency, bounds, choice, rows)


# Applying operators: one draw a row and attribute.


_FINE = 2.0**-30
"""Where the share to be replaced is below this, the replacement gets a word of its own: the rest of the first one
would be too coarse to choose among the values evenly."""


_STRETCH = 1 << 16
"""Rows perturbed at once: what is made of them fits a core's cache of a megabyte, and threads seldom wait."""


@dataclass(frozen=True, slots=True, eq=False)
class PerturbTransform:
    """Perturbs each operator's attribute; every row uses its own draws only.

    With a ``subject``, the column that says whose row it is, rows of one person with equal values draw alike.
    """

    step: str
    operators: tuple[Operator, ...]
    subject: str | None = None

    @property
    def draws_per_row(self) -> int:
        """One word an attribute, two where an operator is very near the identity."""
        return sum(_words(o) for o in self.operators)

    def apply(self, part: Table, draws: Draws) -> Table:
        """Perturb. Raises PluginError for a cell that the operator has no value for."""
        words = draws.words(part.rows) if self.subject is None else None
        changed: dict[str, Column] = {}
        at = 0
        for operator in self.operators:
            width = _words(operator)
            values = codes_of(part[operator.attribute], operator)
            if words is not None:
                own = words[:, at : at + width]
            else:
                own = words_of(part, draws, operator, values, str(self.subject), width)
            changed[operator.attribute] = column_of(_perturbed(values, operator, own), operator)
            at += width
        return part.replaced(changed)

    def describe(self) -> Mapping[str, Any]:
        """Sizes and retention probabilities by attribute, no values."""
        return {
            "attributes": {
                o.attribute: {
                    "values": o.size,
                    "missing_is_a_value": None in o.domain,
                    "lowest_retention": float(o.retention.min()),
                    "mean_retention": float(o.retention.mean()),
                    "highest_retention": float(o.retention.max()),
                }
                for o in self.operators
            }
        }


def _words(operator: Operator) -> int:
    replaced = 1.0 - operator.retention
    drawn = replaced[replaced > 0.0]
    return 2 if len(drawn) and drawn.min() < _FINE * operator.size else 1


@dataclass(frozen=True, slots=True, eq=False)
class _Gate:
    """Value i is kept where its word lies below ``limit`` = p_i 2^64; what lies above is spread over all m values."""

    keep: npt.NDArray[np.bool_]
    limit: Words
    scale: npt.NDArray[np.float64]

    @classmethod
    def of(cls, operator: Operator) -> _Gate:
        keep = operator.retention >= 1.0
        limit = np.where(keep, 0.0, np.floor(operator.retention * 2.0**64)).astype(np.uint64)
        return cls(keep, limit, operator.size / (2.0**64 - limit.astype(np.float64)))


def _perturbed(values: Codes, operator: Operator, words: Words) -> Codes:
    """Return the new values, a stretch that stays in the cache at a time."""
    gate = _Gate.of(operator)
    out = np.empty_like(values)
    for start in range(0, len(values), _STRETCH):
        part = slice(start, start + _STRETCH)
        out[part] = _drawn(values[part], gate, words[part])
    return out


def _drawn(values: Codes, gate: _Gate, words: Words) -> Codes:
    size = len(gate.limit)
    limit = gate.limit[values]
    first = words[:, 0]
    replaced = np.flatnonzero(first >= limit)
    if gate.keep.any():
        replaced = replaced[~gate.keep[values[replaced]]]
    if words.shape[1] == 2:
        drawn = words[replaced, 1] * (size * 2.0**-64)
    else:
        drawn = (first[replaced] - limit[replaced]) * gate.scale[values[replaced]]
    out = values.copy()
    out[replaced] = np.minimum(drawn.astype(np.int32), size - 1)
    return out
