"""The card of the audit `analyses`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.model import Analysis, Name, form_faults
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

CODE = "PPF656"
"""An analysis that cannot be run."""
_NUMBERS = frozenset({AttributeType.INTEGER, AttributeType.FLOAT})
_NO_VARIABLE = frozenset({Role.IDENTIFIER, Role.SUBJECT, Role.ITEMS, Role.WEIGHT})


class AnalysesParams(Params):
    """``analyses``: each by its name, which its figures begin with."""

    analyses: Annotated[dict[Name, Analysis], Field(min_length=1)]


def effect(params: AnalysesParams, scope: Scope) -> Effect:
    """Complain of wrong forms and of attributes that the source does not have; warn of those that are not released."""
    return Effect(problems=tuple(p for name, each in params.analyses.items() for p in _problems(name, each, scope)))


def _problems(name: str, analysis: Analysis, scope: Scope) -> Iterator[Problem]:
    place = ("analyses", name)
    faults = list(form_faults(analysis))
    for fault in faults:
        text = f"analysis `{name}`: {fault.message}"
        yield Problem(CODE, text, (*place, *fault.path), fault.hint or None, named=fault.of_key)
    if faults:
        return
    released: dict[str, AttributeFacts] = {}
    for facts in scope.attributes.values():
        released.setdefault(facts.source or facts.name, facts)
    for key, attribute in _named(analysis):
        role = scope.source_roles.get(attribute)
        if attribute not in released and scope.source_roles and not _known(attribute, scope):
            hint = did_you_mean(attribute, scope.source_roles)
            yield Problem(CODE, f"the source has no attribute `{attribute}`", (*place, *key), hint)
        elif role in _NO_VARIABLE:
            yield Problem(CODE, f"`{attribute}` is of role `{role}`, and no variable of an analysis", (*place, *key))
        elif attribute not in released:
            text = f"analysis `{name}` needs `{attribute}`, which a release has no column of: there it has no figures"
            yield Problem(CODE, text, (*place, *key), warning=True)
    number = analysis.number
    facts_of = released.get(number) if number is not None else None
    if facts_of is not None and facts_of.type not in _NUMBERS:
        text = f"`{number}` holds no numbers: its type is `{facts_of.type}`"
        hint = f"declare it as `{number}: {{type: integer}}` or `float`"
        yield Problem(CODE, text, (*place, analysis.form), hint)
    yield from _positive(analysis, released, place)


def _named(analysis: Analysis) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the attributes of an analysis, each with the keys that lead to it."""
    for form in ("mean", "regression"):
        single = getattr(analysis, form)
        if single is not None:
            yield (form,), single
    for form in ("table", "by", "on"):
        for number, attribute in enumerate(getattr(analysis, form) or ()):
            yield (form, str(number)), attribute


def _known(attribute: str, scope: Scope) -> bool:
    """Whether the policy declares the attribute, by its name or by a pattern, which ends with a star."""
    return any(attribute == k or ("*" in k and attribute.startswith(k.partition("*")[0])) for k in scope.source_roles)


def _positive(analysis: Analysis, released: dict[str, AttributeFacts], place: tuple[str, ...]) -> Iterator[Problem]:
    facts = released.get(analysis.regression or "")
    if analysis.positive is None or facts is None or facts.domain is None or facts.changes:
        return
    if analysis.positive not in facts.domain:
        text = f"the domain of `{analysis.regression}` has no value as the one that `positive` names"
        yield Problem(CODE, text, (*place, "positive"))


SPEC = PluginSpec(
    info=PluginInfo.of_page("audits/analyses", Kind.AUDIT, asks=AccessRequirements(DataAccess.TABLE, passes=12)),
    params=AnalysesParams,
    algorithm="ppdm_flow.audits.analyses.algorithm:AnalysesAudit",
    effect=effect,
)
