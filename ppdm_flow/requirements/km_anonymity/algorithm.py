"""The measured k of k^m-anonymity: the smallest support of a combination of at most m items that occurs at all.

Source: Terrovitis, Mamoulis, Kalnis, PVLDB 1(1), 2008, definition 1. Whoever knows at most m items of somebody's set
finds no set with all of them, or at least k; where people are counted, the sets of at least k people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Figure, Finding, Measured
from ppdm_flow.mining.classes.wording import unreleased
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.requirements.km_anonymity.requirement import KmAnonymity
from ppdm_flow.requirements.km_anonymity.supports import Ints, RandomizedSetsError, columns_of, supports, supports_sql
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


class KmAnonymityAudit:
    """Counts combinations of items within each set."""

    def __init__(self, params: Any) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the smallest support, over all and by number of items."""
        del original
        parts = [_judged(requirement, candidate, ctx) for requirement in _own(ctx)]
        return AuditOutcome(
            figures={name: figure for part in parts for name, figure in part.figures.items()},
            measured=tuple(m for part in parts for m in part.measured),
            findings=tuple(f for part in parts for f in part.findings),
        )

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Join the items of each set with themselves in SQL."""
        del original
        figures: dict[str, float | int | None] = {}
        for requirement in _own(ctx):
            columns, derived = columns_of(requirement, candidate, ctx)
            if ctx.sql is None or not columns or derived:
                continue
            try:
                every = [s for c in columns for s in supports_sql(requirement, c, candidate, ctx, ctx.sql)]
            except (UnmeasuredError, RandomizedSetsError):
                continue
            figures |= {name: figure.value for name, figure in _figures(requirement, _least(every), ctx).items()}
        return figures


def _judged(requirement: KmAnonymity, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
    columns, derived = columns_of(requirement, candidate, ctx)
    if not columns and not derived:
        return AuditOutcome(measured=(unreleased(requirement),))
    if derived:
        text = (
            f"{listed(derived)}: computed from the sets of `{requirement.attribute}`, and what that tells of"
            " combinations of items cannot be counted."
        )
        return _uncounted(requirement, "PPF880", text, ctx)
    try:
        least = _least([s for column in columns for s in supports(requirement, column, candidate, ctx)])
    except RandomizedSetsError:
        text = (
            f"The sets of `{requirement.attribute}` are randomized: combinations of released items are not those that"
            " anyone knows of a person, so their number says nothing."
        )
        return _uncounted(requirement, "PPF880", text, ctx)
    except UnmeasuredError as fault:
        return _uncounted(requirement, fault.code, fault.text, ctx)
    own = _figures(requirement, least, ctx)
    name, bound = f"{requirement.id}.k", float(requirement.k)
    text = _sentence(requirement, least, ctx)
    return AuditOutcome(own, (Measured(requirement.id, name, own[name], bound, at_most=False, sentence=text),))


def _own(ctx: AuditContext) -> list[KmAnonymity]:
    return [r for r in ctx.requirements if isinstance(r, KmAnonymity)]


def _least(supports: Sequence[Ints]) -> Ints:
    """Return the smaller supports of several columns; 0 is none."""
    many = np.stack(supports)
    none = (many == 0).all(axis=0)
    low = np.where(many == 0, np.iinfo(np.int64).max, many).min(axis=0)
    return np.where(none, 0, low)


def _unit(ctx: AuditContext) -> str:
    return "sets" if ctx.people is None else "people"


def _figures(requirement: KmAnonymity, least: Ints, ctx: AuditContext) -> dict[str, Figure]:
    some, unit = least[least > 0], _unit(ctx)
    figures = {"k": Figure(int(some.min()) if len(some) else 0, unit)}
    figures |= {f"k_{i}": Figure(int(support), unit) for i, support in enumerate(least.tolist(), start=1)}
    return {f"{requirement.id}.{name}": figure for name, figure in figures.items()}


def _sentence(requirement: KmAnonymity, least: Ints, ctx: AuditContext) -> str:
    some = least[least > 0]
    if not len(some):
        return f"No set of `{requirement.attribute}` holds an item, so there is nothing to measure."
    k = int(some.min())
    size = int(np.flatnonzero(least == k)[0]) + 1
    who = counted(k, "set") if ctx.people is None else f"{counted(k, 'person')} who {'has' if k == 1 else 'have'} a set"
    return (
        f"Whoever knows at most {counted(requirement.m, 'item')} of somebody's `{requirement.attribute}` finds at least"
        f" {who} with all of them; {requirement.k:,} are required. The rarest combination has"
        f" {counted(size, 'item')}."
    )


def _uncounted(requirement: KmAnonymity, code: str, text: str, ctx: AuditContext) -> AuditOutcome:
    """Say why it is not measured."""
    figure = Figure(None, _unit(ctx), note=text)
    name, bound = f"{requirement.id}.k", float(requirement.k)
    measured = Measured(requirement.id, name, figure, bound, at_most=False, sentence=text, verifiable=False)
    return AuditOutcome(measured=(measured,), findings=(Finding(code, Severity.WARNING, text, requirement.id),))
