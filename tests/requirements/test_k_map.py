"""The audit `k_map`: against people counted one by one, in SQL, and on files that are none."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts, Change, HierarchySpec
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.lineage import Lineage
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.mining.populations.population import PopulationFile
from ppdm_flow.mining.populations.profiles import Labels
from ppdm_flow.requirements.k_map.requirement import KMap
from ppdm_flow.sdk.registry import load

AUDIT = load("audits", "k_map").load()(load("audits", "k_map").params())
LEVELS = (("Bonn", ("Rhine", "*")), ("Mainz", ("Rhine", "*")), ("Kiel", ("Sea", "*")))
ROLE = Role.QUASI_IDENTIFIER
STEP = (("coarse", Change.GENERALIZED),)
FACTS = {
    "town": AttributeFacts("town", ROLE, hierarchy=HierarchySpec(levels=LEVELS), source="town", changes=STEP),
    "age": AttributeFacts("age", ROLE, hierarchy=HierarchySpec(intervals=(0, 30, 60)), source="age", changes=STEP),
}
TOWNS = st.sampled_from([None, "⊥", "Bonn", "Rhine", "Sea", "*", "Ulm"])
AGES = st.sampled_from([None, "⊥", "7", "[0, 30)", "[30, 60)", ">= 60", "*"])


def stands_for(label, value, nulls):
    """Whether a released label may be of somebody with this value."""
    if label == "⊥":
        return True
    if None in (label, value):
        return label == value or (nulls is Nulls.WILDCARD and label is None)
    above = {"Bonn": ("Rhine",), "Mainz": ("Rhine",), "Kiel": ("Sea",)}.get(value, ())
    spans = {"[0, 30)": (0, 30), "[30, 60)": (30, 60), ">= 60": (60, 10**9)}
    inside = value.isdecimal() and label in spans and spans[label][0] <= int(value) < spans[label][1]
    return label in (value, "*", *above) or inside


def write(path, people):
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([["TOWN", "age", "x"], *[[t or "", a or "", "z"] for t, a in people]])


@examples(20)
@given(
    rows=st.lists(st.tuples(TOWNS, AGES), min_size=1, max_size=8),
    people=st.lists(
        st.tuples(st.sampled_from(["Bonn", "Mainz", "Kiel", "Ulm", None]), st.sampled_from(["7", "30", "77", None])),
        max_size=15,
    ),
    nulls=st.sampled_from(Nulls),
)
def test_people_one_by_one(rows, people, nulls, tmp_path_factory, build, agree):
    home = tmp_path_factory.mktemp("k_map")
    write(home / "people.csv", people)
    requirement = KMap.of(
        "privacy.k_map",
        k=2,
        attributes=("town", "age"),
        population=PopulationFile(
            path="people.csv",
            columns={
                "town": "TOWN",
            },
        ),
    )
    table = {"town": [t for t, _ in rows], "age": [a for _, a in rows]}
    example = build.case(
        table,
        table,
        "qq",
        nulls=nulls,
        requirements=(requirement,),
        attributes=FACTS,
        original_attributes=FACTS,
        home=home,
        paired=False,
    )
    found = agree(AUDIT, example)
    kept = [r for r in rows if not (nulls is Nulls.EXCLUDE and None in r)]
    fit = [sum(all(stands_for(x, v, nulls) for x, v in zip(r, p, strict=True)) for p in people) for r in kept]
    assert found["privacy.k_map.k"] == min(fit, default=0)
    assert found["privacy.k_map.rows_below"] == sum(n < 2 for n in fit)
    assert found["privacy.k_map.population"] == len(people)


VALUES = ["Bonn", "Mainz", "Kiel", "Ulm", "Trier"]


@examples(20)
@given(
    shown=st.fixed_dictionaries({v: st.sampled_from(["⊥", "*", "****", "Rhine", v]) for v in VALUES}),
    rows=st.lists(st.sampled_from(VALUES), min_size=1, max_size=8),
    people=st.lists(st.sampled_from([*VALUES, "Essen"]), max_size=15),
)
def test_people_by_the_map_of_their_values(shown, rows, people, tmp_path_factory, build, agree):
    """A label covers the values that were given it, and no others, in spite of its look."""
    home = tmp_path_factory.mktemp("k_map")
    write(home / "people.csv", [(town, "7") for town in people])
    population = PopulationFile(path="people.csv", columns={"town": "TOWN"})
    requirement = KMap.of("privacy.k_map", k=2, attributes=("town",), population=population)
    derived = Lineage(frozenset(["town"]))
    facts = {"town": replace(FACTS["town"], hierarchy=None, derived=derived)}
    released = {"town": [shown[row] for row in rows]}
    example = build.case({"town": rows}, released, "q", requirements=(requirement,), attributes=facts, home=home)
    given = {shown[row] for row in rows}
    if len(given) == 1 and not given.isdisjoint(["⊥", "*", "****"]):
        return  # everybody's, as far as the length of a mask allows
    fit = [sum((person in rows and shown[person] == label) or person == label for person in people) for label in given]
    assert agree(AUDIT, example)["privacy.k_map.k"] == min(fit)


@pytest.mark.parametrize("label", ["⊥", "*"])
def test_one_label_for_all_values_stands_for_everybody(label, tmp_path, build, agree):
    write(tmp_path / "people.csv", [(town, "7") for town in (*VALUES, "Essen")])
    population = PopulationFile(path="people.csv", columns={"town": "TOWN"})
    requirement = KMap.of("privacy.k_map", k=2, attributes=("town",), population=population)
    facts = {"town": replace(FACTS["town"], derived=Lineage(frozenset(["town"])))}
    table = {"town": ["Bonn", "Mainz", "Ulm"]}
    example = build.case(
        table, {"town": [label] * 3}, "q", requirements=(requirement,), attributes=facts, home=tmp_path
    )
    assert agree(AUDIT, example)["privacy.k_map.k"] == 6


def labels(names, spec=None, *, generalized=True, home=None):
    own = AttributeFacts("a", ROLE, hierarchy=spec)
    after = AttributeFacts("a", ROLE, hierarchy=spec, changes=STEP if generalized else ())
    found = Labels(names, own, after, home)
    return lambda value: [names[i] for i in found.of(value)]


def test_what_labels_stand_for(tmp_path):
    masked = labels(["101**", "1011*", "10115", "2****"], HierarchySpec(prefix=(4, 3)))
    assert masked("10115") == ["101**", "1011*", "10115"]
    assert masked("1011") == ["101**", "1011*"]  # labels of one length are padded: what begins alike is alike
    assert masked("10") == []
    assert masked("101150") == []
    covered = labels(["25*", "2501*", "39**"], HierarchySpec())  # sign by sign: every text keeps its length
    assert covered("250") == ["25*"]
    assert covered("25") == []
    assert covered("2501") == []
    assert covered("25017") == ["2501*"]
    codes = labels(["250***", "25", "251***"], HierarchySpec(prefix=(3,)))
    assert [codes(v) for v in ("250", "250.1", "250.99", "25", "2")] == [["250***"]] * 3 + [["25"], []]
    dates = labels(["1984", "1984-05", "1984-Q2", "1980s", "1985"], HierarchySpec(date=("year",)))
    assert dates("1984-05-06") == ["1984", "1984-05", "1984-Q2", "1980s"]
    german = labels(["1984"], HierarchySpec(date=("year",), format="%d.%m.%Y"))
    assert german("06.05.1984") == ["1984"]
    numbers = labels(["[0, 18)", "< 18", ">= 18", "[18, 40]", "<= 17.5"], HierarchySpec(intervals=(0, 18)))
    assert numbers("17.5") == ["[0, 18)", "< 18", "<= 17.5"]
    assert numbers("40") == [">= 18", "[18, 40]"]
    assert numbers("old") == []
    order = labels(["low to mid", "high", "*"], HierarchySpec(order=("low", "mid", "high"), then=(2,)))
    assert order("mid") == ["low to mid", "*"]
    assert order("high") == ["high", "*"]
    (tmp_path / "h.csv").write_text("Bonn;Rhine;*\n", encoding="utf-8")
    assert labels(["Rhine", "Sea", "Bonn"], HierarchySpec(csv="h.csv"), home=tmp_path)("Bonn") == ["Rhine", "Bonn"]


def test_what_no_step_generalized_is_compared_letter_by_letter():
    plain = labels(["[0, 30)", "1****", "*", "7"], HierarchySpec(intervals=(0, 30)), generalized=False)
    assert plain("7") == ["7"]
    assert plain("12345") == []


def test_a_class_that_fits_nobody_is_told(tmp_path, build):
    write(tmp_path / "people.csv", [("Bonn", "7")] * 9)
    requirement = KMap.of(
        "privacy.k_map",
        k=5,
        attributes=("town",),
        population=PopulationFile(
            path="people.csv",
            columns={
                "town": "TOWN",
            },
        ),
    )
    table = {"town": ["Rhine", "Rhine", "Sea"]}
    more = {"attributes": FACTS, "original_attributes": FACTS, "home": tmp_path}
    outcome = AUDIT.measure(*build.case(table, table, "q", requirements=(requirement,), **more).args)
    assert [f.code for f in outcome.findings] == ["PPF879"]
    assert outcome.figures["privacy.k_map.rows_below"].value == 1
    assert "Sea" not in repr(outcome)
    assert outcome.charts[0].x == ("0", "1", "2 to 4", "5 to 9")
    assert outcome.charts[0].series[0].y == (1, 0, 0, 2)


@pytest.mark.parametrize("content", [None, b"town\nBonn,secret\n", b"city\nsecret\n", b"", b"TOWN\n\xff\xfesecret\n"])
def test_files_that_are_none(content, tmp_path, build):
    if content is not None:
        (tmp_path / "people.csv").write_bytes(content)
    requirement = KMap.of(
        "privacy.k_map",
        k=5,
        attributes=("town",),
        population=PopulationFile(
            path="people.csv",
            columns={
                "town": "TOWN",
            },
        ),
    )
    example = build.case({"town": ["a"]}, {"town": ["a"]}, "q", requirements=(requirement,), home=tmp_path)
    with pytest.raises(DataError) as fault:
        AUDIT.measure(*example.args)
    assert fault.value.diagnostics[0].code == "PPF878"
    assert "secret" not in repr(fault.value.diagnostics)


def test_no_quasi_identifier_released(tmp_path, build, agree):
    write(tmp_path / "people.csv", [("Bonn", "7")] * 9)
    requirement = KMap.of("privacy.k_map", k=5, attributes=("town",), population=PopulationFile(path="people.csv"))
    example = build.case({"town": ["a"], "s": ["1"]}, {"s": ["1"]}, "qs", requirements=(requirement,), home=tmp_path)
    assert agree(AUDIT, example)["privacy.k_map.k"] == 9
