"""The sentence and the findings of the audit."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.requirement import within
from ppdm_flow.core.results import Finding
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.mining.transactions.exposure import WorstExposure
from ppdm_flow.requirements.itemset_breach.assessment import BreachAssessment
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach
from ppdm_flow.sdk.audit import AuditContext


def sentence(assessment: BreachAssessment, ctx: AuditContext) -> str:
    """Return the sentence for the report."""
    worst = assessment.worst
    text = (
        f"Of the released sets that stand for one of {counted(worst.size, 'item')} and hold"
        f" {_itemset(assessment, worst, ctx)}, {worst.level:.1%} come from a set with {_item(assessment, worst, ctx)};"
        f" {worst.prior:.1%} of all these have it. No other itemset of {_sizes(assessment.requirement)} tells more."
    )
    if not worst.itemset:
        text = (
            f"No itemset of {_sizes(assessment.requirement)} tells anything of the sets of"
            f" `{assessment.material.column}`."
        )
    if assessment.reliable:
        return text
    return f"{text} That cannot be relied on: {'; '.join(_doubts(assessment))}."


def unknown(column: str, why: str) -> str:
    """Return the sentence where nothing can be said."""
    return f"What may be inferred from the sets of `{column}` is not known: {why}."


def findings(assessment: BreachAssessment, ctx: AuditContext) -> Iterator[Finding]:
    """Yield what a reader should know."""
    column = assessment.material.column
    place = f"{ctx.release}.{column}"
    level = assessment.requirement.level
    if not within(assessment.worst.level, level, at_most=True):
        text = (
            f"items of `{column}` may be inferred with up to {assessment.worst.level:.1%}, above the level of"
            f" {level:.1%}"
        )
        yield Finding("PPF870", Severity.ERROR, text, place)
    if not assessment.fit.holds:
        text = f"the released sets of `{column}` do not follow their operator: {assessment.fit.what}"
        yield Finding("PPF811", Severity.ERROR, text, place)
    if assessment.exceeded:
        text = (
            f"itemsets of `{column}` are more frequent than `max_supports` says, in sets of {_lengths(assessment)}"
            " items"
        )
        yield Finding("PPF873", Severity.ERROR, text, place)
    if assessment.doubtful:
        text = (
            f"rarer itemsets of `{column}` than the {assessment.counted_itemsets:,} that were counted may tell up to"
            f" {assessment.rest:.1%}"
        )
        yield Finding("PPF874", Severity.ERROR, text, f"{place}.rest")
    if assessment.bound is not None and not within(assessment.bound, level, at_most=True):
        text = (
            f"other data with the same maximal supports could be inferred with up to {assessment.bound:.1%}; these"
            " cannot"
        )
        yield Finding("PPF874", Severity.WARNING, text, f"{place}.bound")
    together = [pool for pool in assessment.counted.pools if len(pool.sizes) > 1]
    if together:
        names = ", ".join(pool.name for pool in together)
        text = (
            f"sets of {names} items are judged together: there are fewer than {assessment.requirement.pool:,} of a"
            " length"
        )
        yield Finding("PPF874", Severity.INFO, text, f"{place}.pools")
    if not assessment.material.direct:
        text = f"the sets of `{column}` had been changed before they were randomized: they are judged as they were then"
        yield Finding("PPF875", Severity.INFO, text, place)


def no_operator(column: str, why: str, ctx: AuditContext) -> Finding:
    """Return the finding where nothing can be said."""
    return Finding("PPF810", Severity.ERROR, unknown(column, why).rstrip("."), f"{ctx.release}.{column}")


def _doubts(assessment: BreachAssessment) -> Iterator[str]:
    if not assessment.fit.holds:
        yield f"the released sets do not follow their operator ({assessment.fit.what})"
    if assessment.exceeded:
        yield "the data are not what `max_supports` says"
    if assessment.doubtful:
        yield f"itemsets too rare to be counted may tell up to {assessment.rest:.1%}"


def _sizes(requirement: ItemsetBreach) -> str:
    sizes = [str(k) for k in requirement.sizes]
    several = f"{', '.join(sizes[:-1])} or {sizes[-1]}" if len(sizes) > 1 else sizes[0]
    return f"{several} item{'s' * (sizes != ['1'])}"


def _lengths(assessment: BreachAssessment) -> str:
    lengths = [str(m) for m in assessment.exceeded]
    return ", ".join(lengths[:5]) + (" and more" if len(lengths) > 5 else "")


def _itemset(assessment: BreachAssessment, exposed: WorstExposure, ctx: AuditContext) -> str:
    source = source_of(assessment.material.column, ctx)
    names = [assessment.material.alphabet[i].as_py() for i in exposed.itemset]
    shown = [ctx.label(source, name, i + 1) for i, name in zip(exposed.itemset, names, strict=True)]
    if shown == names and names:
        return "{" + ", ".join(names) + "}"
    return "a certain item" if len(names) == 1 else f"a certain itemset of {len(names)} items"


def _item(assessment: BreachAssessment, exposed: WorstExposure, ctx: AuditContext) -> str:
    name = assessment.material.alphabet[exposed.item].as_py()
    shown = ctx.label(source_of(assessment.material.column, ctx), name, exposed.item + 1)
    if shown == name:
        return f"`{name}`"
    if exposed.item not in exposed.itemset:
        return "a certain other item"
    return "that item" if len(exposed.itemset) == 1 else "a certain one of them"
