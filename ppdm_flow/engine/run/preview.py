"""What can be expected of a plan on the data, before any step runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.events import ignore_events
from ppdm_flow.engine.judging.personal_data import personal_warnings
from ppdm_flow.engine.linked.sources import open_linked
from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.reading.original import Opening, Original, warnings
from ppdm_flow.engine.steps.graph import Graph, run_key
from ppdm_flow.engine.streams.stream import LoadedStream
from ppdm_flow.engine.streams.tallying import SetCounts, SetSize, octets
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.plan.definition import Plan, ReleaseNode, StepNode
from ppdm_flow.policy.language.kinds import guarded, spec_of
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.sdk.spec import SetShape, imported

_CELLS_A_SECOND = 2.0e8
_DRAWS_A_SECOND = 2.0e7
_SORTED_A_SECOND = 3.0e6


@dataclass(frozen=True, slots=True)
class RunCost:
    """``passes`` over the data, and ``seconds`` on one ordinary core, to one significant digit."""

    step: str
    passes: int
    seconds: float


def estimates(plan: Plan, stream: LoadedStream) -> tuple[RunCost, ...]:
    """Return the cost of each step."""
    return tuple(_of(node, stream.row_count, len(stream.attributes)) for node in plan.steps)


def set_sizes(plan: Plan, sets: tuple[SetCounts, ...]) -> tuple[SetSize, ...]:
    """Return how large the sets of each release will be: in the form that a step gives them, as lists otherwise.

    Steps that drop rows or items make them smaller.
    """
    sizes = []
    for release in plan.releases:
        for fact in release.attributes:
            for counts in sets:
                if fact.role is Role.ITEMS and fact.source == counts.name:
                    shape = SetShape(counts.rows, max(len(counts.alphabet), len(fact.domain or ())), counts.longest)
                    form, size = _stored(plan, release, fact, shape, counts.mean)
                    sizes.append(SetSize(release.name, form, size))
    return tuple(sizes)


def _stored(plan: Plan, release: ReleaseNode, fact: AttributeFacts, shape: SetShape, mean: float) -> tuple[str, int]:
    if fact.was(Change.PERTURBED):
        for step in reversed(plan.upstream(release.input)):
            if step.bound.spec.stores is not None:
                return step.bound.spec.stores(step.bound.params, shape)
        return "bits", octets("bits", shape.rows, shape.distinct, mean)
    return "lists", octets("lists", shape.rows, shape.distinct, mean)


def _of(node: StepNode, rows: int, columns: int) -> RunCost:
    kind = node.bound.info.kind
    seconds = rows * columns / _CELLS_A_SECOND
    if node.randomized:
        seconds += rows / _DRAWS_A_SECOND
    if kind is Kind.ORDER:
        seconds += rows / _SORTED_A_SECOND
    passes = 1 + bool(node.effect.reads)
    return RunCost(node.name, passes, float(f"{seconds * passes:.1g}"))


@dataclass(frozen=True, slots=True)
class Preview:
    """``rows`` in the file, ``used`` without incomplete and weightless ones, ``people`` the sum of weights."""

    rows: int
    used: int
    people: int
    diagnostics: tuple[Diagnostic, ...]
    costs: tuple[RunCost, ...]
    sets: tuple[SetCounts, ...] = ()
    sizes: tuple[SetSize, ...] = ()

    @property
    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "rows": self.rows,
            "rows_used": self.used,
            "people": self.people,
            "findings": [{"code": d.code, "severity": d.severity.value, "text": d.message} for d in self.diagnostics],
            "costs": [{"step": c.step, "passes": c.passes, "seconds": c.seconds} for c in self.costs],
            **self._sets(),
        }

    def _sets(self) -> dict[str, Any]:
        if not self.sets:
            return {}
        sizes = [{"release": s.release, "form": s.form, "bytes": s.octets} for s in self.sizes]
        return {"sets": [s.document() for s in self.sets], "sizes": sizes}


def chosen_fields(plan: Plan, data: Path | None) -> dict[PolicyPath, Any]:
    """Read the data once, and return the fields of every requirement that waits for it, by their places in the policy.

    Raises DataError where something cannot be chosen.
    """
    original = Opening(RunContext(plan), data).open()
    view, fields = StreamView(original.stream), dict[PolicyPath, Any]()
    for requirement in plan.requirements:
        if requirement.awaits_data:
            spec = spec_of(requirement.kind)
            choose = guarded(spec.name, "choose from the data", imported(spec.chooses))
            chosen = choose(requirement, original.stream.attributes, view)
            fields |= {("privacy", spec.name, requirement.name, name): value for name, value in chosen.items()}
    return fields


def preview(plan: Plan, data: Path | None) -> Preview:
    """Read the data once and compare its frequencies with the requirements. Raises DataError."""
    context = RunContext(plan)
    if plan.tables:
        originals = open_linked(context, data).tables
        return _together([_of_table(context, t.plan, originals[t.name]) for t in plan.tables])
    return _of_table(context, plan, Opening(context, data).open())


def _together(previews: Sequence[Preview]) -> Preview:
    """Return what linked tables let one expect, each by itself."""
    return Preview(
        sum(p.rows for p in previews),
        sum(p.used for p in previews),
        sum(p.people for p in previews),
        tuple(dict.fromkeys(d for p in previews for d in p.diagnostics)),
        tuple(c for p in previews for c in p.costs),
        tuple(s for p in previews for s in p.sets),
        tuple(s for p in previews for s in p.sizes),
    )


def _of_table(context: RunContext, plan: Plan, original: Original) -> Preview:
    view = StreamView(original.stream)
    people = view.counts([]).total
    diagnostics = list(_foreseen(plan, view, people))
    diagnostics += warnings(original.suspicions)
    diagnostics += personal_warnings(plan, original.stream)
    diagnostics += unreachable_requirements(context, plan, original)
    stream = original.stream
    return Preview(stream.rows_read, stream.row_count, people, tuple(diagnostics), *_costs(plan, original))


def _costs(plan: Plan, original: Original) -> tuple[tuple[RunCost, ...], tuple[SetCounts, ...], tuple[SetSize, ...]]:
    return estimates(plan, original.stream), original.sets, set_sizes(plan, original.sets)


def _foreseen(plan: Plan, view: StreamView, people: int) -> Iterator[Diagnostic]:
    """Yield the requirements that cannot hold under any steps, as their kinds say."""
    for requirement in plan.requirements:
        spec = spec_of(requirement.kind)
        if spec.foresees:
            foresee = guarded(spec.name, "say what the data lets one expect", imported(spec.foresees))
            yield from foresee(requirement, view, people)


def unreachable_requirements(context: RunContext, plan: Plan, original: Original) -> Iterator[Diagnostic]:
    """Yield why a requirement on itemsets cannot be reached: its step is fitted, with the row-wise ones before it.

    Nothing is randomized or written: only the choice of parameters is tried.
    """
    requirements = {r.id: r for r in plan.requirements if r.needs_operator and r.on_sets}
    for node in plan.steps:
        served = [requirements[i] for i in node.effect.serves if i in requirements]
        way = plan.upstream(node.name)
        if not served or any(n.bound.info.kind is not Kind.ROW_WISE for n in way):
            continue
        key = run_key(plan, None)
        part, engine = replace(plan, steps=way), context.engine
        graph = Graph(part, key, original.stream, original.numbering, engine, context.resources, ignore_events)
        try:
            graph.fit(1)
        except PluginError as error:
            yield from (replace(d, span=d.span or served[0].span) for d in error.diagnostics)
