"""The share of original records that an intruder finds again, who knows their numbers and takes the nearest rows.

The intruder knows the original numbers of a record in some attributes, and names the released rows that are nearest to
them in one of three spaces, or those of the largest weights by which attributes agree; what finds most counts. Of
several released columns of one attribute the intruder takes the mean, weighted by how near each is on average. Rows are
paired by their number in the source, so the order of rows protects nothing here. Beside it stands the share that naming
rows at random finds (Domingo-Ferrer, Torra, 2001; the covariance of errors: Torra, Abowd, Domingo-Ferrer, PSD 2006).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ppdm_flow.core.results import AuditOutcome, Figure, Finding, Measured
from ppdm_flow.mining.classes.wording import unmeasured
from ppdm_flow.mining.exposure.columns import carriers
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.requirements.numeric_linkage.audit import NumericLinkageParams
from ppdm_flow.requirements.numeric_linkage.control import control_figures
from ppdm_flow.requirements.numeric_linkage.figures import figures_of
from ppdm_flow.requirements.numeric_linkage.lookup import IntruderKnowledge, LinkageNumbers
from ppdm_flow.requirements.numeric_linkage.reading import read, read_sql
from ppdm_flow.requirements.numeric_linkage.requirement import NumericLinkage
from ppdm_flow.requirements.numeric_linkage.sentences import control_sentence, excess_sentence, nothing, sentence
from ppdm_flow.requirements.numeric_linkage.ways import LinkageResult, find, find_sql
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The ``prefix`` of the figures, what the intruder knows, how many rows it names, and who asks for it."""

    prefix: str
    known: IntruderKnowledge
    candidates: int
    requirement: NumericLinkage | None

    @property
    def bounded(self) -> dict[str, float]:
        """The figures that have a bound, which is 1 where nobody asks for one."""
        asked = self.requirement
        if asked is None or asked.max_excess is None:
            return {"share_bound": 1.0 if asked is None else asked.max}
        beyond = {"excess_bound": asked.max_excess}
        outside = {} if asked.control is None else {"control_excess_bound": asked.max_excess}
        return {"share_bound": asked.max} | beyond | outside

    def columns(self, candidate: DataView, ctx: AuditContext) -> list[tuple[str, str]]:
        """Return the released columns, each with the attribute that it tells of."""
        return [(c, a) for a in self.known.attributes for c in carriers(a, candidate, ctx)]


class NumericLinkageAudit:
    """Looks for a sample of original records among the released rows."""

    def __init__(self, params: NumericLinkageParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the share of records that are found, by space, with intervals where they are a sample."""
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
                lookup = read(wanted.known, columns, original, candidate, ctx)
            except UnmeasuredError as fault:
                lacking = {name: Figure(None, "share", note=fault.text) for name in wanted.bounded}
                figures |= {f"{wanted.prefix}{name}": figure for name, figure in lacking.items()}
                measured.extend(_judged(wanted, lacking, fault.text, verifiable=False))
                findings.append(unmeasured(wanted.prefix.removesuffix(".") or "numeric_linkage", fault))
                continue
            own = _figures(wanted, lookup, find(lookup, wanted.candidates), len(columns))
            figures |= {f"{wanted.prefix}{name}": figure for name, figure in own.items()}
            text = sentence(wanted.known, wanted.candidates, own, people=ctx.people is not None)
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
                lookup = read_sql(wanted.known, columns, original, candidate, ctx)
            except UnmeasuredError:
                continue
            own = _figures(wanted, lookup, find_sql(ctx.sql, lookup, wanted.candidates), len(columns))
            found |= {f"{wanted.prefix}{name}": figure.value for name, figure in own.items()}
        return found

    def _wanted(self, ctx: AuditContext) -> Iterator[_Wanted]:
        own = [r for r in ctx.requirements if isinstance(r, NumericLinkage)]
        for each in own:
            yield _Wanted(f"{each.id}.", _known_by(each, each.attributes), each.candidates, each)
        if not own and self.params.attributes is not None:
            known = _known_by(self.params, self.params.attributes)
            yield _Wanted("", known, self.params.candidates, None)


def _known_by(asked: NumericLinkage | NumericLinkageParams, attributes: tuple[str, ...]) -> IntruderKnowledge:
    return IntruderKnowledge(attributes, asked.sample, asked.control, asked.against, asked.key)


def _figures(wanted: _Wanted, lookup: LinkageNumbers, found: LinkageResult, columns: int) -> dict[str, Figure]:
    own = figures_of(found.ways, found.of_rows, len(lookup.released), columns)
    if wanted.known.against is not None:
        own["people_known"] = Figure(len(lookup.known), "rows")
    return own | (control_figures(found.near) if found.near else {})


def _judged(
    wanted: _Wanted, figures: Mapping[str, Figure], text: str, *, verifiable: bool = True
) -> Iterator[Measured]:
    if wanted.requirement is None:
        return
    for name, bound in wanted.bounded.items():
        said = text if not verifiable else f"{text} At most {bound:.1%} is allowed."
        if verifiable and name == "excess_bound":
            said = excess_sentence(wanted.candidates, figures[name], bound)
        if verifiable and name == "control_excess_bound":
            said = control_sentence(figures, bound)
        metric = f"{wanted.prefix}{name}"
        yield Measured(wanted.requirement.id, metric, figures[name], bound, True, said, verifiable=verifiable)
