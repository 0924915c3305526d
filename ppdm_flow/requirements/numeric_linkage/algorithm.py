"""The share of original records that an intruder finds again, who knows their numbers and takes the nearest rows.

The intruder knows the original numbers of a record in some attributes, and names the released rows that are nearest to
them in one of three spaces, or those of the largest weights by which attributes agree; what finds most counts. Of
several released columns of one attribute the intruder takes the mean, weighted by how near each is on average. Rows are
paired by their number in the source, so the order of rows protects nothing here. Beside it stands the share that naming
rows at random finds (Domingo-Ferrer, Torra, 2001; the covariance of errors: Torra, Abowd, Domingo-Ferrer, PSD 2006).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ppdm_flow.core.results import AuditOutcome, Figure, Finding, Measured
from ppdm_flow.mining.classes.wording import unmeasured
from ppdm_flow.mining.exposure.columns import carriers
from ppdm_flow.mining.exposure.estimates import best
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.exposure.numbers import Floats, Ints, UnnumberedError, paired_numbers, type_of
from ppdm_flow.requirements.numeric_linkage.audit import NumericLinkageParams
from ppdm_flow.requirements.numeric_linkage.figures import figures_of
from ppdm_flow.requirements.numeric_linkage.nearest import Places, places
from ppdm_flow.requirements.numeric_linkage.probabilistic import PROBABILISTIC, places_by_weight
from ppdm_flow.requirements.numeric_linkage.probabilistic_query import places_by_weight_again
from ppdm_flow.requirements.numeric_linkage.requirement import NumericLinkage
from ppdm_flow.requirements.numeric_linkage.second_route import numbers_again, places_again
from ppdm_flow.requirements.numeric_linkage.sentences import excess_sentence, nothing, sentence
from ppdm_flow.requirements.numeric_linkage.spaces import spaces
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView

PAIRS = 1_000_000_000
"""At most so many pairs of records and released rows are compared in each way,"""
LEAST = 1000
"""or those of so many records, where the rows are more."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The ``prefix`` of the figures, what the intruder knows and does, and who asks for it."""

    prefix: str
    attributes: tuple[str, ...]
    candidates: int
    sample: int
    requirement: NumericLinkage | None

    @property
    def bounded(self) -> dict[str, float]:
        """The figures that have a bound, which is 1 where nobody asks for one."""
        asked = self.requirement
        more = {} if asked is None or asked.max_excess is None else {"excess_bound": asked.max_excess}
        return {"share_bound": 1.0 if asked is None else asked.max} | more

    def columns(self, candidate: DataView, ctx: AuditContext) -> list[tuple[str, str]]:
        """Return the released columns, each with the attribute that it tells of."""
        return [(c, a) for a in self.attributes for c in carriers(a, candidate, ctx)]


class NumericLinkageAudit:
    """Looks for a sample of original records among the released rows."""

    def __init__(self, params: NumericLinkageParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the share of records that are found, by space, with intervals where they are a sample."""
        del original
        figures: dict[str, Figure] = {}
        measured: list[Measured] = []
        findings: list[Finding] = []
        for wanted in self._wanted(ctx):
            columns = wanted.columns(candidate, ctx)
            if not columns:
                figures[f"{wanted.prefix}columns"] = Figure(0, "columns")
                measured.extend(nothing(r) for r in (wanted.requirement,) if r is not None)
                continue
            try:
                before, after = _numbers(columns, candidate, ctx)
                chosen, known = sampled(before, wanted.sample)
            except UnmeasuredError as fault:
                lacking = {name: Figure(None, "share", note=fault.text) for name in wanted.bounded}
                figures |= {f"{wanted.prefix}{name}": figure for name, figure in lacking.items()}
                measured.extend(_judged(wanted, lacking, fault.text, verifiable=False))
                findings.append(unmeasured(wanted.prefix.removesuffix(".") or "numeric_linkage", fault))
                continue
            by_way = _places(before, after, chosen, wanted.candidates)
            own = figures_of(wanted.candidates, by_way, known, len(after), len(columns))
            figures |= {f"{wanted.prefix}{name}": figure for name, figure in own.items()}
            text = sentence(wanted.attributes, wanted.candidates, wanted.sample, own)
            measured.extend(_judged(wanted, own, text))
        return AuditOutcome(figures, tuple(measured), tuple(findings))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Read the numbers again in SQL, and compare every record of the sample with every row."""
        found: dict[str, float | int | None] = {}
        for wanted in self._wanted(ctx):
            columns = wanted.columns(candidate, ctx)
            if not columns:
                found[f"{wanted.prefix}columns"] = 0
                continue
            if ctx.sql is None:
                continue
            try:
                before, after = _read_again(columns, original, candidate, ctx)
                chosen, known = sampled(before, wanted.sample)
            except UnmeasuredError:
                continue
            by_way = _places_again(ctx.sql, before, after, chosen, wanted.candidates)
            own = figures_of(wanted.candidates, by_way, known, len(after), len(columns))
            found |= {f"{wanted.prefix}{name}": figure.value for name, figure in own.items()}
        return found

    def _wanted(self, ctx: AuditContext) -> Iterator[_Wanted]:
        own = [r for r in ctx.requirements if isinstance(r, NumericLinkage)]
        yield from (_Wanted(f"{r.id}.", r.attributes, r.candidates, r.sample, r) for r in own)
        if not own and self.params.attributes is not None:
            yield _Wanted("", self.params.attributes, self.params.candidates, self.params.sample, None)


def sampled(original: Floats, most: int) -> tuple[Ints, int]:
    """Return the places of records that are looked for, and of how many they are a sample.

    Those that miss a number are none of them. The sample is the same every time, and no larger than PAIRS and LEAST
    say. Raises UnnumberedError of none.
    """
    most = min(most, max(LEAST, PAIRS // max(1, len(original))))
    known = np.flatnonzero(~np.isnan(original).any(axis=1))
    if not len(known):
        raise UnnumberedError("No released row has all the original numbers that records are to be found by.")
    if len(known) <= most:
        return known, len(known)
    return np.sort(np.random.default_rng(0).choice(known, most, replace=False)), len(known)


def _places(before: Floats, after: Floats, chosen: Ints, candidates: int) -> dict[str, Places]:
    every = np.arange(len(before))
    by_way = {name: places(space, chosen, candidates) for name, space in spaces(before, after).items()}
    return by_way | {PROBABILISTIC: places_by_weight(before, after, every, chosen)}


def _places_again(sql: Sql, before: Floats, after: Floats, chosen: Ints, candidates: int) -> dict[str, Places]:
    every = np.arange(len(before))
    by_way = {name: places_again(space, chosen, candidates) for name, space in spaces(before, after).items()}
    return by_way | {PROBABILISTIC: places_by_weight_again(sql, before, after, every, chosen)}


def _numbers(columns: Sequence[tuple[str, str]], candidate: DataView, ctx: AuditContext) -> tuple[Floats, Floats]:
    """Return original numbers and what is released of them, (rows, attributes), by row number."""
    names = list(dict.fromkeys(attribute for _, attribute in columns))
    read = paired_numbers(names, columns, candidate, ctx)
    order = np.argsort(read.rows, kind="stable")
    before = np.column_stack([read.original[name][order] for name in names])
    released = {column: numbers[order] for column, numbers in read.released.items()}
    return before, _estimated(before, names, columns, released)


def _estimated(
    before: Floats, names: Sequence[str], columns: Sequence[tuple[str, str]], released: Mapping[str, Floats]
) -> Floats:
    ones = np.ones(len(before), np.int64)
    each = [[released[c] for c, a in columns if a == name] for name in names]
    return np.column_stack([best(before[:, j], parts, ones) for j, parts in enumerate(each)])


def _read_again(
    columns: Sequence[tuple[str, str]], original: DataView, candidate: DataView, ctx: AuditContext
) -> tuple[Floats, Floats]:
    if ctx.sql is None or ctx.pairs is None:
        raise UnnumberedError("Nothing to read.")
    names = list(dict.fromkeys(attribute for _, attribute in columns))
    paired_numbers(names, columns, candidate, ctx)  # what the first route cannot read, this one need not read either
    first = next(original.partitions(names), None)
    part = next(candidate.partitions([c for c, _ in columns]), None)
    of_names = {n: type_of(n, None if first is None else first[n], ctx) for n in names}
    types = [of_names[a] if part is None else getattr(part[c], "kind", of_names[a]) for c, a in columns]
    plain = [c for c, _ in columns]
    kinds = [of_names[n] for n in names], types
    before, after = numbers_again(ctx.sql, candidate, ctx.pairs, names, plain, kinds)
    return before, _estimated(before, names, columns, {c: after[:, i] for i, c in enumerate(plain)})


def _judged(
    wanted: _Wanted, figures: Mapping[str, Figure], text: str, *, verifiable: bool = True
) -> Iterator[Measured]:
    if wanted.requirement is None:
        return
    for name, bound in wanted.bounded.items():
        said = text if not verifiable else f"{text} At most {bound:.1%} is allowed."
        if verifiable and name != "share_bound":
            said = excess_sentence(wanted.candidates, figures[name], bound)
        metric = f"{wanted.prefix}{name}"
        yield Measured(wanted.requirement.id, metric, figures[name], bound, True, said, verifiable=verifiable)
