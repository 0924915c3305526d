"""Carrying out one test: its table through the policy's steps and audits, and what is expected of the outcome."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ppdm_flow.api.test.files import CompiledPolicies, sets_of
from ppdm_flow.api.test.judging import CheckedPolicy, Judge, PolicyTestRun
from ppdm_flow.core.diagnostics import Diagnostic, Severity, has_errors
from ppdm_flow.core.draws import RunKey
from ppdm_flow.core.errors import DataError, PluginError, PolicyError, PpdmError
from ppdm_flow.core.lineage import UNTOLD
from ppdm_flow.core.results import HELD, RELEASED, RequirementResult
from ppdm_flow.engine.faults import wrap_plugin_errors
from ppdm_flow.engine.judging.judging import verdict
from ppdm_flow.engine.judging.results import waive
from ppdm_flow.engine.linked.sources import LinkedOriginals, data_columns
from ppdm_flow.engine.opening.opening import refuse_linked
from ppdm_flow.engine.options import RunContext, RunOptions
from ppdm_flow.engine.reading.original import Original
from ppdm_flow.engine.run.carry_out import Opened, open_original
from ppdm_flow.engine.run.preview import chosen_fields
from ppdm_flow.engine.run.scratch_run import CandidateContents, ContentQuery, run_in_scratch, values_in
from ppdm_flow.engine.steps.graph import run_key
from ppdm_flow.engine.streams.lookalikes import lookalike_checks
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.engine.verify.judge_files import judge
from ppdm_flow.plan.compile import CompileResult, compile_policy
from ppdm_flow.plan.definition import SOURCE, AuditNode, Plan, SourceNode
from ppdm_flow.plan.formats import handling, inferred, usual_ending
from ppdm_flow.policy import load as load_policy
from ppdm_flow.policy.linked import qualified
from ppdm_flow.policy.loaded import PolicyReading as Policy
from ppdm_flow.policy.requirements import awaits_data
from ppdm_flow.policy.test import LoadedTests, PolicyTestCase, PolicyTestTable, expects_a_run, text_of
from ppdm_flow.report.test import JudgedRequirement, PolicyTestOutcome, PolicyTestResult, Trace

PARTITION_ROWS = 1 << 16
_REFUSALS = (DataError, PluginError, PolicyError)


@dataclass(slots=True)
class PolicyTestRunner:
    """Carries out tests one after another.

    ``trace`` asks for what each of them exercises, for coverage. Unless ``everything`` is asked for, audits that the
    policy does not write down, that measure no requirement, and whose figures nobody looks at are left out.
    """

    trace: bool = False
    everything: bool = False
    policies: CompiledPolicies = field(default_factory=CompiledPolicies)

    def result(self, file: LoadedTests, name: str) -> PolicyTestResult:
        """Return what came of the test ``name`` of ``file``."""
        started = time.perf_counter()
        if file.cases is None:
            raise ValueError("a test file with errors is not carried out")
        case = file.cases.tests[name]
        span = file.places.key("tests", name)
        start = PolicyTestResult(
            file.file, name, span.line if span else 1, str(file.policy), PolicyTestOutcome.PASSED, 0.0, case.description
        )
        try:
            with wrap_plugin_errors("the test"):
                result = _RunningTest(self, file, name, case).carried_out(start)
        except PpdmError as error:
            failures = tuple(d if d.span else replace(d, span=span) for d in error.diagnostics)
            sources = {**file.sources, **error.sources}
            result = replace(
                start,
                outcome=PolicyTestOutcome.ERROR,
                failures=failures,
                sources=sources,
                exit_status=max(1, _status(error)),
            )
        return replace(result, seconds=time.perf_counter() - started)


def _status(error: PpdmError) -> int:
    return 1 if isinstance(error, _REFUSALS) else error.exit_status


@dataclass(slots=True)
class _RunningTest:
    bench: PolicyTestRunner
    file: LoadedTests
    name: str
    case: PolicyTestCase

    def carried_out(self, start: PolicyTestResult) -> PolicyTestResult:
        policy, compiled = self.bench.policies.compiled(self.file.policy, sets_of(self.file, self.name))
        checked = CheckedPolicy(compiled.diagnostics)
        judge = Judge(self.file, self.name, self.case, shown=True)
        failures = list(judge.checked(checked))
        if not expects_a_run(self.case.expect):
            return _conclude(start, failures, {**self.file.sources, **compiled.sources}, ())
        if compiled.plan is None:
            failures += judge.policy_errors([d for d in compiled.diagnostics if d.severity is Severity.ERROR])
            return _conclude(start, failures, {**self.file.sources, **compiled.sources}, ())
        folder = Path(tempfile.mkdtemp(prefix="ppdm-flow-test-"))
        try:
            return self._run(start, failures, policy, compiled.plan, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _run(
        self, start: PolicyTestResult, failures: list[Diagnostic], policy: Policy, plan: Plan, folder: Path
    ) -> PolicyTestResult:
        runs: list[PolicyTestRun] = []
        sources = {**self.file.sources, **policy.sources}
        data = prepare_tables(self.file, *self._data(), plan, folder)
        judge = Judge(self.file, self.name, self.case, shown=data.shown)
        wrong: list[tuple[int, list[Diagnostic]]] = []
        for number, happened in enumerate(self._happenings(policy, plan, data, folder), 1):
            runs.append(happened)
            differences = list(judge.happened(happened))
            wrong += [(number, differences)] if differences else []
        all_failures = failures + _first(wrong, len(runs), self.case.repeat)
        return _conclude(start, all_failures, sources, runs, wrong[0][0] if wrong else len(runs))

    def _data(self) -> tuple[PolicyTestTable | None, Mapping[str, PolicyTestTable]]:
        """Return the test's own data, else that of all tests of the file."""
        cases = self.file.cases
        own = self.case if self.case.data is not None or self.case.tables or cases is None else cases
        return own.data, own.tables

    def _happenings(
        self, policy: Policy, unbound: Plan, data: PolicyTestTables, folder: Path
    ) -> Iterator[PolicyTestRun]:
        """Yield what comes of each repetition; refused data is refused at once."""
        try:
            plan = self._bound(policy, unbound, data)
            if self.case.released is not None:
                yield self._judged(plan, data, folder)
            else:
                yield from self._tried(plan, folder)
        except _REFUSALS as error:
            yield PolicyTestRun("refused", refused=error.diagnostics)

    def _bound(self, policy: Policy, plan: Plan, data: PolicyTestTables) -> Plan:
        """Return the plan for the columns of the test's data. Raises PolicyError."""
        columns = data_columns(data.read_by(plan), None)
        outcome: CompileResult = compile_policy(policy, columns)
        if outcome.plan is not None and awaits_data(policy.policy):
            chosen = chosen_fields(data.read_by(outcome.plan), None)
            sets = sets_of(self.file, self.name)
            outcome = compile_policy(load_policy(self.file.policy, sets, chosen=chosen), columns)
        if outcome.plan is None or has_errors(outcome.diagnostics):
            raise PolicyError([d for d in outcome.diagnostics if d.severity is Severity.ERROR], outcome.sources)
        bound = data.read_by(outcome.plan)
        if self.bench.everything:
            return bound
        tables = tuple(replace(t, plan=replace(t.plan, audits=tuple(self._audits(t.plan)))) for t in bound.tables)
        return replace(bound, audits=tuple(self._audits(bound)), tables=tables)

    def _audits(self, plan: Plan) -> Iterator[AuditNode]:
        """Yield the audits that the verdict or the test needs, and those that the policy writes down."""
        looked_at = [*self.case.expect.metrics, *(gate.metric for gate in plan.gates)]
        owners = {name.rpartition("/")[2].partition(".")[0] for name in looked_at}
        every = self.case.expect.findings is not None
        yield from (n for n in plan.audits if every or n.requirements or not n.implicit or n.name in owners)

    def _tried(self, plan: Plan, folder: Path) -> Iterator[PolicyTestRun]:
        with RunContext(plan, RunOptions(PARTITION_ROWS, workers=1)) as context:
            original = open_original(context, None)
            values = _values(plan, original) if self.bench.trace else frozenset()
            for number in range(self.case.repeat):
                keyed = replace(context, options=replace(context.options, key=self._key(plan, number)))
                trace = self.bench.trace and number == 0
                tried = run_in_scratch(keyed, original, folder / "run", self._content_queries(plan), trace=trace)
                results = waive(plan, tried.measured, context.options.clock())
                yield PolicyTestRun(
                    _verdict(plan, results.judged),
                    results.judged,
                    results.metrics,
                    results.findings,
                    tried.contents,
                    changed=tried.changed - {n.name for n in plan.steps if n.implicit},
                    values=values,
                )

    def _key(self, plan: Plan, number: int) -> RunKey:
        """Return the key of a repetition: the policy's own where it is reproducible, else one from the test's name."""
        if plan.randomness == "reproducible" and self.case.repeat == 1:
            return run_key(plan, None)
        text = f"ppdm-flow policy test v1\0{self.name}\0{number}"
        return RunKey(hashlib.sha256(text.encode()).digest())

    def _judged(self, plan: Plan, data: PolicyTestTables, folder: Path) -> PolicyTestRun:
        name = self.case.release or plan.releases[0].name
        table = self.case.released
        if table is None:
            raise ValueError("the case has no `released` table to judge")
        file = released(self.file, table, plan, name, folder)
        seen: dict[str, CandidateContents] = {}

        def look(view: StreamView) -> None:
            names = view.schema.names
            listed = {c: values_in(view, c) for c in self.case.expect.released_values if c in names}
            seen[name] = CandidateContents(view.row_count, tuple(names), listed)

        options = RunOptions(PARTITION_ROWS, workers=1)
        results = judge(plan, data.one(plan), file, name, options=options, look=look)
        shown = table.csv is None and table.file is None
        judged = (*(r for r in results.requirements if r.release == name), *_measurable(plan, results.gates))
        return PolicyTestRun(
            _verdict(plan, judged), judged, results.metrics, results.findings, seen, shown=shown, given=True
        )

    def _content_queries(self, plan: Plan) -> Mapping[str, ContentQuery]:
        expect = self.case.expect
        own = {plan.releases[0].name: expect} if len(plan.releases) == 1 else {}
        every = {**own, **expect.releases}
        return {name: ContentQuery(tuple(c.released_values), tuple(c.suppressed)) for name, c in every.items()}


def _verdict(plan: Plan, judged: Iterable[RequirementResult]) -> str:
    """Return the verdict of a run: a run that holds is held where people have to approve it first."""
    word = verdict(judged)
    return HELD if word == RELEASED and plan.approvals is not None else word


def _measurable(plan: Plan, gates: tuple[RequirementResult, ...]) -> Iterator[RequirementResult]:
    """Leave out the gates on figures of steps, which have not been carried out."""
    steps = {node.name for node in plan.steps}
    yield from (g for g in gates if g.measured is not None or g.metric.partition(".")[0] not in steps)


def _values(plan: Plan, original: Opened) -> frozenset[tuple[str, str]]:
    """Return the values that requirements name and the data has, with the attributes as the policy names them."""
    if isinstance(original, LinkedOriginals):
        own = ((t.name, _values_of(t.plan, original.tables[t.name])) for t in plan.tables)
        return frozenset((qualified(table, name), value) for table, values in own for name, value in values)
    return _values_of(plan, original)


def _values_of(plan: Plan, original: Original) -> frozenset[tuple[str, str]]:
    view = StreamView(original.stream)
    values: set[tuple[str, str]] = set()
    for each in lookalike_checks(plan.requirements, original.stream.attributes):
        there = values_in(view, each.facts.name)
        values |= {(each.facts.name, value) for value in each.spans if value in there}
    return frozenset(values)


def _first(wrong: list[tuple[int, list[Diagnostic]]], runs: int, repeat: int) -> list[Diagnostic]:
    """Return the failures of the first repetition that has some, with how many there are."""
    if not wrong:
        return []
    number, failures = wrong[0]
    if repeat == 1:
        return failures
    note = f"in {len(wrong)} of {runs} repetitions; this is number {number}"
    return [replace(each, notes=(*each.notes, note)) for each in failures]


def _conclude(
    start: PolicyTestResult,
    failures: list[Diagnostic],
    sources: Mapping[str, str],
    runs: list[PolicyTestRun] | tuple[()],
    shown: int = 0,
) -> PolicyTestResult:
    run = runs[shown - 1] if runs else None
    files = {d.span.file for d in failures if d.span} | {r.span.file for d in failures for r in d.related}
    return replace(
        start,
        outcome=PolicyTestOutcome.FAILED if failures else PolicyTestOutcome.PASSED,
        failures=tuple(failures),
        sources={f: t for f, t in sources.items() if f in files},
        verdict=run.verdict if run else None,
        runs=max(1, len(runs)),
        judged=tuple(_judged(r) for r in run.judged) if run else (),
        metrics={n: f.value for n, f in run.metrics.items()} if run else {},
        untold=tuple(dict.fromkeys(f.subject for f in run.findings if f.code == UNTOLD)) if run and run.given else (),
        exit_status=1 if failures else 0,
        trace=_trace(runs),
    )


def _judged(result: RequirementResult) -> JudgedRequirement:
    return JudgedRequirement(result.id, result.release, result.holds, result.measured, result.bound, result.direction)


def _trace(runs: list[PolicyTestRun] | tuple[()]) -> Trace:
    failed = {r.id for run in runs for r in run.judged if not r.holds}
    holding = {r.id for run in runs for r in run.judged if r.holds}
    changed = frozenset(name for run in runs for name in run.changed)
    values = frozenset(value for run in runs for value in run.values)
    return Trace(frozenset(holding), frozenset(failed), changed, values)


# The tables of a test as files that the engine reads, in a private folder.


@dataclass(frozen=True, slots=True)
class PolicyTestData:
    """A file, and how it is read. ``shown`` says that its values stand in the test file, so that they may be told."""

    path: Path
    node: SourceNode
    shown: bool


@dataclass(frozen=True, slots=True)
class PolicyTestTables:
    """The files of linked tables, by table; of any other policy the one under ``source``."""

    files: Mapping[str, PolicyTestData]

    @property
    def shown(self) -> bool:
        """Whether the values of all stand in the test file."""
        return all(file.shown for file in self.files.values())

    def one(self, plan: Plan) -> Path:
        """Return the file of the one table. Raises DataError for linked ones."""
        refuse_linked(plan)
        return self.files[SOURCE].path

    def read_by(self, plan: Plan) -> Plan:
        """Return the plan that reads these files."""
        if not plan.tables:
            return replace(plan, source=_reading(plan.source, self.files[SOURCE].node))
        tables = tuple(
            replace(t, plan=replace(t.plan, source=_reading(t.plan.source, self.files[t.name].node)))
            for t in plan.tables
        )
        return replace(plan, tables=tables)


def _reading(source: SourceNode, node: SourceNode) -> SourceNode:
    return replace(source, path=node.path, format=node.format, options=node.options, columns=node.columns)


def prepare_tables(
    file: LoadedTests, data: PolicyTestTable | None, tables: Mapping[str, PolicyTestTable], plan: Plan, folder: Path
) -> PolicyTestTables:
    """Return the data of a test, of one table or of linked ones. Raises DataError where it is the other."""
    if not plan.tables:
        if data is None:
            raise DataError(Diagnostic("PPF146", "the policy has one table", help="write its rows under `data`"))
        return PolicyTestTables({SOURCE: prepare_data(file, data, plan.source, folder)})
    names = [table.name for table in plan.tables]
    if set(tables) != set(names):
        listed = ", ".join(f"`{name}`" for name in names)
        text = f"the policy has the linked tables {listed}, and the test other ones"
        raise DataError(Diagnostic("PPF146", text, help="write the rows of each under `tables`"))
    prepared = {}
    for table in plan.tables:
        own = folder / table.name
        own.mkdir()
        prepared[table.name] = prepare_data(file, tables[table.name], table.plan.source, own)
    return PolicyTestTables(prepared)


def prepare_data(file: LoadedTests, table: PolicyTestTable, node: SourceNode, folder: Path) -> PolicyTestData:
    """Return one table of a test. Those in the test file are CSV with a header; sets are as the source has them."""
    if table.file is not None:
        return PolicyTestData(file.beside(table.file), replace(node, path=str(file.beside(table.file))), shown=False)
    if table.csv is not None:
        path = file.beside(table.csv)
        return PolicyTestData(path, _csv(node, path), shown=False)
    kind = node.format
    if kind is not None and handling("sources", kind) == "only":
        if table.text is None:
            text = f"rows of single values are no sets: write `data: |` as a file of format `{kind}` has it"
            raise DataError(Diagnostic("PPF146", text))
        path = folder / f"data{usual_ending('sources', kind)}"
        path.write_text(table.text, encoding="utf-8")
        return PolicyTestData(path, replace(node, path=str(path), options=_utf8(node)), shown=True)
    path = written(table, folder / "data.csv")
    return PolicyTestData(path, _csv(node, path), shown=True)


def released(file: LoadedTests, table: PolicyTestTable, plan: Plan, release: str, folder: Path) -> Path:
    """Return the file that a test gives in place of what the steps would make."""
    if table.csv is not None or table.file is not None:
        return file.beside(table.csv or table.file or "")
    node = next(r for r in plan.releases if r.name == release)
    if table.text is not None and handling("sinks", node.format) == "only":
        path = folder / f"released{usual_ending('sinks', node.format)}"
        path.write_text(table.text, encoding="utf-8")
        return path
    return written(table, folder / "released.csv")


def written(table: PolicyTestTable, path: Path) -> Path:
    """Write a table of the test file as CSV."""
    path.write_text(table.text if table.text is not None else text_of(table.rows or ((),)), encoding="utf-8")
    return path


def _csv(node: SourceNode, path: Path) -> SourceNode:
    """Return the source as one that reads a CSV file with a header; blanks are stripped where the policy says so."""
    kept = {"strip": node.options["strip"]} if node.options.get("strip") is True and _is_csv(node) else {}
    return replace(node, path=str(path), format="csv", columns=None, options=kept)


def _is_csv(node: SourceNode) -> bool:
    return (node.format or inferred("sources", node.path or "")) == "csv"


def _utf8(node: SourceNode) -> dict[str, object]:
    return {k: v for k, v in node.options.items() if k != "encoding"}
