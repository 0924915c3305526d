"""Two runs: what was asked for, what was measured, what was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ppdm_flow.api.diff import policies as diff_columns
from ppdm_flow.api.diff.policies import pair, read
from ppdm_flow.api.diff.revisions import PolicyPlace
from ppdm_flow.api.report import read as report_of
from ppdm_flow.core.diagnostics import current_code
from ppdm_flow.report.diff.fields import (
    DiffDocument,
    FigurePair,
    FindingChanges,
    JudgedFigure,
    MeasuredFigure,
    OutcomePair,
    ResultPair,
)

Document = dict[str, Any]
Judged = Mapping[tuple[str, str, str, str], Document]


def compared(old: Document, new: Document) -> OutcomePair:
    """Return what was judged, every figure, and findings of two reports' documents; each has ``shown`` as its name."""
    return {
        "old": {"name": old["shown"], "verdict": old["verdict"]},
        "new": {"name": new["shown"], "verdict": new["verdict"]},
        "results": _results(old, new),
        "metrics": _metrics(old["metrics"], new["metrics"]),
        "findings": _findings(old["findings"], new["findings"]),
    }


def _results(old: Document, new: Document) -> list[ResultPair]:
    before, after = _by_name(old), _by_name(new)
    return [
        {
            "id": key[0],
            "release": key[1],
            "metric": key[2],
            "old": _judged(before.get(key)),
            "new": _judged(after.get(key)),
        }
        for key in dict.fromkeys((*before, *after))
    ]


def _by_name(report: Document) -> Judged:
    return {
        (r["id"], r["release"], r["metric"], r["direction"]): r for r in (*report["requirements"], *report["gates"])
    }


def _judged(result: Document | None) -> JudgedFigure | None:
    if result is None:
        return None
    judged: JudgedFigure = {
        "bound": result["bound"],
        "direction": result["direction"],
        "value": result["measured"],
        "holds": result["holds"],
    }
    if result.get("interval"):
        judged["interval"] = list(result["interval"])
    return judged


def _metrics(old: Mapping[str, Document], new: Mapping[str, Document]) -> list[FigurePair]:
    changes: list[FigurePair] = []
    for name in sorted({*old, *new}):
        before, after = old.get(name), new.get(name)
        changes.append(
            {
                "name": name,
                "unit": (after or before or {})["unit"],
                "old": _figure(before),
                "new": _figure(after),
                "difference": _difference(before, after),
            }
        )
    return changes


def _difference(old: Document | None, new: Document | None) -> float | None:
    values = [side["value"] for side in (old, new) if side is not None and side["value"] is not None]
    return values[1] - values[0] if len(values) > 1 else None


def _figure(figure: Document | None) -> MeasuredFigure | None:
    if figure is None:
        return None
    if figure.get("interval"):
        return {"value": figure["value"], "interval": list(figure["interval"])}
    return {"value": figure["value"]}


def _findings(old: Iterable[Document], new: Iterable[Document]) -> FindingChanges:
    before, after = ({f"{current_code(f['code'])} {f['subject']}": f["text"] for f in some} for some in (old, new))
    return {
        "new": [f"{key}: {text}" for key, text in after.items() if key not in before],
        "gone": [f"{key}: {text}" for key, text in before.items() if key not in after],
    }


POLICY = "policy.resolved.yaml"


def runs(old: PolicyPlace, new: PolicyPlace) -> DiffDocument:
    """Return the comparison of two runs' policies and reports.

    Raises UsageError where a directory lacks its report or its policy, PolicyError where the policy is not valid to
    this version of the program.
    """
    before, after = (read(where.path / POLICY, where, {}) for where in (old, new))
    reports = [report_of(where.path) | {"shown": str(where.path)} for where in (old, new)]
    both = pair(before, after, diff_columns.compared(before, after))
    return {"version": 1, "kind": "runs", "pairs": [both], "added": [], "removed": [], "runs": compared(*reports)}
