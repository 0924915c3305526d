"""The requirement on sets of items in a policy, in a plan, and in its document."""

from __future__ import annotations

import json
from functools import partial

import jsonschema
import pytest

from ppdm_flow.plan.document import document
from ppdm_flow.plan.pictures.wording import demand
from ppdm_flow.plan.schemas import schema
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach

HEAD = """version: 1
name: shop
source: {path: shop.parquet}
attributes:
  town: {role: insensitive}
  basket: {role: items}
"""
BREACH = "privacy: {itemset_breach: {level: 0.4, sizes: [2, 1], MORE}}\n"
STEP = "steps: {randomize: {use: randomize_transactions}}\n"
RELEASE = "releases: {r: {path: r.parquet}}\n"


@pytest.fixture
def compiled(compiled):
    return partial(compiled, head="")


@pytest.fixture
def every(compiled):
    """The codes of all diagnostics, sorted."""
    return lambda *args, **how: sorted(d.code for d in compiled(*args, **how).diagnostics)


def text(more: str = "pool: 500", step: str = STEP, head: str = HEAD) -> str:
    return head + BREACH.replace("MORE", more) + step + RELEASE


def test_a_requirement_with_its_place(compiled):
    more = "max_supports: [0.3, 0.1], max_supports_by_length: {10: [0.35], 2: [0.2, 0.1]}"
    plan = compiled(text(more), columns=("town", "basket")).plan
    (found,) = plan.requirements
    by_length = {"2": (0.2, 0.1), "10": (0.35,)}
    assert found == ItemsetBreach.of(
        "privacy.itemset_breach",
        attribute="basket",
        level=0.4,
        sizes=(1, 2),
        max_supports=(0.3, 0.1),
        max_supports_by_length=by_length,
        pool=1000,
    )
    assert found.span is not None
    assert (found.declared(2), found.declared(3), found.declared(10)) == ((0.2, 0.1), (0.3, 0.1), (0.35,))
    written = document(plan)
    assert written["requirements"][0]["max_supports_by_length"] == {"2": [0.2, 0.1], "10": [0.35]}
    jsonschema.Draft7Validator(schema()).validate(json.loads(json.dumps(written)))
    assert demand(written["requirements"][0]) == "posterior of an item of basket ≤ 0.4"


def test_it_is_served_measured_and_warned_of(compiled, every):
    plan = compiled(text(), columns=("town", "basket")).plan
    assert plan.steps[0].effect.serves == ("privacy.itemset_breach",)
    assert "itemset_breach" in {a.name for a in plan.audits}
    assert "perturbation_utility" not in {a.name for a in plan.audits}
    jsonschema.Draft7Validator(schema()).validate(json.loads(json.dumps(document(plan))))
    assert every(text()) == []
    assert every(text(step="")) == ["PPF553", "PPF564"]


def test_which_sets_are_meant(every):
    two = HEAD + "  other: {role: items}\n"
    assert "PPF575" in every(text(head=two))
    assert "PPF575" not in every(text("attribute: basket", head=two))
    assert "PPF500" in every(text("attribute: baskets"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("level: 0.4", "level: 1"),
        ("level: 0.4", "level: 0"),
        ("pool: 500", "pool: 0"),
        ("pool: 500", "max_supports: [0]"),
        ("pool: 500", "max_supports: [1.5]"),
        ("pool: 500", "max_supports: []"),
        ("pool: 500", "max_supports_by_length: {0: [0.1]}"),
        ("pool: 500", "max_supports_by_length: {2: []}"),
        ("sizes: [2, 1]", "sizes: [5]"),
        ("sizes: [2, 1]", "sizes: []"),
    ],
)
def test_numbers_that_are_none(every, before, after):
    assert [c for c in every(text().replace(before, after)) if "PPF200" <= c < "PPF210"]


def test_a_floor_on_the_level(every):
    floor = 'floors: {privacy.itemset_breach.level: "<= 0.5"}\n'
    assert every(floor + text()) == []
    assert every(floor + text().replace("level: 0.4", "level: 0.6"))
