"""The files of a run: its report in a frame that nothing leaves, and downloads."""

from __future__ import annotations

import re
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.documents import FRAMED
from ppdm_flow.page.http.runs import has_made, known_run
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.runs.runs import ListedRun

REPORT = "report.html"
_LONGEST = 16_000_000
"""Bytes of a report that is shown: it is held in memory, and each may have as many releases as somebody likes."""

_SCRIPT = re.compile(rb"<script\b.*?</script\s*>", re.DOTALL | re.IGNORECASE)
"""The report's own script: the frame would not run it, and browsers complain where they meet one there."""
_WITHOUT_BUTTONS = b"<style>#theme, #unfold, #print-sheet { display: none }</style>"
"""Hides what the script is for."""


def show_report(call: Call) -> Response:
    """Show the whole report in a frame. Raises as `_report`."""
    run = known_run(call)
    _report(run)
    return call.page("runs/report.html", run=run)


def send_framed_report(call: Call) -> Response:
    """Send the report itself, for the frame. Raises as `_report`."""
    file = _report(known_run(call))
    text = _SCRIPT.sub(b"", file.read_bytes()).replace(b"</head>", _WITHOUT_BUTTONS + b"</head>", 1)
    return Response(text, media_type="text/html", headers=FRAMED)


def _report(run: ListedRun) -> Path:
    """Return the file of a report. Raises HTTPException 404 where there is none, RefusalError where it is too long."""
    file = run.downloads(for_maker=False).get(REPORT)
    if file is None:
        raise HTTPException(404)
    if file.stat().st_size > _LONGEST:
        raise RefusalError("runs.long_report", 413)
    return file


def send_file(call: Call) -> Response:
    """Send one file of a run as a download: one that its manifest lists, and that has left the run."""
    run = known_run(call)
    name = call.path["file"]
    file = run.downloads(for_maker=has_made(call, run)).get(name)
    if file is None:
        raise HTTPException(404)
    shown = f"{run.policy}-{run.name}-{name.replace('/', '-')}"
    return FileResponse(file, media_type="application/octet-stream", filename=shown)
