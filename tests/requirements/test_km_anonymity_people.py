"""k^m-anonymity where people are counted: the sets of one person, however many, are no crowd."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import combinations
from random import Random

import duckdb
import numpy as np
import pytest

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import Lineage
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Role
from ppdm_flow.requirements.km_anonymity.requirement import KmAnonymity
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.schema import Field, Schema
from ppdm_flow.tables.sets import Baskets
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.view import InMemoryView

AUDIT = load("audits", "km_anonymity").load()(load("audits", "km_anonymity").params())
ID = "privacy.km_anonymity"


class Pairs:
    """The released rows beside their people, in two partitions."""

    def __init__(self, whose, shown):
        self.whose, self.shown = whose, shown

    def pairs(self, original, released):
        half = len(self.whose) // 2
        for rows in (slice(0, half), slice(half, len(self.whose))):
            yield self.whose.select(original).take(rows), self.shown.select(released).take(rows)


class Database:
    """Each query has a connection of its own."""

    def rows(self, text, parameters=(), tables=None):
        with self.asked(tables) as connection:
            return connection.execute(text, list(parameters)).fetchall()

    def table(self, text, parameters=(), tables=None):
        with self.asked(tables) as connection:
            return connection.sql(text, params=list(parameters)).to_arrow_table()

    def asked(self, tables):
        connection = duckdb.connect(config={"threads": 1})
        for name, table in (tables or {}).items():
            connection.register(name, table)
        return connection


def case(people, sets, known="1", k=3, m=2, others=None, pseudonym=False):
    """A release of one set a row; ``others`` are columns beside it."""
    number = np.arange(len(sets), dtype=np.int64)
    cells = {name: Column.of(column) for name, column in (others or {}).items()}
    cells |= {"alias": Column.of([f"x{p}" for p in people])} if pseudonym else {}
    shown = Table(cells, number, {"basket": Baskets.of(sets)})
    fields = [*(Field(name, Role.INSENSITIVE) for name in cells), Field("basket", Role.ITEMS)]
    view = InMemoryView(shown, Schema(tuple(fields)))
    facts = {name: AttributeFacts(name, Role.INSENSITIVE, source=name) for name in cells}
    facts["basket"] = AttributeFacts("basket", Role.ITEMS, source="basket")
    if pseudonym:
        lineage = Lineage(frozenset({"id"}), keyed=frozenset({"id"}))
        facts["alias"] = AttributeFacts(
            "alias", Role.SUBJECT, source="id", changes=(("s", Change.PSEUDONYMIZED),), derived=lineage
        )
    whose = Table({"id": Column.of([f"p{p}" for p in people])}, number)
    ctx = AuditContext(
        release="public",
        attributes=facts,
        original_attributes={
            "id": AttributeFacts("id", Role.SUBJECT, source="id"),
            "basket": AttributeFacts("basket", Role.ITEMS, source="basket"),
        },
        requirements=(KmAnonymity.of(ID, attribute="basket", k=k, m=m),),
        pairs=Pairs(whose, shown),
        people=PeopleCount.of("id", known),
        sql=Database(),
    )
    return view, view, ctx


def linked(people, others, pseudonym):
    """The rows that a pseudonym links, or the cells of the other columns, alone or together."""
    if pseudonym:
        return set(range(len(people)))
    repeating = [cells for cells in others.values() if len(set(cells)) < len(cells)]
    out = set()
    for some in (s for n in range(1, len(repeating) + 1) for s in combinations(repeating, n)):
        groups = defaultdict(list)
        for row, key in enumerate(zip(*some, strict=True)):
            groups[key].append(row)
        for key, rows in groups.items():
            if len(rows) > 1 and len({people[r] for r in rows}) == 1 and any(c is not None for c in key):
                out |= set(rows)
    return out


def by_size(people, sets, size, rows):
    """The fewest people with a row that has a combination of so many items; 0 for none."""
    holders = defaultdict(set)
    for row in rows:
        for items in combinations(sorted(sets[row]), size):
            holders[items].add(people[row])
    return min(map(len, holders.values()), default=0)


def drawn(draw, most=5):
    people = [p for p in range(draw.randint(1, 8)) for _ in range(draw.randint(1, draw.choice((1, 2, most))))]
    draw.shuffle(people)
    items = "abcde"[: draw.randint(1, 5)]
    return people, [draw.sample(items, draw.randint(0, len(items))) for _ in people]


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize("seed", range(100))
def test_both_routes_find_what_brute_force_finds(seed):
    draw = Random(seed)
    people, sets = drawn(draw)
    m = draw.randint(1, 4)
    others = {f"o{i}": [draw.choice(["1", "2", "3", None]) for _ in people] for i in range(draw.choice((0, 0, 1, 2)))}
    pseudonym = draw.random() < 0.2
    links = linked(people, others, pseudonym)
    known = "1" if links else draw.choice(("1", "2", "all"))
    example = case(people, sets, known, m=m, others=others, pseudonym=pseudonym)
    figures = {name: figure.value for name, figure in AUDIT.measure(*example).figures.items()}
    assert AUDIT.recheck(*example) == figures
    for size in range(1, m + 1):
        among = [range(len(people)), *([sorted(links)] if links else [])]
        each = [n for rows in among if (n := by_size(people, sets, size, rows))]
        assert figures[f"{ID}.k_{size}"] == min(each, default=0)


@pytest.mark.parametrize("seed", range(30))
def test_with_one_row_each_people_are_sets(seed):
    draw = Random(1000 + seed)
    _, sets = drawn(draw)
    view, _, ctx = case(list(range(len(sets))), sets, draw.choice(("1", "2", "all")), m=3, pseudonym=seed % 2 == 0)
    counted = {n: f.value for n, f in AUDIT.measure(view, view, ctx).figures.items()}
    rows = replace(ctx, people=None, pairs=None)
    assert {n: f.value for n, f in AUDIT.measure(view, view, rows).figures.items()} == counted


def test_the_sets_of_one_person_are_no_crowd():
    (measured,) = AUDIT.measure(*case([0] * 5 + [1, 2, 3], [["wine"]] * 5 + [["bread"]] * 3)).measured
    assert (measured.figure.value, measured.figure.unit) == (1, "people")
    assert "1 person who has a set" in measured.sentence
    (mirror,) = AUDIT.measure(*case([0, 1, 2, 3, 4, 5, 6, 7], [["wine"]] * 5 + [["bread"]] * 3)).measured
    assert mirror.figure.value == 3


def test_items_of_different_sets_of_a_person_are_no_combination():
    """Nobody can tell that the rows are one person's."""
    (measured,) = AUDIT.measure(*case([0, 0, 1, 1, 2, 2], [["a"], ["b"]] * 3, "2")).measured
    assert measured.figure.value == 3


def test_several_linked_rows_that_are_known_are_not_counted():
    people, sets = [0, 0, 1, 1, 2, 2], [["a"], ["b"]] * 3
    outcome = AUDIT.measure(*case(people, sets, "2", pseudonym=True))
    assert not outcome.measured[0].verifiable
    assert "one_row_each" in outcome.measured[0].sentence
    assert AUDIT.recheck(*case(people, sets, "2", pseudonym=True)) == {}
    one = AUDIT.measure(*case([0, 1, 2], [["a"]] * 3, "2", pseudonym=True))
    assert one.measured[0].figure.value == 3


def test_nobody_says_whose_the_sets_are():
    view, _, ctx = case([0, 1, 2], [["a"]] * 3)
    outcome = AUDIT.measure(view, view, replace(ctx, pairs=None))
    assert not outcome.measured[0].verifiable
    assert outcome.findings[0].code == "PPF900"
