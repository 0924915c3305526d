"""What someone learns of a person who knows the true values of some of the others (a corruption attack).

A released attribute with a known operator is perturbed record by record; any other one is released in classes of
people who look alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.corruption.independence import independence
from ppdm_flow.audits.corruption.perturbed import Beliefs, exposure, grouped, highest, highest_of_matrix
from ppdm_flow.audits.corruption.second_route import grouped_sql, perturbed_sql
from ppdm_flow.audits.corruption.spec import CorruptionParams
from ppdm_flow.audits.corruption.wording import chart, findings
from ppdm_flow.core.results import AuditOutcome, Figure
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.reconstruction.histogram import given_the_original, histogram, operator_input
from ppdm_flow.mining.releases.attributes import released, source_of
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.sdk.view import DataView

Figures = dict[str, Figure]
Floats = npt.NDArray[np.float64]

WORST = ("worst_posterior", "worst_after_corruption", "certain", "certain_after_corruption", "exposure")
LEAST = ("independence_p",)


@dataclass(frozen=True, slots=True)
class _Attack:
    """One release under attack."""

    params: CorruptionParams
    original: DataView
    candidate: DataView
    ctx: AuditContext

    @property
    def columns(self) -> tuple[str, ...]:
        """The released columns that it is about."""
        if self.params.attributes is None:
            return self.candidate.schema.having(Role.SENSITIVE)
        return released(self.params.attributes, self.candidate, self.ctx)

    @property
    def known(self) -> int | None:
        """How many others the adversary knows, None for all."""
        return None if self.params.corrupted == "all" else self.params.corrupted

    def classes(self, column: str) -> tuple[str, ...]:
        """Return what tells people apart, beside ``column`` itself."""
        return tuple(c for c in self.candidate.schema.having(Role.QUASI_IDENTIFIER) if c != column)


class CorruptionAudit:
    """Looks at every sensitive released column; a bare figure is the worst over them."""

    def __init__(self, params: CorruptionParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the highest posteriors and the share of certain records, without and with corruption."""
        attack = _Attack(self.params, original, candidate, ctx)
        by_column = {column: _measured(attack, column) for column in attack.columns}
        figures = {f"{c}.{name}": figure for c, mine in by_column.items() for name, figure in mine.items()}
        return AuditOutcome(
            figures={**_worst(by_column), **figures},
            findings=tuple(f for c, mine in by_column.items() for f in findings(c, mine, attack.known, ctx)),
            charts=(chart(by_column, attack.known),) if by_column else (),
        )

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Compute the posteriors again: in SQL over the released file, or from every entry of the operator."""
        attack = _Attack(self.params, original, candidate, ctx)
        again: dict[str, float | int | None] = {}
        for column in attack.columns:
            operator = ctx.operators.get(column)
            if operator is None:
                mine = grouped_sql(column, attack.classes(column), attack.known, candidate, ctx)
            else:
                prior = _prior(attack, column, operator)
                mine = perturbed_sql(operator, prior, self.params.sampled, attack.known) if prior is not None else {}
            again |= {f"{column}.{name}": value for name, value in mine.items()}
        return again


def _measured(attack: _Attack, column: str) -> Figures:
    operator = attack.ctx.operators.get(column)
    if operator is not None:
        return _perturbed(attack, column, operator)
    classes = attack.classes(column)
    counts = attack.candidate.counts((*classes, column))
    return _of_beliefs(grouped(counts, classes, column, attack.known))


def _of_beliefs(beliefs: Beliefs) -> Figures:
    none = "" if len(beliefs.rows) else "no value is released"
    every = {
        WORST[0]: beliefs.worst(beliefs.before),
        WORST[1]: beliefs.worst(beliefs.after),
        WORST[2]: beliefs.certain(beliefs.before),
        WORST[3]: beliefs.certain(beliefs.after),
    }
    units = ("probability", "probability", "share", "share")
    return {n: Figure(v, unit, note=none) for (n, v), unit in zip(every.items(), units, strict=True)}


def _perturbed(attack: _Attack, column: str, operator: ValueOperator) -> Figures:
    prior = _prior(attack, column, operator)
    if prior is None:
        note = "what the operator was given is not known"
        return {n: Figure(None, "probability", note=note) for n in (*WORST, *LEAST)}
    drawn = attack.params.sampled
    known = drawn - 1 if attack.known is None else attack.known
    before = _highest(operator, prior, drawn, 0)
    after = _highest(operator, prior, drawn, known)
    some = "" if prior.any() else "there are no rows"
    figures = {
        WORST[0]: Figure(float(before.max()) if not some else None, "probability", note=some),
        WORST[1]: Figure(float(after.max()) if not some else None, "probability", note=some),
        WORST[2]: Figure(float(prior[before >= 1.0].sum()), "share"),
        WORST[3]: Figure(float(prior[after >= 1.0].sum()), "share"),
        WORST[4]: _exposure(operator, prior, drawn),
    }
    return figures | {LEAST[0]: _independent(attack, column, operator)}


def _highest(operator: ValueOperator, prior: Floats, drawn: int, known: int) -> Floats:
    if isinstance(operator, MatrixOperator):
        return highest_of_matrix(operator.transition, prior, drawn, known)
    return highest(operator.retention, prior, drawn, known)


def _exposure(operator: ValueOperator, prior: Floats, drawn: int) -> Figure:
    if isinstance(operator, MatrixOperator):
        return Figure(None, "probability", note="a matrix does not say whether a value was kept or drawn again")
    return Figure(exposure(operator.retention, prior, drawn), "probability")


def _independent(attack: _Attack, column: str, operator: ValueOperator) -> Figure:
    ctx = attack.ctx
    source = source_of(column, ctx)
    direct = given_the_original(operator, ctx.attributes.get(column))
    tested = independence(operator, source, column, ctx) if direct else None
    if tested is None:
        return Figure(None, "probability", note="released rows cannot be paired with what the operator was given")
    return Figure(tested.p_value, "probability", sample=tested.rows)


def _prior(attack: _Attack, column: str, operator: ValueOperator) -> Floats | None:
    given = operator_input(operator, column, attack.original, attack.ctx)
    return None if given is None else histogram(*given, operator.domain).frequency


def _worst(by_column: Mapping[str, Figures]) -> Figures:
    """Return each figure's worst value over the columns that have it."""
    worst: Figures = {}
    for name in (*WORST, *LEAST):
        every = [mine[name] for mine in by_column.values() if name in mine and mine[name].value is not None]
        choose = min if name in LEAST else max
        if every:
            worst[name] = choose(every, key=lambda f: f.value or 0.0)
        else:
            unit = "share" if name.startswith("certain") else "probability"
            worst[name] = Figure(None, unit, note="no released attribute has it")
    return worst
