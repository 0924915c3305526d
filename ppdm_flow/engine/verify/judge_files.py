"""Judges a release of any tool by the same audits, without the steps that made it."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ppdm_flow.core.results import Report
from ppdm_flow.engine import manifest
from ppdm_flow.engine.events import Listener, ignore_events
from ppdm_flow.engine.faults import naming_file
from ppdm_flow.engine.judging.auditing import AuditResult, audit_all, refuse_quoting_audits
from ppdm_flow.engine.judging.personal_data import personal_findings
from ppdm_flow.engine.judging.results import judge_audits, waive
from ppdm_flow.engine.machine import peak_mb, utc_now
from ppdm_flow.engine.options import RunContext, RunOptions
from ppdm_flow.engine.reading.original import Opening, Original
from ppdm_flow.engine.reading.original import findings as suspected
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.engine.verify.released_file import VerifiedFile
from ppdm_flow.plan.definition import Plan, ReceivedFormat


def judge(
    plan: Plan,
    original: Path,
    released: Path,
    release: str,
    operator: Path | None = None,
    options: RunOptions | None = None,
    listener: Listener = ignore_events,
    look: Callable[[StreamView], None] = lambda _view: None,
    received: ReceivedFormat | None = None,
) -> Report:
    """Measure what ``plan`` requires of ``release`` on the file ``released``; ``look`` is shown its rows.

    Rows cannot be paired, so figures that need pairs are absent. ``operator`` is the ``operator.json`` of a
    perturbation; left out, one beside ``released`` is used. ``received`` is how another tool has written the file, if
    not as the policy says. Raises DataError where a file does not fit the policy.
    """
    folder = Path(tempfile.mkdtemp(prefix="ppdm-flow-"))
    started, clock = utc_now(), time.perf_counter()
    try:
        with RunContext(plan, options or RunOptions(), listener) as context:
            with naming_file(original):
                source = Opening(context, original).open()
            file = VerifiedFile.read(context, release, released, source, operator, received)
            look(file.subject.candidate)
            audited = judged_file(context, source, file, folder)
            alone = replace(plan, releases=(file.node,))
            personal = personal_findings(file.node, file.subject.candidate.stream)
            results = judge_audits(alone, audited, source=(*suspected(source.suspicions), *file.findings, *personal))
            about_run = {
                **timing(started, clock),
                "input": {"name": original.name, "sha256": source.digest, "rows_used": source.stream.row_count},
                "released": {"name": file.path.name, "rows": file.rows.row_count},
                "versions": manifest.versions(),
            }
            return waive(alone, results, context.options.clock()).report(alone, {release: file.about}, about_run)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def judged_file(context: RunContext, source: Original, file: VerifiedFile, folder: Path) -> Sequence[AuditResult]:
    """Audit a file in a private folder. Raises RunError where an audit quotes the data."""
    plan = replace(context.plan, releases=(file.node,))
    audits = [(node, file.subject) for node in plan.audits if node.release == file.node.name]
    audited = audit_all(replace(context, plan=plan), audits, folder)
    refuse_quoting_audits(plan, source.stream, audited)
    return audited


def timing(started: datetime, clock: float) -> dict[str, Any]:
    """Return when it was ``started``, and how long it took from ``clock`` on."""
    return {
        "started": started.isoformat(timespec="seconds"),
        "finished": utc_now().isoformat(timespec="seconds"),
        "seconds": round(time.perf_counter() - clock, 3),
        "peak_mb": peak_mb(),
    }
