"""PRAM: randomize categories by a transition matrix (post-randomization)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.fine_grain_perturbation.bounds import bounds_of
from ppdm_flow.anonymizers.fine_grain_perturbation.general import LARGEST as LARGEST_PROGRAM
from ppdm_flow.anonymizers.fine_grain_perturbation.histogram import DomainCounts, histogram_of
from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import optimal_retention
from ppdm_flow.anonymizers.fine_grain_perturbation.people import ValuesOfPeople, values_of_people
from ppdm_flow.anonymizers.naming import carried, subject_of
from ppdm_flow.anonymizers.pram.account import RandomizedAttribute, artifact, figures, findings
from ppdm_flow.anonymizers.pram.matrices import general, invariant, of_rows, on_grid, retaining, within_posterior
from ppdm_flow.anonymizers.pram.spec import LARGEST, PramParams, declared
from ppdm_flow.anonymizers.pram.stated import Rows, faults, read_matrix, unusable
from ppdm_flow.anonymizers.pram.transform import PramTransform
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.sdk.anonymizer import Fitted, Operator, StepContext
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.sdk.view import DataView

Floats = npt.NDArray[np.float64]


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
