"""Tables that were joined, and tables that can be."""

from __future__ import annotations

import pytest
from growth import growth

ATTRIBUTES = """attributes:
  age: {role: quasi_identifier, type: integer}
  ill: {role: sensitive}
"""
TEMPLATE = "privacy:\n  templates: {t: {channel: [age], sensitive: {ill: [hiv]}, confidence: 0.5}}\n"
K = "privacy:\n  k_anonymity: {k: 3}\n"
CLASSES = "steps:\n  classes: {use: assign_class_id, with: {attributes: [age]}}\n"
JOIN = CLASSES + "  join: {use: lossy_join, with: {attributes: [ill]}}\n"
SPLIT = CLASSES + "  split: {use: vertical_partition, with: {tables: {people: [age], illness: [ill]}}}\n"
BOTH = "releases:\n  p: {from: split.people, path: p.csv}\n  i: {from: split.illness, path: i.csv}\n"
REJOIN = "audits:\n  together: {use: rejoin, release: RELEASE, with: {other: OTHER}}\n"


@pytest.mark.parametrize(
    ("privacy", "wrong"),
    [(K, True), (TEMPLATE, False), (TEMPLATE.replace("0.5}", "0.5, min_support: 3}"), True)],
)
def test_tuples_are_no_people(codes, privacy, wrong):
    assert ("PPF587" in codes(ATTRIBUTES + privacy + JOIN + "releases:\n  r: {path: r.csv}\n")) == wrong
    before = "releases:\n  r: {from: classes, path: r.csv}\n  s: {from: join, path: s.csv}\n"
    assert codes(ATTRIBUTES + privacy + JOIN + before).count("PPF587") == wrong  # of the one release only


@pytest.mark.parametrize(
    ("audit", "wrong"),
    [
        ("", ["PPF588"]),
        (REJOIN.replace("RELEASE", "p").replace("OTHER", "i"), []),
        (REJOIN.replace("RELEASE", "i").replace("OTHER", "p"), []),
        (REJOIN.replace("RELEASE", "p").replace("OTHER", "x"), ["PPF588", "PPF614"]),
        (REJOIN.replace("RELEASE", "p").replace("OTHER", "p"), ["PPF588", "PPF614"]),
    ],
)
def test_parts_are_measured_together(codes, audit, wrong):
    found = codes(ATTRIBUTES + K + SPLIT + audit + BOTH)
    assert sorted(c for c in found if c in ("PPF588", "PPF614")) == wrong


def test_one_part_alone_needs_no_partner(codes):
    assert "PPF588" not in codes(ATTRIBUTES + K + SPLIT + "releases:\n  p: {from: split.people, path: p.csv}\n")


def test_the_partition_has_no_output_of_its_own(codes):
    assert "PPF608" in codes(ATTRIBUTES + K + SPLIT + "releases:\n  p: {from: split, path: p.csv}\n")


def test_a_class_id_counts_where_its_attributes_do(compiled):
    privacy = K + "  templates: {t: {channel: [age], sensitive: {ill: [hiv]}, confidence: 0.5}}\n"
    audit = REJOIN.replace("RELEASE", "p").replace("OTHER", "i")
    found = compiled(ATTRIBUTES + privacy + SPLIT + audit + BOTH)
    assert "PPF552" not in {d.code for d in found.diagnostics}
    for release in found.plan.releases:
        lineage = {a.name: a.lineage.computed_from for a in release.attributes}
        assert lineage["class_id"] == {"age"}
    assert all(r in found.plan.requirements for a in found.plan.audits for r in a.requirements)


def test_a_class_id_made_of_several_attributes_comes_from_each(compiled):
    text = ATTRIBUTES.replace("  ill", "  town: {role: quasi_identifier}\n  ill")
    steps = SPLIT.replace("attributes: [age]", "attributes: [age, town]")
    audit = REJOIN.replace("RELEASE", "p").replace("OTHER", "i")
    found = compiled(text + K.replace("{k: 3}", "{k: 3, attributes: [age]}") + steps + audit + BOTH)
    lineages = [a.lineage.computed_from for r in found.plan.releases for a in r.attributes if a.name == "class_id"]
    assert lineages == [{"age", "town"}] * 2


def test_a_renamed_class_id_comes_from_its_attributes_as_well(compiled):
    steps = CLASSES + "  other: {use: rename, with: {attributes: {class_id: group}}}\n"
    found = compiled(ATTRIBUTES + K + steps + "releases:\n  r: {path: r.csv}\n")
    assert {a.name: a.lineage.computed_from for a in found.plan.releases[0].attributes}["group"] == {"age"}


@pytest.mark.parametrize(
    ("gates", "warned"),
    [
        ("", True),
        ("gates: {g: {metric: together.same_order, max: 0.5}}\n", True),
        ("gates: {g: {metric: together.posterior_bound, max: 0.5}}\n", False),
        ("gates: {g: {metric: p/together.posterior_bound, max: 0.5}}\n", False),
    ],
)
def test_a_join_is_to_be_bounded(codes, gates, warned):
    audit = REJOIN.replace("RELEASE", "p").replace("OTHER", "i")
    assert ("PPF589" in codes(ATTRIBUTES + K + SPLIT + audit + gates + BOTH)) == warned


@pytest.mark.slow
def test_many_releases_are_judged_in_linear_time(compiled):
    def check(releases):
        every = "".join(f"  r{number}: {{path: r{number}.csv}}\n" for number in range(releases))
        found = compiled(ATTRIBUTES + K + "releases:\n" + every)
        assert len(found.plan.releases) == releases

    assert growth(check, 50, 400) < 30  # the pairs of releases times the steps are 500 times as many


def test_of_many_pairs_the_first_thousand_are_reported(codes):
    every = "".join(f"  r{number}: {{from: split.people, path: r{number}.csv}}\n" for number in range(60))
    found = codes(ATTRIBUTES + K + SPLIT + "releases:\n" + every)
    assert found.count("PPF588") == 1_000
    few = "".join(f"  r{number}: {{from: split.people, path: r{number}.csv}}\n" for number in range(4))
    assert codes(ATTRIBUTES + K + SPLIT + "releases:\n" + few).count("PPF588") == 6
