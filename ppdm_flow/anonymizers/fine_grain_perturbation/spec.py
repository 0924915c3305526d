"""Fine-grain perturbation: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.anonymizers.naming import absent, carried, reaches, subject_of
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import Derivation, changed_in_place
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

_RECODED = (Change.GENERALIZED, Change.PSEUDONYMIZED)


class FineGrainParams(Params):
    """Parameters: the attributes to perturb (default: every one with a ``sensitivities`` requirement), and how."""

    attribute: str | None = None
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    operator: Literal["fine_grain", "uniform"] = "fine_grain"
    objective: Literal["record", "aggregate"] = "record"

    @property
    def named(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The attributes that the parameters name, each with its place in them."""
        one = ((self.attribute, ("attribute",)),) if self.attribute is not None else ()
        return (*one, *((a, ("attributes", str(i))) for i, a in enumerate(self.attributes or ())))

    def chosen(self, requirements: tuple[Sensitivity, ...]) -> tuple[str, ...]:
        """Return the attributes to perturb, each once."""
        names = [a for a, _ in self.named] or [r.attribute for r in requirements]
        return tuple(dict.fromkeys(names))


def effect(params: FineGrainParams, scope: Scope) -> Effect:
    """Perturb the chosen attributes; serve their ``sensitivities``."""
    wanted = carried(Sensitivity, scope.requirements, scope.attributes)
    chosen = params.chosen(wanted)
    served = tuple(r.id for r in wanted if r.attribute in chosen)
    subject = subject_of(scope.attributes)
    whose = "in any row" if subject is None else "of any person"
    return Effect(
        reads=chosen if subject is None else (*chosen, subject),
        changes=dict.fromkeys(chosen, Change.PERTURBED),
        derivations=changed_in_place(chosen, Derivation((), drawn=True)),
        serves=served,
        guarantee=f"no (r1, r2) breach {whose}, for any prior" if served else "",
        problems=(*_problems(params, scope, wanted), *recoded(wanted, chosen, scope)),
    )


def _problems(params: FineGrainParams, scope: Scope, wanted: tuple[Sensitivity, ...]) -> list[Problem]:
    problems: list[Problem] = []
    if params.attribute is not None and params.attributes is not None:
        problems.append(Problem("PPF782", "give `attribute` or `attributes`, not both", ("attribute",)))
    if params.operator == "uniform" and "objective" in params.model_fields_set:
        text = "the best uniform operator is the same for every objective: leave `objective` or `operator` out"
        problems.append(Problem("PPF782", text, ("objective",)))
    if not params.named and not wanted:
        problems.append(Problem("PPF780", "nothing to perturb: no attribute here has a `sensitivities` requirement"))
    for name, path in params.named:
        if not reaches(name, scope.attributes):
            problems.append(absent(name, scope.attributes, path))
        elif name not in {r.attribute for r in wanted}:
            problems.append(Problem("PPF780", f"`privacy.sensitivities` says nothing about `{name}`", path))
    return problems


def recoded(wanted: tuple[Sensitivity, ...], chosen: tuple[str, ...], scope: Scope) -> list[Problem]:
    """Bounds and domains are written in the values of the source; a coarser attribute has others."""
    problems = []
    for requirement in wanted:
        name = requirement.attribute
        named = requirement.bounds or requirement.domain
        if name in chosen and named and name in scope.attributes and scope.attributes[name].was(*_RECODED):
            text = f"`{name}` has other values here than those that its bounds or its domain name"
            hint = "perturb before the step that recodes it"
            problems.append(Problem("PPF783", text, hint=hint))
    return problems


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/fine_grain_perturbation",
        Kind.ROW_WISE,
        serves=("sensitivities",),
        randomized=True,
        asks=AccessRequirements(DataAccess.COUNTS, passes=1),
    ),
    params=FineGrainParams,
    algorithm="ppdm_flow.anonymizers.fine_grain_perturbation.algorithm:FineGrainPerturbation",
    effect=effect,
)
