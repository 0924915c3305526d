"""The card of the audit `linkage`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.linkage.measures import FIGURES
from ppdm_flow.audits.records.attributes import unknown
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, FilePath, Params, PluginSpec, Problem, Scope


class LinkageParams(Params):
    """``external`` is a CSV file with a header (path relative to the policy), a line for each person that is known.

    Without it the attacker knows the quasi-identifiers of everybody in the original: the worst case. ``columns`` says
    which of its columns tells which attribute (those of the same name if not given; those that it has not are not
    used); ``identity`` names the column that says who it is, ``truth`` the attribute of the source that holds the same
    identities, by which the links are judged.
    ``attributes`` are linked by: all quasi-identifiers if not given; ``sensitive`` are learned: those of that role if
    not given. ``sample`` bounds the people for whom the nearest row is looked for; 0 for none.

    Where labels of the release or of the file cannot be read, the attack has no figures, and no gate on it holds
    (PPF856).
    """

    external: FilePath | None = None
    columns: Mapping[str, str] = Field(default_factory=dict)
    identity: str | None = None
    truth: str | None = None
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = ","
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sensitive: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sample: Annotated[int, Field(ge=0, le=1_000_000)] = 2000


def effect(params: LinkageParams, scope: Scope) -> Effect:
    """Complain of attributes that the release does not have, and of a file's options without a file."""
    named = {"attributes": params.attributes or (), "sensitive": params.sensitive or ()}
    problems = unknown(named, scope)
    known = {n for a in scope.attributes.values() for n in (a.name, a.source) if n}
    for attribute in params.columns:
        if attribute not in known:
            problems = (
                *problems,
                Problem("PPF861", f"the release has no attribute `{attribute}`", ("columns", attribute)),
            )
    given = {"columns": bool(params.columns), "identity": params.identity, "truth": params.truth}
    for name, value in given.items():
        if value and params.external is None:
            text = f"`{name}:` is about the file of known people, and no `external:` names one"
            problems = (*problems, Problem("PPF898", text, (name,)))
    if params.truth is not None and params.identity is None:
        text = "`truth:` needs `identity:`, the column of the file that says who a person is"
        problems = (*problems, Problem("PPF898", text, ("truth",)))
    return Effect(problems=problems, asks={"truth": params.truth} if params.truth is not None else {})


SPEC = PluginSpec(
    info=PluginInfo(
        name="linkage",
        kind=Kind.AUDIT,
        summary="whose released row is found by someone who holds a list of people, exactly and by the nearest row",
        reference=(
            "Sweeney, k-anonymity: a model for protecting privacy, IJUFKS 10(5), 2002; nearest rows: Domingo-Ferrer,"
            " Torra, Disclosure risk assessment via record linkage, 2002; Gower, Biometrics 27, 1971"
        ),
        cost="one way down the sorted classes for each distinct person: seconds for a million; sampled beyond that",
        figures=FIGURES,
        example=(
            "audits:\n  voters:\n    use: linkage\n    with: {external: voters.csv, identity: name}\n"
            "gates:\n  nobody-found: {metric: voters.linked, max: 0}"
        ),
    ),
    params=LinkageParams,
    algorithm="ppdm_flow.audits.linkage.algorithm:LinkageAudit",
    effect=effect,
)
