"""The card of the audit `unsorted_matching`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import unknown
from ppdm_flow.audits.unsorted_matching.measures import FIGURES
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, FilePath, Params, PluginSpec, Problem, Scope


class UnsortedMatchingParams(Params):
    """``other`` is a CSV file with a header (path relative to the policy): an earlier release of the same people.

    Without it the release is put beside the original, in the order in which that was read: whoever holds any table in
    that order can do the same. ``columns`` says which of the file's columns tells which attribute (those of the same
    name if not given); ``attributes`` are compared: all if not given.

    Columns of which a label cannot be read are left out: any other one tells the order of all. Where none is left, the
    attack has no figures, and no gate on it holds.
    """

    other: FilePath | None = None
    columns: Mapping[str, str] = Field(default_factory=dict)
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = ","
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None


def effect(params: UnsortedMatchingParams, scope: Scope) -> Effect:
    """Complain of attributes that the release does not have, and of a file's columns without a file."""
    problems = list(unknown({"attributes": params.attributes or ()}, scope))
    known = {n for a in scope.attributes.values() for n in (a.name, a.source) if n}
    problems += [
        Problem("PPF861", f"the release has no attribute `{attribute}`", ("columns", attribute))
        for attribute in params.columns
        if attribute not in known
    ]
    if params.columns and params.other is None:
        text = "`columns:` is about the file of another release, and no `other:` names one"
        problems.append(Problem("PPF898", text, ("columns",)))
    return Effect(problems=tuple(problems))


SPEC = PluginSpec(
    info=PluginInfo(
        name="unsorted_matching",
        kind=Kind.AUDIT,
        summary="whether the released rows stand in the order of the original, or of another release",
        reference=(
            "Sweeney, k-anonymity: a model for protecting privacy, IJUFKS 10(5), 2002, section 4.1; permutation"
            " distribution: Hoeffding, A combinatorial central limit theorem, Annals of Mathematical Statistics, 1951"
        ),
        cost="one pass over both tables; their compared columns are held in memory, 4 bytes a cell",
        example=("audits:\n  order: {use: unsorted_matching}\ngates:\n  shuffled: {metric: order.p_value, min: 0.001}"),
        figures=FIGURES,
    ),
    params=UnsortedMatchingParams,
    algorithm="ppdm_flow.audits.unsorted_matching.algorithm:UnsortedMatchingAudit",
    effect=effect,
)
