"""The files of a run: its report in a frame that nothing leaves, and downloads."""

from __future__ import annotations

import re

from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.documents import FRAMED
from ppdm_flow.page.http.runs import has_made, known_run

REPORT = "report.html"

_SCRIPT = re.compile(rb"<script\b.*?</script\s*>", re.DOTALL | re.IGNORECASE)
"""The report's own script: the frame would not run it, and browsers complain where they meet one there."""
_WITHOUT_BUTTONS = b"<style>#theme, #unfold, #print-sheet { display: none }</style>"
"""Hides what the script is for."""


def show_report(call: Call) -> Response:
    """Show the whole report in a frame."""
    return call.page("runs/report.html", run=known_run(call))


def send_framed_report(call: Call) -> Response:
    """Send the report itself, for the frame."""
    file = known_run(call).downloads(for_maker=False).get(REPORT)
    if file is None:
        raise HTTPException(404)
    text = _SCRIPT.sub(b"", file.read_bytes()).replace(b"</head>", _WITHOUT_BUTTONS + b"</head>", 1)
    return Response(text, media_type="text/html", headers=FRAMED)


def send_file(call: Call) -> Response:
    """Send one file of a run as a download: one that its manifest lists, and that has left the run."""
    run = known_run(call)
    name = call.path["file"]
    file = run.downloads(for_maker=has_made(call, run)).get(name)
    if file is None:
        raise HTTPException(404)
    shown = f"{run.policy}-{run.name}-{name.replace('/', '-')}"
    return FileResponse(file, media_type="application/octet-stream", filename=shown)
