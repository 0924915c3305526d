"""The groups that several releases leave, against the definition."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.engine.local.sql import duckdb
from ppdm_flow.requirements.cumulative_k.algorithm import figures, groups
from ppdm_flow.sdk.history import Membership

PEOPLE = [f"p{i:02}" for i in range(12)]
RELEASE = st.dictionaries(st.sampled_from(PEOPLE), st.sampled_from("abc"), min_size=1)


def members(classes: dict[str, str]) -> Membership:
    people = np.array([p.encode() for p in classes], dtype="S32")
    return Membership(people, np.array([c.encode() for c in classes.values()], dtype="S32"))


def slowly(own: dict[str, str], earlier: list[dict[str, str]]) -> tuple[list[int], list[int]]:
    """Sizes of the groups by the definition: one person at a time."""
    every = sorted({*own, *(p for e in earlier for p in e)})
    told = {p: tuple(e.get(p) for e in earlier) for p in every}
    touched = {told[p] for p in own}
    found: dict[tuple[object, ...], int] = defaultdict(int)
    for p in every:
        if p in own or told[p] in touched:
            found[told[p], own.get(p)] += 1
    here = [n for (_, now), n in found.items() if now is not None]
    return sorted(here), sorted(n for (_, now), n in found.items() if now is None)


class Sql:
    """A database with a released file of no rows."""

    def rows(self, query: str, parameters: object = (), tables: object = {}) -> list[tuple[object, ...]]:
        with duckdb.connect(":memory:") as opened:
            for name, table in dict(tables).items():
                opened.register(name, table)
            opened.execute("CREATE TABLE candidate (a VARCHAR)")
            return opened.execute(query, list(parameters)).fetchall()


@examples(60)
@given(RELEASE, st.lists(RELEASE, max_size=3))
def test_groups_are_those_of_the_definition(own: dict[str, str], earlier: list[dict[str, str]]) -> None:
    found = groups(members(own), [members(e) for e in earlier])
    assert (sorted(found.present.tolist()), sorted(found.gone.tolist())) == slowly(own, earlier)


@pytest.mark.slow
@examples(10)
@given(RELEASE, st.lists(RELEASE, max_size=3), st.integers(2, 5))
def test_both_routes_agree(own: dict[str, str], earlier: list[dict[str, str]], k: int) -> None:
    told = [members(e) for e in earlier]
    one, other = groups(members(own), told), figures(Sql(), members(own), told, k)
    assert other["k"] == one.k
    assert other["people_below"] == one.below(k)
    assert other["groups"] == len(one.present) + len(one.gone)
    assert other["k_gone"] == (min(one.gone) if len(one.gone) else None)


def test_pairs_of_releases_can_be_safe_and_three_not() -> None:
    """Three bits of a number below 8: any two leave two people together, all three nobody."""
    people = [f"p{i}" for i in range(8)]
    splits = [{p: str(i >> b & 1) for i, p in enumerate(people)} for b in range(3)]
    first, second, third = (members(s) for s in splits)
    assert groups(third, [first]).k == groups(third, [second]).k == 2
    assert groups(third, [first, second]).k == 1


def test_someone_who_left_is_found_by_difference() -> None:
    before = dict.fromkeys(PEOPLE, "a")
    after = dict.fromkeys(PEOPLE[1:], "a")
    found = groups(members(after), [members(before)])
    assert found.gone.tolist() == [1]
    assert found.k == 1


def test_someone_new_is_found_by_difference() -> None:
    found = groups(members(dict.fromkeys(PEOPLE, "a")), [members(dict.fromkeys(PEOPLE[1:], "a"))])
    assert sorted(found.present.tolist()) == [1, 11]


def test_other_people_are_no_matter() -> None:
    found = groups(members(dict.fromkeys(PEOPLE[:6], "a")), [members({PEOPLE[7]: "a", PEOPLE[8]: "b"})])
    assert found.k == 6
    assert not len(found.gone)
