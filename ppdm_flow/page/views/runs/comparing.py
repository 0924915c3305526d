"""Two runs side by side."""

from __future__ import annotations

from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.runs import run_called
from ppdm_flow.report.diff.fields import in_order
from ppdm_flow.report.diff.measured import tables


def compare_runs(call: Call) -> Response:
    """Show what differs between two runs: what was asked for, judged and measured. Raises what ``diff`` raises."""
    from ppdm_flow.api.diff.diff import diff  # noqa: PLC0415  # what reads and orders policies, for this page alone

    old, new = (run_called(call, call.query.get(name, "")) for name in ("old", "new"))
    document = diff(str(old.folder), str(new.folder)).document
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
