"""What can be wrong with clauses on l-diversity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.language.models import Attribute
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.rules import on_sensitive
from ppdm_flow.policy.rules.on_sensitive import Path, domain
from ppdm_flow.policy.rules.scene import Scene
from ppdm_flow.requirements.l_diversity.requirement import Diversity, LDiversity


def judge(scene: Scene, entries: Mapping[str, LDiversity]) -> Iterator[Diagnostic]:
    """Judge them (PPF580 to PPF583)."""
    return on_sensitive.judge(scene, "l_diversity", entries, _own)


def _own(scene: Scene, name: str, attribute: Attribute, model: LDiversity, path: Path) -> Iterator[Diagnostic]:
    if model.variant is Diversity.RECURSIVE and model.c is None:
        yield scene.fault("PPF583", "`kind: recursive` needs a `c`", path, at_key=True, hint="add `c: …`")
    if model.variant is not Diversity.RECURSIVE and model.c is not None:
        text = f"`c` belongs to `kind: recursive`, and this is `{model.variant.value}`"
        yield scene.fault("PPF583", text, (*path, "c"), at_key=True)
    if model.variant is not Diversity.ENTROPY and model.l != int(model.l):
        text = f"`l` counts values, and {model.l:g} is not a whole number"
        yield scene.fault("PPF583", text, (*path, "l"), hint="only `kind: entropy` takes fractions")
    if attribute.domain is not None and model.l > len(set(attribute.domain)):
        text = f"no class can have {model.l:g} values of `{short(name)}`: its domain has {len(set(attribute.domain))}"
        yield scene.fault("PPF580", text, (*path, "l"), related=domain(scene, name))
