"""Attributes of a table under the names that they have among several tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.plan.definition import LinkedTable
from ppdm_flow.policy.linked import qualified

Rename = Callable[[str], str]


def qualified_facts(facts: Iterable[AttributeFacts], table: LinkedTable, subject: str) -> tuple[AttributeFacts, ...]:
    """Return attributes of a table with the names that they have among several.

    Whatever comes from the attribute that says whose row it is, comes from ``subject``: it is the same in every table.
    """

    def name_of(name: str) -> str:
        return subject if name == table.person else qualified(table.name, name)

    return tuple(_fact(fact, table.name, name_of) for fact in facts)


def qualified_source(table: LinkedTable, subject: str) -> tuple[AttributeFacts, ...]:
    """Return the attributes of a table's source, with the person's attribute as ``subject``; no other identifiers."""
    kept = (a for a in table.plan.source.attributes if a.name == table.person or a.role is not Role.IDENTIFIER)
    facts = qualified_facts(kept, table, subject)
    return tuple(replace(f, name=subject) if f.source == subject else f for f in facts)


def _fact(fact: AttributeFacts, table: str, name_of: Rename) -> AttributeFacts:
    lineage = None if fact.derived is None else fact.derived.mapped(name_of)
    return replace(fact, name=qualified(table, fact.name), source=name_of(fact.source or fact.name), derived=lineage)
