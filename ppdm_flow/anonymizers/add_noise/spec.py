"""Noise: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.anonymizers.numeric_attributes import Names, NumberText, of_bounds, of_names, present
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import CellKind, Derivation, changed_in_place
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

PUBLISHED = "PPF868"


class NoiseParams(Params):
    """``attributes`` get noise of ``scale`` standard deviations of their own, or of the standard deviation ``sd``."""

    attributes: Names
    distribution: Literal["normal", "laplace"] = "normal"
    scale: Annotated[float, Field(gt=0.0, le=10.0)] = 0.1
    sd: Annotated[float, Field(gt=0.0)] | None = None
    correlated: bool = False
    keep_moments: bool = False
    min: NumberText | None = None
    max: NumberText | None = None
    outside: Literal["reflect", "clamp"] = "reflect"
    decimals: Literal["original"] | Annotated[int, Field(ge=0, le=15)] = "original"
    publish: bool = False

    @property
    def bounded(self) -> bool:
        """Whether released numbers have bounds."""
        return self.min is not None or self.max is not None


def effect(params: NoiseParams, scope: Scope) -> Effect:
    """Add noise to numbers, which stay numbers."""
    there = present(params.attributes, scope)
    together = there if params.correlated else ()
    return Effect(
        reads=there,
        changes=dict.fromkeys(there, Change.OTHER),
        numbers=there,
        derivations=changed_in_place(there, Derivation((), together, kind=CellKind.NOISY)),
        problems=(
            *of_names(params.attributes, scope),
            *of_bounds(params.min, params.max, params.attributes, scope, ("min", "max")),
            *_contradictions(params),
        ),
    )


def _contradictions(params: NoiseParams) -> list[Problem]:
    problems = []
    said = params.model_fields_set
    if params.sd is not None and "scale" in said:
        problems.append(Problem("PPF782", "give `scale` or `sd`, not both", ("sd",)))
    if params.correlated and params.sd is not None:
        text = "correlated noise has the covariances of the data times the square of `scale`, and no one `sd`"
        problems.append(Problem("PPF782", text, ("sd",)))
    if params.correlated and params.distribution != "normal":
        text = "correlated noise is normal: a sum of Laplace variables is no Laplace variable"
        problems.append(Problem("PPF782", text, ("distribution",)))
    if params.keep_moments and params.bounded:
        text = "bounds move means and variances, so `keep_moments` and `min` or `max` do not go together"
        problems.append(Problem("PPF782", text, ("keep_moments",)))
    if "outside" in said and not params.bounded:
        problems.append(
            Problem("PPF782", "`outside` says what bounds do, and there is neither `min` nor `max`", ("outside",))
        )
    return problems


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/add_noise",
        Kind.ROW_WISE,
        randomized=True,
        asks=AccessRequirements(DataAccess.ROWS, passes=1, passes_each=2),
    ),
    params=NoiseParams,
    algorithm="ppdm_flow.anonymizers.add_noise.algorithm:AddNoise",
    effect=effect,
)
