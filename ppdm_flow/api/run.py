"""Running a policy on data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ppdm_flow.api.buckets import copies_for, place_of
from ppdm_flow.api.loading.bindings import plan_for_data
from ppdm_flow.api.loading.lock_uses import Uses
from ppdm_flow.api.loading.policies import ON_SPARK, ReadyPlan, quote_sources, unchosen, valid_plan
from ppdm_flow.api.show import resolved_text
from ppdm_flow.api.sign import sign
from ppdm_flow.api.where import ENGINES, HERE, LOCAL, SPARK, EngineChoice
from ppdm_flow.core.addresses import TableAddress, is_bucket, refuse_table
from ppdm_flow.core.clock import Clock, utc_today
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import RunError, UsageError
from ppdm_flow.core.results import HELD, RELEASED, Report
from ppdm_flow.engine.approval.decision import AUTHOR
from ppdm_flow.engine.buckets.copies import BucketCopies, clear_copies
from ppdm_flow.engine.events import Listener, ignore_events
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.local.engine import LocalEngine
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.options import RunOptions
from ppdm_flow.engine.reading.binding import bind
from ppdm_flow.engine.run.finishing import Beside, execute
from ppdm_flow.engine.seam import Engine
from ppdm_flow.engine.streams.stream import Stop
from ppdm_flow.evidence.key_files import Password, read_signing_key
from ppdm_flow.evidence.keys import PublicKey
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.document import document
from ppdm_flow.policy import load
from ppdm_flow.policy.demands import EqualTo
from ppdm_flow.policy.project_file import project_of
from ppdm_flow.policy.requirements import awaits_data
from ppdm_flow.policy.signers import read_signers
from ppdm_flow.report.locations import locations
from ppdm_flow.report.run.fields import ReportDocument
from ppdm_flow.report.run.judgement import RunJudgement

if TYPE_CHECKING:
    from ppdm_flow.engine.spark.engine import SparkEngine
    from ppdm_flow.engine.spark.snapshot import SparkTable


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
    plan, locked, place = ready.plan, ready.locked_policy, None
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
    warnings_and_sources = (ready.warnings, ready.sources)
    return RunResult(there, outcome.report, *warnings_and_sources, document, path, where, outcome.tables)


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


def _companions(made: Report, beside: Mapping[str, Beside]) -> Mapping[str, Mapping[str, str]]:
    from ppdm_flow.report.datasheet.forms import datasheets  # noqa: PLC0415  # as above

    return datasheets(made, beside)


# Data that is in no file: a table that Spark reads, copied once for a run.


_FRAME = "the DataFrame"
_FILE = "data.parquet"
_COPY = Path(".copy-of-a-table.parquet")
"""A name that tells the format of the copy."""


@dataclass(frozen=True, slots=True)
class SparkFrame:
    """A DataFrame of a session of Spark's, given as data."""

    frame: Any


TableData = TableAddress | SparkFrame
"""Data that Spark reads, and that is copied before a run."""


def check_place(table: TableData, where: EngineChoice) -> None:
    """Raise UsageError where a table is not given to Spark."""
    if where.engine == SPARK:
        return
    if isinstance(table, TableAddress):
        refuse_table(table.shown)
    text = "a DataFrame of Spark's is read by the engine `spark`"
    raise UsageError(Diagnostic("PPF954", text, help='leave `engine` out, or give `engine="spark"`'))


def plan_for_table(path: Path, sets: Mapping[str, str], *, strict: bool, clock: Clock | None) -> ReadyPlan:
    """Return the plan of a policy as far as it is known before a table's columns are. Raises PolicyError."""
    loaded = load(path, sets)
    if awaits_data(loaded.policy):
        raise unchosen(loaded, ON_SPARK)
    return valid_plan(loaded, None, _COPY, strict=strict, clock=clock)


def table_copy(table: TableData, ready: ReadyPlan, engine: Engine, copies: BucketCopies, listener: Listener) -> Path:
    """Copy the columns that a policy uses of all rows of a table, and return the copy, which goes with ``copies``.

    ``engine`` is Spark's. Raises PolicyError and DataError where the table cannot be read or does not match the
    policy, RunError.
    """
    spark = cast("SparkEngine", engine)
    with quote_sources(ready.sources, ready.plan.secrets):
        if ready.plan.tables:
            text = "linked tables are read from a folder with the file of each, and one table is given"
            raise data_fault("PPF957", text, advice="write each to Parquet first, and give their folder")
        source = _source(table, spark)
        columns = _used(ready, source.columns())
        source.check_kinds(columns)
        scratch = copies.folder("copying")
        spark.check(scratch)
        name = table.file_name if isinstance(table, TableAddress) else _FILE
        place = copies.folder("table") / name
        source.copied(spark.farm.of_run(Stop(), listener), columns, scratch, place)
        for shown in (place, place.absolute()):
            copies.shows(shown, source.shown.strip("`"))
        return place


def _source(table: TableData, engine: SparkEngine) -> SparkTable:
    from ppdm_flow.engine.spark.snapshot import SparkTable  # noqa: PLC0415  # an extra

    if isinstance(table, TableAddress):
        return SparkTable.at(engine.farm.session, table)
    return SparkTable(table.frame, _FRAME)


def _used(ready: ReadyPlan, names: tuple[str, ...]) -> list[str]:
    """Return the columns that the policy declares, in the order of the table. Raises PolicyError, DataError."""
    node = ready.plan.source
    if node.columns is not None:
        return list(names)  # they are named by their places
    bound = valid_plan(ready.loaded, names, _COPY, strict=False, clock=None).plan
    used = set(bind(bound.source, names).columns.values())
    return [name for name in names if name in used]


# The author of a run, who signs it with a key that is checked before anything is done.


@dataclass(frozen=True, slots=True)
class Author:
    """Who signs a run in the role ``author``: the file of their key, and its password where it has one."""

    path: Path
    public: PublicKey
    password: Password = field(repr=False)

    @classmethod
    def of(cls, path: Path, password: Password) -> Author:
        """Read the key in a file, asking for its password once. Raises DataError where it cannot be used."""
        passwords: list[bytes | None] = []

        def once() -> bytes | None:
            if not passwords:
                passwords.append(password())
            return passwords[0]

        return cls(path, read_signing_key(path, once).public, once)

    def sign(self, run: Path) -> None:
        """Sign all releases of a run, in an object store too."""
        sign(run, self.path, AUTHOR, password=self.password)


_ON_SIGNERS = ("approvals", "approvals.signers")
"""Floors that may say which file it is."""


def check_author(plan: Plan, out: Path, author: Author | None) -> None:
    """Look before the work at what would make a held or signed run end in vain.

    Raises UsageError where the run is to go to an object store (PPF469), which has no rename that makes a release, or
    where the list of signers does not let the author sign (PPF967); PolicyError where it is none.
    """
    if plan.approvals is not None and is_bucket(out):
        text = "a run that people have to approve cannot go to an object store: it is released later, by one rename"
        raise UsageError(Diagnostic("PPF469", text, help="give a folder with `--out`, and copy what is released"))
    if plan.approvals is None:
        return
    signers = read_signers(Path(plan.approvals.signers))
    if author is None:
        return
    signer = signers.of_key(author.public.key_id)
    why = "no signer has this key" if signer is None else signer.refusal(AUTHOR, utc_now())
    if why:
        text = f"the key of `--sign` cannot sign as `{AUTHOR}`: {why}"
        help_ = f"`{Path(plan.approvals.signers).name}` says who may: give them the role `{AUTHOR}`"
        raise UsageError(Diagnostic("PPF967", text, help=help_))


def with_own_signers(tree: Mapping[str, Any], plan: Plan) -> Mapping[str, Any]:
    """Return a resolved policy that names the copy of the list of signers which lies beside it in the run.

    A floor on the file means the copy then: the manifest has its hash, and nobody puts another one there.
    """
    if plan.approvals is None or not isinstance(tree.get("approvals"), Mapping):
        return tree
    name = document(plan)["approvals"]["signers"]
    own = {**tree, "approvals": {**tree["approvals"], "signers": name}}
    floors = tree.get("floors")
    if isinstance(floors, Mapping) and not floors.keys().isdisjoint(_ON_SIGNERS):
        others = {place: demand for place, demand in floors.items() if place not in _ON_SIGNERS}
        own["floors"] = {**others, _ON_SIGNERS[-1]: EqualTo.of(name).text}
    return own


@contextmanager
def opened_engine(where: EngineChoice, name: str) -> Iterator[Engine]:
    """Give the engine; what it starts under ``name`` ends with it. Raises UsageError, PluginError."""
    if where.engine == LOCAL:
        if where.master is not None or where.session is not None:
            text = "`--master` is for `--engine spark`"
            raise UsageError(Diagnostic("PPF954", text, help="say `--engine spark` too, or leave it out"))
        yield LocalEngine()
        return
    if where.engine != SPARK:
        text = f"there is no engine `{where.engine}`"
        raise UsageError(Diagnostic("PPF954", text, help=f"there are {', '.join(ENGINES)}"))
    from ppdm_flow.engine.spark.engine import SparkEngine  # noqa: PLC0415  # an extra
    from ppdm_flow.engine.spark.farm import Farm  # noqa: PLC0415  # the same
    from ppdm_flow.engine.spark.session import opened_session  # noqa: PLC0415  # the same

    if where.session is not None and where.master is not None:
        text = "`master` names a session, and one is given"
        raise UsageError(Diagnostic("PPF954", text, help="leave `master` out"))
    with (
        opened_session(where.master, name, where.session) as session,
        closing(SparkEngine(Farm(session))) as engine,
    ):
        yield engine
