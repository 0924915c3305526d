"""What the product finds on a small table beside what trying everything finds."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa

from adversary.known_rows import Small, crowds, largest_chance, least_distinct, linked_by_cell, shares
from ppdm_flow.mining.people.known import choices, largest_chances
from ppdm_flow.mining.people.known_query import KnownRowsQuery, chances_sql
from ppdm_flow.mining.people.known_rows import ClassProfiles, profiles, smallest_crowd
from ppdm_flow.mining.people.known_rows_groups import (
    combination_groups,
    group_counts,
    told_by_people,
)
from ppdm_flow.mining.people.known_rows_groups import (
    least_distinct as least_of_groups,
)
from ppdm_flow.mining.people.linkage import linked_rows
from ppdm_flow.mining.recoding.grouping import ClassCells
from ppdm_flow.sdk.audit import Sql
from ppdm_flow.tables.column import Column

KNOWN = (1, 2, 3, None)


class Database:
    """DuckDB over the tables of one query."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(config={"threads": 1})

    def rows(self, query, parameters=(), tables=None):
        for name, table in (tables or {}).items():
            self.connection.register(name, table)
        return self.connection.execute(query, list(parameters)).fetchall()

    def table(self, query, parameters=(), tables=None):
        for name, table in (tables or {}).items():
            self.connection.register(name, table)
        return self.connection.sql(query, params=list(parameters)).to_arrow_table()


def disagreements(table: Small, sql: Sql) -> list[str]:
    """Return the figures in which the two differ, with how many rows are known."""
    person, group, linked = table.arrays()
    faults = [] if _linked_alike(table) else ["which rows are linked"]
    names = sorted({r[3] for r in table.rows}, key=repr)
    value = np.array([names.index(r[3]) for r in table.rows])
    having = np.zeros((group.max() + 1, len(names)), dtype=np.int64)
    np.add.at(having, (group, value), 1)
    cells = _cells(having)
    everything = {"known": np.ones(len(group), dtype=bool), "value": value}
    relation = pa.table({"person": person, "class": group, "linked": linked} | everything)
    classes, values = np.nonzero(having)
    counts = pa.table({"class": classes, "value": values, "n": having[classes, values].astype(float)})
    query = KnownRowsQuery(sql, relation)
    for known in KNOWN:
        brute = crowds(table, known)
        found = smallest_crowd(person, group, linked, known, chunk=1 + len(group) % 7)
        least = min((len(c) for c in brute.values()), default=None)
        by_person = [min(len(c) for c in brute.values() if p in c) for p in found.people.tolist()]
        groups = [
            tuple(sorted(g.persons[a:b].tolist()))
            for g in combination_groups(person, group, linked, known, chunk=5)
            for a, b in zip(g.begins, g.begins[1:], strict=False)
        ]
        chances = largest_chances(choices(person, group), cells, known, len(names))
        again = chances_sql(sql, relation, counts, known)
        exact = [float(largest_chance(table, v, known)) for v in names]
        checks = {
            "the smallest crowd": found.smallest == least == query.smallest_crowd(known),
            "the number of combinations": found.combinations == len(brute),
            "people's smallest crowds": found.by_person.tolist() == by_person,
            "the groups": sorted(groups) == sorted(tuple(sorted(c)) for c in brute.values()),
            "chances": np.allclose(chances, exact, rtol=0, atol=1e-12),
            "chances by SQL": np.allclose([again.get(v, 0.0) for v in range(len(names))], exact, rtol=0, atol=1e-12),
        }
        checks |= _groups(table, known, value, query)
        faults += [f"{what}, {known or 'all'} known" for what, alike in checks.items() if not alike]
    return faults


def _groups(table: Small, known: int | None, value: np.ndarray, query: KnownRowsQuery) -> dict[str, bool]:
    person, group, linked = table.arrays()
    held = profiles(person, group, linked)
    number = int(value.max()) + 1
    checks = {}
    for in_class in (False, True):
        where = " in one class" if in_class else ""
        whose = _entries(held, person, group, linked) if in_class else person
        people = (held.by_class if in_class else held).holdings
        rows = np.flatnonzero(linked)
        found = told_by_people(people, whose, rows, value[rows].astype(np.int64), None, number)
        of_people = of_rows = 0.0
        weights = np.zeros(number)
        for counts in group_counts(held, found, known, chunk=6, in_class=in_class):
            of_people = max(of_people, counts.share_of_people().max(initial=0))
            of_rows = max(of_rows, counts.share_of_rows().max(initial=0))
            np.maximum.at(weights, counts.weights.value, counts.weights.count / counts.people[counts.weights.owner])
        names = sorted({r[3] for r in table.rows}, key=repr)
        exact_people, exact_rows, exact_weights = shares(table, known, in_class=in_class)
        expected = [float(exact_people), float(exact_rows)]
        exact = [float(exact_weights.get(v, 0)) for v in names]
        l_value = least_distinct(table, known, in_class=in_class)
        checks |= {
            f"shares{where}": np.allclose([of_people, of_rows], expected, rtol=0, atol=1e-12),
            f"weights{where}": np.allclose(weights, exact, rtol=0, atol=1e-12),
            f"distinct values{where}": least_of_groups(held, found, known, chunk=6, in_class=in_class) == l_value,
        }
        if not in_class:
            checks["shares by SQL"] = np.allclose(query.shares(known), expected, rtol=0, atol=1e-12)
            checks["distinct values by SQL"] = query.least_distinct(known) == l_value
    return checks


def _entries(held: ClassProfiles, person: np.ndarray, group: np.ndarray, linked: np.ndarray) -> np.ndarray:
    """The place of each row's person and class among those of linked rows, in order; -1 for other rows."""
    pairs = sorted({(int(p), int(g)) for p, g, some in zip(person, group, linked, strict=True) if some})
    assert len(pairs) == len(held.holdings.classes)
    return np.array(
        [
            pairs.index((p, g)) if some else -1
            for p, g, some in zip(person.tolist(), group.tolist(), linked, strict=True)
        ]
    )


def _linked_alike(table: Small) -> bool:
    people = [r[0] for r in table.rows]
    links, values = [r[2] for r in table.rows], [r[3] for r in table.rows]
    both = [None if pair == (None, None) else pair for pair in zip(links, values, strict=True)]
    alone = [max(len(c) for c in _runs(cells)) == 1 for cells in (links, values)]
    if any(alone):
        both = links if alone[1] and not alone[0] else values if alone[0] and not alone[1] else [None] * len(people)
    ways = zip(*(linked_by_cell(people, cells) for cells in (links, values, both)), strict=True)
    columns = [Column.of(links).codes, Column.of(values).codes]
    return linked_rows(np.array(people), (), columns).rows.tolist() == [any(way) for way in ways]


def _runs(cells: list) -> list[list]:
    return [[o for o in cells if o == c] for c in cells]


def _cells(having: np.ndarray) -> ClassCells:
    classes, values = np.nonzero(having)
    begins = np.searchsorted(classes, np.arange(len(having) + 1))
    return ClassCells(begins.astype(np.int64), values.astype(np.int32), having[classes, values].astype(np.int64))
