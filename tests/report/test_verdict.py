"""The verdict in words; a document that contradicts itself is never shown as released."""

from __future__ import annotations

import pytest

from ppdm_flow import api
from ppdm_flow.report.run import ci, forms, html, markdown
from ppdm_flow.report.run.checks import gates, requirements
from ppdm_flow.report.run.forms import render
from ppdm_flow.report.run.verdict import verdict


def test_released(document):
    found = verdict(document())
    assert found.released
    assert not found.held
    assert found.word == "Released"
    assert found.sentence == (
        "7 requirements and 2 gates hold, measured on the released files themselves."
        " The data may leave as 2 releases (study and partner)."
    )
    assert not found.contradiction
    assert [(t.release, t.holding, t.total) for t in found.releases] == [("study", 5, 5), ("partner", 4, 4)]


def test_withheld(document):
    found = verdict(document(failing=True))
    assert not found.released
    assert found.sentence == "1 of 9 checks does not hold. No release has left (study and partner)."
    assert [c.id for c in found.failing] == ["privacy.templates.no-default"]


def test_a_released_document_with_a_failed_check_is_shown_as_withheld(document):
    found = document(failing=True)
    found["verdict"] = "released"
    judged = verdict(found)
    assert not judged.released
    assert judged.word == "Withheld"
    assert "contradicts itself" in judged.contradiction


def test_withheld_although_all_holds_says_so(document):
    found = document()
    found["verdict"] = "withheld"
    judged = verdict(found)
    assert not judged.released
    assert "findings" in judged.contradiction


def test_an_unknown_verdict_is_not_a_release(document):
    found = document()
    found["verdict"] = "Released"
    assert not verdict(found).released


def test_without_requirements_the_verdict_warns(document):
    bare = document(requirements=(), gates=())
    judged = verdict(bare)
    assert judged.released
    assert judged.word == "Released without requirements"
    assert "says nothing of privacy" in judged.caution
    assert render(bare).startswith("RELEASED WITHOUT REQUIREMENTS  ")
    assert markdown.render(bare).startswith("## ✅ Released without requirements: ")
    assert "Released without requirements" in html.render(bare)
    assert verdict(bare | {"verdict": "held"}).word == "Held without requirements"
    assert verdict(bare | {"verdict": "withheld"}).word == "Withheld"


def test_a_release_without_requirements_is_named(document):
    partly = document()
    partly["requirements"] = [r for r in partly["requirements"] if r["release"] == "study"]
    judged = verdict(partly)
    assert judged.word == "Released without requirements on 1 of 2 releases"
    assert judged.without_requirements
    assert judged.bare_releases == ("partner",)
    assert "No requirement was judged on `partner`" in judged.caution
    assert render(partly).startswith("RELEASED WITHOUT REQUIREMENTS ON 1 OF 2 RELEASES  ")
    assert "on 1 of 2 releases" in html.render(partly)


def test_a_release_judged_together_with_another_has_requirements(document):
    joined = document()
    joined["requirements"] = [r | {"release": "study + partner"} for r in joined["requirements"][:1]]
    assert not verdict(joined).without_requirements


def test_checks_are_worded(document):
    by_id = {c.id: c for c in requirements(document())}
    k, template = by_id["privacy.k_anonymity"], by_id["privacy.templates.no-discharged"]
    assert (k.title, k.kind, k.measured, k.bound) == ("k-anonymity", "k-anonymity", "7", "at least 5")
    assert (template.title, template.kind) == ("no-discharged", "Inference template")
    assert (template.measured, template.bound, template.before) == ("66.7%", "at most 75%", "80%")
    assert template.place == "bank_credit.yaml:20"
    assert by_id["privacy.sensitivities.disease"].measured == "−1.25\N{NO-BREAK SPACE}points"
    (useful, _) = gates(document())
    assert (useful.kind, useful.title, useful.interval) == ("Gate", "still-useful", "1.31% to 3.02%")


def test_an_unverified_figure_is_not_taken_for_a_good_one(document):
    found = document()
    found["requirements"][0]["holds"] = False
    found["verdict"] = "withheld"
    (failed,) = verdict(found).failing
    assert failed.measured == "7 (not verified)"
    assert "NO  privacy.k_anonymity              study    7 (not verified)  at least 5" in render(found)


def test_a_check_of_no_release_counts_for_all(document):
    found = document()
    found["gates"][1].update(release="", holds=False)
    tallies = verdict(found).releases
    assert [(t.release, t.holds) for t in tallies] == [("study", False), ("partner", False)]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_summary(document, width):
    text = render(document(failing=True), width)
    lines = text.splitlines()
    assert lines[0] == "WITHHELD  bank-credit"
    failed = next(line for line in lines if line.startswith("  NO"))
    assert failed.split() == ["NO", "privacy.templates.no-default", "partner", "54.2%", "at", "most", "50%"]
    assert "bank_credit.yaml:20" in text
    assert "  ok  privacy.k_anonymity" in text


def test_a_judgement_of_others_says_nothing_of_leaving(document):
    text = render(document(failing=True), 100, ("holds", "does not hold"))
    assert text.splitlines()[:2] == ["DOES NOT HOLD  bank-credit", "  1 of 9 checks does not hold."]
    assert render(document(), 100, ("holds", "does not hold")).startswith("HOLDS  bank-credit\n")


def test_summary_of_many_lists_all_failures_and_few_others(document):
    found = document(failing=True)
    good, bad = found["requirements"][0], found["requirements"][-1]
    found["requirements"] = [bad | {"id": f"privacy.templates.b{i}"} for i in range(50)] + [good] * 200
    text = render(found)
    assert sum(line.startswith("  NO  ") for line in text.splitlines()) == 50
    assert "182 more that hold" in text


def test_summary_obeys_no_control_characters(document):
    found = document(failing=True)
    found["policy"] = "evil\x1b[2J\u202e\nname"
    found["requirements"][-1]["sentence"] = "bell\x07"
    text = render(found)
    assert all(c.isprintable() or c == "\n" for c in text)
    assert text.splitlines()[0] == "WITHHELD  evil\ufffd[2J\ufffd\ufffdname"


def test_several_figures_of_one_requirement_are_named(document):
    found = document()
    one = next(r for r in found["requirements"] if r["metric"] == "privacy.k_anonymity.k" and r["release"] == "study")
    found["requirements"].append({**one, "metric": "privacy.k_anonymity.linked_k"})
    lines = render(found).splitlines()
    assert [line.split()[1] for line in lines if " privacy.k_anonymity" in line] == [
        "privacy.k_anonymity.k",
        "privacy.k_anonymity",
        "privacy.k_anonymity.linked_k",
    ]


NEAR = """version: 1
name: near
source: {path: t.csv}
attributes: {age: {role: sensitive, type: integer}}
privacy: {interval_disclosure: {age: {width: {absolute: 2}, max: 0.1}}}
releases: {r: {path: r.csv}}
"""


def test_what_an_audit_of_a_file_cannot_measure_gets_no_advice_on_the_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("age\n" + "".join(f"{30 + i}\n" for i in range(20)))
    (tmp_path / "near.yaml").write_text(NEAR)
    judged = api.audit(tmp_path / "near.yaml", None, tmp_path / "t.csv").judgement(100)
    for form in (
        forms.text(judged),
        forms.md(judged),
        forms.html(judged),
        forms.comment(judged),
        ci.summary(judged, 9999),
    ):
        assert "ppdm-flow run" in form
        assert "No step changes" not in form
        assert "does not hold" in form.lower()
        assert "Withheld" not in form
        assert "No release has left" not in form
    ran = api.run(tmp_path / "near.yaml", out=tmp_path / "runs").judgement(100)
    for form in (forms.text(ran), forms.md(ran)):  # here they were measured, and the data stays
        assert "No step changes" in " ".join(form.split())
        assert "withheld" in form.lower()
    assert "No release has left" in forms.md(ran)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (1, "somebody may know one row of a person beforehand (`known_rows: 1`). Nothing was measured about somebody"),
        (2, "somebody may know 2 rows of a person beforehand (`known_rows: 2`). Nothing was measured about somebody"),
        ("all", "somebody may know all rows of a person beforehand (`known_rows: all`)."),
    ],
)
@pytest.mark.parametrize("failing", [False, True])
def test_what_is_assumed_of_people_stands_beside_the_verdict(document, known, words, failing):
    asked = document(failing=failing)
    asked["plan"] = {**asked["plan"], "people": {"subject": "patient_id", "known_rows": known}}
    assert f"People are counted, by `patient_id`, and {words}" in verdict(asked).sentence
    assert "People are counted" not in verdict(document(failing=failing)).sentence
