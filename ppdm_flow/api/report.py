"""Report documents: of a run that is being finished, and of one that was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from ppdm_flow.api.buckets import copies_for
from ppdm_flow.core.addresses import is_bucket
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.results import Report
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.core.texts import DICTIONARY, json_text
from ppdm_flow.engine.approval.published import approval_faults
from ppdm_flow.policy.signers import read_signers
from ppdm_flow.report.forms import PORTABLE
from ppdm_flow.report.locations import locations
from ppdm_flow.report.run import markdown
from ppdm_flow.report.run import public as publishing
from ppdm_flow.report.run.document import document
from ppdm_flow.report.run.fields import ReportDocument
from ppdm_flow.report.run.judgement import RunJudgement
from ppdm_flow.report.run.released import FileDigest, ReleasedFiles, ReportedRun

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


# A finished run as documents for other programs need it: its report with the dictionaries and hashes of its files.


_REPORT = "report.json"
_PUBLICATION = "publication.json"
_RELEASED = "released"
_WITHHELD = "withheld"


def finished_run(run: Path, report: ReportDocument, names: Sequence[str] = ()) -> ReportedRun:
    """Return a run that is on this machine, with its report and the releases of these ``names``; all, where none is.

    Raises UsageError where the run has no such release (PPF692), or lacks what such documents are made from, or has
    another report or dictionary than its manifest says (PPF986).
    """
    known = tuple(report["releases"])
    for name in names:
        if name not in known:
            listing = ", ".join(f"`{each}`" for each in known)
            hint = did_you_mean(name, known)
            raise UsageError(
                Diagnostic("PPF692", f"the run has no release `{name}`", hint=hint, help=f"it has {listing}")
            )
    files = _files(run)
    _unchanged(run / _REPORT, files)
    published = _is_published(run, report)
    chosen = [name for name in known if name in names or not names]
    releases = tuple(_release(run, name, report, files, published=published) for name in chosen)
    own = {name: about for name, about in files.items() if name.partition("/")[0] not in {_RELEASED, _WITHHELD}}
    return ReportedRun(report, published, releases, own)


def _is_published(run: Path, report: ReportDocument) -> bool:
    """Whether the releases have left the run: at once, or by a publication that its signatures bear out."""
    if report["verdict"] == _RELEASED:
        return True
    approved = report["verdict"] != _WITHHELD and (run / _PUBLICATION).is_file()
    return approved and (run / _RELEASED).is_dir() and not any(approval_faults(run, read_signers))


def _files(run: Path) -> Mapping[str, FileDigest]:
    """Return size and hash of every file, as the manifest has them."""
    manifest = _read(run / _MANIFEST)
    try:
        return {str(name): FileDigest(int(f["bytes"]), str(f["sha256"])) for name, f in manifest["files"].items()}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise UsageError(Diagnostic("PPF986", f"`{run / _MANIFEST}` is damaged: it lists no files")) from None


def _release(
    run: Path, name: str, report: ReportDocument, files: Mapping[str, FileDigest], *, published: bool
) -> ReleasedFiles:
    home = f"{_RELEASED}/{name}/"
    mine = {file.removeprefix(home): about for file, about in files.items() if published and file.startswith(home)}
    if not published:
        return ReleasedFiles(name, report["releases"][name], {}, {})
    place = run / _RELEASED / name / DICTIONARY
    _unchanged(place, {DICTIONARY: mine[DICTIONARY]} if DICTIONARY in mine else {})
    return ReleasedFiles(name, report["releases"][name], _read(place), mine)


def _unchanged(file: Path, files: Mapping[str, FileDigest]) -> None:
    """Raise UsageError (PPF986) where a file is not the one that the manifest lists."""
    listed = files.get(file.name)
    try:
        same = listed is not None and sha256(file) == listed.sha256
    except OSError:
        raise UsageError(Diagnostic("PPF986", f"the run lacks `{file}`", help=_HELP)) from None
    if not same:
        raise UsageError(Diagnostic("PPF986", f"`{file}` is not the file that the manifest lists", help=_HELP))


_HELP = "`ppdm-flow verify` says what else is missing or was changed"


def _read(file: Path) -> Mapping[str, Any]:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except OSError:
        raise UsageError(Diagnostic("PPF986", f"the run lacks `{file}`", help=_HELP)) from None
    except ValueError:
        raise UsageError(Diagnostic("PPF986", f"`{file}` is damaged: it is not valid JSON", help=_HELP)) from None
    if not isinstance(document, dict):
        raise UsageError(Diagnostic("PPF986", f"`{file}` is damaged: it is no map", help=_HELP))
    return cast("Mapping[str, Any]", document)
