"""What a report explains: figures, by the card of the plugin that the plan names; and terms, by a pattern."""

from __future__ import annotations

import re

import pytest

from ppdm_flow import api
from ppdm_flow.core.pages import read
from ppdm_flow.plan.meanings import Meanings
from ppdm_flow.report.run.page import DIGEST, PAGE, RANDOMNESS, glossary
from ppdm_flow.sdk import registry

EMPTY = {"requirements": [], "gates": [], "metrics": {}, "steps": [], "findings": [], "run": {}, "releases": []}
PLAN = {
    "steps": [{"name": "coarser", "use": "full_domain_recoding"}, {"name": "gone", "use": "not_installed"}],
    "audits": [
        {"name": "k_anonymity", "use": "k_anonymity", "requirements": ["privacy.k_anonymity"]},
        {"name": "voters", "use": "linkage", "requirements": []},
    ],
    "releases": [{"name": "study"}],
}


@pytest.mark.parametrize(
    ("metric", "group", "use", "figure"),
    [
        ("coarser.age.level", "anonymizers", "full_domain_recoding", "level"),
        ("study/privacy.k_anonymity.k", "audits", "k_anonymity", "k"),
        ("privacy.k_anonymity.classes", "audits", "k_anonymity", "classes"),
        ("voters.disease.learned", "audits", "linkage", "learned"),
    ],
)
def test_a_figure_is_told_by_the_card_of_its_owner(metric, group, use, figure):
    told = registry.load(group, use).info.figures[figure]
    assert Meanings.of(PLAN).of_figure(metric).split("\n") == [t for t in (told.what, told.formula) if t]


@pytest.mark.parametrize("metric", ["gone.k", "other.k", "other/voters.linked", "voters.unheard", "voters", ""])
def test_nothing_is_said_of_what_is_not_known(metric):
    assert Meanings.of(PLAN).of_figure(metric) == ""


def test_a_plan_may_be_empty():
    assert Meanings.of({}).of_figure("voters.linked") == ""


def test_the_page_has_them(tmp_path, root):
    run = api.run(root / "pipelines/bank_credit.yaml", out=tmp_path)
    (page,) = tmp_path.rglob("report.html")
    rows = page.read_text().split('<section id="figures"')[1].split("</section>")[0].count('<th scope="row"')
    told = page.read_text().split('<section id="figures"')[1].split("</section>")[0].count('<th scope="row" title="')
    assert rows == told == len(run.report.metrics)


def test_each_term_has_a_text_and_a_pattern():
    page = read(PAGE)
    patterns = page.entry("patterns")
    assert list(page.sections) == ["", *patterns, RANDOMNESS, DIGEST]
    assert page.sections[""] == ""
    for term, pattern in patterns.items():
        assert page.section(term).endswith((".", "`"))
        re.compile(pattern)


def test_only_terms_that_a_report_uses_are_explained():
    assert [term for term, _ in glossary(EMPTY)] == ["Released, withheld"]
    told = glossary({**EMPTY, "requirements": [{"id": "privacy.blend"}], "run": {"mode": "sealed"}})
    assert [term for term, _ in told] == ["Released, withheld", "Requirement", "Support", "Blend", RANDOMNESS]
    digest = {"digest": "0" * 64}
    assert [term for term, _ in glossary({**EMPTY, "releases": [digest]})] == ["Released, withheld", DIGEST]
