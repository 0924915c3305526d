"""Whoever is refused a release is told which lever is left."""

from __future__ import annotations

from random import Random

import pytest

from ppdm_flow import api
from ppdm_flow.report.run import forms, html, markdown
from ppdm_flow.report.run.wording import lever

PLAN = {
    "requirements": [{"id": "privacy.k_anonymity", "attributes": ["age", "town", "job"]}],
    "steps": [{"name": "hide", "serves": ["privacy.templates.served"]}],
    "releases": [
        {
            "name": "study",
            "attributes": [
                {"name": "age", "source": "age", "changes": [{"step": "coarse", "change": "generalized"}]},
                {"name": "place", "source": "town", "changes": []},
                {"name": "score", "source": "score", "changes": []},
            ],
        }
    ],
}


@pytest.mark.parametrize(
    ("identifier", "words", "absent"),
    [
        ("privacy.k_anonymity", ["`town` coarser", "wider intervals for `age`"], "job"),
        ("privacy.templates.served", ["`hide` works at it"], "Add"),
        ("privacy.templates.unserved", ["`progressive_disclosure`"], "works at it"),
        ("privacy.sensitivities.ill", ["`fine_grain_perturbation`"], "perturbs it"),
        ("gates.useful", ["owner of the policy"], "suppress"),
    ],
)
def test_the_levers_that_are_left(identifier, words, absent):
    result = {"id": identifier, "release": "study", "holds": False}
    said = lever(result, PLAN)
    assert all(word in said for word in words), said
    assert absent not in said
    assert lever({**result, "holds": True}, PLAN) == ""
    assert lever(result, {}), "a document without a plan is advised on too"


BESIDE = {
    **PLAN,
    "releases": [
        *PLAN["releases"],
        {"name": "towns", "attributes": [{"name": "town", "source": "town", "changes": []}]},
        {"name": "jobs", "attributes": [{"name": "job", "source": "job", "changes": []}]},
    ],
}


@pytest.mark.parametrize(
    ("plan", "words", "absent"),
    [
        (BESIDE, ["`study` and `towns` show something of `town`", "recipients: apart"], "jobs"),
        ({**BESIDE, "people": {"subject": "patient"}}, ["`limit_rows`"], "jobs"),
        (PLAN, ["`suppress` with `small: rows`"], "apart"),
        ({}, ["`suppress` with `small: rows`"], "apart"),
    ],
)
def test_levers_of_what_all_files_tell_together(plan, words, absent):
    result = {
        "id": "privacy.k_anonymity",
        "metric": "privacy.k_anonymity.together_k",
        "release": "study",
        "holds": False,
    }
    said = lever(result, plan)
    assert all(word in said for word in words), said
    assert absent not in said


CUT = """version: 1
name: two
source: {{path: people.csv}}
attributes:
  age: {{role: quasi_identifier, type: integer}}
  town: {{role: quasi_identifier}}
  job: {{role: quasi_identifier}}
  shift: {{role: insensitive}}
privacy: {{k_anonymity: {{k: 5}}}}
steps:
{steps}
releases:
  a: {{from: a, path: a.csv}}
  b: {{from: b, path: b.csv}}
"""


def test_one_recoding_of_which_all_releases_are_cut_is_released(tmp_path):
    """What is advised to whoever made two recodings, beside the two."""
    draw = Random(1)
    rows = [[draw.randint(20, 60), draw.choice("wxyz"), draw.choice("abcde"), draw.choice("123")] for _ in range(400)]
    lines = [",".join(map(str, row)) for row in [["age", "town", "job", "shift"], *rows]]
    (tmp_path / "people.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    policy = tmp_path / "policy.yaml"

    def released(*steps: str) -> bool:
        policy.write_text(CUT.format(steps="\n".join(f"  {step}" for step in steps)), encoding="utf-8")
        return api.run(policy, out=tmp_path / "runs").released

    drop_job, drop_age = "{use: drop, with: {attributes: [job]}", "with: {attributes: [age]}}"
    apart = ("no_job: " + drop_job + "}", "a: {use: mondrian}", "no_age: {use: drop, input: source, " + drop_age)
    assert not released(*apart, "b: {use: mondrian}")
    assert released("one: {use: mondrian}", "a: " + drop_job + "}", "b: {use: drop, input: one, " + drop_age)


def test_every_form_of_the_report_says_it(document):
    made = document(failing=True)
    (failing,) = [r for r in made["requirements"] if not r["holds"]]
    said = lever(failing, made["plan"]).partition("`")[0].strip()
    assert said
    assert said in " ".join(forms.render(made).split())
    assert said in markdown.render(made)
    assert f"What to do next:</b> {said}" in html.render(made)


@pytest.mark.parametrize("kind", ["anonymity_score", "blend"])
@pytest.mark.parametrize("strict", [True, False, None])
def test_the_levers_of_generated_rows(kind, strict):
    """Nothing is advised that the policy does already."""
    identifier = f"privacy.{kind}"
    parameters = {} if strict is None else {"blend": "strict" if strict else "allow"}
    plan = {"steps": [{"name": "make", "serves": [identifier], "parameters": parameters}]}
    said = lever({"id": identifier, "release": "study", "holds": False}, plan)
    assert "`make` makes the rows" in said
    assert ("`blend: strict`" in said) is (kind == "blend" and not strict)
    assert "krimp_generator" in lever({"id": identifier, "release": "study", "holds": False}, {})
