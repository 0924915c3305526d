"""The JSON Schema (draft-07) of a plan's document: its fields, and the kinds of requirements."""

from __future__ import annotations

from typing import Any

from ppdm_flow.core.documents import json_schema
from ppdm_flow.plan.fields import PlanDocument
from ppdm_flow.policy.language.kinds import RequirementSpec, built_in

_Schema = dict[str, Any]
_RELEASES = {"type": "array", "description": "The releases that it is about.", "items": {"type": "string"}}
_ID: _Schema = {"type": "string", "description": "Place in the policy."}


def schema() -> _Schema:
    """Return the schema of the plan document, version 1, with a definition of each built-in kind of requirement.

    Of kinds of other packages it says what all requirements have.
    """
    derived = json_schema("plan", PlanDocument)
    definitions: _Schema = dict(derived["definitions"])
    kinds = [*(_kind(spec, definitions) for spec in built_in()), _of_other_packages()]
    derived["properties"]["requirements"]["items"] = {"$ref": "#/definitions/requirement"}
    return {**derived, "definitions": {**definitions, "requirement": {"oneOf": kinds}}}


def _of_other_packages() -> _Schema:
    return {
        "type": "object",
        "properties": {"id": _ID, "kind": {"type": "string", "not": {"enum": [spec.name for spec in built_in()]}}},
        "required": ["id", "kind"],
        "additionalProperties": True,
    }


def _kind(spec: RequirementSpec, definitions: _Schema) -> _Schema:
    """Return the schema of a kind's requirement, and add the definitions that its fields refer to."""
    fields = json_schema("requirement", spec.requirement.document_type())
    definitions.update(fields.get("definitions", {}))
    head = {"id": _ID, "kind": {"const": spec.name}}
    return {
        "type": "object",
        "properties": {**head, "releases": _RELEASES, **fields["properties"]},
        "required": [*head, *fields.get("required", ())],
        "additionalProperties": False,
    }
