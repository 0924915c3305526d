"""Held runs below the folder of runs, as their documents and signatures have them; nothing of their data is read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.records import dataclass
from ppdm_flow.engine.approval.decision import AUTHOR, Asked, Decision, both, decide, signed_waivers
from ppdm_flow.engine.approval.published import PLAN
from ppdm_flow.engine.candidates.unpublished import PRIVATE, is_held
from ppdm_flow.engine.evidence.signatures import SignatureResult, signatures_of
from ppdm_flow.engine.held.signers_file import ReadSigners, lists_of_signers
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.evidence.signers import Signers
from ppdm_flow.page.services.approvals.signers_lists import LISTS, SECONDS


@dataclass(frozen=True, slots=True)
class UsedWaiver:
    """A waiver that a run rests on: the role that has to sign it, or none, and its last day."""

    name: str
    of: str
    role: str
    until: date


@dataclass(frozen=True, slots=True)
class Approval:
    """What a held run waits for. ``lists`` are the signers that it had, and today's: both have to know who signs.

    Files are not hashed here, and the ledger is not asked: `ppdm-flow release --check` does, and so does a release.
    """

    asked: Asked
    releases: tuple[str, ...]
    signatures: tuple[SignatureResult, ...]
    decision: Decision
    lists: tuple[Signers, Signers]
    waivers: tuple[UsedWaiver, ...]

    @property
    def roles(self) -> tuple[str, ...]:
        """All roles that sign, the author's first."""
        return (AUTHOR, *self.asked.needed)

    def signed(self, role: str) -> tuple[SignatureResult, ...]:
        """Return the signatures in a role."""
        return tuple(each for each in self.signatures if each.role == role)

    def able(self, role: str) -> tuple[str, ...]:
        """Return who could sign in a role, by both lists; authors of the run approve nothing."""
        then, today = ({each.name for each in signers.in_role(role)} for signers in self.lists)
        return tuple(sorted((then & today) - (frozenset() if role == AUTHOR else self.authors)))

    @property
    def authors(self) -> frozenset[str]:
        """Those who signed as authors."""
        return frozenset(each.signer for each in self.signed(AUTHOR) if each.good and each.signer)


@dataclass(frozen=True, slots=True)
class HeldRun:
    """A held run by its names; ``approval`` is None where its documents cannot be read, for these ``faults``."""

    policy: str
    name: str
    folder: Path
    finished: datetime | None
    approval: Approval | None
    faults: tuple[Diagnostic, ...] = ()

    @property
    def address(self) -> str:
        """Its name as jobs and journal have it."""
        return f"{self.policy}/{self.name}"


def held_runs(runs: Path, now: datetime) -> list[HeldRun]:
    """Return all runs that wait for approvals, the newest first."""
    read, folders = LISTS.reader(SECONDS), sorted(_held_folders(runs), key=lambda folder: folder.name, reverse=True)
    return [held_run(folder, now, read) for folder in folders]


def find_held(runs: Path, policy: str, name: str, now: datetime) -> HeldRun | None:
    """Return a held run by its names; None where there is none, or it does not wait any more."""
    there = (each for each in _held_folders(runs) if (each.parent.name, each.name) == (policy, name))
    return next((held_run(folder, now, LISTS.reader()) for folder in there), None)


def held_run(folder: Path, now: datetime, read: ReadSigners) -> HeldRun:
    """Return what a held run waits for; ``read`` reads lists of signers."""
    names = (folder.parent.name, folder.name, folder)
    finished = None
    try:
        manifest, plan = (_document(folder / name) for name in (MANIFEST, PLAN))
        about = (folder / PRIVATE).stat()
        today = _today(folder / PRIVATE, about.st_mtime_ns, about.st_size)
        finished = datetime.fromisoformat(manifest["finished"])
        return HeldRun(*names, finished, _approval(folder, manifest, plan, today, now, read))
    except PpdmError as error:
        return HeldRun(*names, finished, None, tuple(error.diagnostics))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        text = f"run `{folder.name}` is held, and its documents cannot be read"
        advice = "`ppdm-flow verify RUN` says more; run the policy again"
        return HeldRun(*names, finished, None, (Diagnostic("PPF971", text, help=advice),))


def _approval(
    folder: Path, manifest: Mapping[str, Any], plan: Mapping[str, Any], today: Path, now: datetime, read: ReadSigners
) -> Approval:
    approvals = plan["approvals"]
    waivers = signed_waivers(plan, manifest)
    asked = Asked(tuple(approvals["roles"]), bool(approvals["distinct"]), waivers)
    lists = lists_of_signers(folder, approvals, today, read)
    signatures = both(*(signatures_of(folder, signers, now) for signers in lists))
    releases = tuple(release["name"] for release in plan["releases"])
    used = tuple(
        UsedWaiver(each["name"], each["of"], waivers.get(each["name"], ""), date.fromisoformat(each["until"]))
        for each in manifest.get("waivers", ())
        if each["covers"]
    )
    return Approval(asked, releases, signatures, decide(asked, signatures, releases, lists), lists, used)


@lru_cache(maxsize=256)
def _today(private: Path, _changed: int, _size: int) -> Path:
    """Return where today's list of signers is: what the run keeps for its release may be long, and says it."""
    return Path(_document(private)["signers"])


def _held_folders(runs: Path) -> Iterator[Path]:
    for policy in _folders(runs):
        yield from (run for run in _folders(policy) if is_held(run))


def _folders(parent: Path) -> list[Path]:
    try:
        return [each for each in parent.iterdir() if each.is_dir() and not each.is_symlink()]
    except OSError:
        return []


def _document(file: Path) -> Mapping[str, Any]:
    document = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(document, Mapping):
        raise TypeError("a document is a map")
    return document
