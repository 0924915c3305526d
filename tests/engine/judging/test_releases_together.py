"""Two releases of one run: joined where somebody can join them, and judged as one table."""

from __future__ import annotations

import json

import pytest

from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.reading.original import Opening
from ppdm_flow.engine.run.scratch_run import measure
from ppdm_flow.engine.verify.remeasuring import remeasure
from ppdm_flow.report.run import forms, html, markdown
from ppdm_flow.report.run.document import document
from ppdm_flow.report.run.verdict import caution

POLICY = """version: 1
name: clinic
source: {path: table.csv}
attributes:
  patient: {role: identifier}
  age: {role: quasi_identifier}
  town: {role: quasi_identifier}
  illness: {role: sensitive}
privacy:
  k_anonymity: {k: 4}
steps:
  ids: {use: pseudonymize, with: {attributes: [patient], key_file: one.key}}
  ages: {use: drop, input: ids, with: {attributes: [town, illness]}}
  others: {use: pseudonymize, input: source, with: {attributes: [patient], key_file: two.key}}
  towns: {use: drop, input: ids, with: {attributes: [age, illness]}}
releases:
  by-age: {from: ages, path: by-age.csv}
  by-town: {from: towns, path: by-town.csv}
"""
HEADER = "patient,age,town,illness"
PEOPLE = [[f"p{i}", str(i % 4), f"t{i // 4 % 4}", f"i{i % 3}"] for i in range(16)]
"""Four of each age and of each town, and one of each combination."""
JOINED = "by-age + by-town"


@pytest.fixture
def clinic(bench):
    bench.data(PEOPLE, header=HEADER)
    for name, first in (("one.key", 1), ("two.key", 101)):
        key = bench.folder / name
        key.write_bytes(bytes(range(first, first + 24)).hex().encode())
        key.chmod(0o600)
    return bench


def _run(bench, policy=POLICY, **options):
    return bench.run(bench.plan(policy), **options).report


def _of(report, release):
    return [r for r in report.requirements if r.release == release]


def test_a_pseudonym_in_both_makes_everybody_unique(clinic):
    report = _run(clinic)
    assert report.verdict == "withheld"
    assert {r.release: r.measured for r in report.requirements} == {"by-age": 4, "by-town": 4, JOINED: 1}
    (result,) = _of(report, JOINED)
    assert "`patient`" in result.sentence
    assert "Whoever has `by-age` and `by-town` joins 16 rows" in result.sentence
    assert report.metrics[f"{JOINED}/privacy.k_anonymity.uniques"].value == 16


def test_two_keys_join_nobody(clinic):
    report = _run(clinic, POLICY.replace("towns: {use: drop, input: ids", "towns: {use: drop, input: others"))
    assert report.verdict == "released"
    assert {r.release for r in report.requirements} == {"by-age", "by-town"}


NAMELESS = """version: 1
name: clinic
source: {path: table.csv}
attributes:
  patient: {role: identifier}
  age: {role: quasi_identifier}
  town: {role: quasi_identifier}
  illness: {role: sensitive}
privacy:
  k_anonymity: {k: 4}
steps:
  mixed: {use: shuffle_rows}
  ages: {use: drop, input: FROM, with: {attributes: [town, illness]}}
  towns: {use: drop, input: source, with: {attributes: [age, illness]}}
releases:
  by-age: {from: ages, path: by-age.csv, shuffle: false}
  by-town: {from: towns, path: by-town.csv, shuffle: false}
"""


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    "policy",
    [
        NAMELESS.replace("FROM", "source"),
        NAMELESS.replace("FROM", "mixed").replace(
            "towns: {use: drop, input: source", "towns: {use: drop, input: mixed"
        ),
        NAMELESS.replace("FROM", "source")
        .replace("[age, illness]}}", "[age, illness]}}\n  part: {use: sample, with: {fraction: 0.9}}")
        .replace("from: towns", "from: part"),
    ],
)
def test_rows_in_one_order_join_everybody(clinic, policy):
    """The place of a row in one file tells which it is in the other: of the source, or of a shuffle of both."""
    report = _run(clinic, policy)
    assert report.verdict == "withheld"
    (result,) = _of(report, JOINED)
    assert result.measured == 1
    assert "by the order of the rows, which is the same in both" in result.sentence


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize(
    "policy",
    [
        NAMELESS.replace("FROM", "source").replace("by-town.csv, shuffle: false", "by-town.csv"),
        NAMELESS.replace("FROM", "mixed"),
        NAMELESS.replace("FROM", "source") + "recipients: apart\n",
    ],
)
def test_rows_in_two_orders_join_nobody(clinic, policy):
    report = _run(clinic, policy)
    assert report.verdict == "released"
    assert {r.release for r in report.requirements} == {"by-age", "by-town"}


def test_two_steps_with_one_key_join_everybody(clinic):
    same = POLICY.replace("towns: {use: drop, input: ids", "towns: {use: drop, input: others")
    report = _run(clinic, same.replace("two.key", "one.key"))
    assert (report.verdict, _of(report, JOINED)[0].measured) == ("withheld", 1)


def test_nobody_who_sees_both_joins_them(clinic):
    apart = _run(clinic, POLICY + "recipients: apart\n")
    assert apart.verdict == "released"
    assert not _of(apart, JOINED)
    assert apart.plan["recipients"] == "apart"


def test_one_release_without_the_pseudonym(clinic):
    report = _run(clinic, POLICY.replace("[age, illness]", "[patient, age, illness]"))
    assert report.verdict == "released"
    assert not _of(report, JOINED)


SHARED = POLICY.replace("[town, illness]", "[patient, illness]").replace("[age, illness]", "[patient, age, illness]")


def test_a_column_that_nobody_has_alone_joins_nobody(clinic):
    """Both have the town, which each of four people has."""
    report = _run(clinic, SHARED.replace("{k: 4}", "{k: 4, attributes: [town]}"))
    assert report.verdict == "released"
    assert not _of(report, JOINED)


@pytest.mark.slow
def test_cells_that_occur_once_in_both_join_their_person(clinic):
    """One person is alone in a town that both releases have: the age is known from one, the illness from the other."""
    clinic.data([*PEOPLE, ["p16", "99", "t9", "i0"]], header=HEADER)
    policy = POLICY.replace("k_anonymity: {k: 4}", "l_diversity: {illness: {l: 2, attributes: [age]}}")
    policy = policy.replace("[town, illness]", "[patient, illness]").replace("[age, illness]", "[patient, age]")
    report = _run(clinic, policy)
    (result,) = _of(report, JOINED)
    assert (report.verdict, result.measured) == ("withheld", 1)
    assert "`town`, which single out 1 row in both" in result.sentence
    clinic.data([*PEOPLE, ["p16", "99", "t0", "i0"]], header=HEADER)
    assert _run(clinic, policy).verdict == "released"


@pytest.mark.slow
def test_three_releases_over_the_second(clinic):
    """The first and the third share nothing; the second has the pseudonyms of both."""
    policy = POLICY.replace(
        "releases:\n",
        "  both: {use: pseudonymize, input: source, with: {attributes: [patient, age], key_file: one.key}}\n"
        "  middle: {use: drop, input: both, with: {attributes: [town, illness]}}\n"
        "  aged: {use: pseudonymize, input: source, with: {attributes: [age], key_file: one.key}}\n"
        "  last: {use: drop, input: aged, with: {attributes: [patient, illness]}}\n"
        "releases:\n",
    )
    policy = policy[: policy.index("  by-age: {from")] + (
        "  one: {from: ages, path: one.csv}\n"
        "  two: {from: middle, path: two.csv}\n"
        "  three: {from: last, path: three.csv}\n"
    )
    report = _run(clinic, policy)
    assert {r.release for r in report.requirements} == {"one", "two", "three", "one + two + three"}
    assert _of(report, "one + two + three")[0].measured == 1


def test_a_gate_is_about_the_releases_by_themselves(clinic):
    gate = "gates:\n  sizes: {metric: class_sizes.classes, min: 1}\n"
    policy = POLICY.replace("key_file: one.key}}\n  ages", "key_file: two.key}}\n  ages").replace(
        "input: ids, with: {attributes: [age,", "input: ids, with: {attributes: [age,"
    )
    report = _run(clinic, policy + gate)
    assert {g.release for g in report.gates} == {"by-age", "by-town"}


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    ("requirement", "bound"),
    [
        ("t_closeness: {illness: {t: 0.5, attributes: [age, town]}}", 0.5),
        ("alpha_k: {illness: {alpha: 0.9, attributes: [age, town]}}", 0.9),
        ("beta_likeness: {illness: {beta: 0.2, attributes: [age, town]}}", 0.2),
        ("delta_disclosure: {illness: {delta: 0.2, attributes: [age, town]}}", 0.2),
        ("templates: {t: {channel: [age, town], sensitive: {illness: [i1]}, confidence: 0.9}}", 0.9),
        ("lkc: {l: 2, k: 2, c: 0.9, sensitive: {illness: [i1]}}", 2),
    ],
)
def test_every_requirement_on_groups(clinic, requirement, bound):
    """By both routes: a run ends with an error where they differ."""
    policy = POLICY.replace("k_anonymity: {k: 4}", requirement).replace("[town, illness]", "[town]")
    report = _run(clinic, policy)
    found = _of(report, JOINED)
    assert report.verdict == "withheld"
    assert any(not r.holds for r in found)
    assert bound in {r.bound for r in found}


@pytest.mark.slow
def test_rows_that_only_one_release_has_are_classes_of_their_own(clinic):
    """Two of four in each class are sampled into the second release: the others are told by being absent from it."""
    clinic.data([[f"p{i}", "1", "t1", "i1"] for i in range(40)], header=HEADER)
    sampled = POLICY.replace(
        "  towns: {use: drop, input: ids",
        "  some: {use: sample, input: ids, with: {size: 30}}\n  towns: {use: drop, input: some",
    )
    found = _of(_run(clinic, sampled), JOINED)
    assert [r.measured for r in found] == [10]


@pytest.mark.slow
def test_verify_joins_releases_again(clinic):
    policy = POLICY.replace("k: 4", "k: 2").replace("[age, illness]", "[age, illness]")
    clinic.data([[f"p{i}", "1", "t1", "i1"] for i in range(8)], header=HEADER)
    plan = clinic.plan(policy)
    outcome = clinic.run(
        plan,
        documents=lambda report: {
            "report.json": json.dumps(
                {
                    "requirements": [
                        {"id": r.id, "release": r.release, "metric": r.metric, "holds": r.holds, "measured": r.measured}
                        for r in report.requirements
                    ],
                    "verdict": report.verdict,
                }
            )
        },
    )
    manifest = json.loads((outcome.run_dir / "manifest.json").read_text())
    found = remeasure(outcome.run_dir, manifest, clinic.folder / "table.csv", plan)
    assert found.holds
    assert JOINED in {r.release for r in outcome.report.requirements}
    assert not found.unknown
    assert found.requirements == len(outcome.report.requirements)


NO_KEYS = POLICY.replace("[town, illness]", "[patient, town, illness]").replace(
    "[age, illness]", "[patient, age, illness]"
)


def test_people_whom_two_releases_leave_alone_are_a_warning(clinic):
    """Without a ledger: each age and each town is that of four people, and nobody shares both."""
    report = _run(clinic, NO_KEYS)
    assert report.verdict == "released"
    (finding,) = [f for f in report.findings if f.code == "PPF845"]
    assert "narrows 16 people down to groups as small as 1, below k = 4" in finding.text
    assert report.metrics["by-town/cumulative_k.k"].value == 1
    assert report.metrics["by-town/cumulative_k.people_below"].value == 16


def test_cumulative_k_needs_no_ledger_for_one_run(clinic):
    asked = NO_KEYS.replace("k_anonymity: {k: 4}", "k_anonymity: {k: 4}\n  cumulative_k: {k: 4}")
    report = _run(clinic, asked)
    assert report.verdict == "withheld"
    found = {r.release: r.measured for r in report.requirements if r.id == "privacy.cumulative_k"}
    assert found == {"by-age": 4, "by-town": 1}


@pytest.mark.slow
def test_towns_that_are_unions_of_ages_leave_nobody_alone(clinic):
    clinic.data([[f"p{i}", str(i % 4), f"t{i % 4 // 2}", "i0"] for i in range(16)], header=HEADER)
    asked = NO_KEYS.replace("k_anonymity: {k: 4}", "k_anonymity: {k: 4}\n  cumulative_k: {k: 4}")
    for policy in (asked, NO_KEYS):
        report = _run(clinic, policy)
        assert report.verdict == "released"
        assert not [f for f in report.findings if f.code == "PPF845"]


def test_apart_asks_for_no_groups_in_common(clinic):
    report = _run(clinic, NO_KEYS + "recipients: apart\n")
    assert not [f for f in report.findings if f.code == "PPF845"]
    assert "by-town/cumulative_k.k" not in report.metrics


@pytest.mark.slow
def test_the_first_screen_of_every_form_says_it(clinic):
    for policy, words in ((NO_KEYS + "recipients: apart\n", "nobody sees two"), (NO_KEYS, "groups as small as 1")):
        found = document(_run(clinic, policy))
        assert words in caution(found)
        for form in (forms.render, markdown.render, html.render):
            text = " ".join(form(found).split())
            assert words in text[: text.index("by-town 4")] if form is forms.render else words in text


def test_what_is_only_measured_is_joined_too(clinic):
    context = RunContext(clinic.plan(POLICY))
    found = measure(context, Opening(context, None).open(), clinic.folder)
    assert found.verdict == "withheld"
    assert found.metrics[f"{JOINED}/privacy.k_anonymity.k"].value == 1


WEIGHTED = """version: 1
name: clinic
source: {path: table.csv}
attributes:
  town: {role: insensitive}
  age: {role: quasi_identifier}
  job: {role: quasi_identifier}
  number: {role: weight}
privacy:
  k_anonymity: {k: 4}
steps:
  ages: {use: drop, with: {attributes: [job]}}
  jobs: {use: drop, input: source, with: {attributes: [age]}}
releases:
  by-age: {from: ages, path: by-age.csv}
  by-job: {from: jobs, path: by-job.csv}
"""


@pytest.mark.parametrize(("number", "k"), [("1", 1), ("2", None)])
def test_a_row_of_several_people_is_nobody_in_particular(bench, number, k):
    """The row of `t1` occurs once in both releases: it is one person's, or that of two."""
    bench.data([["t0", "30", "cook", "5"], ["t1", "30", "cook", number]], header="town,age,job,number")
    report = _run(bench, WEIGHTED)
    found = [r.measured for r in report.requirements if "+" in r.release]
    assert found == ([] if k is None else [k])
    assert report.verdict == ("released" if k is None else "withheld")


def test_populations_are_those_of_both_releases(clinic):
    """A cell of a release that a row is not in may be anybody's; by both, each person fits one of the population."""
    people = "\n".join(["age,town", *(f"{row[1]},{row[2]}" for row in PEOPLE)])
    (clinic.folder / "people.csv").write_text(people + "\n")
    population = "k_map: {k: 2, population: {path: people.csv}}"
    report = _run(clinic, POLICY.replace("k_anonymity: {k: 4}", population))
    assert {r.release: r.measured for r in report.requirements} == {"by-age": 4, "by-town": 4, JOINED: 1}
