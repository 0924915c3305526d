"""Requirements on the sensitive values of equivalence classes: attributes that fit, and bounds that mean something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic, Related
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.policy.language.anonymity import AlphaK, BetaLikeness, DeltaDisclosure, LDiversity, TCloseness
from ppdm_flow.policy.language.models import Attribute, Privacy
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.rules.attributes import suppressed
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import SUPPRESSED, Scene
from ppdm_flow.policy.rules.templates import grouping, protected
from ppdm_flow.requirements.l_diversity.requirement import Diversity
from ppdm_flow.requirements.t_closeness.requirement import Distance

Path = tuple[str, ...]
OnSensitive = LDiversity | TCloseness | AlphaK | DeltaDisclosure | BetaLikeness


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge the requirements on sensitive values in classes (PPF580 to PPF584)."""
    for kind, entries in _kinds(scene.policy.privacy).items():
        for name, model in entries.items():
            path = ("privacy", kind, name)
            attribute, faults = scene.attribute(name, path, at_key=True)
            yield from faults
            if attribute is not None:
                yield from protected(scene, name, attribute.role, path)
                yield from _own(scene, name, attribute, model, path)
            yield from grouped(scene, model.attributes, path)
            yield from _inside(scene, name, attribute, model.attributes, path)
    if scene.policy.privacy.alpha_k and scene.policy.privacy.k_anonymity is None and not scene.lacks("privacy"):
        text = "`alpha_k` bounds shares alone: the k of (alpha, k)-anonymity is `k_anonymity`, which is not asked for"
        yield scene.fault(
            "PPF583", text, ("privacy", "alpha_k"), at_key=True, warning=True, hint="add `k_anonymity: {k: …}`"
        )


def _kinds(privacy: Privacy) -> Mapping[str, Mapping[str, OnSensitive]]:
    return {
        "l_diversity": privacy.l_diversity,
        "t_closeness": privacy.t_closeness,
        "alpha_k": privacy.alpha_k,
        "delta_disclosure": privacy.delta_disclosure,
        "beta_likeness": privacy.beta_likeness,
    }


def grouped(scene: Scene, attributes: tuple[str, ...] | None, path: Path) -> Iterator[Diagnostic]:
    """Judge what a requirement groups by."""
    if attributes is not None:
        yield from repeats(scene, attributes, (*path, "attributes"), "`attributes`")
        yield from grouping(scene, attributes, (*path, "attributes"), "an attribute that classes are formed by")
        return
    having = any(a.role is Role.QUASI_IDENTIFIER for a in scene.policy.attributes.values())
    if not having and not scene.lacks("attributes"):
        text = f"`{path[1]}` has no quasi-identifier to group by"
        hint = "give an attribute `role: quasi_identifier`"
        yield scene.fault("PPF525", text, path, at_key=True, hint=hint)


def _inside(
    scene: Scene, name: str, attribute: Attribute | None, attributes: tuple[str, ...] | None, path: Path
) -> Iterator[Diagnostic]:
    text = f"`{short(name)}` forms the classes in which its own values are to vary"
    if attributes is not None and name in attributes:
        where = (*path, "attributes", str(attributes.index(name)))
        yield scene.fault("PPF581", text, where, hint="take it out")
    elif attributes is None and attribute is not None and attribute.role is Role.QUASI_IDENTIFIER:
        hint = "give it `role: sensitive`, or name in `attributes` what else groups"
        declared = ("attributes", scene.declared.key(name) or name)
        yield scene.fault(
            "PPF581", text, path, at_key=True, hint=hint, related=scene.related(declared, "a quasi-identifier")
        )


def _own(scene: Scene, name: str, attribute: Attribute, model: OnSensitive, path: Path) -> Iterator[Diagnostic]:
    match model:
        case LDiversity():
            yield from _diversity(scene, name, attribute, model, path)
        case TCloseness():
            if model.t >= 1.0:
                yield scene.fault("PPF582", "no distance exceeds 1, so this bound holds of any data", (*path, "t"))
            yield from _order(scene, name, attribute, model, path)
        case AlphaK():
            yield from _shares(scene, name, attribute, model, path)
        case _:
            return


def _diversity(scene: Scene, name: str, attribute: Attribute, model: LDiversity, path: Path) -> Iterator[Diagnostic]:
    if model.kind is Diversity.RECURSIVE and model.c is None:
        yield scene.fault("PPF583", "`kind: recursive` needs a `c`", path, at_key=True, hint="add `c: …`")
    if model.kind is not Diversity.RECURSIVE and model.c is not None:
        text = f"`c` belongs to `kind: recursive`, and this is `{model.kind.value}`"
        yield scene.fault("PPF583", text, (*path, "c"), at_key=True)
    if model.kind is not Diversity.ENTROPY and model.l != int(model.l):
        text = f"`l` counts values, and {model.l:g} is not a whole number"
        yield scene.fault("PPF583", text, (*path, "l"), hint="only `kind: entropy` takes fractions")
    if attribute.domain is not None and model.l > len(set(attribute.domain)):
        text = f"no class can have {model.l:g} values of `{short(name)}`: its domain has {len(set(attribute.domain))}"
        yield scene.fault("PPF580", text, (*path, "l"), related=_domain(scene, name))


def _order(scene: Scene, name: str, attribute: Attribute, model: TCloseness, path: Path) -> Iterator[Diagnostic]:
    if model.order is not None:
        place = (*path, "order")
        yield from repeats(scene, model.order, place, "`order`", warning=False)
        yield from scene.values(attribute, name, [(v, (*place, str(i))) for i, v in enumerate(model.order)])
        if model.distance is not Distance.ORDERED:
            text = "an `order` has no use with `distance: equal`"
            yield scene.fault("PPF584", text, place, at_key=True, hint="say `distance: ordered`")
        lost = [v for v in attribute.domain or () if v not in model.order]
        if lost:
            text = f"`order` lacks {len(lost)} of the {len(attribute.domain or ())} values of the domain"
            yield scene.fault("PPF584", text, place, at_key=True, related=_domain(scene, name))
    elif model.distance is Distance.ORDERED and attribute.type is AttributeType.TEXT and attribute.domain is None:
        text = f"nothing says in which order the values of `{short(name)}` are"
        hint = "give `order: [lowest, …, highest]`, or the attribute's `type`"
        yield scene.fault("PPF584", text, (*path, "distance"), hint=hint)


def _shares(scene: Scene, name: str, attribute: Attribute, model: AlphaK, path: Path) -> Iterator[Diagnostic]:
    if model.alpha >= 1.0:
        yield scene.fault("PPF582", "no share exceeds 1, so this bound holds of any data", (*path, "alpha"))
    place = (*path, "values")
    yield from repeats(scene, model.values or (), place, "`values`")
    for i, value in enumerate(model.values or ()):
        if value == SUPPRESSED:
            yield suppressed(scene, (*place, str(i)))
    yield from scene.values(attribute, name, [(v, (*place, str(i))) for i, v in enumerate(model.values or ())])
    values = len(set(attribute.domain or ()))
    if values and model.values is None and model.alpha * values < 1.0:
        text = f"of {values} values one has a share of at least 1/{values}, so no class keeps {model.alpha:g}"
        yield scene.fault("PPF580", text, (*path, "alpha"), related=_domain(scene, name))


def _domain(scene: Scene, name: str) -> tuple[Related, ...]:
    return scene.related(("attributes", scene.declared.key(name) or name, "domain"), "the domain")
