"""The people whom the policy names as targets: what the attacker knows of them, and what the release adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.audits.inference.knowledge import InferenceTarget
from ppdm_flow.audits.inference.people import PERSON, ClassValues, PeopleHoldings, holdings, people_holdings
from ppdm_flow.audits.inference.secrets import Secrets
from ppdm_flow.audits.labels.covering import cover
from ppdm_flow.audits.labels.released import hierarchy_of
from ppdm_flow.audits.records.columns import truthful
from ppdm_flow.audits.records.members import counts_people
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Figure
from ppdm_flow.mining.exposure.paired import paired_counts
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS
from ppdm_flow.tables.counts import Counts

Truths = npt.NDArray[np.bool_]

SecretValues = ClassValues | PeopleHoldings
"""The values of classes, by rows or by people."""


def amount(number: int, unit: str) -> str:
    """Return so many rows or people, in words."""
    return counted(number, "person" if unit == "people" else "row")


@dataclass(frozen=True, slots=True)
class TargetInference:
    """The inference about a target's ``secret``: ``rows`` fit, with ``values`` possible; ``value`` where it is one.

    ``value`` is as the report may show it; None where several are possible or none. Where people are counted, ``rows``
    are the different people who fit, and a value that all of them have is the only one.
    """

    target: str
    secret: str
    rows: int
    values: int
    value: str | None = None
    unit: str = "rows"

    @property
    def certain(self) -> bool:
        """Whether one value is left."""
        return self.value is not None

    def figures(self) -> dict[str, Figure]:
        """Return how many rows and values are left."""
        start = f"target.{self.target}.{self.secret}"
        none = "no released row fits" if self.rows == 0 else "some of the rows that fit have no value"
        known = self.rows > 0 and self.values > 0
        return {
            f"{start}.rows": Figure(self.rows, self.unit),
            f"{start}.values": Figure(self.values if known else None, "values", note="" if known else none),
        }


def infer(
    targets: Mapping[str, InferenceTarget], columns: Sequence[str], secret: str, candidate: DataView, ctx: AuditContext
) -> list[TargetInference]:
    """Return what the release reveals of each target's ``secret``."""
    if not targets:
        return []
    counts = _counted(candidate, (*columns, secret), ctx)
    return [_one(name, target, counts, columns, secret, ctx) for name, target in targets.items()]


def _counted(candidate: DataView, columns: Sequence[str], ctx: AuditContext) -> Counts:
    """Return the released rows, and where people are counted those of each of them."""
    if not counts_people(ctx) or ctx.people is None or ctx.pairs is None:
        return candidate.counts(columns)
    counts = paired_counts(candidate, ctx.pairs, columns, [ctx.people.subject])
    return Counts((*columns, PERSON), counts.categories, counts.codes, counts.counts)


def _one(
    name: str, target: InferenceTarget, counts: Counts, columns: Sequence[str], secret: str, ctx: AuditContext
) -> TargetInference:
    fits: Truths = counts.counts > 0
    for column in columns:
        value_known = target.known.get(column, target.known.get(source_of(column, ctx)))
        if value_known is not None:
            fits &= _fitting(value_known, column, counts, ctx)
    names = counts.names(secret)
    out = target.never.get(secret, target.never.get(source_of(secret, ctx), ()))
    ruled_out = [i for i, text in enumerate(names.to_pylist()) if text in out]
    codes = counts.of(secret)
    fits &= ~np.isin(codes, ruled_out)
    left = np.unique(codes[fits])
    blank = bool((left < 0).any())
    rows, unit = int(counts.counts[fits].sum()), "rows"
    if PERSON in counts.columns:
        rows, unit = len(np.unique(counts.of(PERSON)[fits])), "people"
        everybodys = _everybodys(codes[fits], counts.of(PERSON)[fits])
        left, blank = (everybodys, False) if len(everybodys) else (left, blank)
    single = len(left) == 1 and not blank
    value = ctx.label(secret, names[int(left[0])].as_py(), int(left[0]) + 1) if single else None
    return TargetInference(name, secret, rows, 0 if blank else len(left), value, unit)


def _everybodys(codes: npt.NDArray[np.int32], person: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return a value that everybody has in some row; empty where there is none."""
    pairs = np.unique(np.stack([codes, person], axis=1)[codes >= 0], axis=0)
    values, many = np.unique(pairs[:, 0], return_counts=True)
    return np.asarray(values[many == len(np.unique(person))][:1], dtype=np.int32)


def _fitting(value: str, column: str, counts: Counts, ctx: AuditContext) -> Truths:
    """Return which combinations have a label in ``column`` that covers the value."""
    covered = cover(counts.names(column), pa.array([value]), hierarchy_of(column, ctx), ctx.nulls, ctx.home)
    fits = covered.wide.copy()
    fits[covered.labels[covered.starts[SPECIALS] : covered.starts[SPECIALS + 1]]] = True
    chosen: Truths = fits[counts.of(column) + SPECIALS]
    return chosen


def units(values_by_secret: Mapping[str, SecretValues]) -> str:
    """Return what is counted: rows, or people."""
    return next((h.unit for h in values_by_secret.values()), "rows")


@dataclass(frozen=True, slots=True)
class AttackedClasses:
    """The input of attacks on classes: every sensitive released column, and people about whom something is known.

    ``values_by_secret``: the classes' values, by sensitive column; ``true``: whether its cells are people's own values.

    ``inferences`` is what the release reveals of the targets.
    """

    values_by_secret: Mapping[str, SecretValues]
    true: Mapping[str, bool]
    inferences: Sequence[TargetInference]

    @property
    def sound(self) -> Mapping[str, SecretValues]:
        """The columns from which something true can be concluded."""
        return {s: h for s, h in self.values_by_secret.items() if self.true[s]}

    @property
    def sure(self) -> list[TargetInference]:
        """What such columns reveal."""
        return [i for i in self.inferences if self.true[i.secret]]

    def figures(self) -> dict[str, Figure]:
        """Return the figures on the targets."""
        return {name: figure for inference in self.inferences for name, figure in inference.figures().items()}


def attacked_classes(
    of: Secrets, targets: Mapping[str, InferenceTarget], candidate: DataView, ctx: AuditContext
) -> AttackedClasses:
    """Look at every sensitive column, beside the columns that tell people apart."""
    return AttackedClasses(
        {s: _secret_values(candidate, of.beside(s), s, ctx) for s in of.secrets},
        {s: truthful((*of.beside(s), s), ctx) for s in of.secrets},
        [i for s in of.secrets for i in infer(targets, of.beside(s), s, candidate, ctx)],
    )


def _secret_values(candidate: DataView, columns: Sequence[str], secret: str, ctx: AuditContext) -> SecretValues:
    if counts_people(ctx):
        return people_holdings(candidate, columns, secret, ctx, links=True)
    return holdings(candidate, columns, secret)
