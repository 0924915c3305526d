"""Suppress: its card, parameters and effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.anonymizers.class_models.people import MORE, of_subject, subject_read
from ppdm_flow.anonymizers.naming import Importance, carried, missing_ones, unknown_importance
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import value_maps
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Role
from ppdm_flow.core.supports import Supported
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

Names = Annotated[tuple[str, ...], Field(min_length=1)]


class SuppressParams(Params):
    """Rules for rare values, for classes of fewer than k rows, and for rows that are seen to be one person's."""

    rare: dict[str, Supported] = Field(default_factory=dict)
    small: Literal["cells", "rows", "keep"] = "cells"
    attributes: Names | None = None
    k: Annotated[int, Field(ge=2)] | None = None
    importance: dict[str, Importance] = Field(default_factory=dict)
    linked: Literal["crowds", "drop", "keep"] | None = None

    @property
    def links(self) -> Literal["crowds", "drop", "keep"]:
        """The rule for linked rows; there is none where classes are kept as they are."""
        return self.linked or ("keep" if self.small == "keep" else "crowds")


def chosen(params: SuppressParams, scope: Scope) -> tuple[tuple[str, ...], int | None]:
    """Return the attributes that classes are over, and k; none where there is nothing to do about classes."""
    requirements = carried(KAnonymity, scope.requirements, scope.attributes)
    names = params.attributes or tuple(dict.fromkeys(a for r in requirements for a in r.attributes))
    k = params.k or max((r.k for r in requirements), default=None)
    return ((), None) if params.small == "keep" or k is None else (names, k)


def served(params: SuppressParams, scope: Scope) -> tuple[KAnonymity, ...]:
    """Return what holds afterwards: k-anonymity over no other attributes than those of the classes."""
    names, k = chosen(params, scope)
    requirements = carried(KAnonymity, scope.requirements, scope.attributes)
    return tuple(
        r for r in requirements if k is not None and r.attributes and set(r.attributes) <= set(names) and r.k <= k
    )


def effect(params: SuppressParams, scope: Scope) -> Effect:
    """Suppress cells, drop rows."""
    names, k = chosen(params, scope)
    served_requirements = served(params, scope)
    cells = names if params.small == "cells" else ()
    reads = tuple(dict.fromkeys((*names, *params.rare, *_of_people(params, scope, names))))
    return Effect(
        reads=reads,
        changes=dict.fromkeys((*cells, *params.rare), Change.SUPPRESSED),
        derivations=value_maps(params.rare, reads) | value_maps(cells, reads, names),
        rows="fewer" if names or drops_links(params, scope) else "same",
        rows_by=reads if drops_links(params, scope) else names,
        serves=tuple(r.id for r in served_requirements),
        guarantee=_guarantee(params, scope, names, k) if served_requirements else "",
        problems=_problems(params, scope, names),
    )


def drops_links(params: SuppressParams, scope: Scope) -> bool:
    """Whether all linked rows go, in every class."""
    return scope.people is not None and params.links == "drop"


def beside(attributes: Mapping[str, AttributeFacts]) -> tuple[str, ...]:
    """Return the attributes that can leave as they are and so link rows: no subject under its own values, nor names."""
    return tuple(
        name
        for name, facts in attributes.items()
        if facts.role is not Role.ITEMS
        and (facts.role not in (Role.SUBJECT, Role.IDENTIFIER) or facts.was(Change.PSEUDONYMIZED))
    )


def _of_people(params: SuppressParams, scope: Scope, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return what is read where people count: whose row each is, and all that can show which rows belong together."""
    if scope.people is None or not (names or drops_links(params, scope)):
        return ()
    return (*subject_read(scope), *(() if params.links == "keep" else beside(scope.attributes)))


def _guarantee(params: SuppressParams, scope: Scope, names: tuple[str, ...], k: int | None) -> str:
    over = ", ".join(names)
    if scope.people is None:
        return f"every class over {over} has at least {k} rows"
    text = f"every class over {over} has at least {k} people"
    if params.links == "keep":
        return text + MORE
    if params.links == "drop":
        return f"{text}; no row is seen to be one person's, if all that reaches the step leaves as it is"
    known = f"up to {scope.people.known_rows} rows" if scope.people.known_rows is not None else "all rows"
    return (
        f"{text}, and so have the classes of {known} that are seen to be one person's, if all that reaches the step"
        " leaves as it is"
    )


def _problems(params: SuppressParams, scope: Scope, names: tuple[str, ...]) -> tuple[Problem, ...]:
    problems = list(missing_ones(params.attributes or (), scope.attributes, ("attributes",)))
    for name in params.rare:
        problems += [
            Problem(p.code, p.message, ("rare", name), p.hint, named=True)
            for p in missing_ones([name], scope.attributes, ())
        ]
    problems += unknown_importance(params.importance, names, "classes are over")
    if scope.people is None and params.linked is not None:
        text = "no people are counted here, so no row is one person's: the policy says nothing of a subject"
        problems.append(Problem("PPF782", text, ("linked",)))
    if names or drops_links(params, scope):
        problems += of_subject(scope)
    if not names and not params.rare and not drops_links(params, scope):
        problems.append(
            Problem("PPF780", "nothing to suppress: no `rare` values, and no k with attributes for classes")
        )
    return tuple(problems)


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/suppress",
        Kind.ROW_WISE,
        serves=("k_anonymity",),
        asks=AccessRequirements(DataAccess.COUNTS, {"people": DataAccess.TABLE}, passes=1),
    ),
    params=SuppressParams,
    algorithm="ppdm_flow.anonymizers.suppress.algorithm:Suppress",
    effect=effect,
)
