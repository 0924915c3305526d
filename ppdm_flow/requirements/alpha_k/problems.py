"""What can be wrong with clauses on the alpha of (alpha, k)-anonymity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.language.models import Attribute
from ppdm_flow.policy.rules import on_sensitive
from ppdm_flow.policy.rules.attributes import suppressed
from ppdm_flow.policy.rules.on_sensitive import Path, domain
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import SUPPRESSED, Scene
from ppdm_flow.requirements.alpha_k.requirement import AlphaK


def judge(scene: Scene, entries: Mapping[str, AlphaK]) -> Iterator[Diagnostic]:
    """Judge them (PPF580 to PPF583)."""
    yield from on_sensitive.judge(scene, "alpha_k", entries, _own)
    if entries and not scene.policy.privacy.entries("k_anonymity") and not scene.lacks("privacy"):
        text = "`alpha_k` bounds shares alone: the k of (alpha, k)-anonymity is `k_anonymity`, which is not asked for"
        yield scene.fault(
            "PPF583", text, ("privacy", "alpha_k"), at_key=True, warning=True, hint="add `k_anonymity: {k: …}`"
        )


def _own(scene: Scene, name: str, attribute: Attribute, model: AlphaK, path: Path) -> Iterator[Diagnostic]:
    if model.alpha >= 1.0:
        yield scene.fault("PPF582", "no share exceeds 1, so this bound holds of any data", (*path, "alpha"))
    place = (*path, "values")
    yield from repeats(scene, model.values, place, "`values`")
    for i, value in enumerate(model.values):
        if value == SUPPRESSED:
            yield suppressed(scene, (*place, str(i)))
    yield from scene.values(attribute, name, [(v, (*place, str(i))) for i, v in enumerate(model.values)])
    values = len(set(attribute.domain or ()))
    if values and not model.values and model.alpha * values < 1.0:
        text = f"of {values} values one has a share of at least 1/{values}, so no class keeps {model.alpha:g}"
        yield scene.fault("PPF580", text, (*path, "alpha"), related=domain(scene, name))
