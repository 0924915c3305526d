"""Releases of a finished run made once more, in a private folder: the plan's own steps on the run's own data.

A way without draws, or one whose draws come from the seed that the policy holds, has one outcome: the file has to have
the same bytes. Where a step draws afresh, the columns that were finished before the first draw have one outcome but for
the order of rows, as long as no later step drops or adds rows. Where these are all columns, it is only the order that
was drawn, and nothing that is required of groups of rows depends on it.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import DisagreementError, PpdmError
from ppdm_flow.core.file_sets import data_sha256, is_in_parts
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.results import RequirementResult
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.candidates.building import Candidate
from ppdm_flow.engine.judging.results import JudgedResults
from ppdm_flow.engine.local.writing import read_back
from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.reading.original import Opening
from ppdm_flow.engine.run.scratch_run import measure
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.streams.multiset import MultisetHash
from ppdm_flow.engine.streams.stream import Stream
from ppdm_flow.plan.definition import SOURCE, Plan, ReleaseNode, StepNode
from ppdm_flow.plan.together import APART
from ppdm_flow.policy.redaction import redacted

DRAWN = "steps on its way draw at random, and nobody has their draws any more"


@dataclass(frozen=True, slots=True)
class RemakeTarget:
    """The reproducible part of ``release``: ``made`` is the release before the first random draw, or all of it."""

    release: ReleaseNode
    made: ReleaseNode

    @property
    def reproducible(self) -> bool:
        """Whether nothing is drawn on its way, or what is drawn is known."""
        return self.made is self.release

    @property
    def complete(self) -> bool:
        """Whether every column is made again: at most the order of rows is drawn."""
        return self.made.attributes == self.release.attributes

    def tells(self, requirement: Requirement) -> bool:
        """Whether all columns that tell of the requirement's attributes are made again."""
        if self.reproducible:
            return True
        if not requirement.on_groups:
            return False
        named = (*requirement.grouping, *requirement.secrets)
        carrying = [a for a in self.release.attributes if a.role is Role.WEIGHT or any(map(a.carries, named))]
        return all(a in self.made.attributes for a in carrying)


@dataclass(frozen=True, slots=True)
class RemakeResult:
    """The result of making a release again: whether it is the ``same`` (None if it was not made), and ``why``.

    ``results`` are the requirements as measured on it, with its rows paired; ``target`` says how much of it was made.
    """

    same: bool | None
    why: str = ""
    target: RemakeTarget | None = None
    results: tuple[RequirementResult, ...] = ()

    def tells(self, requirements: Iterable[Requirement]) -> bool:
        """Whether nothing but what was made again is needed to measure these requirements as the run did."""
        if not self.same or self.target is None:
            return False
        return self.target.reproducible or (self.target.complete and all(r.on_groups for r in requirements))


@dataclass(frozen=True, slots=True)
class RemakeResults:
    """The results by release; ``run`` holds the measurements of all of them, if every release came out the same.

    ``exact`` says that it is by byte: then the run's gates and figures are those of ``run`` as well.
    """

    releases: Mapping[str, RemakeResult]
    run: JudgedResults | None = None
    exact: bool = False


def remake(plan: Plan, files: Mapping[str, Path], data: Path) -> RemakeResults:
    """Make the releases of ``files`` again from ``data``, and compare them. No ledger is read or written.

    What cannot be made, for want of a key or a file, is said of each release. Raises DisagreementError.
    """
    targets = [d for r in plan.releases if r.name in files and (d := remake_target(plan, r)) is not None]
    results = {name: RemakeResult(None, DRAWN) for name in files}
    if not targets:
        return RemakeResults(results)
    folder = Path(tempfile.mkdtemp(prefix="ppdm-flow-"))
    try:
        making = _Remaker(plan, files, data, folder)
        together = len(targets) == len(plan.releases) and all(d.complete for d in targets)
        attempts = [making.attempt(targets, together=together)]
        if len(targets) > 1 and (attempts[0].fault or (together and not all(attempts[0].same.values()))):
            attempts, together = [making.attempt([d], together=False) for d in targets], False
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    results |= {name: remade for attempt in attempts for name, remade in attempt.releases().items()}
    run = attempts[0].measured if together and all(each.same for each in results.values()) else None
    return RemakeResults(results, run, exact=run is not None and all(d.reproducible for d in targets))


def remake_target(plan: Plan, release: ReleaseNode) -> RemakeTarget | None:
    """Return the reproducible part of a release; None if no column can be made again."""
    steps = plan.upstream(release.input)
    places = [i for i, node in enumerate(steps) if node.randomized and not _seeded(plan)]
    if not places:
        return RemakeTarget(release, release)
    later = steps[places[0] :]
    if any(node.expands or node.effect.rows not in ("same", "reordered") for node in later):
        return None
    before = _attributes(plan, later[0].input)
    finished = tuple(a for a in release.attributes if a in before)
    made = replace(release, input=later[0].input, attributes=finished, partition_by=())  # its rows are compared alone
    return RemakeTarget(release, made) if finished else None


@dataclass(slots=True)
class _Attempt:
    """Targets that are made in one run. ``fault`` says why that failed."""

    targets: Sequence[RemakeTarget]
    same: dict[str, bool] = field(default_factory=dict)
    measured: JudgedResults | None = None
    fault: str = ""

    def releases(self) -> dict[str, RemakeResult]:
        return {d.release.name: self._remade(d) for d in self.targets}

    def _remade(self, target: RemakeTarget) -> RemakeResult:
        if self.fault or self.measured is None:
            return RemakeResult(None, self.fault)
        name = target.release.name
        results = tuple(r for r in self.measured.requirements if r.release == name)
        return RemakeResult(self.same[name], target=target, results=results)


@dataclass(frozen=True, slots=True)
class _Remaker:
    """Makes releases again: the plan, files and folder that all attempts share."""

    plan: Plan
    files: Mapping[str, Path]
    data: Path
    folder: Path

    def attempt(self, targets: Sequence[RemakeTarget], *, together: bool) -> _Attempt:
        """Carry out the steps of these targets, and compare what they make."""
        part, attempt = _part(self.plan, targets, together=together), _Attempt(targets)
        context = RunContext(self.plan)

        def look(candidates: Sequence[Candidate], graph: Graph) -> None:
            made = {c.release.name: c for c in candidates}
            attempt.same.update({d.release.name: self._is_same(d, made[d.release.name], context) for d in targets})
            drawing = [n for n in part.steps if graph.fitted[n.name].transform.draws_per_row]
            if not _seeded(part) and not all(n.randomized for n in drawing):
                attempt.fault = DRAWN

        try:
            with context:  # what failed stops everything that it read
                original = Opening(context, self.data).open()
                attempt.measured = measure(replace(context, plan=part), original, self.folder, look)
        except DisagreementError:
            raise
        except PpdmError as error:
            first = redacted(error.diagnostics[0], part.secrets)
            attempt.fault = f"its steps could not be carried out again: {first.code}: {first.message}"
        return attempt

    def _is_same(self, target: RemakeTarget, made: Candidate, context: RunContext) -> bool:
        """Whether the run's file has the bytes that were made again; of a part of its columns, the same rows.

        A release that a cluster wrote in parts has to have the same rows in the same order.
        """
        file = self.files[target.release.name]
        in_parts = target.reproducible and is_in_parts(file)
        if target.reproducible and not in_parts:
            return data_sha256(file) == made.sha256
        kept = read_back(target.release, file, context.resources)
        names, key = [a.name for a in target.made.attributes], MultisetHash.fresh_key()
        told = _rows_in_order if in_parts else _rows
        return told(kept, names, key) == told(made.subject.candidate.stream, names, key)


def _part(plan: Plan, targets: Sequence[RemakeTarget], *, together: bool) -> Plan:
    """Return the plan of these releases alone; each by itself where it takes the others to tell what they tell."""
    releases = tuple(d.made for d in targets)
    names = {r.name for r in releases}
    used = {node.name for r in releases for node in plan.upstream(r.input)}
    exact = together and all(d.reproducible for d in targets)
    return replace(
        plan,
        releases=releases,
        steps=tuple(node for node in plan.steps if node.name in used),
        audits=tuple(a for a in plan.audits if a.release in names and (exact or a.requirements)),
        gates=plan.gates if exact else (),
        recipients=plan.recipients if together else APART,
        ledger=None,
        waivers=(),
    )


def _rows(stream: Stream, names: Sequence[str], key: str) -> tuple[int, int]:
    row_hash = MultisetHash(key)
    for part in stream.parts(names):
        row_hash.look(part.table.select(names))
    return row_hash.value


def _rows_in_order(stream: Stream, names: Sequence[str], key: str) -> tuple[int, int]:
    row_hash, digest, rows = MultisetHash(key), hashlib.sha256(), 0
    for part in stream.parts(names):
        digest.update(row_hash.of_rows(part.table.select(names)).tobytes())
        rows += len(part.table)
    return rows, int.from_bytes(digest.digest())


def _attributes(plan: Plan, reference: str) -> tuple[AttributeFacts, ...]:
    """Return the attributes at a place of the plan: ``source``, a step, or one of its outputs."""
    if reference == SOURCE:
        return plan.source.attributes
    name, _, output = reference.partition(".")
    node: StepNode = plan.step(name)
    wanted = node.effect.outputs.get(output)
    return tuple(a for a in node.attributes if wanted is None or a.name in wanted)


def _seeded(plan: Plan) -> bool:
    return plan.randomness == "reproducible" and plan.seed is not None
