"""Follows attributes through the effects of steps: which of them reach each place of the plan, and how."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ppdm_flow.core.attributes import AttributeFacts, Change, HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.lineage import CellKind, Derivation, Lineage
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import AttributeType, Nulls, Role
from ppdm_flow.core.spans import Span
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.plan.binding import Wiring
from ppdm_flow.plan.dag import SOURCE, base
from ppdm_flow.plan.definition import ConfiguredPlugin, Plan, StepNode
from ppdm_flow.policy.language.models import Attribute, Hierarchy, Policy
from ppdm_flow.policy.language.patterns import DeclaredAttributes, is_pattern, matches
from ppdm_flow.policy.loaded import ResolvedPlaces
from ppdm_flow.sdk.spec import Effect, Problem, Scope


@dataclass(frozen=True, slots=True)
class Misfit:
    """An effect that does not fit the attributes that reach the step."""

    code: str
    message: str
    hint: str | None = None
    attribute: str = ""


def by_name(facts: Iterable[AttributeFacts]) -> Attributes:
    """Return facts as an ordered map."""
    return Attributes({fact.name: fact for fact in facts})


def together(inputs: Iterable[Attributes]) -> Attributes:
    """Return the attributes of several inputs; of a name that several have, those of the first."""
    attributes = Attributes()
    for each in inputs:
        for name, fact in each.items():
            attributes.setdefault(name, fact)
    return attributes


def flow_misfits(step: str, before: Attributes, effect: Effect) -> list[Misfit]:
    """Return what ``effect`` asks of attributes that are not there, and names that it would give twice."""
    needed = dict.fromkeys((*effect.reads, *effect.changes, *effect.drops, *effect.renames))
    result = []
    for name in needed:
        if name not in before:
            hint = did_you_mean(name, before)
            result.append(Misfit("PPF606", f"step `{step}` needs `{name}`, which does not reach it", hint, name))
    after = [effect.renames.get(name, name) for name in before if name not in effect.drops]
    names = [*after, *(fact.name for fact in effect.adds)]
    twice = [name for name, count in Counter(names).items() if count > 1]
    return [*result, *(Misfit("PPF607", f"after step `{step}` two attributes would be named `{n}`") for n in twice)]


def after(step: str, before: Attributes, effect: Effect) -> Attributes:
    """Return the attributes that leave ``step``."""
    attributes = _materialized(before, (*effect.changes, *effect.drops, *effect.renames))
    for name, change in effect.changes.items():
        if name in attributes:
            derivation = effect.derivation(name)
            derived = lineage_of(derivation, before)
            if derivation.moved:
                derived = replace(derived, moved_by=derived.moved_by | {step})
            changed = attributes[name].changed(step, change)
            labels = changed.labels or (changed.type.is_numeric and name not in effect.numbers)
            recoded = _recoded(attributes[name], change, effect.recodes.get(name), derivation.kind)
            attributes[name] = replace(changed, derived=derived, labels=labels, recoded=recoded)
    for name in effect.drops:
        attributes.pop(name, None)
    renamed = {effect.renames.get(name, name): fact for name, fact in attributes.items()}
    out = Attributes({name: fact if fact.name == name else replace(fact, name=name) for name, fact in renamed.items()})
    for fact in effect.adds:
        out[fact.name] = replace(fact, derived=lineage_of(effect.derivation(fact.name), before))
    return out


def _recoded(
    before: AttributeFacts, change: Change, recodes: Mapping[str, str] | None, kind: CellKind
) -> tuple[tuple[str, str], ...]:
    """Return values of the source with the cells that they are after a step, as the policy writes them down."""
    if change is Change.SUPPRESSED or kind is CellKind.EXCHANGED:
        return before.recoded
    kept = before.recoded or all(each is Change.SUPPRESSED for _, each in before.changes)
    if recodes is None or not kept:
        return ()
    earlier = {value: recodes.get(cell, cell) for value, cell in before.recoded}
    return tuple({**recodes, **earlier}.items())


def lineage_of(derivation: Derivation, before: Attributes) -> Lineage:
    """Return what a column comes from in the source, from the attributes that reach the step which makes it."""
    of = derivation
    named = {*of.computed_from, *of.chosen_by, *(of.carries or ()), *of.hidden_by, *of.hidden_for, *of.within}
    return derivation.lineage({name: before[name].lineage for name in named if name in before})


def without_role(facts: Attributes, role: Role) -> Attributes:
    """Return the attributes that do not have ``role``."""
    return Attributes({name: fact for name, fact in facts.items() if fact.role is not role})


def output_of(effect: Effect, facts: Attributes, output: str) -> Attributes | None:
    """Return the attributes of one output of a step (``""``: its own), or None where it has no such output."""
    if not effect.outputs:
        return facts if output == "" else None
    names = effect.outputs.get(output)
    return None if names is None else Attributes({name: facts[name] for name in names if name in facts})


def untouched(fact: AttributeFacts) -> bool:
    """Whether the attribute still has its own values under its own name."""
    return not fact.changes and fact.name == fact.source


def _materialized(facts: Attributes, names: Iterable[str]) -> Attributes:
    """Give names that only a glob covers a place of their own."""
    attributes = Attributes(facts)
    own = frozenset(facts)
    for name in names:
        if name not in own and name in facts:
            attributes[name] = facts[name]
    return attributes


Ways = Mapping[str, tuple[str, ...]]


def ways(plan: Plan, node: str) -> Ways:
    """Return for each column the steps that changed it before ``node``, oldest first; untouched ones are left out."""
    passed: dict[str, Ways] = {}
    for step in plan.upstream(node):
        before = ChainMap(*(dict(passed.get(base(reference), {})) for reference in step.inputs))
        passed[step.name] = _after(step, before)
    return passed.get(base(node), {})


def _after(step: StepNode, before: Ways) -> Ways:
    effect = step.effect
    made = dict(before)
    for name in (*effect.changes, *(fact.name for fact in effect.adds)):
        made[name] = _joined([before.get(n, ()) for n in effect.derivation(name).computed_from], step.name)
    kept = {name: steps for name, steps in made.items() if name not in (*effect.drops, *effect.renames)}
    return kept | {new: (*made.get(old, ()), step.name) for old, new in effect.renames.items()}


def _joined(ways_of: list[tuple[str, ...]], last: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*(step for steps in ways_of for step in steps), last]))


# From declared attributes, names and globs, to what is known of each column.


class Attributes(dict[str, AttributeFacts]):
    """Facts by name, in order. While the columns are unread, a name that only a glob covers is known as well."""

    def __missing__(self, name: str) -> AttributeFacts:
        for pattern, facts in self.items():
            if is_pattern(pattern) and matches(pattern, name):
                derived = None if facts.derived is None else facts.derived.renamed(pattern, name)
                return replace(facts, name=name, source=name, derived=derived)
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def get(self, name: str, default: AttributeFacts | None = None) -> AttributeFacts | None:  # type: ignore[override]  # the overloads of dict.get add nothing here
        """Return the facts of ``name``, also where only a glob covers it."""
        try:
            return self[name]
        except KeyError:
            return default


def resolved(
    policy: Policy, places: ResolvedPlaces, columns: Sequence[str] | None
) -> tuple[dict[str, Attribute], list[Diagnostic]]:
    """Return attributes by the names of the data's columns (as declared, without columns), and unmatched patterns.

    Whether the data has every declared column, and none beside them, is the reader's to say.
    """
    if columns is None:
        return dict(policy.attributes), []
    declared = DeclaredAttributes.of(policy)
    covered = {column: declared.key(column) for column in columns}
    own = [name for name in policy.attributes if not is_pattern(name)]
    names = [*(c for c, key in covered.items() if key is not None), *(name for name in own if name not in covered)]
    diagnostics = [
        _unmatched(name, places) for name in declared.patterns if not any(matches(name, column) for column in columns)
    ]
    diagnostics += [fault for column in columns if (fault := _outranked(column, declared, places)) is not None]
    return {name: policy.attributes[declared.key(name) or name] for name in names}, diagnostics


def _outranked(column: str, declared: DeclaredAttributes, places: ResolvedPlaces) -> Diagnostic | None:
    """Return the fault that the first pattern to fit a column says less of it than a later one."""
    fits = [p for p in declared.patterns if column not in declared.attributes and matches(p, column)]
    stricter = [p for p in fits[1:] if _rank(declared, p) > _rank(declared, fits[0])]
    if not stricter:
        return None
    first, later = fits[0], stricter[0]
    roles = declared.attributes[first].role, declared.attributes[later].role
    return Diagnostic(
        "PPF620",
        f"the column `{column}` fits `{first}`, which makes it {roles[0]}, before `{later}`, which makes it {roles[1]}",
        places.key("attributes", later),
        help="the first pattern holds: put the stricter one first, or declare the column by its own name",
    )


def _rank(declared: DeclaredAttributes, pattern: str) -> int:
    """Return how much a role protects: identifiers stay behind, sensitive attributes and quasi-identifiers count."""
    role = declared.attributes[pattern].role
    if role in (Role.IDENTIFIER, Role.SUBJECT):
        return 2
    return int(role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE))


def facts_of(attributes: Mapping[str, Attribute], places: ResolvedPlaces) -> tuple[AttributeFacts, ...]:
    """Return what is known of each attribute before any step."""
    return tuple(_facts(name, attribute, places) for name, attribute in attributes.items())


def _facts(name: str, attribute: Attribute, places: ResolvedPlaces) -> AttributeFacts:
    hierarchy = None if attribute.hierarchy is None else _hierarchy(attribute.hierarchy, attribute.type)
    span = places.key("attributes", name)
    kind, text = attribute.type, attribute.description
    facts = AttributeFacts(name, attribute.role, kind, attribute.domain, hierarchy, name, span=span, description=text)
    determined = frozenset(attribute.determines or ())
    return replace(facts, has_declared_type="type" in attribute.model_fields_set, determines=determined)


def _hierarchy(given: Hierarchy, kind: AttributeType) -> HierarchySpec:
    return HierarchySpec(
        csv=given.csv,
        intervals=given.intervals,
        levels=None if given.levels is None else tuple(given.levels.items()),
        delimiter=given.delimiter,
        prefix=given.prefix,
        mask=given.mask,
        date=given.date,
        format=given.format,
        order=given.order,
        then=given.then or (),
        open_ends=given.open_ends,
        numeric=kind is AttributeType.INTEGER,
    )


def _unmatched(pattern: str, places: ResolvedPlaces) -> Diagnostic:
    text = f"no column of the data matches `{pattern}`"
    return Diagnostic("PPF612", text, places.key("attributes", pattern), Severity.WARNING)


# Steps: bound, fed and followed, in the plan's order.


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
        return None if node is None else output_of(node.effect, by_name(node.attributes), output)

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
        _add(state, name, bound, inputs, together(known))


def _add(state: StepFlow, name: str, bound: ConfiguredPlugin, inputs: tuple[str, ...], arriving: Attributes) -> None:
    expands = _expands(bound, arriving)
    if expands or bound.info.kind is Kind.GENERATOR:
        arriving = without_role(arriving, Role.WEIGHT)
    scope = Scope(name, arriving, state.requirements, state.nulls, people=state.people)
    effect, problems = _effect(state, name, bound, scope)
    state.diagnostics += problems
    wrong = any(d.severity is Severity.ERROR for d in problems)
    if not wrong:
        misfits = flow_misfits(name, arriving, effect)
        span = state.places.value("steps", name, "use")
        reported = [m for m in misfits if not state.faulty or m.attribute in state.source]
        state.diagnostics += [Diagnostic(m.code, m.message, span, hint=m.hint) for m in reported]
        wrong = bool(misfits)
    if not wrong and all(base(reference) in state.clean for reference in inputs):
        state.clean.add(name)
    leaving = tuple(after(name, arriving, effect).values())
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
