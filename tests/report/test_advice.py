"""A withheld run says what to do next."""

from __future__ import annotations

import re
from random import Random

import pytest

from ppdm_flow import api
from ppdm_flow.report.run import forms, html, markdown
from ppdm_flow.report.run.advice import advise

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
        (
            "privacy.k_anonymity",
            ["{use: mondrian}", "{use: suppress,", "wider intervals or a higher level for `age`"],
            "job",
        ),
        ("privacy.templates.served", ["`hide` works at it"], "Add"),
        ("privacy.templates.unserved", ["{use: progressive_disclosure}"], "works at it"),
        ("privacy.sensitivities.ill", ["fine_grain_perturbation"], "perturbs it"),
        ("gates.useful", ["owner of the policy"], "suppress"),
    ],
)
def test_the_advice_of_a_kind_or_gate(identifier, words, absent):
    result = {"id": identifier, "release": "study", "holds": False}
    said = advise(result, PLAN)
    assert all(word in said for word in words), said
    assert absent not in said
    assert advise({**result, "holds": True}, PLAN) == ""
    assert advise(result, {}), "a document without a plan is advised on too"


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
def test_advice_on_what_all_files_tell_together(plan, words, absent):
    result = {
        "id": "privacy.k_anonymity",
        "metric": "privacy.k_anonymity.together_k",
        "release": "study",
        "holds": False,
    }
    said = advise(result, plan)
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
    """The advice to the author of two recodings, beside the two."""
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
    said = advise(failing, made["plan"]).partition("`")[0].strip()
    assert said
    assert said in " ".join(forms.render(made).split())
    assert said in markdown.render(made)
    assert f"What to do next:</b> {said}" in html.render(made)


@pytest.mark.parametrize("kind", ["anonymity_score", "blend"])
@pytest.mark.parametrize("strict", [True, False, None])
def test_advice_on_generated_rows(kind, strict):
    """Nothing is advised that the policy does already."""
    identifier = f"privacy.{kind}"
    parameters = {} if strict is None else {"blend": "strict" if strict else "allow"}
    plan = {"steps": [{"name": "make", "serves": [identifier], "parameters": parameters}]}
    said = advise({"id": identifier, "release": "study", "holds": False}, plan)
    assert "`make` makes the rows" in said
    assert ("`blend: strict`" in said) is (kind == "blend" and not strict)
    assert "krimp_generator" in advise({"id": identifier, "release": "study", "holds": False}, {})


ADVISED = """version: 1
name: clinic
source: {{path: clinic.csv}}
attributes:
  born: {{role: quasi_identifier, type: date}}
  town: {{role: quasi_identifier}}
  sex: {{role: quasi_identifier}}
  ill: {{role: sensitive}}
  cost: {{role: {cost}, type: integer}}
privacy: {privacy}
{steps}
releases: {{study: {{path: study.csv}}}}
"""
STEP = re.compile(r"`([a-z-]+: \{use: [^`]*\})`")


def advised(folder, privacy, steps=(), cost="insensitive"):
    """Run a policy: its result, and the steps that the advice on what does not hold names."""
    dice = Random(5)
    rows = [
        f"{1950 + dice.randrange(50)}-{1 + dice.randrange(12):02}-17,{dice.choice('abcd')},{dice.choice('mf')},"
        f"{dice.choice(['flu', 'gout', 'cold', 'acne'])},{dice.randrange(100, 900)}"
        for _ in range(600)
    ]
    (folder / "clinic.csv").write_text("\n".join(["born,town,sex,ill,cost", *rows, ""]))
    said = "\n".join(["steps:", *(f"  {step}" for step in steps)]) if steps else ""
    (folder / "clinic.yaml").write_text(ADVISED.format(privacy=privacy, steps=said, cost=cost))
    result = api.run(folder / "clinic.yaml", out=folder / "runs")
    texts = [advise(each, result.document["plan"]) for each in result.document["requirements"]]
    return result, list(dict.fromkeys(step for text in texts for step in STEP.findall(text)))


@pytest.mark.parametrize(
    "privacy",
    [
        "{k_anonymity: {k: 4}}",
        "{l_diversity: {ill: {l: 2}}}",
        "{t_closeness: {ill: {t: 0.5}}}",
        "{alpha_k: {ill: {alpha: 0.6}}}",
        "{beta_likeness: {ill: {beta: 2}}}",
        "{delta_disclosure: {ill: {delta: 2}}}",
        "{templates: {no-gout: {channel: [born, town], sensitive: {ill: [gout]}, confidence: 0.6}}}",
        "{sensitivities: {ill: {default: {tolerance: 3}}}}",
        "{dominance: {cost: {n: 1, share: 0.7}}}",
    ],
)
def test_advice_that_is_applied_releases(privacy, tmp_path):
    cost = "sensitive" if "dominance" in privacy else "insensitive"
    before, steps = advised(tmp_path, privacy, cost=cost)
    assert before.verdict == "withheld"
    assert steps
    for step in steps:
        after, _ = advised(tmp_path, privacy, (step,), cost=cost)
        assert after.verdict == "released", (step, [r["sentence"] for r in after.document["requirements"]])


def test_advice_on_few_known_attributes_that_is_applied_releases(tmp_path):
    wanted = "lkc: {l: 2, k: 3, c: 0.7, sensitive: {ill: [gout]}}"
    before, steps = advised(tmp_path, f"{{{wanted}}}")
    assert before.verdict == "withheld"
    text = advise(before.document["requirements"][0], before.document["plan"])
    asked = ", ".join(re.findall(r"`((?:k_anonymity|alpha_k): \{[^`]*\})`", text))
    assert asked == "k_anonymity: {k: 3}, alpha_k: {ill: {alpha: 0.7}}"
    after, _ = advised(tmp_path, f"{{{wanted}, {asked}}}", steps)
    assert after.verdict == "released"


def test_advice_that_is_applied_releases_where_a_step_undoes_another(tmp_path):
    steps = ("recode: {use: mondrian}", "fewer: {use: sample, with: {fraction: 0.5}}")
    before, advice = advised(tmp_path, "{k_anonymity: {k: 4}}", steps)
    assert before.verdict == "withheld"
    assert advice
    for step in advice:
        name = step.partition(":")[0]
        kept = [each for each in steps if each.partition(":")[0] != name]
        after, _ = advised(tmp_path, "{k_anonymity: {k: 4}}", (*kept, step))
        assert after.verdict == "released"
