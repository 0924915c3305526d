"""SARIF 2.1.0 (OASIS standard): findings on policy lines, for code scanning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.pages import CodePage, fenced, pages
from ppdm_flow.core.spans import Span
from ppdm_flow.core.texts.visible import json_text
from ppdm_flow.core.version import VERSION
from ppdm_flow.report.check.result import KEY, CheckResult, WaiverNote
from ppdm_flow.report.snippet import printable

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_BASE = "%SRCROOT%"
_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}

_Object = dict[str, Any]


def render(result: CheckResult) -> str:
    """Return a log of one run, with a rule for each code that was found."""
    codes = sorted({d.code for d in result.diagnostics})
    driver = {
        "name": "ppdm-flow",
        "semanticVersion": _semantic(VERSION),
        "rules": [_rule(code) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": "ppdm-flow/check/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_BASE: {"description": {"text": "The root of the repository."}}},
        "artifacts": [{"location": _artifact(result, name)} for name in result.files],
        "results": [_result(result, d, mark, codes.index(d.code)) for d, mark in result.fingerprints()],
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _semantic(version: str) -> str:
    """Return a version of three numbers, as semantic versions have."""
    return ".".join((*version.split("."), "0", "0")[:3]) if version.count(".") < 2 else version


def _rule(code: str) -> _Object:
    page = pages().get(code) or CodePage(code, code, "A plugin's own code.", "", "See the plugin's documentation.")
    plain = "\n\n".join(part for part in (page.what, page.why, page.fix) if part)
    return {
        "id": code,
        "shortDescription": {"text": page.title},
        "fullDescription": {"text": page.what},
        "help": {"text": f"{plain}\n\nMore: ppdm-flow explain {code}", "markdown": _help(page)},
        "properties": {"tags": ["privacy", "policy"]},
    }


def _help(page: CodePage) -> str:
    parts = [page.what, page.why, f"**What to do:** {page.fix}"]
    for title, example in (("Not so", page.bad), ("But so", page.good)):
        if example:
            parts.append(f"{title}:\n\n{fenced(example)}")
    return "\n\n".join(part for part in (*parts, f"`ppdm-flow explain {page.code}` says more.") if part)


def _result(result: CheckResult, each: Diagnostic, mark: str, rule: int) -> _Object:
    entry: _Object = {
        "ruleId": each.code,
        "ruleIndex": rule,
        "level": _LEVEL[each.severity],
        "message": {"text": _message(each)},
        "locations": [_place(result, result.file_of(each), each.span)],
        "partialFingerprints": {KEY: mark},
    }
    if each.related:
        entry["relatedLocations"] = [
            {"id": i, **_place(result, r.span.file, r.span), "message": {"text": _plain(r.text)}}
            for i, r in enumerate(each.related, start=1)
        ]
    waiver = result.waived.get(each)
    entry["suppressions"] = [] if waiver is None else [_suppression(waiver)]
    return entry


def _suppression(waiver: WaiverNote) -> _Object:
    justification = f"{waiver.name}: {waiver.reason} ({waiver.owner}, until {waiver.until})"
    return {"kind": "inSource", "status": "accepted", "justification": printable(justification)}


def _message(each: Diagnostic) -> str:
    extra: Sequence[str] = (*([each.hint] if each.hint else []), *([each.help] if each.help else []), *each.notes)
    return " ".join(_sentence(_plain(part)) for part in (each.message, *extra))


def _sentence(text: str) -> str:
    sentence = text[:1].upper() + text[1:]
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def _plain(text: str) -> str:
    """Return text without control characters, and without what would read as a link (3.11.6)."""
    return printable(text).replace("](", "] (")


def _place(result: CheckResult, file: str, span: Span | None) -> _Object:
    region = {"startLine": 1} if span is None else _region(span)
    return {"physicalLocation": {"artifactLocation": _artifact(result, file), "region": region}}


def _region(span: Span) -> _Object:
    end = max((span.end_line, span.end_column), (span.line, span.column))
    return {"startLine": span.line, "startColumn": span.column, "endLine": end[0], "endColumn": end[1]}


def _artifact(result: CheckResult, file: str) -> _Object:
    artifact: _Object = {"uri": result.places.uri(file)}
    return artifact | {"uriBaseId": _BASE} if result.places.relative(file) is not None else artifact
