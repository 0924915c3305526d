"""Values that requirements name, and whether the data has them: one that nobody has may be misspelt."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.core.spans import Span
from ppdm_flow.core.suggest import closest
from ppdm_flow.tables.column import SUPPRESSED_TEXT, Column
from ppdm_flow.tables.table import Table

_HELP = (
    "correct it; where it is right and merely rare, list it in the attribute's `domain:`, or say"
    " `values_absent: allowed` beside it"
)


@dataclass(slots=True)
class ValuePresence:
    """Which values of one attribute occur.

    The ``required`` ones must, and have the places that name them; ``others`` are hinted at where they do. Only values
    that the policy writes (``quoted``) may be told. Rows that are dropped later count: their values show the spelling.
    """

    facts: AttributeFacts
    required: Mapping[str, Span | None]
    others: frozenset[str] = frozenset()
    quoted: frozenset[str] = frozenset()
    seen: set[str] = field(default_factory=set)

    def look(self, table: Table) -> None:
        """Take in a partition."""
        waiting = [v for v in (*self.required, *self.others) if v not in self.seen]
        if waiting and self.facts.name in table.columns:
            self.seen.update(_occurring(table[self.facts.name], waiting))

    @property
    def absent(self) -> tuple[str, ...]:
        """The values that must occur and do not."""
        return tuple(v for v in self.required if v not in self.seen)

    def faults(self, shown: Collection[str] = ()) -> Iterator[Diagnostic]:
        """Yield a fault for each absent value; ``shown`` are values of the data that may be told besides."""
        for value in self.absent:
            near = closest(value, [*(self.seen & self.quoted), *shown])
            what = f"the value `{value}`" if value in self.quoted else "a value that is named here"
            yield Diagnostic(
                "PPF631",
                f"neither the data nor a declared domain of `{self.facts.name}` has {what}: it would protect nobody",
                self.required[value],
                hint=f"did you mean `{near}`?" if near else None,
                help=_HELP,
            )


def value_presence(
    requirements: Iterable[Requirement],
    attributes: Iterable[AttributeFacts],
    declared: Mapping[str, Collection[str]],
) -> tuple[ValuePresence, ...]:
    """Return what to look for in each attribute that is read; a value of its declared domain need not occur."""
    named: dict[str, dict[str, Span | None]] = {}
    for requirement in requirements:
        if getattr(requirement, "values_absent", None) is ValuesAbsent.ERROR:
            for attribute, value, span in requirement.named_values():
                named.setdefault(attribute, {}).setdefault(value, span)
    presences = []
    for facts in attributes:
        required = {v: s for v, s in named.get(facts.name, {}).items() if v not in (facts.domain or ())}
        required.pop(SUPPRESSED_TEXT, None)
        if required:
            quoted = frozenset(declared.get(facts.name, ()))
            presences.append(ValuePresence(facts, required, quoted - frozenset(required), quoted))
    return tuple(presences)


def _occurring(column: Column, values: list[str]) -> Iterator[str]:
    places = pc.index_in(pa.array(values, pa.string()), value_set=column.categories).to_pylist()
    for value, place in zip(values, places, strict=True):
        if place is not None and bool((column.codes == place).any()):
            yield value
