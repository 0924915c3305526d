"""Measures the figures of a finished run again."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import DisagreementError, PpdmError
from ppdm_flow.core.file_sets import data_sha256, is_in_parts
from ppdm_flow.core.lineage import UNTOLD
from ppdm_flow.core.phrases import counted, listed
from ppdm_flow.core.requirement import TOLERANCE, Requirement
from ppdm_flow.core.results import HELD, RELEASED, WITHHELD, RequirementResult
from ppdm_flow.core.roles import Role
from ppdm_flow.engine import manifest
from ppdm_flow.engine.candidates.building import Candidate
from ppdm_flow.engine.judging.results import JudgedResults
from ppdm_flow.engine.linked.sources import open_linked, table_data
from ppdm_flow.engine.local.writing import read_back
from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.reading.original import Opening
from ppdm_flow.engine.run.scratch_run import measure
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.streams.multiset import MultisetHash
from ppdm_flow.engine.streams.stream import Stream
from ppdm_flow.engine.verify.judge_files import judge
from ppdm_flow.plan.definition import SOURCE, LinkedTable, Plan, ReleaseNode, StepNode
from ppdm_flow.plan.document import document
from ppdm_flow.plan.pictures.wording import derived
from ppdm_flow.plan.together import APART
from ppdm_flow.policy.redaction import redacted

_Key = tuple[str, str, str]
_SEVERAL = "it is about several releases, and not all of them could be made again"
_LEDGER = "it is judged together with other releases"
_CHANGED = "its file is not what the policy makes"


@dataclass(frozen=True, slots=True)
class RemeasureResult:
    """``differences`` are requirements that came out otherwise; ``same_input`` says whether it is the run's own data.

    ``made`` says of each release that could be made again whether it is the same (None: other versions made another
    one, which proves nothing), and in a sentence what that means.
    ``skipped`` are the releases whose files the run did not keep, ``unknown`` the requirements that only the run could
    measure, each with the reason: on releases that cannot be made again, columns that steps made of their attributes,
    generated rows, or sets that other steps changed before they were randomized; and those on earlier releases too.
    ``columns`` tells these columns by release. ``figures`` counts gates and other figures of the run that were computed
    again.
    """

    same_input: bool
    requirements: int
    differences: tuple[str, ...]
    skipped: tuple[str, ...]
    unknown: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    made: Mapping[str, tuple[bool | None, str]] = field(default_factory=dict)
    figures: int = 0

    @property
    def holds(self) -> bool:
        """Whether everything came out as it was."""
        return self.same_input and not self.differences and all(same is not False for same, _ in self.made.values())

    @property
    def lines(self) -> list[str]:
        """The outcome for people."""
        text_lines = [] if self.same_input else ["the data given is not the data of this run: its hash differs"]
        text_lines += [f"release `{n}`: {text}" for n, (_, text) in self.made.items()]
        text_lines += [f"measured otherwise: {d}" for d in self.differences]
        text_lines += [f"not measured again: release `{n}` was withheld and not kept" for n in self.skipped]
        text_lines += [
            f"not measured again: {n}: only the run itself can tell{_why(w)}" for n, w in self.unknown.items()
        ]
        text_lines += [
            f"release `{n}`: the run alone tells what is behind its columns: {text}" for n, text in self.columns.items()
        ]
        if not self.differences and self.requirements:
            text_lines.append(f"{counted(self.requirements, 'requirement')} measured again, with the same outcome")
        if not self.differences and self.figures:
            text_lines.append(f"{self.figures} gates and other figures computed again, with the same outcome")
        return text_lines


def remeasure(run_dir: Path, known: manifest.Manifest, data: Path, plan: Plan) -> RemeasureResult:
    """Measure every release that the run kept, and compare each requirement with the run's own report.

    Where the data is the run's own, its steps are carried out again: a release that comes out the same is measured as
    the run did it, with its rows paired. Any other is judged as a file. Raises DataError where that does not fit.
    """
    same = data_sha256(data) == known["digests"]["input"]
    return Remeasurement(run_dir, known, data, plan, same_input=same).outcome()


class Remeasurement:
    """The results of measuring releases again: all of the run, or those of ``releases``."""

    def __init__(
        self,
        run_dir: Path,
        known: manifest.Manifest,
        data: Path,
        plan: Plan,
        *,
        same_input: bool,
        releases: Collection[str] | None = None,
    ) -> None:
        self.plan = plan
        self.data = data
        self.report = json.loads((run_dir / "report.json").read_text(encoding="utf-8"))
        every = {(r["id"], r["release"], r["metric"]): r for r in self.report["requirements"]}
        self.before = {key: r for key, r in every.items() if releases is None or key[1] in releases}
        kept = {r.name: _kept(run_dir, r) for r in plan.releases}
        self.files = {name: file for name, file in kept.items() if file is not None}
        self.same_input = same_input
        self.others = _other_versions(known, plan)
        self.about = {node["name"]: node for node in document(plan)["releases"]}
        self.requirements = {r.id: r for r in plan.requirements}
        self.differences: list[str] = []
        self.unknown: dict[str, str] = {}
        self.columns: dict[str, str] = {}
        self.made: dict[str, tuple[bool | None, str]] = {}
        self.compared: set[_Key] = set()

    def outcome(self) -> RemeasureResult:
        """Make the releases again, measure them, and return what came of it."""
        remade = self._made_again()
        for release in self.plan.releases:
            if release.name in self.files:
                self._release(release, remade.releases[release.name])
        figures = 0 if remade.run is None else self.whole_run(remade.run, exact=remade.exact)
        return self.result(figures)

    def result(self, figures: int = 0) -> RemeasureResult:
        """Return the outcome; figures that were not compared are unknown."""
        skipped = tuple(n for n in self.about if n not in self.files)
        for id_, on, metric in self.before:
            if (id_, on, metric) not in self.compared and on not in skipped:
                why = _LEDGER if self._is_successive(id_, metric) else _SEVERAL
                self.unknown.setdefault(f"{id_} on {on}", why)
        return RemeasureResult(
            self.same_input,
            len(self.compared),
            tuple(dict.fromkeys(self.differences)),
            skipped,
            self.unknown,
            self.columns,
            self.made,
            figures,
        )

    def _made_again(self) -> RemakeResults:
        if self.same_input:
            return remake(self.plan, self.files, self.data)
        return RemakeResults({name: RemakeResult(None, "it is about other data") for name in self.files})

    def _release(self, release: ReleaseNode, remade: RemakeResult) -> None:
        """Measure one release: as it was made again, or its file as it is."""
        if remade.same is False and self.others:  # these may well be the cause: no proof of a change, and said
            self.made[release.name] = None, f"{_sentence(remade)}: {self.others}"
            remade = RemakeResult(None, f"other versions make another file: {self.others}")
        elif remade.same is not None:
            self.made[release.name] = remade.same, _sentence(remade)
        if remade.same is False:
            for id_, on, _ in self.before:
                if on == release.name:
                    self.unknown[f"{id_} on {on}"] = _CHANGED
        elif remade.tells(r for r in self.plan.requirements if not r.successive):
            self._compare(remade.results)
        else:
            self._judge(release, remade)

    def _judge(self, release: ReleaseNode, remade: RemakeResult) -> None:
        """Judge a file without the steps that led to it, and what needs them on the columns that were made again."""
        report = judge(self.plan, self.data, self.files[release.name], release.name)
        untold = {f.subject for f in report.findings if f.code == UNTOLD}
        outcome = self._remade_requirements(remade)
        self._compare([r for r in remade.results if r.id in outcome])
        for result in report.requirements:
            name = f"{result.id} on {release.name}"
            if result.id in untold - outcome:
                self.unknown[name] = remade.why or DRAWN
            elif result.measured is None and _is_hidden(self.plan, release, result):
                self.unknown[name] = ""
            elif result.measured is None and self.plan.people is not None:  # whose a row is, the file does not say
                self.unknown[name] = remade.why or DRAWN
            elif result.id not in untold:
                self._compare([result])
        if untold - outcome:
            self.columns[release.name] = "; ".join(derived(self.about[release.name]))

    def _remade_requirements(self, remade: RemakeResult) -> set[str]:
        """Return the requirements of which the columns tell that were made again."""
        if not remade.same or remade.target is None:
            return set()
        return {r.id for r in remade.results if remade.target.tells(self.requirements[r.id])}

    def _compare(self, results: Iterable[RequirementResult]) -> None:
        for result in results:
            name, key = f"{result.id} on {result.release}", (result.id, result.release, result.metric)
            earlier = self.before.get(key)
            if self._is_successive(result.id, result.metric):
                self.unknown[name] = _LEDGER
                continue
            self.compared.add(key)
            if earlier is None:
                self.differences.append(f"{name}: the run's report does not have it")
            elif earlier["holds"] != result.holds or not _same(earlier["measured"], result.measured):
                self.differences.append(f"{name}: {earlier['measured']} then, {result.measured} now")

    def whole_run(self, run: JudgedResults, *, exact: bool) -> int:
        """Compare what is about several releases, and gates and figures where the same versions computed them.

        Returns how many gates and figures these are.
        """
        self._compare(r for r in run.requirements if r.release not in self.about)
        if not exact or self.others or self.plan.ledger is not None:
            return 0
        then = {(g["id"], g["release"], g["metric"]): g for g in self.report.get("gates", ())}
        for gate in run.gates if then else ():
            earlier = then.get((gate.id, gate.release, gate.metric), {"holds": None, "measured": None})
            if earlier["holds"] != gate.holds or not _same(earlier["measured"], gate.measured):
                name = f"{gate.id} on {gate.release}" if gate.release else gate.id
                self.differences.append(f"{name}: {earlier['measured']} then, {gate.measured} now")
        figures = {n: v for n, v in self.report.get("metrics", {}).items() if n in run.metrics}
        for name, earlier in figures.items():
            now = run.metrics[name]
            if now.unit != "seconds" and not _same(earlier["value"], now.value):
                self.differences.append(f"figure {name}: {earlier['value']} then, {now.value} now")
        return len(then) + len(figures)

    def _is_successive(self, requirement: str, metric: str) -> bool:
        """Whether a figure is about earlier releases as well, which only the ledger has."""
        required = self.requirements.get(requirement)
        if required is not None and required.successive:
            return True
        return self.plan.ledger is not None and metric.startswith(
            (f"{requirement}.cumulative_", f"{requirement}.together_")
        )


def _is_hidden(plan: Plan, release: ReleaseNode, result: RequirementResult) -> bool:
    """Whether a result is on sets that were randomized after another change, or some of which were dropped."""
    requirement = result.id
    about = {a for r in plan.requirements if r.id == requirement and r.needs_operator for a in r.secrets}
    names = {a.name for a in release.attributes if a.source in about} | about
    steps = [s.effect for s in plan.upstream(release.input)]
    changing = [e for e in steps if names & e.changes.keys()]
    return bool(about) and (len(changing) > 1 or any(e.rows == "fewer" for e in steps))


def _sentence(remade: RemakeResult) -> str:
    if remade.target is None or remade.target.reproducible:
        made = "make the same bytes" if remade.same else "do NOT make the bytes of this file"
        return f"its steps, carried out again, {made}"
    made = "the same rows" if remade.same else "NOT the rows of this file"
    if remade.target.complete:
        return f"its steps, carried out again, make {made}, whose order is drawn"
    names = listed([a.name for a in remade.target.made.attributes], 6)
    return f"its steps up to the first draw, carried out again, make {made} in {names}"


def _other_versions(known: manifest.Manifest, plan: Plan) -> str:
    """Return what made the run and is another now; empty where nothing is."""
    then, now = known.get("versions", {}), manifest.versions()
    differences = [f"{name} {then.get(name)} then, {now[name]} now" for name in now if then.get(name) != now[name]]
    if not differences and known["digests"].get("plan") != plan.digest:
        return "the plan was another one then: of other plugins, or of another policy"
    return ", ".join(differences)


def _why(reason: str) -> str:
    return f": {reason}" if reason else ""


def _kept(run_dir: Path, release: ReleaseNode) -> Path | None:
    for folder in (RELEASED, HELD, WITHHELD):
        file = run_dir / folder / release.name / release.path
        if file.exists():
            return file
    return None


def _same(before: float | None, now: float | None) -> bool:
    if before is None or now is None:
        return before is now
    return math.isclose(before, now, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


# Releases of a finished run made once more, in a private folder: the plan's own steps on the run's own data.
#
# A way without draws, or one whose draws come from the seed that the policy holds, has one outcome: the file has to
# have the same bytes. Where a step draws afresh, the columns that were finished before the first draw have one outcome
# but for the order of rows, as long as no later step drops or adds rows. Where these are all columns, it is only the
# order that was drawn, and nothing that is required of groups of rows depends on it.


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
        """Whether all columns that depend on the requirement's attributes are made again."""
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
        fingerprint = _rows_in_order if in_parts else _rows
        return fingerprint(kept, names, key) == fingerprint(made.subject.candidate.stream, names, key)


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


# A run of linked tables, measured again: each table by its own plan, then their join.


def remeasure_tables(run_dir: Path, known: manifest.Manifest, folder: Path, plan: Plan) -> RemeasureResult:
    """Measure the releases of linked tables, whose files are in a folder, again, and compare them with the report.

    What is joined is measured again where all releases came out the same. Raises DataError where the data does not fit.
    """
    files = {table.name: _file(table, folder) for table in plan.tables}
    inputs = known.get("tables", {})
    same = {name: name in inputs and data_sha256(file) == inputs[name]["sha256"] for name, file in files.items()}
    single = {
        table.name: Remeasurement(
            run_dir,
            known,
            files[table.name],
            replace(table.plan, digest=plan.digest),
            same_input=same[table.name],
            releases=_releases(table),
        ).outcome()
        for table in plan.tables
    }
    joined = _joined(run_dir, known, folder, plan, single)
    every = [*single.values(), joined]
    return RemeasureResult(
        all(same.values()),
        sum(result.requirements for result in every),
        tuple(dict.fromkeys(d for result in every for d in result.differences)),
        tuple(name for result in single.values() for name in result.skipped),
        {name: why for result in every for name, why in result.unknown.items()},
        {name: text for result in single.values() for name, text in result.columns.items()},
        {name: made for result in single.values() for name, made in result.made.items()},
        sum(result.figures for result in every),
    )


def _file(table: LinkedTable, folder: Path) -> Path:
    file = table_data(table, folder)
    return folder if file is None else file


def _releases(table: LinkedTable) -> frozenset[str]:
    return frozenset(release.name for release in table.plan.releases)


def _joined(
    run_dir: Path, known: manifest.Manifest, folder: Path, plan: Plan, single: Mapping[str, RemeasureResult]
) -> RemeasureResult:
    """Measure the joins again where every release was made again and is the same."""
    own = frozenset[str]().union(*(_releases(table) for table in plan.tables))
    names = frozenset(r["release"] for r in _requirements(run_dir, known, folder, plan)) - own
    measurement = Remeasurement(run_dir, known, folder, plan, same_input=True, releases=names)
    made = {name: same for result in single.values() for name, (same, _) in result.made.items()}
    if not all(made.get(name) for name in own):
        return measurement.result()
    targets = [remake_target(table.plan, release) for table in plan.tables for release in table.plan.releases]
    scratch = Path(tempfile.mkdtemp(prefix="ppdm-flow-"))
    try:
        with RunContext(replace(plan, waivers=())) as context:
            run = measure(context, open_linked(context, folder), scratch)
    except DisagreementError:
        raise
    except PpdmError:  # a key or a file is not there any more: it is said of each release
        return measurement.result()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return measurement.result(measurement.whole_run(run, exact=all(t is not None and t.reproducible for t in targets)))


def _requirements(run_dir: Path, known: manifest.Manifest, folder: Path, plan: Plan) -> list[dict[str, str]]:
    every = Remeasurement(run_dir, known, folder, plan, same_input=True)
    return list(every.before.values())
