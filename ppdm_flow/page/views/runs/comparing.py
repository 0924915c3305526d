"""Two runs side by side."""

from __future__ import annotations

from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.runs import run_called
from ppdm_flow.page.services.bounded import CHECKS
from ppdm_flow.report.diff.fields import DiffDocument, in_order, tables


def compare_runs(call: Call) -> Response:
    """Show what differs between two runs: what was asked for, judged and measured. Raises what ``diff`` raises."""
    old, new = (run_called(call, call.query.get(name, "")) for name in ("old", "new"))
    document = CHECKS.run(differences, str(old.folder), str(new.folder))
    judged, figures = tables(document["runs"])
    return call.page(
        "runs/compare.html",
        old=old,
        new=new,
        relation=document["pairs"][0]["relation"],
        changes=in_order(document["pairs"][0]["changes"]),
        judged=judged[2],
        figures=figures[2],
        same=len(document["runs"]["metrics"]) - len(figures[2]),
        findings=document["runs"]["findings"],
    )


def differences(old: str, new: str) -> DiffDocument:
    """Return what differs between the runs of two folders."""
    from ppdm_flow.api.diff.diff import diff  # noqa: PLC0415  # what reads and orders policies, for this page alone

    return diff(old, new).document
