"""The end of a run: verdict, documents, manifest, and the one rename that makes a release."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ppdm_flow.core.draws import RunKey
from ppdm_flow.core.file_names import DICTIONARY
from ppdm_flow.core.results import Figure, Report, StepResult
from ppdm_flow.engine import manifest
from ppdm_flow.engine.candidates.artifacts import artifacts, as_json, dictionary
from ppdm_flow.engine.candidates.building import Candidate
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.candidates.leaving import check_leaving, check_verdict
from ppdm_flow.engine.candidates.unpublished import CANDIDATE
from ppdm_flow.engine.events import RequirementJudged, RunFinished
from ppdm_flow.engine.faults import wrap_plugin_errors
from ppdm_flow.engine.hashing import sha256
from ppdm_flow.engine.judging.auditing import AuditResult
from ppdm_flow.engine.judging.judging import (
    RELEASED,
    WITHHELD,
    charts_of,
    findings_of,
    gates_of,
    metrics_of,
    requirements_of,
    verdict,
)
from ppdm_flow.engine.judging.waiving import WaivedResults, waive
from ppdm_flow.engine.ledger.ledger import Ledger
from ppdm_flow.engine.machine import peak_mb, utc_now
from ppdm_flow.engine.options import Outcome, RunOptions
from ppdm_flow.engine.reading.original import Original
from ppdm_flow.engine.reading.repeating import findings as repeating
from ppdm_flow.engine.run.journal import Journal
from ppdm_flow.engine.run.publishing import Publication
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.steps.keys import escrow
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.document import document
from ppdm_flow.plan.pictures.forms import draw

REPORT = "report.json"
Documents = Callable[[Report], Mapping[str, str]]
"""Makes the report's forms, by file name."""


@dataclass(frozen=True, slots=True)
class AuditedRun:
    """A run whose audits are done, ready for its verdict. ``clock`` is the performance counter at its start."""

    plan: Plan
    options: RunOptions
    directory: RunDirectory
    key: RunKey
    original: Original
    graph: Graph
    candidates: Sequence[Candidate]
    audited: Sequence[AuditResult]
    journal: Journal
    documents: Documents
    started: datetime
    clock: float
    ledger: Ledger | None = None

    def finish(self) -> Outcome:
        """Judge, write everything down, and move the run to its place."""
        steps = self.graph.results()
        metrics = metrics_of(self.plan, self.audited, steps)
        waived = self._waived(metrics, steps)
        requirements, gates = waived.requirements, waived.gates
        for result in (*requirements, *gates):
            self.journal(RequirementJudged(result.id, result.release, result.holds))
        judged = verdict((*requirements, *gates))
        check_leaving(self.directory.home / CANDIDATE, {c.file: c.identity for c in self.candidates})
        self._beside_releases()
        releases = self._releases()
        folder = self._folder(judged)
        report = Report(
            policy=self.plan.policy,
            verdict=judged,
            requirements=requirements,
            gates=gates,
            metrics=metrics,
            steps=steps,
            findings=waived.findings,
            charts=charts_of(self.plan, self.audited),
            releases=releases,
            plan=document(self.plan),
            secrets=self.plan.secrets,
            run=self._account(),
            waivers=waived.waivers,
        )
        self._write_documents(report)
        files = self._write_manifest(judged, folder, waived)
        if REPORT in files:
            check_verdict(self.directory.home / REPORT, judged)
        self.original.unchanged()
        if self.options.locked is not None:
            self.options.locked.unchanged()
        if self.options.escrow is not None:
            escrow(self.options.escrow, self.key, self.plan, self.started.isoformat())
        publication = Publication(self.directory, self.started, self.plan.digest, files)
        if judged == RELEASED:
            return Outcome(publication.publish(self.candidates, self.ledger), report)
        return Outcome(publication.withhold(), report)

    def _folder(self, judged: str) -> str | None:
        """Return the name that the candidates' folder has in the manifest; None after deleting them.

        What is released is renamed by the publication, and not before.
        """
        if judged == RELEASED:
            return RELEASED
        if self.options.keep_withheld:
            self.directory.rename(CANDIDATE, WITHHELD)
            return WITHHELD
        self.directory.remove(CANDIDATE)
        return None

    def _beside_releases(self) -> None:
        for candidate in self.candidates:
            release = candidate.release
            documents = {DICTIONARY: dictionary(self.plan, release, candidate.rows)}
            documents |= artifacts(self.plan, release, self.graph.fitted, candidate.channels)
            for name, content in documents.items():
                self.directory.write(f"{CANDIDATE}/{release.name}/{name}", as_json(content))

    def _releases(self) -> dict[str, Mapping[str, Any]]:
        return {
            c.release.name: {
                "path": f"{c.release.name}/{c.release.path}",
                "format": c.release.format,
                "audience": c.release.audience,
                "rows": c.rows,
                "columns": len(c.release.attributes),
                "bytes": c.file.stat().st_size,
                "sha256": c.sha256,
                "operators": sorted(c.channels),
            }
            for c in self.candidates
        }

    def _waived(self, metrics: Mapping[str, Figure], steps: Sequence[StepResult]) -> WaivedResults:
        """Judge everything, and lay the waivers over it that count on this day."""
        requirements, gates = requirements_of(self.plan, self.audited), gates_of(self.plan, metrics)
        all_findings = findings_of(self.plan, self.audited, steps)
        of_ledger = self.ledger.findings if self.ledger else ()
        findings = (*repeating(self.original.repeats), *all_findings, *of_ledger)
        return waive(self.plan, requirements, gates, findings, self.options.clock())

    def _account(self) -> dict[str, Any]:
        stream = self.original.stream
        return {
            "started": self.started.isoformat(timespec="seconds"),
            "finished": utc_now().isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - self.clock, 3),
            "peak_mb": peak_mb(),
            "input": self._input() | {"rows_read": stream.rows_read, "rows_used": stream.row_count} | self._sets(),
            "randomness": self._randomness(),
            "digests": {"policy": self.plan.policy_digest, "plan": self.plan.digest},
            "versions": manifest.versions(),
        }

    def _input(self) -> dict[str, Any]:
        return {"name": self.original.path.name, "bytes": self.original.stat[1], "sha256": self.original.digest}

    def _sets(self) -> dict[str, Any]:
        documents = [counts.document() for counts in self.original.sets]
        return {"sets": documents} if documents else {}

    def _randomness(self) -> dict[str, str]:
        return {"mode": self.plan.randomness, "commitment": self.key.commitment}

    def _write_documents(self, report: Report) -> None:
        with wrap_plugin_errors("the report"):
            texts = dict(self.documents(report))
        texts |= {"plan.json": as_json(report.plan), "plan.mmd": draw("mermaid", report.plan)}
        if self.options.policy_text:
            texts["policy.resolved.yaml"] = self.options.policy_text
        for name, text in texts.items():
            self.directory.write(name, text)

    def _write_manifest(self, judged: str, folder: str | None, waived: WaivedResults) -> dict[str, str]:
        """Write the manifest last: it lists every other file, the released ones under their final place.

        Returns the hash of every file, by its path until it is published: of a release, of the bytes that were judged.
        """
        self.journal(RunFinished(judged, round(time.perf_counter() - self.clock, 4)))
        self.journal.close()
        stream = self.original.stream
        listed = manifest.list_files(self.directory.home, self._judged(folder))
        content = {
            "version": manifest.VERSION,
            "policy": self.plan.policy,
            "verdict": judged,
            "started": self.started.isoformat(timespec="seconds"),
            "finished": utc_now().isoformat(timespec="seconds"),
            "digests": {
                "policy": self.plan.policy_digest,
                "plan": self.plan.digest,
                "schema": manifest.schema_digest(stream.attributes, self.original.columns),
                "input": self.original.digest,
            },
            "input": self._input(),
            "randomness": self._randomness(),
            "checks": waived.tally,
            **({"waivers": waived.documents} if waived.waivers else {}),
            "versions": manifest.versions(),
            "files": manifest.renamed(listed, CANDIDATE, RELEASED) if folder == RELEASED else listed,
        }
        if self.ledger is not None:
            content["ledger"] = self.ledger.testimony(len(self.candidates) if judged == RELEASED else 0)
        if self.options.locked is not None:
            content["lock"] = {"locked": True, "sha256": self.options.locked.sha256}
        self.directory.write(manifest.NAME, as_json(content))
        hashes = {name: str(about["sha256"]) for name, about in listed.items()}
        return {**hashes, manifest.NAME: sha256(self.directory.home / manifest.NAME)}

    def _judged(self, folder: str | None) -> dict[str, str]:
        """Return the hashes of the candidates' bytes as they were judged, by the path that each file has now."""
        inside = CANDIDATE if folder == RELEASED else WITHHELD
        return {f"{inside}/{c.release.name}/{c.release.path}": c.sha256 for c in self.candidates} if folder else {}
