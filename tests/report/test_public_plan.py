"""The plan in a public report is enough to say in words what was required."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppdm_flow import api
from ppdm_flow.core.pages import pages
from ppdm_flow.plan.document import document
from ppdm_flow.plan.pictures.wording import demand
from ppdm_flow.report.run.public import public

ROOT = Path(__file__).parents[2]
POLICIES = sorted(ROOT.glob("pipelines/*.yaml"))


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.stem)
def test_what_was_required_is_said_in_the_same_words_to_the_public(policy: Path):
    plan = document(api.plan(policy).plan)
    told = public({**_EMPTY, "plan": plan})["plan"]
    assert [demand(each) for each in told["requirements"]] == [demand(each) for each in plan["requirements"]]


def test_a_finding_of_a_code_that_was_merged_is_told_by_its_title_of_today():
    finding = {"code": "PPF793", "severity": "warning", "text": "of the data", "subject": "disease=flu"}
    (told,) = public({**_EMPTY, "plan": document(api.plan(POLICIES[0]).plan), "findings": [finding]})["findings"]
    assert (told["code"], told["text"]) == ("PPF741", pages()["PPF741"].title)


_EMPTY = {
    "version": 1,
    "audience": "internal",
    "policy": "a",
    "verdict": "withheld",
    "requirements": [],
    "gates": [],
    "metrics": {},
    "findings": [],
    "releases": {},
    "run": {},
}
