"""Rows of classes as k-anonymity counts them, and for each sensitive attribute the values in each class."""

from __future__ import annotations

from dataclasses import replace

from acme_requirements.p_sensitive.requirement import PSensitive

from ppdm_flow.mining.recoding.models import KAnonymous
from ppdm_flow.plugins import AuditOutcome, Diagnostic
from ppdm_flow.requirements.k_anonymity.algorithm import KAnonymityAudit
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.l_diversity.algorithm import DistinctDiverse, LDiversityAudit
from ppdm_flow.requirements.l_diversity.requirement import LDiversity


class PSensitiveAudit:
    def __init__(self, params):
        self.parts = (KAnonymityAudit(params), ValuesAudit(params))

    def measure(self, original, candidate, ctx):
        outcomes = [part.measure(original, candidate, told) for part, told in zip(self.parts, _asked(ctx))]
        ids = _ids(ctx)
        return AuditOutcome(
            {name: figure for each in outcomes for name, figure in each.figures.items()},
            tuple(replace(m, requirement=ids[m.requirement]) for each in outcomes for m in each.measured),
            tuple(replace(f, subject=ids.get(f.subject, f.subject)) for each in outcomes for f in each.findings),
            tuple(chart for each in outcomes for chart in each.charts),
        )

    def recheck(self, original, candidate, ctx):
        found = {}
        for part, told in zip(self.parts, _asked(ctx)):
            found |= part.recheck(original, candidate, told)
        return found


class ValuesAudit(LDiversityAudit):
    """Counts the values of one sensitive attribute in every class, as distinct l-diversity does."""

    metric = "p"

    def further(self, judged):
        return {}


def _own(ctx):
    return [r for r in ctx.requirements if isinstance(r, PSensitive)]


def _asked(ctx):
    """Return the context of each part: what it has to measure of every requirement."""
    sizes = tuple(KAnonymity.of(r.id, span=r.span, k=r.k, attributes=r.attributes) for r in _own(ctx))
    values = tuple(_diverse(r, name) for r in _own(ctx) for name in r.sensitive)
    return replace(ctx, requirements=sizes), replace(ctx, requirements=values)


def _diverse(requirement, name):
    return LDiversity.of(
        f"{requirement.id}.{name}", name, requirement.span, l=float(requirement.p), attributes=requirement.attributes
    )


def _ids(ctx):
    """Return the id of the requirement that each part belongs to."""
    return {part: r.id for r in _own(ctx) for part in (r.id, *(f"{r.id}.{s}" for s in r.sensitive))}


def models(asked, columns):
    """Return what a class of rows must keep: any step that makes classes then enforces it."""
    values = [DistinctDiverse(columns.place(name), float(asked.p)) for name in asked.sensitive]
    return [KAnonymous(asked.k), *values]


def foresee(requirement, view, people):
    """Yield requirements that cannot hold of the original under any steps."""
    if people < requirement.k:
        text = f"k = {requirement.k} cannot hold: there are {people} rows in all"
        yield Diagnostic("ACME13", text, requirement.span)
    for name in requirement.sensitive:
        values = len(view.counts([name]).counts)
        if values < requirement.p:
            text = f"p = {requirement.p} cannot hold: `{name}` has {values} values in all"
            yield Diagnostic("ACME13", text, requirement.span)
