"""The published schemas: written as code makes them, valid for draft-07, and closed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from ppdm_flow.api.documents import SCHEMAS, text_of

DERIVED = ("plan", "manifest", "report", "sweep", "mined", "diff", "lock", "ledger")
"""Those of documents that the program writes; the others are made from the language's models."""


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, list):
        for item in schema:
            yield from nodes(item)
    elif isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from nodes(value)


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize("name", SCHEMAS)
def test_it_is_published_and_a_draft_7_schema(name, root):
    schema = SCHEMAS[name]()
    assert (root / "schemas" / f"{name}.v1.json").read_text(encoding="utf-8") == text_of(name)
    jsonschema.Draft7Validator.check_schema(schema)
    assert (schema["$schema"], schema["$id"].rpartition("/")[2]) == (
        "http://json-schema.org/draft-07/schema#",
        f"{name}.v1.json",
    )
    assert schema["title"]
    assert schema["description"]


@pytest.mark.parametrize("name", DERIVED)
def test_every_object_is_closed_and_no_keyword_is_lost_beside_a_reference(name):
    schema = SCHEMAS[name]()
    for node in nodes(schema):
        if isinstance(node.get("properties"), dict) and node.get("type") == "object":
            of_other_packages = "not" in node["properties"].get("kind", {})  # requirements: nobody knows their fields
            assert node["additionalProperties"] is of_other_packages, node
        if isinstance(node.get("$ref"), str):
            assert list(node) == ["$ref"], node
