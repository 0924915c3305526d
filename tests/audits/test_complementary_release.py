"""Two releases whose classes intersect in few people, or in one sensitive value."""

from __future__ import annotations

import csv
from collections import Counter

import numpy as np
import pytest

from ppdm_flow.core.attributes import AttributeFacts, Change, HierarchySpec
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.sdk.registry import load
from ppdm_flow.sdk.spec import Scope

SPEC = load("audits", "complementary_release")
ROLES = {"zip": Role.QUASI_IDENTIFIER, "age": Role.QUASI_IDENTIFIER, "disease": Role.SENSITIVE}


def measured(case, **params):
    return SPEC.load()(SPEC.params(other="other.csv", **params)).measure(*case.args)


def values(outcome):
    return {n: f.value for n, f in outcome.figures.items()}


def write(folder, columns, delimiter=","):
    with (folder / "other.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(columns)
        writer.writerows(zip(*(["" if c is None else c for c in cells] for cells in columns.values()), strict=True))


def people(rng, rows):
    return {
        "zip": [f"{x:05}" for x in rng.integers(0, 40, rows) * 100 + rng.integers(0, 3, rows)],
        "age": [str(x) for x in rng.integers(20, 60, rows)],
        "disease": [f"d{x}" for x in rng.integers(0, 5, rows)],
    }


def by_zip(table):
    return {**table, "zip": [z[:3] + "**" for z in table["zip"]], "age": ["*"] * len(table["age"])}


def by_age(table):
    decades = [f"[{int(a) // 10 * 10}, {int(a) // 10 * 10 + 10})" for a in table["age"]]
    return {**table, "zip": ["*****"] * len(table["zip"]), "age": decades}


def shuffled(rng, table):
    order = rng.permutation(len(table["zip"]))
    return {n: [cells[i] for i in order] for n, cells in table.items()}


def slowly(one, other, diseases):
    """By the definition, one person at a time: group sizes, and the diseases that both classes have."""
    group = Counter(zip(one, other, strict=True))
    size = [group[key] for key in zip(one, other, strict=True)]
    of_one, of_other = {}, {}
    for a, b, d in zip(one, other, diseases, strict=True):
        of_one.setdefault(a, set()).add(d)
        of_other.setdefault(b, set()).add(d)
    both = [of_one[a] & of_other[b] for a, b in zip(one, other, strict=True)]
    return size, both


@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_definition(seed, build, tmp_path):
    rng = np.random.default_rng(seed)
    table = people(rng, 60 + 40 * seed)
    here, there = by_age(table), by_zip(table)
    write(tmp_path, shuffled(rng, there))
    found = values(measured(build.case(table, here, ROLES, home=tmp_path)))
    size, both = slowly(here["age"], there["zip"], table["disease"])
    assert found["k"] == min(size)
    assert found["k_alone"] == min(Counter(here["age"]).values())
    assert found["rows_below"] == sum(s < 5 for s in size)
    assert found["groups"] == len(set(zip(here["age"], there["zip"], strict=True)))
    assert found["certain"] == pytest.approx(sum(len(b) == 1 for b in both) / len(both))
    assert found["matched"] == 1


def crossed():
    """Two releases, each 4-anonymous with two diseases a class; people in both classes are two, of one disease."""
    zips, ages = ["10001", "10002", "20001", "20002"], ["25", "26", "35", "36"]
    diseases = {("1", "2"): "flu", ("1", "3"): "cold", ("2", "2"): "ulcer", ("2", "3"): "flu"}
    places = [(z, a) for z in zips for a in ages if (int(z[-1]) + int(a[-1])) % 2]
    return {
        "zip": [z for z, _ in places],
        "age": [a for _, a in places],
        "disease": [diseases[z[0], a[0]] for z, a in places],
    }


def test_a_planted_pair_is_found(build, tmp_path):
    table = crossed()
    here = {**table, "zip": ["*"] * 8, "age": [a[0] + "*" for a in table["age"]]}
    there = {**table, "zip": [z[0] + "****" for z in table["zip"]], "age": ["*"] * 8}
    write(tmp_path, there)
    outcome = measured(build.case(table, here, ROLES, home=tmp_path), k=4)
    found = values(outcome)
    assert found["k_alone"] == 4
    assert found["k"] == 2
    assert found["rows_below"] == 8
    assert [f.code for f in outcome.findings] == ["PPF899"]
    assert "8 of 8 rows in groups of fewer than 4 people, the smallest with 2" in outcome.findings[0].text
    assert outcome.charts[0].series[0].y == (0, 8, 0, 0, 0, 0)
    assert outcome.charts[0].series[1].y == (0, 8, 0, 0, 0, 0)


def test_values_that_both_classes_have_in_common(build, tmp_path):
    """Of every group both classes have one disease: a reader of both releases knows it of everybody."""
    rng = np.random.default_rng(3)
    side, year = rng.integers(0, 8, 400), rng.integers(0, 8, 400)
    table = {
        "zip": [f"{s}{x:04}" for s, x in zip(side, rng.integers(0, 10000, 400), strict=True)],
        "age": [f"{y + 1}{x}" for y, x in zip(year, rng.integers(0, 10, 400), strict=True)],
        "disease": [f"d{(s * 8 + y)}" for s, y in zip(side, year, strict=True)],
    }
    here = {**table, "zip": ["*"] * 400, "age": [a[0] + "*" for a in table["age"]]}
    there = {**table, "zip": [z[0] + "****" for z in table["zip"]], "age": ["*"] * 400}
    write(tmp_path, shuffled(rng, there))
    outcome = measured(build.case(table, here, ROLES, home=tmp_path), k=2)
    found = values(outcome)
    assert (found["certain"], found["certain_alone"], found["disease.certain"]) == (1, 0, 1)
    assert any("`disease` becomes certain for 400 of 400 rows" in f.text for f in outcome.findings)
    assert not any("d12" in f.text for f in outcome.findings)
    write(tmp_path, shuffled(rng, {**there, "disease": ["" if i % 3 else d for i, d in enumerate(there["disease"])]}))
    assert values(measured(build.case(table, here, ROLES, home=tmp_path)))["certain"] == 0  # a blank leaves a doubt


def test_the_same_classes_again_tell_nothing_new(build, tmp_path):
    rng = np.random.default_rng(5)
    table = people(rng, 200)
    write(tmp_path, shuffled(rng, by_age(table)))
    outcome = measured(build.case(table, by_age(table), ROLES, home=tmp_path))
    found = values(outcome)
    assert found["k"] == found["k_alone"]
    assert found["certain"] == found["certain_alone"] == 0
    assert not outcome.findings


def test_who_is_new_is_told_from_the_others(build, tmp_path):
    """The temporal attack: three came since, and only they fit no row of the earlier release."""
    table = {"zip": ["1"] * 10 + ["2"] * 3, "age": ["30"] * 13, "disease": [f"d{i % 3}" for i in range(13)]}
    here = {**table, "zip": ["*"] * 13}
    write(tmp_path, {n: cells[:10] for n, cells in table.items()})
    outcome = measured(build.case(table, here, ROLES, home=tmp_path))
    assert values(outcome)["k"] == 3
    assert values(outcome)["matched"] == pytest.approx(10 / 13)
    assert "3 of 13 rows" in outcome.findings[0].text


def test_the_other_release_may_tell_what_this_one_leaves_out(build, tmp_path):
    table = crossed()
    here = {"age": [a[0] + "*" for a in table["age"]], "disease": table["disease"]}
    write(tmp_path, {"PLZ": [z[0] + "****" for z in table["zip"]], "disease": table["disease"]})
    case = build.case(table, here, ROLES, home=tmp_path)
    assert values(measured(case, columns={"zip": "PLZ"}))["k"] == 2
    assert values(measured(case, columns={"zip": "PLZ"}, attributes=["age"]))["k"] is None
    with pytest.raises(DataError, match="PPF878"):
        measured(case, columns={"zip": "postcode"})


def test_labels_of_a_hierarchy_and_overlapping_classes(build, tmp_path):
    """A person who fits two classes of the other release is told from one who fits only one of them."""
    table = {"zip": ["a", "b", "c", "c"], "age": ["1", "1", "1", "1"], "disease": ["x", "y", "x", "y"]}
    here = {**table, "zip": ["*"] * 4}
    tree = HierarchySpec(levels=(("a", ("ab", "*")), ("b", ("ab", "*")), ("c", ("c", "*"))))
    facts = {n: AttributeFacts(n, r, source=n, hierarchy=tree if n == "zip" else None) for n, r in ROLES.items()}
    write(tmp_path, {**table, "zip": ["ab", "ab", "b", "c"]})
    case = build.case(table, here, ROLES, home=tmp_path, original_attributes=facts)
    found = values(measured(case))
    assert found["groups"] == 3  # a: ab; b: ab or b; c: c
    assert found["k"] == 1


def test_what_cannot_be_measured_is_said(build, tmp_path):
    table = crossed()
    write(tmp_path, by_zip(table), delimiter=";")
    with pytest.raises(DataError, match="PPF878"):
        measured(build.case(table, by_age(table), ROLES, home=tmp_path))
    apart = build.case(table, by_age(table), ROLES, home=tmp_path, paired=False)
    outcome = measured(apart, delimiter=";")
    assert set(values(outcome).values()) == {None}
    assert "cannot be paired" in outcome.figures["k"].note
    write(tmp_path, {"disease": table["disease"]})
    assert values(measured(build.case(table, by_age(table), ROLES, home=tmp_path)))["k"] is None
    write(tmp_path, {"zip": [z[:3] + "**" for z in table["zip"]]})
    outcome = measured(build.case(table, by_age(table), ROLES, home=tmp_path))
    assert values(outcome)["k"] == 2
    assert "no sensitive attribute in common" in outcome.figures["certain"].note
    empty = {n: [] for n in table}
    assert values(measured(build.case(empty, empty, ROLES, home=tmp_path)))["k"] is None


def test_a_perturbed_release_makes_no_finding(build, tmp_path):
    table = crossed()
    write(tmp_path, {**table, "zip": [z[0] + "****" for z in table["zip"]]})
    changes = {"age": (("perturb", Change.PERTURBED),)}
    assert not measured(build.case(table, by_age(table), ROLES, home=tmp_path, changes=changes)).findings
    assert measured(build.case(table, by_age(table), ROLES, home=tmp_path, nulls=Nulls.WILDCARD)).findings


def test_names_that_are_not_there_are_found_beforehand():
    scope = Scope("x", {"zip": AttributeFacts("zip", Role.QUASI_IDENTIFIER)}, ())
    problems = SPEC.effect(SPEC.params(other="o.csv", attributes=["zop"], sensitive=["disease"]), scope).problems
    assert [(p.code, p.path) for p in problems] == [("PPF861", ("attributes", "0")), ("PPF861", ("sensitive", "0"))]
