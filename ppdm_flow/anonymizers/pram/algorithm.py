"""PRAM: randomize categories by a transition matrix (post-randomization)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.fine_grain_perturbation.cells import codes_of, column_of
from ppdm_flow.anonymizers.fine_grain_perturbation.channel import bounds_of
from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import optimal_retention
from ppdm_flow.anonymizers.fine_grain_perturbation.people import (
    DomainCounts,
    ValuesOfPeople,
    histogram_of,
    values_of_people,
    words_of,
)
from ppdm_flow.anonymizers.fine_grain_perturbation.worth import LARGEST as LARGEST_PROGRAM
from ppdm_flow.anonymizers.fine_grain_perturbation.worth import as_written, general_optimum
from ppdm_flow.anonymizers.naming import carried, subject_of
from ppdm_flow.anonymizers.pram.spec import LARGEST, PramParams, Rows, declared, faults, read_matrix, unusable
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure, Finding
from ppdm_flow.core.roles import Directions
from ppdm_flow.mining.reconstruction.likelihood import WORST, condition
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.requirements.sensitivities.value_bounds import stated_gamma
from ppdm_flow.sdk.anonymizer import Fitted, Operator, StepContext
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Codes, Column
from ppdm_flow.tables.table import Table

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]


class Pram:
    """Replaces each value by a draw from its row of a transition matrix.

    Source: Gouweleeuw, Kooiman, Willenborg and de Wolf, "Post randomisation for statistical disclosure control: theory
    and implementation", Journal of Official Statistics 14(4), 1998.
    """

    def __init__(self, params: PramParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Make one matrix an attribute.

        Raises PluginError for suppressed cells, values outside the domain, and matrices that cannot be used.
        """
        wanted = {r.attribute: r for r in carried(Sensitivity, ctx.requirements, ctx.attributes)}
        chosen = self.params.chosen(tuple(wanted.values()))
        if not chosen or (self.params.derived and not set(chosen) <= set(wanted)):
            raise PluginError(Diagnostic("PPF780", "no `sensitivities` requirement says how to randomize"))
        absent = [name for name in chosen if name not in data.schema]
        if absent:
            raise PluginError(Diagnostic("PPF606", f"there is no column `{absent[0]}`"))
        every = tuple(self._randomized(data, name, wanted.get(name), ctx) for name in chosen)
        operators = tuple(one.operator for one in every)
        return Fitted(
            transform=PramTransform(ctx.step, operators, subject_of(ctx.attributes)),
            figures=figures(every),
            artifacts={"operator.json": artifact(every, self.params)},
            operators={o.attribute: o for o in operators},
            findings=tuple(f for one in every for f in findings(one, self.params)),
        )

    def _randomized(
        self, data: DataView, name: str, requirement: Sensitivity | None, ctx: StepContext
    ) -> RandomizedAttribute:
        domain = declared(ctx.attributes.get(name)) or (requirement.domain if requirement is not None else None)
        rows = self._rows(ctx, domain)
        if rows is None:
            counted = histogram_of(data, name, domain)
        else:
            counted = histogram_of(data, name, tuple(rows), "of those that its matrix has a row for")
        if len(counted.domain) > LARGEST:
            raise unusable(f"`{name}` has {len(counted.domain):,} values, and a matrix at most {LARGEST:,}")
        people = values_of_people(data, subject_of(ctx.attributes), name, counted)
        matrix = self._matrix(counted, rows, requirement, name, people)
        if self.params.invariant:
            matrix = invariant(matrix, counted.frequency)
        operator = MatrixOperator(name, counted.domain, on_grid(matrix), ctx.step, people.most)
        made_for = requirement if self.params.derived else None
        return RandomizedAttribute(operator, counted.frequency, rows is None and domain is None, made_for)

    def _rows(self, ctx: StepContext, domain: tuple[str, ...] | None) -> Rows | None:
        rows: Rows | None = self.params.matrix
        if self.params.matrix_file is not None:
            rows = read_matrix(ctx.home / self.params.matrix_file, self.params.delimiter)
        if rows is not None:
            every = [unusable(f"the matrix cannot be used: {text}") for text, _ in faults(rows, domain, LARGEST)]
            if every:
                raise PluginError([d for error in every for d in error.diagnostics])
        return rows

    def _matrix(
        self,
        counted: DomainCounts,
        rows: Rows | None,
        requirement: Sensitivity | None,
        name: str,
        people: ValuesOfPeople,
    ) -> Floats:
        if rows is not None:
            return of_rows(rows, counted.domain)
        frequency = counted.frequency
        if self.params.retain is not None:
            weight = frequency if self.params.spread == "frequency" else None
            return retaining(self.params.retain, len(frequency), weight)
        if self.params.posterior is not None:
            return _within_posterior(self.params.posterior, counted, name, people)
        if requirement is None:
            raise PluginError(Diagnostic("PPF780", f"no `sensitivities` requirement says how to randomize `{name}`"))
        slack = bounds_of(requirement, counted.domain, people.share, people.most).slack
        if self.params.optimum == "fine_grain":
            retention = optimal_retention(frequency, slack, requirement.directions)
            return Operator(name, counted.domain, retention).matrix().T
        matrix = general(frequency, slack, requirement.directions) if len(slack) <= LARGEST_PROGRAM else None
        if matrix is None:
            raise unusable(
                f"the general optimum for the {len(slack)} values of `{name}` is out of reach: it is for at most"
                f" {LARGEST_PROGRAM} values; leave `optimum` out"
            )
        return matrix


def _within_posterior(bound: float, counted: DomainCounts, name: str, people: ValuesOfPeople) -> Floats:
    """Return the matrix of `posterior`. Raises PluginError where none can keep the bound."""
    if (people.most or 1) > 1:
        text = f"people have several values of `{name}`, and `posterior` bounds what one released value tells"
        raise unusable(f"{text}: bound it by `privacy.sensitivities`")
    if float(counted.frequency.max()) > bound:
        raise unusable(f"some value of `{name}` is more frequent than `posterior` allows: no matrix hides that")
    return within_posterior(counted.frequency, bound)


_BITS = 53
_UNUSED = np.uint64(64 - _BITS)


@dataclass(frozen=True, slots=True, eq=False)
class PramTransform:
    """Randomizes each operator's attribute; every row uses its own draws only.

    With a ``subject``, the column that says whose row it is, rows of one person with equal values draw alike.
    """

    step: str
    operators: tuple[MatrixOperator, ...]
    subject: str | None = None

    @property
    def draws_per_row(self) -> int:
        """One word an attribute."""
        return len(self.operators)

    def apply(self, part: Table, draws: Draws) -> Table:
        """Randomize. Raises PluginError for a cell that the matrix has no row for."""
        words = draws.words(part.rows) if self.subject is None else None
        changed: dict[str, Column] = {}
        for at, operator in enumerate(self.operators):
            values = codes_of(part[operator.attribute], operator)
            if words is not None:
                own = words[:, at]
            else:
                own = words_of(part, draws, operator, values, str(self.subject), 1)[:, 0]
            changed[operator.attribute] = column_of(drawn(values, operator, own), operator)
        return part.replaced(changed)

    def describe(self) -> Mapping[str, Any]:
        """Sizes and probabilities of staying by attribute, no values."""
        return {
            "attributes": {
                o.attribute: {
                    "values": o.size,
                    "missing_is_a_value": None in o.domain,
                    "lowest_staying": float(o.staying.min()),
                    "highest_staying": float(o.staying.max()),
                }
                for o in self.operators
            }
        }


def drawn(values: Codes, operator: MatrixOperator, words: Words) -> Codes:
    """Return the new values (rows,): of value i the j whose stretch of row i's cumulative sums holds the draw.

    The cumulative sums of all rows stand one after another, each shifted by its row number, so that one binary search
    finds all draws. An entry of 0 has an empty stretch and is never drawn.
    """
    grid_steps = np.rint(operator.transition * GRID).astype(np.uint64)
    start = np.arange(operator.size, dtype=np.uint64) << np.uint64(_BITS)
    ends = (np.cumsum(grid_steps, axis=1, dtype=np.uint64) + start[:, None]).ravel()
    place = np.searchsorted(ends, (words >> _UNUSED) + start[values], side="right")
    out: Codes = (place - values.astype(np.int64) * operator.size).astype(np.int32)
    return out


# Transition matrices: stated ones, those that retain a share, invariant ones, and the best ones under bounds.
#
# R[i, j] = Pr[released j | original i]; rows sum to 1.


GRID = 2.0**53
"""Probabilities are whole multiples of 1 / GRID: then what is published is what is drawn, to the last digit."""

SECONDS = 60.0

_NOTHING = 1e-12


def of_rows(rows: Rows, domain: tuple[str | None, ...]) -> Floats:
    """Return the matrix over ``domain`` of the rows of a policy or a file; a value without a row stays as it is."""
    place = {value: i for i, value in enumerate(domain)}
    matrix = np.eye(len(domain))
    for value, row in rows.items():
        matrix[place[value]] = 0.0
        for released, probability in row.items():
            matrix[place[value], place[released]] = probability
    return matrix


def retaining(retain: float, size: int, frequency: Floats | None = None) -> Floats:
    """Return the matrix with ``retain`` on its diagonal and the rest of each row spread over the other values.

    Evenly, or in proportion to their ``frequency`` (m,); a value that has all rows has nobody to be spread over, and
    is spread evenly.
    """
    if size == 1:
        return np.ones((1, 1))
    weight = np.ones((size, size)) if frequency is None else np.tile(frequency, (size, 1))
    np.fill_diagonal(weight, 0.0)
    none = weight.sum(axis=1) <= 0.0
    weight[none] = 1.0
    weight[none, none.nonzero()[0]] = 0.0
    matrix: Floats = (1.0 - retain) * weight / weight.sum(axis=1, keepdims=True)
    np.fill_diagonal(matrix, retain)
    return matrix


def invariant(base: Floats, frequency: Floats) -> Floats:
    """Return R = B Q with f R = f for the shares f (m,), by two steps through the matrix B.

    Q[j, k] = f_k B[k, j] / (f B)_j leads back: of those that B turns into j, the share that were k (Gouweleeuw,
    Kooiman, Willenborg and de Wolf 1998, section 4). A value that B never makes stays as it is under Q.
    """
    reached = frequency @ base
    joint = (frequency[:, None] * base).T
    back = np.eye(len(base))
    shown = reached > 0
    back[shown] = joint[shown] / reached[shown, None]
    matrix: Floats = base @ back
    return matrix


def general(frequency: Floats, slack: Floats, directions: Directions) -> Floats | None:
    """Return the matrix of greatest record utility within the bounds, None where it is not found in time.

    What the solver leaves of a violation is taken out by mixing with the even matrix, which has all the slack that
    there is: for a violation v of R[i, j] <= gamma R[k, j] a share v / (v + (gamma - 1) / m) of it suffices.
    """
    optimum = general_optimum(frequency, slack, directions, SECONDS)
    if optimum is None:
        return None
    matrix = np.maximum(optimum.matrix.T, 0.0)
    matrix /= matrix.sum(axis=1, keepdims=True)
    share = 0.0
    for i in np.flatnonzero(np.isfinite(slack)):
        gamma = 1.0 + slack[i]
        over = float((matrix[i] - gamma * matrix.min(axis=0)).max())
        if directions is Directions.BOTH:
            over = max(over, float((matrix.max(axis=0) - gamma * matrix[i]).max()))
        if over > 0.0:
            share = max(share, over / (over + float(slack[i]) / len(matrix)))
    mixed: Floats = (1.0 - share) * matrix + share / len(matrix)
    return mixed


def within_posterior(frequency: Floats, bound: float) -> Floats:
    """Return the matrix of greatest record utility under which no posterior exceeds ``bound``, which is that utility.

    The posterior is that of one whose prior is ``frequency`` itself: f_i R[i, j] / r_j with r = f R. Record utility is
    sum_j f_j R[j, j] <= bound sum_j r_j = bound for any matrix at all. It reaches that where a released j means j with
    probability ``bound``, and any other value in proportion to its frequency; then r_j is proportional to
    f_j (1 - f_j) / (bound - f_j), and the matrix has an inverse. So it is what the linear program over all matrices
    comes to, for each bound (the question of Huang, Du, "OptRR", ICDE 2008, who search by a genetic algorithm). As
    R[i, j] is the same for all i but j, the bound holds for every prior that gives j no more than f_j.

    Parameters
    ----------
    frequency : f >= 0 of shape (m,) with sum 1
    bound : below 1, and no less than the largest f: no matrix hides a value that is more frequent
    """
    gap = bound - frequency
    if gap.min() <= _NOTHING:  # the bound is the share of the most frequent value: nothing but it is released
        weight = np.where(gap <= _NOTHING, 1.0, 0.0)
        return np.tile(weight / weight.sum(), (len(gap), 1))
    ratio = (1.0 - frequency) / gap
    ratio /= frequency @ ratio  # r / f
    drawn = (1.0 - bound) * frequency * ratio / (1.0 - frequency)
    matrix: Floats = np.tile(drawn, (len(gap), 1))
    np.fill_diagonal(matrix, bound * ratio)
    return matrix


def on_grid(matrix: Floats) -> Floats:
    """Return the matrix with entries on the grid and rows that sum to exactly 1; the largest entry takes the rest.

    An entry moves by less than 2^-53, the largest of a row by at most m times that.
    """
    grid_steps = np.floor(matrix / matrix.sum(axis=1, keepdims=True) * GRID).astype(np.int64)
    row = np.arange(len(grid_steps))
    largest = grid_steps.argmax(axis=1)
    grid_steps[row, largest] += int(GRID) - grid_steps.sum(axis=1)
    rounded: Floats = grid_steps / GRID
    return rounded


# What the report says of a transition matrix, and what its recipients get.


@dataclass(frozen=True, slots=True, eq=False)
class RandomizedAttribute:
    """An attribute with its ``operator``; ``frequency`` (m,) are the shares of its values before.

    ``from_data``: the domain is what occurs. ``requirement`` is what the matrix was made for, if it was for one.
    """

    operator: MatrixOperator
    frequency: Floats
    from_data: bool
    requirement: Sensitivity | None = None


def figures(every: Sequence[RandomizedAttribute]) -> dict[str, Figure]:
    """Return the figures of every matrix; their names carry the attribute where there are several."""
    all_figures: dict[str, Figure] = {}
    for one in every:
        prefix = f"{one.operator.attribute}." if len(every) > 1 else ""
        matrix, stay = one.operator.transition, one.operator.staying
        moved = 0.5 * float(np.abs(one.frequency @ matrix - one.frequency).sum())
        number = condition(matrix)
        note = "" if number <= WORST else "the matrix cannot be inverted"
        all_figures |= {
            f"{prefix}record_utility": Figure(float(one.frequency @ stay), "probability"),
            f"{prefix}lowest_staying": Figure(float(stay.min()), "probability"),
            f"{prefix}highest_staying": Figure(float(stay.max()), "probability"),
            f"{prefix}expected_shift": Figure(moved, "share"),
            f"{prefix}condition": Figure(number if number <= WORST else None, "ratio", note=note),
        }
    return all_figures


def findings(one: RandomizedAttribute, params: PramParams) -> Iterator[Finding]:
    """Yield what a reader should know: frequencies given away, a matrix without an inverse, a domain of the data."""
    name = one.operator.attribute
    if params.by_frequency:
        text = (
            f"the matrix of `{name}` was made from how often each value occurs: a reader of its operator works out the"
            " exact shares of the original, and from those of two releases who was added or left out"
        )
        yield Finding("PPF647", Severity.INFO, text, name)
    if condition(one.operator.transition) > WORST:
        text = f"the matrix of `{name}` cannot be inverted: nobody can reconstruct its frequencies from the release"
        yield Finding("PPF869", Severity.WARNING, text, name)
    if one.from_data:
        text = f"The domain of `{name}` was taken from the data: {one.operator.size} values."
        yield Finding("PPF794", Severity.INFO, text, name)


def artifact(every: Sequence[RandomizedAttribute], params: PramParams) -> dict[str, Any]:
    """Return the content of ``operator.json``: all that estimating from the released data needs."""
    how = "invariant" if params.invariant else "retain" if params.retain is not None else "stated"
    how = "posterior" if params.posterior is not None else how
    made = "bounds" if params.derived else how
    return {
        "version": 1,
        "operators": [{**one.operator.document(), "made": made, **_state_bounds(one)} for one in every],
    }


def _state_bounds(one: RandomizedAttribute) -> Mapping[str, Any]:
    """Return the bounds as the policy states them, where the matrix was made for them."""
    if one.requirement is None:
        return {}
    return {
        "directions": str(one.requirement.directions),
        "bounds": as_written(one.requirement),
        "gamma": stated_gamma(one.requirement, one.operator.domain),
    }
