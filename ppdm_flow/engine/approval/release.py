"""The release of a held run: approved, judged with what the ledger learned meanwhile, and published by one rename."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ppdm_flow.core.clock import Clock, utc_today
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.errors import PpdmError, RefusedError
from ppdm_flow.core.results import HELD, RELEASED
from ppdm_flow.engine.approval.again import PlanLoader, judged_again, plan_at_release
from ppdm_flow.engine.approval.decision import Asked, Decision, Missing, both, decide, not_before
from ppdm_flow.engine.approval.held_run import HeldRun, locked_run, read_held, remove_private
from ppdm_flow.engine.candidates.artifacts import as_json
from ppdm_flow.engine.candidates.run_files import PUBLICATION
from ppdm_flow.engine.evidence.attestations import attestations_of
from ppdm_flow.engine.evidence.facts import RunFacts
from ppdm_flow.engine.evidence.places import ATTESTATIONS
from ppdm_flow.engine.evidence.signatures import SignatureResult, signatures_of
from ppdm_flow.engine.evidence.writing import write_copy
from ppdm_flow.engine.faults import output_fault
from ppdm_flow.engine.held.publication import VERSION, Publication, write_publication
from ppdm_flow.engine.held.signers_file import ReadSigners, lists_of_signers
from ppdm_flow.engine.ledger.chain import Entry
from ppdm_flow.engine.ledger.fields import PENDING
from ppdm_flow.engine.ledger.key import required
from ppdm_flow.engine.ledger.ledger import Ledger, written_down
from ppdm_flow.engine.ledger.store import LedgerStore, find_ledger
from ppdm_flow.engine.ledger.witness import check_neighbours, testimony
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.plan.definition import ReleaseNode

if TYPE_CHECKING:
    from ppdm_flow.engine.delivery.delivery import Delivery

TablesOf = Callable[[Path, Mapping[str, Any]], Sequence[ReleaseNode]]
"""Returns the releases of a run that become tables, from its directory and its plan's document."""


@dataclass(frozen=True, slots=True)
class ReleaseTools:
    """What a release asks of others: the policy that was kept, lists of signers, tables of databases, and clocks.

    ``signers`` is the place of today's list of signers, where it is not where the run knew it.
    """

    load: PlanLoader
    read_signers: ReadSigners
    tables: TablesOf
    signers: Path | None = None
    clock: Clock = utc_today
    now: Callable[[], datetime] = utc_now


@dataclass(frozen=True, slots=True)
class ReleaseOutcome:
    """What came of it: ``published``, or ``missing`` signatures; neither where it was only checked and may go out."""

    run_dir: Path
    published: bool = False
    missing: tuple[Missing, ...] = ()
    counted: tuple[SignatureResult, ...] = ()
    numbers: tuple[int, ...] = ()
    tables: tuple[str, ...] = ()


def release(run_dir: Path, tools: ReleaseTools, *, check: bool = False) -> ReleaseOutcome:
    """Publish a held run, or say which signatures are missing; with ``check`` nothing is written.

    Raises UsageError where it is no held run, RefusedError with every reason why it cannot be released.
    """
    with locked_run(run_dir):
        held = read_held(run_dir)
        decision, _ = _decided(held, tools, None)
        if decision.missing:
            return ReleaseOutcome(run_dir, missing=decision.missing)
        with _opened(held, check=check) as (store, own):
            last = None if store is None else _last(store.entries(), own | held.private.known)
            decision, digest = _decided(held, tools, last)
            if store is not None:
                _hold_against(held, store, own, tools)
            if check:
                return ReleaseOutcome(run_dir, counted=decision.counted)
            return _Publishing(held, store, decision.counted, digest, tools).publish()


def _decided(held: HeldRun, tools: ReleaseTools, last: datetime | None) -> tuple[Decision, str]:
    """Return the decision, and the digest of today's list of signers. Raises RefusedError."""
    held.unchanged()
    held.waivers_count(tools.clock())
    asked = held.asked
    then, today = lists_of_signers(held.run_dir, asked, tools.signers or held.private.signers, tools.read_signers)
    now = tools.now()
    by_then, by_today = (signatures_of(held.run_dir, signers, now) for signers in (then, today))
    signatures = not_before(both(by_then, by_today), last)
    wanted = Asked(tuple(asked["roles"]), bool(asked["distinct"]), dict(asked.get("waivers", {})))
    decision = decide(wanted, signatures, held.releases, (then, today))
    if decision.refused:
        raise RefusedError(decision.refused)
    return decision, today.digest


@contextmanager
def _opened(held: HeldRun, *, check: bool) -> Iterator[tuple[LedgerStore | None, frozenset[int]]]:
    """Open the run's ledger, and keep others away from it; with the run's own numbers of an interrupted release.

    These are taken back first: it is held still, so nothing of it was released.
    """
    node = held.private.ledger
    if node is None:
        yield None, frozenset()
        return
    store = find_ledger(node.place, Path(node.key))
    own = _own(store, held.run_dir)
    if own and not check:
        with store.held():
            store.drop(sorted(own))
    with store.held():
        store.check()
        yield store, _own(store, held.run_dir)


def _own(store: LedgerStore, run_dir: Path) -> frozenset[int]:
    digest = sha256(run_dir / MANIFEST)
    return frozenset(e.number for e in store.entries() if e.state == PENDING and e.manifest == digest)


def _last(entries: Sequence[Entry], known: frozenset[int]) -> datetime | None:
    """Return when the last release was written into the ledger that the run did not know, as the ledger says.

    What the run knew is older than the run, and no signature that is older than its run counts.
    """
    times = [datetime.fromisoformat(e.time).astimezone(UTC) for e in entries if e.number not in known]
    return max(times, default=None)


def _hold_against(held: HeldRun, store: LedgerStore, own: frozenset[int], tools: ReleaseTools) -> None:
    """Judge a run with what the ledger learned since. Raises RefusedError where something does not hold any more."""
    check_neighbours(store, held.run_dir.parent)
    numbers = frozenset(e.number for e in store.entries()) - own
    if numbers == held.private.known:
        return
    plan = plan_at_release(held.run_dir, held.private, tools.load)
    ledger = Ledger(plan, store, required(store.key))
    faults = tuple(judged_again(held.run_dir, held.private, plan, ledger, own, tools.clock()))
    if faults:
        raise RefusedError(faults)


class _Publishing:
    """The last steps of a release, with the run and its ledger locked."""

    def __init__(
        self,
        held: HeldRun,
        store: LedgerStore | None,
        counted: Sequence[SignatureResult],
        signers: str,
        tools: ReleaseTools,
    ) -> None:
        self.held = held
        self.run_dir = held.run_dir
        self.store = store
        self.counted = tuple(counted)
        self.signers = signers
        self.tools = tools

    def publish(self) -> ReleaseOutcome:
        """Write it into the ledger, publish it by one rename, and let tables take their places.

        What was written down and not confirmed counts as released, as it does of a run. Raises PpdmError; then it is
        held as before, unless its tables alone did not take their places (PPF484).
        """
        when, store = self.tools.now(), self.store
        said = None if store is None else testimony(store, len(self.held.private.releases))
        entries = [(each.entry, each.members) for each in self.held.private.releases]
        numbers = () if store is None else tuple(store.add(written_down(entries, self.run_dir, when)))
        with contextlib.ExitStack() as stack:
            try:
                delivery = stack.enter_context(self._tables())
                self._write(when, None if said is None else {**said, "releases": list(numbers)}, delivery)
                self.held.unchanged()
                self._rename()
            except BaseException:
                self._take_back(numbers)
                raise
            if store is not None:
                with contextlib.suppress(PpdmError):  # it is out, and pending counts: `ledger --repair` confirms it
                    store.confirm(numbers)
            remove_private(self.run_dir)
            if delivery is not None:
                delivery.commit()
        tables = () if delivery is None else tuple(delivery.tables)
        return ReleaseOutcome(self.run_dir, True, (), self.counted, numbers, tables)

    def _write(self, when: datetime, ledger: Any, delivery: Delivery | None) -> None:
        """Write who approved it, and give each release the signatures on it."""
        waivers = {each["name"]: each["until"] for each in self.held.manifest.get("waivers", ())}
        document: Publication = {
            "version": VERSION,
            "policy": str(self.held.manifest["policy"]),
            "run": self.run_dir.name,
            "released": when.isoformat(timespec="seconds"),
            "manifest": sha256(self.run_dir / MANIFEST),
            "signers": self.signers,
            "signatures": [
                {
                    "release": each.release,
                    "role": each.role,
                    "signer": str(each.signer),
                    "key": each.key_id,
                    "signed": "" if each.signed is None else each.signed.isoformat(timespec="seconds"),
                }
                for each in self.counted
            ],
        }
        signed = self.held.asked.get("waivers", {})
        if signed:
            document["waivers"] = [{"name": n, "role": r, "until": waivers.get(n, "")} for n, r in signed.items()]
        if ledger is not None:
            document["ledger"] = ledger
        if delivery is not None:
            document["tables"] = list(delivery.tables)
        with _writing(f"`{PUBLICATION}`"):
            self._without_copies()
            for found in attestations_of(self.run_dir, RunFacts.read(self.run_dir)):
                if found.attestation is not None and not found.fault:
                    write_copy(self.run_dir, found.attestation, HELD)
            write_publication(self.run_dir, as_json(document))
            _sync(self.run_dir)

    def _without_copies(self) -> None:
        """Remove the copies of signatures that an interrupted release made."""
        for name in self.held.releases:
            folder = self.run_dir / HELD / name / ATTESTATIONS
            if folder.is_dir() and not folder.is_symlink():
                shutil.rmtree(folder)

    def _rename(self) -> None:
        with _writing(f"`{self.run_dir.name}`"):
            (self.run_dir / HELD).rename(self.run_dir / RELEASED)
            _sync(self.run_dir)

    def _take_back(self, numbers: Sequence[int]) -> None:
        """Leave it held, as it was, unless it is out."""
        if not (self.run_dir / HELD).is_dir():
            return
        if self.store is not None and numbers:
            with contextlib.suppress(PpdmError):
                self.store.drop(numbers)
        with contextlib.suppress(OSError):
            self._without_copies()
            (self.run_dir / PUBLICATION).unlink(missing_ok=True)

    def _tables(self) -> contextlib.AbstractContextManager[Delivery | None]:
        """Return the tables that releases become, staged once the context is entered; none where there are none."""
        releases = self.tools.tables(self.run_dir, self.held.plan)
        if not releases:
            return contextlib.nullcontext()
        from ppdm_flow.engine.delivery.delivery import staged  # noqa: PLC0415  # only few releases become tables

        files = [(each, self.run_dir / HELD / each.name / each.path) for each in releases]
        return staged(str(self.held.plan["policy"]), self.run_dir.name, files)


@contextmanager
def _writing(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise output_fault(error, what) from None


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
