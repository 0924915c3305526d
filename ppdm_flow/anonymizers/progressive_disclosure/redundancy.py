"""Templates that others imply (Wang, Fung, Yu, ICDM 2005, Lemma 3.1): the search need not look at them.

A group over fewer attributes is a union of groups over more of them, so its confidence is a weighted mean of theirs,
and it has at least as many rows. In the search a row is in one group only, whatever the null semantics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ppdm_flow.requirements.templates.requirement import Template


def needed(templates: Sequence[Template]) -> tuple[tuple[Template, ...], tuple[str, ...]]:
    """Return the templates without the sensitive values that others already take care of, and the ids left out."""
    kept: list[Template] = []
    left_out: list[str] = []
    for place, template in enumerate(templates):
        stronger = [
            t
            for i, t in enumerate(templates)
            if i != place and _bounds(t, template) and (not _bounds(template, t) or i < place)
        ]
        covered = {pair for t in stronger for pair in t.sensitive}
        rest = tuple(pair for pair in dict.fromkeys(template.sensitive) if pair not in covered)
        if rest:
            kept.append(replace(template, sensitive=rest))
        else:
            left_out.append(template.id)
    return tuple(kept), tuple(left_out)


def _bounds(one: Template, other: Template) -> bool:
    """Whether ``one`` bounds every inference of ``other`` to a value that both protect, and the groups' rows."""
    return (
        set(one.channel) >= set(other.channel)
        and one.confidence <= other.confidence
        and one.negated == other.negated
        and one.min_support >= other.min_support
    )
