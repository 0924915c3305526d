"""Running a policy on data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from ppdm_flow.api.author import Author, check_author, with_own_signers
from ppdm_flow.api.buckets import copies_for, place_of
from ppdm_flow.api.engines import opened_engine
from ppdm_flow.api.loading.bindings import plan_for_data
from ppdm_flow.api.loading.lock_uses import Uses
from ppdm_flow.api.loading.policies import ReadyPlan, quote_sources
from ppdm_flow.api.show import resolved_text
from ppdm_flow.api.tables import TableData, check_place, plan_for_table, table_copy
from ppdm_flow.api.where import HERE, SPARK, EngineChoice
from ppdm_flow.core.addresses.bucket import is_bucket
from ppdm_flow.core.clock import Clock, utc_today
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import RunError, UsageError
from ppdm_flow.core.results import HELD, RELEASED, Report
from ppdm_flow.engine.buckets.copies import BucketCopies, clear_copies
from ppdm_flow.engine.events import Listener, ignore_events
from ppdm_flow.engine.options import RunOptions
from ppdm_flow.engine.run.finishing import Beside, execute
from ppdm_flow.engine.seam import Engine
from ppdm_flow.evidence.key_files import Password
from ppdm_flow.policy.project_file import project_of
from ppdm_flow.report.locations import locations
from ppdm_flow.report.run.fields import ReportDocument
from ppdm_flow.report.run.judgement import RunJudgement


@dataclass(frozen=True, slots=True)
class RunResult:
    """A finished run: its directory, its report, and what the policy was warned about.

    ``document`` is the report in the directory, read back from disk: what is shown, and what counts, is what is there.
    ``where`` is the directory's path or URL, ``tables`` are those of databases that releases became.
    """

    run_dir: Path
    report: Report
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str]
    document: ReportDocument
    policy: Path = Path()
    where: str = ""
    tables: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The verdict, as the directory has it."""
        return str(self.document["verdict"])

    @property
    def released(self) -> bool:
        """Whether everything held, and nobody has to approve it."""
        return self.verdict == RELEASED

    @property
    def held(self) -> bool:
        """Whether everything held, and people have to approve it."""
        return self.verdict == HELD

    @property
    def exit_status(self) -> int:
        """0 released, 4 held, 1 withheld."""
        return 0 if self.released else 4 if self.held else 1

    def judgement(self, width: int) -> RunJudgement:
        """Return what every form of the outcome is made from; text for a terminal of that many columns."""
        last = f"{self.where or self.run_dir}\n"
        return RunJudgement(self.document, locations(), str(self.policy), self.diagnostics, width, last=last)


def run(
    path: Path,
    sets: Mapping[str, str] = {},
    data: Path | TableData | None = None,
    out: Path | None = None,
    listener: Listener = ignore_events,
    warned: Callable[[tuple[Diagnostic, ...], Mapping[str, str]], None] = lambda _found, _sources: None,
    *,
    keep_withheld: bool = False,
    escrow: Path | None = None,
    partition_rows: int = 262_144,
    workers: int | None = None,
    strict: bool = False,
    locked: bool = False,
    clock: Clock = utc_today,
    where: EngineChoice = HERE,
    sign: Path | None = None,
    password: Password = lambda: None,
) -> RunResult:
    """Execute a policy: the data is released, held for approval, or withheld, into a new directory below ``out``.

    ``out`` is by default where the project file wants runs, else the folder ``runs``.

    Data and ``out`` may be in an object store, as the URL says. A table that Spark reads is copied below ``out`` once,
    for the time of the run.

    ``warned`` is called with the policy's warnings before anything is done. Raises PolicyError, DataError,
    PluginError or RunError; then nothing is released. With ``locked``, that a template, definition or plugin is not as
    the lock file has it is wrong too. ``clock`` tells the day, for waivers: at the start, and again at the verdict.
    ``where`` says what works on the rows: this machine, unless said otherwise. ``workers`` are the cores that work at
    once, all of them where it is None. ``sign`` is the file of the key that signs what is released or held as its
    author; ``password`` is asked for where it is encrypted.
    """
    out = out or default_runs(path)
    author = None if sign is None else Author.of(sign, password)
    options = RunOptions(partition_rows=partition_rows, keep_withheld=keep_withheld, escrow=escrow, clock=clock)
    if workers is not None:
        options = replace(options, workers=workers)
    if where.memory is not None:
        options = replace(options, memory_limit=where.memory << 20)
    clear_copies(out)
    with copies_for(out) as copies, ExitStack() as opened:
        options = replace(options, unchanged=copies.unchanged)
        there: Path | None = None
        engine: Engine | None = None
        if isinstance(data, TableData):
            check_place(data, where)
            first = plan_for_table(path, sets, strict=strict, clock=clock)
            engine = opened.enter_context(opened_engine(where, first.plan.policy))
            there = table_copy(data, first, engine, copies, listener)
        elif data is not None:
            there = copies.local(data)
        cluster = where.engine == SPARK
        ready = plan_for_data(
            path, sets, there, strict=strict, locked=locked, clock=clock, copies=copies, cluster=cluster
        )
        warned(ready.warnings, ready.sources)
        check_author(ready.plan, out, author)
        engine = engine or opened.enter_context(opened_engine(where, ready.plan.policy))
        ran = _executed(ready, out, replace(options, engine=engine), listener, path, copies)
    if author is not None and (ran.released or ran.held):
        author.sign(Path(ran.where or ran.run_dir))
    return ran


def default_runs(policy: Path) -> Path:
    """Return where runs of a policy are made if nobody says so."""
    project = project_of(policy)
    return Path("runs") if project is None or project.runs is None else project.runs


def _executed(
    ready: ReadyPlan, out: Path, options: RunOptions, listener: Listener, path: Path, copies: BucketCopies
) -> RunResult:
    plan, locked, place = ready.plan, ready.held, None
    if is_bucket(out):
        place = place_of(out, plan.policy, keep_withheld=options.keep_withheld)
        out = copies.folder("out")
        copies.shows(out / plan.policy, place.folder.shown)
    options = replace(
        options,
        policy_text=resolved_text(with_own_signers(ready.loaded.tree, plan)),
        project=None if ready.loaded.project is None else ready.loaded.project.sha256,
        templates=Uses(path.absolute().parent).templates(ready.loaded),
        locked=None if locked is None else locked.digests,
        place=place,
    )
    with quote_sources(ready.sources, plan.secrets):
        outcome = execute(plan, ready.data, out, options, listener, _documents, _companions)
    run, document = outcome.run_dir, _read_back(outcome.run_dir)
    where = place.run.url if place is not None and place.run is not None else str(run)
    there = run if place is None else Path(where)
    told = (ready.warnings, ready.sources)
    return RunResult(there, outcome.report, *told, document, path, where, outcome.tables)


def _read_back(run_dir: Path) -> ReportDocument:
    """Return the report on disk. Raises RunError where it cannot be read any more."""
    from ppdm_flow.api.report import read  # noqa: PLC0415  # as below

    fault = RunError(Diagnostic("PPF910", f"the report of `{run_dir.name}` cannot be read back"))
    try:
        report = read(run_dir)
    except UsageError as error:
        raise fault from error
    if "verdict" not in report:
        raise fault
    return report


def _documents(made: Report) -> Mapping[str, str]:
    from ppdm_flow.api.report import documents  # noqa: PLC0415  # as above

    return documents(made)


def _companions(made: Report, release: str, beside: Beside) -> Mapping[str, str]:
    from ppdm_flow.report.datasheet.forms import datasheets  # noqa: PLC0415  # as above

    return datasheets(made, release, beside)
