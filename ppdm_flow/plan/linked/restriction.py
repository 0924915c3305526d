"""Requirements of several tables, as far as one table has what they are about."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ppdm_flow.core.requirement import Requirement
from ppdm_flow.policy.linked import plain_name, table_name


def restricted(requirements: Iterable[Requirement], table: str) -> tuple[Requirement, ...]:
    """Return what the requirements ask of a table alone, in its own names.

    What is about groups of other tables' attributes alone asks that the table's rows are not told apart by what is in
    these; about other tables' secrets nothing is asked of it.
    """
    every = (_renamed(requirement, lambda name: plain_name(table, name)) for requirement in requirements)
    return tuple(own for own in every if own is not None)


def restricted_to(requirement: Requirement, tables: frozenset[str]) -> Requirement | None:
    """Return what a requirement asks of these tables together; None where that is nothing."""
    return _renamed(requirement, lambda name: name if table_name(name) in tables else None)


def _renamed(requirement: Requirement, name_of: Callable[[str], str | None]) -> Requirement | None:
    own = requirement.renamed(name_of)
    if own is None or own.secrets or own.numbers or own.grouping or not requirement.grouping:
        return own
    of_rows = requirement.of_all_files and not requirement.secrets
    return own if of_rows else None


def tables_of(requirement: Requirement) -> frozenset[str]:
    """Return the tables whose attributes a requirement is about."""
    names = (*requirement.grouping, *requirement.secrets, *requirement.numbers)
    return frozenset(table_name(name) for name in names)
