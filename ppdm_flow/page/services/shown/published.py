"""The releases of a run that have left it: found by listing what is there, never by joining what somebody asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ppdm_flow.core.records import dataclass
from ppdm_flow.core.results import HELD, RELEASED
from ppdm_flow.engine.approval.published import PLAN, approval_faults
from ppdm_flow.engine.candidates.unpublished import RELEASED as FOLDER
from ppdm_flow.engine.candidates.unpublished import is_unpublished
from ppdm_flow.engine.held.publication import publication_fault
from ppdm_flow.engine.held.signers_file import ReadSigners
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.page.services.approvals.signers_lists import LISTS, SECONDS

APART = "apart"
"""What a policy says of recipients of whom nobody sees two releases."""


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """A run that was released: its directory, and the releases in it by name with the audience that each is for.

    ``apart``: the policy says that nobody sees two of the releases, and they were judged so. ``ledger``: it was judged
    with what was released before.
    """

    folder: Path
    audiences: Mapping[str, str]
    apart: bool
    ledger: bool

    @property
    def key(self) -> str:
        """Its name as addresses and jobs have it."""
        return f"{self.folder.parent.name}/{self.folder.name}"


def published_run(runs: Path, policy: str, run: str) -> PublishedRun | None:
    """Return the run of a policy by its name; None where there is none, or nothing of it was released.

    A run that was held counts with the signatures that its policy asks for, whatever its folders are called.
    """
    folder = _named(_named(runs, policy), run)
    return None if folder is None else _published(folder, LISTS.reader())


def newest_published(runs: Path, most: int) -> list[PublishedRun]:
    """Return the newest runs that were released; the names of runs begin with their time."""
    folders = (run for policy in _folders(runs) for run in _folders(policy) if (run / FOLDER).is_dir())
    found: list[PublishedRun] = []
    read = LISTS.reader(SECONDS)
    for folder in sorted(folders, key=lambda run: run.name, reverse=True):
        published = _published(folder, read)
        if published is not None:
            found.append(published)
        if len(found) == most:
            break
    return found


def _published(folder: Path, read: ReadSigners) -> PublishedRun | None:
    manifest, plan = _document(folder / MANIFEST), _document(folder / PLAN)
    released = _named(folder, FOLDER)
    if manifest is None or plan is None or released is None or is_unpublished(folder):
        return None
    if not _was_released(folder, manifest.get("verdict"), read):
        return None
    declared = {each["name"]: each["audience"] for each in plan["releases"]}
    there = sorted(each.name for each in _folders(released) if each.name in declared)
    audiences = {name: declared[name] for name in there}
    return PublishedRun(folder, audiences, plan.get("recipients") == APART, "ledger" in manifest)


def _was_released(folder: Path, verdict: object, read: ReadSigners) -> bool:
    if verdict == RELEASED:
        return True
    return verdict == HELD and not publication_fault(folder) and not any(approval_faults(folder, read))


def _document(file: Path) -> dict[str, Any] | None:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def _named(parent: Path | None, name: str) -> Path | None:
    """Return the folder of this name among those that are there."""
    return None if parent is None else next((each for each in _folders(parent) if each.name == name), None)


def _folders(parent: Path) -> list[Path]:
    try:
        return [each for each in parent.iterdir() if each.is_dir() and not each.is_symlink()]
    except OSError:
        return []
