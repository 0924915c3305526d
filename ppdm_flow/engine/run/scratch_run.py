"""Runs that release nothing: one that only measures, and one in a scratch directory, with a ledger of its own."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from ppdm_flow.core.roles import Role
from ppdm_flow.engine.candidates.building import Candidate
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.faults import output_fault
from ppdm_flow.engine.judging.results import JudgedResults
from ppdm_flow.engine.ledger.ledger import make_ledger, open_ledger
from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.reading.original import asked_of
from ppdm_flow.engine.run.carry_out import Look, Opened, audited_run, ignore_candidates
from ppdm_flow.engine.steps.graph import Graph, changed_steps
from ppdm_flow.engine.streams.lookalikes import lookalike_checks, value_presence
from ppdm_flow.plan.definition import LedgerNode, Plan
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.column import MISSING, SUPPRESSED, SUPPRESSED_TEXT
from ppdm_flow.tables.counts import Counts


def reading_of(plan: Plan) -> str:
    """Return a text that is the same for two plans of one policy exactly where they read and check the data alike."""
    if plan.tables:
        return repr([reading_of(table.plan) for table in plan.tables])
    looked_for = [(w.facts.name, sorted(w.spans)) for w in lookalike_checks(plan.requirements, plan.source.attributes)]
    present = value_presence(plan.requirements, plan.source.attributes, {})
    looked_for += [(values.facts.name, sorted(values.required)) for values in present]
    merged = [(s.name, s.effect.recodes) for s in plan.steps if s.effect.recodes]
    return repr(
        (plan.source, merged, plan.keys, sorted(asked_of(plan)), looked_for, any(n.expands for n in plan.steps))
    )


def measure(context: RunContext, original: Opened, scratch: Path, look: Look = ignore_candidates) -> JudgedResults:
    """Carry out the plan in a private folder below ``scratch`` that is gone afterwards, and judge what it made.

    Any number of plans with the same :func:`reading_of` can be measured on one original. Raises DataError, PluginError
    or RunError. Neither the candidates nor the key outlive the call; no ledger is written to.
    """
    clock = time.perf_counter()
    directory = RunDirectory(scratch)
    try:
        with audited_run(context, original, directory, open_ledger(context.plan), look) as audited:
            results = audited.judged()
        original.unchanged()
        context.options.unchanged()
    except OSError as error:
        raise output_fault(error, "the folder for what is only measured") from None
    finally:
        directory.discard()
    # a sweep keeps the results of all its points, and no report is made of them
    return replace(results, steps=(), charts=(), seconds=time.perf_counter() - clock)


@dataclass(frozen=True, slots=True)
class ContentQuery:
    """A query of one release's contents: the values of ``listed`` columns, and where ``hidden`` ones are suppressed."""

    listed: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CandidateContents:
    """The contents of a candidate.

    ``values`` are those of the listed columns (a missing one is the empty text, a suppressed one ``⊥``); ``hidden``
    are, for each hidden column and original value, the rows that have it, and those of them where it is suppressed.
    """

    rows: int
    columns: tuple[str, ...]
    values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    hidden: Mapping[str, Mapping[str, tuple[int, int]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScratchRun:
    """The result of a scratch run: figures, the contents of each release, and (where asked for) effective steps."""

    measured: JudgedResults
    contents: Mapping[str, CandidateContents]
    changed: frozenset[str] = frozenset()


def run_in_scratch(
    context: RunContext, original: Opened, scratch: Path, queries: Mapping[str, ContentQuery], *, trace: bool = False
) -> ScratchRun:
    """Run a plan as :func:`~ppdm_flow.engine.run.scratch_run.measure` does, and inspect its candidates.

    ``queries`` says what to inspect, by release; ``trace`` also reports the steps that changed something. The
    policy's ledger is never touched: the run uses an empty one in ``scratch``.
    """
    contents: dict[str, CandidateContents] = {}
    changed: set[str] = set()

    def look(candidates: Sequence[Candidate], graph: Graph) -> None:
        contents.update({c.release.name: _contents(c, queries.get(c.release.name, ContentQuery())) for c in candidates})
        if trace:
            changed.update(changed_steps(graph.plan, graph))

    measured = measure(replace(context, plan=_without_history(context.plan, scratch)), original, scratch, look)
    return ScratchRun(measured, contents, frozenset(changed))


def values_in(view: DataView, column: str) -> frozenset[str]:
    """Return the texts of a column: a missing one is empty, a suppressed one ``⊥``; of sets, their items."""
    kind = next(f for f in view.schema.fields if f.name == column)
    if kind.role is Role.ITEMS:
        return frozenset(view.domain(column).to_pylist())
    counts = view.counts([column])
    return frozenset(_text(counts.names(column), code) for code in counts.of(column).tolist())


def _contents(candidate: Candidate, query: ContentQuery) -> CandidateContents:
    subject = candidate.subject
    names = tuple(a.name for a in candidate.release.attributes)
    listed = {c: values_in(subject.candidate, c) for c in query.listed if c in names}
    sources = {a.name: a.source for a in candidate.release.attributes}
    hidden = {c: _hidden(subject.pairs, sources[c], c) for c in query.hidden if c in names}
    return CandidateContents(candidate.rows, names, listed, hidden)


def _hidden(pairs: PairedView | None, original: str, released: str) -> dict[str, tuple[int, int]]:
    """Return (rows, rows where it is suppressed) of each value that a column had."""
    rows_by_value: dict[str, tuple[int, int]] = {}
    if pairs is None:
        return rows_by_value
    joint: Counts = pairs.joint(original, released)
    cells = zip(joint.of("original").tolist(), joint.of("released").tolist(), joint.counts.tolist(), strict=True)
    for before, after, rows in cells:  # distinct pairs of values, not rows
        text = _text(joint.names("original"), before)
        every, gone = rows_by_value.get(text, (0, 0))
        rows_by_value[text] = (every + rows, gone + (rows if after == SUPPRESSED else 0))
    return rows_by_value


def _text(categories: pa.StringArray, code: int) -> str:
    if code == MISSING:
        return ""
    return SUPPRESSED_TEXT if code == SUPPRESSED else str(categories[code].as_py())


def _without_history(plan: Plan, scratch: Path) -> Plan:
    if plan.ledger is None:
        return plan
    place, key = scratch / "ledger", scratch / "ledger.key"
    if not place.exists():
        scratch.mkdir(parents=True, exist_ok=True)
        make_ledger(str(place), key)
    node: LedgerNode = replace(plan.ledger, place=str(place), key=str(key), server=None)
    return replace(plan, ledger=node)
