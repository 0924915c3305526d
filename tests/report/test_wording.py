"""Whoever is refused a release is told which lever is left."""

from __future__ import annotations

import pytest

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
