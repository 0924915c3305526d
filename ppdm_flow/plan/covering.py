"""Requirements in the names of the data's columns: a pattern means every column that it fits, and a name has to be one.

A requirement about a column that does not exist would hold of anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.requirement_families import OnAttribute
from ppdm_flow.core.roles import Role
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.policy.language.patterns import is_pattern, matches

_PERSONAL = frozenset({Role.IDENTIFIER, Role.SUBJECT})


def on_columns(
    requirements: Iterable[Requirement], facts: Sequence[AttributeFacts]
) -> tuple[tuple[Requirement, ...], list[Diagnostic]]:
    """Return the requirements with patterns expanded, and a fault for each name that no column has."""
    columns = _Columns({f.name: f for f in facts})
    given = list(requirements)
    columns.named.update((r.kind, r.attribute) for r in given if isinstance(r, OnAttribute))
    expanded = [r for requirement in given for r in requirement.on_columns(columns)]
    return tuple(expanded), columns.faults


@dataclass(slots=True)
class _Columns:
    facts: dict[str, AttributeFacts]
    faults: list[Diagnostic] = field(default_factory=list)
    named: set[tuple[str, str]] = field(default_factory=set)

    def each(self, requirement: Requirement) -> Iterator[str]:
        """Yield the columns that its name means, but for those that have a requirement of that kind."""
        for name in self.meant(requirement.name, requirement):
            if name == requirement.name or (requirement.kind, name) not in self.named:
                yield name

    def every(self, names: Iterable[str], requirement: Requirement) -> tuple[str, ...]:
        """Return the columns that any of the names means, each once."""
        return tuple(dict.fromkeys(n for name in names for n in self.meant(name, requirement)))

    def pairs(self, pairs: Iterable[tuple[str, str]], requirement: Requirement) -> tuple[tuple[str, str], ...]:
        """Return (column, value) for (name, value), each once."""
        return tuple(dict.fromkeys((n, value) for name, value in pairs for n in self.meant(name, requirement)))

    def domain(self, column: str) -> tuple[str, ...] | None:
        """Return the declared domain of a column."""
        return self.facts[column].domain

    def meant(self, name: str, requirement: Requirement) -> tuple[str, ...]:
        """Return the columns that a name in a requirement means; identifiers only where it names them."""
        if name in self.facts:
            return (name,)
        fits = [n for n in self.facts if is_pattern(name) and matches(name, n)]
        fits = [n for n in fits if self.facts[n].role not in _PERSONAL]
        if not fits:
            text = f"`{requirement.id}` is about `{name}`, and the data has no such column"
            hint = did_you_mean(name, self.facts)
            fault = Diagnostic("PPF619", text, requirement.span, hint=hint)
            if fault not in self.faults:
                self.faults.append(fault)
        return tuple(fits)
