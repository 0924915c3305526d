"""Checks whether the data has the names and values that a policy writes, or only ones that look like them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.core.spans import Span
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.tables.column import SUPPRESSED_TEXT, Column
from ppdm_flow.tables.spelling import respelled
from ppdm_flow.tables.table import Table

_HOW = "in letter case, white space, invisible characters or Unicode form"


@dataclass(frozen=True, slots=True)
class LookalikeCheck:
    """Checks one attribute for look-alikes of the values that requirements name; ``spans`` gives each value's span.

    No message quotes the ``chosen`` ones, which are the data's and not the policy's.
    """

    facts: AttributeFacts
    spans: Mapping[str, Span | None]
    chosen: frozenset[str] = frozenset()

    def add(self, later: LookalikeCheck) -> None:
        """Do nothing: what another one checked is checked."""

    def look(self, table: Table) -> None:
        """Check one partition. Raises DataError with the row, and the value that the policy wrote."""
        column = table[self.facts.name]
        known = pa.array(dict.fromkeys((*self.spans, *(self.facts.domain or ()))), pa.string())
        wanted = pa.array(list(self.spans), pa.string())
        places = pc.index_in(respelled(column.categories), value_set=respelled(wanted))
        strange = pc.and_(pc.is_valid(places), pc.invert(pc.is_in(column.categories, value_set=known)))
        hit = np.append(strange.to_numpy(zero_copy_only=False).astype(bool), [False, False])[column.codes]
        if hit.any():
            row = int(hit.argmax())
            raise self._fault(int(table.rows[row]) + 1, wanted[places[_code(column, row)].as_py()].as_py())

    def _fault(self, row: int, value: str) -> DataError:
        protected = "one that was chosen as sensitive" if value in self.chosen else f"`{value}`"
        return data_fault(
            "PPF726",
            f"row {row}: column `{self.facts.name}` has a value that differs from {protected} only {_HOW}",
            span=self.spans[value],
            advice="the requirement would not cover it: clean the data, take the difference away (`source.normalize`),"
            " or name every spelling, here or in `domain:`",
        )


def _code(column: Column, row: int) -> int:
    return int(column.codes[row])


def lookalike_checks(
    requirements: Iterable[Requirement], attributes: Iterable[AttributeFacts]
) -> tuple[LookalikeCheck, ...]:
    """Return a check for each attribute that is read and has values named by requirements.

    Numbers have one spelling here, which need not be that of the file.
    """
    named: dict[str, dict[str, Span | None]] = {}
    chosen: dict[str, set[str]] = {}
    for requirement in requirements:
        for attribute, value, span in requirement.named_values():
            named.setdefault(attribute, {}).setdefault(value, span)
            if requirement.chosen_from_data:
                chosen.setdefault(attribute, set()).add(value)
    return tuple(
        LookalikeCheck(a, named[a.name], frozenset(chosen.get(a.name, ())))
        for a in attributes
        if a.name in named and not a.is_numeric
    )


def look_alike(names: Sequence[str], declared: Sequence[str]) -> tuple[int, str] | None:
    """Return the place of the first of ``names`` that looks like one of ``declared``, and that one; else None."""
    if not names or not declared:
        return None
    places = pc.index_in(respelled(pa.array(names, pa.string())), value_set=respelled(pa.array(declared, pa.string())))
    matches = [(i, declared[place]) for i, place in enumerate(places.to_pylist()) if place is not None]
    return matches[0] if matches else None


_HELP = (
    "correct it; where it is right and merely rare, list it in the attribute's `domain:`, or say"
    " `values_absent: allowed` beside it"
)


@dataclass(slots=True)
class ValuePresence:
    """The values of one attribute that occur.

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

    def add(self, later: ValuePresence) -> None:
        """Take in what occurs in the rows that follow."""
        self.seen |= later.seen

    @property
    def absent(self) -> tuple[str, ...]:
        """The values that must occur and do not."""
        return tuple(v for v in self.required if v not in self.seen)

    def faults(self, shown: Collection[str] = ()) -> Iterator[Diagnostic]:
        """Yield a fault for each absent value; ``shown`` are values of the data that may be told besides."""
        for value in self.absent:
            what = f"the value `{value}`" if value in self.quoted else "a value that is named here"
            yield Diagnostic(
                "PPF631",
                f"neither the data nor a declared domain of `{self.facts.name}` has {what}: it would protect nobody",
                self.required[value],
                hint=did_you_mean(value, [*(self.seen & self.quoted), *shown]),
                help=_HELP,
            )


def value_presence(
    requirements: Iterable[Requirement], attributes: Iterable[AttributeFacts], declared: Mapping[str, Collection[str]]
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
