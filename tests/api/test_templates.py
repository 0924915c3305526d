"""Templates that are installed: listed with their distribution, and explained from their own text."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from ppdm_flow import __version__, api
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.errors import PolicyError, UsageError
from ppdm_flow.engine.steps import graph
from ppdm_flow.policy.inheritance.references import built_ins

HOSPITAL = """\
# yaml-language-server: $schema=template.v1.json
# What holds in our | hospitals.
#
# Ask the office before you lower anything.
version: 1
description: Patients of our hospitals
extends: builtin:microdata-k
params:
  k: {default: 12}
  ward: {help: "a | b", choices: [inner, outer]}
floors:
  privacy.k_anonymity.k: ">= 11"   # a decree
  nulls: >-
    is own_category
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A package of templates, installed as a package manager leaves it."""
    package = tmp_path / "acme_policies"
    package.mkdir()
    (package / "hospital.yaml").write_text(HOSPITAL)
    info = tmp_path / "acme_policies-1.4.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-policies\nVersion: 1.4.2\n")
    (info / "entry_points.txt").write_text(
        "[ppdm_flow.templates]\nhospital = acme_policies\nmissing = acme_policies\nbroken = acme_policies\n"
    )
    (package / "broken.yaml").write_text("{a\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_built_in_ones_are_listed():
    cards = {card.name: card for card in api.plugins("templates")}
    assert {f"builtin:{name}" for name in built_ins()} <= set(cards)
    for card in cards.values():
        assert card.kind == "template"
        assert card.summary
        assert not card.fault
        assert card.distribution == f"ppdm_flow {__version__}"


def test_installed_ones_are_listed_with_their_version(site):
    cards = {card.name: card for card in api.plugins("templates")}
    assert cards["pkg:acme-policies/hospital"].distribution == "acme-policies 1.4.2"
    assert cards["pkg:acme-policies/hospital"].summary == "Patients of our hospitals"
    assert "does not hold it" in cards["pkg:acme-policies/missing"].fault
    assert cards["pkg:acme-policies/broken"].fault
    json.dumps([card.document for card in cards.values()])


def test_an_installed_one_is_explained(site):
    page = api.explain("pkg:acme-policies/hospital")
    assert page.startswith(
        "# pkg:acme-policies/hospital: template of acme-policies 1.4.2\n\nPatients of our hospitals."
    )
    assert "It extends `builtin:microdata-k`." in page
    assert "What holds in our | hospitals." in page
    assert "yaml-language-server" not in page
    assert "| `k` | integer | `12` | from 3 | rows that look alike" in page
    assert "| `recoding` |" in page  # what it inherits counts as well
    assert "| `ward` | text | **required** | one of `inner`, `outer` | a \\| b |" in page
    assert "| `privacy.k_anonymity.k` | `>= 11` | a decree |" in page
    assert "(`builtin:microdata-k`)" in page
    assert page.count("privacy.k_anonymity.k`") == 2
    for line in page.splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) in (4, 6)


@pytest.mark.parametrize("name", ["builtin:nothing", "pkg:acme-policies/nothing", "pkg:nobody/x", "pkg:", "pkg:../x"])
def test_what_is_not_there_is_said(site, name):
    with pytest.raises(UsageError) as caught:
        api.explain(name)
    assert caught.value.diagnostics[0].code in ("PPF301", "PPF312")


def test_one_that_cannot_be_read_is_said(site):
    with pytest.raises(UsageError) as caught:
        api.explain("pkg:acme-policies/broken")
    assert caught.value.diagnostics[0].code == "PPF104"


@pytest.mark.parametrize("name", sorted(built_ins()))
def test_a_built_in_one_is_explained_whole(name):
    page = api.explain(f"builtin:{name}")
    assert page == api.explain(name)  # the prefix may be left out
    assert page.startswith(f"# builtin:{name}: template of ppdm_flow {__version__}")
    heads = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert heads == ["Params", "Floors", "The template itself"]
    text = built_ins()[name].read_text()
    assert text[text.index("\nversion: 1") :].strip() in page
    assert f"template: builtin:{name}" in page  # the example


def test_templates_are_among_the_topics():
    assert "`builtin:microdata-k`" in api.topics()


def test_a_list_that_there_is_not():
    with pytest.raises(UsageError) as caught:
        api.plugins("tempaltes")
    assert caught.value.diagnostics[0].hint == "did you mean `templates`?"


def test_the_verb_lists_them(cli):
    done = cli("list", "templates", "--format", "json")
    assert {card["name"] for card in json.loads(done.stdout)} >= {f"builtin:{name}" for name in built_ins()}


ROLLS = """version: 1
name: clinic
extends: [{{template: builtin:modified-k-anonymity, with: {{people: [age, phone], sensitive: illness}}}}]
source: {{path: clinic.csv}}
attributes:
  roll: {{role: {role}}}
  age: {{role: quasi_identifier, type: integer}}
  phone: {{role: quasi_identifier}}
  illness: {{role: sensitive}}
steps:
  cover: {{with: {{attributes: {{phone: {{first: 3}}}}}}}}
  normalize: {{with: {{attributes: {{age: {{ranges: {{young: [0, 40], old: [40, 130]}}}}}}}}}}
  encode: {{input: classes, use: genetic_encode, with: {{attribute: roll}}}}
audits:
  ids: {{use: id_recovery, release: register, with: {{attribute: roll}}}}
releases:
  register: {{from: encode, path: register.csv, audience: internal}}
"""


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    """Four hundred people with a number of 12 bits each, and a way to run their policy with a role for it.

    The template asks for a sealed key, and one shuffle of a thousand looks ordered: here all have one key.
    """
    monkeypatch.setattr(graph, "secrets", SimpleNamespace(token_bytes=bytes))
    rng = np.random.default_rng(3)
    ids, ages = rng.permutation(4096)[:400], rng.integers(20, 70, 400)
    phones, ill = rng.integers(98_100_000, 98_103_999, 400), rng.choice(["flu", "asthma", "gout", "angina"], 400)
    rows = [",".join(map(str, row)) for row in zip(ids, ages, phones, ill, strict=True)]
    (tmp_path / "clinic.csv").write_text("\n".join(["roll,age,phone,illness", *rows]))

    def run(role):
        (tmp_path / "policy.yaml").write_text(ROLLS.format(role=role))
        return api.run(tmp_path / "policy.yaml", out=tmp_path / "runs")

    return run


@pytest.mark.slow
def test_the_modified_model_as_a_whole(clinic):
    run = clinic("insensitive")
    assert run.released
    report = json.loads((run.run_dir / "report.json").read_text())
    figures = {name: figure["value"] for name, figure in report["metrics"].items()}
    assert figures["people/together.rows_alone"] == 0
    assert figures["sensitive/alike.certain"] == 0
    assert figures["sensitive/informed.certain"] == 0
    assert figures["people/order.p_value"] > 0.001
    assert figures["register/ids.recovered_ids"] < 0.05  # the file is shuffled; in its order every id comes back
    people = (run.run_dir / "released/people/people.csv").read_text().splitlines()
    assert people[0] == "class_id,age,phone"
    assert {line.split(",", 1)[1] for line in people[1:]} <= {f"{a},981*****" for a in ("young", "old")}


THIRD = """steps:
  cover: {with: {attributes: {phone: {first: 2}}}}
  normalize: {with: {attributes: {age: {ranges: {any: [0, 130]}}}}}
  fine: {use: recode, input: cover, with: {attributes: {age: {ranges: {young: [0, 40], old: [40, 130]}}}}}
  nameless: {use: drop, input: fine, with: {attributes: [roll]}}
releases:
  third: {from: nameless, path: third.csv}
"""


@pytest.mark.parametrize(("more", "released"), [(THIRD, False), (THIRD.partition("releases")[0], True)])
def test_a_third_release_is_held_to_the_posterior(tmp_path, monkeypatch, more, released):
    """Three values in each age group, one of which nearly all have: only in both groups together it is rare enough."""
    monkeypatch.setattr(graph, "secrets", SimpleNamespace(token_bytes=bytes))
    common = [("flu", "gout", "angina"), ("gout", "flu", "angina")]
    rows = [
        f"{n},{20 + 30 * (n % 2)},98{n:06d},{common[n % 2][0 if n % 24 > 3 else 1 + n % 24 // 2]}" for n in range(400)
    ]
    (tmp_path / "clinic.csv").write_text("\n".join(["roll,age,phone,illness", *rows]))
    head = ROLLS.format(role="identifier").partition("steps:")[0]
    (tmp_path / "policy.yaml").write_text(
        head.replace("sensitive: illness", "sensitive: illness, posterior: 0.6") + more
    )
    assert api.run(tmp_path / "policy.yaml", out=tmp_path / "runs").released is released


def test_an_encoded_identifier_is_still_one(clinic):
    with pytest.raises(PolicyError) as caught:
        clinic("identifier")
    assert [each.code for each in caught.value.diagnostics if each.severity is Severity.ERROR] == ["PPF550"]
