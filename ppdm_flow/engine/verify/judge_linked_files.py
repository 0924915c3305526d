"""Judges files of linked tables that another tool made: each by its table's plan, and all of them joined."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Finding, Report
from ppdm_flow.engine import manifest
from ppdm_flow.engine.events import Listener, ignore_events
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.judging.auditing import AuditResult
from ppdm_flow.engine.judging.personal_data import personal_findings
from ppdm_flow.engine.judging.results import JudgedResults, waive
from ppdm_flow.engine.linked.joining import AuditedJoin, JoinSource, LinkedReleases, Places, TablesJudge, audited_join
from ppdm_flow.engine.linked.sources import LinkedOriginals, open_linked, table_context
from ppdm_flow.engine.linked.table_reader import told_beside_keys
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.options import RunContext, RunOptions
from ppdm_flow.engine.reading.original import findings as suspected
from ppdm_flow.engine.verify.judge_files import judged_file, timing
from ppdm_flow.engine.verify.released_file import VerifiedFile, require_one_each
from ppdm_flow.plan.definition import LinkedTable, Plan, PlannedTableJoin, ReceivedFormat, ReleaseNode
from ppdm_flow.tables.column import Column

Files = Mapping[str, Mapping[str, VerifiedFile]]
"""Released files by table and release."""
_KEPT = ("same", "reordered")


def judge_linked(
    plan: Plan,
    original: Path | None,
    released: Path,
    options: RunOptions | None = None,
    listener: Listener = ignore_events,
    received: ReceivedFormat | None = None,
) -> Report:
    """Measure what a plan of linked tables requires on the files in the folder ``released``.

    ``original`` is the folder with the data before, if that is not where the policy has it; ``received`` is how another
    tool has written the files, if not as the policy says. Rows cannot be paired with those before: people are counted
    by the pseudonyms of the files. Raises DataError where a file is missing or does not fit the policy, or keys are not
    whole.
    """
    folder = Path(tempfile.mkdtemp(prefix="ppdm-flow-"))
    started, clock = utc_now(), time.perf_counter()
    try:
        with RunContext(plan, options or RunOptions(), listener) as context:
            judge = _LinkedFilesJudge.of(context, original, released, folder, received)
            about_run = {
                **timing(started, clock),
                "input": {"name": "" if original is None else original.name, "tables": judge.inputs},
                "released": {"name": released.name, "rows": sum(file.rows.row_count for file in judge.every)},
                "versions": manifest.versions(),
            }
            about = {file.node.name: file.about for file in judge.every}
            return waive(plan, judge.results(), context.options.clock()).report(plan, about, about_run)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _LinkedFilesJudge:
    """Audits the files in private folders below ``folder``."""

    context: RunContext
    originals: LinkedOriginals
    files: Files
    folder: Path

    @classmethod
    def of(
        cls,
        context: RunContext,
        original: Path | None,
        released: Path,
        folder: Path,
        received: ReceivedFormat | None = None,
    ) -> _LinkedFilesJudge:
        """Read all files. Raises DataError."""
        originals = open_linked(context, original)
        files = {table.name: _read(context, table, originals, released, received) for table in context.plan.tables}
        return cls(context, originals, files, folder)

    @property
    def every(self) -> list[VerifiedFile]:
        """The files of all tables."""
        return [file for of_table in self.files.values() for file in of_table.values()]

    @property
    def inputs(self) -> Mapping[str, Mapping[str, str | int]]:
        """What a report says of the data before, by table."""
        return {
            name: {"sha256": original.digest, "rows_used": original.stream.row_count}
            for name, original in self.originals.tables.items()
        }

    def results(self) -> JudgedResults:
        """Judge each table, and what they make together."""
        plan = self.context.plan
        audited = {table.name: list(self._audited(table)) for table in plan.tables}
        joins = [self._join(join) for join in plan.joins]
        suspicions = chain.from_iterable(suspected(each.suspicions) for each in self.originals.tables.values())
        own = ((*file.findings, *personal_findings(file.node, file.subject.candidate.stream)) for file in self.every)
        source = chain(suspicions, chain.from_iterable(own))
        unread = _unread(plan) if told_beside_keys(plan, self.originals) else None
        return TablesJudge(plan, audited, joins, unread).judged(source=source)

    def _audited(self, table: LinkedTable) -> Iterator[AuditResult]:
        own = table_context(self.context, table, len(self.context.plan.tables))
        for file in self.files[table.name].values():
            yield from judged_file(own, self.originals.tables[table.name], file, self._private())

    def _join(self, join: PlannedTableJoin) -> AuditedJoin:
        """Audit a join of files; of several files of one table nobody can say which rows are the same."""
        several = [name for name in join.tables if len(join.releases[name]) > 1]
        if several:
            return AuditedJoin(join, None, _unpaired(join, several[0]))
        tables = [table for table in self.context.plan.tables if table.name in join.tables]
        own = {table.name: self.files[table.name][join.releases[table.name][0]] for table in tables}
        releases = _JoinedFiles(tables, own).releases(self.originals)
        source = JoinSource(self.context, self.originals, releases)
        return audited_join(source, join, self._private())

    def _private(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.folder))


def _read(
    context: RunContext,
    table: LinkedTable,
    originals: LinkedOriginals,
    folder: Path,
    received: ReceivedFormat | None,
) -> dict[str, VerifiedFile]:
    own = table_context(context, table, len(context.plan.tables))
    source = originals.tables[table.name]
    return {
        r.name: VerifiedFile.read(own, r.name, _file(r, folder), source, None, received) for r in table.plan.releases
    }


def _file(release: ReleaseNode, folder: Path) -> Path:
    """Return the file of a release: below a folder with its name, as a run writes it, or beside the others."""
    if not folder.is_dir():
        text = "linked tables are judged by a folder with the files of all releases, and `--released` names none"
        raise data_fault("PPF722", text, advice="give the folder: a run's `released` folder is one")
    places = (folder / release.name / release.path, folder / release.path)
    file = next((place for place in places if place.exists()), None)
    if file is None:
        looked = " and ".join(f"`{place.relative_to(folder)}`" for place in places)
        raise data_fault("PPF701", f"there is no file of release `{release.name}` in `{folder}`: looked for {looked}")
    return file


@dataclass(frozen=True, slots=True)
class _JoinedFiles:
    """The files of a join, one for each of its tables."""

    tables: Sequence[LinkedTable]
    files: Mapping[str, VerifiedFile]

    def releases(self, originals: LinkedOriginals) -> LinkedReleases:
        """Return them with their people, known by pseudonyms. Raises DataError where keys are not whole."""
        people, count = _people({name: file.whose for name, file in self.files.items() if file.whose is not None})
        self._require_references(people)
        before = np.concatenate([originals.people[table.name] for table in self.tables])
        released = np.bincount(np.concatenate(list(people.values())), minlength=count)
        names = " and ".join(f"`{file.node.name}`" for file in self.files.values())
        require_one_each(released, _of_somebody(np.bincount(before)), f"the key in {names}")
        streams = {name: {file.node.name: (file.node, file.rows)} for name, file in self.files.items()}
        rows = {name: np.arange(file.rows.row_count, dtype=np.int64) for name, file in self.files.items()}
        return LinkedReleases(streams, rows, people, count, paired=False)

    def _require_references(self, people: Mapping[str, Places]) -> None:
        """Raise DataError where rows refer to nobody, and the steps of the policy leave nobody out."""
        table = next((t for t in self.tables if t.refers is None), None)
        if table is None or not _keeps_rows(table, self.files[table.name].node):
            return
        for name, whose in people.items():
            lost = np.flatnonzero(~np.isin(whose, people[table.name]))
            if len(lost):
                release, other = self.files[name].node.name, self.files[table.name].node.name
                text = f"{counted(len(lost), 'row')} of release `{release}` refer to nobody in release `{other}`"
                advice = "write the same pseudonym into both files, and a row for each person into the second"
                raise data_fault("PPF700", f"{text} (the first is row {int(lost[0]) + 1})", advice=advice)


def _unpaired(join: PlannedTableJoin, table: str) -> Finding:
    text = (
        f"Several files are released of table `{table}`, and nothing says which of their rows are the same: what"
        " a reader of all of them can join is not measured."
    )
    return Finding("PPF917", Severity.ERROR, text, join.plan.releases[0].name)


def _unread(plan: Plan) -> Finding:
    text = (
        "The tables share columns beside the person's key, and nothing says which rows of a source a file's rows are:"
        " what a reader of all files can join by these is measured by `run` alone."
    )
    return Finding("PPF917", Severity.ERROR, text, plan.releases[0].name)


def _people(whose: Mapping[str, Column]) -> tuple[dict[str, Places], int]:
    """Return the number of the person of each row by table, and how many people there are."""
    every = pa.concat_arrays([_texts(column) for column in whose.values()]).dictionary_encode()
    ends = np.cumsum([len(column) for column in whose.values()])
    codes = every.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return dict(zip(whose, np.split(codes, ends[:-1]), strict=True)), len(every.dictionary)


def _texts(column: Column) -> pa.Array:
    return column.categories.cast(pa.string()).take(pa.array(column.codes))


def _of_somebody(rows: Places) -> Places:
    return rows[rows > 0]


def _keeps_rows(table: LinkedTable, release: ReleaseNode) -> bool:
    return all(step.effect.rows in _KEPT for step in table.plan.upstream(release.input))
