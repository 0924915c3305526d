"""Ways past a requirement by other names and spellings, each beside one that is harmless: steps are means only."""

from __future__ import annotations

import pytest

from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load

POLICY = """version: 1
name: people
source: {path: table.csv}
attributes:
  name: {role: identifier}
  age: {role: quasi_identifier}
  job: {role: quasi_identifier}
  ill: {role: sensitive}
privacy:
PRIVACY
steps:
STEPS
releases:
  study: {path: study.csv}
"""
ALIKE = ["flu", "HIV", "cold", "cough"]
"""Illnesses of every class: each has all four, so that harmless ways are released."""
LEVELS = """
  k_anonymity: {k: 2}
  l_diversity: {ill: {l: 3}}
  t_closeness: {ill: {t: 0.3}}
  alpha_k: {ill: {alpha: 0.4}}
  beta_likeness: {ill: {beta: 0.5}}
  lkc: {l: 2, k: 4, c: 0.4, sensitive: {ill: [HIV]}}
  templates: {hiv: {channel: [age, job], sensitive: {ill: [HIV]}, confidence: 0.4}}"""


def policy(privacy: str, steps: str) -> str:
    return POLICY.replace("PRIVACY", privacy.strip("\n")).replace("STEPS", steps.strip("\n"))


def people(ills: dict[str, list[str]]) -> list[list[str]]:
    """Rows whose illnesses go by age; two jobs."""
    found = [(age, job, ill) for age, own in ills.items() for job in ("clerk", "nurse") for ill in own]
    return [[f"n{i}", age, job, ill] for i, (age, job, ill) in enumerate(found)]


def verdicts(bench, text: str, rows: list[list[str]]) -> dict[str, tuple[bool, str]]:
    """Whether each requirement holds, and its sentences."""
    bench.data(rows, "name,age,job,ill")
    report = bench.run(bench.plan(text)).report
    found: dict[str, tuple[bool, str]] = {}
    for r in report.requirements:
        holds, said = found.get(r.id, (True, ""))
        found[r.id] = holds and r.holds, f"{said} {r.sentence}"
    assert (report.verdict == "released") == all(holds for holds, _ in found.values())
    return found


def refused(bench, text: str) -> str:
    """What is wrong with a policy that has no plan."""
    path = bench.folder / "policy.yaml"
    path.write_text(text)
    compiled = compile_policy(load(path))
    assert compiled.plan is None
    return " ".join(d.message for d in compiled.diagnostics)


TOLD = people({"20": ["HIV"] * 4, "30": ["flu"] * 4})
MIXED = people({"20": ALIKE, "30": ALIKE})


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("criterion", ["attributes: [ill]", "attributes: [age, ill]"])
def test_a_class_id_is_what_it_was_made_of(bench, criterion):
    steps = f"""
  ids: {{use: assign_class_id, with: {{{criterion}, name: cls}}}}
  drop: {{use: drop, with: {{attributes: [ill]}}}}"""
    found = verdicts(bench, policy(LEVELS, steps), TOLD)
    broken = {name for name, (holds, _) in found.items() if not holds}
    assert broken == found.keys() - {"privacy.k_anonymity"}, found
    assert all("`cls` is computed from" in said for name, (_, said) in found.items() if name in broken)


def test_a_class_id_over_a_grouping_attribute_is_harmless(bench):
    steps = """
  ids: {use: assign_class_id, with: {attributes: [age], name: cls}}
  drop: {use: drop, with: {attributes: [age]}}"""
    found = verdicts(bench, policy(LEVELS, steps), MIXED)
    assert all(holds for holds, _ in found.values()), found


def test_a_class_id_over_an_identifier_is_refused(bench):
    bench.data(MIXED, "name,age,job,ill")
    steps = "  ids: {use: assign_class_id, with: {attributes: [name], name: rank}}"
    assert "the identifier `name` is what `rank` is computed from" in refused(
        bench, policy("  k_anonymity: {k: 2}", steps)
    )


@pytest.mark.parametrize("first", ["ids", "perturb"])
def test_a_way_around_an_operator_is_refused(bench, first):
    bench.data(MIXED, "name,age,job,ill")
    each = {
        "ids": "  ids: {use: assign_class_id, with: {attributes: [ill], name: cls}}",
        "perturb": "  perturb: {use: fine_grain_perturbation}",
    }
    other = next(name for name in each if name != first)
    privacy = "  sensitivities: {ill: {default: {r1: 0.3, r2: 0.7}}}"
    text = policy(privacy, f"{each[first]}\n{each[other]}")
    if first == "ids":
        assert "`ill` is perturbed in release `study` and what `cls` is computed from" in refused(bench, text)
    else:  # what is computed from the drawn value is harmless
        assert all(holds for holds, _ in verdicts(bench, text, MIXED * 20).values())


@pytest.mark.parametrize(("alpha", "holds"), [(0.45, False), (0.55, True)])
def test_a_new_name_is_the_value_all_the_same(bench, alpha, holds):
    privacy = f"""
  alpha_k: {{ill: {{alpha: {alpha}, values: [HIV]}}}}
  lkc: {{l: 2, k: 2, c: {alpha}, sensitive: {{ill: [HIV]}}}}"""
    steps = "  code: {use: recode, with: {attributes: {ill: {values: {HIV: H1}, keep_others: true}}}}"
    found = verdicts(bench, policy(privacy, steps), people({"20": ["HIV", "flu"], "30": ["HIV", "cold"]}))
    assert [h for h, _ in found.values()] == [holds, holds]


def test_a_merged_name_is_each_of_its_values_by_its_share(bench):
    steps = "  code: {use: recode, with: {attributes: {ill: {values: {HIV: x, flu: x, cold: x, cough: x}}}}}"
    privacy = "  alpha_k: {ill: {alpha: 0.5, values: [HIV]}}"
    assert verdicts(bench, policy(privacy, steps), TOLD)["privacy.alpha_k.ill"][0]
    assert not verdicts(bench, policy("  alpha_k: {ill: {alpha: 0.49, values: [HIV]}}", steps), TOLD)[
        "privacy.alpha_k.ill"
    ][0]


@pytest.mark.parametrize(("rare", "holds"), [(["HIV", "HIV"], False), (["HIV", "gout"], True)])
def test_a_suppressed_value_is_what_it_can_be(bench, rare, holds):
    """Of the rare values behind suppressed cells one is certain, or two are equally likely."""
    rows = people({"20": ["flu"] * 8, "30": ["flu"] * 8}) + [
        [f"m{i}", "40", "clerk", ill] for i, ill in enumerate(rare * 2)
    ]
    privacy = """
  alpha_k: {ill: {alpha: 0.6, values: [HIV]}}
  templates: {hiv: {channel: [age, job], sensitive: {ill: [HIV]}, confidence: 0.6}}"""
    steps = "  hide: {use: suppress, with: {rare: {ill: {count: 5}}}}"
    found = verdicts(bench, policy(privacy, steps), rows)
    assert [h for h, _ in found.values()] == [holds, holds]


@pytest.mark.parametrize(("wages", "holds"), [(["10"] * 4, False), (["10", "20", "30", "40"], True)])
def test_means_of_neighbours_are_judged_by_what_is_behind_them(bench, wages, holds):
    """One true value becomes three means where neighbours by age have others."""
    rows = [[f"n{i}", str(20 + i % 4), "clerk", wage] for i, wage in enumerate(wages * 3)]
    rows += [[f"m{i}", str(60 + i), "nurse", str(70 + 10 * (i % 4))] for i in range(12)]
    text = policy(
        "  l_diversity: {ill: {l: 3, attributes: [job]}}",
        "  near: {use: microaggregation, with: {attributes: [age, ill], k: 3}}",
    ).replace("ill: {role: sensitive}", "ill: {role: sensitive, type: integer}")
    text = text.replace("age: {role: quasi_identifier}", "age: {role: quasi_identifier, type: integer}")
    assert verdicts(bench, text, rows)["privacy.l_diversity.ill"][0] is holds


def test_a_sensitive_attribute_that_is_not_released_tells_nothing(bench):
    found = verdicts(bench, policy(LEVELS, "  drop: {use: drop, with: {attributes: [ill]}}"), TOLD)
    assert all(holds for holds, _ in found.values()), found


TWO = """version: 1
name: people
source: {path: table.csv}
attributes:
  name: {role: identifier}
  age: {role: quasi_identifier}
  job: {role: quasi_identifier}
  ill: {role: sensitive}
privacy:
  l_diversity: {ill: {l: 2}}
steps:
  ages: {use: drop, with: {attributes: [job]}}
  jobs: {use: drop, input: source, with: {attributes: [age]}}
releases:
  ages: {from: ages, path: ages.csv}
  jobs: {from: jobs, path: jobs.csv}
"""


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    ("by_age", "holds"),
    [
        ({"20": {"clerk": ["flu"], "nurse": ["HIV"]}, "30": {"clerk": ["cold"], "nurse": ["gout"]}}, False),
        ({"20": {"clerk": ["flu"], "nurse": ["HIV"]}, "30": {"clerk": ["HIV"], "nurse": ["flu"]}}, True),
    ],
)
def test_what_two_releases_leave_of_possible_values(bench, by_age, holds):
    """Each release has two illnesses in each class; together one is left, or both."""
    rows = [
        [f"{age}{job}{i}", age, job, ill]
        for age, jobs in by_age.items()
        for job, ills in jobs.items()
        for i, ill in enumerate(ills * 3)
    ]
    (found,) = verdicts(bench, TWO, rows).values()
    assert found[0] is holds
    assert "`ages`" in found[1]
    assert "`jobs`" in found[1]


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(("rare", "holds"), [(["HIV"] * 2, False), (["HIV", "gout"] * 2, True)])
def test_people_whom_another_release_lacks(bench, rare, holds):
    """The second release drops small classes: who compares the two knows what they have."""
    rows = people({"20": ALIKE, "30": ALIKE}) + [[f"m{i}", "20", "smith", ill] for i, ill in enumerate(rare)]
    text = TWO.replace(
        "{use: drop, input: source, with: {attributes: [age]}}",
        "{use: suppress, input: source, with: {attributes: [job], k: 5}}",
    )
    (found,) = verdicts(bench, text, rows).values()
    assert found[0] is holds


LACKED = """version: 1
name: people
source: {path: table.csv}
attributes:
  name: {role: identifier}
  age: {role: quasi_identifier}
  job: {role: quasi_identifier}
  ill: {role: sensitive}
privacy:
  CLAUSE
steps:
  left: {use: drop, input: source, with: {attributes: [job]}}
  small: {use: suppress, input: source, with: {attributes: [job], k: 5}}
releases:
  ages: {from: left, path: ages.csv}
  jobs: {from: small, path: jobs.csv}
"""


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    "clause",
    [
        "k_anonymity: {k: 3, attributes: [age]}",
        "lkc: {l: 1, k: 3, attributes: [age], c: 0.9, sensitive: {ill: [cough]}}",
        "templates: {t: {channel: [age], sensitive: {ill: [cough]}, confidence: 0.9, min_support: 3}}",
    ],
)
@pytest.mark.parametrize("smiths", [2, 3])
def test_people_whom_another_release_lacks_are_among_those_alike(bench, clause, smiths):
    """Who compares both files sees how many are missing and with which age and illness, not which of these rows.

    So sizes are those of the rows alike, and what the missing ones have in common counts where it is sensitive.
    """
    rows = people({"20": ALIKE, "30": ALIKE}) + [[f"m{i}", "20", "smith", "HIV"] for i in range(smiths)]
    ((found, said),) = verdicts(bench, LACKED.replace("CLAUSE", clause), rows).values()
    assert found
    assert "Somebody who reads" in said


CHOSEN_TOGETHER = """
  models: {use: mondrian, with: {attributes: [age, WITH]}}
  left: {use: drop, with: {attributes: [WITH]}}"""
NEAR = people({**dict.fromkeys(("20", "21", "22"), ["HIV", "flu"] * 3), "24": ["HIV"] * 3, "25": ["flu"] * 3})


def test_a_label_tells_of_all_that_its_class_was_cut_by(bench):
    """Ages 20 to 22 have both illnesses each; but their label ends at 24 for one of them, and at 25 for the other."""
    clauses = "  k_anonymity: {k: 9, attributes: [age, WITH]}\n  l_diversity: {ill: {l: 2, attributes: [age]}}"
    text = policy(clauses, CHOSEN_TOGETHER)
    found = verdicts(bench, text.replace("WITH", "ill"), NEAR)
    holds, said = found["privacy.l_diversity.ill"]
    assert not holds
    assert "`age` is computed from `age` and `ill`" in said
    harmless = verdicts(bench, text.replace("WITH", "job"), MIXED)
    assert all(holds for holds, _ in harmless.values())


def test_quasi_identifiers_choose_each_others_labels(bench):
    """What is known of somebody beforehand tells nothing new: classes over one of them are those of its labels."""
    text = policy(
        "  k_anonymity: {k: 9, attributes: [age, job]}\n  l_diversity: {ill: {l: 2, attributes: [age]}}",
        "\n  models: {use: mondrian, with: {attributes: [age, job]}}",
    )
    assert all(holds for holds, _ in verdicts(bench, text, MIXED).values())
    made = {a.name: a.lineage for a in bench.plan(text).releases[0].attributes}
    assert {n: made[n].computed_from for n in ("age", "job")} == {"age": {"age"}, "job": {"job"}}
    assert "age" in made["job"].chosen_by


def test_a_label_cut_by_an_identifier_is_refused(bench):
    text = policy("  k_anonymity: {k: 9, attributes: [age]}", CHOSEN_TOGETHER.replace("WITH", "name"))
    assert "the identifier `name` is what `age` is computed from" in refused(bench, text)
