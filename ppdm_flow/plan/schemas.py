"""The JSON Schema (draft-07) of a plan's document: its fields, and the kinds of requirements."""

from __future__ import annotations

from typing import Any

from ppdm_flow.core.documents import json_schema
from ppdm_flow.core.json_schema import record, text
from ppdm_flow.core.roles import Directions
from ppdm_flow.plan.class_documents import ABSENT, OPTIONAL, class_schemas
from ppdm_flow.plan.fields import PlanDocument

_Schema = dict[str, Any]


def schema() -> _Schema:
    """Return the schema of the plan document, version 1, with a definition of each kind of requirement."""
    derived = json_schema("plan", PlanDocument)
    derived["properties"]["requirements"]["items"] = {"$ref": "#/definitions/requirement"}
    return {**derived, "definitions": {**derived["definitions"], "requirement": _requirement()}}


def _requirement() -> _Schema:
    head = {"id": text("Place in the policy."), "kind": {"type": "string"}}
    number = {"type": "number"}
    value = {
        "value": text("The value."),
        "r1": number,
        "r2": number,
        "given": text("What else is known of the people whom r1 is about."),
        "group": text("The group that the bound comes from."),
    }
    pair = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
    two = {"type": "array", "items": number, "minItems": 2, "maxItems": 2}
    kinds: dict[str, _Schema] = {
        "k_anonymity": {"k": {"type": "integer", "minimum": 2}, "attributes": _texts("What forms the classes.")},
        "templates": {
            "channel": _texts("The attributes that one may infer from."),
            "sensitive": {"type": "array", "description": "(attribute, value), not to be inferred.", "items": pair},
            "confidence": number | {"description": "The highest confidence of an inference."},
            "negated": {"type": "boolean", "description": "Whether the inference is to not having the value."},
            "min_support": {"type": "integer", "minimum": 2, "description": "The least rows in a group."},
            "values_absent": ABSENT,
        },
        "sensitivities": {
            "attribute": text("The sensitive attribute."),
            "directions": _choice(Directions, "Which breaches are forbidden."),
            "values": {
                "type": "array",
                "description": "(r1, r2) by value.",
                "items": record(value, optional=("given", "group")),
            },
            "tolerance": _or_null("number", "theta of other values: r1 = frequency, r2 = theta r1."),
            "default": {"description": "(r1, r2) of other values.", "anyOf": [two, {"type": "null"}]},
            "values_absent": ABSENT,
        },
    }
    kinds |= _generated()
    kinds["itemset_breach"] = _itemset_breach()
    kinds |= class_schemas()
    extra = {
        "templates": ("negated", "min_support", "values_absent"),
        "sensitivities": ("values_absent",),
        "itemset_breach": ("max_supports", "max_supports_by_length"),
        **OPTIONAL,
    }
    return {
        "oneOf": [record(head | {"kind": {"const": k}} | rest, extra.get(k, ())) for k, rest in kinds.items()],
    }


def _generated() -> dict[str, _Schema]:
    """The requirements on generated data."""
    share = {"type": "number", "minimum": 0, "maximum": 1}
    support = {
        "type": "object",
        "description": "Below it a row is rare: `count` rows, or a `ratio` of each table's.",
        "properties": {"count": {"type": "integer", "minimum": 1}, "ratio": share},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }
    return {
        "anonymity_score": {"max": share | {"description": "The highest Normalised Anonymity Score."}},
        "blend": {
            "min_support": support,
            "max": share | {"description": "The largest share of rare rows that are rare in the original."},
        },
    }


def _itemset_breach() -> _Schema:
    """The requirement on randomized transactions."""
    share = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
    shares = {"type": "array", "items": share, "minItems": 1}
    return {
        "attribute": text("The attribute with the sets."),
        "level": {"type": "number", "description": "The highest probability with which an item may be inferred."},
        "sizes": {"type": "array", "description": "How many items itemsets have.", "items": {"type": "integer"}},
        "pool": {"type": "integer", "minimum": 1, "description": "Lengths with fewer sets are judged together."},
        "max_supports": shares | {"description": "The largest supports of itemsets of 1, 2, … items."},
        "max_supports_by_length": {
            "type": "object",
            "description": "Others for sets of some lengths.",
            "additionalProperties": shares,
        },
    }


def _texts(description: str) -> _Schema:
    told = {"description": description} if description else {}
    return {"type": "array", **told, "items": {"type": "string"}}


def _or_null(kind: str, description: str) -> _Schema:
    return {"type": [kind, "null"], "description": description}


def _choice(words: Any, description: str) -> _Schema:
    return {"enum": [word.value for word in words], **({"description": description} if description else {})}
