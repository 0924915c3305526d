"""Texts that stand in no file yet: checked and compared as policies, beside their templates."""

from __future__ import annotations

import datetime as dt
import subprocess

import pytest

from ppdm_flow import api
from ppdm_flow.api.loading.kinds import FileKind
from ppdm_flow.core.errors import PolicyError, UsageError

TEMPLATE = 'version: 1\nprivacy:\n  k_anonymity: {k: 5}\nfloors: {privacy.k_anonymity.k: ">= 3"}\n'
POLICY = """version: 1
name: people
extends: [org.yaml]
source: {path: people.csv}
attributes:
  id: {role: identifier}
  age: {role: quasi_identifier, type: integer}
privacy:
  k_anonymity: {k: 7}
steps:
  recode: {use: full_domain_recoding}
releases:
  public: {from: recode, path: people.csv}
"""
TESTS = """policy: people.yaml
tests:
  one:
    data:
      - [id, age]
      - [a, 1]
    expect: {verdict: withheld}
"""


@pytest.fixture
def policy(tmp_path):
    (tmp_path / "org.yaml").write_text(TEMPLATE)
    (tmp_path / "people.yaml").write_text(POLICY)
    return tmp_path / "people.yaml"


@pytest.mark.parametrize("name", ["people.yaml", "new.yaml"])
def test_a_text_is_checked_as_check_would_check_its_file(policy, name):
    text = POLICY.replace("k: 7", "k: 2").replace("recode}", "nothing}").replace("use: full", "use: fulll")
    path = policy.with_name(name)
    checked = api.check_draft(path, text)
    path.write_text(text)
    assert checked.diagnostics == api.check([path]).diagnostics
    assert checked.kind is FileKind.POLICY
    assert not checked.valid


def test_what_stands_in_the_file_does_not_matter(policy):
    policy.write_text("version: [")
    checked = api.check_draft(policy, POLICY)
    assert checked.valid
    assert [step.name for step in checked.plan.steps] == ["recode", "shuffle-public"]


def test_a_template_is_not_asked_what_only_a_policy_has_to_say(policy):
    path = policy.with_name("org.yaml")
    assert api.check_draft(path, TEMPLATE).kind is FileKind.TEMPLATE
    assert api.check_draft(path, TEMPLATE).diagnostics == ()
    assert [d.code for d in api.check_draft(path, TEMPLATE.replace("k_anonymity: {k", "k_anonymity: {kk")).diagnostics]
    required = "version: 1\nparams: {k: {type: integer}}\nprivacy:\n  k_anonymity: {k: '${params.k}'}\n"
    assert api.check_draft(path, required).diagnostics == ()


def test_a_floor_of_a_template_is_about_the_policies_that_use_it(policy):
    house = policy.with_name("house.yaml")
    floor = "version: 1\nnulls: exclude\nfloors: {privacy.k_anonymity.k: '>= 3'}\n"
    assert api.check_draft(house, floor).diagnostics == ()
    below = api.check_draft(house, floor + "privacy: {k_anonymity: {k: 2}}\n").diagnostics
    assert [each.code for each in below] == ["PPF308"]


def test_tests_and_other_files_are_checked_as_what_they_are(policy):
    path = policy.with_name("people.test.yaml")
    assert api.check_draft(path, TESTS).diagnostics == ()
    wrong = api.check_draft(path, TESTS.replace("withheld", "nothing"))
    assert (wrong.kind, wrong.valid) == (FileKind.TESTS, False)
    lost = api.check_draft(path, TESTS.replace("people.yaml", "nobody.yaml"))
    assert [d.code for d in lost.diagnostics] == ["PPF100"]
    other = api.check_draft(policy.with_name("signers.yaml"), "signers: [")
    assert (other.kind, other.valid) == (FileKind.OTHER, False)
    assert api.check_draft(policy.with_name("signers.yaml"), "signers: {}\n").valid


def test_waivers_are_judged_on_the_day(policy):
    waived = POLICY + (
        "waivers:\n  w: {of: privacy.k_anonymity, reason: agreed with the study, owner: dpo, until: 2030-01-01}\n"
    )
    early = api.check_draft(policy, waived, lambda: dt.date(2029, 1, 1))
    late = api.check_draft(policy, waived, lambda: dt.date(2031, 1, 1))
    assert early.diagnostics != late.diagnostics


def test_two_texts_are_compared_and_the_file_is_not_read(policy):
    policy.write_text("no policy")
    weaker = api.diff_drafts(policy, POLICY, POLICY.replace("k: 7", "k: 4"), policy.parent)
    (pair,) = weaker.document["pairs"]
    assert (pair["relation"], pair["new"], weaker.weaker) == ("weaker", "people.yaml", True)
    assert [change["new"]["file"] for change in pair["changes"]] == ["people.yaml"]
    assert not api.diff_drafts(policy, POLICY.replace("k: 7", "k: 4"), POLICY, policy.parent).weaker
    with pytest.raises(PolicyError):
        api.diff_drafts(policy, POLICY, POLICY.replace("k: 7", "k: 2"), policy.parent)


def test_params_are_tried_on_the_texts(policy):
    free = POLICY.replace("k: 7}", "k: '${params.k}'}") + "params: {k: {type: integer, default: 7, min: 3}}\n"
    result = api.diff_drafts(policy, POLICY, free, policy.parent)
    assert result.weaker
    assert [change["clause"] for change in result.document["pairs"][0]["governance"]] == ["params.k"]


def test_texts_of_a_template_are_compared_in_those_that_use_it(policy):
    template = policy.with_name("org.yaml")
    (policy.with_name("between.yaml")).write_text("extends: [org.yaml]\nversion: 1\nnulls: exclude\n")
    second = policy.with_name("second.yaml")
    second.write_text(POLICY.replace("[org.yaml]", "[between.yaml]"))
    lower = TEMPLATE.replace(">= 3", ">= 2")
    for path in (policy, second):
        result = api.diff_drafts(path, TEMPLATE, lower, policy.parent, template=template)
        assert result.weaker
        assert result.document["pairs"][0]["relation"] == "equal"
        assert [each["verdict"] for each in result.document["pairs"][0]["governance"]] == ["weaker"]
    assert not api.diff_drafts(policy, lower, TEMPLATE, policy.parent, template=template).weaker
    assert template.read_text() == TEMPLATE


def test_a_text_is_compared_with_a_revision_and_its_templates(policy, tmp_path, monkeypatch):
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@y.example"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    policy.with_name("org.yaml").write_text(TEMPLATE.replace(">= 3", ">= 2"))
    monkeypatch.chdir("/")
    result = api.diff_drafts(policy, "people.yaml", POLICY, tmp_path, revision="HEAD")
    (pair,) = result.document["pairs"]
    assert (pair["old"], pair["new"]) == ("HEAD:people.yaml", "people.yaml")
    assert result.weaker
    with pytest.raises(UsageError):
        api.diff_drafts(policy, "people.yaml", POLICY, tmp_path, revision="nothing")
