"""One row each: its card, parameters and effect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal

from pydantic import Field

from ppdm_flow.anonymizers.naming import absent, changed_subject, matching, missing_ones, subject_of
from ppdm_flow.anonymizers.numeric_attributes import NO_NUMBERS
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import CellKind, Derivation, changed_in_place
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

How = Literal["most_frequent", "smallest", "largest", "sum", "mean", "count"]
UNJUDGED = "PPF783"


class OneRowEachParams(Params):
    """``keep`` says which row stays, by ``order``; ``attributes`` how the cells of all rows of a person become one.

    ``sets`` has a new attribute, a set of items: all values that the person's rows have of another one, which goes.
    """

    keep: Literal["random", "first", "last"] = "random"
    order: str | None = None
    attributes: Mapping[str, How] = Field(default_factory=dict)
    sets: Mapping[str, str] = Field(default_factory=dict)


def contradictions(params: OneRowEachParams) -> list[Problem]:
    """Return what cannot be said together."""
    if len(params.sets) > 1:
        return [Problem("PPF782", "a table has one attribute with sets of items: name one in `sets`", ("sets",))]
    both = [name for name, of in params.sets.items() if of in params.attributes]
    if both:
        text = f"`{params.sets[both[0]]}` cannot be one cell and a set: name it in `attributes` or in `sets`"
        return [Problem("PPF782", text, ("sets", both[0]))]
    if (params.keep == "random") == (params.order is None):
        return []
    text = "`keep: first` or `last` needs the `order` that it goes by, and nothing else has one"
    return [Problem("PPF782", text, ("keep",) if params.order is None else ("order",))]


def effect(params: OneRowEachParams, scope: Scope) -> Effect:
    """Make one row of all rows of a person."""
    known = tuple(scope.attributes)
    subject = subject_of(scope.attributes)
    problems = [*contradictions(params), *changed_subject(scope.attributes)]
    if subject is None:
        text = "no attribute with `role: subject` reaches this step, so nobody knows which rows are one person's"
        problems.append(Problem("PPF780", text))
    if any(facts.role is Role.WEIGHT for facts in scope.attributes.values()):
        problems.append(Problem("PPF782", "a row with a `weight` represents several people"))
    problems += [*_of_order(params.order, scope), *missing_ones(params.attributes, known, ("attributes",))]
    there = tuple(name for name in params.attributes if name in scope.attributes)
    for name in there:
        problems += _of_attribute(name, params.attributes[name], scope)
    items = {name: of for name, of in params.sets.items() if of in scope.attributes}
    for name, of in params.sets.items():
        problems += _of_set(name, of, scope)
    chosen = tuple(n for n in (subject, params.order) if n is not None and matching(n, known))
    return Effect(
        reads=tuple(dict.fromkeys((*chosen, *there, *items.values()))),
        changes=dict.fromkeys(there, Change.OTHER),
        numbers=tuple(name for name in there if scope.attributes[name].is_numeric),
        drops=tuple(dict.fromkeys(items.values())),
        adds=tuple(_set_of(name, scope.attributes[of]) for name, of in items.items()),
        derivations={
            **changed_in_place(there, Derivation((), chosen, kind=CellKind.AVERAGED)),
            **{name: Derivation((of,), chosen, kind=CellKind.AVERAGED) for name, of in items.items()},
        },
        rows="fewer",
        by_others=True,
        guarantee="nobody has more than one row",
        problems=tuple(problems),
    )


def _of_order(order: str | None, scope: Scope) -> list[Problem]:
    if order is None:
        return []
    known = tuple(scope.attributes)
    if not matching(order, known):
        return [absent(order, known, ("order",))]
    facts = scope.attributes.get(order)
    if facts is None:
        return []
    if facts.was(Change.PERTURBED):
        return [_drawn(facts, ("order",))]
    if facts.is_numeric:
        return []
    text = f"`{order}` has no order here: say `type: integer`, `float`, `date` or `timestamp`"
    return [Problem(NO_NUMBERS, text, ("order",))]


def _of_attribute(name: str, how: How, scope: Scope) -> list[Problem]:
    """Return what keeps the cells of an attribute from becoming one."""
    facts, path = scope.attributes[name], ("attributes", name)
    if facts.role in (Role.SUBJECT, Role.ITEMS):
        what = "the person" if facts.role is Role.SUBJECT else "a set"
        text = f"`{name}` is {what}: it stays as in the row that is kept"
        return [Problem("PPF782", text, path)]
    if facts.was(Change.PERTURBED):
        return [_drawn(facts, path)]
    if how != "most_frequent" and not facts.is_numeric:
        text = f"`{name}` has no numbers here, and `{how}` needs them"
        return [Problem(NO_NUMBERS, text, path, hint="say `type: integer`, `float`, `date` or `timestamp`")]
    if how == "sum" and facts.type not in (AttributeType.INTEGER, AttributeType.FLOAT):
        return [Problem("PPF782", f"`{name}` has dates, which have no sum", path)]
    if how == "count" and facts.type is not AttributeType.INTEGER:
        return [Problem("PPF782", f"`count` makes whole numbers, and `{name}` is not `type: integer`", path)]
    return _unjudged(facts, how, scope)


def _set_of(name: str, of: AttributeFacts) -> AttributeFacts:
    """Return the attribute that holds the sets: its items are values of the other one, and have its hierarchy."""
    return AttributeFacts(name, Role.ITEMS, domain=of.domain, hierarchy=of.hierarchy, source=name)


def _of_set(name: str, of: str, scope: Scope) -> list[Problem]:
    """Return what keeps the values of an attribute from becoming the items of a set."""
    path = ("sets", name)
    if not matching(of, tuple(scope.attributes)):
        return list(missing_ones({name: of}.values(), tuple(scope.attributes), path))
    facts = scope.attributes.get(of)
    if facts is None:
        text = f"`{of}` is declared by a pattern: declare the attribute itself to make sets of it"
        return [Problem("PPF782", text, path)]
    if facts.role in (Role.SUBJECT, Role.IDENTIFIER, Role.ITEMS):
        what = {Role.SUBJECT: "the person", Role.IDENTIFIER: "an identifier", Role.ITEMS: "a set already"}[facts.role]
        return [Problem("PPF782", f"`{of}` is {what}: there is no set of its values", path)]
    if any(each.role is Role.ITEMS for each in scope.attributes.values()):
        text = "there is an attribute with `role: items` already, and a table has one set a row"
        return [Problem("PPF782", text, path)]
    if facts.was(Change.PERTURBED):
        return [_drawn(facts, path)]
    return _unjudged(facts, "set", scope)


def _unjudged(facts: AttributeFacts, how: str, scope: Scope) -> list[Problem]:
    """Refuse what a requirement could not judge: a cell of several rows has no one original to be compared with.

    The most frequent cell is one that a row of the person has. A requirement on groups counts it, and the original of
    the row that stays, whichever is worse.
    """
    names = {facts.name, facts.source or facts.name, *facts.lineage.computed_from}
    for requirement in scope.requirements:
        about = any(fnmatchcase(name, said) for name in names for said in _named(requirement))
        if not about or (how == "most_frequent" and requirement.on_groups) or (how == "set" and requirement.on_sets):
            continue
        text = (
            f"`{requirement.id}` is about `{facts.name}`, and could not say whose value the `{how}` of several rows is"
        )
        if how == "set":
            hint = "ask for `km_anonymity` of the sets instead"
            return [Problem(UNJUDGED, text, ("sets",), hint=hint)]
        hint = "leave it out of `attributes`: it is then that of the row that stays"
        return [Problem(UNJUDGED, text, ("attributes", facts.name), hint=hint)]
    return []


def _named(requirement: Requirement) -> set[str]:
    """Return all texts that a requirement says, the attributes that it is about among them."""
    said: set[str] = {requirement.name}

    def heard(name: str) -> str:
        said.add(name)
        return name

    requirement.renamed(heard)
    said |= {*requirement.grouping, *requirement.secrets, *requirement.numbers}
    return said | set(_texts(requirement.document()))


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from (*_texts(key), *_texts(each))
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)


def _drawn(facts: AttributeFacts, path: tuple[str, ...]) -> Problem:
    text = f"`{facts.name}` is perturbed here: what is made or chosen of drawn values is not drawn as its operator says"
    return Problem("PPF783", text, path, hint="make one row each before the step that perturbs")


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/one_row_each",
        Kind.ROW_WISE,
        randomized=True,
        asks=AccessRequirements(DataAccess.TABLE, passes=2, takes_all=True),
    ),
    params=OneRowEachParams,
    algorithm="ppdm_flow.anonymizers.one_row_each.algorithm:OneRowEach",
    effect=effect,
)
