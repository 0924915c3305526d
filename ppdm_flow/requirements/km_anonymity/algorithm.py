"""The measured k of k^m-anonymity: the smallest support of a combination of at most m items that occurs at all.

Source: Terrovitis, Mamoulis, Kalnis, PVLDB 1(1), 2008, definition 1. Whoever knows at most m items of somebody's set
finds no set with all of them, or at least k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Figure, Finding, Measured
from ppdm_flow.mining.classes.wording import unreleased
from ppdm_flow.mining.exposure.columns import beside
from ppdm_flow.mining.releases.attributes import listed, namesakes
from ppdm_flow.mining.releases.relation import weight_of
from ppdm_flow.requirements.km_anonymity.kernels import smallest
from ppdm_flow.requirements.km_anonymity.requirement import KmAnonymity
from ppdm_flow.sdk.audit import AuditContext, Sql, quoted
from ppdm_flow.sdk.compiled import tolerant
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.sets import Baskets, stacked

Ints = npt.NDArray[np.int64]
_SMALLEST = tolerant(smallest)


class KmAnonymityAudit:
    """Counts combinations of items within each set."""

    def __init__(self, params: Any) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the smallest support, over all and by number of items."""
        del original
        figures: dict[str, Figure] = {}
        measured: list[Measured] = []
        findings: list[Finding] = []
        for requirement in _own(ctx):
            columns = namesakes(requirement.attribute, candidate, ctx)
            derived = beside(requirement.attribute, candidate, ctx)
            if not columns and not derived:
                measured.append(unreleased(requirement))
                continue
            supports = [_supports(candidate, column, requirement.m) for column in columns]
            if any(f is None for f in supports) or derived:
                measured.append(_uncounted(requirement, derived))
                findings.append(Finding("PPF880", Severity.WARNING, measured[-1].sentence, requirement.id))
                continue
            least = _least([f for f in supports if f is not None])
            own = _figures(requirement, least)
            figures |= own
            name = f"{requirement.id}.k"
            text = _sentence(requirement, least)
            bound = float(requirement.k)
            measured.append(Measured(requirement.id, name, own[name], bound, at_most=False, sentence=text))
        return AuditOutcome(figures, tuple(measured), tuple(findings))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Join the items of each set with themselves in SQL."""
        del original
        all_figures: dict[str, float | int | None] = {}
        if ctx.sql is None:
            return all_figures
        for requirement in _own(ctx):
            columns = namesakes(requirement.attribute, candidate, ctx)
            if (
                not columns
                or beside(requirement.attribute, candidate, ctx)
                or any(_supports(candidate, c, 0) is None for c in columns)
            ):
                continue
            every = [_again(ctx.sql, candidate, column, requirement.m) for column in columns]
            figures = _figures(requirement, _least(every))
            all_figures |= {name: figure.value for name, figure in figures.items()}
        return all_figures


def _own(ctx: AuditContext) -> list[KmAnonymity]:
    return [r for r in ctx.requirements if isinstance(r, KmAnonymity)]


def _supports(candidate: DataView, column: str, most: int) -> Ints | None:
    """Return the smallest support by number of items, 0 where none occurs; None for sets that are randomized."""
    weight = candidate.schema.weight
    parts, weights = [], []
    for part in candidate.partitions([column, *([weight] if weight else [])]):
        sets = part.sets[column]
        if not isinstance(sets, Baskets):
            return None
        if most == 0:
            return np.zeros(0, dtype=np.int64)
        parts.append(sets)
        weights.append(weights_of(part[weight]) if weight else np.ones(len(sets), dtype=np.int64))
    sets = stacked(parts)
    if not isinstance(sets, Baskets):
        return None
    return _SMALLEST(sets.offsets, sets.items, np.concatenate(weights), most, len(sets.categories))


def _again(sql: Sql, candidate: DataView, column: str, most: int) -> Ints:
    items = f"""
        WITH rows_ AS (SELECT ROW_NUMBER() OVER () AS r, {quoted(column)} AS sets, {weight_of(candidate.schema)} AS n
            FROM candidate),
        items AS MATERIALIZED (SELECT r, n, UNNEST(sets) AS item FROM rows_ WHERE n > 0)"""  # noqa: S608  # quoted
    supports = []
    for size in range(1, most + 1):
        names = [f"i{i}" for i in range(size)]
        joins = "".join(
            f" JOIN items i{i} ON i{i}.r = i{i - 1}.r AND i{i}.item > i{i - 1}.item" for i in range(1, size)
        )
        keys = ", ".join(f"{name}.item" for name in names)
        query = f"{items} SELECT COALESCE(MIN(n), 0) FROM (SELECT SUM(i0.n) AS n FROM items i0{joins} GROUP BY {keys})"  # noqa: S608  # our own names
        supports.append(int(sql.rows(query)[0][0]))
    return np.array(supports, dtype=np.int64)


def _least(supports: Sequence[Ints]) -> Ints:
    """Return the smaller supports of several columns; 0 is none."""
    many = np.stack(supports)
    none = (many == 0).all(axis=0)
    low = np.where(many == 0, np.iinfo(np.int64).max, many).min(axis=0)
    return np.where(none, 0, low)


def _figures(requirement: KmAnonymity, least: Ints) -> dict[str, Figure]:
    some = least[least > 0]
    figures = {"k": Figure(int(some.min()) if len(some) else 0, "sets")}
    figures |= {f"k_{i}": Figure(int(support), "sets") for i, support in enumerate(least.tolist(), start=1)}
    return {f"{requirement.id}.{name}": figure for name, figure in figures.items()}


def _sentence(requirement: KmAnonymity, least: Ints) -> str:
    some = least[least > 0]
    if not len(some):
        return f"No set of `{requirement.attribute}` holds an item, so there is nothing to measure."
    k = int(some.min())
    size = int(np.flatnonzero(least == k)[0]) + 1
    return (
        f"Whoever knows at most {counted(requirement.m, 'item')} of somebody's `{requirement.attribute}` finds at least"
        f" {counted(k, 'set')} with all of them; {requirement.k:,} are required. The rarest combination has"
        f" {counted(size, 'item')}."
    )


def _uncounted(requirement: KmAnonymity, derived: Sequence[str]) -> Measured:
    """Say that combinations of released items are not all that is told, or not those of people."""
    text = (
        f"{listed(derived)}: computed from the sets of `{requirement.attribute}`, and what that tells of combinations"
        " of items cannot be counted."
        if derived
        else f"The sets of `{requirement.attribute}` are randomized: combinations of released items are not those that"
        " anyone knows of a person, so their number says nothing."
    )
    figure = Figure(None, "sets", note=text)
    return Measured(requirement.id, f"{requirement.id}.k", figure, float(requirement.k), False, text, verifiable=False)
