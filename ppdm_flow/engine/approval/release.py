"""The release of a held run: approved, judged with what the ledger learned meanwhile, and published by one rename."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ppdm_flow.core.clock import Clock, utc_today
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.errors import PpdmError, RefusedError
from ppdm_flow.core.results import RELEASED
from ppdm_flow.engine.approval.again import PlanLoader, judged_again, plan_at_release
from ppdm_flow.engine.approval.decision import Decision, RequestedSignatures, both, decide, not_before
from ppdm_flow.engine.approval.held_run import HeldRun, locked_run, read_held, remove_private
from ppdm_flow.engine.approval.outcome import ReleaseOutcome
from ppdm_flow.engine.approval.publishing import HeldPublication
from ppdm_flow.engine.candidates.unpublished import PRIVATE, is_held
from ppdm_flow.engine.evidence.signatures import signatures_of
from ppdm_flow.engine.held.private import read_private
from ppdm_flow.engine.held.signers_file import ReadSigners, lists_of_signers
from ppdm_flow.engine.ledger.chain import LedgerRecord
from ppdm_flow.engine.ledger.fields import PENDING
from ppdm_flow.engine.ledger.key import required
from ppdm_flow.engine.ledger.ledger import RunLedger
from ppdm_flow.engine.ledger.store import find_ledger
from ppdm_flow.engine.ledger.tables import LedgerStore
from ppdm_flow.engine.ledger.witness import check_neighbours
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.plan.definition import ReleaseNode

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


def release(run_dir: Path, tools: ReleaseTools, *, check: bool = False) -> ReleaseOutcome:
    """Publish a held run, or say which signatures are missing; with ``check`` nothing is written.

    Raises UsageError where it is no held run, RefusedError with every reason why it cannot be released.
    """
    with locked_run(run_dir):
        if not check:
            _finish(run_dir)
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
            tables = tools.tables(run_dir, held.plan)
            return HeldPublication(held, store, decision.counted, digest, tools.now(), tables).publish()


def _decided(held: HeldRun, tools: ReleaseTools, last: datetime | None) -> tuple[Decision, str]:
    """Return the decision, and the digest of today's list of signers. Raises RefusedError."""
    held.unchanged()
    held.waivers_count(tools.clock())
    asked = held.asked
    then, today = lists_of_signers(held.run_dir, asked, tools.signers or held.private.signers, tools.read_signers)
    now = tools.now()
    by_then, by_today = (signatures_of(held.run_dir, signers, now) for signers in (then, today))
    signatures = not_before(both(by_then, by_today), last)
    wanted = RequestedSignatures(tuple(asked["roles"]), bool(asked["distinct"]), dict(asked.get("waivers", {})))
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


def _finish(run_dir: Path) -> None:
    """Do what is left to do of a release that was interrupted behind its rename: confirm it, and forget the rest.

    Where the ledger cannot be had, its entry stays pending, which counts as released: ``ledger --repair`` settles it.
    """
    if is_held(run_dir) or not (run_dir / RELEASED).is_dir() or not (run_dir / PRIVATE).is_file():
        return
    with contextlib.suppress(PpdmError, OSError, ValueError, KeyError, TypeError):
        known = json.loads((run_dir / MANIFEST).read_text(encoding="utf-8"))
        node = read_private(run_dir, known["held"]["sha256"]).ledger
        if node is not None:
            store = find_ledger(node.place, Path(node.key))
            with store.held():
                store.confirm(sorted(_own(store, run_dir)))
    remove_private(run_dir)


def _own(store: LedgerStore, run_dir: Path) -> frozenset[int]:
    digest = sha256(run_dir / MANIFEST)
    return frozenset(e.number for e in store.entries() if e.state == PENDING and e.manifest == digest)


def _last(entries: Sequence[LedgerRecord], known: frozenset[int]) -> datetime | None:
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
    ledger = RunLedger(plan, store, required(store.key))
    faults = tuple(judged_again(held.run_dir, held.private, plan, ledger, own, tools.clock()))
    if faults:
        raise RefusedError(faults)
