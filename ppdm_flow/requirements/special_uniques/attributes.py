"""Which released columns tell of each attribute that somebody may know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ppdm_flow.core.roles import Role
from ppdm_flow.mining.exposure.columns import carriers, columns, sensitive_attributes
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


@dataclass(frozen=True, slots=True)
class ReleasedAttributes:
    """The attributes that a release tells something of, and for each the columns that do."""

    names: tuple[str, ...]
    carriers: tuple[tuple[str, ...], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All of these columns, each once."""
        return tuple(dict.fromkeys(c for each in self.carriers for c in each))


def told_of(attributes: Sequence[str], candidate: DataView, ctx: AuditContext) -> ReleasedAttributes:
    """Return what the release tells of attributes of the source; sensitive ones are not known to anybody.

    A column that was computed from a sensitive attribute as well counts as it is: rows that share its cell may be fewer
    than those that nobody could tell from a person, so that the figures are at least what they should be.
    """
    every = columns(attributes, sensitive_attributes(ctx), candidate, ctx)
    known = [(a, carriers(a, candidate, ctx)) for a in every.known]
    return ReleasedAttributes(tuple(a for a, c in known if c), tuple(c for _, c in known if c))


def named_or_known(attributes: Sequence[str] | None, candidate: DataView, ctx: AuditContext) -> ReleasedAttributes:
    """Return what the release tells of these attributes, by either name, or of all quasi-identifiers.

    These are the source's, and columns of that role that are computed from none of them.
    """
    quasi = [n for n, facts in ctx.original_attributes.items() if facts.role is Role.QUASI_IDENTIFIER]
    released = candidate.schema.having(Role.QUASI_IDENTIFIER)
    wanted = (*quasi, *released) if attributes is None else attributes
    sources = dict.fromkeys(source_of(n, ctx) if n in candidate.schema else n for n in wanted)
    told = [(a, carriers(a, candidate, ctx)) for a in sources]
    seen = {c for _, columns in told for c in columns}
    told += [(c, (c,)) for c in wanted if c in candidate.schema and c not in seen]
    return ReleasedAttributes(tuple(a for a, c in told if c), tuple(c for _, c in told if c))
