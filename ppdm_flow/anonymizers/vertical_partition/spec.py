"""Vertical partition: its card, parameters and effect."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from pydantic import Field, StringConstraints

from ppdm_flow.anonymizers.naming import absent
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
Columns = Annotated[tuple[str, ...], Field(min_length=1)]


class VerticalPartitionParams(Params):
    """``tables`` are the outputs by name, each with its attributes; every one of them gets the ``key`` as well."""

    tables: Annotated[dict[Name, Columns], Field(min_length=2)]
    key: str = "class_id"


def effect(params: VerticalPartitionParams, scope: Scope) -> Effect:
    """Give several outputs."""
    problems: list[Problem] = []
    known = tuple(scope.attributes)
    if params.key not in scope.attributes:
        problems.append(absent(params.key, known, ("key",)))
    for table, names in params.tables.items():
        problems += [
            absent(n, known, ("tables", table, str(i))) for i, n in enumerate(names) if n not in scope.attributes
        ]
    for name, times in Counter(n for names in params.tables.values() for n in names).items():
        if times > 1 or name == params.key:
            why = "every table has the key already" if name == params.key else "it would join the tables beside the key"
            problems.append(Problem("PPF827", f"`{name}` is in two tables: {why}", ("tables",)))
    weights = [f"`{n}`" for n, fact in scope.attributes.items() if fact.role is Role.WEIGHT]
    if weights:
        text = f"rows represent several people each, as {weights[0]} says: parts of such rows do not join by class"
        problems.append(Problem("PPF827", text, hint="write each person as a row of its own first"))
    outputs = {table: (params.key, *names) for table, names in params.tables.items()}
    return Effect(
        reads=tuple(dict.fromkeys(n for names in outputs.values() for n in names if n in scope.attributes)),
        guarantee="the tables have nothing in common but the key",
        problems=tuple(problems),
        outputs=outputs,
    )


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/vertical_partition", Kind.TABLE, asks=AccessRequirements(DataAccess.TABLE, passes=1)
    ),
    params=VerticalPartitionParams,
    algorithm="ppdm_flow.anonymizers.vertical_partition.algorithm:VerticalPartition",
    effect=effect,
)
