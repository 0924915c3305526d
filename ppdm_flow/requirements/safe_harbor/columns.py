"""What is looked for in each released column: by its name, by the names of what it was computed from, by its role."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.lineage import DerivationKind
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.mining.identifiers.kinds import Identifier
from ppdm_flow.requirements.safe_harbor.column_names import tells_birth, told_by
from ppdm_flow.requirements.safe_harbor.requirement import SafeHarbor
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

_BY_CELLS: frozenset[Identifier] = frozenset(("zip_codes", "ages"))


@dataclass(frozen=True, slots=True)
class ScannedColumn:
    """One column, and what it is looked through for.

    ``named`` are the kinds that all its cells are of. ``zips``, ``ages`` and ``births``: it holds ZIP codes, ages,
    years of birth. ``coded``: a step changed it. ``texts``: its cells may hold anything; those of a float may not.
    ``sets``: its cells are sets of items. ``cleared`` are the kinds that somebody looked at.
    """

    name: str
    named: frozenset[Identifier]
    zips: bool
    ages: bool
    births: bool
    coded: bool
    texts: bool
    sets: bool
    cleared: frozenset[str]


def looks(requirement: SafeHarbor, candidate: DataView, ctx: AuditContext) -> tuple[ScannedColumn, ...]:
    """Return what is looked for, for each column but weights, which are no cells of a person."""
    weights = (Role.WEIGHT, Role.SAMPLING_WEIGHT)
    return tuple(_look(f.name, requirement, ctx) for f in candidate.schema if f.role not in weights)


def _look(name: str, requirement: SafeHarbor, ctx: AuditContext) -> ScannedColumn:
    facts = ctx.attributes.get(name, AttributeFacts(name, Role.INSENSITIVE))
    sources = _sources(facts)
    told = frozenset[Identifier]().union(*(told_by(n) for n in (name, *sources)))
    births = any(tells_birth(n) for n in (name, *sources)) or _listed(sources, name, requirement.birth_years)
    named = told - _BY_CELLS
    if facts.how is DerivationKind.KEYED or facts.role in (Role.IDENTIFIER, Role.SUBJECT):
        named = frozenset[Identifier](("unique_codes",))
    return ScannedColumn(
        name=name,
        named=named,
        zips="zip_codes" in told or _listed(sources, name, requirement.zip_codes),
        ages=("ages" in told and not births) or _listed(sources, name, requirement.ages),
        births=births,
        coded=not facts.unchanged,
        texts=not (facts.is_numeric and facts.type is AttributeType.FLOAT),
        sets=facts.role is Role.ITEMS,
        cleared=frozenset(requirement.cleared.get(name, ())),
    )


def _sources(facts: AttributeFacts) -> tuple[str, ...]:
    """Return the attributes of the source that the cells tell of under another name, value by value."""
    return tuple(sorted(facts.lineage.computed_from)) if facts.lineage.value_map else ()


def _listed(sources: Iterable[str], name: str, names: Iterable[str]) -> bool:
    return not {name, *sources}.isdisjoint(names)
