"""Requirements of several tables, as far as one table has what they are about."""

from __future__ import annotations

from collections.abc import Iterable

from ppdm_flow.core.requirement import Requirement
from ppdm_flow.policy.linked import plain_name, table_name


def restricted(requirements: Iterable[Requirement], table: str) -> tuple[Requirement, ...]:
    """Return what the requirements ask of a table alone, in its own names.

    What is about groups of other tables' attributes alone, or about other tables' secrets, asks nothing of it.
    """
    kept = []
    for requirement in requirements:
        own = requirement.renamed(lambda name: plain_name(table, name))
        if own is not None and (own.secrets or own.numbers or own.grouping or not requirement.grouping):
            kept.append(own)
    return tuple(kept)


def tables_of(requirement: Requirement) -> frozenset[str]:
    """Return the tables whose attributes a requirement is about."""
    names = (*requirement.grouping, *requirement.secrets, *requirement.numbers)
    return frozenset(table_name(name) for name in names)
