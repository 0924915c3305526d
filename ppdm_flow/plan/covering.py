"""Requirements in the names of the data's columns: a pattern means every column that it fits, and a name has to be one.

A requirement about a column that does not exist would hold of anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ppdm_flow.core.anonymity import LKC, KmAnonymity, KMap, OnSensitive
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.requirements import (
    AnonymityScore,
    Blend,
    ItemsetBreach,
    KAnonymity,
    Requirement,
    Sensitivity,
    Template,
)
from ppdm_flow.core.roles import Role
from ppdm_flow.core.successive import CumulativeK, FirstDraw
from ppdm_flow.core.suggest import closest
from ppdm_flow.policy.language.patterns import is_pattern, matches

OfAttribute = TypeVar("OfAttribute", bound=Sensitivity | OnSensitive)
"""A requirement on one attribute, or on each that a pattern means."""
_PERSONAL = frozenset({Role.IDENTIFIER, Role.SUBJECT})


def on_columns(
    requirements: Iterable[Requirement], facts: Sequence[AttributeFacts]
) -> tuple[tuple[Requirement, ...], list[Diagnostic]]:
    """Return the requirements with patterns expanded, and a fault for each name that no column has."""
    columns = _Columns({f.name: f for f in facts})
    given = list(requirements)
    named = {(r.kind, r.attribute) for r in given if isinstance(r, Sensitivity | OnSensitive)}
    expanded = [r for requirement in given for r in columns.expanded(requirement, named)]
    return tuple(expanded), columns.faults


@dataclass(slots=True)
class _Columns:
    facts: dict[str, AttributeFacts]
    faults: list[Diagnostic] = field(default_factory=list)

    def expanded(self, requirement: Requirement, named: set[tuple[str, str]]) -> Iterator[Requirement]:
        """Yield the requirement; one on a pattern of attributes once for each that has none of its own."""
        match requirement:
            case KAnonymity() | KMap() | CumulativeK() | FirstDraw():
                yield replace(requirement, attributes=self._all(requirement.attributes, requirement))
            case LKC():
                pairs = [(n, v) for a, v in requirement.sensitive for n in self._meant(a, requirement)]
                known = self._all(requirement.attributes, requirement)
                yield replace(requirement, attributes=known, sensitive=tuple(dict.fromkeys(pairs)))
            case Template():
                pairs = [(n, v) for a, v in requirement.sensitive for n in self._meant(a, requirement)]
                channel = self._all(requirement.channel, requirement)
                yield replace(requirement, channel=channel, sensitive=tuple(dict.fromkeys(pairs)))
            case AnonymityScore() | Blend():
                yield requirement
            case ItemsetBreach() | KmAnonymity():
                yield from (replace(requirement, attribute=n) for n in self._meant(requirement.attribute, requirement))
            case Sensitivity():
                for own in self._each(requirement, named):
                    domain = requirement.domain if own is requirement else self.facts[own.attribute].domain
                    yield replace(own, domain=domain)
            case _:
                attributes = self._all(requirement.attributes, requirement)
                yield from (replace(own, attributes=attributes) for own in self._each(requirement, named))

    def _each(self, requirement: OfAttribute, named: set[tuple[str, str]]) -> Iterator[OfAttribute]:
        for name in self._meant(requirement.attribute, requirement):
            if name == requirement.attribute:
                yield requirement
            elif (requirement.kind, name) not in named:
                yield replace(requirement, id=f"privacy.{requirement.kind}.{name}", attribute=name)

    def _all(self, names: Iterable[str], requirement: Requirement) -> tuple[str, ...]:
        return tuple(dict.fromkeys(n for name in names for n in self._meant(name, requirement)))

    def _meant(self, name: str, requirement: Requirement) -> tuple[str, ...]:
        """Return the columns that a name in a requirement means; identifiers only where it names them."""
        if name in self.facts:
            return (name,)
        fits = [n for n in self.facts if is_pattern(name) and matches(name, n)]
        fits = [n for n in fits if self.facts[n].role not in _PERSONAL]
        if not fits:
            near = closest(name, self.facts)
            text = f"`{requirement.id}` is about `{name}`, and the data has no such column"
            hint = f"did you mean `{near}`?" if near else None
            fault = Diagnostic("PPF619", text, requirement.span, hint=hint)
            if fault not in self.faults:
                self.faults.append(fault)
        return tuple(fits)
