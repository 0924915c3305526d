"""Sensitive values of a template that are chosen from the data, through the verbs that meet such a policy."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta

import pytest
import yaml

POLICY = """version: 1
name: p
source: {path: t.csv}
attributes:
  job: {role: quasi_identifier}
  city: {role: quasi_identifier}
  habit: {role: insensitive}
  team: {role: insensitive}
  id: {role: identifier}
  y: {role: target}
privacy:
  templates:
    best:
      channel: [job, city, habit, team]
      sensitive: {top: 2, target: y, rarest: 0.5}
      confidence: 0.8
steps:
  drop: {use: drop, with: {attributes: [id]}}
  suppress: {use: progressive_disclosure}
releases: {r: {path: r.csv}}
"""
CHOICE = "{top: 2, target: y, rarest: 0.5}"
DAYS = [datetime.now(UTC).date() + timedelta(days) for days in (30, 31)]
VALUES = {"habit": ["zqsmokes"], "team": ["zqblue", "zqred"]}
"""What is chosen: `habit` tells nearly all of the class, and `team` much of the rest."""


def table(rows: int = 200) -> str:
    draw = random.Random(7)
    lines = ["job,city,habit,team,id,y"]
    for row in range(rows):
        y = draw.random() < 0.4
        habit = "zqsmokes" if y and draw.random() < 0.9 else "zqnever"
        team = draw.choices(("zqred", "zqblue", "zqgreen", "zqwhite"), (3, 2, 5, 5) if y else (0, 0, 5, 5))[0]
        lines.append(f"{draw.choice('abc')},{draw.choice('mn')},{habit},{team},{row},{'yes' if y else 'no'}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "p.yaml").write_text(POLICY)
    (tmp_path / "t.csv").write_text(table())
    return tmp_path


def variant(folder, name: str, *swaps: tuple[str, str]) -> str:
    text = POLICY
    for old, new in swaps:
        assert old in text
        text = text.replace(old, new)
    (folder / name).write_text(text)
    return name


def template_of(file) -> dict:
    return yaml.safe_load(file.read_text())["privacy"]["templates"]["best"]


def relation(here, folder, old: str, new: str) -> str:
    done = here("diff", old, new, "--format", "json", cwd=folder)
    (pair,) = json.loads(done.stdout)["pairs"]
    return str(pair["relation"])


def quiet(*texts: str) -> None:
    """Hold that no text has a raw value of the data."""
    for text in texts:
        assert "zq" not in text


def test_without_data_nothing_is_said_of_it(here, folder):
    done = here("check", "p.yaml", cwd=folder)
    assert (done.returncode, "PPF492" in done.stdout) == (0, True)
    assert here("check", "p.yaml", "--strict", cwd=folder).returncode == 1
    planned = here("plan", "p.yaml", "--format", "json", cwd=folder)
    (asked,) = json.loads(planned.stdout)["requirements"]
    assert (planned.returncode, asked["sensitive"]) == (0, [])
    assert asked["chosen_by"] == {"top": 2, "target": "y", "rarest": 0.5}
    assert "chosen" not in asked
    assert "PPF492" in planned.stderr
    assert "PPF551" not in planned.stderr + done.stdout  # what is sensitive may be any of them
    assert "target: y" in here("show", "p.yaml", cwd=folder).stdout


def test_a_look_at_data_says_how_many(here, folder):
    found = here("check", "p.yaml", "--data", "t.csv", cwd=folder)
    assert "1 value of `habit` and 2 values of `team`" in found.stdout
    assert "warning[PPF492]" not in found.stdout
    planned = here("plan", "p.yaml", "--data", "t.csv", "--format", "json", "--resolved", "new.yaml", cwd=folder)
    (asked,) = json.loads(planned.stdout)["requirements"]
    assert (asked["sensitive"], asked["chosen"]) == ([], {"habit": 1, "team": 2})
    quiet(found.stdout, found.stderr, planned.stdout, planned.stderr)
    wrote = template_of(folder / "new.yaml")
    assert wrote["sensitive"] == VALUES
    over = here("plan", "p.yaml", "--data", "t.csv", "--resolved", "new.yaml", cwd=folder)  # looks for what it reads
    assert (over.returncode, "Pydantic" in over.stderr) == (0, False)
    assert wrote["channel"] == ["job", "city"]
    assert here("check", "new.yaml", "--strict", cwd=folder).returncode == 0


def test_a_public_report_keeps_what_the_policy_itself_names(here, folder, only_run):
    own = variant(
        folder,
        "own.yaml",
        (CHOICE, "{habit: [zqsmokes]}"),
        ("channel: [job, city, habit, team]", "channel: [job, city]"),
    )
    assert here("run", own, "--data", "t.csv", "--out", "out", cwd=folder).returncode in (0, 1)
    shared = here("report", only_run(folder / "out"), "--public", "--format", "json", cwd=folder).stdout
    plan = json.loads(shared)["plan"]
    assert plan["requirements"][0]["channel"] == ["job", "city"]
    assert any(column["chosen_by"] for column in plan["releases"][0]["attributes"])


def test_a_run_chooses_once(here, folder, only_run, report_of):
    """What it wrote down is taken by verify and by later runs, even where the data would choose otherwise now."""
    done = here("run", "p.yaml", "--data", "t.csv", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    run = only_run(folder / "out")
    report = report_of(run)
    assert template_of(run / "policy.resolved.yaml")["sensitive"] == VALUES
    texts = [finding["text"] for finding in report["findings"] if finding["code"] == "PPF492"]
    assert texts == ["its sensitive values were chosen from the data: 1 value of `habit` and 2 values of `team`"]
    written = ("report.json", "report.html", "report.md", "plan.json", "manifest.json", "events.jsonl")
    quiet(done.stdout, done.stderr, *((run / name).read_text() for name in written))
    shared = here("report", run, "--public", "--format", "json", cwd=folder).stdout
    quiet(shared)
    plan = json.loads(shared)["plan"]
    assert not any("chosen_by" in column for column in plan["releases"][0]["attributes"])
    assert not any(step["reads"] for step in plan["steps"])
    assert "channel" not in plan["requirements"][0]
    verified = here("verify", run, "--data", "t.csv", cwd=folder)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    again = here("run", run / "policy.resolved.yaml", "--data", "t.csv", "--out", "again", cwd=folder)
    assert again.returncode == 0
    other = report_of(only_run(folder / "again"))
    assert other["requirements"][0]["measured"] == report["requirements"][0]["measured"]
    assert other["verdict"] == report["verdict"]
    assert other["metrics"] == report["metrics"]
    lines = (folder / "t.csv").read_text().splitlines()
    (folder / "t.csv").write_text("\n".join([*lines, *["a,m,zqnew,zqgreen,9,yes"] * 3]) + "\n")
    later = here("plan", run / "policy.resolved.yaml", "--data", "t.csv", "--resolved", "later.yaml", cwd=folder)
    assert later.returncode == 0
    assert template_of(folder / "later.yaml")["sensitive"] == VALUES


def test_values_by_name_have_the_same_figures_and_are_named(here, folder, only_run, report_of):
    """The harmless mirror image: what the policy itself writes may stand in its reports."""
    values = "{habit: [zqsmokes], team: [zqblue, zqred]}"
    variant(folder, "named.yaml", (CHOICE, values), ("[job, city, habit, team]", "[job, city]"))
    reports = {}
    for name in ("p", "named"):
        assert here("run", f"{name}.yaml", "--data", "t.csv", "--out", name, cwd=folder).returncode == 0
        reports[name] = report_of(only_run(folder / name))
    assert reports["p"]["metrics"] == reports["named"]["metrics"]
    assert "zq" in reports["named"]["requirements"][0]["sentence"]
    assert "a value that was chosen" in reports["p"]["requirements"][0]["sentence"]


def test_what_cannot_hold_names_no_value(here, folder):
    low = variant(folder, "low.yaml", ("confidence: 0.8", "confidence: 0.1"))
    done = here("plan", low, "--data", "t.csv", cwd=folder)
    assert (done.returncode, "PPF784" in done.stderr) == (1, True)
    assert "a value that was chosen is" in done.stderr
    quiet(done.stdout, done.stderr)


def test_another_spelling_of_a_chosen_value_is_not_quoted(here, folder):
    (folder / "t.csv").write_text(table().replace("zqred", "ZQRED", 1).replace("ZQ", "zQ"))
    done = here("run", "p.yaml", "--data", "t.csv", "--out", "out", cwd=folder)
    assert (done.returncode, "PPF726" in done.stderr) == (2, True)
    assert "one that was chosen as sensitive" in done.stderr
    quiet(done.stdout.lower(), done.stderr.lower())


def test_params_are_swept(here, folder):
    variant(
        folder,
        "q.yaml",
        ("top: 2", 'top: "${params.top}"'),
        ("name: p\n", "name: p\nparams: {top: {type: integer, default: 2}}\n"),
    )
    words = ("--data", "t.csv", "--over", "params.top=1,2", "--format", "json", "--out", "sweeps")
    done = here("sweep", "q.yaml", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["points"]) == 2
    quiet(done.stdout, done.stderr)


def test_policy_tests_choose(here, folder):
    (folder / "p.test.yaml").write_text(
        "policy: p.yaml\ntests:\n  a:\n    data: |\n"
        + "".join(f"      {line}\n" for line in table().splitlines())
        + "    expect: {verdict: released, holds: [privacy.templates.best]}\n"
    )
    done = here("test", "p.test.yaml", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_locked_policy_chooses(here, folder):
    assert here("lock", "p.yaml", cwd=folder).returncode == 0
    assert here("run", "p.yaml", "--locked", "--data", "t.csv", "--out", "out", cwd=folder).returncode == 0
    assert here("check", "p.yaml", "--locked", cwd=folder).returncode == 0


def test_strict_is_about_what_was_chosen(here, folder):
    """The warning that nothing is known without data is no fault of a run, which has data."""
    done = here("run", "p.yaml", "--strict", "--data", "t.csv", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    guarded = variant(folder, "guarded.yaml", ("habit: {role: insensitive}", "habit: {role: quasi_identifier}"))
    done = here("run", guarded, "--strict", "--data", "t.csv", "--out", "out", cwd=folder)
    assert (done.returncode, "PPF552" in done.stderr) == (2, True)  # it left the channel, and no group counts it


@pytest.mark.parametrize(
    "floors",
    [
        '{privacy.templates.best.confidence: "<= 0.8"}',
        '{privacy.templates.*.confidence: "<= 0.9"}',
        "{privacy.templates.best: present}",
    ],
)
def test_floors_over_templates_refuse_it(here, folder, floors):
    (folder / "org.yaml").write_text(f"floors: {floors}\n")
    under = variant(folder, "under.yaml", ("version: 1\n", "version: 1\nextends: org.yaml\n"))
    done = here("check", under, cwd=folder)
    assert (done.returncode, "PPF499" in done.stdout) == (1, True)
    assert "under.yaml:14" in done.stdout
    assert here("run", under, "--data", "t.csv", "--out", "out", cwd=folder).returncode == 2
    named = [("[job, city, habit, team]", "[job, city]"), (CHOICE, "{habit: [zqsmokes]}")]
    variant(folder, "under.yaml", ("version: 1\n", "version: 1\nextends: org.yaml\n"), *named)
    assert "PPF499" not in here("check", under, cwd=folder).stdout


def test_floors_over_other_kinds_let_it_be(here, folder):
    (folder / "org.yaml").write_text('floors: {attributes.job.role: "not weaker than quasi_identifier"}\n')
    under = variant(folder, "under.yaml", ("version: 1\n", "version: 1\nextends: org.yaml\n"))
    done = here("check", under, cwd=folder)
    assert "PPF499" not in done.stdout


def test_a_template_with_floors_that_keep_its_own_choice_refuses_it(here, folder):
    clause = POLICY[POLICY.index("privacy:") : POLICY.index("steps:")]
    (folder / "org.yaml").write_text(f"{clause}floors: {{privacy: not weaker}}\n")
    under = variant(folder, "under.yaml", ("version: 1\n", "version: 1\nextends: org.yaml\n"), (clause, ""))
    done = here("check", under, cwd=folder)
    assert (done.returncode, "PPF499" in done.stdout) == (1, True)
    assert "PPF499" in here("check", "org.yaml", cwd=folder).stdout  # the template by itself


@pytest.mark.parametrize(
    "swap",
    [
        ("top: 2", "top: 1"),
        ("rarest: 0.5", "rarest: 0.6"),
        ("target: y", "target: team"),
        ("confidence: 0.8", "confidence: 0.7"),
        (CHOICE, "{habit: [zqsmokes]}"),
        ("habit: {role: insensitive}", "habit: {role: identifier}"),
        ("team: {role: insensitive}", "team: {role: insensitive, type: integer}"),
        ("{path: t.csv}", "{path: t.csv, missing: [a]}"),
    ],
)
def test_any_change_of_a_choice_is_incomparable(here, folder, swap):
    channel = ("[job, city, habit, team]", "[job, city]")
    before = variant(folder, "before.yaml", channel)
    after = variant(folder, "after.yaml", channel, swap)
    for pair in ((before, after), (after, before)):
        assert relation(here, folder, *pair) == "incomparable"
        assert here("diff", *pair, "--forbid-weaker", cwd=folder).returncode == 1


def test_a_policy_with_a_choice_against_one_without(here, folder):
    clause = POLICY[POLICY.index("privacy:") : POLICY.index("steps:")]
    step = "  suppress: {use: progressive_disclosure}\n"
    without = variant(folder, "without.yaml", (clause, "privacy: {k_anonymity: {k: 2}}\n"), (step, ""))
    with_ = variant(folder, "with.yaml", ("privacy:\n", "privacy:\n  k_anonymity: {k: 2}\n"))
    for pair in ((without, with_), (with_, without)):
        assert relation(here, folder, *pair) == "incomparable"


def test_the_same_choice_is_equal(here, folder):
    """The harmless mirror image: what has nothing to do with it is compared as ever."""
    same = variant(folder, "same.yaml", ("name: p\n", "name: p\ndescription: another word\n"))
    assert relation(here, folder, "p.yaml", same) == "equal"
    more = variant(folder, "more.yaml", ("privacy:\n", "privacy:\n  k_anonymity: {k: 2}\n"))
    assert relation(here, folder, "p.yaml", more) == "stricter"
    assert relation(here, folder, more, "p.yaml") == "weaker"


def test_a_waiver_of_a_choice_is_a_change(here, folder):
    (folder / "org.yaml").write_text("floors: {waivers.privacy: allowed}\n")
    under = ("version: 1\n", "version: 1\nextends: org.yaml\n")
    waiver = "waivers:\n  w: {of: privacy.templates.best, reason: r, owner: o, until: WHEN}\nsteps:\n"
    waivers = [
        variant(folder, f"w{number}.yaml", under, ("steps:\n", waiver.replace("WHEN", day)))
        for number, day in enumerate(day.isoformat() for day in DAYS)
    ]
    plain = variant(folder, "plain.yaml", under)
    for pair in ((plain, waivers[0]), (waivers[0], plain), tuple(waivers)):
        assert relation(here, folder, *pair) == "incomparable"


def test_where_nothing_can_be_chosen(here, folder):
    """On Spark, and of a database: refused before anything is started or connected to."""
    spark = here("run", "p.yaml", "--engine", "spark", "--data", "t.csv", "--out", "out", cwd=folder)
    assert (spark.returncode, "PPF493" in spark.stderr) == (2, True)
    assert "--resolved" in spark.stderr
    planned = here("plan", "p.yaml", "--engine", "spark", "--data", "t.csv", cwd=folder)
    assert (planned.returncode, "PPF493" in planned.stderr) == (2, True)
    server = '{url: "postgresql://localhost:1/x", table: t}'
    database = variant(folder, "database.yaml", ("{path: t.csv}", server))
    assert "PPF493" not in here("check", database, cwd=folder).stdout
    done = here("run", database, "--out", "out", cwd=folder)
    assert (done.returncode, "PPF493" in done.stderr) == (2, True)
    assert not (folder / "out").exists() or not any((folder / "out").iterdir())
    assert here("run", database, "--data", "t.csv", "--out", "out", cwd=folder).returncode == 0


def test_linked_tables_cannot_choose(here, folder):
    (folder / "linked.yaml").write_text(
        """version: 1
name: linked
tables:
  people:
    source: {path: people.csv}
    key: id
    attributes: {id: {role: subject}, job: {role: quasi_identifier}, y: {role: target}}
  visits:
    source: {path: visits.csv}
    refers: {person: people}
    attributes: {illness: {role: sensitive}}
privacy:
  templates:
    t: {channel: [people.job], sensitive: {top: 1, target: people.y, rarest: 0.5}, confidence: 0.5}
releases:
  people: {from: people, path: people.csv}
  visits: {from: visits, path: visits.csv}
"""
    )
    done = here("check", "linked.yaml", cwd=folder)
    assert (done.returncode, "PPF493" in done.stdout) == (1, True)


@pytest.mark.parametrize(
    ("swap", "code"),
    [
        (("top: 2", "top: 0"), "PPF204"),
        (("rarest: 0.5", "rarest: 1.5"), "PPF204"),
        (("rarest: 0.5", "rarst: 0.5"), "PPF201"),
        ((", rarest: 0.5", ""), "PPF202"),
        (("target: y", "target: z"), "PPF500"),
        (("target: y", "target: id"), "PPF502"),
        (("top: 2", "top: 5"), "PPF493"),
        ((CHOICE, "{habit: zqsmokes}"), "PPF208"),
        ((CHOICE, "{}"), "PPF209"),
    ],
)
def test_a_choice_with_faults(here, folder, swap, code):
    done = here("check", variant(folder, "bad.yaml", swap), cwd=folder)
    assert (done.returncode, code in done.stdout) == (1, True), done.stdout


def test_attributes_may_be_called_as_a_choice_is(here, folder):
    """The harmless mirror image: lists of values are values, even for an attribute named like a choice."""
    channel = ("[job, city, habit, team]", "[job, city]")
    named = variant(folder, "named.yaml", ("habit: {role", "target: {role"), channel, (CHOICE, "{target: [x]}"))
    done = here("check", named, cwd=folder)
    assert done.returncode == 0, done.stdout
