"""What SARIF 2.1.0 (OASIS standard, sections 3.13 to 3.49) and GitLab's code quality report ask of the parts used."""

from __future__ import annotations

_TEXT = {"type": "string", "minLength": 1}
_MESSAGE = {"type": "object", "required": ["text"], "properties": {"text": _TEXT, "markdown": _TEXT}}
_COUNT = {"type": "integer", "minimum": 1}


def _record(properties, required, **more):
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }


_ARTIFACT = _record(
    {"uri": {**_TEXT, "pattern": "^[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]+$"}, "uriBaseId": {"const": "%SRCROOT%"}}, ["uri"]
)
_REGION = _record({"startLine": _COUNT, "startColumn": _COUNT, "endLine": _COUNT, "endColumn": _COUNT}, ["startLine"])
_PHYSICAL = _record({"artifactLocation": _ARTIFACT, "region": _REGION}, ["artifactLocation", "region"])
_LOCATION = _record({"physicalLocation": _PHYSICAL}, ["physicalLocation"])
_RELATED = _record(
    {"physicalLocation": _PHYSICAL, "id": _COUNT, "message": _MESSAGE}, ["physicalLocation", "id", "message"]
)
_SUPPRESSION = _record(
    {"kind": {"enum": ["inSource", "external"]}, "status": {"enum": ["accepted"]}, "justification": _TEXT}, ["kind"]
)
_RULE = _record(
    {
        "id": {"type": "string", "pattern": "^PPF[0-9]{3}$"},
        "shortDescription": _MESSAGE,
        "fullDescription": _MESSAGE,
        "help": {**_MESSAGE, "required": ["text", "markdown"]},
        "properties": {"type": "object", "properties": {"tags": {"type": "array", "uniqueItems": True}}},
    },
    ["id", "shortDescription", "fullDescription", "help"],
)
_RESULT = _record(
    {
        "ruleId": _TEXT,
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": _MESSAGE,
        "locations": {"type": "array", "items": _LOCATION, "minItems": 1},
        "relatedLocations": {"type": "array", "items": _RELATED, "uniqueItems": True},
        "partialFingerprints": {"type": "object", "additionalProperties": _TEXT, "minProperties": 1},
        "suppressions": {"type": "array", "items": _SUPPRESSION},
    },
    ["ruleId", "level", "message", "locations", "partialFingerprints"],
)
_DRIVER = _record(
    {
        "name": _TEXT,
        "semanticVersion": {"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
        "rules": {"type": "array", "items": _RULE, "uniqueItems": True},
    },
    ["name"],
)
_RUN = _record(
    {
        "tool": _record({"driver": _DRIVER}, ["driver"]),
        "automationDetails": _record({"id": _TEXT}, ["id"]),
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "originalUriBaseIds": {"type": "object"},
        "artifacts": {"type": "array", "items": _record({"location": _ARTIFACT}, ["location"]), "uniqueItems": True},
        "results": {"type": "array", "items": _RESULT},
    },
    ["tool", "results"],
)
SARIF = _record(
    {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": _RUN},
    },
    ["version", "runs"],
)
GITLAB = {
    "type": "array",
    "items": _record(
        {
            "description": _TEXT,
            "check_name": _TEXT,
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{32,}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": _record(
                {"path": {**_TEXT, "pattern": "^[^/]"}, "lines": _record({"begin": _COUNT}, ["begin"])},
                ["path", "lines"],
            ),
        },
        ["description", "check_name", "fingerprint", "severity", "location"],
    ),
}
