"""Progressive disclosure: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.anonymizers.class_models.people import MORE, of_subject, subject_read
from ppdm_flow.anonymizers.naming import Attributes, carried, missing_ones
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import value_maps
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Role
from ppdm_flow.core.suggest import closest
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

NOTHING = "nothing to enforce: no template of `privacy.templates` concerns this table, and no k-anonymity either"
_RECODED = (Change.GENERALIZED, Change.PSEUDONYMIZED, Change.OTHER)

Names = Annotated[tuple[str, ...], Field(min_length=1)]


class DisclosureParams(Params):
    """Parameters: the templates to enforce, and the attributes that may be suppressed (default: all, all channels)."""

    templates: Names | None = None
    attributes: Names | None = None
    score: Literal["information_gain", "entropy"] | None = None
    disclose: Literal["useful", "valid"] = "useful"
    hierarchies: Literal["use", "ignore"] = "use"
    k_anonymity: bool | None = None
    search: Literal["greedy", "beam", "lookahead"] = "greedy"
    width: Annotated[int, Field(ge=2, le=64)] = 4

    def enforced(self, requirements: tuple[Requirement, ...], attributes: Attributes) -> tuple[InferenceTemplate, ...]:
        """Return the templates to enforce, in the policy's order and in the present names of attributes."""
        every = carried(InferenceTemplate, requirements, attributes)
        return every if self.templates is None else tuple(t for t in every if t.name in self.templates)

    def suppressible(
        self, enforced: tuple[InferenceTemplate, ...], requirements: tuple[Requirement, ...], attributes: Attributes
    ) -> tuple[str, ...]:
        """Return the attributes whose values may be suppressed: of the union of channels, in its order.

        Those of k-anonymity come after it, where it is asked for or there is nothing else to enforce.
        """
        union = channels(enforced)
        if self.k_anonymity or (self.k_anonymity is None and not enforced):
            grouped = (a for k in carried(KAnonymity, requirements, attributes) for a in k.attributes)
            union = tuple(dict.fromkeys((*union, *grouped)))
        return union if self.attributes is None else tuple(a for a in union if a in self.attributes)

    def floors(
        self, requirements: tuple[Requirement, ...], suppressible: tuple[str, ...], attributes: Attributes
    ) -> tuple[KAnonymity, ...]:
        """Return the k-anonymity to enforce: where all of its attributes may be suppressed, unless it is refused."""
        if self.k_anonymity is False:
            return ()
        return tuple(
            k
            for k in carried(KAnonymity, requirements, attributes)
            if k.attributes and set(k.attributes) <= set(suppressible)
        )

    def graded(
        self, suppressible: tuple[str, ...], enforced: tuple[InferenceTemplate, ...], attributes: Attributes
    ) -> tuple[str, ...]:
        """Return the suppressible attributes that go down a hierarchy: those with one, and with values of the source.

        Not those that a template protects as sensitive: the audit counts a coarser name for each value it may mean.
        """
        if self.hierarchies == "ignore":
            return ()
        guarded = sensitive(enforced)
        facts = [attributes[a] for a in suppressible if a in attributes and a not in guarded]
        return tuple(f.name for f in facts if f.hierarchy is not None and not f.was(*_RECODED))


def channels(enforced: tuple[InferenceTemplate, ...]) -> tuple[str, ...]:
    """Return the union of inference channels, in order of first appearance."""
    return tuple(dict.fromkeys(a for t in enforced for a in t.channel))


def sensitive(enforced: tuple[InferenceTemplate, ...]) -> tuple[str, ...]:
    """Return the sensitive attributes of ``enforced``, in order of first appearance."""
    return tuple(dict.fromkeys(a for t in enforced for a, _ in t.pairs))


def effect(params: DisclosureParams, scope: Scope) -> Effect:
    """Suppress values of channel attributes; serve the enforced templates, and k-anonymity where it is enforced."""
    enforced = params.enforced(scope.requirements, scope.attributes)
    open_ = params.suppressible(enforced, scope.requirements, scope.attributes)
    floors = params.floors(scope.requirements, open_, scope.attributes)
    graded = params.graded(open_, enforced, scope.attributes)
    targets = tuple(f.name for f in scope.attributes.values() if f.role is Role.TARGET)
    class_aware = targets if params.score != "entropy" else ()
    counted = (*open_, *channels(enforced), *sensitive(enforced))
    reads = tuple(dict.fromkeys((*counted, *class_aware, *subject_read(scope))))
    return Effect(
        reads=reads,
        changes={a: Change.GENERALIZED if a in graded else Change.SUPPRESSED for a in open_},
        derivations=value_maps(open_, reads),
        serves=(*(t.id for t in enforced), *(k.id for k in floors)),
        guarantee=_guarantee(enforced, floors, scope),
        problems=(
            *_of_templates(params, scope, floors),
            *_of_attributes(params, scope, enforced),
            *_of_score(params, targets),
            *_of_k(params, scope, floors),
            *_recoded(enforced, scope),
            *_negated(enforced, open_),
            *of_subject(scope),
        ),
    )


def _guarantee(enforced: tuple[InferenceTemplate, ...], floors: tuple[KAnonymity, ...], scope: Scope) -> str:
    text = "no group over a channel reveals its sensitive value above the template's confidence"
    if any(t.smallest_group > 1 for t in enforced):
        text += ", or has fewer rows than its support"
    said = "; ".join([*([text] if enforced else []), *(f"every class has at least {k.k} rows" for k in floors)])
    return said if scope.people is None else f"{said.replace(' rows', ' people')}, counted by people{MORE}"


def _of_templates(params: DisclosureParams, scope: Scope, floors: tuple[KAnonymity, ...]) -> list[Problem]:
    known = [t.name for t in carried(InferenceTemplate, scope.requirements, scope.attributes)]
    if not known and not floors and not _counts(params, scope):
        return [Problem("PPF780", NOTHING)]
    problems = []
    for place, name in enumerate(params.templates or ()):
        if name not in known:
            near = closest(name, known)
            hint = f"did you mean `{near}`?" if near else None
            problems.append(Problem("PPF796", f"there is no template `{name}`", ("templates", str(place)), hint))
    return problems


def _of_attributes(params: DisclosureParams, scope: Scope, enforced: tuple[InferenceTemplate, ...]) -> list[Problem]:
    named = params.attributes or ()
    every = params.model_copy(update={"attributes": None})
    union = every.suppressible(enforced, scope.requirements, scope.attributes)
    problems = list(missing_ones(named, scope.attributes, ("attributes",)))
    for place, name in enumerate(named):
        if union and name in scope.attributes and name not in union:
            text = f"`{name}` belongs to no channel of the enforced templates, nor to what k-anonymity groups by"
            problems.append(Problem("PPF798", text, ("attributes", str(place))))
    return problems


def _of_score(params: DisclosureParams, targets: tuple[str, ...]) -> list[Problem]:
    if params.score == "information_gain" and not targets:
        return [Problem("PPF780", "information gain needs an attribute with `role: target`", ("score",))]
    return []


def _of_k(params: DisclosureParams, scope: Scope, floors: tuple[KAnonymity, ...]) -> list[Problem]:
    if floors or not _counts(params, scope):
        return []
    if not carried(KAnonymity, scope.requirements, scope.attributes):
        text = "there is no `privacy.k_anonymity` to enforce"
        return [Problem("PPF780", text, ("k_anonymity",))]
    text = "k-anonymity cannot be enforced here: `attributes` leaves out some that it groups by"
    return [Problem("PPF782", text, ("attributes",) if params.attributes else ("k_anonymity",))]


def _counts(params: DisclosureParams, scope: Scope) -> bool:
    """Whether k-anonymity is to be enforced: asked for, or all there is."""
    if params.k_anonymity is None and not carried(InferenceTemplate, scope.requirements, scope.attributes):
        return bool(carried(KAnonymity, scope.requirements, scope.attributes))
    return params.k_anonymity is True


def _recoded(enforced: tuple[InferenceTemplate, ...], scope: Scope) -> list[Problem]:
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


def _negated(enforced: tuple[InferenceTemplate, ...], open_: tuple[str, ...]) -> list[Problem]:
    """A suppressed cell counts as not having the value, so suppressing it would break what is being enforced."""
    problems = []
    for name in sensitive(tuple(t for t in enforced if t.negated)):
        if name in open_:
            text = f"`{name}` is sensitive in a negated template and part of a channel: it cannot be suppressed as well"
            problems.append(Problem("PPF782", text, hint="name the attributes that may be, with `attributes:`"))
    return problems


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/progressive_disclosure",
        Kind.ROW_WISE,
        serves=("templates", "k_anonymity"),
        asks=AccessRequirements(DataAccess.COUNTS, {"people": DataAccess.TABLE}, passes=1),
    ),
    params=DisclosureParams,
    algorithm="ppdm_flow.anonymizers.progressive_disclosure.algorithm:ProgressiveDisclosure",
    effect=effect,
)
