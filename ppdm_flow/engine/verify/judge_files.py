"""Judging a release that any tool has made: the same audits, without the steps that led to it."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.results import Finding, Report
from ppdm_flow.engine import manifest
from ppdm_flow.engine.candidates.candidate import stream_of
from ppdm_flow.engine.events import Listener, ignore_events
from ppdm_flow.engine.faults import data_fault, wrap_plugin_errors
from ppdm_flow.engine.judging.auditing import Subject, audit_all, refuse_quoting_audits
from ppdm_flow.engine.judging.results import judge_audits
from ppdm_flow.engine.judging.waiving import waive
from ppdm_flow.engine.machine import peak_mb, utc_now
from ppdm_flow.engine.options import RunContext, RunOptions
from ppdm_flow.engine.reading.binding import foreign
from ppdm_flow.engine.reading.identifiers import check_identifiers
from ppdm_flow.engine.reading.opening import open_released, released_names
from ppdm_flow.engine.reading.operator_files import operators_for, set_operators_for
from ppdm_flow.engine.reading.original import Opening, Original
from ppdm_flow.engine.reading.suspicions import findings as suspected
from ppdm_flow.engine.streams.source import SourceStream
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.plan.definition import Plan, ReleaseNode
from ppdm_flow.plan.formats import implied, inferred
from ppdm_flow.plan.rules.perturbation import judged_on_draws
from ppdm_flow.sdk.storage import InspectingSource


def judge(
    plan: Plan,
    original: Path,
    released: Path,
    release: str,
    operator: Path | None = None,
    options: RunOptions | None = None,
    listener: Listener = ignore_events,
    look: Callable[[StreamView], None] = lambda _view: None,
) -> Report:
    """Measure what ``plan`` requires of ``release`` on the file ``released``; ``look`` is shown its rows.

    Rows cannot be paired, so figures that need pairs are absent. ``operator`` is the ``operator.json`` of a
    perturbation; left out, one beside ``released`` is used. Raises DataError where a file does not fit the policy.
    """
    folder = Path(tempfile.mkdtemp(prefix="ppdm-flow-"))
    try:
        with RunContext(plan, options or RunOptions(), listener) as context:
            return _FileJudge(context, release, folder, look).report(original, released, operator)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _FileJudge:
    context: RunContext
    name: str
    folder: Path
    look: Callable[[StreamView], None]

    def report(self, original: Path, released: Path, operator: Path | None) -> Report:
        started, clock = utc_now(), time.perf_counter()
        context, options = self.context, self.context.options
        source = Opening(context, original).open()
        node = self._node(released)
        candidate = stream_of(node, released, options.partition_rows, context.budget, context.stop, foreign=True)
        if not candidate.row_count:
            raise data_fault("PPF714", f"`{released}` has a header and no rows")
        subject = self._subject(node, released, source, candidate, operator)
        self.look(subject.candidate)
        check_identifiers(node, subject.original, subject.candidate)
        plan = replace(context.plan, releases=(node,))
        audits = [(n, subject) for n in plan.audits if n.release == self.name]
        audited = audit_all(replace(context, plan=plan), audits, self.folder)
        refuse_quoting_audits(plan, source.stream, audited)
        results = judge_audits(plan, audited, source=(*suspected(source.suspicions), *beside_cells(node, released)))
        about_run = {
            "started": started.isoformat(timespec="seconds"),
            "finished": utc_now().isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - clock, 3),
            "peak_mb": peak_mb(),
            "input": {"name": original.name, "sha256": source.digest, "rows_used": source.stream.row_count},
            "released": {"name": released.name, "rows": candidate.row_count},
            "versions": manifest.versions(),
        }
        releases = {node.name: _about(node, released, candidate.row_count)}
        return waive(plan, results, options.clock()).report(plan, releases, about_run)

    def _node(self, released: Path) -> ReleaseNode:
        """Return the release as the file has it: its format, and its columns in their order."""
        node = next(r for r in self.context.plan.releases if r.name == self.name)
        alike = released.suffix == PurePath(node.path).suffix  # several formats share an ending: the policy says which
        kind = node.format if alike else inferred("sources", released.name) or node.format
        options = node.options if kind == node.format else {}
        node = replace(node, format=kind, options={**options, **implied("sources", kind, released.name)})
        with wrap_plugin_errors(f"release `{node.name}`"):
            names = released_names(node, released, open_released(node, released))
        return replace(node, attributes=foreign(node, names))

    def _subject(
        self, node: ReleaseNode, file: Path, source: Original, back: SourceStream, operator: Path | None
    ) -> Subject:
        view = StreamView(source.stream)
        operators = operators_for(node, file, operator)
        sets = set_operators_for(node, file, operator)
        _refuse_groups_of_draws(self.context.plan, node, {*operators, *sets})
        sources = {name: each.attribute for name, each in operators.items()}
        sources |= {name: each.attribute for name, each in sets.items()}
        return Subject(
            release=node,
            file=file,
            original=view,
            candidate=StreamView(back),
            read_back=back,
            original_attributes=source.stream.attributes,
            operators=operators,
            operator_inputs={n: view for n, source in sources.items() if _is_direct(node, n, source)},
            set_operators=sets,
        )


def _refuse_groups_of_draws(plan: Plan, node: ReleaseNode, randomized: Collection[str]) -> None:
    """Raise DataError where an operator came with an attribute that secrets are judged on groups by."""
    drawn = [fact for fact in node.attributes if fact.name in randomized]
    for requirement, fact in judged_on_draws(plan.requirements, node, drawn):
        raise data_fault(
            "PPF569",
            f"`{requirement.id}` is judged on groups by `{fact.source}`, which an operator randomizes in release"
            f" `{node.name}`: it leads back to the true groups",
            advice=f"release `{fact.source}` as it is, generalized, or not at all",
        )


def _is_direct(node: ReleaseNode, name: str, source: str) -> bool:
    """Whether the source's own values went into the operator: nothing else was done to them."""
    facts = _facts(node, name)
    return facts.source == source and [c for _, c in facts.changes] in ([], [Change.PERTURBED])


def _facts(node: ReleaseNode, name: str) -> AttributeFacts:
    return next(a for a in node.attributes if a.name == name)


def _about(node: ReleaseNode, file: Path, rows: int) -> Mapping[str, Any]:
    return {
        "path": file.name,
        "format": node.format,
        "audience": node.audience,
        "rows": rows,
        "columns": len(node.attributes),
        "bytes": file.stat().st_size,
        "sha256": sha256(file),
    }


def beside_cells(release: ReleaseNode, path: Path) -> tuple[Finding, ...]:
    """Return findings without any value; of readers that cannot say, none."""
    with wrap_plugin_errors(f"release `{release.name}`"):
        source = open_released(release, path)
        return tuple(source.beside()) if isinstance(source, InspectingSource) else ()
