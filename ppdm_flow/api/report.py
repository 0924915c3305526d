"""Report documents: of a run that is being finished, and of one that was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

from ppdm_flow.api.buckets import copies_for
from ppdm_flow.api.finished import finished_run
from ppdm_flow.core.addresses.bucket import is_bucket
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.results import Report
from ppdm_flow.core.texts.visible import json_text
from ppdm_flow.report.forms import PORTABLE
from ppdm_flow.report.locations import locations
from ppdm_flow.report.run import markdown
from ppdm_flow.report.run import public as publishing
from ppdm_flow.report.run.document import document
from ppdm_flow.report.run.fields import ReportDocument
from ppdm_flow.report.run.judgement import RunJudgement

REPORT = "report.json"
_MANIFEST = "manifest.json"


def documents(report: Report) -> dict[str, str]:
    """Return every form of a report, by file name."""
    report_document = document(report)
    return {
        REPORT: json_text(report_document),
        "report.html": _page(report_document),
        "report.md": markdown.render(report_document),
    }


def rendered(report_document: ReportDocument, form: str) -> str:
    """Return a report document as ``html``, ``md`` or ``json``."""
    match form:
        case "html":
            return _page(report_document)
        case "md":
            return markdown.render(report_document)
        case _:
            return json_text(report_document)


def _page(report_document: ReportDocument) -> str:
    from ppdm_flow.report.run import html  # noqa: PLC0415  # templates: other verbs and forms need none

    return html.render(report_document)


def report(run: Path, form: str) -> str:
    """Return the report of a finished run as ``html``, ``md`` or ``json``. Raises UsageError where there is none."""
    with _local(run) as place:
        return rendered(read(place), form)


def judgement(
    run: Path, width: int = 100, *, public: bool = False, portable: bool = False, releases: Sequence[str] = ()
) -> RunJudgement:
    """Return what every form of a finished run's report (or its ``public`` one) is made from.

    ``portable`` forms, for other programs, also need the run's files; they describe the ``releases`` that are named.

    Raises UsageError where there is no such run, or it lacks what these forms need.
    """
    if releases and not portable:
        text = "`--release` belongs to formats that describe a release, and none was asked for"
        raise UsageError(Diagnostic("PPF692", text, help=f"these do: {', '.join(PORTABLE)}"))
    with _local(run) as place:
        report_document = read(place)
        shown = publishing.public(report_document) if public else report_document
        judged = RunJudgement(shown, locations(), width=width)
        if not portable:
            return judged
        return replace(judged, run=finished_run(place, report_document, releases))


@contextmanager
def _local(run: Path) -> Iterator[Path]:
    """Lend a run here, or a copy of one in an object store, where one without its manifest is none."""
    if not is_bucket(run):
        yield run
        return
    with copies_for() as copies:
        local = copies.local_run(run)
        if not (local / _MANIFEST).is_file():
            raise UsageError(Diagnostic("PPF692", f"`{local}` holds no `{_MANIFEST}`: it is no finished run"))
        yield local


def read(run: Path) -> ReportDocument:
    """Return ``report.json`` of a run directory. Raises UsageError where there is none, or it is damaged."""
    file = run / REPORT
    try:
        document_ = json.loads(file.read_text(encoding="utf-8"))
    except OSError:
        help_ = "give the directory that `ppdm-flow run` printed"
        raise UsageError(Diagnostic("PPF692", f"`{run}` holds no `{REPORT}`", help=help_)) from None
    except ValueError:
        raise UsageError(Diagnostic("PPF692", f"`{file}` is damaged: it is not valid JSON")) from None
    if not isinstance(document_, dict) or document_.get("version") != 1:
        raise UsageError(Diagnostic("PPF692", f"`{file}` is not a report of a version that this program supports"))
    return cast("ReportDocument", document_)
