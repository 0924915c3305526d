"""Project files: found upwards, read, and binding for every policy below their folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ppdm_flow.core.diagnostics import Severity, has_errors
from ppdm_flow.policy import load
from ppdm_flow.policy.order import compare
from ppdm_flow.policy.project_file import no_project, project_of

POLICY = """version: 1
name: visits
extends: ../templates/house.yaml
source: {path: visits.csv}
attributes:
  age: {role: quasi_identifier}
  illness: {role: sensitive}
releases: {study: {path: study.csv}}
"""
HOUSE = """version: 1
privacy:
  k_anonymity: {k: 5}
  l_diversity: {illness: {l: 2}}
gates:
  small-loss: {metric: distributions.mean_total_variation, max: 0.5}
"""
PROJECT = "version: 1\nrequire: [templates/house.yaml]\n"


@pytest.fixture
def home(tmp_path):
    for name, text in (
        ("policies/visits.yaml", POLICY),
        ("templates/house.yaml", HOUSE),
        ("ppdm-flow.yaml", PROJECT),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / ".git").mkdir()
    return tmp_path


def read(home: Path, more: str = "", *, without: str = ""):
    policy = home / "policies" / "visits.yaml"
    policy.write_text(POLICY.replace(without, "") + more)
    return load(policy)


def codes(loaded) -> list[str]:
    return [d.code for d in loaded.diagnostics if d.severity is Severity.ERROR]


def test_it_is_found_up_to_the_root_of_the_repository(home):
    deep = home / "policies" / "more" / "and_more"
    deep.mkdir(parents=True)
    assert project_of(deep / "p.yaml").file == home / "ppdm-flow.yaml"
    (home / "policies" / ".git").mkdir()
    assert project_of(deep / "p.yaml") is not None  # an empty folder of that name is no repository
    (home / "policies" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert project_of(deep / "p.yaml") is None


def test_project_files_add_up(home):
    (home / "ppdm-flow.yaml").write_text(PROJECT + "signers: signers.yaml\n")
    (home / "policies" / "ppdm-flow.yaml").write_text("version: 1\nlocked: true\nruns: there\nsigners: mine.yaml\n")
    together = project_of(home / "policies" / "p.yaml")
    outer = project_of(home / "p.yaml")
    assert together.file == home / "policies" / "ppdm-flow.yaml"
    assert together.locked
    assert together.runs == home / "policies" / "there"
    assert together.signers == home / "signers.yaml"
    assert together.required == outer.required
    assert together.sha256 != outer.sha256
    assert "PPF356" in codes(read(home, without="extends: ../templates/house.yaml\n"))


def test_a_link_from_elsewhere_is_bound(home, tmp_path_factory):
    read(home, without="extends: ../templates/house.yaml\n")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "link.yaml").symlink_to(home / "policies" / "visits.yaml")
    (elsewhere / "folder").symlink_to(home / "policies")
    for policy in (elsewhere / "link.yaml", elsewhere / "folder" / "visits.yaml"):
        assert "PPF356" in codes(load(policy))
    (elsewhere / "copy.yaml").write_text((home / "policies" / "visits.yaml").read_text())
    assert "PPF356" not in codes(load(elsewhere / "copy.yaml"))


OFFERS = "version: 1\nparams: {k: {type: integer, default: 5LIMITS}}\nprivacy: {k_anonymity: {k: '${params.k}'}}\n"


@pytest.mark.parametrize("limits", ["", ", from_env: HOUSE_K"])
@pytest.mark.parametrize("how", ["with", "own", "sets", "stricter"])
def test_a_param_of_it_gets_no_weaker(home, how, limits):
    (home / "templates" / "house.yaml").write_text(OFFERS.replace("LIMITS", limits))
    k = 9 if how == "stricter" else 2
    text = POLICY
    if how in ("with", "stricter"):
        text = POLICY.replace("../templates/house.yaml", f"[{{template: ../templates/house.yaml, with: {{k: {k}}}}}]")
    elif how == "own":
        text = POLICY + f"params: {{k: {{type: integer, default: {k}}}}}\n"
    policy = home / "policies" / "visits.yaml"
    policy.write_text(text)
    found = codes(load(policy, {"k": str(k)} if how == "sets" else {}))
    assert found == ([] if how == "stricter" else ["PPF308"])


def test_a_param_that_it_offers_is_the_policys(home):
    policy = home / "policies" / "visits.yaml"
    policy.write_text(POLICY.replace("../templates/house.yaml", "[{template: ../templates/house.yaml, with: {k: 3}}]"))
    for limits, wanted in ((", min: 3", []), (", min: 4", ["PPF306"])):
        (home / "templates" / "house.yaml").write_text(OFFERS.replace("LIMITS", limits))
        assert codes(load(policy)) == wanted
    (home / "templates" / "house.yaml").write_text(OFFERS.replace(", default: 5LIMITS", ""))
    assert codes(load(policy)) == []


COLUMNS = "attributes:\n  age: {role: quasi_identifier}\n  illness: {role: sensitive}\n"


@pytest.mark.parametrize("role", ["weight", "sampling_weight", "subject"])
def test_no_column_counts_rows_otherwise(home, role):
    (home / "templates" / "house.yaml").write_text(HOUSE + COLUMNS)
    more = f"attributes: {{other: {{role: {role}}}}}\n" + ("people: {known_rows: 1}\n" if role == "subject" else "")
    assert "PPF308" in codes(read(home, more, without=COLUMNS))
    counted = f"  other: {{role: {role}}}\n" + ("people: {known_rows: 1}\n" if role == "subject" else "")
    (home / "templates" / "house.yaml").write_text(HOUSE + COLUMNS + counted)
    assert codes(read(home, without=COLUMNS)) == []
    if role == "subject":
        assert "PPF308" in codes(
            read(home, "attributes: {other: {role: identifier}, one: {role: subject}}\n", without=COLUMNS)
        )


def test_a_policy_that_extends_what_is_required_is_good(home):
    assert codes(read(home)) == []


def test_a_template_between_is_as_good(home):
    (home / "templates" / "study.yaml").write_text("version: 1\nextends: house.yaml\n")
    policy = home / "policies" / "visits.yaml"
    policy.write_text(POLICY.replace("house", "study"))
    assert codes(load(policy)) == []


def test_a_policy_that_does_not_extend_it_is_an_error(home):
    loaded = read(home, without="extends: ../templates/house.yaml\n")
    assert codes(loaded) == ["PPF356", "PPF526"]
    (fault,) = [d for d in loaded.diagnostics if d.code == "PPF356"]
    assert fault.related[0].span.file.endswith("ppdm-flow.yaml")
    assert fault.hint == "add `../templates/house.yaml` to `extends`"
    (home / "ppdm-flow.yaml").write_text(PROJECT.replace("templates/house.yaml", "'builtin:microdata-k'"))
    (builtin,) = [d for d in load(home / "policies" / "visits.yaml").diagnostics if d.code == "PPF356"]
    assert builtin.hint == "add `builtin:microdata-k` to `extends`"
    with no_project():
        assert codes(read(home, without="extends: ../templates/house.yaml\n")) == []


@pytest.mark.parametrize(
    "weaker",
    [
        "privacy: {k_anonymity: null}\n",
        "privacy: {k_anonymity: {k: 4}}\n",
        "privacy: null\n",
        "privacy: {l_diversity: {illness: null}}\n",
        "privacy: {k_anonymity: {k: 5, releases: [study]}}\n",
        "gates: {small-loss: null}\n",
        "gates: {small-loss: {metric: distributions.mean_total_variation, max: 0.9}}\n",
        "attributes: {age: {role: insensitive}}\n",
    ],
)
def test_nothing_of_it_can_be_taken_away(home, weaker):
    without = "attributes:\n  age: {role: quasi_identifier}\n  illness: {role: sensitive}\n"
    if weaker.startswith("attributes"):
        weaker = without.replace("quasi_identifier", "insensitive")
        (home / "templates" / "house.yaml").write_text(HOUSE + without)
        loaded = read(home, weaker, without=without)
    else:
        loaded = read(home, weaker)
    assert "PPF308" in codes(loaded), loaded.diagnostics
    with no_project():
        assert "PPF308" not in codes(load(home / "policies" / "visits.yaml"))


@pytest.mark.parametrize(
    "stricter",
    ["privacy: {k_anonymity: {k: 9}}\n", "privacy: {t_closeness: {illness: {t: 0.4}}}\n"],
)
def test_more_may_be_asked_for(home, stricter):
    assert codes(read(home, stricter)) == []


def test_floors_of_the_template_say_how_far_a_requirement_may_go(home):
    (home / "templates" / "house.yaml").write_text(HOUSE + 'floors: {privacy.k_anonymity.k: ">= 3"}\n')
    assert codes(read(home, "privacy: {k_anonymity: {k: 3}}\n")) == []
    assert "PPF308" in codes(read(home, "privacy: {k_anonymity: {k: 2}}\n"))
    assert "PPF308" in codes(read(home, "privacy: {k_anonymity: null}\n"))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "PPF355"),
        ("- templates\n", "PPF355"),
        ("version: 1\nrequires: [a]\n", "PPF201"),
        ("version: 2\n", "PPF207"),
        ("require: []\n", "PPF202"),
        ("version: 1\nrequire: [templates/none.yaml]\n", "PPF301"),
        ("version: 1\nlocked: yes please\n", "PPF2"),
        ("version: 1\nrequire: [", "PPF1"),
        ("version: 1\n\x00", "PPF1"),
    ],
)
def test_a_project_file_that_is_wrong_stops_every_policy(home, text, code):
    (home / "ppdm-flow.yaml").write_text(text)
    found = codes(read(home))
    assert any(each.startswith(code) for each in found), found


def test_a_project_file_that_cannot_be_read_stops_every_policy(home):
    (home / "ppdm-flow.yaml").unlink()
    (home / "ppdm-flow.yaml").mkdir()
    assert codes(read(home)) == ["PPF355"]


def test_diff_compares_project_files(home, tmp_path_factory):
    other = tmp_path_factory.mktemp("other") / "home"
    shutil.copytree(home, other)
    (other / "ppdm-flow.yaml").write_text("version: 1\nlocked: true\nsigners: signers.yaml\n")
    order = compare(read(home), load(other / "policies" / "visits.yaml"))
    changes = {each.clause: each.verdict.value for each in order.governance if each.clause.startswith("project")}
    assert changes == {"project.require": "weaker", "project.locked": "stronger", "project.signers": "incomparable"}
    (other / "ppdm-flow.yaml").unlink()
    order = compare(read(home), load(other / "policies" / "visits.yaml"))
    assert [each.verdict.value for each in order.governance if each.clause == "project.require"] == ["weaker"]
    same = compare(read(home), read(home))
    assert not same.governance


def test_policies_that_share_templates_are_bound_alike(home):
    from ppdm_flow.policy.files import Library

    library = Library()
    for name, more in (("one", ""), ("two", "privacy: {k_anonymity: null}\n"), ("three", "")):
        (home / "policies" / f"{name}.yaml").write_text(POLICY.replace("visits", name) + more)
    found = {
        name: has_errors(load(home / "policies" / f"{name}.yaml", library=library).diagnostics)
        for name in ("one", "two", "three")
    }
    assert found == {"one": False, "two": True, "three": False}


@pytest.mark.parametrize("privacy", ["", "privacy: none\n"])
def test_a_policy_without_requirements_is_an_error_below_one(home, privacy):
    (home / "ppdm-flow.yaml").write_text("version: 1\n")
    without = "extends: ../templates/house.yaml\n"
    assert codes(read(home, privacy, without=without)) == ["PPF526"]
    with no_project():
        assert codes(read(home, privacy, without=without)) == []
