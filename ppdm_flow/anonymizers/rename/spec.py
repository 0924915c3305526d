"""Rename: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.anonymizers.naming import absent, reaches
from ppdm_flow.core.asks import NOTHING
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class RenameParams(Params):
    """New name by old name. Names may be exchanged."""

    attributes: Annotated[dict[str, Annotated[str, Field(min_length=1)]], Field(min_length=1)]


def effect(params: RenameParams, scope: Scope) -> Effect:
    """Give attributes other names."""
    known = tuple(scope.attributes)
    problems = [absent(old, known, ("attributes", old)) for old in params.attributes if not reaches(old, known)]
    staying = {name for name in known if name not in params.attributes}
    taken: set[str] = set()
    for old, new in params.attributes.items():
        if new in staying or new in taken:
            text = f"`{new}` would be the name of two attributes"
            problems.append(Problem("PPF607", text, ("attributes", old)))
        taken.add(new)
    return Effect(renames=dict(params.attributes), problems=tuple(problems))


SPEC = PluginSpec(
    info=PluginInfo.of_page("anonymizers/rename", Kind.ROW_WISE, asks=NOTHING),
    params=RenameParams,
    algorithm="ppdm_flow.anonymizers.rename.algorithm:Rename",
    effect=effect,
)
