"""``ppdm-flow diff`` as its users meet it: files, git revisions, folders, runs, data, and what CI gets of it."""

from __future__ import annotations

import html
import json
import os
import shutil
import subprocess
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from signers import signers_text

from ppdm_flow.report.diff.fields import tables

POLICY = """\
version: 1
name: small
extends: [{template: ../templates/base.yaml}]
source: {path: t.csv}
privacy:
  k_anonymity: {k: 3}
  templates:
    t: {channel: [a, b], sensitive: {s: [x]}, confidence: 0.8}
steps:
  coarse: {use: suppress, with: {attributes: [b]}}
releases:
  study: {path: study.csv}
"""
BASE = """\
attributes:
  a: {role: quasi_identifier}
  b: {role: quasi_identifier}
  s: {role: sensitive}
nulls: own_category
"""
WEAKER = POLICY.replace("k: 3", "k: 2")
STRICTER = POLICY.replace("0.8", "0.7")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "templates/base.yaml": BASE,
        "policies/one.yaml": POLICY,
        "policies/two.yaml": POLICY.replace("small", "second"),
        "weaker.yaml": WEAKER.replace("../", ""),
        "stricter.yaml": STRICTER.replace("../", ""),
        "one.yaml": POLICY.replace("../", ""),
        "t.csv": "a,b,s\n" + "".join(f"{'pq'[i % 2]},{i % 3},{'xyz'[i % 3]}\n" for i in range(24)),
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.fixture
def git(home):
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = ("-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")

    def run(*words):
        subprocess.run(["git", *who, *words], cwd=home, env=env, check=True, capture_output=True)

    run("init", "-q", "-b", "main")
    run("add", ".")
    run("commit", "-q", "-m", "policies")
    return run


def document(done, root):
    found = json.loads(done.stdout)
    jsonschema.validate(found, json.loads((root / "schemas/diff.v1.json").read_text()))
    return found


def test_text(here, home):
    done = here("diff", "one.yaml", "weaker.yaml")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert "- weaker  privacy.k_anonymity" in lines
    assert "    old: k: 3  [one.yaml:6]" in lines
    assert "    new: k: 2  [weaker.yaml:6]" in lines
    assert lines[-1].startswith("WEAKER: the new policy is weaker")
    assert "\x1b" not in done.stdout


def test_colours_where_they_are_wanted(here, home, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;31m- weaker\x1b[0m" in here("diff", "one.yaml", "weaker.yaml").stdout


@pytest.mark.parametrize(("new", "status"), [("weaker.yaml", 1), ("stricter.yaml", 0), ("one.yaml", 0)])
def test_forbid_weaker(here, home, new, status):
    assert here("diff", "one.yaml", new, "--forbid-weaker").returncode == status


@pytest.mark.parametrize(("floor", "status"), [(">= 3", 0), (">= 2", 1), (None, 1)])
def test_a_floor_that_is_lowered_is_forbidden_too(here, home, floor, status):
    """No release is less private by it, but the next one may be."""
    old = (home / "one.yaml").read_text() + 'floors: {privacy.k_anonymity.k: ">= 3"}\n'
    (home / "old.yaml").write_text(old)
    (home / "new.yaml").write_text(old.replace(">= 3", floor) if floor else (home / "one.yaml").read_text())
    done = here("diff", "old.yaml", "new.yaml", "--forbid-weaker")
    assert done.returncode == status
    assert ("floors.privacy.k_anonymity.k" in done.stdout) is bool(status)


def test_what_is_not_proved_is_forbidden_too(here, home):
    (home / "other.yaml").write_text(POLICY.replace("../", "").replace("k: 3", "k: 9, attributes: [a]"))
    done = here("diff", "one.yaml", "other.yaml", "--forbid-weaker")
    assert done.returncode == 1
    assert "INCOMPARABLE" in done.stdout


def test_json_markdown_and_github(here, home, root):
    found = document(here("diff", "one.yaml", "weaker.yaml", "--format", "json"), root)
    (pair,) = found["pairs"]
    assert (pair["old"], pair["new"], pair["relation"]) == ("one.yaml", "weaker.yaml", "weaker")
    (change,) = pair["changes"]
    assert change["clause"] == "privacy.k_anonymity"
    assert change["new"] == {"text": "k: 2", "file": "weaker.yaml", "line": 6, "column": 3}
    markdown = here("diff", "one.yaml", "weaker.yaml", "--format", "markdown").stdout
    assert "| **weaker** | privacy.k\\_anonymity | k: 3<br>one.yaml:6 | k: 2<br>weaker.yaml:6 |" in markdown
    github = here("diff", "one.yaml", "weaker.yaml", "--format", "github").stdout
    assert github.startswith("::error file=weaker.yaml,line=6")


def test_a_template_is_part_of_the_policy(here, home, root):
    (home / "templates/base.yaml").write_text(BASE.replace("b: {role: quasi", "b: {role: insensitive} # quasi"))
    (home / "templates/old.yaml").write_text(BASE)
    (home / "old.yaml").write_text(POLICY.replace("../templates/base", "templates/old"))
    (pair,) = document(here("diff", "old.yaml", "one.yaml", "--format", "json"), root)["pairs"]
    change = next(c for c in pair["changes"] if c["clause"] == "attributes.b.role")
    assert (change["verdict"], change["old"]["file"]) == ("weaker", "templates/old.yaml")
    assert pair["relation"] == "weaker"


def test_git_revisions(here, git, home, root):
    (home / "policies/one.yaml").write_text(WEAKER)
    (home / "templates/base.yaml").write_text(BASE.replace("own_category", "wildcard"))
    done = here("diff", "main:policies/one.yaml", "policies/one.yaml", "--forbid-weaker", "--format", "json")
    assert done.returncode == 1
    (pair,) = document(done, root)["pairs"]
    assert pair["old"] == "main:policies/one.yaml"
    sides = {c["clause"]: c["old"]["file"] for c in pair["changes"]}
    assert sides == {
        "privacy.k_anonymity": "main:policies/one.yaml",
        "privacy.templates.t": "main:policies/one.yaml",
    } | {"nulls": "main:templates/base.yaml"}
    git("commit", "-aqm", "weaker")
    done = here("diff", "HEAD~1:./one.yaml", "HEAD:./one.yaml", cwd=home / "policies")
    assert "HEAD~1:policies/one.yaml -> HEAD:policies/one.yaml" in done.stdout


@pytest.mark.slow
def test_who_may_approve_of_a_revision(here, git, home, root):
    """The content of the list of signers counts, of a revision too; what it does is for people to judge."""
    approved = POLICY + "approvals: {roles: [data-owner], signers: signers.yaml}\n"
    people = {"alice": "author", "bob": "data-owner"}
    (home / "policies/one.yaml").write_text(approved)
    (home / "policies/signers.yaml").write_text(signers_text(people))
    git("add", "-A")
    git("commit", "-aqm", "approvals")
    words = ("diff", "main:policies/one.yaml", "policies/one.yaml", "--forbid-weaker", "--format", "json")
    done = here(*words)
    (pair,) = document(done, root)["pairs"]
    assert (done.returncode, pair["relation"], pair["changes"], pair["governance"]) == (0, "equal", [], [])
    (home / "policies/signers.yaml").write_text(signers_text(people | {"carol": "data-owner"}))
    done = here(*words)
    (pair,) = document(done, root)["pairs"]
    assert (done.returncode, pair["relation"], pair["changes"]) == (1, "equal", [])
    (change,) = pair["governance"]
    assert (change["clause"], change["verdict"]) == ("approvals.signers", "incomparable")
    assert change["old"]["file"] == "main:policies/one.yaml"
    assert "approvals.signers" in here("diff", "main:policies/one.yaml", "policies/one.yaml").stdout
    (home / "policies/one.yaml").write_text(POLICY)
    (pair,) = document(here(*words), root)["pairs"]
    assert (pair["relation"], [c["clause"] for c in pair["changes"]]) == ("weaker", ["approvals"])
    (home / "policies/signers.yaml").unlink()
    done = here("diff", "main:policies/one.yaml", "policies/one.yaml", "--data", "t.csv", "--format", "json")
    assert done.returncode == 0, done.stderr
    verdicts = {side: document(done, root)["pairs"][0]["measured"][side]["verdict"] for side in ("old", "new")}
    assert verdicts == {"old": "held" if verdicts["new"] == "released" else "withheld", "new": verdicts["new"]}


def test_git_folders(here, git, home, root):
    (home / "policies/one.yaml").write_text(STRICTER)
    (home / "policies/three.yaml").write_text(POLICY.replace("small", "third"))
    found = document(here("diff", "main:policies", "policies", "--format", "json"), root)
    assert [(p["new"], p["relation"]) for p in found["pairs"]] == [
        ("policies/one.yaml", "stricter"),
        ("policies/two.yaml", "equal"),
    ]
    assert (found["added"], found["removed"]) == (["policies/three.yaml"], [])
    for form in ("text", "markdown"):
        assert "1 policy without any change" in here("diff", "main:policies", "policies", "--format", form).stdout


def forms(here, old, *words):
    """Return what the comparison of folders is in each form that people and CI read."""
    names = ("text", "markdown", "github", "junit")
    shown = {form: here("diff", old, "policies", *words, "--format", form).stdout for form in names}
    return {form: html.unescape(text).replace("\\`", "`").replace("%3A", ":") for form, text in shown.items()}


ACCEPTED = "nothing to compare it with, and accepted"
WEAKER_ADDED = "weaker: there is nothing to compare it with, and `--allow-added` accepts it"


@pytest.mark.parametrize("old", ["main:policies", "before"])
@pytest.mark.parametrize(("words", "status", "why"), [([], 1, WEAKER_ADDED), (["--allow-added"], 0, ACCEPTED)])
def test_an_added_policy_counts_as_weaker(here, git, home, root, old, words, status, why):
    shutil.copytree(home / "policies", home / "before")
    (home / "policies/three.yaml").write_text(POLICY.replace("small", "third"))
    done = here("diff", old, "policies", "--forbid-weaker", *words, "--format", "json")
    assert done.returncode == status
    found = document(done, root)
    assert (found["added"], found["accepted"]) == (["policies/three.yaml"], ["policies/three.yaml"] * (not status))
    mark = {1: "- added", 0: "added"}[status]
    shown = forms(here, old, *words)
    assert f"{mark}: policies/three.yaml ({why})" in shown["text"]
    assert f": policies/three.yaml ({why})" in shown["markdown"]
    command = {1: "error", 0: "notice"}[status]
    assert f"::{command} file=policies/three.yaml,title=policies/three.yaml: added::{why}" in shown["github"]
    (case,) = [c for c in ET.fromstring(shown["junit"]).iter("testcase") if c.get("classname") == "added"]
    assert (case.get("name"), case.find("failure") is not None) == ("policies/three.yaml", bool(status))


def test_a_removed_policy_is_reported(here, git, home, root):
    (home / "policies/two.yaml").unlink()
    done = here("diff", "main:policies", "policies", "--forbid-weaker", "--format", "json")
    assert done.returncode == 0
    assert document(done, root)["removed"] == ["main:policies/two.yaml"]
    shown = forms(here, "main:policies")
    assert all("main:policies/two.yaml" in text and "it releases nothing any more" in text for text in shown.values())
    assert "::warning title=main:policies/two.yaml: removed::" in shown["github"]
    (case,) = [c for c in ET.fromstring(shown["junit"]).iter("testcase") if c.get("classname") == "removed"]
    assert case.find("skipped") is not None


def test_junit_has_a_case_for_each_change(here, git, home):
    (home / "policies/one.yaml").write_text(WEAKER)
    suites = ET.fromstring(here("diff", "main:policies", "policies", "--format", "junit").stdout)
    cases = {(s.get("name"), c.get("name")): c for s in suites for c in s.iter("testcase")}
    assert cases["policies/one.yaml", "privacy.k_anonymity"].find("failure") is not None
    assert cases["policies/two.yaml", "policy"].find("failure") is None


def test_a_policy_that_moved_is_compared_with_itself(here, git, home, root):
    (home / "policies/two.yaml").unlink()
    (home / "policies/three.yaml").write_text(WEAKER.replace("small", "second"))
    done = here("diff", "main:policies", "policies", "--format", "json", "--forbid-weaker")
    assert done.returncode == 1
    found = document(done, root)
    moved = found["pairs"][-1]
    assert (moved["old"], moved["new"]) == ("main:policies/two.yaml", "policies/three.yaml")
    assert (moved["relation"], found["added"], found["removed"]) == ("weaker", [], [])


@pytest.mark.parametrize("name", ["policies/two.yaml", "policies/three.yaml", "policies/two.test.yaml"])
def test_a_policy_that_no_longer_looks_like_one_is_compared(here, git, home, root, name):
    kept, moved = "extends: [{template: ../templates/base.yaml}]\n", "name: second\n"
    releases = WEAKER[WEAKER.index("releases:") :]
    (home / "policies/two.yaml").unlink()
    (home / name).write_text(kept.replace("base", "all"))
    body = WEAKER.replace("name: small\n", "").replace("../templates/base", "base").replace(releases, "")
    (home / "templates/all.yaml").write_text(body + moved + releases)
    done = here("diff", "main:policies", "policies", "--format", "json", "--forbid-weaker")
    assert done.returncode == 1
    found = document(done, root)
    assert [p["relation"] for p in found["pairs"] if p["new"] == name] == ["weaker"]


def test_other_policies_in_the_place_of_some_prove_nothing(here, git, home, root):
    (home / "policies/two.yaml").unlink()
    (home / "policies/three.yaml").write_text(WEAKER.replace("small", "third"))
    done = here("diff", "main:policies", "policies", "--format", "json", "--forbid-weaker")
    assert done.returncode == 1
    found = document(done, root)
    assert (found["added"], found["removed"]) == (["policies/three.yaml"], ["main:policies/two.yaml"])


IDENTIFIED = POLICY.replace("../", "").replace("source:", "attributes: {n: {role: identifier}}\nsource:")
MASKED = IDENTIFIED.replace(
    "steps:", "steps:\n  cover: {use: pseudonymize, with: {attributes: [n], key_env: A_KEY, length: 24}}"
)


@pytest.mark.parametrize(
    ("old", "new", "clause", "verdict"),
    [
        (IDENTIFIED, MASKED, "releases.study.columns", "weaker"),
        (MASKED, IDENTIFIED, "releases.study.columns", "stronger"),
        (MASKED, MASKED.replace("length: 24", "length: 9"), "releases.study.columns.n", "incomparable"),
        (MASKED, MASKED.replace("cover:", "hide:"), None, None),
        (MASKED, MASKED.replace("[b]", "[a]"), None, None),
        (IDENTIFIED, IDENTIFIED.replace("use: suppress", "use: drop"), "releases.study.columns", "stronger"),
        (MASKED, MASKED.replace("length: 24", "nothing: 1"), "releases", "incomparable"),
    ],
)
def test_columns_that_leave_are_compared(here, home, root, old, new, clause, verdict):
    (home / "old.yaml").write_text(old)
    (home / "new.yaml").write_text(new)
    done = here("diff", "old.yaml", "new.yaml", "--format", "json", "--forbid-weaker")
    (pair,) = document(done, root)["pairs"]
    found = {c["clause"]: c["verdict"] for c in pair["changes"] if c["verdict"] != "neutral"}
    assert found == ({clause: verdict} if clause else {})
    assert done.returncode == (1 if verdict in ("weaker", "incomparable") else 0)


def test_a_figure_that_a_run_may_set_is_reported(here, home, root):
    (home / "new.yaml").write_text(
        POLICY.replace("../", "").replace("k: 3", "k: '${params.k}'") + "params: {k: {type: integer, default: 3}}\n"
    )
    (pair,) = document(here("diff", "one.yaml", "new.yaml", "--format", "json"), root)["pairs"]
    assert [(c["clause"], c["verdict"], c["new"]["text"]) for c in pair["governance"]] == [("params.k", "weaker", "3")]
    assert pair["relation"] == "equal"


FREE = POLICY.replace("../", "").replace("k: 3", "k: '${params.k}'")


def param(declared, policy=FREE):
    return policy + f"params: {{k: {{type: integer, {declared}}}}}\n"


@pytest.mark.slow(quick=6)
@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        (POLICY.replace("../", ""), param("default: 3"), "weaker"),
        (POLICY.replace("../", ""), param("default: 3, min: 3"), "neutral"),
        (POLICY.replace("../", ""), param("default: 3, min: 2"), "weaker"),
        (param("default: 3, min: 3"), param("default: 3, min: 2"), "weaker"),
        (param("default: 3, min: 3"), param("default: 3"), "weaker"),
        (param("default: 3"), param("default: 3, min: 3"), None),
        (param("default: 3, min: 3, max: 9"), param("default: 3, min: 3, max: 99"), None),
        (param("default: 3, min: 3"), param("default: 4, min: 3"), None),
        (param("default: 3, choices: [3, 4]"), param("default: 3, choices: [2, 3, 4]"), "weaker"),
        (param("default: 3, choices: [3, 4]"), param("default: 3, choices: [3, 4, 5]"), None),
        (param("default: 3"), POLICY.replace("../", ""), "stronger"),
        (param("default: 3, min: 2", POLICY.replace("../", "")), param("default: 3, min: 2"), "weaker"),
        (
            POLICY.replace("../", ""),
            param("default: 3") + "floors: {privacy.k_anonymity.k: '>= 3'}\n",
            "neutral",
        ),
        (
            POLICY.replace("../", ""),
            POLICY.replace("../", "").replace("study.csv", "${params.file}") + "params: {file: {default: study.csv}}\n",
            "neutral",
        ),
        (
            POLICY.replace("../", ""),
            POLICY.replace("../", "").replace("sensitive: {s: [x]}", "sensitive: {s: '${params.v}'}")
            + "params: {v: {type: list, default: [x]}}\n",
            "incomparable",
        ),
        (
            POLICY.replace("../", "").replace("[x]", "[x, y]"),
            POLICY.replace("../", "").replace("sensitive: {s: [x]}", "sensitive: {s: '${params.v}'}")
            + "params: {v: {type: list, default: [x, y]}}\n",
            "weaker",
        ),
    ],
)
def test_a_param_that_can_weaken_is_forbidden(here, home, root, old, new, verdict):
    (home / "old.yaml").write_text(old)
    (home / "new.yaml").write_text(new)
    done = here("diff", "old.yaml", "new.yaml", "--format", "json", "--forbid-weaker")
    (pair,) = document(done, root)["pairs"]
    found = [c["verdict"] for c in pair["governance"] if c["clause"].startswith("params.")]
    if verdict is None:
        assert not {"weaker", "incomparable"} & set(found)
    else:
        assert found == [verdict]
    assert done.returncode == (1 if verdict in ("weaker", "incomparable") else 0)


KEYED = "pseudonymize, with: {attributes: [site], key_env: A_KEY}"
KEPT = POLICY.replace("../", "").replace(
    "steps:",
    "attributes: {note: {role: insensitive}, site: {role: insensitive}}\nsteps:\n"
    "  ids: {use: assign_class_id, with: {attributes: [a], name: group}}\n"
    f"  keyed: {{use: {KEYED}}}\n"
    "  less: {use: drop, with: {attributes: [note]}}",
)


@pytest.mark.parametrize(
    ("old", "new", "clause", "verdict"),
    [
        (KEPT, KEPT.replace("[a], name", "[a, note], name"), "releases.study.carried", "weaker"),
        (KEPT.replace("[a], name", "[a, note], name"), KEPT, "releases.study.carried", "stronger"),
        (KEPT, KEPT.replace("[a], name", "[a, b], name"), None, None),
        (KEPT, KEPT.replace(KEYED, "shuffle_rows"), "releases.study.carried", "weaker"),
        (KEPT.replace(KEYED, "shuffle_rows"), KEPT, "releases.study.carried", "stronger"),
    ],
)
def test_what_columns_are_computed_from_is_compared(here, home, root, old, new, clause, verdict):
    (home / "old.yaml").write_text(old)
    (home / "new.yaml").write_text(new)
    done = here("diff", "old.yaml", "new.yaml", "--format", "json", "--forbid-weaker")
    (pair,) = document(done, root)["pairs"]
    found = {c["clause"]: c["verdict"] for c in pair["changes"] if c["verdict"] != "neutral"}
    if clause is None:
        assert found == {}
    else:
        assert found[clause] == verdict
    assert done.returncode == (1 if verdict == "weaker" else 0)


def given(text, declared):
    """The policy with a param in place of a text."""
    key, _, value = text.rpartition(": ")
    return KEPT.replace(text, f"{key}: '${{params.p}}'", 1) + f"params: {{p: {{default: {value}, {declared}}}}}\n"


@pytest.mark.parametrize(
    ("new", "verdict"),
    [
        (given("k: 3", "type: text"), "weaker"),
        (given("k: 3", "choices: ['3', '4']"), "neutral"),
        (given("attributes: [note]", "type: list"), "incomparable"),
        (given("path: study.csv", "type: text"), "neutral"),
        (
            KEPT.replace("study.csv", "study.csv, audience: '${params.p}'") + "params: {p: {default: internal}}\n",
            "weaker",
        ),
        (
            KEPT.replace("study.csv", "study.csv, shuffle: '${params.p}'") + "params: {p: {default: 'true'}}\n",
            "weaker",
        ),
        (
            KEPT.replace("study.csv", "study.csv, from: '${params.p}'") + "params: {p: {default: less}}\n",
            "weaker",
        ),
        (
            KEPT.replace("use: drop", "use: '${params.p}'") + "params: {p: {default: drop}}\n",
            "weaker",
        ),
    ],
)
def test_free_text_is_tried_with_the_other_words_of_its_kind(here, home, root, new, verdict):
    (home / "old.yaml").write_text(KEPT)
    (home / "new.yaml").write_text(new)
    done = here("diff", "old.yaml", "new.yaml", "--format", "json", "--forbid-weaker")
    (pair,) = document(done, root)["pairs"]
    assert pair["relation"] == "equal"
    assert [c["verdict"] for c in pair["governance"]] == [verdict]
    assert done.returncode == (0 if verdict == "neutral" else 1)


TWICE = KEPT + (
    "gates:\n  one: {metric: privacy.k_anonymity.k, min: 5}\n  two: {metric: privacy.k_anonymity.k, min: 5}\n"
)


@pytest.mark.parametrize(("least", "status"), [(0, 1), (5, 0)])
def test_params_that_weaken_only_together_are_forbidden(here, home, root, least, status):
    limits = f"{{type: integer, default: 5, min: {least}}}"
    freed = TWICE.replace("min: 5", "min: '${params.p}'", 1).replace("min: 5", "min: '${params.q}'")
    (home / "old.yaml").write_text(TWICE)
    (home / "new.yaml").write_text(freed + f"params: {{p: {limits}, q: {limits}}}\n")
    done = here("diff", "old.yaml", "new.yaml", "--format", "json", "--forbid-weaker")
    (pair,) = document(done, root)["pairs"]
    found = {c["clause"]: c["verdict"] for c in pair["governance"]}
    assert found == {"params.p": "neutral", "params.q": "neutral"} | ({"params.p, q": "weaker"} if status else {})
    assert done.returncode == status


def test_a_default_that_weakens_and_values_of_ones_own(here, home):
    (home / "old.yaml").write_text(param("default: 3, min: 2"))
    (home / "new.yaml").write_text(param("default: 2, min: 2"))
    assert here("diff", "old.yaml", "new.yaml", "--forbid-weaker").returncode == 1
    assert here("diff", "old.yaml", "new.yaml", "--forbid-weaker", "--set", "k=5").returncode == 0


def test_an_old_policy_that_is_not_valid_proves_nothing(here, home):
    (home / "before").mkdir()
    (home / "before/one.yaml").write_text(POLICY.replace("k: 3", "k: many"))
    done = here("diff", "before", "policies", "--forbid-weaker")
    assert done.returncode == 1
    assert "the old policy is not valid" in done.stdout


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("one.yaml", "none.yaml"), "PPF100"),
        (("one.yaml", "policies"), "PPF642"),
        (("policies", "policies", "--data", "t.csv"), "PPF642"),
        (("none:one.yaml", "one.yaml"), "PPF640"),
        (("main:nothing.yaml", "one.yaml"), "PPF640"),
        (("main:../../etc", "one.yaml"), "PPF640"),
        (("--output=x:one.yaml", "one.yaml"), None),
    ],
)
def test_faults(here, git, home, words, code):
    done = here("diff", *words)
    assert done.returncode == 2
    if code:
        assert code in done.stderr


def test_a_word_with_a_colon_outside_of_git(here, home):
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    done = here("diff", "main:one.yaml", "one.yaml")
    assert done.returncode == 2
    assert "no git repository" in done.stderr


def test_no_git(here, git, home, monkeypatch):
    monkeypatch.setenv("PATH", str(home))
    done = here("diff", "main:one.yaml", "one.yaml")
    assert done.returncode == 2
    assert "PPF641" in done.stderr


def test_faults_of_a_revision_are_drawn_under_its_name(here, git, home):
    (home / "policies/one.yaml").write_text(POLICY.replace("k: 3", "k: many"))
    git("commit", "-aqm", "broken")
    done = here("diff", "main:policies/one.yaml", "one.yaml")
    assert done.returncode == 2
    assert "main:policies/one.yaml:6" in done.stderr
    assert "k: many" in done.stderr


def test_params(here, home, root):
    text = POLICY.replace("../", "").replace("k: 3", "k: '${params.k}'")
    text = text.replace("source:", "params: {k: {type: integer, default: 3}}\nsource:")
    (home / "params.yaml").write_text(text)
    assert (
        document(here("diff", "one.yaml", "params.yaml", "--format", "json"), root)["pairs"][0]["relation"] == "equal"
    )
    done = here("diff", "params.yaml", "params.yaml", "--set", "k=4", "--format", "json")
    assert document(done, root)["pairs"][0]["relation"] == "equal"
    done = here("diff", "one.yaml", "params.yaml", "--set", "k=4", "--format", "json")
    assert document(done, root)["pairs"][0]["relation"] == "stricter"
    assert here("diff", "one.yaml", "params.yaml", "--set", "kk=4").returncode == 2


def test_spellings_of_plugins_are_one(here, home, root):
    one = POLICY.replace("../", "") + "audits: {sample: {use: classification_error, with: {target: s, runs: 10}}}\n"
    one += "gates: {g: {metric: sample.error_increase, max: 0.5}}\n"
    (home / "a.yaml").write_text(one)
    (home / "b.yaml").write_text(
        one.replace("runs: 10", 'runs: "10"').replace("0.5}", "0.50}").replace("sample", "other")
    )
    done = here("diff", "a.yaml", "b.yaml", "--format", "json")
    assert done.returncode == 0, done.stderr
    (pair,) = document(done, root)["pairs"]
    assert pair["relation"] == "equal"
    assert {c["verdict"] for c in pair["changes"]} == {"neutral"}


@pytest.mark.slow
def test_data(here, home, root, tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    before = sorted(p for p in home.rglob("*"))
    done = here("diff", "one.yaml", "weaker.yaml", "--data", "t.csv", "--format", "json")
    assert done.returncode == 0, done.stderr
    measured = document(done, root)["pairs"][0]["measured"]
    assert (measured["old"]["name"], measured["new"]["name"]) == ("one.yaml", "weaker.yaml")
    k = next(r for r in measured["results"] if r["id"] == "privacy.k_anonymity")
    assert (k["old"]["bound"], k["new"]["bound"]) == (3.0, 2.0)
    assert k["old"]["value"] == k["new"]["value"]
    assert sorted(p for p in home.rglob("*")) == before
    assert not list(scratch.iterdir())
    assert "requirements and gates" in here("diff", "one.yaml", "weaker.yaml", "--data", "t.csv").stdout


@pytest.mark.slow
def test_data_and_a_revision(here, git, home, root):
    (home / "policies/one.yaml").write_text(STRICTER)
    done = here("diff", "main:policies/one.yaml", "policies/one.yaml", "--data", "t.csv", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert document(done, root)["pairs"][0]["measured"]["old"]["verdict"] in ("released", "withheld")


@pytest.mark.slow
def test_runs(here, home, root):
    folders = []
    for policy in ("one.yaml", "stricter.yaml"):
        done = here("run", policy, "--out", f"runs-{policy}", "-q")
        assert done.returncode in (0, 1), done.stderr
        folders += list((home / f"runs-{policy}/small").iterdir())
    done = here("diff", *folders, "--format", "json")
    found = document(done, root)
    assert found["kind"] == "runs"
    assert found["pairs"][0]["relation"] == "stricter"
    names = {m["name"] for m in found["runs"]["metrics"]}
    assert "privacy.k_anonymity.k" in names
    text = here("diff", *folders)
    assert "verdict:" in text.stdout
    assert here("diff", folders[0], "one.yaml").returncode == 2


@pytest.mark.slow
def test_it_starts_light(home):
    program = (
        "import sys; from ppdm_flow import api; api.diff('one.yaml', 'weaker.yaml');"
        "print(*sorted(m for m in ('numpy', 'pandas', 'pyarrow', 'duckdb', 'numba') if m in sys.modules))"
    )
    import sys

    done = subprocess.run([sys.executable, "-c", program], cwd=home, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_files_that_a_policy_names_are_compared_by_content(here, git, home, root):
    text = POLICY.replace("k_anonymity: {k: 3}", "k_map: {k: 3, population: {path: people.csv}}")
    (home / "policies/one.yaml").write_text(text)
    (home / "policies/people.csv").write_text("a,b\np,q\n")
    git("add", ".")
    git("commit", "-qm", "a population")
    relation = {}
    for name, change in {"same": "a,b\np,q\n", "other": "a,b\np,q\np,q\n"}.items():
        (home / "policies/people.csv").write_text(change)
        (home / "policies/one.yaml").write_text(text.replace("k: 3", "k: 4"))
        done = here("diff", "main:policies/one.yaml", "policies/one.yaml", "--format", "json")
        relation[name] = document(done, root)["pairs"][0]["relation"]
    assert relation == {"same": "stricter", "other": "incomparable"}


def test_what_an_audit_reads_counts_as_well(here, git, home, root):
    text = POLICY + "audits: {known: {use: linkage, with: {external: {path: people.csv}}}}\n"
    text += "gates: {g: {metric: known.risk, max: 0.5}}\n"
    (home / "policies/one.yaml").write_text(text)
    (home / "policies/people.csv").write_text("a,b\np,q\n")
    git("add", ".")
    git("commit", "-qm", "a list")
    (home / "policies/people.csv").write_text("a,b\np,r\n")
    found = json.loads(here("diff", "main:policies/one.yaml", "policies/one.yaml", "--format", "json").stdout)
    assert found["pairs"][0]["relation"] == "incomparable"


MEASURED = """\
version: 1
name: gated
source: {path: t.csv}
attributes:
  a: {role: quasi_identifier}
  s: {role: target}
privacy: {k_anonymity: {k: 2}}
steps:
  fewer: {use: drop, input: source, with: {attributes: [s]}}
audits:
  error: {use: classification_error, with: {target: s}}
gates:
  useful: {metric: error.error_increase, max: 0.05GATE}
releases:
  one: {from: FROM, path: one.csv}
"""
SECOND = "  two: {from: fewer, path: two.csv}\n"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        (MEASURED.replace("FROM", "fewer"), "PPF861"),
        (MEASURED.replace("FROM", "source") + SECOND, "PPF644"),
        (MEASURED.replace("FROM", "source").replace("GATE", ", releases: [one]") + SECOND, None),
    ],
)
def test_a_gate_does_not_vanish_where_its_figure_does(here, home, changed, code):
    """The release that lacks what the gate's audit measures is an error, and never called stricter or equal."""
    (home / "old.yaml").write_text(MEASURED.replace("FROM", "source").replace("GATE", ""))
    (home / "new.yaml").write_text(changed.replace("GATE", ""))
    checked = here("check", "new.yaml", "--format", "concise", cwd=home)
    assert checked.returncode == (1 if code else 0), checked.stdout
    assert code is None or f"error[{code}]" in checked.stdout
    done = here("diff", "old.yaml", "new.yaml", "--forbid-weaker", cwd=home)
    assert done.returncode == 1, done.stdout
    same = here("diff", "new.yaml", "new.yaml", "--forbid-weaker", cwd=home)
    assert same.returncode == 0, same.stdout


@pytest.mark.parametrize(("old", "new", "which"), [("one", "broken", "new"), ("broken", "one", "old")])
def test_the_policy_with_errors_is_named(here, home, old, new, which):
    text = (home / "one.yaml").read_text()
    (home / "broken.yaml").write_text(text + "audits: {sample: {use: no_such_audit}}\n")
    done = here("diff", f"{old}.yaml", f"{new}.yaml")
    assert f"`check` finds errors in the {which} policy" in " ".join(done.stdout.split()), done.stdout + done.stderr


def test_rounding_errors_are_no_difference():
    def pair(old, new):
        return {"name": "f", "unit": "share", "old": old, "new": new, "difference": new["value"] - old["value"]}

    def shown(*pairs):
        ((_, _, _), (title, _, rows)) = tables({"results": [], "metrics": list(pairs)})
        return title, [row[0] for row in rows]

    noise = [pair({"value": 0.0}, {"value": -2.2e-16}), pair({"value": 0.1 + 0.2}, {"value": 0.3})]
    assert shown(*noise) == ("figures that differ (2 are the same)", [])
    real = [
        pair({"value": 0.3}, {"value": 0.3001}),
        pair({"value": 0.0}, {"value": 1e-9}),
        pair({"value": 0.3, "interval": [0.2, 0.4]}, {"value": 0.3, "interval": [0.1, 0.4]}),
    ]
    assert shown(*real)[1] == ["f", "f", "f"]
