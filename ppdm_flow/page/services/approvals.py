"""Held runs: what they wait for, and who may give it."""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

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
from ppdm_flow.evidence.keys import PublicKey
from ppdm_flow.evidence.signers import Signers
from ppdm_flow.page.services.accounts.roles import PageRole, User
from ppdm_flow.page.services.bounded import CHECKS, LARGE, TOO_LONG, LimitExceededError
from ppdm_flow.page.services.runs.folders import folder_named, folders_in, names_in
from ppdm_flow.policy.signers import signers_bytes, signers_in

P = ParamSpec("P")
T = TypeVar("T")


# In which roles somebody may sign a held run: never their own, but as its author.


class Reason(StrEnum):
    """Why somebody can sign in no role."""

    NO_KEY = "no_key"
    NOT_LISTED = "not_listed"
    """No signer has the key, or not any more."""
    OWN = "own"
    """They ran the policy, or signed as its author."""
    AUTHOR_FIRST = "author_first"
    """Nobody knows yet whose run it is, and they are a steward who may have made it."""
    NO_ROLE = "no_role"
    """The list of signers gives them none of the roles that are asked for, or not today."""
    ALL_SIGNED = "all_signed"


@dataclass(frozen=True, slots=True)
class SigningPermission:
    """The roles in which somebody may sign now; where there are none, the reason.

    ``signed_roles`` are those in which they did: where the ledger learned something since, a release asks for it anew.
    """

    roles: tuple[str, ...] = ()
    reason: Reason | None = None
    signed_roles: tuple[str, ...] = ()

    def allows(self, role: str) -> bool:
        """Whether they may sign in this role."""
        return role in self.roles or role in self.signed_roles


def may_sign(
    user: User, key: PublicKey | None, approval: Approval, maker: int | None, now: datetime
) -> SigningPermission:
    """Return in which roles somebody may sign; ``maker`` is the account that had the run made, where one had.

    The account that had the run made here is its author, whether or not it signed as author, and with any key. A person
    who signed as its author is one, too. Authors are stewards, and people who approve are approvers. Where no author is
    known, a steward approves nothing before the author has signed: it may be their own run.
    """
    if key is None:
        return SigningPermission(reason=Reason.NO_KEY)
    signers = [signers.of_key(key.key_id) for signers in approval.lists]
    then, today = signers
    if then is None or today is None or then.name != today.name:
        return SigningPermission(reason=Reason.NOT_LISTED)
    own = maker == user.id or then.name in approval.authors
    allowed = set[str]()
    if user.has(PageRole.STEWARD) and (own or maker is None):
        allowed |= {AUTHOR}
    authorless = maker is None and not approval.authors and user.has(PageRole.STEWARD)
    if user.has(PageRole.APPROVER) and not own and not authorless:
        allowed |= set(approval.requested.needed)
    mine = [role for role in approval.roles if role in allowed and not any(s.refusal(role, now) for s in (then, today))]
    if not mine:
        return SigningPermission(reason=Reason.OWN if own else Reason.AUTHOR_FIRST if authorless else Reason.NO_ROLE)
    left = tuple(role for role in mine if not _signed(approval, role, key))
    signed_roles = tuple(role for role in mine if role not in left)
    return SigningPermission(left, None if left else Reason.OWN if own else Reason.ALL_SIGNED, signed_roles)


def _signed(approval: Approval, role: str, key: PublicKey) -> bool:
    """Whether the key has signed every release in a role."""
    done = {each.release for each in approval.signed(role) if each.key_id == key.key_id and each.good}
    return done >= set(approval.releases)


# Held runs below the folder of runs, as their documents and signatures have them; nothing of their data is read.


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

    requested: RequestedSignatures
    releases: tuple[str, ...]
    signatures: tuple[SignatureResult, ...]
    decision: Decision
    lists: tuple[Signers, Signers]
    waivers: tuple[HeldRunWaiver, ...]

    @property
    def roles(self) -> tuple[str, ...]:
        """All roles that sign, the author's first."""
        return (AUTHOR, *self.requested.needed)

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
    requested: RequestedSignatures
    signers: str
    today: Path
    releases: tuple[str, ...]
    waivers: tuple[HeldRunWaiver, ...]
    envelopes: tuple[FoundAttestation, ...]


# Lists of signers as pages read them: parsed once for each text, elsewhere, and not for longer than a page waits.


class BoundedAnswers(Generic[T]):
    """What was read last in processes of their own, by keys; what is wrong with a text is kept as well.

    A key is another one where what is read changes.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, _KnownAnswer[T]] = OrderedDict()
        self._lock = threading.Lock()

    def ask(
        self, key: str, size: int, until: float, late: str, function: Callable[P, T], *given: P.args, **more: P.kwargs
    ) -> T:
        """Return what a function answers, which was asked before or is asked now and reads so many bytes.

        Raises the errors of ours that it raises, and LimitExceededError, which says ``late``, where there is no time.
        """
        left = until - time.monotonic()
        answer = self._kept(key, left)
        if answer is None:
            if left <= 0:
                raise LimitExceededError(Diagnostic(TOO_LONG, late))
            answer = self._compute_answer(key, size, left, function, *given, **more)
        if isinstance(answer, PpdmError):
            raise answer.with_traceback(None)
        return answer

    def _compute_answer(
        self, key: str, size: int, left: float, function: Callable[P, T], *given: P.args, **more: P.kwargs
    ) -> T | PpdmError:
        answer: T | PpdmError
        until = seconds = math.inf
        try:
            answer = CHECKS.within(left).run(function, *given, **more)
        except LimitExceededError as error:
            answer, until = error, time.monotonic() + _AGAIN
            seconds = left if left < CHECKS.seconds else math.inf
        except PpdmError as error:
            answer = error
        with self._lock:
            self._known[key] = _KnownAnswer(answer, size, until, seconds)
            while sum(each.bytes for each in self._known.values()) > _MOST_BYTES:
                self._known.popitem(last=False)
        return answer

    def _kept(self, key: str, left: float) -> T | PpdmError | None:
        with self._lock:
            known = self._known.get(key)
            if known is None or known.until < time.monotonic() or known.seconds < left - _ALIKE:
                return None
            self._known.move_to_end(key)
            return known.answer


_MOST_BYTES = 8_000_000
"""Of the texts whose signers are kept; the objects take some ten times as much."""
_AGAIN = 600.0
"""Seconds until a list that took too long is tried again: the machine may have been busy."""
_ALIKE = 0.5
"""Seconds that a page may have more for a list than another one had, and does not try it again."""


@dataclass(frozen=True, slots=True)
class _KnownAnswer(Generic[T]):
    """An answer. Where it took longer than so many ``seconds``, it holds ``until`` then, and for who has no more."""

    answer: T | PpdmError
    bytes: int
    until: float = math.inf
    seconds: float = math.inf


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
    runs_by_folder = {folder: held_run(folder, now, read, until) for folder in listed}
    return [runs_by_folder[folder] for folder in folders if folder in runs_by_folder], pages


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
    requested, releases = documents.requested, documents.releases
    lists = lists_of_signers(folder, {"signers": documents.signers}, documents.today, read)
    signatures = both(*(judge_all(documents.envelopes, signers, now) for signers in lists))
    decision = decide(requested, signatures, releases, lists)
    return Approval(requested, releases, signatures, decision, lists, documents.waivers)


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


class SignersLists(BoundedAnswers[Signers]):
    """The lists that were read last, by their digests."""

    def reader(self, seconds: float = math.inf) -> ReadSigners:
        """Return what reads lists for one page, which waits so long for those that are not known yet.

        It raises PolicyError and UsageError as `read_signers` does, and LimitExceededError where there is no time.
        """
        until = time.monotonic() + seconds
        return lambda path: self._read(path, until)

    def _read(self, path: Path, until: float) -> Signers:
        data = signers_bytes(path, path.name)
        digest = hashlib.sha256(data).hexdigest()
        late = f"the list of signers {path.name} is long and was not looked at: open the run by itself"
        return self.ask(digest, len(data), until, late, signers_in, data, path.name)


LISTS = SignersLists()
"""The lists of all held runs of a server."""
SECONDS = 3.0
"""How long a page of many runs waits for lists."""
