"""Documents are TypedDicts; their published JSON Schemas (draft-07) are derived from these definitions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, PositiveInt, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import TypedDictSchema
from typing_extensions import TypedDict

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Day = Annotated[str, Field(json_schema_extra={"format": "date"})]
Text = Annotated[str, Field(min_length=1)]
Numbers = list[PositiveInt]
Interval = Annotated[list[float], Field(min_length=2, max_length=2)]


def about(description: str) -> Any:
    """Describe a field."""
    return Field(description=description)


def one_of(words: Iterable[str]) -> Any:
    """Narrow a text to these words."""
    return Field(json_schema_extra={"enum": list(words)})


Verdict = Annotated[str, one_of(("released", "withheld", "held"))]
Direction = Annotated[str, one_of(("at_least", "at_most"))]
Randomness = Annotated[str, one_of(("sealed", "reproducible"))]
Version = Annotated[Literal[1], about("Version of this document's form.")]


class WaiverDocument(TypedDict):
    """A waiver of the policy."""

    name: Annotated[str, about("Its name in the policy.")]
    of: Annotated[str, about("The id, code or hash of what is waived.")]
    at: NotRequired[Annotated[str, about("With a code: the place that it is waived at.")]]
    reason: Annotated[str, about("Why.")]
    owner: Annotated[str, about("Who answers for it.")]
    until: Annotated[Day, about("The last day that it counts on, UTC.")]
    signed_by: NotRequired[Annotated[str, about("The role that has to sign it before anything is released.")]]


def json_schema(name: str, document: Any) -> dict[str, Any]:
    """Return the schema of a document, version 1; title and description are the two parts of its docstring."""
    derived = TypeAdapter(document).json_schema(ref_template="#/definitions/{model}", schema_generator=_Draft7)
    title, _, description = derived.pop("description").partition("\n\n")
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": f"https://ppdm-flow.example/schemas/{name}.v1.json",
        "title": title.removesuffix("."),
        "description": description.replace("\n", " "),
        **{"definitions" if key == "$defs" else key: _wrap_references(value) for key, value in derived.items()},
    }


def _wrap_references(node: Any) -> Any:
    """Wrap each reference with keywords beside it: draft-07 ignores those."""
    if isinstance(node, list):
        return [_wrap_references(item) for item in node]
    if not isinstance(node, dict):
        return node
    wrapped = {key: _wrap_references(value) for key, value in node.items()}
    return {"allOf": [{"$ref": wrapped.pop("$ref")}], **wrapped} if "$ref" in wrapped and len(wrapped) > 1 else wrapped


class _Draft7(GenerateJsonSchema):
    """Writes closed objects, without titles made from names, in the order of their fields."""

    def typed_dict_schema(self, schema: TypedDictSchema) -> JsonSchemaValue:
        written = super().typed_dict_schema(schema)
        written.pop("title", None)
        return {**written, "additionalProperties": False}

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  # pydantic's signature
        return False

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:  # noqa: ARG002
        return value
