"""What a public report tells of its plan is enough to say in words what was required."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppdm_flow import api
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
