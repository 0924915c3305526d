"""The releases of a run that have left it: found by listing what is there, never by joining what somebody asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppdm_flow.core.results import HELD, RELEASED
from ppdm_flow.engine.approval.published import PLAN, approval_faults
from ppdm_flow.engine.candidates.unpublished import RELEASED as FOLDER
from ppdm_flow.engine.candidates.unpublished import is_unpublished
from ppdm_flow.engine.held.publication import publication_fault
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.policy.signers.reading import read_signers

APART = "apart"
"""What a policy says of recipients of whom nobody sees two releases."""


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """A run that was released: its directory, and the releases in it by name with the audience that each is for.

    ``apart``: the policy says that nobody sees two of the releases, and they were judged so.
    """

    folder: Path
    audiences: Mapping[str, str]
    apart: bool


def published_run(runs: Path, policy: str, run: str) -> PublishedRun | None:
    """Return the run of a policy by its name; None where there is none, or nothing of it was released.

    A run that was held counts with the signatures that its policy asks for, whatever its folders are called.
    """
    folder = _named(_named(runs, policy), run)
    if folder is None or is_unpublished(folder) or not _was_released(folder):
        return None
    released = _named(folder, FOLDER)
    plan = _document(folder / PLAN)
    if released is None or plan is None:
        return None
    declared = {each["name"]: each["audience"] for each in plan["releases"]}
    there = sorted(each.name for each in _folders(released) if each.name in declared)
    return PublishedRun(folder, {name: declared[name] for name in there}, plan.get("recipients") == APART)


def _was_released(folder: Path) -> bool:
    manifest = _document(folder / MANIFEST)
    verdict = None if manifest is None else manifest.get("verdict")
    if verdict == RELEASED:
        return True
    return verdict == HELD and not publication_fault(folder) and not any(approval_faults(folder, read_signers))


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
