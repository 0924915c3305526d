"""The releases of a run that have left it: found by listing what is there, never by joining what somebody asked for."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppdm_flow.core.results import HELD, RELEASED
from ppdm_flow.engine.approval.published import PLAN, approval_faults
from ppdm_flow.engine.candidates.unpublished import RELEASED as FOLDER
from ppdm_flow.engine.candidates.unpublished import is_unpublished
from ppdm_flow.engine.evidence.places import ATTESTATIONS, envelopes
from ppdm_flow.engine.held.publication import ReadSigners, publication_fault
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.page.services.approvals.signers_lists import LISTS, SECONDS, BoundedAnswers
from ppdm_flow.page.services.bounded import LARGE, LimitExceededError
from ppdm_flow.page.services.runs.folders import folder_named, folders_in
from ppdm_flow.policy.signers import read_signers

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


@dataclass(frozen=True, slots=True)
class PublishedDocuments:
    """What the documents of a released run say: the audience of each declared release, and as `PublishedRun`."""

    audiences: Mapping[str, str]
    apart: bool
    ledger: bool


_KEPT = 1_000
"""Bytes that what is kept of a run's documents takes."""
_DOCUMENTS: BoundedAnswers[PublishedDocuments | None] = BoundedAnswers()


def published_run(runs: Path, policy: str, run: str) -> PublishedRun | None:
    """Return the run of a policy by its name; None where there is none, or nothing of it was released.

    A run that was held counts with the signatures that its policy asks for, whatever its folders are called. Raises
    LimitExceededError where its documents take too long.
    """
    folder = folder_named(folder_named(runs, policy), run)
    return None if folder is None else _published(folder, LISTS.reader())


def newest_published(runs: Path, most: int) -> list[PublishedRun]:
    """Return the newest runs that were released, as far as their documents are read in a few seconds."""
    folders = (run for policy in folders_in(runs) for run in folders_in(policy))
    found: list[PublishedRun] = []
    read, until = LISTS.reader(SECONDS), time.monotonic() + SECONDS
    for folder in sorted(folders, key=lambda run: run.name, reverse=True):  # names of runs begin with their time
        if not (folder / FOLDER).is_dir():
            continue
        with suppress(LimitExceededError):
            if (published := _published(folder, read, until)) is not None:
                found.append(published)
        if len(found) == most:
            break
    return found


def _published(folder: Path, read: ReadSigners, until: float = math.inf) -> PublishedRun | None:
    released = folder_named(folder, FOLDER)
    if released is None or is_unpublished(folder):
        return None
    try:
        large = sum((folder / name).stat().st_size for name in (MANIFEST, PLAN)) > LARGE
        if large:
            late = "the documents of this run are long and were not looked at"
            documents = _DOCUMENTS.ask(_state(folder, released), _KEPT, until, late, read_documents, folder)
        else:
            documents = read_documents(folder, read)
    except OSError:
        return None
    if documents is None:
        return None
    there = sorted(each.name for each in folders_in(released) if each.name in documents.audiences)
    audiences = {name: documents.audiences[name] for name in there}
    return PublishedRun(folder, audiences, documents.apart, documents.ledger)


def _state(folder: Path, released: Path) -> str:
    """Return a text that is another one where a document of the run, or a signature, is."""
    signed = (path for release in folders_in(released) for path in envelopes(release / ATTESTATIONS))
    stats = [(str(path), path.lstat()) for path in (*sorted(folder.iterdir()), *signed)]
    return repr([(name, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for name, s in stats])


def read_documents(folder: Path, read: ReadSigners = read_signers) -> PublishedDocuments | None:
    """Return what a run's documents say; None where they cannot be read, or it was not released."""
    manifest, plan = _document(folder / MANIFEST), _document(folder / PLAN)
    if manifest is None or plan is None or not _was_released(folder, manifest.get("verdict"), read):
        return None
    declared = {each["name"]: each["audience"] for each in plan["releases"]}
    return PublishedDocuments(declared, plan.get("recipients") == APART, "ledger" in manifest)


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
