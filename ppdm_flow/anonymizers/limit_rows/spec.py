"""Limit rows: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.anonymizers.naming import absent, changed_subject, matching, subject_of
from ppdm_flow.anonymizers.numeric_attributes import NO_NUMBERS
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class LimitRowsParams(Params):
    """Either ``rows`` a person, or ``values``: so many different values of ``attribute`` a person."""

    rows: Annotated[int, Field(ge=1)] | None = None
    keep: Literal["random", "first", "last"] = "random"
    order: str | None = None
    values: Annotated[int, Field(ge=1)] | None = None
    attribute: str | None = None


def contradictions(params: LimitRowsParams) -> list[Problem]:
    """Return what cannot be said together."""
    if (params.rows is None) == (params.values is None):
        return [Problem("PPF782", "give either `rows` or `values`; two steps limit both")]
    problems = []
    if (params.values is None) != (params.attribute is None):
        problems.append(Problem("PPF782", "`values` and `attribute` go together: values of what, and how many"))
    if params.values is not None and params.keep != "random":
        problems.append(Problem("PPF782", "`keep` says which rows stay: it goes with `rows`", ("keep",)))
    if (params.keep == "random") != (params.order is None):
        text = "`keep: first` or `last` needs the `order` that it goes by, and nothing else has one"
        problems.append(Problem("PPF782", text, ("keep",) if params.order is None else ("order",)))
    return problems


def effect(params: LimitRowsParams, scope: Scope) -> Effect:
    """Keep some rows of people who have many."""
    known = tuple(scope.attributes)
    subject = subject_of(scope.attributes)
    problems = [*contradictions(params), *changed_subject(scope.attributes)]
    if subject is None:
        text = "no attribute with `role: subject` reaches this step, so nobody knows whose rows there are too many of"
        problems.append(Problem("PPF780", text))
    if any(facts.role is Role.WEIGHT for facts in scope.attributes.values()):
        text = "a row with a `weight` represents several people, and this step counts the rows of each"
        problems.append(Problem("PPF782", text))
    named = {"order": params.order, "attribute": params.attribute}
    for key, name in named.items():
        if name is None:
            continue
        if not matching(name, known):
            problems.append(absent(name, known, (key,)))
        elif name in scope.attributes and scope.attributes[name].was(Change.PERTURBED):
            text = f"`{name}` is perturbed here: rows chosen by drawn values are no longer drawn as its operator says"
            problems.append(Problem("PPF783", text, (key,), hint="limit rows before the step that perturbs"))
    order = scope.attributes.get(params.order or "")
    if order is not None and not order.is_numeric:
        text = f"`{order.name}` has no order here: say `type: integer`, `float`, `date` or `timestamp`"
        problems.append(Problem(NO_NUMBERS, text, ("order",)))
    reads = [name for name in (subject, *named.values()) if name is not None and matching(name, known)]
    limit = f"{params.rows} rows" if params.values is None else f"{params.values} values of `{params.attribute}`"
    return Effect(
        reads=tuple(dict.fromkeys(reads)),
        rows="fewer",
        by_others=True,
        evenly=() if params.attribute is None else (params.attribute,),
        guarantee=f"nobody has more than {limit}",
        problems=tuple(problems),
    )


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/limit_rows",
        Kind.ROW_WISE,
        randomized=True,
        asks=AccessRequirements(DataAccess.TABLE, passes=2, takes_all=True),
    ),
    params=LimitRowsParams,
    algorithm="ppdm_flow.anonymizers.limit_rows.algorithm:LimitRows",
    effect=effect,
)
