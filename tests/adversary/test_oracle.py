"""The oracle on examples whose figures are worked out by hand; each leak beside what looks like it and is harmless."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adversary.crowds import Release
from adversary.groups import Alone
from adversary.lineage import released
from adversary.oracle import Judged, judge, refusals
from adversary.shares import MISSING, SUPPRESSED

ATTRIBUTES = {
    "person": {"role": "identifier"},
    "age": {"role": "quasi_identifier"},
    "job": {"role": "quasi_identifier"},
    "s": {"role": "sensitive"},
    "n": {"role": "sensitive", "type": "integer"},
}


def policy(privacy: dict[str, Any], *steps: tuple[str, dict[str, Any]], nulls: str = "own_category") -> dict[str, Any]:
    made = {f"s{i}": {"use": use, "with": options} for i, (use, options) in enumerate(steps)}
    releases = {"a": {"path": "a.csv"}}
    return {"attributes": ATTRIBUTES, "nulls": nulls, "privacy": privacy, "steps": made, "releases": releases}


def judged(asked: dict[str, Any], people: str, cells: str) -> list[Judged]:
    """Judge a release; both tables are text, a header and then a row each, ``-`` missing and ``*`` suppressed."""
    columns = released(asked)["a"]
    originals, shown = _table(people), _table(cells)
    assert list(shown[0]) == list(columns)
    return judge(asked, Alone(Release(columns, shown, originals, range(len(shown)), asked["nulls"])))


def _table(text: str) -> list[dict[str, str]]:
    head, *lines = (line.split() for line in text.split("|"))
    marks = {"-": MISSING, "*": SUPPRESSED}
    return [dict(zip(head, (marks.get(c, c) for c in line), strict=True)) for line in lines]


def figures(found: list[Judged]) -> dict[str, Any]:
    return {j.metric.removeprefix("privacy."): None if j.measured is None else round(j.measured, 6) for j in found}


L = {"l_diversity": {"s": {"l": "2", "attributes": ["age"]}}}
AGES = {"attributes": ["age", "s"]}
DROP = {"attributes": ["person", "job", "n"]}


def test_class_id_over_a_secret_that_is_dropped_is_the_secret() -> None:
    gone = ("drop", {"attributes": ["person", "job", "n", "s"]})
    asked = policy(L, ("assign_class_id", {"attributes": ["s"]}), gone)
    people = "age s | 1 x | 1 x | 2 x | 2 y"
    assert figures(judged(asked, people, "age class_id | 1 1 | 1 1 | 2 1 | 2 2")) == {"l_diversity.s.l": 1}
    people = "age s | 1 x | 1 y | 2 x | 2 y"
    assert figures(judged(asked, people, "age class_id | 1 1 | 1 2 | 2 1 | 2 2")) == {"l_diversity.s.l": 2}
    asked = policy(L, ("drop", {"attributes": ["person", "job", "n", "s"]}))
    assert [j.holds for j in judged(asked, people, "age | 1 | 1 | 2 | 2")] == [True]


def test_class_id_over_others_knows_nothing_of_the_secret() -> None:
    people = "age job s | 1 a x | 1 a y | 1 b x | 1 b y"
    asked = policy(L, ("assign_class_id", {"attributes": ["age", "job"]}), ("drop", DROP))
    assert figures(judged(asked, people, "age s class_id | 1 x 1 | 1 y 1 | 1 x 2 | 1 y 2")) == {"l_diversity.s.l": 2}


def test_a_crowd_spans_the_mixed_cells_that_people_alike_show() -> None:
    """Three people of age 1 show classes 1 and 2, of 3 and 1 rows: a crowd of four, and k = 2 for those of age 2."""
    k = {"k_anonymity": {"k": "2", "attributes": ["age"]}}
    asked = policy(
        k, ("microaggregation", {"attributes": ["age", "n"]}), ("drop", {"attributes": ["person", "job", "s"]})
    )
    people = "age n | 1 5 | 1 5 | 1 9 | 2 5 | 2 8"
    cells = "age n | 3 6 | 3 6 | 4 7 | 3 6 | 5 8"
    assert figures(judged(asked, people, cells)) == {"k_anonymity.k": 4}
    people = "age n | 1 5 | 1 5 | 1 9 | 3 5 | 2 8"
    assert figures(judged(asked, people, cells)) == {"k_anonymity.k": 1}  # (2, 8) alone shows (5, 8)


def test_the_mean_over_mixed_cells_counts_where_it_is_worse() -> None:
    """Of age 1, two show class 1 (all x), one class 2 (one x in four): 3/6 in the crowd, (2 + 1/4)/3 on average."""
    asked = policy(
        {"alpha_k": {"s": {"alpha": "0.6", "attributes": ["age"], "values": ["x"]}}},
        ("assign_class_id", {"attributes": ["age", "s"]}),
        ("drop", {"attributes": ["person", "job", "n", "s", "age"]}),
    )
    people = "age s | 1 x | 1 x | 1 x | 2 y | 2 y | 2 y"
    assert figures(judged(asked, people, "class_id | 1 | 1 | 2 | 2 | 2 | 2")) == {"alpha_k.s.alpha": 0.75}


@pytest.mark.parametrize(
    ("rule", "cells", "share"),
    [
        ({"values": {"hiv": "H1"}, "keep_others": "true"}, "age s | 1 H1 | 1 flu | 1 H1 | 1 flu", 0.5),
        ({"values": {"hiv": "H1", "flu": "H1"}}, "age s | 1 H1 | 1 H1 | 1 H1 | 1 H1", 0.5),
    ],
)
def test_a_recoded_value_is_decoded(rule: dict[str, Any], cells: str, share: float) -> None:
    asked = policy(
        {"alpha_k": {"s": {"alpha": "0.4", "attributes": ["age"], "values": ["hiv"]}}},
        ("recode", {"attributes": {"s": rule}}),
        ("drop", {"attributes": ["person", "job", "n"]}),
    )
    found = judged(asked, "age s | 1 hiv | 1 flu | 1 hiv | 1 flu", cells)
    assert figures(found) == {"alpha_k.s.alpha": share}


def test_suppressing_the_one_rare_value_hides_nothing_and_suppressing_two_does() -> None:
    asked = policy(
        {"alpha_k": {"s": {"alpha": "0.5", "attributes": ["age"], "values": ["hiv"]}}},
        ("suppress", {"rare": {"s": {"count": "3"}}, "small": "keep"}),
        ("drop", {"attributes": ["person", "job", "n"]}),
    )
    alone = judged(asked, "age s | 1 hiv | 1 hiv | 2 flu | 2 flu | 2 flu", "age s | 1 * | 1 * | 2 flu | 2 flu | 2 flu")
    assert figures(alone) == {"alpha_k.s.alpha": 1}
    several = judged(
        asked, "age s | 1 hiv | 1 tbc | 2 flu | 2 flu | 2 flu", "age s | 1 * | 1 * | 2 flu | 2 flu | 2 flu"
    )
    assert figures(several) == {"alpha_k.s.alpha": 0.5}


def test_means_of_a_secret_do_not_make_it_diverse() -> None:
    clause = {"l_diversity": {"n": {"l": "2", "attributes": ["age"]}}}
    asked = policy(
        clause, ("microaggregation", {"attributes": ["n", "job"]}), ("drop", {"attributes": ["person", "s"]})
    )
    people = "age job n | 1 a 5 | 1 b 5 | 2 a 1 | 2 b 9"
    found = judged(asked, people, "age job n | 1 a 3 | 1 b 7 | 2 a 3 | 2 b 7")
    assert figures(found) == {"l_diversity.n.l": 1}
    found = judged(asked, people, "age job n | 1 a 5 | 1 b 5 | 2 a 5 | 2 b 5")
    assert figures(found) == {"l_diversity.n.l": 1}  # now the cells are the worse of both


def test_distinct_values_are_matched_with_rows() -> None:
    """Three rows of a class show one label of three values: three people, three values; a fourth adds none."""
    asked = policy(L, ("generalize", {"attributes": {"s": {}}}), ("drop", DROP))
    people = "age s | 1 x | 1 x | 1 x | 2 y | 2 z | 2 z | 2 w"
    cells = "age s | 1 A | 1 A | 1 A | 2 A | 2 A | 2 A | 2 B"
    assert figures(judged(asked, people, cells)) == {"l_diversity.s.l": 3}
    people = "age s | 1 x | 2 y | 2 z | 2 z"
    assert figures(judged(asked, people, "age s | 1 A | 2 A | 2 A | 2 A")) == {"l_diversity.s.l": 1}


def test_values_of_one_attribute_are_a_union_in_lkc_and_not_in_alpha() -> None:
    values = ["x", "y"]
    asked = policy(
        {
            "lkc": {"l": "1", "k": "2", "c": "0.6", "sensitive": {"s": values}, "attributes": ["age"]},
            "alpha_k": {"s": {"alpha": "0.6", "values": values, "attributes": ["age"]}},
        },
        ("drop", DROP),
    )
    found = judged(asked, "age s | 1 x | 1 y | 2 z | 2 z", "age s | 1 x | 1 y | 2 z | 2 z")
    assert figures(found) == {"alpha_k.s.alpha": 0.5, "lkc.k": 2, "lkc.confidence": 1}


def test_a_wildcard_row_hides_among_those_that_miss_what_it_misses() -> None:
    k = {"k_anonymity": {"k": "2", "attributes": ["age", "job"]}}
    asked = policy(k, ("drop", {"attributes": ["person", "s", "n"]}), nulls="wildcard")
    cells = "age job | z - | - 3"
    assert figures(judged(asked, cells, cells)) == {"k_anonymity.k": 1}
    cells = "age job | z 3 | z - | z -"  # (z, 3) may be any of the three; (z, -) one of two
    assert figures(judged(asked, cells, cells)) == {"k_anonymity.k": 2}


def test_identifiers_and_second_ways_are_refused_and_pseudonyms_and_single_draws_are_not() -> None:
    ids = policy({}, ("assign_class_id", {"attributes": ["person"]}))
    assert refusals(ids, released(ids)) == ["identifier person in a"]
    keyed = policy({}, ("pseudonymize", {"attributes": ["person"], "key_env": "K"}))
    assert refusals(keyed, released(keyed)) == []
    draw = ("fine_grain_perturbation", {"attribute": "s"})
    around = policy({}, ("assign_class_id", {"attributes": ["s", "age"]}), draw)
    assert refusals(around, released(around)) == ["around the operator of s in a"]
    after = policy({}, draw, ("assign_class_id", {"attributes": ["s", "age"]}))
    assert refusals(after, released(after)) == []
