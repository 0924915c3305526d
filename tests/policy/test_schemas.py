"""The published schema: in step with the models, and of one mind with the reader."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from ppdm_flow.core.pages import MalformedPageError, parsed, read
from ppdm_flow.policy.language.kinds import built_in
from ppdm_flow.policy.language.schemas import POLICY, TESTS, described, descriptions, schema
from ppdm_flow.policy.language.shape import FixedKeys, Key, ListOf, MapOf, Shape, policy_model, shape_of

FILE = Path(__file__).resolve().parents[2] / "schemas" / "policy.v1.json"


def models(shape: Shape) -> dict[str, Key]:
    """Return the keys of all maps, by model and name."""
    if isinstance(shape, FixedKeys):
        here = {f"{shape.model.__name__}.{name}": key for name, key in shape.keys.items()}
        return here | {name: key for each in shape.keys.values() for name, key in models(each.shape).items()}
    if isinstance(shape, ListOf):
        return models(shape.item)
    return models(shape.value) if isinstance(shape, MapOf) else {}


def test_the_file_is_in_step() -> None:
    assert FILE.read_text(encoding="utf-8") == json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def test_it_is_a_draft_7_schema() -> None:
    jsonschema.Draft7Validator.check_schema(schema())
    assert schema()["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert schema()["$id"].endswith("/policy.v1.json")


def test_every_key_is_described_by_its_field_or_else_by_the_page() -> None:
    keys = models(shape_of(policy_model()))
    described_by_field = {name for name, key in keys.items() if key.description}
    assert {"KAnonymity.k", "PopulationFile.path", "ValueGroup.r1"} <= described_by_field
    described_by_page_of_kind = {f"Privacy.{spec.name}" for spec in built_in() if spec.written}
    assert set(descriptions(POLICY)) == keys.keys() - described_by_field - described_by_page_of_kind


def test_every_object_is_closed() -> None:
    for name, definition in schema()["definitions"].items():
        if definition.get("type") == "object":
            assert definition["additionalProperties"] is False, name


def test_examples_satisfy_their_own_key() -> None:
    whole = schema()
    for name, definition in whole["definitions"].items():
        for key, about in definition.get("properties", {}).items():
            assert about["description"], (name, key)
            assert about["markdownDescription"], (name, key)
            part = {**about, "definitions": whole["definitions"]}
            for example in about["examples"]:
                jsonschema.Draft7Validator(part).validate(example)


WHOLE = {
    "version": 1,
    "name": "a",
    "attributes": {"x": {"role": "sensitive"}},
    "releases": {"r": {"path": "a.csv"}},
}


@pytest.mark.parametrize(
    ("change", "good"),
    [
        ({}, True),
        ({"version": "1"}, True),
        ({"version": 2}, False),
        ({"unknown": 1}, False),
        ({"privacy": {"k_anonymity": {"k": 5}}}, True),
        ({"privacy": {"k_anonymity": {"k": "5"}}}, True),
        ({"privacy": {"k_anonymity": {"k": "${params.k}"}}}, True),
        ({"privacy": {"k_anonymity": {"k": "${k}"}}}, False),
        ({"privacy": {"k_anonymity": {"k": 1}}}, False),
        ({"privacy": {"k_anonymity": {"k": 2.5}}}, False),
        ({"privacy": {"k_anonymity": None}}, False),
        ({"privacy": {"k_anonymity": None}, "extends": "x.yaml"}, True),
        ({"releases": None, "extends": ["x.yaml"]}, True),
        ({"attributes": {"x": {"type": "integer"}}}, False),
        ({"attributes": {"x": {"type": "integer"}}, "extends": [{"template": "x.yaml", "with": {"k": 5}}]}, True),
        ({"attributes": {"x": {"roel": "integer"}}, "extends": "x.yaml"}, False),
        ({"extends": [{"with": {"k": 5}}]}, False),
        ({"steps": {"1x": {"use": "drop"}}}, False),
        ({"steps": {"${params.name}": {"use": "drop", "with": {"any": ["thing"]}}}}, True),
        ({"releases": {"r": {"path": "a", "shuffle": True}}}, True),
        ({"releases": {"r": {"path": "a", "shuffle": "no"}}}, False),
        ({"releases": {"r": {"path": "a", "collapse": "count"}}}, True),
        ({"releases": {"r": {"path": "a", "collapse": {"count": "rows"}}}}, True),
        ({"releases": {"r": {"path": "a", "collapse": "rows"}}}, False),
        ({"source": {"missing": ["?", "", 5, True]}}, True),
        ({"source": {"missing": [None]}}, False),
        ({"gates": {"g": {"metric": "a.b", "max": "nan"}}}, False),
    ],
)
def test_what_it_accepts(change: dict, good: bool) -> None:
    assert jsonschema.Draft7Validator(schema()).is_valid({**WHOLE, **change}) == good


def test_a_child_may_leave_out_what_it_inherits() -> None:
    assert jsonschema.Draft7Validator(schema()).is_valid({"extends": "x.yaml"})
    assert not jsonschema.Draft7Validator(schema()).is_valid({"name": "x"})


@pytest.mark.parametrize(
    ("section", "fault"),
    [
        ("```yaml\nk: 5\n```", "`Model.k` needs a sentence"),
        ("How many.", "`Model.k` needs a sentence"),
        ("How many.\n\n```yaml\nl: 5\n```", "must say what `k` is"),
        ("How many.\n\n```yaml\n- k\n```", "must say what `k` is"),
    ],
)
def test_a_malformed_key_is_named(section: str, fault: str) -> None:
    with pytest.raises(MalformedPageError, match=rf"^ppdm_flow/pages/keys/own\.md: .*{fault}"):
        described(parsed("keys/own", f"---\ntitle: keys\n---\n\n## Model.k\n\n{section}\n"))


def test_pages_on_keys_are_sections_of_keys_and_nothing_else() -> None:
    for name in (POLICY, TESTS):
        page = read(name)
        assert page.entry("title")
        assert page.sections[""] == ""
    owners = {full.partition(".")[0] for full in descriptions(POLICY)}
    assert set(read(POLICY).entry("places")) <= owners
