"""A reader who holds the releases of all linked tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.engine.linked.sources import LinkedOriginals, in_order
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.linked import restricted
from ppdm_flow.plan.together import read_together
from ppdm_flow.policy.linked import qualified
from ppdm_flow.reader.linked import LinkedTableRows, share_more_than_people
from ppdm_flow.reader.run import RunReader
from ppdm_flow.sdk.audit import OtherRelease, Sql


@dataclass(frozen=True, slots=True, eq=False)
class TableReader:
    """Asked about one of the tables, in its own names; knows what is grouped by in all of them."""

    reader: RunReader
    table: str
    groupings: Mapping[frozenset[str], tuple[str, ...]]

    def together(self, grouping: Sequence[str], sensitive: str = "") -> Any:
        """Return what all files together reveal of ``sensitive``, as :meth:`RunReader.together` does."""
        return self.reader.together(*self._in_all(grouping, sensitive))

    def together_sql(self, sql: Sql, grouping: Sequence[str], sensitive: str = "") -> Any:
        """Return the same by the second route."""
        return self.reader.together_sql(sql, *self._in_all(grouping, sensitive))

    def singled_out(self, attributes: Sequence[str], size: int) -> Any:
        """Return whom attributes single out, as :meth:`RunReader.singled_out` does."""
        return self.reader.singled_out(self._in_all(attributes, "")[0], size)

    def singled_out_sql(self, sql: Sql, attributes: Sequence[str], size: int) -> Any:
        """Return the shares by the second route."""
        return self.reader.singled_out_sql(sql, self._in_all(attributes, "")[0], size)

    def _in_all(self, grouping: Sequence[str], sensitive: str) -> tuple[tuple[str, ...], str]:
        own = tuple(qualified(self.table, name) for name in grouping)
        known = self.groupings.get(frozenset(grouping), ())
        return tuple(dict.fromkeys((*own, *known))), sensitive and qualified(self.table, sensitive)


def table_readers(
    plan: Plan, originals: LinkedOriginals, files: Mapping[str, Sequence[OtherRelease]], unverified: str = ""
) -> dict[str, TableReader]:
    """Return whom the audits of each table ask; ``files`` are the releases of people's rows by table.

    Nobody where only the person's key links the rows of two tables: joins by that key are judged as one table.
    ``unverified`` says why what the files tell together is not accounted for.
    """
    rows = _rows(plan, originals)
    in_order_of_source = [name for name, own in files.items() if any(f.in_source_order for f in own)]
    facts = {name: [a for f in own for a in f.attributes.values()] for name, own in files.items()}
    if len(in_order_of_source) <= 1 and not share_more_than_people(rows, _carried(facts)):
        return {}
    every = [replace(f, table=name) for name, own in files.items() for f in own]
    determined = any(a.determines for table in plan.tables for a in table.plan.source.attributes)
    reader = RunReader(every, plan.people, plan.nulls, determined=determined, unverified=unverified, tables=rows)
    return {t.name: TableReader(reader, t.name, _groupings(plan, t.name)) for t in plan.tables}


def told_beside_keys(plan: Plan, originals: LinkedOriginals) -> bool:
    """Say whether the releases of two tables can be joined by more than the person's key."""
    facts = {t.name: [a for r in t.plan.releases for a in r.attributes] for t in plan.tables}
    return read_together(plan) and share_more_than_people(_rows(plan, originals), _carried(facts))


def _rows(plan: Plan, originals: LinkedOriginals) -> list[LinkedTableRows]:
    rows = []
    for table in sorted(plan.tables, key=lambda t: t.refers is not None):  # that of the people first
        stream = originals.tables[table.name].stream
        ordered = in_order(stream, [a.name for a in stream.attributes])
        refers = frozenset[str]() if table.refers is None else frozenset((table.refers,))
        rows.append(LinkedTableRows(table.name, ordered, originals.people[table.name], table.person, refers))
    return rows


def _carried(facts: Mapping[str, Sequence[AttributeFacts]]) -> dict[str, set[str]]:
    return {name: {a for fact in own for a in fact.lineage.carries} for name, own in facts.items()}


def _groupings(plan: Plan, table: str) -> dict[frozenset[str], tuple[str, ...]]:
    """Return for what a requirement groups by in one table all that it groups by, of all requirements alike."""
    out: dict[frozenset[str], tuple[str, ...]] = {}
    for requirement in plan.requirements:
        for own in restricted((requirement,), table):
            key = frozenset(own.grouping)
            out[key] = tuple(dict.fromkeys((*out.get(key, ()), *requirement.grouping)))
    return out
