"""What the page says of losses, of the trade-off, of the releases and of nested values."""

from __future__ import annotations

import pytest

from ppdm_flow.report.run.columns import columns, losses
from ppdm_flow.report.run.fields import facts, outputs
from ppdm_flow.report.run.page import gallery, page, tradeoff
from ppdm_flow.report.run.verdict import verdict
from ppdm_flow.report.run.wording import kind_of, listed, moment, title_of


def test_losses_come_from_the_steps_own_account(document):
    found = [(row.attribute, row.values, row.cells, row.text) for row in losses(document())]
    assert found == [
        ("job", "2 of 5", "4,200", "21%"),
        ("country", "2 of 4", "920", "4.6%"),
        ("child", "0 of 2", "0", "0%"),
    ]


def test_losses_without_a_chart_are_shares_of_the_rows(document):
    found = document()
    found["charts"] = []
    assert [row.text for row in losses(found)] == ["21%", "4.6%", "0%"]
    found["steps"][1]["rows_out"] = 10  # more cells than rows: weighted rows, so the share is not known
    assert [row.text for row in losses(found)] == ["", "", "0%"]


def test_the_chart_of_losses_is_not_shown_twice(document):
    shown = [p.id for wall in gallery(document()).walls for p in wall.pictures]
    assert "suppress-suppressed" not in shown
    assert "job" in shown


def test_the_tradeoff_has_both_sides(document):
    found = document(failing=True)
    both = tradeoff(found, verdict(found))
    assert [(g.name, g.text, g.good) for g in both.used[:2]] == [
        ("Inference template no-default", "108%", False),
        ("Inference template no-discharged", "88.9%", True),
    ]
    assert [(g.name, g.text) for g in both.used if g.name == "k-anonymity"] == [("k-anonymity", "71.4%")] * 2
    kept = {g.name: (round(g.share, 4), g.text) for g in both.kept}
    assert kept["Rows that keep their value"] == (0.3438, "34.4%")
    assert kept["Classification as good as with the original"] == (0.9787, "97.9% (97% to 98.7%)")


def test_columns_say_what_they_tell_of(document):
    study, partner = columns(document())
    assert (study.release, partner.release) == ("study", "partner")
    assert [(c.name, c.role, c.done, c.computed_from, c.chosen_by, c.steps) for c in study.every] == [
        ("job", "quasi-identifier", "suppressed, value by value", "job", "country and rating", "suppress"),
        ("country", "quasi-identifier", "suppressed, value by value", "country", "job and rating", "suppress"),
        ("age", "quasi-identifier", "generalized, value by value", "age", "–", "coarsen"),
        ("disease", "sensitive", "perturbed, drawn at random", "disease", "–", "perturb"),
        ("rating", "target", "unchanged", "rating", "–", "–"),
    ]


def test_a_column_that_a_step_added_is_not_called_unchanged(document):
    found = document()
    found["plan"]["releases"][0]["attributes"][4] |= {
        "computed_from": ["age", "disease"],
        "how": "other",
        "steps": ["coarsen", "classes"],
    }
    (*_, added) = columns(found)[0].every
    assert (added.done, added.changed) == ("made by a step, not value by value", True)
    assert (added.computed_from, added.steps) == ("age and disease", "coarsen and classes")


def test_a_generated_column_is_called_so_once(document):
    found = document()
    found["plan"]["releases"][0]["attributes"][4] |= {"changes": [{"change": "generated"}], "how": "generated"}
    (*_, made) = columns(found)[0].every
    assert (made.done, made.changed) == ("generated", True)


def test_a_report_of_before_says_that_nothing_was_recorded(document):
    found = document()
    for node in found["plan"]["releases"]:
        for each in node["attributes"]:
            for key in ("computed_from", "how", "chosen_by", "steps"):
                del each[key]
    told = columns(found)[0].every[-1]
    assert (told.done, told.computed_from) == ("unchanged", "not recorded")


def test_releases_say_what_each_file_is(document):
    study, partner = outputs(document())
    assert (study.name, study.audience) == ("study", "internal")
    assert ("SHA-256", "2e" * 32) in [(fact.name, fact.text) for fact in partner.facts]


def test_charts_of_one_kind_of_requirement_share_a_section(document):
    found = document()
    for i, chart in enumerate(found["charts"]):
        chart["group"] = f"privacy.templates.t{i}"
    assert [wall.title for wall in gallery(found).walls] == ["What can be inferred"]


def test_a_chart_that_looks_the_same_on_two_releases_is_shown_once(document):
    found = document()
    chart = found["charts"][0]
    other = found["charts"][1]
    found["charts"] = [
        chart | {"release": "study", "id": "a"},
        other | {"release": "study", "id": "b"},
        chart | {"release": "partner", "id": "c"},
        chart | {"release": "third", "id": "d", "title": "differs"},
    ]
    (wall,) = gallery(found).walls
    assert [(p.title, p.release) for p in wall.pictures] == [
        ("job", "study, partner"),
        ("disease", "study"),
        ("differs", "third"),
    ]


def test_the_risk_that_remains_is_shown_for_each_release(document):
    both = tradeoff(document(), verdict(document()))
    assert [(g.release, g.text) for g in both.risks] == [
        ("partner", "14.3%"),
        ("partner", "1.2%"),
        ("study", "14.3%"),
        ("study", "1.2%"),
    ]


def test_an_audit_counts_before_a_steps_own_claim(document):
    found = document()
    found["metrics"]["perturbation_utility.record_utility"] = {"value": 0.3, "unit": "share"}
    both = tradeoff(found, verdict(found))
    assert [g.text for g in both.kept if g.name == "Rows that keep their value"] == ["30%"]


def test_facts_are_flat_and_bounded():
    rows = facts({"a_b": {"c": [1, 2.5, None, True], "sha256": "x"}, "d": {}, "e": [], "f": [{"g": [1]}]})
    assert [(row.name, row.text) for row in rows] == [
        ("A b · c", "1, 2.5, —, yes"),
        ("A b · SHA-256", "x"),
        ("D", "none"),
        ("E", "none"),
        ("F", "g: 1"),
    ]
    many = facts({f"k{i}": i for i in range(500)}, most=10)
    assert len(many) == 11
    assert many[-1].text == "490 more in report.json"
    (long,) = facts({"list": list(range(1000))})
    assert long.text.endswith("… 976 more")
    (text,) = facts({"text": "x" * 5000})
    assert len(text.text) == 240


@pytest.mark.parametrize(
    ("identifier", "kind", "title"),
    [
        ("privacy.k_anonymity", "k-anonymity", "k-anonymity"),
        ("privacy.templates.a.b", "Inference template", "a.b"),
        ("privacy.sensitivities.disease", "Sensitivity", "disease"),
        ("privacy.something_new.x", "Something new", "x"),
        ("gates.still-useful", "Gate", "still-useful"),
        ("odd", "Odd", "Odd"),
    ],
)
def test_names_of_checks(identifier, kind, title):
    assert (kind_of(identifier), title_of(identifier)) == (kind, title)


def test_words():
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(list("abcdefgh")) == "a, b, c, d, e and 3 more"
    assert moment("2026-11-20T10:14:03+01:00") == "2026-11-20, 09:14 UTC"
    assert moment("yesterday") == "yesterday"


def test_the_sheet_has_room_for_what_failed(document):
    found = document(failing=True)
    bad, good = found["requirements"][-1], found["requirements"][0]
    found["requirements"] = [good] * 50 + [bad] * 3
    made = page(found)
    assert [check.holds for check in made.sheet] == [False] * 3 + [True] * 7
    assert made.sheet_more == 45
    assert made.stamp == "2026-11-20, 09:14 UTC"
