"""Releases a held run: checks approvals, judges it with later ledger entries, and publishes it by one rename."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.clock import Clock, utc_today
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.errors import PpdmError, RefusedError, UsageError
from ppdm_flow.core.phrases import listed
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.results import HELD, RELEASED
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.approval.decision import (
    Decision,
    ReleaseOutcome,
    RequestedSignatures,
    both,
    decide,
    not_before,
    signed_waivers,
)
from ppdm_flow.engine.candidates.artifacts import as_json
from ppdm_flow.engine.candidates.unpublished import PRIVATE, PUBLICATION, is_held, place_of
from ppdm_flow.engine.candidates.unpublished import RELEASED as UNPUBLISHED_RELEASED
from ppdm_flow.engine.evidence.facts import RunFacts
from ppdm_flow.engine.evidence.places import ATTESTATIONS
from ppdm_flow.engine.evidence.signatures import SignatureResult, attestations_of, signatures_of
from ppdm_flow.engine.evidence.writing import run_lock, write_copy
from ppdm_flow.engine.faults import output_fault, refusal
from ppdm_flow.engine.held.private import HeldRunData, WaitingRelease, read_private
from ppdm_flow.engine.held.publication import (
    VERSION,
    HeldRunPublication,
    ReadSigners,
    lists_of_signers,
    write_publication,
)
from ppdm_flow.engine.judging.auditing import AuditResult, AuditSubject, audit_all
from ppdm_flow.engine.judging.judging import metrics_of
from ppdm_flow.engine.judging.results import judge_audits, waive
from ppdm_flow.engine.ledger.fields import PENDING
from ppdm_flow.engine.ledger.key import LedgerRecord, required
from ppdm_flow.engine.ledger.ledger import RunLedger, check_neighbours, find_ledger, plan_of, testimony, written_down
from ppdm_flow.engine.ledger.membership import beside
from ppdm_flow.engine.ledger.tables import LedgerStore
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.engine.options import RunContext, RunOptions
from ppdm_flow.engine.streams.stream import StreamPart
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.engine.verify.verify import used_waivers, verify
from ppdm_flow.plan.definition import AuditNode, Plan, ReleaseNode
from ppdm_flow.plan.document import document
from ppdm_flow.reader.earlier import KeptFile, shows_no_more, unpacked
from ppdm_flow.sdk.history import Membership, ReleaseHistory

if TYPE_CHECKING:
    from ppdm_flow.engine.delivery import Delivery

TablesOf = Callable[[Path, Mapping[str, Any]], Sequence[ReleaseNode]]
"""Returns the releases of a run that become tables, from its directory and its plan's document."""
PlanLoader = Callable[[Path, Mapping[str, tuple[str, ...]]], Plan]
"""Compiles the policy that a run kept, for data with these columns, by table; it reads no data."""


@dataclass(frozen=True, slots=True)
class ReleaseTools:
    """The inputs of a release: the policy that was kept, lists of signers, tables of databases, and clocks.

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
    approvals = held.approvals
    then, today = lists_of_signers(held.run_dir, approvals, tools.signers or held.private.signers, tools.read_signers)
    now = tools.now()
    by_then, by_today = (signatures_of(held.run_dir, signers, now) for signers in (then, today))
    signatures = not_before(both(by_then, by_today), last)
    wanted = RequestedSignatures(
        tuple(approvals["roles"]), bool(approvals["distinct"]), dict(approvals.get("waivers", {}))
    )
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
        with store.locked():
            store.drop(sorted(own))
    with store.locked():
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
            with store.locked():
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


# What the ledger learned since a run was held, judged with it: on the kept hashes and the held files, never on data.
#
# What a requirement says of this and earlier releases (`successive`) is measured again, by both routes, on who is in
# which class. What other requirements hold of the people of this run beside other files of them needs the data; so
# nothing that shows anything else of them may have been released since: then every figure is what it was.


_FREE = frozenset(("approvals", "digest", "policy_digest"))
"""What may be another in the plan of the kept policy: it is in another folder."""


@dataclass(frozen=True, slots=True)
class _HeldCandidate:
    """A held release, as the ledger's history wants it."""

    release: ReleaseNode
    generated: bool
    waiting: WaitingRelease


class _NoData:
    """The rows of the source at a release: there are none to be read."""

    def __init__(self, attributes: Sequence[AttributeFacts]) -> None:
        self.attributes = tuple(a for a in attributes if a.role is not Role.ITEMS)

    def parts(self, columns: Sequence[str] | None = None) -> Iterator[StreamPart]:
        """Raise RefusedError."""
        del columns
        raise refusal("PPF978", _NEEDS_DATA, advice=_RUN_AGAIN)


_RUN_AGAIN = "run the policy again: the run sees everything that was released since"
_NEEDS_DATA = "a requirement on several releases needs the data to be measured again, and a release reads none"


def plan_at_release(run_dir: Path, private: HeldRunData, load: PlanLoader) -> Plan:
    """Return the plan of a held run. Raises RefusedError (PPF978) where this program reads its policy otherwise."""
    plan = load(run_dir / "policy.resolved.yaml", private.columns)
    then = json.loads((run_dir / "plan.json").read_text(encoding="utf-8"))
    now = json.loads(json.dumps(document(plan)))
    if _fixed(now) != _fixed(then):
        text = f"this program makes another plan of the policy of run `{run_dir.name}` than the one that ran it"
        raise refusal("PPF978", text, advice="run the policy again, with this version and these plugins")
    return replace(plan, home=str(private.home), ledger=private.ledger, digest=str(then.get("digest", "")))


def _fixed(document: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in _FREE}


def judged_again(
    run_dir: Path, private: HeldRunData, plan: Plan, ledger: RunLedger, own: Collection[int], today: date
) -> Iterator[Diagnostic]:
    """Yield what does not hold any more; ``own`` are the run's own numbers in the ledger, of an interrupted release."""
    before = ledger.earlier(own)
    by_name = {release.name: release for release in plan.releases}
    known = [
        _HeldCandidate(by_name[waiting.entry.name], waiting.entry.generated, waiting) for waiting in private.releases
    ]
    members = {each.waiting.entry.name: each.waiting.members for each in known}
    histories = beside(known, members, before)
    new = [e for e in ledger.store.entries() if not e.generated and e.number not in private.known | frozenset(own)]
    packed = [each.waiting.members.packed_file for each in known if each.waiting.members is not None] if new else []
    files = [unpacked("", data) for data in packed if data]
    for each in known:
        yield from _told_more(plan, each, ledger.store, new, files)
    yield from _measured(run_dir, plan, known, histories, today)


def _told_more(
    plan: Plan, known: _HeldCandidate, store: LedgerStore, others: Iterable[LedgerRecord], files: Sequence[KeptFile]
) -> Iterator[Diagnostic]:
    """Yield a fault for each of the ``others`` that shows something else of people than the ``files`` of their run."""
    bound = [r.id for r in plan.requirements if _depends_on_others(r) and r.concerns(known.release.name)]
    if not bound or known.generated:
        return
    own = None if plan.ledger is None or plan.ledger.subject is None else known.waiting.members
    for entry in others:
        if not _shows_more(store, entry, own, files):
            continue
        text = (
            f"release `{known.release.name}`: release no. {entry.number} shows something else of its people, so"
            f" nobody knows whether {', '.join(f'`{id_}`' for id_ in bound)} would still hold beside it"
        )
        yield Diagnostic("PPF978", text, help=_RUN_AGAIN)


def _depends_on_others(requirement: Requirement) -> bool:
    """Whether a requirement may depend on other files, and is not measured again here."""
    return bool(requirement.attributes_concerned or requirement.counts_whole_rows) and not requirement.successive


def _shows_more(store: LedgerStore, entry: LedgerRecord, own: Membership | None, files: Sequence[KeptFile]) -> bool:
    """Say whether a release shows, or lacks, anything of one's ``own`` people otherwise than each file of their run.

    The run was judged with all its ``files`` beside one another: another copy of one of them tells nothing.
    """
    if own is None or entry.people is None:
        return True
    data = store.packed_file(entry)
    if not (data and own.packed_file):
        return bool(np.isin(store.members(entry).subjects, own.subjects).any())
    other, mine = unpacked("", data), unpacked("", own.packed_file)
    has_some = np.isin(other.people, mine.people).any()  # those whom it lacks as well
    return bool(has_some) and not any(shows_no_more(other, file) for file in files)


def _measured(
    run_dir: Path, plan: Plan, known: Sequence[_HeldCandidate], histories: Mapping[str, ReleaseHistory], today: date
) -> Iterator[Diagnostic]:
    """Yield the requirements and gates on several releases that do not hold any more, measured on what was kept."""
    audited = _audited(run_dir, plan, known, histories)
    remeasured = frozenset(r.id for a in audited for r in a.node.requirements)
    metrics = metrics_of(plan, audited, ())
    gates = tuple(g for g in plan.gates if any(_is(name, g.metric) for name in metrics))
    requirements = tuple(r for r in plan.requirements if r.successive or r.id in remeasured)
    alone = replace(plan, requirements=requirements, gates=gates)
    for result in waive(alone, judge_audits(alone, audited), today).judged:
        if not result.passes:
            where = f" on release `{result.release}`" if result.release else ""
            text = f"`{result.id}`{where} does not hold beside what was released since: {result.sentence}"
            yield Diagnostic("PPF977", text, result.span, help=_RUN_AGAIN)


def _is(name: str, metric: str) -> bool:
    return name == metric or name.endswith(f"/{metric}")


def _audited(
    run_dir: Path, plan: Plan, known: Sequence[_HeldCandidate], histories: Mapping[str, ReleaseHistory]
) -> list[AuditResult]:
    folder = Path(tempfile.mkdtemp(prefix="ppdm-flow-"))
    audited: list[AuditResult] = []
    try:
        for number, each in enumerate(known):
            own = plan_of(plan, each.release.name)
            nodes = [n for n in plan.audits if n.release == each.release.name and any(map(_successive, n.requirements))]
            if nodes:
                with RunContext(own, RunOptions()) as context:
                    subject = _subject(run_dir, context, each, histories[each.release.name])
                    place = folder / str(number)
                    place.mkdir(mode=0o700)
                    audited += audit_all(context, [(_only(n), subject) for n in nodes], place)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return audited


def _successive(requirement: Requirement) -> bool:
    return requirement.successive


def _only(node: AuditNode) -> AuditNode:
    return replace(node, requirements=tuple(filter(_successive, node.requirements)))


def _subject(run_dir: Path, context: RunContext, known: _HeldCandidate, history: ReleaseHistory) -> AuditSubject:
    release = known.release
    file = place_of(run_dir, f"{RELEASED}/{release.name}/{release.path}")
    back = context.engine.read_back(release, file, context.resources)
    attributes = context.plan.source.attributes
    return AuditSubject(
        release=release,
        file=file,
        original=StreamView(_NoData(attributes)),
        candidate=StreamView(back),
        read_back=back,
        original_attributes=attributes,
        history=history,
    )


# A run that waits for approvals: found, locked while somebody releases it, and compared with its manifest.


PLAN = "plan.json"
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class HeldRun:
    """``manifest`` and ``plan`` are its documents; ``private`` is what it kept for its release."""

    run_dir: Path
    manifest: Mapping[str, Any]
    plan: Mapping[str, Any]
    private: HeldRunData

    @property
    def releases(self) -> tuple[str, ...]:
        """The names of its releases."""
        return tuple(release["name"] for release in self.plan["releases"])

    @property
    def approvals(self) -> Mapping[str, Any]:
        """What its plan says of approvals; of the roles that sign waivers, those of waivers that the run rests on."""
        return {**self.plan["approvals"], "waivers": signed_waivers(self.plan, self.manifest)}

    def unchanged(self) -> None:
        """Hash all of it again. Raises RefusedError (PPF971) where a file is not what was judged and signed."""
        outcome = verify(self.run_dir, None, _no_plan)
        if outcome.unchanged and outcome.verdict == HELD:
            return
        names = [f"`{name}`" for name in (*outcome.changed, *outcome.missing, *outcome.extra)]
        what = f"changed since: {listed(names, _SHOWN)}" if names else "; ".join(outcome.contradictions)
        text = f"run `{self.run_dir.name}` is not what was held: {what or 'it is not held any more'}"
        raise refusal("PPF971", text, advice="`ppdm-flow verify RUN` says more; run the policy again")

    def waivers_count(self, today: date) -> None:
        """Raise RefusedError (PPF979) where a waiver that the run rests on has expired since."""
        for waiver in used_waivers(self.manifest, today):  # type: ignore[arg-type]  # mypy: a manifest
            if waiver.expired:
                text = f"waiver `{waiver.name}` of run `{self.run_dir.name}` {waiver.text}"
                raise refusal("PPF979", text, advice="run the policy again, with a waiver that counts or without one")


def _no_plan(_policy: Path, _data: Path | None) -> Any:
    raise NotImplementedError  # only data asks for one


@contextmanager
def locked_run(run_dir: Path) -> Iterator[None]:
    """Keep others from signing or releasing the run; no repair of a ledger takes it for dead meanwhile."""
    if not run_dir.is_dir():
        raise UsageError(Diagnostic("PPF970", f"there is no run `{run_dir}`", help=_GIVE))
    with run_lock(run_dir):
        yield


_GIVE = "give the directory that `ppdm-flow run` printed"


def read_held(run_dir: Path) -> HeldRun:
    """Return a held run. Raises UsageError (PPF970) where it is none, RefusedError where it is not whole."""
    known = _document(run_dir, MANIFEST)
    verdict = known.get("verdict")
    if not is_held(run_dir):
        out = (run_dir / UNPUBLISHED_RELEASED).is_dir()
        why = "it is released already" if out else f"its verdict is `{verdict}`, and it has no folder `held`"
        raise UsageError(Diagnostic("PPF970", f"run `{run_dir.name}` does not wait for approvals: {why}", help=_GIVE))
    plan, said = _document(run_dir, PLAN), known.get("held")
    complete = isinstance(known.get("files"), Mapping) and isinstance(said, Mapping) and "approvals" in plan
    if verdict != HELD or not complete or not isinstance(plan.get("releases"), list):
        text = f"run `{run_dir.name}` has a folder `held`, and its documents are not those of a held run"
        raise refusal("PPF971", text, advice="`ppdm-flow verify RUN` says more; run the policy again")
    return HeldRun(run_dir, known, plan, read_private(run_dir, str(said.get("sha256"))))  # type: ignore[union-attr]  # looked at above


def remove_private(run_dir: Path) -> None:
    """Remove what the run kept for its release, once it is out."""
    try:
        (run_dir / PRIVATE).unlink(missing_ok=True)
    except OSError as error:
        raise output_fault(error, f"`{PRIVATE}`") from None


def _document(run_dir: Path, name: str) -> Mapping[str, Any]:
    path = run_dir / name
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        document = None
    if not isinstance(document, Mapping):
        raise UsageError(Diagnostic("PPF970", f"`{run_dir}` holds no `{name}` that can be read", help=_GIVE))
    return document


# The last steps of the release of a held run: the ledger, `publication.json`, and the rename.


class HeldPublication:
    """The last steps of a release, with the run and its ledger locked."""

    def __init__(
        self,
        held: HeldRun,
        store: LedgerStore | None,
        counted: Sequence[SignatureResult],
        signers: str,
        when: datetime,
        tables: Sequence[ReleaseNode],
    ) -> None:
        self.held = held
        self.run_dir = held.run_dir
        self.store = store
        self.counted = tuple(counted)
        self.signers = signers
        self.when = when
        self.tables = tuple(tables)

    def publish(self) -> ReleaseOutcome:
        """Write it into the ledger, publish it by one rename, and let tables take their places.

        What was written down and not confirmed counts as released, as it does of a run. Raises PpdmError; then it is
        held as before, unless its tables alone did not take their places (PPF484).
        """
        when, store = self.when, self.store
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
        document: HeldRunPublication = {
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
        signed = self.held.approvals.get("waivers", {})
        if signed:
            document["waivers"] = [{"name": n, "role": r, "until": waivers.get(n, "")} for n, r in signed.items()]
        if ledger is not None:
            document["ledger"] = ledger
        if delivery is not None:
            document["tables"] = list(delivery.tables)
        with _writing(f"`{PUBLICATION}`"):
            self._without_copies()
            for envelope in attestations_of(self.run_dir, RunFacts.read(self.run_dir)):
                if envelope.attestation is not None and not envelope.fault:
                    write_copy(self.run_dir, envelope.attestation, HELD)
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
        if not self.tables:
            return contextlib.nullcontext()
        from ppdm_flow.engine.delivery import staged  # noqa: PLC0415  # only few releases become tables

        files = [(each, self.run_dir / HELD / each.name / each.path) for each in self.tables]
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
