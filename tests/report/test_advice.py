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


PEOPLE = """version: 1
name: people
randomness: {{mode: reproducible, seed: 3}}
source: {{path: people.{end}}}
{more}
privacy: {privacy}
steps: {{{steps}}}
releases: {{study: {{path: study.{form}}}}}
"""
NUMBERS = """attributes:
  born: {role: insensitive, type: date}
  town: {role: quasi_identifier}
  zip: {role: insensitive}
  age: {role: quasi_identifier, type: integer}
  cost: {role: insensitive, type: integer}"""
STRONGER = re.compile(r"`([a-z]+: [\d.]+)` in `([a-z-]+)`")
REQUIRED = re.compile(r"`(k_anonymity: \{[^`]*\})`")


def withheld(folder, privacy, steps=(), more=NUMBERS, end="csv", form="csv"):
    """Run a policy on the file ``people``: the result, and the advice on what does not hold, as one text."""
    text = PEOPLE.format(privacy=privacy, steps=", ".join(steps), more=more, end=end, form=form)
    (folder / "people.yaml").write_text(text)
    result = api.run(folder / "people.yaml", out=folder / "runs")
    return result, " ".join(advise(each, result.document["plan"]) for each in result.document["requirements"])


@pytest.fixture
def people(tmp_path):
    """Write 500 people with numbers, the oldest of them 95, and return the folder."""
    dice = Random(7)
    rows = [
        f"{2026 - age}-{1 + dice.randrange(12):02}-17,{dice.choice('abcd')},{dice.choice(['02139', '60601'])},{age},"
        f"{dice.randrange(100, 900)}"
        for age in (dice.randrange(20, 96) for _ in range(500))
    ]
    (tmp_path / "people.csv").write_text("\n".join(["born,town,zip,age,cost", *rows, ""]))
    return tmp_path


def test_advice_on_a_population_that_is_applied_releases(people):
    (people / "voters.csv").write_text("town\n" + "\n".join("abcd"[i % 4] for i in range(40)) + "\n")
    privacy = "{k_map: {k: 20, attributes: [town], population: {path: voters.csv}}}"
    before, advice = withheld(people, privacy)
    assert before.verdict == "withheld"
    after, _ = withheld(people, privacy, STEP.findall(advice))
    assert after.verdict == "released"


@pytest.mark.parametrize("of", ["", ", attributes: [town, cost]"])
def test_advice_on_few_attributes_that_single_out_people_releases(of, people):
    uniques = f"special_uniques: {{size: 2, max_share: 0.01{of}}}"
    before, advice = withheld(people, f"{{{uniques}}}")
    assert before.verdict == "withheld"
    (asked,), steps = REQUIRED.findall(advice), STEP.findall(advice)
    after, _ = withheld(people, f"{{{uniques}, {asked}}}", steps)
    assert after.verdict == "released"


def test_advice_on_identifiers_that_is_applied_leaves_those_that_it_names(people):
    """The advised steps are on what the policy declares; the other columns are dropped, as the advice says."""
    privacy = "{safe_harbor: {as_of: 2026, zip_codes: [zip], ages: [age], birth_years: [born]}}"
    before, advice = withheld(people, privacy)
    assert before.verdict == "withheld"
    steps = STEP.findall(advice)
    assert [each.partition(":")[0] for each in steps] == ["areas", "coarse"]
    between, advice = withheld(people, privacy, steps)
    assert not STEP.findall(advice)
    assert "`zip`" not in between.document["requirements"][0]["sentence"]
    after, _ = withheld(people, privacy, [*steps, "left: {use: drop, with: {attributes: [town, born]}}"])
    assert after.verdict == "released"


@pytest.mark.parametrize(
    ("privacy", "first"),
    [
        ("{numeric_linkage: {attributes: [cost, age], max: 0.05}}", ""),
        ("{numeric_linkage: {attributes: [cost, age], max: 0.05, max_excess: 0.03}}", ""),
        ("{interval_disclosure: {cost: {width: {sd: 0.1}, max: 0.5}}}", ""),
        ("{interval_disclosure: {cost: {width: {relative: 0.1}, max: 0.3}}}", ""),
        ("{numeric_linkage: {attributes: [cost, age], max: 0.05}}", "rank_swap, with: {attributes: [cost, age]}"),
        ("{numeric_linkage: {attributes: [cost, age], max: 0.1}}", "add_noise, with: {attributes: [cost, age]}"),
        (
            "{numeric_linkage: {attributes: [cost, age], max: 0.1}}",
            "microaggregation, with: {attributes: [cost, age], k: 4}",
        ),
        ("{interval_disclosure: {cost: {width: {sd: 0.1}, max: 0.3}}}", "rank_swap, with: {attributes: [cost]}"),
        ("{interval_disclosure: {cost: {width: {sd: 0.1}, max: 0.3}}}", "add_noise, with: {attributes: [cost]}"),
    ],
)
def test_advice_on_numbers_that_is_applied_releases(privacy, first, people):
    """Steps that are there get a larger parameter; where there is none, each advised step does by itself."""
    before, advice = withheld(people, privacy, [f"change: {{use: {first}}}"] if first else [])
    assert before.verdict == "withheld"
    if first:
        ((parameter, step),) = set(STRONGER.findall(advice))
        assert step == "change"
        name = parameter.partition(":")[0]
        kept = re.sub(rf", {name}: \d+", "", first)
        applied = [f"change: {{use: {kept[:-1]}, {parameter}}}}}"]
    else:
        applied = list(dict.fromkeys(STEP.findall(advice)))
        assert len(applied) == 2
    for each in applied:
        after, _ = withheld(people, privacy, [each])
        assert after.verdict == "released", (each, after.document["requirements"][0]["sentence"])


def test_advice_on_numbers_that_the_median_finds_leaves_them_out(people):
    """No change of numbers helps where nearly all are the same."""
    (people / "people.csv").write_text("born,town,zip,age,cost\n" + "2000-01-02,a,02139,30,5\n" * 200 + "\n")
    privacy = "{interval_disclosure: {cost: {width: {absolute: 1}, max: 0.5}}}"
    before, advice = withheld(people, privacy)
    assert before.verdict == "withheld"
    assert "drop `cost`, or let the owner" in advice
    again, _ = withheld(people, privacy, STEP.findall(advice)[:1])
    assert again.verdict == "withheld"


SETS = "attributes: {basket: {role: items}}"


def baskets(folder):
    """Write 400 sets of ten items, and two with an item of their own."""
    dice = Random(3)
    sets = [" ".join(map(str, sorted(dice.sample(range(10), 1 + dice.randrange(4))))) for _ in range(400)]
    (folder / "people.dat").write_text("\n".join([*sets, "3 77", "5 77", ""]))


@pytest.mark.parametrize("undone", [False, True])
def test_advice_on_sets_that_is_applied_releases(undone, tmp_path):
    baskets(tmp_path)
    privacy, files = "{km_anonymity: {k: 5, m: 2}}", {"more": SETS, "end": "dat", "form": "dat"}
    steps = ["frequent: {use: apriori_anonymization}", "some: {use: sample, with: {fraction: 0.1}}"] if undone else []
    before, advice = withheld(tmp_path, privacy, steps, **files)
    assert before.verdict == "withheld"
    after, _ = withheld(tmp_path, privacy, [*steps[1:], *STEP.findall(advice)], **files)
    assert after.verdict == "released"


def test_advice_on_sets_that_nothing_randomizes_is_applied_and_releases(tmp_path):
    baskets(tmp_path)
    privacy, files = "{itemset_breach: {level: 0.6, sizes: [1, 2]}}", {"more": SETS, "end": "dat"}
    before, advice = withheld(tmp_path, privacy, form="dat", **files)
    assert before.verdict == "withheld"
    after, _ = withheld(tmp_path, privacy, STEP.findall(advice), form="parquet", **files)
    assert after.verdict == "released"


VISITS = """ledger: {path: visits.ledger, subject: patient}
people: {known_rows: 2}
attributes:
  patient: {role: subject}
  age: {role: quasi_identifier, type: integer}
  town: {role: quasi_identifier}"""
WHO = "who: {use: drop, with: {attributes: [patient]}}"
CLASSES = "recode: {use: mondrian}"


def visits(folder, rows):
    """Write the visits of 200 people, at most so many of each, and an empty ledger."""
    dice = Random(9)
    people = [(f"P{i},{dice.randrange(20, 80)},{dice.choice('abcd')}", 1 + dice.randrange(rows)) for i in range(200)]
    lines = [line for line, many in people for _ in range(many)]
    (folder / "people.csv").write_text("\n".join(["patient,age,town", *lines, ""]))
    api.create_ledger(folder / "visits.ledger")


def test_advice_on_a_first_release_of_several_rows_a_person_releases(tmp_path):
    visits(tmp_path, 4)
    before, advice = withheld(tmp_path, "{k_anonymity: {k: 5}}", [CLASSES, WHO], VISITS)
    assert before.verdict == "withheld"
    steps = STEP.findall(advice)
    assert [step.partition(":")[0] for step in steps] == ["people", "rows"]
    for step in steps:
        (tmp_path / "visits.ledger").unlink()
        (tmp_path / "visits.ledger.key").unlink()
        api.create_ledger(tmp_path / "visits.ledger")
        after, _ = withheld(tmp_path, "{k_anonymity: {k: 5}}", [step, CLASSES, WHO], VISITS)
        assert after.verdict == "released"


def test_advice_on_a_first_release_with_small_classes_releases(tmp_path):
    visits(tmp_path, 1)
    one_row = VISITS.replace("people: {known_rows: 2}\n", "").replace("role: subject", "role: identifier")
    before, advice = withheld(tmp_path, "{k_anonymity: {k: 3}, cumulative_k: {k: 6}}", [CLASSES, WHO], one_row)
    assert before.verdict == "withheld"
    (asked,), steps = REQUIRED.findall(advice), STEP.findall(advice)
    after, _ = withheld(tmp_path, f"{{{asked}, cumulative_k: {{k: 6}}}}", [*steps, WHO], one_row)
    assert after.verdict == "released"


def test_advice_beside_earlier_releases_releases_by_the_same_steps(tmp_path):
    """The other way, that the owner decides, is in the advice as such."""
    visits(tmp_path, 1)
    one_row = VISITS.replace("people: {known_rows: 2}\n", "").replace("role: subject", "role: identifier")
    tens, fives = (
        f"coarse: {{use: generalize, with: {{attributes: {{age: {{intervals: {edges}}}}}}}}}"
        for edges in ("[20, 40, 60, 80]", "[20, 41, 61, 80]")
    )
    privacy = "{cumulative_k: {k: 5}}"
    first, _ = withheld(tmp_path, privacy, [tens, WHO], one_row)
    assert first.verdict == "released"
    second, advice = withheld(tmp_path, privacy, [fives, WHO], one_row)
    assert second.verdict == "withheld"
    assert "by the same steps as the earlier releases" in advice
    assert "for the owner of the policy to decide" in advice
    third, _ = withheld(tmp_path, privacy, [tens, WHO], one_row)
    assert third.verdict == "released"
