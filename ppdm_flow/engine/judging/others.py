"""What the audits of one release learn of the run's other releases, which the same people may read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.judging.auditing import AuditSubject, UnaccountedFiles
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.streams.stream import Stream, StreamPairs
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.plan.dag import base
from ppdm_flow.plan.definition import SOURCE, Plan, ReleaseNode
from ppdm_flow.plan.together import read_together
from ppdm_flow.reader.faults import NotVerifiedError
from ppdm_flow.reader.run import EarlierFiles, RunReader
from ppdm_flow.sdk.audit import OtherRelease
from ppdm_flow.tables.table import Table

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ReadersOfRun:
    """The other releases that are read beside one, and who holds all of them."""

    others: tuple[OtherRelease, ...] = ()
    reader: RunReader | None = None


def beside_releases(
    plan: Plan,
    subjects: Mapping[str, AuditSubject],
    files: Mapping[str, OtherRelease],
    before: EarlierFiles | None = None,
) -> dict[str, ReadersOfRun]:
    """Return what is beside each of the ``files``, releases whose rows are those of people.

    ``before`` are those of earlier runs.
    """
    determined = any(a.determines for a in plan.source.attributes)
    known = frozenset(n for r in plan.requirements if r.of_all_files for n in r.grouping) & {
        a.name for a in plan.source.attributes
    }

    quasi_identifiers = frozenset(a.name for a in plan.source.attributes if a.role is Role.QUASI_IDENTIFIER)

    def reader_of(releases: Iterable[OtherRelease], unverified: str = "") -> RunReader:
        return RunReader(
            tuple(releases),
            plan.people,
            plan.nulls,
            known,
            quasi_identifiers=quasi_identifiers,
            determined=determined,
            unverified=unverified or ("" if before is None else before.unverified),
            before=before,
        )

    if not read_together(plan):
        return {n: ReadersOfRun((), reader_of([f])) for n, f in files.items()}
    reader = reader_of(files.values(), unpaired(plan, subjects))
    return {n: ReadersOfRun(tuple(f for m, f in files.items() if m != n), reader) for n in files}


def reasons_unverified(
    requirements: Iterable[Requirement], beside: Mapping[str, ReadersOfRun], before: EarlierFiles | None
) -> dict[tuple[str, str], UnaccountedFiles]:
    """Return, by requirement and release, why figures that do not ask the reader may not hold beside earlier files."""
    out: dict[tuple[str, str], UnaccountedFiles] = {}
    if before is None:
        return out
    for requirement in requirements:
        if requirement.successive:
            continue
        every = requirement.counts_whole_rows
        for name, one in beside.items():
            if requirement.concerns(name) and one.reader is not None and (every or requirement.attributes_concerned):
                about = None if every else requirement.attributes_concerned
                if why := _reason(one.reader, about, before, drawn=not requirement.needs_operator):
                    text = f"What earlier releases tell beside this one is not accounted for: {why}."
                    out[requirement.id, name] = UnaccountedFiles("together_earlier", text)
    return out


def reasons_beside(
    requirements: Iterable[Requirement], beside: Mapping[str, ReadersOfRun], joined: Collection[frozenset[str]]
) -> dict[tuple[str, str], UnaccountedFiles]:
    """Return, by requirement and release, why figures on groups that do not ask the reader may not hold in this run.

    ``joined`` are the releases that were measured as one table.
    """
    out: dict[tuple[str, str], UnaccountedFiles] = {}
    for requirement in (r for r in requirements if r.on_groups and r.grouping and not r.successive):
        for name, one in beside.items():
            if requirement.concerns(name) and one.reader is not None:
                try:
                    telling = one.reader.others_that_tell_more(requirement.grouping).get(name, ())
                    left = [
                        f"`{other}` tells more of the same rows" for other in telling if {name, other} not in joined
                    ]
                except NotVerifiedError as fault:
                    left = [str(fault)]
                if left:
                    text = f"What releases of this run tell together is not accounted for: {left[0]}."
                    out[requirement.id, name] = UnaccountedFiles("together_releases", text)
    return out


def _reason(reader: RunReader, attributes: frozenset[str] | None, before: EarlierFiles, *, drawn: bool) -> str:
    if before.unverified:
        return before.unverified
    try:
        telling = reader.earlier_that_tell_more(attributes, drawn=drawn)
    except NotVerifiedError as fault:
        return str(fault)
    return f"`{telling[0]}` shows more of the same people" if telling else ""


def unpaired(plan: Plan, subjects: Mapping[str, AuditSubject]) -> str:
    """Return why what a reader knows is not accounted for: rows that are no row of the source; nothing else."""
    names = [n for n, s in subjects.items() if s.pairs is None and not _is_generated(plan, s.release)]
    return f"rows of `{names[0]}` are made of several rows of the source" if names else ""


def _is_generated(plan: Plan, release: ReleaseNode) -> bool:
    """Whether a generator made the rows of a release, which tell nothing of anybody's then."""
    return any(node.bound.info.kind is Kind.GENERATOR for node in plan.upstream(release.input))


def files_of_people(
    plan: Plan, graph: Graph, subjects: Mapping[str, AuditSubject], original: Stream
) -> dict[str, OtherRelease]:
    """Return the releases whose rows are those of people, as others see them; ``original`` is the source.

    Where some hold weighted rows one by one, all are numbered so.
    """
    people = {name: subject for name, subject in subjects.items() if subject.pairs is not None}
    single = {name: graph.expanded(subject.release.input) for name, subject in people.items()}
    mixed = len(set(single.values())) > 1
    source = graph.engine.expanded(original, graph.numbering) if mixed and graph.numbering is not None else None

    def everyone(columns: Sequence[str]) -> Iterator[Table]:
        return (part.table for part in original.parts(list(columns)))

    files = {n: _file(plan, graph, s, None if single[n] else source) for n, s in people.items()}
    return {name: replace(file, everyone=everyone) for name, file in files.items()}


def _file(plan: Plan, graph: Graph, subject: AuditSubject, source: Stream | None) -> OtherRelease:
    """Return a release as others see it; with ``source``, the source's rows one by one, so are the release's."""
    release, pairs, candidate = subject.release, subject.pairs, subject.candidate
    if pairs is None:
        raise ValueError("the rows of a release must be paired with those of the source")
    if source is not None and graph.numbering is not None:
        stream = graph.engine.expanded(graph.streams[release.input], graph.numbering)
        pairs, candidate = StreamPairs(source, stream, aligned=True), StreamView(stream)
    return OtherRelease(
        name=release.name,
        attributes={a.name: a for a in release.attributes},
        candidate=candidate,
        pairs=pairs,
        left_out_at_random=left_out_at_random(plan, graph, release),
        decided_by=_decided_by(plan, release),
        ordered_by="" if release.collapse else release.ordered_by,
        in_source_order=base(release.ordered_by) == SOURCE and not release.collapse,
    )


def _decided_by(plan: Plan, release: ReleaseNode) -> frozenset[str]:
    """Return the attributes of the source by which steps on the way to a release have left out rows."""
    deciding = (fact.lineage for step in plan.upstream(release.input) for fact in plan.deciding_rows(step))
    return frozenset(name for lineage in deciding for name in lineage.carries | lineage.hidden_by)


def left_out_at_random(plan: Plan, graph: Graph, release: ReleaseNode) -> Rows:
    """Return the numbers of the rows that random steps on the way to a release left out, by draws alone, ascending."""
    row_numbers = [np.zeros(0, dtype=np.int64)]
    for node in plan.upstream(release.input):
        if node.effect.rows == "fewer" and node.randomized and not node.effect.by_others:
            before, after = _numbers(graph.streams[node.input]), _numbers(graph.streams[node.name])
            row_numbers.append(np.setdiff1d(before, after))
    return np.unique(np.concatenate(row_numbers))


def _numbers(stream: Stream) -> Rows:
    parts = [part.table.rows for part in stream.parts([])]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
