"""GitLab's code quality report: a list of findings that a merge request shows beside its lines."""

from __future__ import annotations

from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.visible import json_text
from ppdm_flow.report.check.result import CheckResult
from ppdm_flow.report.snippet import printable

_SEVERITY = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(result: CheckResult) -> str:
    """Return the report; waived findings are not in it, since it has no word for them."""
    found = [_issue(result, each, mark) for each, mark in result.fingerprints() if each not in result.waived]
    return json_text(found)


def _issue(result: CheckResult, each: Diagnostic, mark: str) -> dict[str, Any]:
    hint = f" ({each.hint})" if each.hint else ""
    return {
        "description": printable(f"{each.code}: {each.message}{hint}"),
        "check_name": each.code,
        "fingerprint": mark,
        "severity": _SEVERITY[each.severity],
        "location": {
            "path": result.places.shown(result.file_of(each)),
            "lines": {"begin": each.span.line if each.span else 1},
        },
    }
