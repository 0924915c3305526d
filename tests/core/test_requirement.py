"""A requirement is an entry of a policy and its place; nobody who is lent one can change what it says."""

from __future__ import annotations

import pickle

import pytest
from pydantic import ValidationError

from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.mining.populations.population import PopulationFile
from ppdm_flow.policy.language.kinds import built_in, spec_of
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.requirements.templates.requirement import InferenceTemplate

TEMPLATE = InferenceTemplate.model_validate(
    {"channel": ["job"], "sensitive": {"illness": ["HIV"]}, "confidence": "0.5"}
)
MAPS = {
    "sensitive of a template": TEMPLATE.sensitive,
    "sensitive of LKC": LKC.model_validate({"l": 1, "k": 2, "sensitive": {"illness": ["HIV"]}, "c": 0.5}).sensitive,
    "no sensitive values": LKC.model_validate({"l": 1, "k": 2}).sensitive,
    "present names": by_attribute([("illness", "HIV")]),
    "bounds of values": Sensitivity.model_validate({"values": {"HIV": {"r1": 0.1, "r2": 0.2}}}).values,
    "groups of values": Sensitivity.model_validate({}).groups,
    "supports by length": ItemsetBreach.model_validate({"level": 0.5}).max_supports_by_length,
    "columns of a population": PopulationFile(path="people.csv", columns={"town": "TOWN"}).columns,
}


@pytest.mark.parametrize("name", MAPS)
def test_its_maps_cannot_be_changed(name):
    before = dict(MAPS[name])
    for change in (
        lambda held: held.clear(),
        lambda held: held.update(illness=()),
        lambda held: held.pop("illness", None),
        lambda held: held.popitem(),
        lambda held: held.setdefault("other", ()),
        lambda held: held.__setitem__("illness", ()),
        lambda held: held.__delitem__("illness"),
        lambda held: held.__ior__({"illness": ()}),
    ):
        with pytest.raises(TypeError, match="cannot be changed"):
            change(MAPS[name])
    assert dict(MAPS[name]) == before


@pytest.mark.parametrize("name", ["k", "releases", "id", "span"])
def test_its_fields_cannot_be_set(name):
    requirement = KAnonymity.of("privacy.k_anonymity", k=5, attributes=("town",))
    with pytest.raises((ValidationError, AttributeError)):
        setattr(requirement, name, None)


def test_another_one_leaves_it_as_it_was():
    requirement = KAnonymity.of("privacy.k_anonymity", k=5, attributes=("town",))
    other = requirement.changed(k=2)
    assert (requirement.k, other.k, other.id) == (5, 2, "privacy.k_anonymity")
    assert requirement != other
    assert requirement == other.changed(k=5)


def test_where_it_stands_is_part_of_it():
    one = KAnonymity.of("privacy.k_anonymity", k=5, attributes=("town",))
    assert one != KAnonymity.of("privacy.k_anonymity.partner", k=5, attributes=("town",))
    assert hash(TEMPLATE) == hash(TEMPLATE.changed(confidence=0.5))


def test_it_travels_to_other_processes():
    placed = TEMPLATE.placed(TEMPLATE.of("privacy.templates.t", "t")._place)
    again = pickle.loads(pickle.dumps(placed))
    assert again == placed
    assert (again.id, again.name, again.pairs) == ("privacy.templates.t", "t", (("illness", "HIV"),))


@pytest.mark.parametrize("key", ["id", "name", "span", "attribute", "_place", "place", "domain"])
def test_no_entry_can_say_where_it_stands(key):
    for spec in built_in():
        known = {info.alias or name for name, info in spec.requirement.model_fields.items()}
        if key in known or not spec.written:
            continue
        with pytest.raises(ValidationError) as refused:
            spec.requirement.model_validate({key: "elsewhere"})
        assert (key,) in {error["loc"] for error in refused.value.errors() if error["type"] == "extra_forbidden"}


def test_only_what_a_policy_cannot_ask_for_has_no_entry():
    assert [spec.name for spec in built_in() if not spec.written] == ["first_draw"]
    assert spec_of("k_anonymity").written


def test_under_another_name_its_declared_domain_stays():
    """What a step before renamed is randomized over the declared domain, not over the values that happen to occur."""
    requirement = Sensitivity.of_bounds("illness", domain=("HIV", "flu", "none"))
    renamed = requirement.renamed({"illness": "diagnosis"}.get)
    assert (renamed.attribute, renamed.domain, renamed.id) == ("diagnosis", requirement.domain, requirement.id)
    assert requirement.renamed({}.get) is None
