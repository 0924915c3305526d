"""Policy tests for programs: JSON, and JUnit."""

from __future__ import annotations

from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.texts.visible import json_text
from ppdm_flow.report import diagnostics as drawing
from ppdm_flow.report.junit import JUnitCase, Suite, render
from ppdm_flow.report.junit import JUnitOutcome as Ended
from ppdm_flow.report.test.results import PolicyCoverage, PolicyTestOutcome, PolicyTestResult, PolicyTestResults

_ENDED = {
    PolicyTestOutcome.PASSED: Ended.PASSED,
    PolicyTestOutcome.FAILED: Ended.FAILED,
    PolicyTestOutcome.ERROR: Ended.ERROR,
}


def as_json(tested: PolicyTestResults) -> str:
    """Return everything as a JSON object."""
    return json_text(document(tested))


def document(tested: PolicyTestResults) -> dict[str, Any]:
    """Return the outcome: ``tests``, how many there are of each kind, and ``coverage`` where it was asked for."""
    counts: dict[str, Any] = {
        "passed": tested.count(PolicyTestOutcome.PASSED),
        "failed": tested.count(PolicyTestOutcome.FAILED),
        "errors": tested.count(PolicyTestOutcome.ERROR),
        "not_selected": tested.unselected,
        "seconds": round(tested.seconds, 3),
        "tests": [_test(each) for each in tested.results],
    }
    if tested.coverage is not None:
        percent = None if tested.percent is None else round(tested.percent, 2)
        counts["coverage"] = {"percent": percent, "policies": [_covered(each) for each in tested.coverage]}
    return counts


def as_junit(tested: PolicyTestResults) -> str:
    """Return JUnit XML: a suite for each test file, a case for each test."""
    files = dict.fromkeys(each.file for each in tested.results)
    return render([_suite(file, [r for r in tested.results if r.file == file]) for file in files], "ppdm-flow test")


def _suite(file: str, results: list[PolicyTestResult]) -> Suite:
    return Suite(file, [_case(each) for each in results], {"policy": results[0].policy})


def _case(result: PolicyTestResult) -> JUnitCase:
    first = result.failures[0] if result.failures else None
    return JUnitCase(
        classname=result.file,
        name=result.name,
        outcome=_ENDED[result.outcome],
        message=first.message if first else "",
        text=drawing.render(result.failures, result.sources),
        kind=first.code if first else "",
        seconds=result.seconds,
        properties={"verdict": result.verdict} if result.verdict else {},
        file=result.file,
        line=result.line,
    )


def _test(result: PolicyTestResult) -> dict[str, Any]:
    return {
        "file": result.file,
        "name": result.name,
        "line": result.line,
        "policy": result.policy,
        "outcome": result.outcome.value,
        "verdict": result.verdict,
        "seconds": round(result.seconds, 3),
        "repetitions": result.runs,
        "failures": [_failure(each) for each in result.failures],
        "judged": [
            {"id": j.id, "release": j.release, "holds": j.holds, "measured": j.measured, "bound": j.bound}
            for j in result.judged
        ],
        "metrics": dict(result.metrics),
        "untold": list(result.untold),
    }


def _failure(each: Diagnostic) -> dict[str, Any]:
    place = {"file": each.span.file, "line": each.span.line, "column": each.span.column} if each.span else {}
    return {"code": each.code, "message": each.message, "notes": list(each.notes), **place}


def _covered(each: PolicyCoverage) -> dict[str, Any]:
    items = [
        {"kind": i.kind, "id": i.id, "file": i.file, "line": i.line, "exercised": i.exercised}
        | ({} if i.challenged is None else {"challenged": i.challenged})
        for i in each.items
    ]
    return {"policy": each.policy, "tests": each.tests, "items": items}
