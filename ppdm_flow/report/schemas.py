"""The JSON Schema (draft-07) of ``report.json``."""

from __future__ import annotations

from typing import Any

from ppdm_flow.core.json_schema import list_of, of, record, text, waiver

IDENTITY = "https://ppdm-flow.example/schemas/report.v1.json"

_Schema = dict[str, Any]


def schema() -> _Schema:
    """Return the schema of the report document, version 1."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": IDENTITY,
        "title": "Report of a ppdm-flow run",
        "description": "The verdict on a release, every figure that it rests on, and how the data was made.",
        **record(_top(), optional=("waivers",)),
        "definitions": _definitions(),
    }


def _top() -> _Schema:
    return {
        "version": {"const": 1, "description": "Version of this document's form."},
        "audience": {
            "enum": ["internal", "public"],
            "description": "Whether the report may leave the house: `internal` ones have figures on the original data.",
        },
        "policy": text("Name of the release policy."),
        "verdict": {
            "enum": ["released", "withheld"],
            "description": "`released` if every requirement and every gate holds on every release, or does not and is"
            " waived (`waived_by`), else `withheld`.",
        },
        "requirements": list_of("result", "What the policy's `privacy` section asks for, as measured on each release."),
        "gates": list_of("result", "The policy's bounds on other figures, as measured on each release."),
        "metrics": {
            "type": "object",
            "description": "Every measured figure, by `<audit, step or requirement>.<figure>`; where a run has several"
            " releases, figures of a release begin with `<release>/`.",
            "additionalProperties": of("figure"),
        },
        "steps": list_of("step", "The steps in the order of the plan, with rows, seconds and figures."),
        "findings": list_of("finding", "What a reader should know beside the figures, errors first."),
        "waivers": list_of("waiver", "What the policy says need not hold for a while, and what needed it."),
        "charts": list_of("chart", "The data of the report's pictures."),
        "releases": {
            "type": "object",
            "description": "The releases by name: file, rows, columns and digest, as far as they are known.",
            "additionalProperties": {"type": "object"},
        },
        "plan": {"type": "object", "description": "The plan that was executed, as in `plan.json`."},
        "run": {"type": "object", "description": "Times, versions, input and mode of randomness."},
    }


def _definitions() -> _Schema:
    return {
        "result": record(_result(), optional=("interval", "waived_by")),
        "span": record(_span()),
        "figure": record(_figure(), optional=("interval", "sample", "note")),
        "step": record(_step()),
        "finding": record(_finding(), optional=("release", "waived_by")),
        "waiver": record(_waiver(), optional=("at",)),
        "chart": record(_chart()),
        "series": record(_series(), optional=("low", "high")),
        "interval": {
            "type": "array",
            "description": "Lower and upper end.",
            "items": {"type": "number"},
            "minItems": 2,
            "maxItems": 2,
        },
    }


def _result() -> _Schema:
    return {
        "id": text("Place in the policy: `privacy.k_anonymity`, `privacy.templates.NAME`, `gates.NAME`."),
        "release": text("The release that it was measured on."),
        "metric": text("Name of the measured figure in `metrics`."),
        "bound": {"type": "number", "description": "What the policy asks for, in the figure's unit."},
        "direction": {
            "enum": ["at_least", "at_most"],
            "description": "The side of the bound on which `measured` must lie (relative tolerance 1e-9).",
        },
        "measured": {
            "type": ["number", "null"],
            "description": "The figure; null where it could not be measured, or is not for the public.",
        },
        "interval": of("interval"),
        "holds": {"type": "boolean", "description": "Whether the requirement holds. What is unmeasured does not."},
        "waived_by": text("The waiver, where it does not hold and withholds nothing."),
        "policy_span": {
            "description": "The lines of the policy that ask for it.",
            "anyOf": [of("span"), {"type": "null"}],
        },
        "sentence": text("What the measurement means."),
    }


def _span() -> _Schema:
    position = {"type": "integer", "minimum": 1}
    return {
        "file": text("The policy file."),
        "line": position | {"description": "First line, from 1."},
        "column": position | {"description": "First character of that line, from 1."},
        "end_line": position | {"description": "Last line."},
        "end_column": position | {"description": "The character after the last one."},
    }


def _figure() -> _Schema:
    return {
        "value": {"type": ["number", "null"], "description": "The figure; null where it does not exist."},
        "unit": text("rows, share, probability, nats, bits, seconds, …"),
        "interval": of("interval"),
        "sample": {"type": "integer", "minimum": 0, "description": "Rows looked at, where the figure is an estimate."},
        "note": text("What else to know about it."),
    }


def _step() -> _Schema:
    rows = {"type": "integer", "minimum": 0}
    return {
        "name": text("Name of the step in the policy."),
        "use": text("The plugin."),
        "version": text("The plugin's version."),
        "rows_in": rows | {"description": "Rows that went in."},
        "rows_out": rows | {"description": "Rows that came out."},
        "seconds": {"type": "number", "minimum": 0, "description": "Wall-clock seconds."},
        "figures": {
            "type": "object",
            "description": "The step's own figures; also in `metrics` under the step's name.",
            "additionalProperties": of("figure"),
        },
        "description": {"type": "object", "description": "The fitted transform, in the plugin's own words."},
    }


def _finding() -> _Schema:
    return {
        "code": text("Code of its page: `ppdm-flow explain CODE`."),
        "severity": {"enum": ["error", "warning", "info"], "description": "How bad it is."},
        "text": text("What was found."),
        "subject": text("What it is about; may be empty."),
        "hash": {
            "type": "string",
            "pattern": "^[0-9a-f]{16}$",
            "description": "Names this finding in waivers; the same in every run.",
        },
        "release": text("The release that it is about, where there are several."),
        "waived_by": text("The waiver that covers it."),
    }


def _waiver() -> _Schema:
    return {
        **waiver(),
        "days_left": {"type": "integer", "description": "Days after that of the verdict; below 0: it had expired."},
        "covers": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What it was needed for; empty where nothing needed it.",
        },
        "policy_span": {
            "description": "The lines of the policy that grant it.",
            "anyOf": [of("span"), {"type": "null"}],
        },
    }


def _chart() -> _Schema:
    return {
        "id": text("A name, used once in a document."),
        "title": text("Heading of the picture."),
        "kind": {"enum": ["bars", "lines", "matrix"], "description": "How it is drawn; in a matrix a series is a row."},
        "group": text("The section that it belongs to; may be empty."),
        "release": text("The release that it shows; empty where it is about all, or where there is only one."),
        "x": {"type": "array", "items": {"type": "string"}, "description": "Labels along the axis."},
        "series": list_of("series", "One set of bars, one line or one row each."),
        "x_label": text("Title of the axis of labels; may be empty."),
        "y_label": text("Title of the axis of values; may be empty."),
        "note": text("How to read it; may be empty."),
    }


def _series() -> _Schema:
    numbers = {"type": "array", "items": {"type": "number"}}
    return {
        "name": text("Its name in the legend."),
        "y": numbers | {"description": "One value a label."},
        "low": numbers | {"description": "Lower ends of intervals."},
        "high": numbers | {"description": "Upper ends of intervals."},
    }
