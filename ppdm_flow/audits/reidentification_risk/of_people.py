"""How likely a person is found out by one of several rows, or by several that are seen to be one person's.

A class of f people leaves f to guess among, each as likely, whatever rows they have there. A person's risk is the
largest over the person's rows. Where rows are linked, whoever knows the classes of up to ``known_rows`` rows of a
person guesses among the linked people who have them all: a person's risk is then the largest over these combinations
too. A population tells nothing of several rows: the released people stand for it there, which overstates the
journalist's and the marketer's success.

Terrovitis, Mamoulis, Kalnis, Privacy-preserving anonymization of set-valued data, PVLDB 1(1), 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.records.members import Members, classes_sql
from ppdm_flow.audits.reidentification_risk.population import PopulationClassSizes
from ppdm_flow.audits.reidentification_risk.risk import ReidentificationRisk, risk_of_people
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import RevealingColumns
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.people.known import KnownRows, may_link
from ppdm_flow.mining.people.known_query import KnownQuery
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

Floats = npt.NDArray[np.float64]

_UNKNOWN = "what linked rows of people tell together is not counted, as a run says of `k_anonymity`"
_RELEASED = "at most: a population tells nothing of several rows of a person, so the release stands for it there"
_LINKED = "with what rows tell together that are seen to be one person's"


@dataclass(frozen=True, slots=True, eq=False)
class LinkedRisks:
    """``risks`` (people,) of combinations of linked rows, 0 where there are none; None where they are too many.

    ``complete``: these are all; else only the highest is known to be right.
    """

    risks: Floats | None
    complete: bool = True


def risks_of_people(
    members: Members, population: PopulationClassSizes, candidate: DataView, ctx: AuditContext, threshold: float
) -> tuple[ReidentificationRisk, ReidentificationRisk]:
    """Return the prosecutor's and the journalist's risk of the people of released classes."""
    own, others = (members.largest(1.0 / np.maximum(sizes, 1)) for sizes in (members.sizes, population.sizes))
    linked = _linked(members, candidate, ctx)
    if linked is None:
        return risk_of_people(own, threshold), risk_of_people(others, threshold, population.note)
    if linked.risks is None:
        unknown = ReidentificationRisk(None, None, None, None, "people", unmeasured=_UNKNOWN)
        return unknown, unknown
    prosecutor = risk_of_people(np.maximum(own, linked.risks), threshold, _LINKED)
    alike = bool((population.sizes == members.sizes).all())
    if alike or (ctx.people is not None and ctx.people.known_rows != 1):
        note = population.note if alike else _RELEASED
        journalist = risk_of_people(np.maximum(others, linked.risks), threshold, note)
    else:
        journalist = risk_of_people(others, threshold, population.note)
    return _told(prosecutor, linked), _told(journalist, linked)


def _told(risk: ReidentificationRisk, linked: LinkedRisks) -> ReidentificationRisk:
    """Leave out what is not known where the combinations were not all looked at."""
    if linked.complete:
        return risk
    return replace(risk, average=None, at_risk=None, at_highest=None, unmeasured=_UNKNOWN)


def _linked(members: Members, candidate: DataView, ctx: AuditContext) -> LinkedRisks | None:
    """Return the risks of combinations of classes; None where no row is linked, or nobody has several."""
    if int(members.rows.sum()) == len(members.numbers):
        return None
    columns, own = _read(members.classes.columns, ctx)
    try:
        if not may_link(columns, candidate, own):
            return None
        crowds = KnownRows.of(columns, None, candidate, own).smallest_crowd()
    except UnmeasuredError:
        return LinkedRisks(None)
    if crowds.smallest is None:
        return None
    risks = np.zeros(len(members.numbers))
    risks[np.searchsorted(members.numbers, crowds.people)] = 1.0 / crowds.by_person
    return LinkedRisks(risks, complete=not crowds.ended_early)


def _read(columns: Sequence[str], ctx: AuditContext) -> tuple[RevealingColumns, AuditContext]:
    """Return classes as this audit forms them: a missing cell is a value of its own."""
    return RevealingColumns(tuple(columns)), replace(ctx, nulls=Nulls.OWN_CATEGORY)


def risks_sql(
    columns: Sequence[str], candidate: DataView, ctx: AuditContext, threshold: float
) -> dict[str, float | int | None]:
    """Return figures of the prosecutor by the second route: all, or the highest risk alone where rows are linked."""
    classes = classes_sql(candidate, columns, ctx)
    if not classes or ctx.sql is None:
        return {}
    people = sum(own for _, _, own in classes)
    smallest = min(size for _, size, _ in classes)
    if sum(rows for rows, _, _ in classes) > people:
        try:
            crowd = KnownQuery.of_known(ctx.sql, _read(columns, ctx)[0], None, candidate, _read(columns, ctx)[1])
            linked = crowd.smallest_crowd()
        except UnmeasuredError:
            return {"prosecutor_highest": None}
        if linked is not None:
            return {"prosecutor_highest": 1.0 / min(smallest, linked)}
    return {
        "prosecutor_highest": 1.0 / smallest,
        "prosecutor_average": sum(own / size for _, size, own in classes) / people,
        "prosecutor_at_risk": sum(own for _, size, own in classes if 1.0 / size > threshold) / people,
        "prosecutor_at_highest": sum(own for _, size, own in classes if size == smallest) / people,
    }
