"""The JSON Schema (draft-07) of ``sweep.json``."""

from __future__ import annotations

from ppdm_flow.core.json_schema import Schema, list_of, of, record, text

IDENTITY = "https://ppdm-flow.example/schemas/sweep.v1.json"


def schema() -> Schema:
    """Return the schema of a sweep's document, version 1."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": IDENTITY,
        "title": "A ppdm-flow sweep",
        "description": "One policy, measured at many values of its parameters: figures only, no data was released.",
        **record(_top()),
        "definitions": _definitions(),
    }


def _top() -> Schema:
    return {
        "version": {"const": 1, "description": "Version of this document's form."},
        "policy": text("Name of the release policy."),
        "over": list_of("axis", "What was varied; the points are all combinations of the values."),
        "metrics": list_of("metric", "The figures that were looked at."),
        "points": list_of("point", "The points, the last axis varying fastest."),
        "run": record(
            {
                "started": text("When, as ISO 8601."),
                "finished": text("When, as ISO 8601."),
                "seconds": _number("How long it took."),
                "repeat": _count("How often each point was run."),
                "workers": _count("How many runs were carried out at once."),
                "randomness": {"enum": ["sealed", "reproducible"], "description": "Mode of the policy's randomness."},
                "versions": {"type": "object", "additionalProperties": {"type": "string"}},
            }
        ),
    }


def _definitions() -> Schema:
    return {
        "axis": record(
            {
                "path": text("Place in the policy, as it was given."),
                "values": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            }
        ),
        "metric": record(
            {
                "name": text("Full name of the figure, as in `metrics` of a run's report."),
                "unit": text("Its unit."),
                "direction": {
                    "enum": ["min", "max", None],
                    "description": "The better side; null where the frontier does not regard the figure.",
                },
                "requirement": {"type": "boolean", "description": "Whether the policy requires a bound on it."},
            }
        ),
        "point": record(_point(), optional=("error",)),
        "figure": record(_figure(), optional=("interval", "values", "note")),
    }


def _point() -> Schema:
    return {
        "number": _count("The point's number, from 1."),
        "values": {
            "type": "object",
            "description": "The value at each axis, by its path.",
            "additionalProperties": {"type": "string"},
        },
        "verdict": {
            "enum": ["released", "withheld", "mixed", "failed"],
            "description": "What runs would have come to; `mixed` where repetitions differ.",
        },
        "released": {"type": "integer", "minimum": 0, "description": "How many of the runs would have released."},
        "runs": _count("How often it was run."),
        "failing": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Requirements and gates that did not hold in some run.",
        },
        "seconds": {"type": ["number", "null"], "description": "Mean time of a run, without reading the data."},
        "metrics": {
            "type": "object",
            "description": "The figures by name; a value is the mean over the runs.",
            "additionalProperties": of("figure"),
        },
        "error": record(
            {
                "code": text("Diagnostic code of the failure."),
                "message": text("What failed."),
                "exit_status": {"enum": [2, 3], "description": "What a run would have ended with."},
            }
        ),
        "on_frontier": {"type": "boolean", "description": "Whether no other point dominates it."},
        "dominated_by": {
            "type": ["integer", "null"],
            "description": "Number of a point on the frontier that is at least as good in every compared figure, and"
            " better in one.",
        },
    }


def _figure() -> Schema:
    return {
        "value": {"type": ["number", "null"], "description": "The figure; null where some run does not have it."},
        "interval": {
            "type": "array",
            "description": "95 %: of the mean over repetitions, or the figure's own where there was one run.",
            "items": {"type": "number"},
            "minItems": 2,
            "maxItems": 2,
        },
        "values": {"type": "array", "items": {"type": "number"}, "description": "The figure of each run."},
        "note": text("Why there is no value, or how to read it."),
    }


def _number(description: str) -> Schema:
    return {"type": "number", "description": description}


def _count(description: str) -> Schema:
    return {"type": "integer", "minimum": 1, "description": description}
