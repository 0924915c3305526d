"""Progressive disclosure: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.anonymizers.carrying import Attributes, templates
from ppdm_flow.anonymizers.naming import missing_ones
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.requirements import Requirement, Template
from ppdm_flow.core.roles import Role
from ppdm_flow.core.suggest import closest
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

Names = Annotated[tuple[str, ...], Field(min_length=1)]


class DisclosureParams(Params):
    """Which templates to enforce and which attributes may be suppressed (default: all, and all channels).

    ``disclose: useful`` (the paper's) leaves values suppressed that tell nothing of the class; ``valid`` discloses
    those too, as long as every template holds.
    """

    templates: Names | None = None
    attributes: Names | None = None
    score: Literal["information_gain", "entropy"] | None = None
    disclose: Literal["useful", "valid"] = "useful"

    def enforced(self, requirements: tuple[Requirement, ...], attributes: Attributes) -> tuple[Template, ...]:
        """Return the templates to enforce, in the policy's order and in the present names of attributes."""
        every = templates(requirements, attributes)
        return every if self.templates is None else tuple(t for t in every if t.name in self.templates)

    def suppressible(self, enforced: tuple[Template, ...]) -> tuple[str, ...]:
        """Return the attributes whose values may be suppressed: of the union of channels, in its order."""
        union = channels(enforced)
        return union if self.attributes is None else tuple(a for a in union if a in self.attributes)


def channels(enforced: tuple[Template, ...]) -> tuple[str, ...]:
    """Return the union of inference channels, in order of first appearance."""
    return tuple(dict.fromkeys(a for t in enforced for a in t.channel))


def sensitive(enforced: tuple[Template, ...]) -> tuple[str, ...]:
    """Return the sensitive attributes of ``enforced``, in order of first appearance."""
    return tuple(dict.fromkeys(a for t in enforced for a, _ in t.sensitive))


def effect(params: DisclosureParams, scope: Scope) -> Effect:
    """Suppress values of channel attributes; serve the enforced templates."""
    enforced = params.enforced(scope.requirements, scope.attributes)
    targets = tuple(f.name for f in scope.attributes.values() if f.role is Role.TARGET)
    class_aware = targets if params.score != "entropy" else ()
    return Effect(
        reads=tuple(dict.fromkeys((*channels(enforced), *sensitive(enforced), *class_aware))),
        changes=dict.fromkeys(params.suppressible(enforced), Change.SUPPRESSED),
        serves=tuple(t.id for t in enforced),
        guarantee="no group over a channel reveals its sensitive value above the template's confidence",
        problems=(
            *_of_templates(params, scope),
            *_of_attributes(params, scope, enforced),
            *_of_score(params, targets),
            *_recoded(enforced, scope),
        ),
    )


def _of_templates(params: DisclosureParams, scope: Scope) -> list[Problem]:
    known = [t.name for t in templates(scope.requirements, scope.attributes)]
    if not known:
        return [Problem("PPF780", "nothing to enforce: no template of `privacy.templates` concerns this table")]
    found = []
    for place, name in enumerate(params.templates or ()):
        if name not in known:
            near = closest(name, known)
            hint = f"did you mean `{near}`?" if near else None
            found.append(Problem("PPF796", f"there is no template `{name}`", ("templates", str(place)), hint))
    return found


def _of_attributes(params: DisclosureParams, scope: Scope, enforced: tuple[Template, ...]) -> list[Problem]:
    named = params.attributes or ()
    found = list(missing_ones(named, scope.attributes, ("attributes",)))
    union = channels(enforced)
    for place, name in enumerate(named):
        if enforced and name in scope.attributes and name not in union:
            text = f"`{name}` belongs to no channel of the enforced templates"
            found.append(Problem("PPF798", text, ("attributes", str(place))))
    return found


def _of_score(params: DisclosureParams, targets: tuple[str, ...]) -> list[Problem]:
    if params.score == "information_gain" and not targets:
        return [Problem("PPF780", "information gain needs an attribute with `role: target`", ("score",))]
    return []


def _recoded(enforced: tuple[Template, ...], scope: Scope) -> list[Problem]:
    """Templates name sensitive values of the source; the audit follows them into their images, this step cannot."""
    return [
        Problem(
            "PPF783",
            f"`{name}` was recoded before this step, which counts the values that templates name",
            warning=True,
        )
        for name in sensitive(enforced)
        if name in scope.attributes and scope.attributes[name].was(Change.GENERALIZED, Change.PSEUDONYMIZED)
    ]


SPEC = PluginSpec(
    info=PluginInfo(
        name="progressive_disclosure",
        kind=Kind.ROW_WISE,
        summary="Suppresses values until no inference template is violated, disclosing the most useful ones first.",
        reference="Wang, Fung, Yu, Template-based privacy preservation in classification problems, ICDM 2005",
        guarantees=("every template's confidence holds in every group over its channel",),
        serves=("templates",),
        cost="fit: distinct combinations over channels, sensitive and target attributes; apply: one code map a column",
    ),
    params=DisclosureParams,
    algorithm="ppdm_flow.anonymizers.progressive_disclosure.algorithm:ProgressiveDisclosure",
    effect=effect,
)
