"""Audits on the bytes of a release, each requirement by two routes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import DisagreementError, RunError
from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.core.results import AuditOutcome, Figure, Finding
from ppdm_flow.engine.calls.lending import guard_plugin_call, lent_context, lent_view
from ppdm_flow.engine.calls.plain import PlainRebuilder
from ppdm_flow.engine.calls.quotations import of_audit, refuse_quotations
from ppdm_flow.engine.events import Listener, RowProgress, StepFinished, StepStarted
from ppdm_flow.engine.faults import run_fault
from ppdm_flow.engine.machine import peak_mb
from ppdm_flow.engine.opening.opening import make_algorithm
from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.parallel import run_all
from ppdm_flow.engine.streams.stream import LoadedStream, ReadBack
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.plan.dag import audit_key
from ppdm_flow.plan.definition import AuditNode, Plan, ReleaseNode
from ppdm_flow.plan.together import SIGN
from ppdm_flow.reader.faults import NotVerifiedError
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.audit import AuditContext, FilesReader, OtherRelease, PublicSeed, RecheckedAudit, SeededStep, Sql
from ppdm_flow.sdk.history import ReleaseHistory
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.set_operator import SetOperator
from ppdm_flow.sdk.view import DataView, Generation, PairedView

COUNTS_ROWS = "counts rows, not people"
_ROW_UNITS = ("rows", "share", "probability")


@dataclass(frozen=True, slots=True)
class AuditSubject:
    """One release with everything that its audits may look at.

    ``file`` is the released file itself, ``read_back`` its rows; ``siblings`` are the rows of the run's other releases.
    A table that several releases make when they are joined is in no file. ``pseudonyms`` pairs the released rows with
    the pseudonyms of their subjects, where ``pairs`` are not known.
    """

    release: ReleaseNode
    file: Path | None
    original: StreamView
    candidate: StreamView
    read_back: ReadBack
    original_attributes: tuple[AttributeFacts, ...]
    operators: Mapping[str, ValueOperator] = field(default_factory=dict)
    operator_inputs: Mapping[str, DataView] = field(default_factory=dict)
    pairs: PairedView | None = None
    holdout: Holdout | None = None
    generation: Generation | None = None
    set_operators: Mapping[str, SetOperator] = field(default_factory=dict)
    operator_pairs: Mapping[str, PairedView] = field(default_factory=dict)
    siblings: Mapping[str, StreamView] = field(default_factory=dict)
    history: ReleaseHistory | None = None
    others: tuple[OtherRelease, ...] = ()
    reader: FilesReader | None = None
    pseudonyms: PairedView | None = None


@dataclass(frozen=True, slots=True)
class AuditResult:
    """An audit's outcome."""

    node: AuditNode
    outcome: AuditOutcome


def audit_all(
    context: RunContext, audits: Iterable[tuple[AuditNode, AuditSubject]], folder: Path, first: int = 0
) -> tuple[AuditResult, ...]:
    """Carry out audits, several at once; each has a folder below ``folder``, numbered from ``first`` on."""
    work = {
        audit_key(node.release, node.name): partial(_audit, context, node, subject, folder / f"audit-{number}")
        for number, (node, subject) in enumerate(audits, first)
    }
    done = run_all(work, context.options.workers, context.stop)
    return tuple(done[name] for name in work)


def _audit(context: RunContext, node: AuditNode, subject: AuditSubject, folder: Path) -> AuditResult:
    """Measure, then measure again by the other route. Raises DisagreementError where the two differ."""
    name, listener = f"{subject.release.name}/{node.name}", context.listener
    listener(StepStarted(name))
    started = time.perf_counter()
    folder.mkdir(mode=0o700)
    with guard_plugin_call(node, (*subject.original_attributes, *subject.release.attributes)):
        sql = context.engine.second_route(
            subject.release,
            subject.file,
            subject.original.stream,
            subject.read_back,
            {name: view.stream for name, view in subject.siblings.items()},
            folder,
            max(1, context.options.workers),
        )
        try:
            progress = _progress(name, subject, listener)
            outcome = _measured(node, subject, _context(context.plan, node, subject, sql, progress))
        finally:
            sql.close()
    rows = subject.candidate.row_count
    listener(StepFinished(name, time.perf_counter() - started, rows, peak_mb()))
    return AuditResult(node, outcome)


def refuse_quoting_audits(plan: Plan, stream: LoadedStream, audited: Sequence[AuditResult]) -> None:
    """Raise RunError where an audit quotes a value of the source that may not be named."""
    refuse_quotations(plan, stream, (said for each in audited for said in of_audit(each.node, each.outcome)))


def _measured(node: AuditNode, subject: AuditSubject, context: AuditContext) -> AuditOutcome:
    algorithm, context = make_algorithm(node.bound), lent_context(node.bound, context)
    original, candidate = lent_view(node.bound, subject.original), lent_view(node.bound, subject.candidate)
    outcome = PlainRebuilder(f"audit `{node.name}`").outcome(algorithm.measure(original, candidate, context))
    if context.people is not None and not node.requirements and not node.bound.spec.counts_people:
        outcome = replace(outcome, figures={name: _of_rows(each) for name, each in outcome.figures.items()})
    if isinstance(algorithm, RecheckedAudit):
        try:
            second_figures = algorithm.recheck(original, candidate, context)
        except NotVerifiedError as fault:
            return _unchecked(outcome, fault)
        _compare(node, subject.release, outcome, second_figures)
    elif node.requirements:
        raise run_fault("PPF909", f"audit `{node.name}` measures a requirement and has no second route")
    return outcome


@dataclass(frozen=True, slots=True)
class UnaccountedFiles:
    """Other files that were not taken into account: the last part of a figure's name, and a sentence."""

    figure: str
    text: str


def add_unverified(result: AuditResult, reasons: Mapping[tuple[str, str], UnaccountedFiles]) -> AuditResult:
    """Return a result that says of which requirements other files tell more than was measured.

    ``reasons`` are by requirement and release.
    """
    outcome, releases = result.outcome, result.node.release.split(SIGN)
    measured, findings = list(outcome.measured), list(outcome.findings)
    for one in {m.requirement: m for m in reversed(outcome.measured)}.values():
        why = next((reasons[one.requirement, r] for r in releases if (one.requirement, r) in reasons), None)
        if why is not None:
            unknown = replace(one.figure, value=None, interval=None, note=why.text)
            metric = f"{one.requirement}.{why.figure}"
            measured.append(replace(one, metric=metric, figure=unknown, sentence=why.text, verifiable=False))
            findings.append(Finding("PPF915", Severity.WARNING, why.text, one.requirement))
    return replace(result, outcome=replace(outcome, measured=tuple(measured), findings=tuple(findings)))


def _unchecked(outcome: AuditOutcome, fault: NotVerifiedError) -> AuditOutcome:
    """Take back all figures of an audit whose second route needs more than it may."""
    text = f"What the releases of this run tell together is not accounted for by the second route: {fault}."
    figures = {name: replace(f, value=None, interval=None, note=text) for name, f in outcome.figures.items()}
    measured = tuple(
        replace(m, figure=replace(m.figure, value=None, interval=None, note=text), sentence=text, verifiable=False)
        for m in outcome.measured
    )
    requirements = dict.fromkeys(m.requirement for m in outcome.measured)
    findings = tuple(Finding("PPF915", Severity.WARNING, text, name) for name in requirements)
    return replace(outcome, figures=figures, measured=measured, findings=(*outcome.findings, *findings))


def _of_rows(figure: Figure) -> Figure:
    """Say that a figure counts rows, where the policy counts people."""
    if figure.value is None or figure.unit not in _ROW_UNITS:
        return figure
    return replace(figure, note=f"{figure.note}; {COUNTS_ROWS}" if figure.note else COUNTS_ROWS)


def _context(
    plan: Plan, node: AuditNode, subject: AuditSubject, sql: Sql, progress: Callable[[int], None]
) -> AuditContext:
    return AuditContext(
        release=subject.release.name,
        attributes={a.name: a for a in subject.release.attributes},
        original_attributes={a.name: a for a in subject.original_attributes},
        requirements=node.requirements,
        nulls=plan.nulls,
        operators=subject.operators,
        operator_inputs=subject.operator_inputs,
        pairs=subject.pairs,
        sql=sql,
        declared=MappingProxyType(dict(plan.declared)),
        show_values=plan.show_values,
        home=Path(plan.home),
        progress=progress,
        seeded=_seeded(plan, subject.release),
        holdout=subject.holdout,
        generation=subject.generation,
        set_operators=subject.set_operators,
        operator_pairs=subject.operator_pairs,
        siblings=subject.siblings,
        history=subject.history,
        others=subject.others,
        reader=subject.reader,
        people=plan.people,
        pseudonyms=subject.pseudonyms,
        ledger=subject.file is not None and plan.ledger is not None and plan.ledger.subject is not None,
    )


def _seeded(plan: Plan, release: ReleaseNode) -> PublicSeed | None:
    if plan.seed is None:
        return None
    steps = plan.upstream(release.input)
    return PublicSeed(plan.seed, tuple(SeededStep(s.name, s.bound.info.name, s.effect.rows) for s in steps))


def _progress(name: str, subject: AuditSubject, listener: Listener) -> Callable[[int], None]:
    total = subject.candidate.row_count
    return lambda rows: listener(RowProgress(name, rows, total))


def _compare(
    node: AuditNode, release: ReleaseNode, outcome: AuditOutcome, second_figures: Mapping[str, float | int | None]
) -> None:
    """Hold the two routes against each other; every measured requirement must be among what was checked."""
    by_metric = {m.metric: m.figure for m in outcome.measured}
    figures = {**by_metric, **outcome.figures}
    for key, value in second_figures.items():
        if key not in figures:
            raise _disagreement(node, release, key, "only the second route has it")
        first = figures[key].value
        if not _agree(first, value):
            raise _disagreement(node, release, key, f"one route computed {_shown(first)}, the other {_shown(value)}")
    sources = frozenset[str]().union(*(a.lineage.computed_from for a in release.attributes))
    trivial = {r.id for r in node.requirements if r.is_absent_from(sources)}  # the plan itself shows it
    for measured in outcome.measured:
        known = measured.verifiable and measured.figure.value is not None
        if known and measured.metric not in second_figures and measured.requirement not in trivial:
            raise _disagreement(node, release, measured.metric, "the second route did not compute it")


def _shown(figure: float | None) -> str:
    return "none" if figure is None else f"{figure:,.12g}"


def _agree(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is None and second is None
    return math.isclose(first, second, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def _disagreement(node: AuditNode, release: ReleaseNode, key: str, why: str) -> RunError:
    return DisagreementError(
        Diagnostic(
            "PPF902",
            f"audit `{node.name}` of release `{release.name}`, figure `{key}`: {why}",
            help="this is a defect of ppdm-flow or of a plugin: nothing was released; please report it",
        )
    )
