"""Build the candidates of a run: write each release, read it back from disk, and audit it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.candidates.unpublished import CANDIDATE
from ppdm_flow.engine.events import StepFinished, StepStarted
from ppdm_flow.engine.faults import run_fault
from ppdm_flow.engine.judging.auditing import (
    AuditResult,
    AuditSubject,
    UnaccountedFiles,
    add_unverified,
    audit_all,
    refuse_quoting_audits,
)
from ppdm_flow.engine.judging.joining.joined import JoinedAudit, joined_audits
from ppdm_flow.engine.judging.others import (
    ReadersOfRun,
    beside_releases,
    files_of_people,
    reasons_beside,
    reasons_unverified,
)
from ppdm_flow.engine.local.writing import kept_columns
from ppdm_flow.engine.machine import peak_mb, return_freed_memory
from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.parallel import run_all
from ppdm_flow.engine.reading.identifiers import check_identifiers
from ppdm_flow.engine.reading.original import Original
from ppdm_flow.engine.seam import ReleaseTarget, WrittenRows
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.steps.origins import OperatorOrigin, channels, generation
from ppdm_flow.engine.streams.multiset import MultisetHash
from ppdm_flow.engine.streams.stream import ReadBack, Stream
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.engine.written_files import WrittenFiles
from ppdm_flow.plan.definition import SOURCE, ReleaseNode
from ppdm_flow.plan.together import SIGN
from ppdm_flow.reader.run import EarlierFiles
from ppdm_flow.sdk.audit import FilesReader, OtherRelease
from ppdm_flow.sdk.history import ReleaseHistory
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.set_operator import SetOperator
from ppdm_flow.sdk.view import PairedView

SCRATCH = "scratch"
FilesBefore = Callable[[Mapping[str, OtherRelease]], EarlierFiles | None]
"""Returns the files of earlier runs that are about people of these files of the run."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A written release: its file as it was read back, its rows, and what its audits may look at.

    ``file`` is a folder where the release is partitioned. ``written`` has the hashes of the bytes before they were read
    back and judged.
    """

    release: ReleaseNode
    file: Path
    written: WrittenFiles
    rows: int
    channels: Mapping[str, OperatorOrigin]
    subject: AuditSubject

    @property
    def sha256(self) -> str:
        """The hash of the release's bytes."""
        return self.written.sha256

    @property
    def generated(self) -> bool:
        """Whether the rows belong to nobody: every column was generated."""
        return all(a.was(Change.GENERATED) for a in self.release.attributes)


class CandidateBuilder:
    """Writes and audits the candidate releases of one run; publishing them is a later stage."""

    def __init__(self, context: RunContext, graph: Graph, original: Original, directory: RunDirectory) -> None:
        self.context = context
        self.plan = context.plan
        self.graph = graph
        self.original = original
        self.directory = directory
        self._earlier: EarlierFiles | None = None
        self._beside: Mapping[str, ReadersOfRun] = {}

    def write(self) -> tuple[Candidate, ...]:
        """Write every release and read it back. Raises RunError where a file is not what was written."""
        self.directory.folder(CANDIDATE)
        self.directory.folder(SCRATCH)
        work: dict[str, Callable[[], Any]] = {r.name: self._writing(r) for r in self.plan.releases}
        done = run_all(work, self.context.options.workers, self.context.stop)
        return tuple(done[r.name] for r in self.plan.releases)

    def audit(
        self,
        candidates: Sequence[Candidate],
        histories: Mapping[str, ReleaseHistory],
        before: FilesBefore,
        reader: FilesReader | None = None,
    ) -> tuple[AuditResult, ...]:
        """Carry out every audit; ``histories`` are those of the releases, where there is a ledger.

        ``before`` returns the files of earlier runs; ``reader`` holds more files than those of this plan.
        """
        views = {c.release.name: c.subject.candidate for c in candidates}
        own_subjects = {c.release.name: c.subject for c in candidates}
        files = files_of_people(self.plan, self.graph, own_subjects, self.original.stream)
        self._earlier = before(files)
        self._beside = beside = beside_releases(self.plan, own_subjects, files, self._earlier)
        subjects = {
            c.release.name: replace(
                c.subject,
                siblings={n: v for n, v in views.items() if n != c.release.name},
                history=histories.get(c.release.name),
                others=beside.get(c.release.name, ReadersOfRun()).others,
                reader=reader or beside.get(c.release.name, ReadersOfRun()).reader,
            )
            for c in candidates
        }
        own = [JoinedAudit(n, subjects[n.release]) for n in self.plan.audits]
        audited = (*self._audited(own), *self._audited(self._joined(list(subjects.values())), len(own)))
        self.directory.remove(SCRATCH)
        refuse_quoting_audits(self.plan, self.original.stream, audited)
        alone = [r for r in self.plan.requirements if not r.of_all_files]
        joined = {frozenset(result.node.release.split(SIGN)) for result in audited}
        reasons = {**reasons_beside(alone, beside, joined), **self.reasons_unverified(alone)}
        return tuple(add_unverified(result, reasons) for result in audited)

    def reasons_unverified(self, requirements: Iterable[Requirement]) -> Mapping[tuple[str, str], UnaccountedFiles]:
        """Return, by requirement and release, why figures of this run alone may not hold beside earlier files."""
        return reasons_unverified(requirements, self._beside, self._earlier)

    def _joined(self, subjects: Sequence[AuditSubject]) -> tuple[JoinedAudit, ...]:
        original, rows = self.original.stream, self.context.options.partition_rows
        return joined_audits(self.plan, subjects, self.graph, original, rows, self.context.stop)

    def _audited(self, audits: Sequence[JoinedAudit], first: int = 0) -> tuple[AuditResult, ...]:
        folder = self.directory.folder(SCRATCH)
        results = audit_all(self.context, [(a.node, a.subject) for a in audits], folder, first)
        return tuple(a.explained(result) for a, result in zip(audits, results, strict=True))

    def _writing(self, release: ReleaseNode) -> Callable[[], Candidate]:
        return lambda: self._write(release)

    def _write(self, release: ReleaseNode) -> Candidate:
        context, name = self.context, f"release {release.name}"
        context.listener(StepStarted(name))
        started = time.perf_counter()
        stream = self.graph.streams[release.input]
        file = self.directory.home / CANDIDATE / release.name / release.path
        key = MultisetHash.fresh_key()
        spool = self.directory.home / SCRATCH / f"sort-{release.name}"
        spool.mkdir(mode=0o700)
        types = kept_columns(release, self.original.types)
        target = ReleaseTarget(file, spool, key, context.options.memory_limit // 3, types)
        written = context.engine.write(release, stream, target)
        return_freed_memory()
        read_rows, files = MultisetHash(key), context.engine.written_files(file)
        back = context.engine.read_back(release, file, context.resources, read_rows)
        return_freed_memory()
        _same_rows(release, written, read_rows)
        active = channels(self.plan, release, self.graph.fitted)
        context.listener(StepFinished(name, time.perf_counter() - started, written.rows, peak_mb()))
        subject = self._subject(release, file, back, active)
        check_identifiers(release, subject.original, subject.candidate)
        return Candidate(release, file, files, written.rows, active, subject)

    def _subject(
        self, release: ReleaseNode, file: Path, back: ReadBack, active: Mapping[str, OperatorOrigin]
    ) -> AuditSubject:
        views = self.graph.views
        return AuditSubject(
            release=release,
            file=file,
            original=views[SOURCE],
            candidate=StreamView(back),
            read_back=back,
            original_attributes=self.original.stream.attributes,
            operators={n: c.operator for n, c in active.items() if not isinstance(c.operator, SetOperator)},
            operator_inputs={name: views[c.reference] for name, c in active.items()},
            set_operators={n: c.operator for n, c in active.items() if isinstance(c.operator, SetOperator)},
            operator_pairs={n: p for n, c in active.items() if (p := self._operator_pairs(release, c)) is not None},
            pairs=self._pairs(release),
            holdout=self._holdout(release),
            generation=generation(self.context.engine, self.plan, self.graph, self.original, release),
        )

    def _pairs(self, release: ReleaseNode) -> PairedView | None:
        steps = self.plan.upstream(release.input)
        kinds = {n.bound.info.kind for n in steps}
        if Kind.GENERATOR in kinds or any(n.effect.rows == "generated" for n in steps):
            return None
        original: Stream = self.original.stream
        if self.graph.expanded(release.input) and self.original.numbering is not None:
            original = self.context.engine.expanded(original, self.original.numbering)
        released = self.graph.streams[release.input]
        sets = frozenset(a.name for a in (*original.attributes, *released.attributes) if a.role is Role.ITEMS)
        return self.context.engine.pairs(original, released, aligned=Kind.TABLE not in kinds, keep=sets)

    def _operator_pairs(self, release: ReleaseNode, channel: OperatorOrigin) -> PairedView | None:
        """Return the sets before an operator beside the released ones; both have the same row numbers."""
        steps = self.plan.upstream(release.input)
        operator = channel.operator
        if (
            not isinstance(operator, SetOperator)
            or operator.by_clients
            or any(n.effect.rows == "generated" for n in steps)
        ):
            return None
        kinds = {n.bound.info.kind for n in steps}
        before, after = self.graph.streams[channel.reference], self.graph.streams[release.input]
        weighted = any(a.role is Role.WEIGHT for a in before.attributes)
        if weighted and self.graph.expanded(release.input) and self.original.numbering is not None:
            before = self.context.engine.expanded(before, self.original.numbering)
        return self.context.engine.pairs(before, after, aligned=Kind.TABLE not in kinds)

    def _holdout(self, release: ReleaseNode) -> Holdout | None:
        """Return the rows that the one generator on the way held out; row numbers must be the source's up to it."""
        holdouts = [self.graph.fitted[n.name].holdout for n in self.plan.upstream(release.input)]
        given = [h for h in holdouts if h is not None]
        if len(given) != 1 or self.graph.expanded(release.input):
            return None
        if self.plan.people is None:
            return given[0]
        subject = self.plan.people.subject
        return given[0].by_person(self.graph.views[SOURCE].partitions([subject]), subject)


def _same_rows(release: ReleaseNode, written: WrittenRows, read_rows: MultisetHash) -> None:
    """Hold the file against what went into it. Raises RunError where it is not a permutation of that."""
    if read_rows.value != written.multiset:
        raise run_fault(
            "PPF903",
            f"release `{release.name}`: the file read back is not a permutation of the rows that were written"
            f" ({written.rows} written, {read_rows.rows} read)",
        )
