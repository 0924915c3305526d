"""What sheets say: of steps, of columns, of requirements; and what they never say."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import date, timedelta

import pytest

from ppdm_flow import api
from ppdm_flow.core.results import Report
from ppdm_flow.report.datasheet import sheet as step_words
from ppdm_flow.report.datasheet.forms import datasheets

from .conftest import HEAD, TABLE

CASES = {
    "microaggregation": (
        "steps: {average: {use: microaggregation, with: {attributes: [wage], k: 5}}}\n",
        ["replaced by the mean of its group", "Means and totals of numbers over all rows are those of the original"],
        ["The middle value of a group"],
    ),
    "microaggregation, medians": (
        "steps: {average: {use: microaggregation, with: {attributes: [wage], k: 5, release: median}}}\n",
        ["the middle one of its group", "Means and totals: the middle value of a group is not its mean."],
        ["over all rows are those of the original"],
    ),
    "swap": (
        "steps: {exchange: {use: swap, with: {attributes: [wage]}}}\n",
        ["Rows exchanged values with others.", "every value is as frequent as before", "Relations with other columns"],
        ["that are equal in the columns within which"],
    ),
    "swap within": (
        "steps: {exchange: {use: swap, with: {attributes: [wage], within: [town]}}}\n",
        ["that are equal in the columns within which"],
        [],
    ),
    "sample": (
        "steps: {some: {use: sample, with: {fraction: 0.5}}}\n",
        ["random part of the original", "Numbers of rows and totals are those of the sample", "**To correct it.**"],
        [],
    ),
    "noise": (
        "steps: {blur: {use: add_noise, with: {attributes: [wage]}}}\n",
        ["Random noise was added to each number", "Variances and standard deviations are too large", "not published"],
        ["Means are too high"],
    ),
    "noise with a bound": (
        "steps: {blur: {use: add_noise, with: {attributes: [wage], sd: 10, min: 0}}}\n",
        ["Means are too high", "`noise.json`".replace("`", "")],
        ["Means are too low", "is, is not published"],
    ),
    "rounding": (
        "steps: {round: {use: round_values, with: {attributes: [wage], base: 100, how: controlled}}}\n",
        ["the total of the column as well"],
        ["right up to half of the base"],
    ),
    "top coding": (
        "steps: {cut: {use: top_bottom_code, with: {attributes: [wage], top: 1500, replace: mean}}}\n",
        ["Numbers above an upper bound were replaced. They show the mean", "The mean and the total of the column"],
        ["Means and totals are too low"],
    ),
    "dates": (
        "steps: {move: {use: shift_dates, with: {attributes: [born], days: [-30, 30]}}}\n",
        ["The time between two dates that were moved together is exact.", "days of the week"],
        [],
    ),
    "renamed and dropped": (
        "steps:\n  less: {use: drop, with: {attributes: [wage]}}\n  n: {use: rename, with: {attributes: {ill: x}}}\n",
        ["Left out, so that this file has nothing of it: name, wage.", "made from ill of the original"],
        [],
    ),
    "full-domain recoding": (
        "privacy: {k_anonymity: {k: 5}}\nsteps: {recode: {use: full_domain_recoding}}\n",
        ["(at least 5 rows)", "finds at least 5 rows that look alike", "They are no random part"],
        [],
    ),
}


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("case", CASES)
def test_a_step_says_what_remains_and_what_does_not(sheet, case):
    steps, there, absent = CASES[case]
    text = sheet(steps)
    for part in there:
        assert part in text, part
    for part in absent:
        assert part not in text, part
    assert "Kept as it was." in text
    assert "zq" not in text


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("wage: {intervals: [0, 1500, 9000]}", "an end with a square bracket belongs to it"),
        ("town: {prefix: 3}", "only the first 3 characters were kept: the others are written as <code>\\*</code>"),
        ("born: {date: quarter}", "Each date was cut to its quarter."),
        ("wage: {round: 100}", "Each number was rounded to the nearest multiple of a base."),
        ("wage: {top: 1500}", "Values beyond a bound are one value; those within are as they were."),
        ("wage: {top: 1500, round: 10}", "those within are as they were, or were rounded."),
    ],
)
def test_how_labels_are_read_is_told_by_column(made, rule, told):
    renamed = f"steps:\n  coarse: {{use: generalize, with: {{attributes: {{{rule}}}}}}}\n"
    renamed += "  call: {use: rename, with: {attributes: {wage: pay}}}\n"
    run = made(renamed)
    assert told in (run / "released/study/datasheet.md").read_text()
    dictionary = json.loads((run / "released/study/dictionary.json").read_text())
    assert [d["told"] for a in dictionary["attributes"] for d in a["done"] if "told" in d]
    assert "1500" not in (run / "released/study/datasheet.md").read_text()


PERTURBED = HEAD.replace("ill: {role: sensitive}", "ill: {role: sensitive, domain: [zqflu, zqcold, zqhiv]}")


def test_a_perturbation_tells_how_to_correct_estimates(made):
    steps = "steps: {perturb: {use: pram, with: {attribute: ill, retain: 0.7}}}\n"
    run = made(steps, head=PERTURBED)
    text = (run / "released/study/datasheet.md").read_text()
    assert "## How to correct estimates" in text
    assert "ppdm-flow reconstruct . --attribute ill" in text
    assert "(0.44 - 0.20) / (0.80 - 0.20) = 0.40" in text
    assert "need to be corrected" in text
    invariant = made(steps.replace("retain: 0.7", "retain: 0.7, invariant: true"), head=PERTURBED)
    text = (invariant / "released/study/datasheet.md").read_text()
    assert "counts of the values as they stand here are right on average" in text


def test_what_no_operator_describes_any_more_is_said():
    text = _with_operators([])
    assert "No published operator describes ill" in text
    assert "reconstruct" not in text


def _with_operators(operators):
    declared = {"name": "ill", "role": "sensitive"}
    changed = {"changes": [{"step": "p", "change": "perturbed"}], "steps": ["p"], "chosen_by": []}
    column = {**declared, **changed, "type": "text", "source": "ill", "computed_from": ["ill"], "how": "drawn"}
    step = {
        "name": "p",
        "use": "not_installed_anywhere",
        "input": "source",
        "drops": [],
        "renames": {},
        "rows": "same",
        "parameters": {},
        "changes": {"ill": "perturbed"},
        "expands_weights": False,
        "randomized": True,
        "attributes": [declared],
    }
    plan = {
        "version": 1,
        "policy": "p",
        "releases": [{"name": "r", "input": "p", "description": "", "attributes": [column]}],
        "steps": [step],
        "audits": [],
        "requirements": [],
        "gates": [],
        "nulls": "own_category",
        "randomness": "reproducible",
        "source": {"incomplete_rows": "drop", "undeclared": "drop", "attributes": [declared]},
    }
    about = {"path": "r/f.csv", "format": "csv", "audience": "public", "rows": 9, "columns": 1, "sha256": "ab" * 32}
    run = {"started": "2026-03-04T05:06:07+00:00", "digests": {}, "versions": {"ppdm_flow": "9.9"}}
    report = Report("p", "released", (), (), {}, (), (), (), {"r": about}, plan, run)
    attribute = {"name": "ill", "type": "text", "role": "sensitive"}
    dictionary = {"file": "f.csv", "format": "csv", "options": {}, "missing": "empty", "suppressed": "⊥"}
    beside = {"dictionary.json": {**dictionary, "attributes": [attribute]}, "operator.json": {"operators": operators}}
    one, two = (datasheets(report, {"r": beside})["r"] for _ in range(2))
    assert one == two
    return one["datasheet.md"]


def test_a_silent_step_gets_an_honest_default():
    text = _with_operators([])
    assert "Values were changed at random." in text
    assert "does not say what it leaves true" in text
    assert "fewer than 10" in text
    assert "| 9 " not in text
    assert "Rows of the original with a missing value were left out." in text
    assert "a reader of the policy can undo" not in text  # nothing is promised that it could undo
    assert "nothing is promised of this file" in text


@pytest.mark.parametrize("rows", ["fewer", "generated", "reordered"])
def test_of_a_silent_step_the_plan_tells_what_became_of_rows(rows):
    step = {"name": "s", "use": "nowhere", "rows": rows, "parameters": {}}
    words = step_words.StepWords.of(step)
    assert not words.statements
    assert words.done("generalized") == ("Values were replaced by coarser ones.",)
    assert words.done(None) == ("Values were changed.",)


TWO = """releases:
  study: {path: study.csv, from: one, description: for the study}
  zqsecond: {path: other.csv, from: zqtwo}
"""


@pytest.mark.slow
def test_nothing_of_the_data_or_of_other_releases_is_in_a_sheet(made, tmp_path):
    steps = """privacy: {k_anonymity: {k: 4}, l_diversity: {ill: {l: 2}}}
steps:
  one: {use: mondrian, input: source}
  zqtwo: {use: mondrian, input: source, with: {cut: median}}
gates: {big: {metric: class_sizes.largest, min: 5}}
"""
    run = made(steps, release=TWO)
    report = json.loads((run / "report.json").read_text())
    for name in ("datasheet.md", "datasheet.html"):
        text = (run / "released/study" / name).read_text()
        assert "zq" not in text, re.findall(".{40}zq.{40}", text)
        assert hashlib.sha256(TABLE.encode()).hexdigest()[:16] not in text
        assert report["run"]["input"]["sha256"][:16] not in text
        assert str(run.parents[2])[:12] not in text
        assert "/tmp" not in text
        assert report["releases"]["zqsecond"]["sha256"] not in text
        assert "other.csv" not in text
        for figure in report["metrics"].values():
            exact = f"{figure['value']:.6g}" if isinstance(figure["value"], float) else ""
            assert len(exact) < 6 or exact not in text
        assert "k-anonymity" in text
        assert "l-diversity" in text
        assert "Among them it has at least 2 values" in text


def test_what_is_withheld_has_no_sheet(made):
    steps = "privacy: {k_anonymity: {k: 100}}\nsteps: {less: {use: drop, with: {attributes: [wage]}}}\n"
    run = made(steps, keep_withheld=True)
    assert (run / "withheld/study/dictionary.json").is_file()
    assert not list(run.rglob("datasheet.*"))


def test_sheets_are_in_the_manifest_and_verified(made):
    run = made("steps: {less: {use: drop, with: {attributes: [wage]}}}\n")
    listed = json.loads((run / "manifest.json").read_text())["files"]
    assert {"released/study/datasheet.md", "released/study/datasheet.html"} < listed.keys()
    assert api.verify(run).holds
    (run / "released/study/datasheet.md").write_text("all is well")
    assert api.verify(run).changed == ("released/study/datasheet.md",)


def test_a_waiver_is_told_with_its_reason(made):
    waivers = """waivers:
  for-now: {of: gates.big, reason: a pilot, owner: zed@example.org, until: UNTIL}
"""
    until = f"{date.today() + timedelta(days=30)}"  # noqa: DTZ011  # a run's own day is UTC; 30 days are enough
    waivers = waivers.replace("UNTIL", until)
    privacy = "privacy: {k_anonymity: {k: 4}, l_diversity: {ill: {l: 2}}}\n"
    steps = "steps: {less: {use: mondrian}}\ngates: {big: {metric: class_sizes.smallest, min: 999}}\n"
    text = (made(privacy + steps + waivers) / "released/study/datasheet.md").read_text()
    assert "## What does not hold, and is waived" in text
    assert "a pilot" in text
    assert until in text
    assert "zed@example.org" not in text
    assert "did not hold" in text


def test_a_set_seed_is_told(made):
    seed = "privacy: {k_anonymity: {k: 4}}\nrandomness: {mode: reproducible, seed: '1'}\n"
    steps = f"{seed}steps: {{less: {{use: mondrian}}, some: {{use: sample, with: {{size: 60}}}}}}\n"
    assert "a reader of the policy can undo" in (made(steps) / "released/study/datasheet.md").read_text()
