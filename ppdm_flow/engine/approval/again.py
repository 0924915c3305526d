"""What the ledger learned since a run was held, judged with it: on the kept hashes and the held files, never on data.

What a requirement says of this and earlier releases (``successive``) is measured again, by both routes, on who is in
which class. What other requirements hold of the people of this run beside other files of them needs the data; so
nothing that shows anything else of them may have been released since: then every figure is what it was.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.results import RELEASED
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.candidates.run_files import place_of
from ppdm_flow.engine.faults import refusal
from ppdm_flow.engine.held.private import HeldRunData, WaitingRelease
from ppdm_flow.engine.judging.auditing import AuditResult, AuditSubject, audit_all
from ppdm_flow.engine.judging.judging import metrics_of
from ppdm_flow.engine.judging.results import judge_audits
from ppdm_flow.engine.judging.waiving import waive
from ppdm_flow.engine.ledger.chain import LedgerRecord
from ppdm_flow.engine.ledger.ledger import RunLedger, plan_of
from ppdm_flow.engine.ledger.membership import beside
from ppdm_flow.engine.ledger.tables import LedgerStore
from ppdm_flow.engine.options import RunContext, RunOptions
from ppdm_flow.engine.streams.stream import StreamPart
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.plan.definition import AuditNode, Plan, ReleaseNode
from ppdm_flow.plan.document import document
from ppdm_flow.reader.earlier import KeptFile, shows_no_more, unpacked
from ppdm_flow.sdk.history import Membership, ReleaseHistory

PlanLoader = Callable[[Path, Mapping[str, tuple[str, ...]]], Plan]
"""Compiles the policy that a run kept, for data with these columns, by table; it reads no data."""
_FREE = frozenset(("approvals", "digest", "policy_digest"))
"""What may be another in the plan of the kept policy: it is in another folder."""


@dataclass(frozen=True, slots=True)
class _HeldCandidate:
    """A held release, as the ledger's history wants it."""

    release: ReleaseNode
    generated: bool
    held: WaitingRelease


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
    known = [_HeldCandidate(by_name[held.entry.name], held.entry.generated, held) for held in private.releases]
    members = {each.held.entry.name: each.held.members for each in known}
    histories = beside(known, members, before)
    new = [e for e in ledger.store.entries() if not e.generated and e.number not in private.known | frozenset(own)]
    packed = [each.held.members.packed_file for each in known if each.held.members is not None] if new else []
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
    own = None if plan.ledger is None or plan.ledger.subject is None else known.held.members
    for entry in others:
        if not _shows_more(store, entry, own, files):
            continue
        text = (
            f"release `{known.release.name}`: release no. {entry.number} shows something else of its people, so"
            f" nobody knows whether {', '.join(f'`{id_}`' for id_ in bound)} would still hold beside it"
        )
        yield Diagnostic("PPF978", text, help=_RUN_AGAIN)


def _depends_on_others(requirement: Requirement) -> bool:
    """Whether what a requirement says may depend on what other files tell, and is not measured again here."""
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
    again = frozenset(r.id for a in audited for r in a.node.requirements)
    metrics = metrics_of(plan, audited, ())
    gates = tuple(g for g in plan.gates if any(_is(name, g.metric) for name in metrics))
    asked = tuple(r for r in plan.requirements if r.successive or r.id in again)
    alone = replace(plan, requirements=asked, gates=gates)
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
