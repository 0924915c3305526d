"""A step on a key changes it in every table alike: what one table has a step for is done at the end of every other way.

Somebody with two releases joins them by their keys; a key that is changed in one of them alone would join nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.spans import Span
from ppdm_flow.plan.definition import LinkedTable, ReleaseNode, StepNode
from ppdm_flow.policy.language.models import Policy, Step
from ppdm_flow.policy.loaded import PolicyPath, ResolvedPlaces

_BY_NAME = "attribute"
"""The scope of pseudonyms that depend on the column's name."""
_ATTRIBUTES = "attributes"
Fields = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class KeyWay:
    """What becomes of a table's key on the way to a release.

    ``column`` is its name at the end where nobody has changed it, ``change`` the step that did; neither is there where
    the key does not reach the release.
    """

    column: str | None = None
    change: StepNode | None = None
    name_before: str = ""


@dataclass(frozen=True, slots=True)
class KeyStep:
    """A written step that changes a key, which it calls ``column``."""

    name: str
    written: Step
    column: str

    @property
    def asks(self) -> tuple[str, Fields]:
        """What it does, whatever attributes it does it to."""
        return self.written.use, {key: value for key, value in self.written.with_.items() if key != _ATTRIBUTES}


@dataclass(frozen=True, slots=True)
class AddedStep:
    """A step that nobody wrote: what ``like`` does, to the key of another table, before ``release``."""

    name: str
    like: KeyStep
    step: Step
    release: str


@dataclass(slots=True)
class KeySteps:
    """The steps on keys, those that have to be added, and what is wrong with them."""

    steps: list[KeyStep] = field(default_factory=list)
    added: list[AddedStep] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def key_way(table: LinkedTable, release: ReleaseNode) -> KeyWay:
    """Follow the key of a table to one of its releases."""
    column = table.person
    chain = table.plan.upstream(release.input)
    references = [*(node.input for node in chain[1:]), release.input]
    for node, reference in zip(chain, references, strict=False):  # a release of the table itself has no step
        effect = node.effect
        if column in effect.drops or effect.rows == "generated":
            return KeyWay()
        if column in effect.changes:
            return KeyWay(change=node, name_before=column)
        column = effect.renames.get(column, column)
        if effect.outputs and column not in effect.outputs.get(reference.partition(".")[2], ()):
            return KeyWay()
    return KeyWay(column)


def key_steps(policy: Policy, tables: Iterable[LinkedTable], places: ResolvedPlaces) -> KeySteps:
    """Return the steps that change keys, each once for what it does, and those to be added."""
    result = KeySteps()
    ways = [(table, release, key_way(table, release)) for table in tables for release in table.plan.releases]
    for _, _, way in ways:
        if way.change is not None and way.change.name in policy.steps:
            _written(policy, way.change, way.name_before, places, result)
    for table, release, way in ways:
        if way.column is not None and result.steps:
            _add(table, release, way.column, places, result)
    return result


def _written(policy: Policy, node: StepNode, column: str, places: ResolvedPlaces, result: KeySteps) -> None:
    if node.effect.changes[column] is not Change.PSEUDONYMIZED:
        text = f"step `{node.name}` changes `{column}`, by which the tables belong together"
        help_ = "a key of linked tables is pseudonymized, or dropped"
        fault = Diagnostic("PPF633", text, places.value("steps", node.name, "use"), help=help_)
        result.diagnostics += [] if fault in result.diagnostics else [fault]
        return
    step = KeyStep(node.name, policy.steps[node.name], column)
    if all(step.asks != other.asks for other in result.steps):
        result.steps.append(step)


def _add(table: LinkedTable, release: ReleaseNode, column: str, places: ResolvedPlaces, result: KeySteps) -> None:
    like = result.steps[0]
    if len(result.steps) > 1:
        names = " and ".join(f"`{step.name}`" for step in result.steps)
        text = f"release `{release.name}` has the key `{column}`, and {names} change keys in different ways"
        help_ = "give it a step on the key of its own, or drop the key before it"
        result.diagnostics.append(Diagnostic("PPF633", text, places.key("releases", release.name), help=help_))
        return
    if like.column != column and str(like.written.with_.get("scope", _BY_NAME)) == _BY_NAME:
        text = f"`{like.column}` and `{column}` would not get the same pseudonyms, since they have different names"
        help_ = "say `scope: shared`, or give the scope a name"
        result.diagnostics.append(Diagnostic("PPF633", text, places.value("steps", like.name, "with"), help=help_))
        return
    given = {**like.written.with_, _ATTRIBUTES: [column]}
    step = Step.model_construct(use=like.written.use, input=(_origin(table, release),), with_=given)
    result.added.append(AddedStep(f"{like.name}-{release.name}", like, step, release.name))


def _origin(table: LinkedTable, release: ReleaseNode) -> str:
    """Return what the policy makes the release of: the nearest node that it has itself."""
    return next((node.input for node in table.plan.upstream(release.input) if node.implicit), release.input)


def with_steps(policy: Policy, added: Iterable[AddedStep]) -> Policy:
    """Return the policy of a table with further steps, each right before its release."""
    steps, releases = dict(policy.steps), dict(policy.releases)
    for each in added:
        steps[each.name] = each.step
        releases[each.release] = releases[each.release].model_copy(update={"from_": each.name})
    return policy.model_copy(update={"steps": steps, "releases": releases})


def with_places(places: ResolvedPlaces, added: Iterable[AddedStep]) -> ResolvedPlaces:
    """Return the places with those of the further steps: what each of them is like."""
    keys, values = dict(places.keys), dict(places.values)
    for each in added:
        written = ("steps", each.like.name)
        for spans in (keys, values):
            spans |= {("steps", each.name, *p[2:]): span for p, span in places_of(spans, written)}
    return ResolvedPlaces(keys, values)


def places_of(spans: Mapping[PolicyPath, Span], above: PolicyPath) -> list[tuple[PolicyPath, Span]]:
    """Return the places at and below one."""
    return [(path, span) for path, span in spans.items() if path[: len(above)] == above]
