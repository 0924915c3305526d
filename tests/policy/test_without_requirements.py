"""`privacy: none`: a policy that requires nothing, on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppdm_flow import api
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.policy.order import compare

TABLE = "version: 1\nname: trees\nsource: {path: t.csv}\nattributes: {district: {role: insensitive}}\n"
RELEASE = "releases: {r: {path: r.csv}}\n"
K = "privacy: {k_anonymity: {k: 5, attributes: [district]}}\n"
NONE = "privacy: none\n"


def nothing_required(loaded):
    return [d.severity for d in loaded.diagnostics if d.code == "PPF526"]


@pytest.mark.parametrize(
    ("privacy", "audience", "severities"),
    [
        ("", "internal", [Severity.WARNING]),
        ("privacy: {}\n", "partner", [Severity.WARNING]),
        (NONE, "internal", []),
        ("privacy: 'none'\n", "partner", []),
        ("", "public", [Severity.ERROR]),
        (NONE, "public", [Severity.ERROR]),
        (K, "public", []),
    ],
)
def test_warned_of_unless_it_is_said_and_an_error_where_anybody_may_read(read, privacy, audience, severities):
    loaded = read(f"{TABLE}{privacy}releases: {{r: {{path: r.csv, audience: {audience}}}}}\n")
    assert nothing_required(loaded) == severities
    assert len(loaded.diagnostics) == len(severities)


@pytest.mark.parametrize("text", ["nothing", "None", "true", "[]", "[none]"])
def test_no_other_word_is_taken(read, codes, text):
    assert codes(read(f"{TABLE}privacy: {text}\n{RELEASE}")) == ["PPF208"]


@pytest.mark.parametrize(("privacy", "passes"), [(NONE, False), (K, True), ("", False)])
def test_strict_takes_no_policy_without_requirements(read, privacy, passes):
    read(TABLE + privacy + RELEASE)
    outcome = api.check(["p.yaml"])
    assert outcome.passes()
    assert outcome.passes(strict=True) is passes
    assert outcome.strictly().passes() is (privacy != NONE)
    assert outcome.without_requirements == (privacy != K)
    result = outcome.result(strict=True)
    assert any(map(result.fails, result.diagnostics)) is not passes


TEMPLATE = {"house.yaml": K}


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (TEMPLATE, ["PPF322"]),
        ({"house.yaml": "extends: [base.yaml]\n", "base.yaml": K}, ["PPF322"]),
        ({"house.yaml": "extends: [base.yaml]\n" + NONE, "base.yaml": K}, ["PPF322", "PPF322"]),
        ({"house.yaml": "floors: {privacy.k_anonymity.k: '>= 5'}\n"}, ["PPF308"]),
        ({"house.yaml": "privacy: {}\n"}, []),
        ({"house.yaml": NONE}, []),
    ],
)
def test_what_a_template_requires_is_not_escaped(read, codes, files, found):
    loaded = read(f"extends: [house.yaml]\n{TABLE}{NONE}{RELEASE}", files)
    assert codes(loaded) == found
    kept = loaded.policy.privacy.entries("k_anonymity") if loaded.policy else {}
    assert bool(kept) == ("PPF322" in found)


@pytest.mark.parametrize("extends", ["[a.yaml, b.yaml]", "[b.yaml, a.yaml]"])
def test_requirements_of_one_template_hold_against_none_of_another(read, extends):
    loaded = read(f"extends: {extends}\n{TABLE}{RELEASE}", {"a.yaml": NONE, "b.yaml": K})
    assert not loaded.diagnostics
    assert not loaded.policy.privacy.says_none
    assert list(loaded.policy.privacy.entries("k_anonymity")) == [""]


def test_a_policy_may_require_more_than_a_template_without_requirements(read):
    loaded = read(f"extends: [a.yaml]\n{TABLE}{K}{RELEASE}", {"a.yaml": NONE})
    assert not loaded.diagnostics
    assert not loaded.policy.privacy.is_empty


@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [(NONE, "", "equal"), ("", NONE, "equal"), (NONE, K, "stricter"), (K, NONE, "weaker"), (NONE, NONE, "equal")],
)
def test_order(read, old, new, relation):
    before, after = (read(TABLE + privacy + RELEASE) for privacy in (old, new))
    assert compare(before, after).relation.value == relation


TWO = "releases: {r: {path: r.csv, audience: AUDIENCE}, s: {path: s.csv}}\n"
QI = TABLE.replace("insensitive", "quasi_identifier")


@pytest.mark.parametrize(
    ("clause", "audience", "severities"),
    [
        ("{k: 5, releases: [s]}", "public", [Severity.ERROR]),
        ("{k: 5, releases: [s]}", "internal", [Severity.WARNING]),
        ("{k: 5, releases: [r, s]}", "public", []),
        ("{k: 5}", "public", []),
        ("[{name: a, k: 5, releases: [s]}, {name: b, k: 9, releases: [r]}]", "public", []),
    ],
)
def test_each_release_needs_a_requirement(read, clause, audience, severities):
    read(f"{QI}privacy: {{k_anonymity: {clause}}}\n{TWO.replace('AUDIENCE', audience)}")
    outcome = api.check(["p.yaml"])
    assert nothing_required(outcome) == severities
    assert outcome.without_requirements == len(severities)
    assert outcome.passes() is (Severity.ERROR not in severities)
    assert not (severities and outcome.passes(strict=True))


def test_a_release_without_requirements_is_an_error_below_a_project_file(read):
    read(f"{QI}privacy: {{k_anonymity: {{k: 5, releases: [s]}}}}\n{TWO.replace('AUDIENCE', 'internal')}")
    Path("ppdm-flow.yaml").write_text("policies: [p.yaml]\n", "utf-8")
    assert nothing_required(api.check(["p.yaml"])) == [Severity.ERROR]
