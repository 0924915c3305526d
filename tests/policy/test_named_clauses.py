"""Several clauses of one kind, each with a name; and clauses that are about some releases only."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import yaml

from ppdm_flow import api
from ppdm_flow.policy.loading import load
from ppdm_flow.policy.order import PolicyRelation, compare
from ppdm_flow.policy.requirements import requirements_of

BASE = {
    "version": 1,
    "name": "named",
    "source": {"path": "data.csv"},
    "attributes": {
        "age": {"role": "quasi_identifier"},
        "job": {"role": "quasi_identifier"},
        "illness": {"role": "sensitive"},
    },
    "releases": {"open": {"path": "open.csv"}, "partner": {"path": "partner.csv"}},
}
LIST = [{"name": "open", "k": 20, "releases": ["open"]}, {"name": "partner", "k": 5, "attributes": ["age"]}]


@pytest.fixture
def read(tmp_path):
    def loaded(privacy, name="policy.yaml", **more):
        path = tmp_path / name
        path.write_text(yaml.safe_dump(BASE | {"privacy": privacy} | more, sort_keys=False))
        return load(path)

    return loaded


def errors(loaded):
    return [(d.code, d.span.line if d.span else 0) for d in loaded.diagnostics if d.severity == "error"]


def asked(loaded):
    return requirements_of(loaded.policy, loaded.places)


def test_a_list_of_clauses_is_several_requirements(read):
    loaded = read({"k_anonymity": LIST})
    first, second = asked(loaded)
    assert (first.id, first.k, first.attributes, first.releases) == (
        "privacy.k_anonymity.open",
        20,
        ("age", "job"),
        ("open",),
    )
    assert (second.id, second.k, second.attributes, second.releases) == ("privacy.k_anonymity.partner", 5, ("age",), ())
    assert first.span.line < second.span.line


def test_one_clause_needs_no_name(read):
    (only,) = asked(read({"k_anonymity": {"k": 5}}))
    assert (only.id, only.releases) == ("privacy.k_anonymity", ())


@pytest.mark.parametrize(
    "entries",
    [
        [{"k": 5}, {"k": 6}],
        [{"name": "a", "k": 5}, {"name": "a", "k": 6}],
        [{"name": "a", "k": 5}, 6],
        [{"name": "a b", "k": 5}],
        [],
        [{"name": "a", "kk": 5}],
    ],
    ids=["no names", "twice", "no map", "a bad name", "empty", "an unknown key"],
)
def test_lists_that_are_none_of_named_clauses_are_refused(read, entries):
    assert errors(read({"k_anonymity": entries}))


def test_a_fault_in_a_clause_is_shown_at_its_place(read):
    loaded = read({"k_anonymity": [LIST[1], {"name": "low", "k": 1}]})
    ((code, line),) = errors(loaded)
    text = Path(loaded.file).read_text().splitlines()
    assert code == "PPF204"
    assert "k: 1" in text[line - 1]


def test_a_release_that_is_not_there_is_refused(read):
    loaded = read({"l_diversity": {"illness": {"l": 2, "releases": ["opne"]}}})
    assert [code for code, _ in errors(loaded)] == ["PPF614"]
    assert any(d.hint == "did you mean `open`?" for d in loaded.diagnostics)


def relation(read, old, new):
    return compare(read(old, "old.yaml"), read(new, "new.yaml")).relation


K = {"k_anonymity": {"k": 5}}
ON_OPEN = {"k_anonymity": {"k": 5, "releases": ["open"]}}
BOTH = {"k_anonymity": {"k": 5, "releases": ["open", "partner"]}}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (K, ON_OPEN, PolicyRelation.WEAKER),
        (ON_OPEN, K, PolicyRelation.STRICTER),
        (BOTH, ON_OPEN, PolicyRelation.WEAKER),
        (ON_OPEN, BOTH, PolicyRelation.STRICTER),
        (ON_OPEN, ON_OPEN, PolicyRelation.EQUAL),
        (K, {"k_anonymity": [{"name": "all", "k": 5}]}, PolicyRelation.EQUAL),
        (
            K,
            {"k_anonymity": [{"name": "a", "k": 5, "releases": ["open"]}, {"name": "b", "k": 4}]},
            PolicyRelation.WEAKER,
        ),
        ({"k_anonymity": LIST}, {"k_anonymity": LIST[:1]}, PolicyRelation.WEAKER),
        ({"k_anonymity": LIST[:1]}, {"k_anonymity": LIST}, PolicyRelation.STRICTER),
        ({"k_anonymity": LIST}, {"k_anonymity": [LIST[0] | {"k": 10}, LIST[1]]}, PolicyRelation.WEAKER),
    ],
)
def test_fewer_releases_are_weaker(read, old, new, expected):
    assert relation(read, old, new) is expected


def test_what_leaves_under_another_name_is_not_protected_by_a_clause_on_the_old_one(read):
    """The content of `open` moves to `partner`, and the clause stays where it was."""
    steps = {"steps": {"drop": {"use": "drop", "with": {"attributes": ["illness"]}}}}
    one = {"open": {"path": "o.csv", "from": "source"}, "partner": {"path": "p.csv", "from": "drop"}}
    two = {"open": {"path": "o.csv", "from": "drop"}, "partner": {"path": "p.csv", "from": "source"}}
    old = read(ON_OPEN, "old.yaml", releases=one, **steps)
    new = read(ON_OPEN, "new.yaml", releases=two, **steps)
    assert compare(old, new).relation not in (PolicyRelation.EQUAL, PolicyRelation.STRICTER)


def test_a_clause_on_one_release_protects_nothing_on_another(tmp_path):
    """The warnings on what no requirement protects look at each release by itself."""
    (tmp_path / "data.csv").write_text("age,job,illness\n20,a,flu\n")
    policy = BASE | {"privacy": {"l_diversity": {"illness": {"l": 2, "releases": ["open"]}}}}
    path = tmp_path / "policy.yaml"
    path.write_text(yaml.safe_dump(policy, sort_keys=False))
    texts = {d.code: d.message for d in api.check([path]).diagnostics}
    assert "release `partner`" in texts["PPF551"]
    assert "open" not in texts["PPF551"]


FLOORED = {"floors": {"privacy.k_anonymity.k": ">= 5"}}


@pytest.mark.parametrize(
    ("privacy", "holds"),
    [
        ({"k_anonymity": {"k": 6}}, True),
        ({"k_anonymity": {"k": 6, "releases": ["open"]}}, False),
        ({"k_anonymity": [{"name": "a", "k": 6, "releases": ["open"]}]}, False),
        ({"k_anonymity": [{"name": "a", "k": 6}]}, False),
    ],
    ids=["all releases", "one release", "a named clause on one", "a named clause"],
)
def test_a_floor_holds_of_all_releases(tmp_path, read, privacy, holds):
    house = {"version": 1, "name": "house", "privacy": copy.deepcopy(K)} | FLOORED
    (tmp_path / "house.yaml").write_text(yaml.safe_dump(house, sort_keys=False))
    loaded = read(privacy, extends=[{"template": "house.yaml"}])
    assert bool(errors(loaded)) is not holds


def test_a_floor_names_the_clause_that_is_made_narrower(tmp_path, read):
    house = {"version": 1, "name": "house", "privacy": copy.deepcopy(K)} | FLOORED
    (tmp_path / "house.yaml").write_text(yaml.safe_dump(house, sort_keys=False))
    loaded = read({"k_anonymity": {"k": 6, "releases": ["open"]}}, extends=[{"template": "house.yaml"}])
    (fault,) = [d for d in loaded.diagnostics if d.code == "PPF308"]
    assert "some releases only" in fault.message


HOUSE = [{"name": "public", "k": 20, "releases": ["open"]}, {"name": "all", "k": 5}]


@pytest.mark.parametrize("floor", ["privacy", "privacy.k_anonymity", "privacy.k_anonymity.*"])
@pytest.mark.parametrize(
    ("clauses", "holds"),
    [
        (None, True),
        ([{"name": "all", "k": 9}], True),
        ([{"name": "more", "k": 2}], True),
        ([{"name": "all", "k": 2}], False),
        ([{"name": "all", "k": 5, "releases": ["open"]}], False),
        ([{"name": "public", "k": 2, "releases": ["open"]}], False),
        ({"all": None}, False),
    ],
    ids=["nothing", "a larger k", "one more", "a lower k", "fewer releases", "a lower k of one release", "one is gone"],
)
def test_named_clauses_of_a_template_do_not_get_weaker(tmp_path, read, floor, clauses, holds):
    if floor.endswith("*") and clauses == {"all": None}:
        pytest.skip("a floor with `*` is about every name there")
    house = {"version": 1, "name": "house", "privacy": {"k_anonymity": HOUSE}, "floors": {floor: "not weaker"}}
    (tmp_path / "house.yaml").write_text(yaml.safe_dump(house, sort_keys=False))
    loaded = read({} if clauses is None else {"k_anonymity": clauses}, extends=[{"template": "house.yaml"}])
    assert (not errors(loaded)) is holds


@pytest.mark.parametrize("floor", ["privacy", "privacy.k_anonymity", "privacy.k_anonymity.*"])
def test_the_reading_of_missing_values_stays_under_a_floor_on_named_clauses(tmp_path, read, floor):
    house = {"version": 1, "name": "house", "privacy": {"k_anonymity": HOUSE}, "floors": {floor: "not weaker"}}
    (tmp_path / "house.yaml").write_text(yaml.safe_dump(house, sort_keys=False))
    loaded = read({}, extends=[{"template": "house.yaml"}], nulls="exclude")
    assert errors(loaded)


def test_a_file_of_a_named_clause_is_beside_the_template_that_names_it(tmp_path, read):
    folder = tmp_path / "shared"
    folder.mkdir()
    people = {"path": "people.csv"}
    clauses = [{"name": "voters", "k": 2, "population": people}, {"name": "clients", "k": 3, "population": people}]
    house = {"version": 1, "name": "house", "privacy": {"k_map": clauses}}
    (folder / "house.yaml").write_text(yaml.safe_dump(house, sort_keys=False))
    loaded = read({}, extends=[{"template": "shared/house.yaml"}])
    assert {r.population.path for r in asked(loaded)} == {"shared/people.csv"}


def test_a_template_may_make_its_own_clause_narrow(tmp_path, read):
    house = {"version": 1, "name": "house", "privacy": copy.deepcopy(ON_OPEN)} | FLOORED
    (tmp_path / "house.yaml").write_text(yaml.safe_dump(house, sort_keys=False))
    assert not errors(read({"k_anonymity": {"k": 6}}, extends=[{"template": "house.yaml"}]))
