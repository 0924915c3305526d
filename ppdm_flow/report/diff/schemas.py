"""The JSON Schema (draft-07) of a comparison."""

from __future__ import annotations

from ppdm_flow.core.json_schema import Schema, list_of, of, record

IDENTITY = "https://ppdm-flow.example/schemas/diff.v1.json"


def schema() -> Schema:
    """Return the schema of a comparison's document, version 1."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": IDENTITY,
        "title": "A ppdm-flow comparison",
        "description": "What changed between two policies, two folders of them, or two runs.",
        **record(_top(), optional=("runs",)),
        "definitions": _definitions(),
    }


def _top() -> Schema:
    return {
        "version": {"const": 1, "description": "Version of this document's form."},
        "kind": {"enum": ["policies", "runs"], "description": "What was compared."},
        "pairs": list_of("pair", "Policies that are in both, in the order of their paths."),
        "added": _texts("Policies that only the new side has."),
        "removed": _texts("Policies that only the old side has."),
        "runs": of("outcomes"),
    }


def _definitions() -> Schema:
    return {
        "pair": record(_pair(), optional=("measured",)),
        "change": record(_change()),
        "side": record(_side(), optional=("file", "line", "column")),
        "outcomes": record(_outcomes()),
        "outcome": record({"name": _text("The policy or the run's directory."), "verdict": _verdict()}),
        "result": record(_result()),
        "judged": record(_judged(), optional=("interval",)),
        "metric": record(_metric()),
        "figure": record(_figure(), optional=("interval",)),
    }


def _pair() -> Schema:
    return {
        "old": _text("The old policy's file; `REVISION:PATH` for one of a git revision."),
        "new": _text("The new policy's file."),
        "relation": {
            "enum": ["equal", "stricter", "weaker", "incomparable"],
            "description": "`stricter`: every release that satisfies the new policy is proved to satisfy the old one.",
        },
        "changes": list_of("change", "Every clause that is not the same."),
        "governance": list_of(
            "change",
            "Changed floors; params that came, went, or take a value that weakens: no release depends on them yet.",
        ),
        "measured": of("outcomes"),
    }


def _change() -> Schema:
    return {
        "clause": _text("Path of the clause."),
        "verdict": {
            "enum": ["stronger", "weaker", "incomparable", "neutral"],
            "description": "What the new clause is, compared with the old policy.",
        },
        "why": _text("The rule that proves it, or what keeps the two from being compared."),
        "old": _or_null(of("side")),
        "new": _or_null(of("side")),
    }


def _side() -> Schema:
    return {
        "text": _text("The clause in one line."),
        "file": _text("The file that it stands in, which may be a template."),
        "line": _count("Line, from 1."),
        "column": _count("Column, from 1."),
    }


def _outcomes() -> Schema:
    return {
        "old": of("outcome"),
        "new": of("outcome"),
        "results": list_of("result", "Requirements and gates, as judged on each side."),
        "metrics": list_of("metric", "Every figure of either side, by name."),
        "findings": record(
            {"new": _texts("Findings of the new side only."), "gone": _texts("Findings of the old side only.")}
        ),
    }


def _result() -> Schema:
    return {
        "id": _text("Path of the requirement or gate."),
        "release": {"type": "string", "description": "The release that it was measured on."},
        "metric": _text("The figure that is bounded."),
        "old": _or_null(of("judged")),
        "new": _or_null(of("judged")),
    }


def _judged() -> Schema:
    return {
        "bound": {"type": "number"},
        "direction": {"enum": ["at_most", "at_least"]},
        "value": {"type": ["number", "null"], "description": "What was measured; null where there is no figure."},
        "holds": {"type": "boolean"},
        "interval": _interval(),
    }


def _metric() -> Schema:
    return {
        "name": _text("Full name of the figure."),
        "unit": {"type": "string"},
        "old": _or_null(of("figure")),
        "new": _or_null(of("figure")),
        "difference": {"type": ["number", "null"], "description": "New less old; null where one of them has none."},
    }


def _figure() -> Schema:
    return {"value": {"type": ["number", "null"]}, "interval": _interval()}


def _interval() -> Schema:
    return {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}


def _verdict() -> Schema:
    return {"enum": ["released", "withheld"]}


def _text(description: str) -> Schema:
    return {"type": "string", "minLength": 1, "description": description}


def _texts(description: str) -> Schema:
    return {"type": "array", "description": description, "items": {"type": "string"}}


def _count(description: str) -> Schema:
    return {"type": "integer", "minimum": 1, "description": description}


def _or_null(what: Schema) -> Schema:
    return {"anyOf": [what, {"type": "null"}]}
