"""A claim: one thing that must hold of every release, the clause that says so, and how two claims differ."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from dataclasses import field as dataclass_field
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel

from ppdm_flow.core.gate import FigureGate
from ppdm_flow.core.model import AUDIT as ANALYSES
from ppdm_flow.core.model import unordered
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.language.kinds import RequirementSpec, built_in, guarded, spec_of, third_parties
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.policy.order.marks import Order, Rule, Rules, order_by_marks
from ppdm_flow.policy.order.releases import Canon, made_by, origin
from ppdm_flow.sdk.spec import imported

Each = TypeVar("Each")


@dataclass(frozen=True, slots=True)
class ReleaseScope:
    """Which releases something is claimed of: those of these ``names``, or all where that is None.

    ``contents`` is what they hold, by the steps that make it, and ``free`` what the other releases of the policy hold.
    """

    names: frozenset[str] | None = None
    contents: frozenset[Hashable] = frozenset()
    free: frozenset[Hashable] = frozenset()

    def covers(self, other: ReleaseScope) -> bool:
        """Whether this claim covers every release that the other one does, under any names."""
        if self.names is None:
            return True
        if other.names is None:
            return False
        return self.names >= other.names and not (self.free - other.free) & other.contents


EVERYWHERE = ReleaseScope()


@dataclass(frozen=True, slots=True)
class Claim:
    """``says`` is a value of one of the kinds of claim; ``until`` the last day that it is waived for, if it is.

    Some of what a ``hidden`` one says comes from the environment: no sentence quotes it. ``scope`` says of
    which releases it is claimed.
    """

    clause: PolicyPath
    says: Hashable
    span: Span | None = None
    until: str = ""
    hidden: bool = False
    scope: ReleaseScope = EVERYWHERE


@dataclass(frozen=True, slots=True)
class OpaqueClaim:
    """A requirement of a kind that no rule is known of: only the very same one implies it."""

    kind: str
    content: str


def opaque(given: OpaqueClaim, asked: OpaqueClaim, between: ComparedPolicies) -> str | None:
    """Compare by content alone."""
    grounds = between.same_roles and between.same_original and between.given.nulls is between.asked.nulls
    return "the same clause" if given == asked and grounds else None


RULES: Rules = ((OpaqueClaim, OpaqueClaim, opaque),)


_MOST = 4
_NAMES = frozenset(("id", "name", "span", "releases"))
"""What a requirement says of its place, and of which releases it is claimed."""


def differences(before: Sequence[Claim], after: Sequence[Claim]) -> list[str]:
    """Return what is different between claims of the same kind, each thing once; nothing of what is hidden."""
    words: dict[str, None] = {}
    for one in before:
        other = next((c for c in after if type(c.says) is type(one.says)), None)
        if other is not None and one.says != other.says and not (one.hidden or other.hidden):
            words |= dict.fromkeys(_fields(one.says, other.says))
    return list(words)[:_MOST]


def _fields(one: Any, other: Any) -> Iterator[str]:
    before, after = _values(one), _values(other)
    for name, value in before.items():
        values = value, after[name]
        if values[0] == values[1]:
            continue
        if isinstance(values[0], frozenset) and isinstance(values[1], frozenset):
            yield from _names(*values)
        elif isinstance(values[0], int | float) and isinstance(values[1], int | float):
            yield f"`{name}` goes from {values[0]:g} to {values[1]:g}"
        elif None in values and isinstance(values[values[0] is None], int | float):
            yield f"`{name}` is {'new' if values[0] is None else 'gone'}"
        elif isinstance(values[0], str) and isinstance(values[1], str):
            yield f"`{name}` is `{values[1]}` and was `{values[0]}`"
        else:
            yield f"`{name}` differs"


def _values(claim: Any) -> dict[str, Any]:
    """Return what a claim says, by field; lists whose order means nothing as sets, which come last."""
    if isinstance(claim, Requirement):
        said = {name: value for name, value in claim.said().items() if name not in _NAMES}
        below = {name: dict(value) for name, value in said.items() if isinstance(value, BaseModel)}
        plain = {k: v for n, value in said.items() for k, v in below.get(n, {n: value}).items()}
        sets = {name: frozenset(plain.pop(name)) for name in unordered(type(claim)) & plain.keys()}
        return plain | sets
    return {f.name: getattr(claim, f.name) for f in fields(claim) if f.compare} if is_dataclass(claim) else {}


def _names(before: frozenset[Any], after: frozenset[Any]) -> Iterator[str]:
    for names, verb in ((after - before, "is new"), (before - after, "is gone")):
        if names:
            listed = ", ".join(f"`{name}`" for name in sorted(map(str, names)))
            yield f"{listed} {verb if len(names) == 1 else verb.replace('is', 'are')}"


# What any requirement claims, and why one claim implies another, by the rules of the kinds that are installed.


UNQUOTED = "by values from the environment, not shown"


@cache
def order_of(kind: str) -> Order:
    """Return what the clauses of a kind claim and imply: by the marks of its model, unless its spec says otherwise.

    Raises TypeError where its spec names something else; PluginError where another package's cannot be imported.
    """
    if kind in third_parties():
        return _guarded(kind, guarded(kind, "say what it claims", _order)(kind))
    return _order(kind)


def _order(kind: str) -> Order:
    return order_of_spec(spec_of(kind))


def order_of_spec(spec: RequirementSpec) -> Order:
    """Return the order that a kind names, or the one by the marks of its model. Raises TypeError for anything else."""
    order = imported(spec.order) if spec.order else order_by_marks(spec.requirement, files=spec.files)
    if not isinstance(order, Order):
        raise TypeError(f"the order of `{spec.name}` is no Order")
    return order


def _guarded(kind: str, order: Order) -> Order:
    """Return the order so that what another package's code raises is told as its fault."""
    rules = tuple((given, asked, guarded(kind, "compare its claims", rule)) for given, asked, rule in order.rules)
    return replace(order, says=guarded(kind, "say what it claims", order.says), rules=rules)


def bounds_of(kind: str) -> frozenset[str]:
    """Return the fields of a kind of requirement that only bound figures of their names."""
    return frozenset(order_of(kind).bounds)


@cache
def rules_of(kinds: frozenset[str]) -> Mapping[tuple[type[Any], type[Any]], Rule]:
    """Return the rules of the built-in kinds and of these: at most one for each pair of kinds of claims."""
    names = dict.fromkeys((*(spec.name for spec in built_in()), *sorted(kinds)))
    every = (*RULES, *GATES_RULES, *(rule for name in names for rule in order_of(name).rules))
    return {(given, asked): rule for given, asked, rule in every}


def said(requirement: Requirement, frame: PolicyFrame) -> Iterator[Any]:
    """Yield what a requirement claims; what its kind's rules do not look at is claimed as it is."""
    order = order_of(requirement.kind)
    yield from order.says(requirement, frame)
    known = _NAMES.union(order.fields)
    rest = [(name, value) for name, value in requirement.said().items() if name not in known]
    if rest:
        yield OpaqueClaim(requirement.kind, repr(rest))


class ClaimsBySubject:
    """The claims of a policy by what they are about.

    A claim about one attribute implies none about another one, and one about a value none about another value. A claim
    that names none may be about any.
    """

    def __init__(self, claims: Iterable[Claim]) -> None:
        self.claims = tuple(claims)
        self.places: dict[str | None, dict[str | None, list[int]]] = {}
        for place, claim in enumerate(self.claims):
            attribute, value = _subject(claim)
            self.places.setdefault(attribute, {}).setdefault(value, []).append(place)

    def about(self, asked: Claim) -> Iterator[Claim]:
        """Yield the claims that may imply the one asked for, in their order."""
        attribute, value = _subject(asked)
        by_value = _of_or_any(self.places, attribute)
        places = sorted(place for each in by_value for some in _of_or_any(each, value) for place in some)
        return (self.claims[place] for place in places)


def _subject(claim: Claim) -> tuple[str | None, str | None]:
    """Return the attribute and the value that a claim is about, as far as it names them."""
    return getattr(claim.says, "attribute", None), getattr(claim.says, "value", None)


def _of_or_any(some: Mapping[str | None, Each], name: str | None) -> list[Each]:
    """Return what stands under a name, or under none; all without a name."""
    return [*some.values()] if name is None else [some[key] for key in (name, None) if key in some]


def implied(claims: Iterable[Claim], asked: Claim, between: ComparedPolicies) -> str | None:
    """Return why some claim implies the one asked for; None where none is proved to.

    A claim that is waived for longer than the other may fail where the other must hold.
    """
    rules = rules_of(between.kinds)
    for given in claims:
        rule = rules.get((type(given.says), type(asked.says)))
        if rule is None or given.until > asked.until or not given.scope.covers(asked.scope):
            continue
        why = rule(given.says, asked.says, between)
        if why is not None:
            why = UNQUOTED if given.hidden or asked.hidden else why
            return why if given.clause == asked.clause else f"`{'.'.join(given.clause)}` implies it: {why}"
    return None


# Gates: a tighter bound on the same figure, which must be measured in the very same way.


_WORDS = frozenset({"id", "name", "span", "values_absent", "releases"})
_FREE = frozenset({"uniques", "classes", "distinct"})
"""Figures of requirements that do not depend on a bound, beside those that it bounds."""


@dataclass(frozen=True, slots=True)
class GateClaim:
    """The figure is at most (or at least) ``bound``, on each of the ``releases``; on none where it is a step's.

    Its interval is at most ``max_width`` wide.

    ``figure`` says what it is without any name that could change. ``texts`` are what the audit is told: some of them
    may name files. ``bound_data`` is what those releases hold, by the steps that make it, and ``free_data`` what the
    other releases of the policy hold.
    """

    figure: tuple[object, ...]
    at_most: bool
    bound: float
    releases: frozenset[str]
    max_width: float
    texts: frozenset[str] = frozenset()
    bound_data: frozenset[Hashable] = dataclass_field(default=frozenset(), compare=False)
    free_data: frozenset[Hashable] = dataclass_field(default=frozenset(), compare=False)


@dataclass(frozen=True, slots=True)
class MetricReader:
    """What says which figure a metric is: the policy, its requirements, and how releases are called in both.

    ``bounds`` are the fields of a kind of requirement that only bound figures of their names.
    """

    policy: Policy
    requirements: Sequence[Requirement]
    releases: Mapping[str, str]
    canon: Canon
    bounds: Callable[[str], frozenset[str]]

    def says(self, gate: FigureGate) -> Iterator[GateClaim]:
        """Yield what a gate claims on each side."""
        figure, texts = self._figure(gate.figure), frozenset(self._texts(gate.figure))
        scope = self.scope(gate.releases)
        where = scope.names or frozenset()
        for bound, at_most in ((gate.minimum, False), (gate.maximum, True)):
            if bound is not None:
                yield GateClaim(figure, at_most, bound, where, gate.max_width, texts, scope.contents, scope.free)

    def scope(self, releases: Sequence[str]) -> ReleaseScope:
        """Return these releases as what they hold, and what others hold; all releases where there are none."""
        if not releases:
            return EVERYWHERE
        data = {name: origin(self.policy, name, self.canon) for name in self.policy.releases}
        return ReleaseScope(
            frozenset(self.releases.get(name, name) for name in releases),
            frozenset(content for name, content in data.items() if name in releases),
            frozenset(content for name, content in data.items() if name not in releases),
        )

    def _texts(self, metric: str) -> Iterator[str]:
        owner = metric.partition(".")[0]
        if owner in self.policy.audits:
            yield from _leaves(self.policy.audits[owner].with_)

    def _figure(self, metric: str) -> tuple[object, ...]:
        for requirement in sorted(self.requirements, key=lambda r: -len(r.id)):
            if metric.startswith(f"{requirement.id}."):
                return (
                    "requirement",
                    *_definition(requirement, metric[len(requirement.id) + 1 :], self.bounds(requirement.kind)),
                )
        owner, _, figure = metric.partition(".")
        if owner in self.policy.audits:
            audit = self.policy.audits[owner]
            return ("audit", audit.use, self.canon("audits", audit.use, audit.with_), figure)
        if owner in self.policy.steps:
            return ("step", made_by(self.policy.steps, owner, self.canon), figure)
        if owner == ANALYSES:
            of = figure.partition(".")[0]
            analyses = {n: each.model_dump_json() for n, each in self.policy.analyses.items() if of in (n, figure)}
            return ("analyses", tuple(sorted(analyses.items())), figure)
        return ("implicit", owner, figure)


def gates(given: GateClaim, asked: GateClaim, between: ComparedPolicies) -> str | None:
    """Return why a gate holds where another does."""
    if given.figure != asked.figure or given.at_most != asked.at_most or not between.measured_alike:
        return None
    moved = (given.free_data - asked.free_data) & asked.bound_data  # it leaves under a name that no gate is about
    if moved or not given.releases >= asked.releases:
        return None
    if not all(between.same_file(text, text) for text in given.texts & asked.texts):
        return None
    if given.bound > asked.bound if given.at_most else given.bound < asked.bound:
        return None
    if given.max_width > asked.max_width:
        return None
    side = "at most" if given.at_most else "at least"
    narrower = f", {given.max_width:g} wide at most" if given.max_width < asked.max_width else ""
    return f"the same figure, and {side} {given.bound:g}{narrower} is {side} {asked.bound:g}"


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    for item in value if isinstance(value, list | tuple) else ():
        yield from _leaves(item)
    if isinstance(value, str):
        yield value


def _definition(requirement: Requirement, figure: str, bounds: frozenset[str]) -> tuple[Any, ...]:
    """Return what a requirement's figure is: without its bound, where the figure does not depend on it."""
    skipped = _WORDS | (bounds if figure in _FREE | bounds else frozenset())
    given = {name: value for name, value in requirement.said().items() if name not in skipped}
    sets = unordered(type(requirement))
    said = tuple((name, frozenset(value) if name in sets else value) for name, value in given.items())
    return (requirement.kind, said, figure)


GATES_RULES: Rules = ((GateClaim, GateClaim, gates),)
