"""Which released columns carry an attribute of the policy: renaming keeps an attribute what it is."""

from __future__ import annotations

from collections.abc import Iterable

from ppdm_flow.core import phrases
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

_MOST_NAMES = 20
_FIRST_NAMES = 10


def source_of(column: str, ctx: AuditContext) -> str:
    """Return the source's name of a released column."""
    facts = ctx.attributes.get(column)
    return (facts.source or facts.name) if facts else column


def namesakes(attribute: str, candidate: DataView, ctx: AuditContext) -> tuple[str, ...]:
    """Return the released columns that carry ``attribute``, in the release's order; none if it is not released."""
    return tuple(c for c in candidate.schema.names if source_of(c, ctx) == attribute)


def released(attributes: Iterable[str], candidate: DataView, ctx: AuditContext) -> tuple[str, ...]:
    """Return the released columns that carry one of ``attributes``, each once."""
    return tuple(dict.fromkeys(c for a in attributes for c in namesakes(a, candidate, ctx)))


def listed(names: Iterable[str]) -> str:
    """Return names for a sentence: ``a``, ``a and b``, ``a, b and c``; of very many the first, and how many more."""
    return phrases.listed([f"`{n}`" for n in names], _MOST_NAMES, _FIRST_NAMES) or "nothing"
