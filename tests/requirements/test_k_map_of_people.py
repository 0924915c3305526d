"""k-map where a person has several rows: a row by itself fits as many people; linked ones fit who fits all of them."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.mining.populations.population import PopulationFile
from ppdm_flow.requirements.k_map.requirement import KMap
from ppdm_flow.sdk.registry import load

SPEC = load("audits", "k_map")
AUDIT = SPEC.load()(SPEC.params())
ONE = PeopleCount("person", 1)
POPULATION = {"x": 4, "y": 3, "z": 1}
"""How many people of the population have each town."""
ROWS = st.lists(
    st.tuples(st.sampled_from("1234"), st.sampled_from("xyz"), st.sampled_from("ab")), min_size=1, max_size=9
)
"""Of each row: the person, a town, and a further cell that may link rows."""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("population")
    towns = [town for town, number in POPULATION.items() for _ in range(number)]
    (folder / "people.csv").write_text("town\n" + "\n".join(towns) + "\n", encoding="utf-8")
    return folder


def measured(build, home, rows, *, people=ONE, dropped=()):
    names = [n for n in ("person", "town", "more") if n not in dropped]
    cells = {name: [row[i] for row in rows] for i, name in enumerate(("person", "town", "more"))}
    released = {name: cells[name] for name in names if name != "person"}
    requirement = KMap.of("privacy.k_map", k=2, attributes=("town",), population=PopulationFile(path="people.csv"))
    roles = {"person": Role.SUBJECT, "town": Role.QUASI_IDENTIFIER, "more": Role.INSENSITIVE}
    more = {"requirements": (requirement,), "people": people, "home": home, "nulls": Nulls.OWN_CATEGORY}
    example = build.case(cells, released, roles, **more)
    outcome = AUDIT.measure(*example.args)
    again = AUDIT.recheck(*example.args)
    return outcome.measured[0], again


def in_several_towns(rows):
    """Whether somebody has rows of several towns that its further cells show to be one person's."""
    by_cell = defaultdict(list)
    for row in rows:
        by_cell[row[2]].append(row)
    linked = [own for own in by_cell.values() if len(own) > 1 and len({r[0] for r in own}) == 1]
    if len({r[2] for r in rows}) == len(rows):
        return False
    towns = defaultdict(set)
    for own in linked:
        for person, town, _ in own:
            towns[person].add(town)
    return any(len(some) > 1 for some in towns.values())


@examples(45)
@given(rows=ROWS)
def test_unlinked_rows_fit_as_many_people_as_any(rows, build, home):
    result, again = measured(build, home, rows)
    expected = min(POPULATION[town] for _, town, _ in rows)
    assert result.verifiable is not in_several_towns(rows)
    if result.verifiable:
        assert result.figure.value == expected
        assert again == {"privacy.k_map.k": expected}
    else:
        assert result.figure.value is None
        assert again == {}


def test_one_row_each_is_as_if_rows_counted(build, home):
    rows = [(str(i), "xyz"[i % 3], "ab"[i % 2]) for i in range(9)]
    by_people, _ = measured(build, home, rows)
    by_rows, _ = measured(build, home, rows, people=None)
    assert by_people == by_rows


def test_a_column_that_links_the_rows_of_one_person_is_told(build, home):
    rows = [("1", "x", "rare"), ("1", "y", "rare"), *[(str(i), "x", "a") for i in range(2, 6)]]
    result, _ = measured(build, home, rows)
    assert not result.verifiable
    assert "`more`" in result.sentence
    assert measured(build, home, rows, dropped=("more",))[0].verifiable
    assert Counter(row[2] for row in rows)["rare"] == 2
