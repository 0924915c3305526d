"""The end of a run: verdict, documents, manifest, and the one rename that makes a release."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ppdm_flow.core.digests import digest, sha256
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.results import HELD, RELEASED, WITHHELD, Report, WaiverResult
from ppdm_flow.core.texts import DICTIONARY, INTERNAL
from ppdm_flow.engine import manifest
from ppdm_flow.engine.candidates.artifacts import artifacts, as_json, dictionary, plain_name
from ppdm_flow.engine.candidates.building import Candidate
from ppdm_flow.engine.candidates.directory import RunDirectory, check_bytes, check_leaving, check_verdict
from ppdm_flow.engine.candidates.unpublished import CANDIDATE, PRIVATE
from ppdm_flow.engine.candidates.unpublished import RELEASED as UNPUBLISHED_RELEASED
from ppdm_flow.engine.events import EventJournal, Listener, RequirementJudged, RunFinished, ignore_events
from ppdm_flow.engine.faults import output_fault, wrap_plugin_errors
from ppdm_flow.engine.held.private import private_text
from ppdm_flow.engine.held.publication import refuse_taken_name, signers_copy
from ppdm_flow.engine.judging.results import JudgedResults, waive
from ppdm_flow.engine.ledger.ledger import RunLedger, open_ledger
from ppdm_flow.engine.machine import keep_freed_memory, peak_mb, utc_now
from ppdm_flow.engine.options import RunContext, RunOptions, RunOutcome, RunPlace
from ppdm_flow.engine.reading.original import Original
from ppdm_flow.engine.run.carry_out import AuditedRun, audited_run, open_original
from ppdm_flow.engine.steps.graph import Graph, check_escrow, escrow
from ppdm_flow.engine.streams.workers import arrow_threads
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.pictures.forms import draw

if TYPE_CHECKING:
    from ppdm_flow.engine.delivery import Delivery

REPORT = "report.json"
Documents = Callable[[Report], Mapping[str, str]]
"""Makes the report's forms, by file name."""
Beside = Mapping[str, Mapping[str, Any]]
"""The documents in the folder of a release, by file name."""
Companions = Callable[[Report, Mapping[str, Beside]], Mapping[str, Mapping[str, str]]]
"""Makes what the recipient of a release, by its name, has with it besides: texts by file name."""


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run whose audits are done, on its way to its place. ``clock`` is the performance counter at its start."""

    audited: AuditedRun
    directory: RunDirectory
    journal: EventJournal
    documents: Documents
    companions: Companions
    ledger: RunLedger | None
    started: datetime
    clock: float

    @property
    def plan(self) -> Plan:
        """The plan that was carried out."""
        return self.audited.context.plan

    @property
    def options(self) -> RunOptions:
        """The options of the run."""
        return self.audited.context.options

    def outcome(self) -> RunOutcome:
        """Judge, write everything down, and move the run to its place."""
        results = self.audited.judged()
        results = waive(self.plan, results, self.options.clock())
        for result in results.judged:
            self.journal(RequirementJudged(result.id, result.release, result.holds))
        judged, candidates = results.verdict_for(self.plan), self.audited.candidates
        check_leaving(
            self.directory.home / CANDIDATE, {p: state for c in candidates for p, state in c.written.by_path().items()}
        )
        beside = self._beside_releases()
        report = replace(results.report(self.plan, self._releases(), self._account()), verdict=judged)
        if judged != WITHHELD:
            self._write_companions(report, beside)
        folder = self._folder(judged)
        if folder is not None:
            self._keep_internal()
        if judged == HELD:
            self._keep_private()
        self._write_documents(report)
        files = self._write_manifest(folder, results)
        if REPORT in files:
            check_verdict(self.directory.home / REPORT, judged)
        self._unchanged()
        if self.options.locked is not None:
            self.options.locked.unchanged()
        if self.options.escrow is not None:
            escrow(self.options.escrow, self.audited.key, self.plan, self.started.isoformat())
        about = (self.started, self.plan.digest, files, self.options.place)
        publication = RunPublication(self.plan.policy, self.directory, *about)
        if judged == RELEASED:
            place, tables = publication.publish(candidates, self.ledger)
            return RunOutcome(place, report, tables)
        if judged == HELD:
            return RunOutcome(publication.hold(), report)
        return RunOutcome(publication.withhold(), report)

    def _folder(self, judged: str) -> str | None:
        """Return the name that the candidates' folder has in the manifest; None after deleting them.

        What is released or held is renamed by the publication, and not before; a held file has the name that it will
        have when it is released.
        """
        if judged in (RELEASED, HELD):
            return RELEASED
        if self.options.keep_withheld:
            self.directory.rename(CANDIDATE, WITHHELD)
            return WITHHELD
        self.directory.remove(CANDIDATE)
        return None

    def _keep_private(self) -> None:
        """Write down what the release will need, for its owner's eyes only."""
        signers = "" if self.plan.approvals is None else self.plan.approvals.signers
        candidates, originals = self.audited.candidates, self.audited.originals
        text = private_text(self.plan, signers, originals, candidates, self.ledger)
        self.directory.write_private(PRIVATE, text)

    def _keep_internal(self) -> None:
        """Write down what steps made for the owner of the run, who has the original as well."""
        for node in self.plan.steps:
            for name, content in self.audited.fitted[node.name].internal.items():
                self.directory.folder(INTERNAL)
                self.directory.folder(f"{INTERNAL}/{node.name}")
                self.directory.write_private(f"{INTERNAL}/{node.name}/{plain_name(name, node.name)}", as_json(content))

    def _beside_releases(self) -> dict[str, Beside]:
        """Write the documents in the folder of each release, and return them by its name."""
        beside: dict[str, Beside] = {}
        for candidate in self.audited.candidates:
            release = candidate.release
            documents = {DICTIONARY: dictionary(self.plan, release, candidate.rows)}
            documents |= artifacts(
                self.plan, release, self.audited.fitted, candidate.channels, candidate.subject.candidate
            )
            for name, content in documents.items():
                self.directory.write(f"{CANDIDATE}/{release.name}/{name}", as_json(content))
            beside[release.name] = documents
        return beside

    def _write_companions(self, report: Report, beside: Mapping[str, Beside]) -> None:
        """Write what recipients have besides: it is part of what leaves, so it is hashed as the data is."""
        with wrap_plugin_errors("the data sheet"):
            companions = self.companions(report, beside)
        for release, texts in companions.items():
            for name, text in texts.items():
                self.directory.write(f"{CANDIDATE}/{release}/{name}", text)

    def _releases(self) -> dict[str, Mapping[str, Any]]:
        return {
            c.release.name: {
                "path": f"{c.release.name}/{c.release.path}",
                "format": c.release.format,
                "audience": c.release.audience,
                "rows": c.rows,
                "columns": len(c.release.attributes) + bool(c.release.collapse),
                "bytes": c.written.size,
                "sha256": c.sha256,
                "operators": sorted(c.channels),
            }
            for c in self.audited.candidates
        }

    def _unchanged(self) -> None:
        for original in self.audited.originals.values():
            original.unchanged()
        self.options.unchanged()

    def _account(self) -> dict[str, Any]:
        streams = [original.stream for original in self.audited.originals.values()]
        read, used = sum(s.rows_read for s in streams), sum(s.row_count for s in streams)
        return {
            "started": self.started.isoformat(timespec="seconds"),
            "finished": utc_now().isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - self.clock, 3),
            "peak_mb": peak_mb(),
            "input": {**self._input(), "rows_read": read, "rows_used": used, **self._sets(), **self._tables()},
            "randomness": self._randomness(),
            "digests": {"policy": self.plan.policy_digest, "plan": self.plan.digest},
            "versions": manifest.versions(),
        }

    def _input(self) -> manifest.InputFile:
        """Return what is known of the data file; of several, all names, all bytes, and the hash of their hashes."""
        files = {name: _file(original) for name, original in self.audited.originals.items()}
        if len(files) == 1:
            return next(iter(files.values()))
        return {
            "name": ", ".join(file["name"] for file in files.values()),
            "bytes": sum(file["bytes"] for file in files.values()),
            "sha256": digest({name: file["sha256"] for name, file in files.items()}),
        }

    def _tables(self) -> dict[str, Any]:
        """Return the files of linked tables."""
        originals = self.audited.originals
        if len(originals) == 1:
            return {}
        rows = {n: {"rows_read": o.stream.rows_read, "rows_used": o.stream.row_count} for n, o in originals.items()}
        return {"tables": {name: {**_file(original), **rows[name]} for name, original in originals.items()}}

    def _sets(self) -> dict[str, Any]:
        documents = [counts.document() for original in self.audited.originals.values() for counts in original.sets]
        return {"sets": documents} if documents else {}

    def _randomness(self) -> manifest.RandomnessKey:
        return {"mode": self.plan.randomness, "commitment": self.audited.key.commitment}

    def _write_documents(self, report: Report) -> None:
        with wrap_plugin_errors("the report"):
            texts = dict(self.documents(report))
        texts |= {"plan.json": as_json(report.plan), "plan.mmd": draw("mermaid", report.plan)}
        if self.options.policy_text:
            texts["policy.resolved.yaml"] = self.options.policy_text
        if self.plan.approvals is not None:
            for name, text in signers_copy(self.plan.approvals, report.plan).items():
                refuse_taken_name(name, texts, self.directory.home)
                texts[name] = text
        for name, text in texts.items():
            self.directory.write(name, text)

    def _write_manifest(self, folder: str | None, results: JudgedResults) -> dict[str, str]:
        """Write the manifest last: it lists every other file, the released ones under their final place.

        Returns the hash of every file, by its path until it is published: of a release, of the bytes that were judged.
        """
        judged = results.verdict_for(self.plan)
        tables = {"tables": {n: _file(o) for n, o in self.audited.originals.items()}} if self.plan.tables else {}
        self.journal(RunFinished(judged, round(time.perf_counter() - self.clock, 4)))
        self.journal.close()
        inputs = self._input()
        listed = manifest.list_files(self.directory.home, self._judged(folder))
        private = listed.pop(PRIVATE, None)
        waivers: manifest.ManifestWaivers = (
            {"waivers": [_waiver(w) for w in results.waivers]} if results.waivers else {}
        )
        content: manifest.Manifest = {
            "version": manifest.VERSION,
            "policy": self.plan.policy,
            "verdict": judged,
            "started": self.started.isoformat(timespec="seconds"),
            "finished": utc_now().isoformat(timespec="seconds"),
            "digests": {
                "policy": self.plan.policy_digest,
                "plan": self.plan.digest,
                "schema": self._schema(),
                "input": inputs["sha256"],
            },
            "input": inputs,
            **tables,  # type: ignore[typeddict-item]  # mypy: it might hold `ledger` as well
            "randomness": self._randomness(),
            "checks": results.tally,
            **waivers,
            "versions": manifest.versions(),
            "files": manifest.renamed(listed, CANDIDATE, RELEASED) if folder == RELEASED else listed,
        }
        if self.ledger is not None:
            content["ledger"] = self.ledger.testimony(len(self.audited.candidates) if judged == RELEASED else 0)
        if private is not None:
            content["held"] = {"sha256": private["sha256"]}
        if self.options.locked is not None:
            content["lock"] = {"locked": True, "sha256": self.options.locked.sha256}
        if self.options.project is not None:
            content["project"] = {"sha256": self.options.project}
        if self.options.templates:
            content["templates"] = dict(self.options.templates)
        self.directory.write(manifest.NAME, as_json(content))
        hashes = {name: about["sha256"] for name, about in listed.items()}
        hashes |= {} if private is None else {PRIVATE: private["sha256"]}
        return {**hashes, manifest.NAME: sha256(self.directory.home / manifest.NAME)}

    def _schema(self) -> str:
        """Return the digest of the columns; of several tables, that of theirs."""
        of_table = {
            name: manifest.schema_digest(o.stream.attributes, o.columns) for name, o in self.audited.originals.items()
        }
        return digest(of_table) if len(of_table) > 1 else next(iter(of_table.values()))

    def _judged(self, folder: str | None) -> dict[str, str]:
        """Return the hashes of the candidates' bytes as they were judged, by the path that each file has now."""
        inside = CANDIDATE if folder == RELEASED else WITHHELD
        hashes: dict[str, str] = {}
        for candidate in self.audited.candidates if folder else ():
            hashes |= candidate.written.by_name(f"{inside}/{candidate.release.name}/{candidate.release.path}")
        return hashes


def _file(original: Original) -> manifest.InputFile:
    return {"name": original.name, "bytes": original.stat[1], "sha256": original.digest}


def _waiver(result: WaiverResult) -> manifest.ManifestWaiver:
    waiver = result.waiver
    until, covers = waiver.until.isoformat(), list(result.covers)
    return {"name": waiver.name, "of": waiver.of, "until": until, "covers": covers}


@dataclass(frozen=True, slots=True)
class RunPublication:
    """A judged run whose files are complete. ``files`` are their hashes, by path before the run is published."""

    policy: str
    directory: RunDirectory
    started: datetime
    plan_digest: str
    files: Mapping[str, str]
    elsewhere: RunPlace | None = None

    def withhold(self) -> Path:
        """Move a run that is not released to its place."""
        check_bytes(self.directory.home, self.files)
        place = self._moved()
        if self.elsewhere is not None:
            try:
                self.elsewhere.send(place, self.files)
                self.elsewhere.commit(place, self.files)
            except BaseException:
                self._take_back()
                raise
        return place

    def hold(self) -> Path:
        """Move a run that waits for approvals to its place. It is no release, and no ledger knows it."""
        place = self._moved()
        check_bytes(place, self.files)
        self.directory.hold()
        return place

    def publish(self, candidates: Sequence[Candidate], ledger: RunLedger | None) -> tuple[Path, tuple[str, ...]]:
        """Move a run to its place, write its releases into the ledger, publish it, and let tables take their places.

        Returns the place, and which tables these are.
        What was written down and not confirmed counts as released: a crash in between loses nothing. Raises RunError
        where a file is not what was judged, or the ledger cannot be written; then nothing is released.
        """
        place = self._moved()
        folder = None if self.elsewhere is None else self.elsewhere.ledger_folder
        numbers = ledger.announce(candidates, place, folder) if ledger else ()
        with contextlib.ExitStack() as stack:
            try:
                check_bytes(place, self.files)
                delivery = stack.enter_context(self._tables(candidates, place))
                if self.elsewhere is not None:
                    self.elsewhere.send(place, self.files)
                self.directory.publish()
                if self.elsewhere is not None:
                    self.elsewhere.commit(place, self.files)
            except BaseException:
                self._take_back()
                if ledger and not self.directory.published:
                    with contextlib.suppress(PpdmError):
                        ledger.withdraw(numbers)
                raise
            if ledger:
                with contextlib.suppress(PpdmError):  # it is out, and pending counts: `ledger --repair` confirms it
                    ledger.confirm(numbers)
            if delivery is None:
                return place, ()
            delivery.commit()
        return place, tuple(delivery.tables)

    def _moved(self) -> Path:
        if self.elsewhere is None:
            return self.directory.move(self.started, self.plan_digest)
        return self.directory.move(self.started, self.plan_digest, self.elsewhere.taken)

    def _take_back(self) -> None:
        """Delete what was sent elsewhere, unless it may be out there: then it stays one here, and in the ledger."""
        if self.elsewhere is None or self.elsewhere.maybe_out:
            return
        self.elsewhere.withdraw()
        if self.directory.published and (self.directory.home / UNPUBLISHED_RELEASED).is_dir():
            self.directory.retract()

    def _tables(self, candidates: Sequence[Candidate], place: Path) -> AbstractContextManager[Delivery | None]:
        """Return the tables that releases become, staged once the context is entered; none where there are none."""
        if all(candidate.release.into is None for candidate in candidates):
            return contextlib.nullcontext()
        from ppdm_flow.engine.delivery import staged  # noqa: PLC0415  # only few releases become tables

        files = [(c.release, place / CANDIDATE / c.release.name / c.release.path) for c in candidates]
        return staged(self.policy, place.name, files)


# Run a plan: read, transform, write, read back, audit, judge, and release or withhold.


EVENTS = "events.jsonl"


def no_documents(_report: Report) -> Mapping[str, str]:
    """Make none."""
    return {}


def no_companions(_report: Report, _beside: Mapping[str, Beside]) -> Mapping[str, Mapping[str, str]]:
    """Make none."""
    return {}


def execute(
    plan: Plan,
    data: Path | None,
    out: Path,
    options: RunOptions | None = None,
    listener: Listener = ignore_events,
    documents: Documents = no_documents,
    companions: Companions = no_companions,
) -> RunOutcome:
    """Execute ``plan`` on ``data`` (else on the policy's own files), into ``out/<policy>/<time>-<plan digest>/``.

    Raises DataError or PluginError where the input is at fault, RunError where the tool or the machine failed; then,
    and when it is interrupted, nothing is left behind.
    """
    chosen = options or RunOptions()
    check_escrow(chosen.escrow)
    keep_freed_memory()
    directory = RunDirectory(out / plan.policy)
    try:
        started, clock = utc_now(), time.perf_counter()
        journal = EventJournal(directory.home / EVENTS, listener)
        with closing(journal), arrow_threads(chosen.workers), RunContext(plan, chosen, journal) as context:
            ledger = open_ledger(plan)

            def neighbours(_candidates: Sequence[Candidate], _graph: Graph) -> None:
                if ledger:
                    ledger.check_neighbours(directory.parent)

            context.engine.check(directory.home)
            original = open_original(context, data)
            with audited_run(context, original, directory, ledger, neighbours) as audited:
                return FinishedRun(audited, directory, journal, documents, companions, ledger, started, clock).outcome()
    except OSError as error:
        raise output_fault(error, "the run's directory") from None
    finally:
        directory.discard()
