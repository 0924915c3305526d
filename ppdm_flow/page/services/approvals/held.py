"""Held runs below the folder of runs, as their documents and signatures have them; nothing of their data is read."""

from __future__ import annotations

import json
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PpdmError, UsageError
from ppdm_flow.engine.approval.decision import AUTHOR, Decision, RequestedSignatures, both, decide, signed_waivers
from ppdm_flow.engine.approval.published import PLAN
from ppdm_flow.engine.candidates.unpublished import HELD, PRIVATE, RELEASED, is_held
from ppdm_flow.engine.evidence.facts import REPORT
from ppdm_flow.engine.evidence.places import ATTESTATIONS, envelopes
from ppdm_flow.engine.evidence.signatures import FoundAttestation, SignatureResult, judge_all, read_all
from ppdm_flow.engine.held.publication import ReadSigners, lists_of_signers
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.evidence.signers import Signers
from ppdm_flow.page.services.approvals.signers_lists import LISTS, SECONDS, BoundedAnswers
from ppdm_flow.page.services.bounded import LARGE
from ppdm_flow.page.services.runs.folders import folder_named, folders_in, names_in


@dataclass(frozen=True, slots=True)
class HeldRunWaiver:
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

    asked: RequestedSignatures
    releases: tuple[str, ...]
    signatures: tuple[SignatureResult, ...]
    decision: Decision
    lists: tuple[Signers, Signers]
    waivers: tuple[HeldRunWaiver, ...]

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
class NamedHeldRun:
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


@dataclass(frozen=True, slots=True)
class HeldDocuments:
    """What a held run's documents say of its release. ``signers`` is its list, ``today`` where today's is."""

    finished: str
    asked: RequestedSignatures
    signers: str
    today: Path
    releases: tuple[str, ...]
    waivers: tuple[HeldRunWaiver, ...]
    envelopes: tuple[FoundAttestation, ...]


_DOCUMENTS: BoundedAnswers[HeldDocuments] = BoundedAnswers()
_SMALL = 10_000
"""Bytes that what is kept of a run takes besides its envelopes."""


_EACH = 100
"""Runs of one page: each has documents that are read, and signatures that are judged."""


def held_runs(
    runs: Path, now: datetime, maker: Callable[[str], object] = lambda _: None, page: int = 1
) -> tuple[list[NamedHeldRun], int]:
    """Return a page of the runs that wait for approvals, the newest first, and how many pages there are.

    ``maker`` tells who made the run of an address. The newest of each are looked at, and on earlier pages, before older
    ones of anybody: there may be no time for all, and nobody's runs are to hide those of others.
    """
    folders = sorted(_held_folders(runs), key=lambda folder: folder.name, reverse=True)
    places, many = dict[Path, int](), Counter[object]()
    for folder in folders:
        who = maker(f"{folder.parent.name}/{folder.name}") or folder.parent.name
        places[folder] = many[who]
        many[who] += 1
    pages = max(1, -(-len(folders) // _EACH))
    start = (min(page, pages) - 1) * _EACH
    listed = [each for each in sorted(folders, key=lambda each: places[each])[start : start + _EACH] if is_held(each)]
    read, until = LISTS.reader(SECONDS), time.monotonic() + SECONDS
    found = {folder: held_run(folder, now, read, until) for folder in listed}
    return [found[folder] for folder in folders if folder in found], pages


def find_held(runs: Path, policy: str, name: str, now: datetime) -> NamedHeldRun | None:
    """Return a held run by its names; None where there is none, or it does not wait any more."""
    folder = folder_named(folder_named(runs, policy), name)
    return None if folder is None or not is_held(folder) else held_run(folder, now, LISTS.reader())


def held_run(folder: Path, now: datetime, read: ReadSigners, until: float = math.inf) -> NamedHeldRun:
    """Return what a held run waits for; ``read`` reads lists of signers, and its documents are read ``until`` then."""
    names = (folder.parent.name, folder.name, folder)
    finished = None
    try:
        key, size, large = _state(folder)
        if large:
            late = "the documents of this run were not looked at, which takes long: open the run by itself"
            documents = _DOCUMENTS.ask(key, size, until, late, read_documents, folder)
        else:  # in some milliseconds: nobody's run keeps those of others from being read
            documents = read_documents(folder)
        finished = datetime.fromisoformat(documents.finished)
        return NamedHeldRun(*names, finished, _approval(folder, documents, now, read))
    except PpdmError as error:
        return NamedHeldRun(*names, finished, None, tuple(error.diagnostics))
    except (OSError, ValueError):
        return NamedHeldRun(*names, finished, None, (_unreadable(folder),))


def _approval(folder: Path, documents: HeldDocuments, now: datetime, read: ReadSigners) -> Approval:
    asked, releases = documents.asked, documents.releases
    lists = lists_of_signers(folder, {"signers": documents.signers}, documents.today, read)
    signatures = both(*(judge_all(documents.envelopes, signers, now) for signers in lists))
    decision = decide(asked, signatures, releases, lists)
    return Approval(asked, releases, signatures, decision, lists, documents.waivers)


def read_documents(folder: Path) -> HeldDocuments:
    """Return what a held run's documents say. Raises UsageError (PPF971) where they cannot be read."""
    try:
        manifest, plan = (_document(folder / name) for name in (MANIFEST, PLAN))
        approvals, waivers = plan["approvals"], signed_waivers(plan, manifest)
        used = tuple(
            HeldRunWaiver(each["name"], each["of"], waivers.get(each["name"], ""), date.fromisoformat(each["until"]))
            for each in manifest.get("waivers", ())
            if each["covers"]
        )
        return HeldDocuments(
            str(manifest["finished"]),
            RequestedSignatures(tuple(approvals["roles"]), bool(approvals["distinct"]), waivers),
            str(approvals["signers"]),
            Path(_document(folder / PRIVATE)["signers"]),
            tuple(release["name"] for release in plan["releases"]),
            used,
            read_all(folder),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(_unreadable(folder)) from None


def _unreadable(folder: Path) -> Diagnostic:
    text = f"run `{folder.name}` is held, and its documents cannot be read"
    return Diagnostic("PPF971", text, help="`ppdm-flow verify RUN` says more; run the policy again")


def _state(folder: Path) -> tuple[str, int, bool]:
    """Return a key that is another one where a document or an envelope is, and the bytes that are kept of them.

    The last says whether they are so large that a process of its own reads them.
    """
    signed = envelopes(folder / ATTESTATIONS)
    files = [folder / name for name in (MANIFEST, PLAN, REPORT, PRIVATE)]
    stats = [(path.name, path.lstat()) for path in (*files, *signed)]
    marks = [(name, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for name, s in stats]
    kept = _SMALL + sum(about.st_size for _, about in stats[len(files) :])
    large = sum(about.st_size for name, about in stats if name != REPORT) > LARGE
    return repr((str(folder), marks)), kept, large


def _held_folders(runs: Path) -> Iterator[Path]:
    """Yield the folders of runs that seem to be held, of very many others: `is_held` takes five times as long."""
    for folder in folders_in(runs):
        for name in names_in(folder):
            if os.path.lexists(f"{folder}/{name}/{HELD}") and not os.path.lexists(f"{folder}/{name}/{RELEASED}"):
                yield folder / name


def _document(file: Path) -> Mapping[str, Any]:
    document = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(document, Mapping):
        raise TypeError("a document is a map")
    return document
