"""What dominance means, in a sentence for each rule."""

from __future__ import annotations

from ppdm_flow.core.phrases import counted
from ppdm_flow.mining.exposure.columns import RevealingColumns
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.requirements.dominance.requirement import Dominance

NO_ROW = "There is no row to measure, so nothing can be said of it."


def sentence(requirement: Dominance, rule: str, value: float, by: RevealingColumns) -> str:
    """Return what one rule found in the worst group."""
    total = f"a total of `{requirement.attribute}` {_where(by)}"
    if rule == "share":
        who = "largest contributor has" if requirement.n == 1 else f"{requirement.n} largest contributors have together"
        return f"The {who} at most {value:.1%} of {total}; at most {requirement.share or 0:.1%} is allowed."
    if rule == "margin":
        known = "" if requirement.q == 100 else f", where all are known to within {requirement.q:g} % beforehand"
        return (
            f"The second largest contributor to {total} can be sure of the largest to within {value:.4g} %{known};"
            f" {requirement.p:g} % or more is required."
        )
    return f"At least {counted(int(value), 'contributor')} are behind {total}; {requirement.contributors} are required."


def beyond(figures: dict[str, float | int | None]) -> str:
    """Return how many groups break a rule; nothing of none."""
    groups, rows = int(figures["groups_beyond"] or 0), int(figures["rows_beyond"] or 0)
    if not groups:
        return ""
    verb = "breaks" if groups == 1 else "break"
    return f" {counted(groups, 'group')} of {int(figures['groups'] or 0):,} {verb} a rule, with {counted(rows, 'row')}."


def no_total(requirement: Dominance) -> str:
    """Say that all rules hold for want of a total."""
    return f"No group has a number of `{requirement.attribute}` other than 0, so no total tells of anybody's."


def _where(by: RevealingColumns) -> str:
    return f"over those with equal {listed(by.every)}" if by.every else "over the whole release"
