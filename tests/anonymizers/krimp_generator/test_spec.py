"""What a plan learns of the generator, and the faults that it draws."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from ppdm_flow.core.attributes import AttributeFacts, Change, HierarchySpec
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.supports import SupportBound
from ppdm_flow.plan.flow import Attributes
from ppdm_flow.requirements.anonymity_score.requirement import AnonymityScore
from ppdm_flow.requirements.blend.requirement import Blend
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Scope

SPEC = registry.load("anonymizers", "krimp_generator")
FACTS = {
    "id": AttributeFacts("id", Role.IDENTIFIER),
    "age": AttributeFacts(
        "age", Role.QUASI_IDENTIFIER, AttributeType.INTEGER, hierarchy=HierarchySpec(intervals=(0, 50, 99))
    ),
    "job": AttributeFacts("job", Role.QUASI_IDENTIFIER),
    "ill": AttributeFacts("ill", Role.SENSITIVE),
}
BLEND = Blend.of("privacy.blend", min_support=SupportBound(count=5))


def effect(params, requirements=(), facts=FACTS):
    return SPEC.effect(SPEC.params.model_validate(params), Scope("s", facts, requirements))


def problems(params, requirements=(), facts=FACTS):
    return [(p.code, p.path) for p in effect(params, requirements, facts).problems]


def test_rows_are_new_and_identifiers_go_no_further():
    found = effect({})
    assert found.rows == "generated"
    assert found.changes == dict.fromkeys(("age", "job", "ill"), Change.GENERATED)
    assert found.drops == ("id",)
    assert found.needed == {"age", "job", "ill"}  # the identifier is not even read
    assert not found.holds_out
    assert effect({"holdout": "0.1"}).holds_out
    assert effect({"attributes": ["j*"]}).drops == ("id", "age", "ill")
    assert not found.problems


def test_what_it_serves_and_what_it_does_not_claim():
    both = (BLEND, AnonymityScore.of("privacy.anonymity_score", max=0.3))
    found = effect({}, both)
    assert found.serves == ("privacy.blend", "privacy.anonymity_score")
    assert found.guarantee.startswith("none")
    assert "fewer than 5 of its rows" in effect({"blend": "strict"}, both).guarantee


def test_supports_come_from_the_step_or_from_the_requirement():
    params = SPEC.params.model_validate
    assert params({}).support(()) == params({}).rare(()) == SupportBound(count=5)
    assert params({}).support((BLEND,)) == SupportBound(count=5)
    assert params({"min_support": "0.1"}).support((BLEND,)) == SupportBound(ratio=0.1)
    assert params({"min_support": {"count": "3"}}).rare((BLEND,)) == SupportBound(count=5)
    assert params({"min_support": "3"}).rare(()) == SupportBound(count=3)


def test_what_is_done_where_nothing_is_said():
    params = SPEC.params.model_validate
    assert params({}).closed
    assert params({"candidates": "closed"}).closed
    assert not params({"candidates": "all"}).closed
    assert not params({}).calibrates
    assert params({"calibrate": "true"}).calibrates
    assert params({"blend": "strict"}).calibrates
    assert not params({"blend": "strict", "calibrate": "false"}).calibrates


@pytest.mark.parametrize(
    ("params", "found"),
    [
        ({"attributes": ["jbo"]}, [("PPF606", ("attributes", "0"))]),
        ({"remove": [["job", "jbo"]]}, [("PPF606", ("remove", "0", "1"))]),
        ({"remove": [["job"]]}, [("PPF782", ("remove", "0"))]),
        ({"remove": [{"job": "nurse"}]}, [("PPF782", ("remove", "0"))]),
        ({"remove": [{"jbo": "nurse", "ill": ["flu"]}]}, [("PPF606", ("remove", "0", "jbo"))]),
        ({"remove": [["job", "ill"]], "attributes": ["job", "age"]}, [("PPF782", ("remove", "0"))]),
        ({"algorithm": "slim", "candidates": "all"}, [("PPF782", ("candidates",))]),
        ({"algorithm": "slim", "remove": [["job", "ill"]]}, [("PPF782", ("remove",))]),
        ({"draw": "empirical", "attributes": ["job"]}, [("PPF780", ("draw",))]),
        ({"blend": "strict", "min_support": "1"}, [("PPF780", ("blend",))]),
        ({"blend": "strict"}, []),
        ({"draw": "empirical"}, []),
        ({"remove": [["job", "ill"], {"age": ["[0, 50)"], "job": "nurse"}]}, []),
    ],
)
def test_faults(params, found):
    assert problems(params) == found


def test_sets_of_items_and_nothing_at_all():
    basket = {**FACTS, "basket": AttributeFacts("basket", Role.ITEMS)}
    assert problems({}, facts=basket) == [("PPF573", ())]
    assert problems({"attributes": ["job"]}, facts=basket) == []
    assert problems({}, facts={"id": FACTS["id"]}) == [("PPF780", ())]


@pytest.mark.parametrize(
    "params",
    [
        {"laplace": "-1"},
        {"laplace": "inf"},
        {"rows": "0"},
        {"rows": "some"},
        {"holdout": "1"},
        {"holdout": "0"},
        {"min_support": "0"},
        {"min_support": {"count": "1", "ratio": "0.1"}},
        {"draw": "normal"},
        {"attributes": []},
    ],
)
def test_what_is_no_parameter(params):
    with pytest.raises(ValidationError):
        SPEC.params.model_validate(params)


def test_patterns_stand_for_columns_that_are_not_read_yet():
    facts = Attributes({"v*": AttributeFacts("v*", Role.INSENSITIVE)})
    assert effect({}, facts=facts).changes == {"v*": Change.GENERATED}
    assert problems({"attributes": ["v1", "v2"], "remove": [["v1", "v2"]]}, facts=facts) == []
