"""Steps: bound, fed and followed, in the plan's order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.core.spans import Span
from ppdm_flow.plan import flow
from ppdm_flow.plan.dag import SOURCE, base
from ppdm_flow.plan.definition import ConfiguredPlugin, StepNode
from ppdm_flow.plan.facts import Attributes
from ppdm_flow.plan.wiring import Wiring
from ppdm_flow.policy.loaded import ResolvedPlaces
from ppdm_flow.sdk.spec import Effect, Problem, Scope

_WEIGHTLESS = frozenset({Kind.ROW_WISE, Kind.TABLE})


@dataclass(slots=True)
class StepFlow:
    """The steps so far; ``clean`` are those whose attributes are certain, for rules that would mislead otherwise.

    ``faulty`` says that the policy's own rules were broken: they have named the attributes that it does not declare.
    """

    places: ResolvedPlaces
    requirements: tuple[Requirement, ...]
    nulls: Nulls
    source: Attributes
    faulty: bool = False
    people: PeopleCount | None = None
    nodes: dict[str, StepNode] = field(default_factory=dict)
    clean: set[str] = field(default_factory=lambda: {SOURCE})
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def arriving(self, reference: str) -> Attributes | None:
        """Return the attributes that ``reference`` (``source``, a step, ``step.output``) gives, if it has them."""
        if reference == SOURCE:
            return self.source
        name, _, output = reference.partition(".")
        node = self.nodes.get(name)
        return None if node is None else flow.output_of(node.effect, flow.by_name(node.attributes), output)

    def known(self, reference: str, path: tuple[str, ...]) -> Attributes | None:
        """Return what arrives, after saying so where a step has no such output."""
        attributes = self.arriving(reference)
        node = self.nodes.get(base(reference))
        if attributes is None and node is not None:
            outputs = ", ".join(f"`{node.name}.{o}`" if o else f"`{node.name}`" for o in node.effect.outputs)
            text = f"step `{node.name}` has no output `{reference}`" if outputs else f"`{node.name}` has one output"
            help_ = f"it has {outputs}" if outputs else f"write `{node.name}`"
            self.diagnostics.append(Diagnostic("PPF608", text, self.places.value(*path), help=help_))
        return attributes


def follow(state: StepFlow, bounds: Mapping[str, ConfiguredPlugin | None], wiring: Wiring) -> None:
    """Put every step that could be bound into ``state``, with the attributes that leave it."""
    for name in wiring.order:
        inputs = wiring.inputs[name] or ()
        bound = bounds[name]
        arriving = [
            state.known(reference, ("steps", name, "input", str(number))) for number, reference in enumerate(inputs)
        ]
        known = [attributes for attributes in arriving if attributes is not None]
        if bound is None or len(known) < len(inputs):
            continue
        if len(inputs) > 1 and not bound.spec.several_inputs:
            text = f"step `{name}` has {len(inputs)} inputs, and `{bound.info.name}` takes one"
            span = state.places.value("steps", name, "input")
            state.diagnostics.append(Diagnostic("PPF636", text, span, help="name one of them"))
            continue
        _add(state, name, bound, inputs, flow.together(known))


def _add(state: StepFlow, name: str, bound: ConfiguredPlugin, inputs: tuple[str, ...], arriving: Attributes) -> None:
    expands = _expands(bound, arriving)
    if expands or bound.info.kind is Kind.GENERATOR:
        arriving = flow.without_role(arriving, Role.WEIGHT)
    scope = Scope(name, arriving, state.requirements, state.nulls, people=state.people)
    effect, problems = _effect(state, name, bound, scope)
    state.diagnostics += problems
    wrong = any(d.severity is Severity.ERROR for d in problems)
    if not wrong:
        misfits = flow.misfits(name, arriving, effect)
        span = state.places.value("steps", name, "use")
        reported = [m for m in misfits if not state.faulty or m.attribute in state.source]
        state.diagnostics += [Diagnostic(m.code, m.message, span, hint=m.hint) for m in reported]
        wrong = bool(misfits)
    if not wrong and all(base(reference) in state.clean for reference in inputs):
        state.clean.add(name)
    leaving = tuple(flow.after(name, arriving, effect).values())
    spans = _spans(state.places, name)
    state.nodes[name] = StepNode(name, bound, inputs, effect, leaving, False, expands, spans)


def _expands(bound: ConfiguredPlugin, arriving: Attributes) -> bool:
    weighted = any(fact.role is Role.WEIGHT for fact in arriving.values())
    return weighted and bound.info.randomized and bound.info.kind in _WEIGHTLESS


def _effect(state: StepFlow, name: str, bound: ConfiguredPlugin, scope: Scope) -> tuple[Effect, list[Diagnostic]]:
    try:
        effect = _kept(bound.spec.effect(bound.params, scope))
    except Exception as error:  # noqa: BLE001  # a third party's code must not look like our own fault
        text = f"the plugin `{bound.info.name}` cannot say what it does: it raised {type(error).__name__}"
        return Effect(), [Diagnostic("PPF405", text, state.places.value("steps", name, "use"))]
    return effect, [_drawn(state.places, name, problem) for problem in effect.problems]


def _kept(effect: Effect) -> Effect:
    """Return the effect with maps of its own: what a plugin changes of them later is none of the plan."""
    given = {each.name: getattr(effect, each.name) for each in fields(effect)}
    own: dict[str, Any] = {name: dict(value) for name, value in given.items() if isinstance(value, Mapping)}
    return replace(effect, **own)


def _drawn(places: ResolvedPlaces, step: str, problem: Problem) -> Diagnostic:
    path = ("steps", step, "with", *problem.path) if problem.path else ("steps", step, "use")
    severity = Severity.WARNING if problem.warning else Severity.ERROR
    span = places.key(*path) if problem.named else places.value(*path)
    return Diagnostic(problem.code, problem.message, span, severity, problem.hint, path=path)


def _spans(places: ResolvedPlaces, name: str) -> tuple[Span, ...]:
    spans = (places.key("steps", name), places.value("steps", name, "use"))
    return tuple(span for span in spans if span is not None)
