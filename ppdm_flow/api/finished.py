"""A finished run as documents for other programs need it: its report with the dictionaries and hashes of its files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.core.texts.file_names import DICTIONARY
from ppdm_flow.engine.approval.published import approval_faults
from ppdm_flow.policy.signers import read_signers
from ppdm_flow.report.run.fields import ReportDocument
from ppdm_flow.report.run.released import FileDigest, ReleasedFiles, ReportedRun

_MANIFEST = "manifest.json"
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
