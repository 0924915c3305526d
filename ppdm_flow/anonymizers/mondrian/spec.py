"""Mondrian: its card, parameters and effect."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ppdm_flow.anonymizers.class_models.people import RecodingTask, claimed, of_subject, subject_read, task
from ppdm_flow.anonymizers.naming import Importance, missing_ones, unknown_importance
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import Derivation
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

Names = Annotated[tuple[str, ...], Field(min_length=1)]
FormName = Literal["hierarchy", "intervals", "sets", "bounds"]
EVERY = ""
"""Key for all attributes that become intervals without a rule of their own: no column has this name."""


class IntervalEnds(Params):
    """Where intervals may end: at multiples of ``round``, or at numbers of so many ``significant`` digits."""

    round: Annotated[float, Field(gt=0.0)] | None = None
    significant: Annotated[int, Field(ge=1, le=15)] | None = None


def _by_attribute(labels: Any) -> Any:
    """Read ``{round: 5}`` or ``{significant: 2}`` as what is said of all intervals."""
    if not isinstance(labels, Mapping):
        return labels
    ends = {key: v for key, v in labels.items() if key in IntervalEnds.model_fields and _is_number(v)}
    rest = {key: v for key, v in labels.items() if key not in ends}
    return {**({EVERY: ends} if ends else {}), **rest}


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


class MondrianParams(Params):
    """Parameters: the attributes to recode (default: those that the requirements group by), and the method."""

    attributes: Names | None = None
    partitioning: Literal["strict", "relaxed"] = "strict"
    cut: Literal["gain", "median"] = "gain"
    importance: dict[str, Importance] = Field(default_factory=dict)
    labels: Annotated[dict[str, FormName | IntervalEnds], BeforeValidator(_by_attribute)] = Field(default_factory=dict)


def todo_of(params: MondrianParams, scope: Scope) -> RecodingTask:
    """Return what the classes of a partition can enforce: a population has people whom the table does not hold."""
    requirements = tuple(r for r in scope.requirements if not r.in_population)
    return task(params.attributes, requirements, scope.attributes)


def effect(params: MondrianParams, scope: Scope) -> Effect:
    """Generalize; serve what holds of the classes over the recoded attributes.

    A value has another label in each class, so a label reveals something of every attribute that the classes were cut
    by. Of attributes that are known beforehand that says nothing new: they chose the label. Of any other it does.
    """
    todo = todo_of(params, scope)
    claims = [r.class_claim.partition(" ")[2] for r in todo.enforced]
    protected = {secret for requirement in scope.requirements for secret in requirement.secrets}
    telling = [name for name in todo.attributes if not _is_known(name, scope, protected)]
    also_seen = (*todo.sensitive, *subject_read(scope))
    return Effect(
        reads=tuple(dict.fromkeys((*todo.attributes, *also_seen))),
        changes=dict.fromkeys(todo.attributes, Change.GENERALIZED),
        derivations={n: _derivation(n, params, todo.attributes, telling, also_seen) for n in todo.attributes},
        serves=tuple(r.id for r in todo.enforced),
        guarantee=claimed(claims, scope),
        problems=(*_of_task(todo), *_of_names(params, scope, todo.attributes), *of_subject(scope)),
    )


def _derivation(
    name: str, params: MondrianParams, recoded: Sequence[str], telling: Sequence[str], also_seen: Sequence[str]
) -> Derivation:
    others = [n for n in recoded if n != name]
    computed_from = dict.fromkeys((name, *telling))
    looked_at = tuple(n for n in (*others, *also_seen) if n not in computed_from)
    alone = not others and params.partitioning == "strict"
    return Derivation(tuple(computed_from), looked_at, value_map=alone, carries=(name, *others))


def _is_known(name: str, scope: Scope, protected: Collection[str]) -> bool:
    """Whether a column holds a quasi-identifier alone, which no requirement protects."""
    facts = scope.attributes.get(name)
    if facts is None or facts.role is not Role.QUASI_IDENTIFIER or facts.source in protected:
        return False
    return facts.lineage.computed_from == {facts.source}


def _of_task(todo: RecodingTask) -> list[Problem]:
    if todo.enforced and todo.attributes:
        return []
    text = "nothing to recode for: no requirement that the classes over the recoded attributes can enforce"
    return [Problem("PPF780", text)]


def _of_names(params: MondrianParams, scope: Scope, recoded: tuple[str, ...]) -> list[Problem]:
    problems = list(missing_ones(params.attributes or (), scope.attributes, ("attributes",)))
    problems += unknown_importance(params.importance, recoded, "are recoded")
    for name, form in params.labels.items():
        facts = scope.attributes.get(name)
        if isinstance(form, IntervalEnds):
            problems += _of_ends(name, form, facts)
        if name == EVERY:
            continue
        if name not in recoded:
            problems.append(
                Problem("PPF606", f"`{name}` is none of the attributes that are recoded", ("labels", name), named=True)
            )
        elif form == "hierarchy" and facts is not None and facts.hierarchy is None:
            problems.append(Problem("PPF780", f"`{name}` has no hierarchy", ("labels", name)))
        elif form == "bounds" and facts is not None and (facts.hierarchy is None or facts.hierarchy.intervals is None):
            text = f"`{name}` has no hierarchy of `intervals`, whose bounds its labels could have"
            problems.append(Problem("PPF780", text, ("labels", name)))
    return problems


def _of_ends(name: str, ends: IntervalEnds, facts: AttributeFacts | None) -> list[Problem]:
    path = ("labels",) if name == EVERY else ("labels", name)
    if (ends.round is None) == (ends.significant is None):
        return [Problem("PPF782", "say `round` or `significant`, one of them", path)]
    if name != EVERY and facts is not None and not facts.is_numeric:
        text = f"`{name}` has no numbers or dates, and only intervals have ends"
        return [Problem("PPF780", text, path, "say its `type`")]
    if facts is not None and facts.type is AttributeType.DATE and ends.round is not None and ends.round % 1:
        return [Problem("PPF782", f"`{name}` is a date: `round` is a whole number of days", (*path, "round"))]
    return []


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/mondrian",
        Kind.ROW_WISE,
        classes="rows",
        asks=AccessRequirements(
            DataAccess.COUNTS, {"people": DataAccess.TABLE, "partitioning=relaxed": DataAccess.TABLE}, passes=1
        ),
    ),
    params=MondrianParams,
    algorithm="ppdm_flow.anonymizers.mondrian.algorithm:Mondrian",
    effect=effect,
)
